/* sync: what tasks of one loop pass to each other.
 *
 *     sync chan|chan-buffered|mutex TASKS SECONDS
 *
 * "chan": TASKS / 2 pairs, in each of which one sends and the other receives, on a channel that holds
 * nothing; "chan-buffered": one that holds 64. A count is an item sent and received. "mutex": all want
 * one mutex, hold it while the others have a turn to ask for it, and want it again; a count is a hand-off.
 */
#include "micro.h"

#include <eddy/runtime.h>
#include <string.h>

#define ROUNDS 10000

static unsigned long tasks, done;
static struct micro micro;
static struct eddy_mutex mutex;
static bool over;

/* Whoever does the ROUNDS-th looks at the clock. */
static void count(void)
{
	if (++done == ROUNDS) {
		done = 0;
		over = over || !micro_goes_on(&micro, ROUNDS);
	}
}

static int sends(void *arg)
{
	uint64_t item = 0;

	while (!over)
		if (eddy_chan_send(arg, &item) < 0)
			break;
	eddy_chan_close(arg);
	return 0;
}

static int receives(void *arg)
{
	uint64_t item;

	while (eddy_chan_recv(arg, &item) == 0)
		if (!over)
			count();
	return 0;
}

static int locks(void *arg)
{
	(void)arg;
	while (!over) {
		if (eddy_mutex_lock(&mutex) < 0)
			break;
		if (!over)
			count();
		eddy_mutex_unlock(&mutex);
	}
	return 0;
}

static int pairs(size_t capacity)
{
	unsigned long count = tasks / 2;
	struct eddy_chan *chans = calloc(count, sizeof(*chans));
	struct eddy_scope scope;

	if (!chans)
		micro_die("channels");
	eddy_scope_begin(&scope, NULL);
	for (unsigned long i = 0; i < count; i++) {
		if (eddy_chan_init(&chans[i], sizeof(uint64_t), capacity) < 0 ||
		    eddy_scope_spawn(&scope, "receives", receives, &chans[i]) < 0 ||
		    eddy_scope_spawn(&scope, "sends", sends, &chans[i]) < 0)
			micro_die("spawn");
	}
	eddy_scope_join(&scope);
	for (unsigned long i = 0; i < count; i++)
		eddy_chan_deinit(&chans[i]);
	free(chans);
	return eddy_scope_end(&scope);
}

static int unbuffered(void *arg)
{
	(void)arg;
	return pairs(0);
}

static int buffered(void *arg)
{
	(void)arg;
	return pairs(64);
}

static int contend(void *arg)
{
	struct eddy_scope scope;

	(void)arg;
	eddy_mutex_init(&mutex);
	eddy_scope_begin(&scope, NULL);
	/* Held until all of them want it, so that each unlock hands it on. */
	eddy_mutex_lock(&mutex);
	for (unsigned long i = 0; i < tasks; i++)
		if (eddy_scope_spawn(&scope, "locks", locks, NULL) < 0)
			micro_die("spawn");
	eddy_yield();
	micro_restart(&micro);
	eddy_mutex_unlock(&mutex);
	eddy_scope_join(&scope);
	return eddy_scope_end(&scope);
}

int main(int argc, char **argv)
{
	int r;

	if (argc != 4) {
		fputs("usage: sync chan|chan-buffered|mutex TASKS SECONDS\n", stderr);
		return 2;
	}
	tasks = strtoul(argv[2], NULL, 10);
	micro = micro_begin(strtod(argv[3], NULL));
	r = eddy_run(NULL,
		     strcmp(argv[1], "mutex") == 0 ? contend :
		     strcmp(argv[1], "chan") == 0  ? unbuffered :
						     buffered,
		     NULL);
	micro_print(&micro);
	return r ? 1 : 0;
}
