/* coded.h: bodies that pass through a coder, out with a response and in with a request. */
#ifndef EDDYI_CODED_H
#define EDDYI_CODED_H

#include <eddy/coder.h>

/* Somebody who looks at a response before its head is sent. */
struct eddyi_res_look {
	struct eddyi_res_look *next;
	eddy_res_head_fn *fn;
	void *data;
};

/* A body on its way out. */
struct eddyi_coded {
	const struct eddy_coder *coder; /* NULL: none */
	void *state;
	char *out; /* what came out and has not been sent; NULL before the first */
	size_t out_len;
	size_t out_size;
	bool has_begun, has_ended;
	bool has_turn;
	uint64_t taken; /* bytes that went in; of one that is known to be large as if it were so already */
};

/* Let everybody look at the response who asked for it. */
void eddyi_coded_look(struct eddy_req *req);

/* Send the whole of a response that is unsized and no stream. Suspends. Return: 0, -errno. */
int eddyi_coded_reply(struct eddy_req *req);

/* Send some of a stream. Suspends. Return: 0, -errno. */
int eddyi_coded_write(struct eddy_req *req, struct eddy_str bytes);

/* Send the end of a stream. Suspends. Return: 0, -errno. */
int eddyi_coded_end(struct eddy_req *req);

/* Give back what the request's bodies still have. */
void eddyi_coded_deinit(struct eddy_req *req);

/* The same of the body on its way in. */
void eddyi_decoded_deinit(struct eddy_req *req);

/* Let no more than `max` bytes of the body come, decoded or not: past it the reader gets an error that is a
 * 413. */
void eddyi_decoded_limit(struct eddy_req *req, uint64_t max);

/* Read some of a body on its way in. Suspends. Return: bytes, 0 at its end, -errno. */
ssize_t eddyi_decoded_read(struct eddy_req *req, void *buf, size_t len);

#endif
