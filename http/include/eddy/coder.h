/* eddy/coder.h: stream codecs for bodies: hooks for layers that compress or encrypt.
 *
 *     static void at_head(void *data, struct eddy_req *req, struct eddy_res *res)
 *     {
 *             if (fits(res) && eddy_res_set_z(res, "content-encoding", "gzip") == 0)
 *                     eddy_res_code(res, &gzip, gzip_new());
 *     }
 *
 *     static int filter(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
 *     {
 *             int r = eddy_res_on_head(res, at_head, NULL);
 *
 *             return r < 0 ? r : eddy_next(next, req, res);
 *     }
 */
#ifndef EDDY_CODER_H
#define EDDY_CODER_H

#include <eddy/req.h>
#include <eddy/res.h>

EDDY_BEGIN_DECLS

/* The buffers of one step: it consumes the front of `in` and fills the front of `out`. */
struct eddy_coder_io {
	const char *in;
	size_t in_len;
	char *out;
	size_t out_len;
};

enum eddy_coder_op {
	EDDY_CODER_GO,    /* more input follows */
	EDDY_CODER_FLUSH, /* all output for `in` must be produced: the peer waits for it */
	EDDY_CODER_END,   /* `in` is the last input */
};

/* A kind of coder. Its functions must not suspend. A step may run on any thread, one at a time. */
struct eddy_coder {
	/* Allocate what steps need, on the body's loop: for a response just before its first step,
	 * for a request in eddy_req_decode(). May be NULL.
	 * Return: 0; -ENOMEM: the body can't be sent. */
	int (*begin)(void *state);
	/* Do a fraction of a millisecond of work, then return, so that other tasks can run. Fill
	 * `out` to its last byte before returning for more room. The same `op` is passed until it
	 * is done.
	 * Return: 1 if all of `in` is consumed and the op is done; 0 to be called again, with new
	 * room if `out` is full; -EBADMSG if the body is malformed or ends early; -EMSGSIZE if it
	 * would get too large; another -errno on failure. */
	int (*step)(void *state, struct eddy_coder_io *io, enum eddy_coder_op op);
	/* Free the state, after the last step; called once. `whole`: the body was completed. */
	void (*end)(void *state, bool whole);
	/* Steps may take longer: run them on the offload pool (worker threads for blocking calls),
	 * as is done for large bodies anyway. Only for responses. */
	bool slow;
};

/* ---- responses ---- */

/* Inspect a response whose head is about to be sent: only the body of a stream is unknown. It may
 * set fields and call the functions below. Must not suspend. */
typedef void eddy_res_head_fn(void *data, struct eddy_req *req, struct eddy_res *res);

/* Call `fn` before the response's head is sent. If the head can't be sent, `fn` is called again for
 * the response that replaces this one, such as an error. The function added last is called first. Adding `fn` again only replaces its
 * `data`. Return: 0, -ENOMEM. */
EDDY_API int eddy_res_on_head(struct eddy_res *res, eddy_res_head_fn *fn, void *data);

/* Get the status of a response. */
EDDY_API int eddy_res_get_status(const struct eddy_res *res);

/* Tell whether a GET gets a body: not with 204 and 304, nor if a HEAD handler has set none. */
EDDY_API bool eddy_res_has_body(const struct eddy_res *res);

/* Get the length of the body that a GET gets; EDDY_LENGTH_UNKNOWN for a stream. */
EDDY_API uint64_t eddy_res_length(const struct eddy_res *res);

/* Get the open file that is the body; -1 if the body is not a file. Borrowed. */
EDDY_API int eddy_res_fd(const struct eddy_res *res);

/* Send the body through a coder. Takes ownership of `state`. Only from eddy_res_head_fn.
 *
 * Output is chunked, or ends with the connection if the client knows no chunks. Each
 * eddy_res_write() is flushed. A response has one coder: a second call only ends its own
 * `state`. */
EDDY_API void eddy_res_code(struct eddy_res *res, const struct eddy_coder *coder, void *state);

/* Send a whole file in place of a body of known length. Takes ownership of `fd`. Only from
 * eddy_res_head_fn. */
EDDY_API void eddy_res_replace(struct eddy_res *res, int fd, uint64_t length);

/* ---- requests ---- */

/* Read the body through a coder. Takes ownership of `state`, also on failure. Call it once, before
 * the body is read. The length is then unknown. Without a coder, a body with a content-encoding
 * gets 415. Return: 0; -EBUSY if it is too late; -ENOMEM. */
EDDY_API int eddy_req_decode(struct eddy_req *req, const struct eddy_coder *coder, void *state);

EDDY_END_DECLS

#endif
