/* 12_workers: four threads with a loop each; the first distributes jobs and collects the results.
 *
 *     $ 12_workers
 *     1229 primes below 10000
 *     2262 primes below 20000
 *     3245 primes below 30000
 *     4203 primes below 40000
 *     5133 primes below 50000
 */
#include <eddy/runtime.h>
#include <stdio.h>

#define JOBS 5

struct job {
	int below, primes;
};

struct pool {
	struct job jobs[JOBS];
	int next; /* used on the first loop only: no lock, no atomic */
};

static int count_primes(void *arg)
{
	struct job *job = arg;

	for (int n = 2, d; n < job->below; n++) {
		for (d = 2; d * d <= n && n % d != 0; d++)
			;
		job->primes += d * d > n;
	}
	return 0;
}

/* A task on the first loop for each worker, which it gives one job at a time. */
struct feeder {
	struct pool *pool;
	struct eddy_loop *worker;
};

static int feed(void *arg)
{
	struct feeder *feeder = arg;
	struct pool *pool = feeder->pool;
	int r = 0;

	while (r == 0 && pool->next < JOBS)
		r = eddy_loops_call(feeder->worker, "primes", count_primes,
				    &pool->jobs[pool->next++]);
	return r;
}

/* Runs on every loop. Workers return at once: their loops run until this has returned on all. */
static int work(void *arg)
{
	struct feeder feeders[3];
	struct eddy_scope scope;

	if (eddy_loops_index() > 0)
		return 0;
	eddy_scope_begin(&scope, NULL);
	for (unsigned i = 0; i < 3; i++) {
		feeders[i] = (struct feeder){ arg, eddy_loops_at(i + 1) };
		eddy_scope_spawn(&scope, "feed", feed, &feeders[i]);
	}
	eddy_scope_join(&scope);
	return eddy_scope_end(&scope);
}

static int run(void *arg)
{
	struct pool pool = {
		.jobs = { { 10000, 0 }, { 20000, 0 }, { 30000, 0 }, { 40000, 0 }, { 50000, 0 } }
	};
	int r = eddy_loops_run(&(struct eddy_loops_options){ .count = 4 }, work, &pool);

	for (int i = 0; i < JOBS && r == 0; i++)
		printf("%d primes below %d\n", pool.jobs[i].primes, pool.jobs[i].below);
	return r;
}

int main(void)
{
	return eddy_main(run, NULL);
}
