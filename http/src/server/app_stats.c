#include "app_stats.h"

#include "stop.h"
#include <eddy/internal/outside.h>

static uint64_t load(const uint64_t *count)
{
	return (uint64_t)eddyi_outside_value("count",
					     (int64_t)__atomic_load_n(count, __ATOMIC_RELAXED));
}

static void add(struct eddy_app_stats *sum, const struct eddyi_conn_counts *counts)
{
	uint64_t accepted = load(&counts->accepted), refused = load(&counts->refused);
	uint64_t gone = load(&counts->closed) + refused;

	/* The counters are read one after the other. */
	if (accepted > gone)
		sum->connections += accepted - gone;
	sum->accepted += accepted;
	sum->refused += refused;
	sum->over_address += load(&counts->over_address);
	sum->evicted_idle += load(&counts->evicted[EDDYI_STANDING_IDLE]);
	sum->evicted_head += load(&counts->evicted[EDDYI_STANDING_HEAD]);
	sum->evicted_slow += load(&counts->evicted[EDDYI_STANDING_SLOW]);
	sum->slow_bodies += load(&counts->slow_bodies);
	sum->slow_writes += load(&counts->slow_writes);
	sum->accept_failures += load(&counts->accept_failures);
	sum->proxy_failures += load(&counts->proxy_failures);
}

static struct eddy_app_stats add_workers(struct eddy_app_stats sum, const struct eddyi_run *run)
{
	for (unsigned i = 0; i < run->count; i++)
		add(&sum, &run->workers[i].server.conns.counts);
	return sum;
}

void eddyi_run_keep_stats(const struct eddyi_run *run)
{
	run->app->before = add_workers(run->app->before, run);
	run->app->before.connections = 0;
}

struct eddy_app_stats eddy_app_stats(const struct eddy_app *app)
{
	struct eddy_app_stats stats;

	pthread_mutex_lock(&eddyi_run_lock);
	stats = app->run ? add_workers(app->before, app->run) : app->before;
	pthread_mutex_unlock(&eddyi_run_lock);
	stats.refused_bodies =
		(uint64_t)eddyi_outside_value("count", (int64_t)atomic_load(&app->refused_bodies));
	return stats;
}
