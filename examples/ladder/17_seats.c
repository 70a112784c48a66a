/* 17_seats: sell the three seats of a theatre to four customers, who come within 100 ms. One run in
 * ten sells a seat too many. The recording of such a run shows how, in every replay.
 *
 *     $ for i in $(seq 100); do EDDY_RECORD=$i.rec 17_seats || break; done
 *     58 ms: dee gets seat 1
 *     64 ms: ada gets seat 2
 *     82 ms: bob gets seat 3
 *     84 ms: cy gets seat 4
 *     4 of 3 seats are sold
 *     $ eddy replay $i.rec --until 82ms
 */
#include <eddy/runtime.h>
#include <errno.h>
#include <stdio.h>
#include <sys/random.h>

#define SEATS 3

static const char *const names[] = { "ada", "bob", "cy", "dee" };
static int sold;
static uint64_t began;

static int buy(void *name)
{
	uint16_t random;
	int r = -EIO;

	if (getrandom(&random, sizeof(random), 0) == sizeof(random))
		r = eddy_sleep(random % 100 * EDDY_MS);
	if (r < 0 || sold == SEATS)
		return r;
	r = eddy_sleep(2 * EDDY_MS); /* the payment */
	if (r == 0)
		printf("%d ms: %s gets seat %d\n", (int)((eddy_now() - began) / EDDY_MS),
		       (char *)name, ++sold);
	return r;
}

static int run(void *arg)
{
	struct eddy_scope scope;
	int r;

	began = eddy_now();
	eddy_scope_begin(&scope, NULL);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		eddy_scope_spawn(&scope, names[i], buy, (void *)names[i]);
	eddy_scope_join(&scope);
	r = eddy_scope_end(&scope);
	if (r < 0 || sold <= SEATS)
		return r;
	printf("%d of %d seats are sold\n", sold, SEATS);
	return 1;
}

int main(void)
{
	return eddy_main(run, NULL);
}
