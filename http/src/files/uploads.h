/* uploads.h: the mechanism of eddy/uploads.h, on which its protocols are built: draft.c is the
 * IETF's, tus.c is tus. */
#ifndef EDDYI_UPLOADS_H
#define EDDYI_UPLOADS_H

#include "message/digest.h"
#include "partial.h"

#include <eddy/uploads.h>

struct eddy_uploads {
	struct eddy_app *app;
	struct eddyi_partials all;
	struct eddy_uploads_options options; /* with defaults filled in, except .max */
	const char *at;                      /* .at and .tus, with the prefix of the group */
	const char *tus;
};

/* The response has been set, and is an error: the functions here return it in place of a status. */
#define EDDYI_UPLOADS_ANSWERED 1

/* Make what the functions here return the result of a handler. */
static inline int eddyi_uploads_result(int r)
{
	return r == EDDYI_UPLOADS_ANSWERED ? 0 : r;
}

/* Get the limit of an upload in bytes. */
uint64_t eddyi_uploads_max(const struct eddy_uploads *uploads, const struct eddy_req *req);

/* Begin an upload of `length` bytes, or EDDY_LENGTH_UNKNOWN, to `path`. `state` has what the
 * protocol adds. The caller closes `*ret_partial` in any case. Suspends.
 * Return: 0; a status or -errno, as a handler's. */
int eddyi_uploads_begin(struct eddy_uploads *uploads, struct eddy_req *req, struct eddy_res *res,
			struct eddy_str path, uint64_t length, json_t *state,
			struct eddyi_partial *ret_partial);

/* Find the upload whose URL the request has. The caller closes `*ret_partial` in any case.
 * Suspends.
 * Return: 0; -errno, as a handler's. */
int eddyi_uploads_find(struct eddy_uploads *uploads, struct eddy_req *req,
		       struct eddyi_partial *ret_partial);

/* Append the body of a request, at most until the offset is `max`; if its field `name` announces
 * digests, only if it has them. `tell(arg, offset)` is called now and then; NULL: nothing is.
 * Suspends.
 * Return: 0; -EFBIG beyond `max`; as eddyi_digest_check() and eddyi_partial_receive(). */
int eddyi_uploads_append(struct eddyi_partial *partial, struct eddy_req *req, uint64_t max,
			 const char *name, const struct eddyi_digests *announced,
			 void (*tell)(void *arg, uint64_t offset), void *arg);

/* Complete an upload whose bytes have all arrived, and set the response. It is discarded if the
 * program rejects it. Suspends. Return: 0; a status or -errno, as a handler's. */
int eddyi_uploads_complete(struct eddy_uploads *uploads, struct eddy_req *req, struct eddy_res *res,
			   struct eddyi_partial *partial);

/* Note why receiving failed, for the response. Return: -errno, as a handler's. */
int eddyi_uploads_explain(struct eddy_req *req, const struct eddyi_partial *partial, int error);

/* ---- protocols ---- */

/* A PUT or POST with upload-complete: begin an upload to `path`. */
int eddyi_draft_create(struct eddy_uploads *uploads, struct eddy_req *req, struct eddy_res *res,
		       struct eddy_str path);

/* The field upload-limit. Return: 0, -ENOMEM. */
int eddyi_draft_set_limits(const struct eddy_uploads *uploads, const struct eddy_req *req,
			   struct eddy_res *res);

/* Whether the request has a valid field upload-complete. */
bool eddyi_draft_is_asked(struct eddy_req *req);

/* Map the URLs of uploads. */
void eddyi_draft_map(struct eddy_uploads *uploads, union eddy_router router);
void eddyi_tus_map(struct eddy_uploads *uploads, union eddy_router router);

#endif
