/* configured.h: an app that reads a text as its configuration file. */
#ifndef EDDY_TESTS_CONFIGURED_H
#define EDDY_TESTS_CONFIGURED_H

#include <criterion/criterion.h>
#include <eddy/config.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* The app reads this text when it starts. */
static inline void configure(struct eddy_app *app, const char *text)
{
	int fd = memfd_create("a.toml", MFD_CLOEXEC);
	char path[64];

	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	eddy_app_with_config(app, path);
}

#endif
