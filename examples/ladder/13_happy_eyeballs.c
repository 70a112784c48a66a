/* 13_happy_eyeballs: connect to a name that has several addresses. Each gets a head start on the next
 * one; the first that answers wins (RFC 8305).
 *
 *     $ 13_happy_eyeballs localhost:7001
 *     Connected to 127.0.0.1:7001
 */
#include <eddy/runtime.h>
#include <errno.h>
#include <stdio.h>

#define HEAD_START (250 * EDDY_MS)

struct attempt {
	struct eddy_sockaddr addr;
	struct eddy_chan *ended; /* takes a pointer to each attempt that has a result */
	int result;              /* a descriptor, or why there is none */
};

static int try(void *arg)
{
	struct attempt *attempt = arg;
	const struct sockaddr *addr = &attempt->addr.addr.any;
	int fd = eddy_socket(addr->sa_family, SOCK_STREAM, 0);

	attempt->result = eddy_connect(fd, addr, attempt->addr.len);
	if (attempt->result < 0)
		eddy_close(fd);
	else
		attempt->result = fd;
	return eddy_chan_try_send(attempt->ended, &attempt);
}

/* Return: the winner, else the last who lost; NULL when cancelled. */
static struct attempt *race(struct attempt *attempts, int count, struct eddy_chan *ended)
{
	struct attempt *last = NULL;
	struct eddy_scope scope;
	int started = 0, lost = 0;

	eddy_scope_begin(&scope, NULL);
	while (lost < count) {
		struct eddy_case cases[] = { eddy_case_chan_recv(ended, &last),
					     eddy_case_after(HEAD_START) };

		if (started < count)
			eddy_scope_spawn(&scope, "try", try, &attempts[started++]);
		if (eddy_select(cases, started < count ? 2 : 1) < 0) {
			last = NULL;
			break;
		}
		if (cases[0].ready && last->result >= 0)
			break;
		lost += cases[0].ready;
	}
	eddy_scope_end(&scope); /* cancels those who are still trying */
	return last;
}

static int run(void *text)
{
	struct attempt attempts[EDDY_ADDRESSES_MAX], *winner, *late;
	struct eddy_sockaddr addrs[EDDY_ADDRESSES_MAX];
	char name[EDDY_SOCKADDR_TEXT_MAX];
	struct eddy_address address;
	struct eddy_chan ended;
	int r = eddy_address_parse(text, &address);

	if (r == 0)
		r = eddy_resolve(&address, addrs);
	if (r < 0)
		return r;
	eddy_chan_init(&ended, sizeof(winner), EDDY_ADDRESSES_MAX);
	for (int i = 0; i < r; i++)
		attempts[i] = (struct attempt){ addrs[i], &ended, 0 };
	winner = race(attempts, r, &ended);
	while (eddy_chan_try_recv(&ended, &late) == 0)
		if (late->result >= 0)
			eddy_close(late->result); /* reached the goal after the winner */
	eddy_chan_deinit(&ended);
	if (!winner || winner->result < 0)
		return winner ? winner->result : -ECANCELED;
	eddy_sockaddr_format(&winner->addr.addr.any, winner->addr.len, name);
	printf("Connected to %s\n", name);
	return eddy_close(winner->result);
}

int main(int argc, char **argv)
{
	return eddy_main(run, argc > 1 ? argv[1] : "localhost:7001");
}
