/* 08_rate_limit: ten requests through a bucket that holds three tokens and gets one every 20 ms.
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

/* The bucket is a channel of items without bytes: what it holds is that they are there. */
static struct eddy_chan bucket;
static uint64_t began;

static int refill(void *arg)
{
	while (eddy_sleep(INTERVAL) == 0)
		eddy_chan_try_send(&bucket, NULL); /* a full one flows over */
	return 0;
}

static int request(void *arg)
{
	int r = eddy_chan_recv(&bucket, NULL);

	if (r == 0)
		printf("request %d after %d ms\n", *(int *)arg,
		       (int)((eddy_now() - began) / EDDY_MS));
	return r;
}

static int run(void *arg)
{
	struct eddy_scope scope, refills;
	int numbers[10], r;

	r = eddy_chan_init(&bucket, 0, BURST);
	if (r < 0)
		return r;
	while (eddy_chan_try_send(&bucket, NULL) == 0)
		;
	began = eddy_now();
	eddy_scope_begin(&refills, NULL);
	eddy_scope_spawn(&refills, "refill", refill, NULL);
	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 10; i++) {
		numbers[i] = i + 1;
		eddy_scope_spawn(&scope, "request", request, &numbers[i]);
	}
	eddy_scope_join(&scope);
	r = eddy_scope_end(&scope);
	eddy_scope_end(&refills); /* cancels what still runs */
	eddy_chan_deinit(&bucket);
	return r;
}

int main(void)
{
	return eddy_main(run, NULL);
}
