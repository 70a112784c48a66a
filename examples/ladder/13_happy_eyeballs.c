/* 13_happy_eyeballs: connect to the first address that answers; each has a head start on the next
 * one (RFC 8305).
 *
 *     $ 13_happy_eyeballs [::1]:7001 127.0.0.1:7001
 *     Connected to 127.0.0.1:7001
 *
 * eddy_dial() does this for the addresses of a name; this program does it by hand.
 */
#include <eddy/runtime.h>
#include <stdio.h>

#define ADDRESSES_MAX 8
#define HEAD_START (250 * EDDY_MS)

struct attempt {
	const char *address;
	struct eddy_chan *ended; /* of pointers to attempts that have a result */
	int result;              /* a descriptor, or -errno */
};

static int try(void *arg)
{
	struct attempt *attempt = arg;

	attempt->result = eddy_dial(attempt->address, NULL);
	return eddy_chan_try_send(attempt->ended, &attempt);
}

/* Return: the winner; the last attempt that failed if all did; NULL if cancelled. */
static struct attempt *race(struct attempt *attempts, int count, struct eddy_chan *ended)
{
	struct attempt *last = NULL;
	struct eddy_scope scope;
	int started = 0, lost = 0, r = 0;

	eddy_scope_begin(&scope, NULL);
	while (r >= 0 && lost < count) {
		struct eddy_case cases[] = { eddy_case_chan_recv(ended, &last),
					     eddy_case_after(HEAD_START) };

		if (started < count)
			eddy_scope_spawn(&scope, "try", try, &attempts[started++]);
		/* After the last attempt there is no head start to wait for. */
		r = eddy_select(cases, started < count ? 2 : 1);
		if (cases[0].ready && last->result >= 0)
			break;
		lost += cases[0].ready;
	}
	eddy_scope_end(&scope); /* cancels the other attempts */
	return r < 0 ? NULL : last;
}

static int run(void *arg)
{
	struct attempt attempts[ADDRESSES_MAX], *winner, *late;
	struct eddy_chan ended;
	char **addresses = arg;
	int count = 0, r = eddy_chan_init(&ended, sizeof(winner), ADDRESSES_MAX);

	if (r < 0)
		return r;
	for (; addresses[count] && count < ADDRESSES_MAX; count++)
		attempts[count] = (struct attempt){ addresses[count], &ended, 0 };
	winner = race(attempts, count, &ended);
	while (eddy_chan_try_recv(&ended, &late) == 0)
		if (late->result >= 0)
			eddy_close(late->result); /* connected after the winner */
	eddy_chan_deinit(&ended);
	if (!winner)
		return -ECANCELED;
	if (winner->result < 0)
		return winner->result;
	printf("Connected to %s\n", winner->address);
	return eddy_close(winner->result);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return eddy_main(run, argv + 1);
	fputs("usage: 13_happy_eyeballs ADDRESS…\n", stderr);
	return 2;
}
