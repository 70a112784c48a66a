#include "beside.h"

#include <eddy/log.h>
#include <string.h>

static int spawn_all(const struct eddy_app *app, struct eddy_scope *scope)
{
	int r = 0;

	for (const struct eddyi_beside *beside = app->beside; beside && r == 0;
	     beside = beside->next)
		r = eddy_scope_spawn(scope, beside->name, beside->fn, beside->data);
	return r;
}

static int keep(void *arg)
{
	struct eddyi_beside_keeper *keeper = arg;
	struct eddy_scope scope;

	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .shielded = true });
	keeper->result = spawn_all(keeper->app, &scope);
	eddy_event_set(&keeper->begun);
	eddy_event_wait(&keeper->served);
	return eddy_scope_end(&scope);
}

void eddyi_beside_init(struct eddyi_beside_keeper *keeper, const struct eddy_app *app)
{
	keeper->app = app;
	keeper->result = 0;
	eddy_event_init(&keeper->begun);
	eddy_event_init(&keeper->served);
}

int eddyi_beside_begin(struct eddyi_beside_keeper *keeper, struct eddy_scope *scope)
{
	struct eddy_scope shield;
	int r;

	if (!keeper->app->beside)
		return 0;
	r = eddy_scope_spawn(scope, "beside", keep, keeper);
	if (r == 0) {
		eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true });
		eddy_event_wait(&keeper->begun);
		eddy_scope_end(&shield);
		r = keeper->result;
	}
	if (r < 0)
		eddy_error("eddy::app", "can't start the background tasks: %s", strerror(-r));
	return r;
}

void eddyi_beside_end(struct eddyi_beside_keeper *keeper)
{
	eddy_event_set(&keeper->served);
}
