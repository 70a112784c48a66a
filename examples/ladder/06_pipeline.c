/* 06_pipeline: a prime sieve as a pipeline: each task removes the multiples of one prime.
 *
 *     $ 06_pipeline
 *     2 3 5 7 11 13 17 19 23 29 31 37 41 43 47
 */
#include <eddy/runtime.h>
#include <stdio.h>

#define LAST 50

struct sieve {
	struct eddy_chan *in;
	struct eddy_chan out;
	int prime;
};

static int count(void *arg)
{
	struct eddy_chan *out = arg;

	for (int n = 2; n <= LAST; n++)
		if (eddy_chan_send(out, &n) < 0)
			break;
	eddy_chan_close(out);
	return 0;
}

static int sift(void *arg)
{
	struct sieve *sieve = arg;
	int n;

	while (eddy_chan_recv(sieve->in, &n) == 0)
		if (n % sieve->prime != 0 && eddy_chan_send(&sieve->out, &n) < 0)
			break;
	eddy_chan_close(&sieve->out); /* the next task reads the end */
	return 0;
}

static int run(void *arg)
{
	struct sieve sieves[LAST], *sieve = sieves;
	struct eddy_chan numbers, *last = &numbers;
	struct eddy_scope scope;
	int prime;

	eddy_chan_init(&numbers, sizeof(int), 0);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "count", count, &numbers);
	for (; eddy_chan_recv(last, &prime) == 0; last = &sieve++->out) {
		printf("%s%d", prime > 2 ? " " : "", prime);
		*sieve = (struct sieve){ .in = last, .prime = prime };
		eddy_chan_init(&sieve->out, sizeof(int), 0);
		eddy_scope_spawn(&scope, "sift", sift, sieve);
	}
	putchar('\n');
	return eddy_scope_end(&scope);
}

int main(void)
{
	return eddy_main(run, NULL);
}
