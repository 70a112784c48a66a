/* res.h: functions of a response for this layer. */
#ifndef EDDYI_RES_H
#define EDDYI_RES_H

#include "exchange_state.h"
#include "message/status.h"

/* Whether the response is only a head: to a HEAD, or with 204 or 304. */
static inline bool eddyi_res_is_silent(const struct eddy_res *res)
{
	return res->req->head.method == EDDYI_METHOD_HEAD || !eddyi_status_has_body(res->status);
}

/* Whether the head has no length: a handler for HEAD alone that sets no body does not know that of
 * a GET (RFC 9110 section 8.6). */
static inline bool eddyi_res_is_length_unsaid(const struct eddy_res *res)
{
	const struct eddyi_route *route = res->req->route;

	return res->kind == EDDYI_RES_EMPTY && route && route->method == EDDYI_METHOD_HEAD;
}

/* Send some of a stream or an unsized body, with the head before the first; `last` ends it. A
 * silent response is only the head. Suspends. Return: 0, -errno. */
int eddyi_res_send(struct eddy_res *res, struct eddy_str bytes, bool last);

/* The same with a part of a file, which is never the last. */
int eddyi_res_send_file(struct eddy_res *res, struct eddy_transfer *file);

/* Set a field to a decimal number. Return: as eddy_res_set(). */
int eddyi_res_set_u64(struct eddy_res *res, const char *name, uint64_t value);

struct eddyi_res_fields {
	struct eddyi_header *headers; /* followed by the text */
	unsigned count;
	size_t size; /* of the text */
};

/* Copy the fields from index `from` on for other responses; none on allocation failure. */
void eddyi_res_fields_keep(const struct eddy_res *res, unsigned from,
			   struct eddyi_res_fields *ret_fields);

/* Add kept fields; `res` has none of these names. Return: 0, -ENOMEM. */
int eddyi_res_fields_add(struct eddy_res *res, const struct eddyi_res_fields *fields);

/* Close the file, or release its reference. Never suspends. */
void eddyi_outgoing_close(struct eddyi_outgoing *file);

/* Remove the body. */
void eddyi_res_drop_body(struct eddy_res *res);

/* Remove the body and the fields that describe it. */
void eddyi_res_clear_body(struct eddy_res *res);

/* ---- errors ---- */

/* Turn the result of a handler or filter into a response: a status, -errno, or 0 after sending has
 * failed. Return: 0; -errno if it is too late, since a part has been sent. */
int eddyi_finish_result(struct eddy_req *req, int r);

/* The same for any result: with 0, the response is what has been set. */
static inline int eddyi_finish(struct eddy_req *req, int r)
{
	return r || req->res.failed ? eddyi_finish_result(req, r) : 0;
}

/* Respond with an error, as the app renders it; `detail` may be NULL. May suspend.
 * Return: 0, -errno. */
int eddyi_render_error(struct eddy_req *req, int status, const char *detail);

#endif
