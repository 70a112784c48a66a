/* app.h: what an app has been told, and what it is while it runs. */
#ifndef EDDYI_APP_H
#define EDDYI_APP_H

#include "head.h"
#include "mime.h"
#include "router.h"

#include <eddy/app.h>
#include <eddy/event.h>
#include <stdatomic.h>

struct eddyi_run;
struct mistake;

struct eddy_route {
	struct eddy_app *app;
	eddy_handler_fn *handler;
};

struct eddy_app {
	struct eddyi_arena arena; /* of everything that it was told */
	const char *address;
	struct eddy_server_options options; /* defaults filled in */
	struct eddyi_head_limits head_limits;
	void *context;
	struct eddyi_router *router;
	eddy_handler_fn *fallback;
	eddy_filter_fn **filters;
	size_t filter_count;
	struct mistake *mistakes;
	struct mistake **mistakes_end;

	/* While it runs: */
	struct eddyi_mime *mime;
	struct eddyi_run *run; /* guarded by a lock of run.c, as is: */
	unsigned early_stops;  /* shutdowns asked for before there was a run */
	atomic_uint port;
};

/* Emit a record for each mistake. Return: whether there are any. */
bool eddyi_app_report_mistakes(const struct eddy_app *app);

#endif
