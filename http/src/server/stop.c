#include "run.h"

#include "parked/parked.h"

#include <eddy/internal/outside.h>
#include <eddy/log.h>

pthread_mutex_t eddyi_run_lock = PTHREAD_MUTEX_INITIALIZER;

void eddyi_run_announce_stop(const struct eddyi_run *run)
{
	uint64_t requests = 0;

	for (unsigned i = 0; i < run->count; i++)
		requests += __atomic_load_n(&run->workers[i].server.conns.counts.serving,
					    __ATOMIC_RELAXED);
	eddy_info("eddy::app", "shutting down: %llu requests in progress",
		  (unsigned long long)requests);
}

static void deliver_stop(struct eddy_message *message)
{
	struct eddyi_worker *worker = eddy_of(message, struct eddyi_worker, stop);
	struct eddyi_run *run = worker->run;

	eddyi_server_stop(&worker->server,
			  run->handed_over ? EDDYI_STOP_HAND_OVER : EDDYI_STOP_DRAIN);
	if (worker != run->workers)
		return;
	eddy_event_set(&run->notifier.stopping);
	if (run->began)
		eddyi_run_announce_stop(run);
	else
		run->stops_early = true;
}

static void deliver_hurry(struct eddy_message *message)
{
	eddyi_server_stop(&eddy_of(message, struct eddyi_worker, hurry)->server, EDDYI_STOP_HURRY);
}

void eddyi_worker_init(struct eddyi_worker *worker, struct eddyi_run *run)
{
	worker->run = run;
	worker->stop.deliver = deliver_stop;
	worker->hurry.deliver = deliver_hurry;
}

void eddyi_run_stop(struct eddyi_run *run)
{
	bool at_once = run->handed_over || !run->app->options.lame_duck_ns;

	if (++run->stops > 2)
		return;
	atomic_store(&run->app->draining, !run->handed_over);
	for (unsigned i = 0; i < run->count; i++) {
		struct eddyi_worker *worker = &run->workers[i];

		if (!worker->loop)
			continue;
		/* A handler that calls this responds before the message arrives. */
		if (run->stops == 1 && at_once && worker->loop == eddy_loop_self())
			eddyi_conns_stop(&worker->server.conns, true);
		eddy_loop_post(worker->loop, run->stops == 1 ? &worker->stop : &worker->hurry);
	}
}

void eddyi_run_stop_once(struct eddyi_run *run)
{
	pthread_mutex_lock(&eddyi_run_lock);
	if (!run->stops)
		eddyi_run_stop(run);
	pthread_mutex_unlock(&eddyi_run_lock);
}

void eddyi_app_stop(struct eddy_app *app)
{
	if (app->run)
		eddyi_run_stop(app->run);
	else
		app->early_stops++;
}

void eddy_app_shutdown(struct eddy_app *app)
{
	pthread_mutex_lock(&eddyi_run_lock);
	eddyi_app_stop(app);
	pthread_mutex_unlock(&eddyi_run_lock);
}

bool eddy_app_is_draining(const struct eddy_app *app)
{
	return atomic_load(&app->draining);
}
