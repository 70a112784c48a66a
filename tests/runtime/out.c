#include "base/out.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char text[8 * EDDYI_OUT_SIZE];

static const char *written(struct eddyi_out *out)
{
	ssize_t len;

	cr_assert_eq(eddyi_out_flush(out), 0);
	len = pread(out->fd, text, sizeof(text) - 1, 0);
	cr_assert_geq(len, 0);
	text[len] = '\0';
	return text;
}

static struct eddyi_out begin(void)
{
	return (struct eddyi_out){ .fd = memfd_create("out", MFD_CLOEXEC) };
}

Test(out, conversions)
{
	struct eddyi_out out = begin();
	/* The compiler would warn. */
	const char *volatile none = NULL;

	eddyi_out(&out, "%s %s %c %d %d %u %zu %llu %p %%", "a", none, 'b', INT_MIN, 7, UINT_MAX,
		  SIZE_MAX, 0ULL, (void *)0xff);
	cr_expect_str_eq(written(&out),
			 "a (none) b -2147483648 7 4294967295 18446744073709551615 0 0xff %");
	close(out.fd);
}

Test(out, durations)
{
	struct eddyi_out out = begin();

	eddyi_out_duration(&out, 17 * EDDY_US);
	eddyi_out(&out, ", ");
	eddyi_out_duration(&out, 1200 * EDDY_MS);
	eddyi_out(&out, ", ");
	eddyi_out_duration(&out, 75 * EDDY_SECOND);
	cr_expect_str_eq(written(&out), "17 us, 1200 ms, 75 s");
	close(out.fd);
}

Test(out, names_keep_quotation_marks_closed)
{
	struct eddyi_out out = begin();
	char name[200];

	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	eddyi_out_name(&out, "a\"b\\c\n\x7f");
	eddyi_out_name(&out, NULL);
	cr_expect_str_eq(written(&out), "a?b?c??");
	eddyi_out_name(&out, name);
	cr_expect_eq(strlen(written(&out)), 7 + 100);
	close(out.fd);
}

Test(out, more_than_the_buffer_holds)
{
	struct eddyi_out out = begin();

	for (unsigned i = 0; i < 3 * EDDYI_OUT_SIZE / 4; i++)
		eddyi_out(&out, "%u%u%u\n", i / 100 % 10, i / 10 % 10, i % 10);
	written(&out);
	cr_expect_eq(strlen(text), 3 * EDDYI_OUT_SIZE);
	for (unsigned i = 0; i < 3 * EDDYI_OUT_SIZE / 4; i++)
		cr_assert_eq((unsigned)atoi(text + (size_t)i * 4), i % 1000);
	close(out.fd);
}

/* A full pipe is waited for, for a second; then output is dropped. */
Test(out, the_first_error_stays)
{
	struct eddyi_out out = { .fd = -1 };
	int fds[2];
	char byte = 'x';

	eddyi_out(&out, "lost");
	cr_expect_eq(eddyi_out_flush(&out), -EBADF);
	cr_assert_eq(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
	out.fd = fds[1];
	eddyi_out(&out, "lost as well");
	cr_expect_eq(eddyi_out_flush(&out), -EBADF);
	while (write(fds[1], &byte, 1) == 1)
		;
	out = (struct eddyi_out){ .fd = fds[1] };
	eddyi_out(&out, "no room");
	cr_expect_eq(eddyi_out_flush(&out), -EAGAIN);
}

Test(out, places_without_the_path_to_the_sources)
{
	cr_expect_str_eq(eddyi_place("../../a/b.c:7"), "a/b.c:7");
	cr_expect_str_eq(eddyi_place("b.c:7"), "b.c:7");
	cr_expect(strstr(eddyi_place(NULL), "an unknown place"));
}
