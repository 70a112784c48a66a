/* options.h: the command line of eddy-bench. */
#ifndef EDDY_BENCH_OPTIONS_H
#define EDDY_BENCH_OPTIONS_H

#include "url.h"

#include <stdbool.h>
#include <stdint.h>

#define OPTIONS_TARGETS_MAX 64
#define OPTIONS_LIST_MAX 32
#define OPTIONS_CONNECTIONS_MAX 100000
#define OPTIONS_DEPTH_MAX 1024
#define OPTIONS_ERROR_SIZE 512

enum work { WORK_GET, WORK_PUT, WORK_REQ, WORK_HOLD };

enum stall { STALL_NONE, STALL_GET, STALL_PUT };

struct options {
	enum work work;
	const char *work_name;
	struct url urls[OPTIONS_TARGETS_MAX];
	size_t url_count;
	uint64_t sizes[OPTIONS_LIST_MAX]; /* none: whatever the server sends */
	size_t size_count;
	unsigned connections[OPTIONS_LIST_MAX];
	size_t connection_count;
	unsigned depth;   /* requests on a connection at once: pipelined, or streams */
	unsigned streams; /* --streams; 0: not given */
	unsigned frame;   /* largest frame of HTTP/2; 0: the protocol's default */
	unsigned cycle;   /* {i} is below it; 0: any number */
	unsigned rounds;
	double seconds, warmup;
	double rate; /* requests a second; 0: closed loop */
	uint64_t timeout_ns;
	unsigned expect; /* the status that is no error; 0: 2xx, and 304 */
	const char *method;
	const char *headers[OPTIONS_LIST_MAX];
	size_t header_count;
	const char *body_file;
	const char *against;
	const char *files;   /* the folder that the server serves */
	const char *between; /* a command */
	const char *digest;  /* in hexadecimal */
	const char *ca;      /* a file; NULL: whom the system trusts */
	const char *ciphers; /* NULL: all good ones */
	const char *json, *html, *markdown;
	unsigned pid; /* of the server; 0: found by its port */
	bool cold, http2, insecure, resume, verify, progress, no_calls;
	enum stall stall;
};

/* Parse a command line whose argv[1] is get, put, req or hold. Texts are borrowed from it.
 * Return: 0; -EINVAL and a sentence in `error`; -ENOMEM. */
int options_parse(int argc, char **argv, struct options *ret_options,
		  char error[OPTIONS_ERROR_SIZE]);

void options_deinit(struct options *options);

#endif
