/* echo_load: the client of the echoes. Each connection sends a message, waits until all of it is back,
 * and sends the next.
 *
 *     echo_load PORT CONNECTIONS SECONDS
 *
 * Prints how many round trips there were, how long it took, and its own processor time. A PID as the
 * fourth argument adds that process's.
 */
#include "micro.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define MESSAGE 64
#define EVENTS 256

struct conn {
	int fd;
	size_t got;
};

static int epoll;
static unsigned long long trips;

static void send_message(struct conn *conn)
{
	static const char message[MESSAGE] = "sixty-four bytes";

	conn->got = 0;
	if (send(conn->fd, message, MESSAGE, MSG_NOSIGNAL) != MESSAGE)
		micro_die("send");
}

static void open_conn(struct conn *conn, const struct sockaddr_in *address)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = conn };
	int on = 1;

	conn->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connect(conn->fd, (const struct sockaddr *)address, sizeof(*address)) < 0)
		micro_die("connect");
	setsockopt(conn->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	epoll_ctl(epoll, EPOLL_CTL_ADD, conn->fd, &event);
	send_message(conn);
}

static void receive(struct conn *conn)
{
	char bytes[MESSAGE];
	ssize_t r = recv(conn->fd, bytes, sizeof(bytes) - conn->got, 0);

	if (r <= 0)
		micro_die("recv");
	conn->got += (size_t)r;
	if (conn->got == MESSAGE) {
		trips++;
		send_message(conn);
	}
}

static void run_until(uint64_t end_ns)
{
	struct epoll_event events[EVENTS];

	while (micro_clock(CLOCK_MONOTONIC) < end_ns) {
		int n = epoll_wait(epoll, events, EVENTS, 1000);

		if (n == 0) {
			fputs("echo_load: nothing comes back\n", stderr);
			exit(1);
		}
		for (int i = 0; i < n; i++)
			receive(events[i].data.ptr);
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	uint64_t seconds_ns, begun, cpu, server;
	unsigned long count;
	struct conn *conns;
	clockid_t clock;

	if (argc != 5) {
		fputs("usage: echo_load PORT CONNECTIONS SECONDS PID\n", stderr);
		return 2;
	}
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	address.sin_port = htons((uint16_t)atoi(argv[1]));
	count = strtoul(argv[2], NULL, 10);
	seconds_ns = (uint64_t)(strtod(argv[3], NULL) * 1e9);
	if (clock_getcpuclockid((pid_t)strtol(argv[4], NULL, 10), &clock) != 0)
		micro_die("the server's clock");
	epoll = epoll_create1(EPOLL_CLOEXEC);
	conns = calloc(count, sizeof(*conns));
	for (unsigned long i = 0; i < count; i++)
		open_conn(&conns[i], &address);
	/* A tenth is warm-up. */
	run_until(micro_clock(CLOCK_MONOTONIC) + seconds_ns / 10);
	trips = 0;
	begun = micro_clock(CLOCK_MONOTONIC);
	cpu = micro_clock(CLOCK_PROCESS_CPUTIME_ID);
	server = micro_clock(clock);
	/* On a busy machine a moment may be too short for any. */
	do
		run_until(micro_clock(CLOCK_MONOTONIC) + seconds_ns);
	while (trips < count);
	server = micro_clock(clock) - server;
	cpu = micro_clock(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	begun = micro_clock(CLOCK_MONOTONIC) - begun;
	printf("{\"count\": %llu, \"cpu_ns\": %.3f, \"wall_ns\": %.3f, \"client_ns\": %.3f}\n",
	       trips, (double)server / (double)trips, (double)begun / (double)trips,
	       (double)cpu / (double)trips);
	free(conns);
	return 0;
}
