/* Fuzzes bench/eddy-bench/url.h. */
#include "url.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Fills `name` in: nothing is written behind the room, and it is said when that is too little. */
static void check_fill(const char *path, const char *name, const char *value)
{
	size_t room = 2 * strlen(path) + 1;
	char *filled = malloc(room), *again = malloc(room);
	size_t len = url_fill(path, name, value, filled, room);

	if (!len || len != strlen(filled) || strstr(filled, name))
		abort();
	if (url_fill(path, name, value, again, len + 1) != len || strcmp(filled, again) != 0)
		abort();
	if (url_fill(path, name, value, again, len) != 0)
		abort();
	free(filled);
	free(again);
}

static void check(const struct url *url)
{
	if (!*url->name || !*url->host || !*url->dial || *url->path != '/')
		abort();
	/* They stand in a request's head. */
	for (const char *at = url->path; *at; at++)
		if (*at <= ' ' || *at > '~')
			abort();
	for (const char *at = url->host; *at; at++)
		if (strchr(" \t\r\n/?#", *at))
			abort();
	check_fill(url->path, "{i}", "7");
	check_fill(url->path, "{size}", "4k");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char error[URL_ERROR_SIZE] = "";
	char *text = malloc(size + 1);
	struct url url, again;
	int r;

	memcpy(text, data, size);
	text[size] = 0;
	r = url_parse(text, &url, error);
	if (r == 0) {
		check(&url);
		/* Without its name it is the same target. */
		if (url_parse(url.text, &again, error) < 0 || strcmp(again.dial, url.dial) != 0 ||
		    strcmp(again.host, url.host) != 0 || strcmp(again.path, url.path) != 0)
			abort();
		url_deinit(&again);
		url_deinit(&url);
	} else if (r != -EINVAL || !*error) {
		abort();
	}
	free(text);
	return 0;
}
