/* 08_rate_limit: a token bucket: a burst of three requests, then one every 20 ms.
 *
 *     $ 08_rate_limit
 *     request 1 after 0 ms
 *     request 2 after 0 ms
 *     request 3 after 0 ms
 *     request 4 after 20 ms
 *     request 5 after 40 ms
 *     request 6 after 60 ms
 *     request 7 after 80 ms
 *     request 8 after 100 ms
 *     request 9 after 120 ms
 *     request 10 after 140 ms
 */
#include <eddy/runtime.h>
#include <stdio.h>

#define BURST 3
#define INTERVAL (20 * EDDY_MS)

static struct eddy_semaphore bucket;
static uint64_t began;

static int refill(void *arg)
{
	struct eddy_ticker ticker;

	eddy_ticker_init(&ticker, INTERVAL);
	while (eddy_ticker_next(&ticker) > 0)
		if (bucket.count < BURST) /* a full bucket takes no more */
			eddy_semaphore_release(&bucket, 1);
	return 0;
}

static int request(void *arg)
{
	int r = eddy_semaphore_acquire(&bucket, 1);

	if (r == 0)
		printf("request %d after %d ms\n", *(int *)arg,
		       (int)((eddy_now() - began) / EDDY_MS));
	return r;
}

static int run(void *arg)
{
	struct eddy_scope background, scope;
	int numbers[10], r;

	eddy_semaphore_init(&bucket, BURST);
	began = eddy_now();
	eddy_scope_begin(&background, NULL);
	eddy_scope_spawn(&background, "refill", refill, NULL);
	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 10; i++) {
		numbers[i] = i + 1;
		eddy_scope_spawn(&scope, "request", request, &numbers[i]);
	}
	eddy_scope_join(&scope);
	r = eddy_scope_end(&scope);
	eddy_scope_end(&background); /* cancels the refill task */
	return r;
}

int main(void)
{
	return eddy_main(run, NULL);
}
