/* eddy/coder.h: what a body passes through on its way, for layers that compress or encrypt.
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

/* What one step works on: it takes from the front of `in` and fills the front of `out`. */
struct eddy_coder_io {
	const char *in;
	size_t in_len;
	char *out;
	size_t out_len;
};

enum eddy_coder_op {
	EDDY_CODER_GO,    /* more will follow */
	EDDY_CODER_FLUSH, /* what has gone in must come out: somebody waits for it */
	EDDY_CODER_END,   /* nothing follows `in` */
};

/* A kind of coder. None of its functions suspends; a step may be taken by any thread, one at a time. */
struct eddy_coder {
	/* Get what steps need, on the body's loop: just before the first of them with a response, so that those
	 * that wait for their turn need not have it yet; in eddy_req_decode() with a request. May be NULL.
	 * Return: 0; -ENOMEM: the body can't be sent. */
	int (*begin)(void *state);
	/* Go on; a step takes a fraction of a millisecond, and stops early rather than longer: others run
	 * between two. It fills `out` to the last byte before it asks for more room. An `op` is given
	 * again until it is done.
	 * Return: 1 when all of `in` is taken and the op done; 0 when it is to be called again, with new room
	 * if `out` is full; -errno when it can't go on: -EBADMSG for a body that is malformed or ends too
	 * early, -EMSGSIZE for one that would become too large. */
	int (*step)(void *state, struct eddy_coder_io *io, enum eddy_coder_op op);
	/* Give the state back, just after the last step; once. `whole` when the body went through to its
	 * end. */
	void (*end)(void *state, bool whole);
	bool slow; /* a step may take longer: they run on the offload pool, as do those of large bodies in any
		      case; of responses alone */
};

/* ---- responses ---- */

/* Look at the response when its head is about to be sent: all but the body of a stream is known then.
 * It may still set fields and call what follows. Never suspends. */
typedef void eddy_res_head_fn(void *data, struct eddy_req *req, struct eddy_res *res);

/* Have `fn` look at the response, whatever it will be; of several the last one that was asked for looks
 * first. Each looks once: for one that is asked again, `data` replaces what it had. Return: 0, -ENOMEM. */
EDDY_API int eddy_res_on_head(struct eddy_res *res, eddy_res_head_fn *fn, void *data);

/* Its status. */
EDDY_API int eddy_res_get_status(const struct eddy_res *res);

/* Whether there is a body for a GET: not with 204 and 304, nor where a HEAD is answered by a handler of its
 * own that set none. */
EDDY_API bool eddy_res_has_body(const struct eddy_res *res);

/* How long the body is that a GET gets: EDDY_LENGTH_UNKNOWN for a stream. */
EDDY_API uint64_t eddy_res_length(const struct eddy_res *res);

/* The open file that is the body, borrowed; -1 when it is none. */
EDDY_API int eddy_res_fd(const struct eddy_res *res);

/* Pass the body through a coder, and take over its state. What comes out is sent in chunks, or up to
 * the end of the connection where the client knows none. Each eddy_res_write() is flushed. One at most:
 * a second call ends its state at once and changes nothing. Only from eddy_res_head_fn. */
EDDY_API void eddy_res_code(struct eddy_res *res, const struct eddy_coder *coder, void *state);

/* Send the whole of this file in place of a body whose length is known, in the same way; takes over `fd`.
 * Only from eddy_res_head_fn. */
EDDY_API void eddy_res_replace(struct eddy_res *res, int fd, uint64_t length);

/* ---- requests ---- */

/* Read the body through a coder from now on, and take over its state: whoever reads or saves it gets what
 * comes out, and its length is unknown. To be called before anything is read, once. A request whose body has
 * a content-encoding is answered 415 unless this was called. Return: 0; -EBUSY when it is too late, and
 * -ENOMEM: the state has been ended. */
EDDY_API int eddy_req_decode(struct eddy_req *req, const struct eddy_coder *coder, void *state);

EDDY_END_DECLS

#endif
