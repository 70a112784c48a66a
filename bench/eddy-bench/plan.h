/* plan.h: what is asked of one target in one cell; the same for all of its connections. */
#ifndef EDDY_BENCH_PLAN_H
#define EDDY_BENCH_PLAN_H

#include "body.h"
#include "digest.h"
#include "options.h"

#include <eddy/net.h>

struct secure;

#define PLAN_SIZE_NONE UINT64_MAX

/* Room for a request's head. */
#define PLAN_REQUEST_SIZE 32768

/* What the bodies should be. */
struct expected {
	unsigned char digest[DIGEST_SIZE];
	bool known; /* else the first body makes it so */
};

struct plan {
	const struct options *options;
	const struct url *url;
	struct secure *secure; /* NULL: plain */
	char protocol[96];     /* of TLS, as it was agreed on first */
	struct eddy_sockaddr address;
	const char *method;
	char path[URL_PATH_SIZE]; /* {n} and {i} are left in it */
	const struct body *body;  /* to send; NULL for none */
	uint64_t size;            /* of a body that is asked for; PLAN_SIZE_NONE: any */
	unsigned depth;
	uint64_t index; /* of the next request, for {i} */
	struct expected expected;
	int expect;     /* as in the options */
	bool verify;    /* bodies that come are held against what is expected */
	bool varies;    /* no two requests are alike */
	bool per_conn;  /* what each connection asks for is its own */
	bool no_body;   /* responses have none, whatever they say */
	bool truncates; /* the kernel can count bytes without handing them out */
};

/* Fill in `{size}` for a cell, and find the target's address by connecting to it. Suspends. `size` is
 * PLAN_SIZE_NONE where the cell has none; `secure` is for a target of https:// alone.
 * Return: 0; -errno, and a sentence in `error`. */
int plan_init(struct plan *plan, const struct options *options, struct secure *secure,
	      const struct url *url, uint64_t size, const struct body *body,
	      char error[OPTIONS_ERROR_SIZE]);

/* Make of a plan for uploads one that asks for what they have left, and verifies it. Blocks while it reads the body.
 * Return: 0; -errno, and a sentence in `error`. */
int plan_read_back(const struct plan *put, struct plan *ret_plan, char error[OPTIONS_ERROR_SIZE]);

/* Write the path of the next request of connection `number`. Return: false when it does not fit. */
bool plan_path(struct plan *plan, unsigned number, char ret_path[URL_PATH_SIZE]);

/* Write the head of the next request of connection `number`. Return: its length; 0 when it does not fit. */
size_t plan_write(struct plan *plan, unsigned number, char *ret_head, size_t size);

#endif
