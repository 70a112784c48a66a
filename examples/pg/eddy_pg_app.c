#include "eddy_pg_app.h"

#include <eddy/layer.h>
#include <eddy/log.h>
#include <eddy/res.h>
#include <errno.h>
#include <stdlib.h>

/* ---- the pool ---- */

static int start(struct eddy_app *app, void *arg)
{
	struct eddy_pg_app *own = arg;
	int r;

	(void)app;
	if (own->pg.pool)
		return 0; /* by an earlier run */
	r = eddy_pg_open(&own->options, &own->pg);
	if (r < 0)
		return r;
	r = eddy_pg_query(&own->pg, NULL, own->jobs ? eddy_pg_jobs_sql : "select 1", EDDY_PG());
	if (r < 0)
		eddy_error("eddy::pg", "can't use the database: %s", eddy_pg_error(&own->pg));
	else if (own->migrations)
		r = eddy_pg_migrate(own->options.conninfo, own->migrations);
	if (r < 0)
		eddy_pg_close(&own->pg);
	return r;
}

static void end(void *arg)
{
	struct eddy_pg_app *own = arg;

	eddy_events_channel_free(own->events);
	eddy_pg_close(&own->pg);
}

/* Publish the event of a notification. That of a new connection is empty. */
static void publish(void *arg, const struct eddy_pg_notification *item)
{
	struct eddy_pg_app *own = arg;
	struct eddy_events_message message = { .topic = eddy_str_from(item->payload) };

	if (eddy_str_split(&message.topic, ' ', &message.data) && message.topic.ptr &&
	    eddy_events_publish(own->events, &message) < 0)
		eddy_warn("eddy::pg", "out of memory: subscribers miss an event");
}

void eddy_pg_use(struct eddy_app *app, struct eddy_pg_app *own)
{
	eddy_app_at_start(app, start, own);
	eddy_app_at_free(app, end, own);
	if (own->jobs) {
		own->jobs->pg = &own->pg;
		eddy_app_add_task(app, "jobs", eddy_pg_jobs_run, own->jobs);
	}
	if (own->notify) {
		own->events = eddy_events_channel_new(NULL);
		own->channels[0] = own->notify;
		own->listener = (struct eddy_pg_listener){
			.pg = &own->pg, .channels = own->channels, .fn = publish, .arg = own
		};
		if (!own->events)
			eddy_app_mistake(app, "out of memory");
		eddy_app_add_task(app, "listen", eddy_pg_listen, &own->listener);
	}
}

/* ---- responses ---- */

/* Answer with the first `count` rows as JSON. */
static int respond(struct eddy_res *res, const struct eddy_pg_rows *rows, size_t count,
		   const struct eddy_shape *shape, size_t json_count)
{
	char *list = calloc(count + 1, shape->size);
	int r = list ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < count; i++)
		r = eddyi_pg_row_into(rows, i, shape->members, shape->count,
				      list + i * shape->size);
	if (r == 0)
		r = eddyi_res_json_write(res, shape->members, shape->count, shape->size, list,
					 json_count);
	free(list);
	return r;
}

int eddy_pg_respond(struct eddy_res *res, struct eddy_pg *pg, const struct eddy_shape *shape,
		    const char *sql, struct eddy_pg_params params)
{
	EDDY_AUTO(eddy_pg_rows_deinit) struct eddy_pg_rows rows = { 0 };
	int r = eddy_pg_query(pg, &rows, sql, params);

	return r < 0 ? r : respond(res, &rows, rows.count, shape, rows.count);
}

int eddy_pg_respond_one(struct eddy_res *res, struct eddy_pg *pg, const struct eddy_shape *shape,
			const char *sql, struct eddy_pg_params params)
{
	EDDY_AUTO(eddy_pg_rows_deinit) struct eddy_pg_rows rows = { 0 };
	int r = eddy_pg_query(pg, &rows, sql, params);

	if (r == 0 && rows.count == 0)
		r = -ENOENT;
	return r < 0 ? r : respond(res, &rows, 1, shape, EDDYI_JSON_OBJECT);
}
