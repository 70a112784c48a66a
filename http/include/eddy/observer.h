/* eddy/observer.h: who sees every request come and go, for layers that trace, count or write a journal.
 *
 *     static void *begin(void *data, struct eddy_req *req, struct eddy_res *res)
 *     {
 *             struct visit *visit = eddy_req_alloc(req, sizeof(*visit));
 *
 *             …
 *             return visit;
 *     }
 *
 *     static void end(void *data, void *state, struct eddy_req *req, const struct eddy_outcome *outcome)
 *     {
 *             count(data, outcome->status);
 *     }
 *
 *     static const struct eddy_observer observer = { begin, end };
 *
 *     eddy_app_observe(app, &observer, journal);
 *
 * Filters stand around handlers; observers also see what is refused before any filter runs, and what becomes
 * of an answer once it is on its way.
 */
#ifndef EDDY_OBSERVER_H
#define EDDY_OBSERVER_H

#include <eddy/req.h>
#include <eddy/res.h>

EDDY_BEGIN_DECLS

struct eddy_field;
struct eddy_local;

/* What became of a request. */
struct eddy_outcome {
	int status;           /* that was answered, or would have been */
	uint64_t received;    /* bytes of its body that were read, as they were sent */
	uint64_t sent;        /* bytes of the answer, head included, that the kernel took */
	uint64_t duration_ns; /* since its head was there */
	bool whole;           /* the answer was sent to its end; else the connection was cut */
};

struct eddy_observer {
	/* A head has come, or one that is refused: then no more than some of its fields may be known. Fields
	 * that it sets in `res` are on every answer. Return: what end() is given. Must not suspend. */
	void *(*begin)(void *data, struct eddy_req *req, struct eddy_res *res);
	/* The exchange is over. All of `req` is still there. Must not suspend. */
	void (*end)(void *data, void *state, struct eddy_req *req,
		    const struct eddy_outcome *outcome);
};

/* Have every request of the app observed; `data` is borrowed for as long as the app lives. Of several observers
 * the one that was added last ends first. */
EDDY_API void eddy_app_observe(struct eddy_app *app, const struct eddy_observer *observer,
			       void *data);

/* Add fields to the records, and values for eddy_local_get(), of all that is done for the request: its
 * filters, its handler, the tasks that those spawn, and the sending of the answer. Either may be NULL;
 * EDDY_FIELDS() and EDDY_LOCALS() have their shape, but these are borrowed for the life of the request. From
 * begin() only. Return: 0, -ENOMEM. */
EDDY_API int eddy_req_annotate(struct eddy_req *req, const struct eddy_field *fields,
			       const struct eddy_local *locals);

/* The pattern of the route that answers, groups included; .ptr is NULL when none does. */
EDDY_API struct eddy_str eddy_req_pattern(const struct eddy_req *req);

EDDY_END_DECLS

#endif
