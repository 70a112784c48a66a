/* error.h: turns results of handlers into responses, and renders errors. */
#ifndef EDDYI_ERROR_H
#define EDDYI_ERROR_H

#include "exchange_state.h"

/* Turn a result of a handler or filter other than 0, or after a failed write, into a response.
 * Return: 0; -errno if it is too late, since a part has been sent. */
int eddyi_finish_other(struct eddy_req *req, int r);

/* The same for any result. */
static inline int eddyi_finish(struct eddy_req *req, int r)
{
	return r || req->res.failed ? eddyi_finish_other(req, r) : 0;
}

/* Respond with an error, as the app renders it; `detail` may be NULL. May suspend.
 * Return: 0, -errno. */
int eddyi_render_error(struct eddy_req *req, int status, const char *detail);

#endif
