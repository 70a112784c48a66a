/* url.h: the target of a benchmark, as people write it: [NAME=]http://HOST[:PORT]/PATH, the same with
 * https://, or [NAME=]unix:SOCKET:/PATH for a server on a unix socket ("@NAME" for one without a file).
 *
 * {size}, {n} and {i} in the path are filled in later: by the size of a cell ("4k"), the number of the connection
 * and that of the request.
 */
#ifndef EDDY_BENCH_URL_H
#define EDDY_BENCH_URL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define URL_ERROR_SIZE 256
/* Bytes of a URL as it is given. */
#define URL_MAX 4096
/* Room for a path that is filled in. */
#define URL_PATH_SIZE (2 * URL_MAX)

struct url {
	char name[128]; /* default: host and port as written */
	char *text;     /* without the name */
	char *dial;     /* for eddy_dial(): HOST:PORT or unix:PATH */
	char *host;     /* the value of a host field */
	char *path;     /* with the query; braces as they are */
	bool https;
};

/* Parse a target. Return: 0; -EINVAL and a sentence in `error`; -ENOMEM. */
int url_parse(const char *text, struct url *ret_url, char error[URL_ERROR_SIZE]);

/* Does nothing the second time. */
void url_deinit(struct url *url);

/* Whether `name`, such as "{i}", is in the path. */
bool url_has(const struct url *url, const char *name);

/* Write a size as paths have it: "4k", "64m", "1g", "1000". */
size_t url_size(uint64_t bytes, char ret_text[24]);

/* Copy `text`, each `name` in it replaced. Return: its length, 0 when it does not fit. */
size_t url_fill(const char *text, const char *name, const char *value, char *ret_text, size_t size);

#endif
