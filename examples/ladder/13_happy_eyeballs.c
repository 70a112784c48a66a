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
	struct eddy_chan *ended; /* takes a descriptor or -errno of each */
};

static int try(void *arg)
{
	struct attempt *attempt = arg;
	const struct sockaddr *addr = &attempt->addr.addr.any;
	int fd = socket(addr->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int r = eddy_connect(fd, addr, attempt->addr.len);

	if (r < 0)
		eddy_close(fd);
	return eddy_chan_try_send(attempt->ended, r < 0 ? &r : &fd);
}

/* Return: the winner's descriptor, or why the last one has lost. */
static int race(struct attempt *attempts, int count, struct eddy_chan *ended)
{
	int started = 0, lost = 0, r = -ENXIO;
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	while (r < 0 && r != -ECANCELED && lost < count) {
		struct eddy_case cases[] = { eddy_case_chan_recv(ended, &r),
					     eddy_case_after(HEAD_START) };

		if (started < count)
			eddy_scope_spawn(&scope, "try", try, &attempts[started++]);
		if (eddy_select(cases, started < count ? 2 : 1) < 0)
			r = -ECANCELED;
		lost += cases[0].ready && r < 0;
	}
	eddy_scope_end(&scope); /* cancels those who are still trying */
	return r;
}

static int run(void *text)
{
	struct attempt attempts[EDDY_ADDRESSES_MAX];
	struct eddy_sockaddr addrs[EDDY_ADDRESSES_MAX];
	char name[EDDY_SOCKADDR_TEXT_MAX];
	struct eddy_address address;
	struct eddy_chan ended;
	int r, count, fd, late;

	r = eddy_address_parse(text, &address);
	count = r < 0 ? r : eddy_resolve(&address, addrs);
	if (count < 0)
		return count;
	eddy_chan_init(&ended, sizeof(int), EDDY_ADDRESSES_MAX);
	for (int i = 0; i < count; i++)
		attempts[i] = (struct attempt){ addrs[i], &ended };
	fd = race(attempts, count, &ended);
	while (eddy_chan_try_recv(&ended, &late) == 0)
		eddy_close(late); /* who reached the goal after the winner */
	eddy_chan_deinit(&ended);
	if (fd < 0)
		return fd;
	getpeername(fd, &addrs[0].addr.any, &addrs[0].len);
	eddy_sockaddr_format(&addrs[0].addr.any, addrs[0].len, name);
	printf("Connected to %s\n", name);
	return eddy_close(fd);
}

int main(int argc, char **argv)
{
	return eddy_main(run, argc > 1 ? argv[1] : "localhost:7001");
}
