/* load: the client of the benchmarks. One process, epoll, keep-alive; it must cost less than the server.
 *
 *     load get  URL [-c CONNECTIONS] [-t SECONDS] [-d DEPTH] [-p PID] [-H FIELD]
 *     load put  URL -f FILE [-n] [-c CONNECTIONS] [-t SECONDS] [-p PID]
 *     load hold URL [-c CONNECTIONS]
 *
 * get and put repeat a request on every connection for SECONDS and let what has begun finish, so that
 * each byte that was paid for is counted. Every connection makes one request before, which is not
 * measured. put appends the connection's number to the path; with -n that of the request, so that each
 * makes a new file. DEPTH requests are sent at once, each with FIELD in its head. The CPU time is that of process PID, all threads.
 * hold makes a request on each connection and keeps them open until its stdin ends. What was measured is
 * printed as a line of JSON.
 *
 * Bodies are received with MSG_TRUNC (counted by the kernel, never copied) and sent by sendfile(2).
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A response's head and a small body; the rest is not copied. */
#define BUFFER 8192
/* The same of pipelined ones, where nothing may be left behind. */
#define BUFFER_DEEP 65536
#define RECEIVE (256 * 1024)
#define SEND (1024 * 1024)
/* In a row for one connection, while others wait. */
#define TURNS 4
/* Connections that are opened before they are used: fewer than a backlog. */
#define BATCH 200

/* Times in buckets of 1/64 of a power of two. */
#define STEPS 64
#define BUCKETS (58 * STEPS)

struct conn {
	int fd;
	bool polls_out;
	char *request; /* DEPTH of them, bodies apart */
	size_t request_len;
	size_t request_at;
	off_t body_at; /* of an upload */
	unsigned awaited;
	char *buffer;
	size_t buffered;
	uint64_t body_left; /* of the response that is arriving */
	uint64_t started;
};

static struct {
	const char *host;
	char port[8];
	const char *path;
	const char *field; /* of each head */
	struct addrinfo *address;
	unsigned connections;
	unsigned depth;
	double seconds;
	pid_t pid;
	int file; /* to upload, or -1 */
	off_t file_size;
	size_t buffer_size;
	bool new_names;
} run = { .field = "", .connections = 1, .depth = 1, .seconds = 1, .file = -1 };

static struct {
	uint64_t deadline;
	unsigned busy; /* connections */
	uint64_t requests;
	uint64_t bytes; /* of bodies */
	uint64_t buckets[BUCKETS];
} round;

static int epoll;
static struct conn *conns;

__attribute__((format(printf, 1, 2), noreturn)) static void die(const char *format, ...)
{
	va_list args;

	fputs("load: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

static uint64_t clock_ns(clockid_t id)
{
	struct timespec time;

	if (clock_gettime(id, &time) < 0)
		die("the server's process is gone");
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static uint64_t now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static void record(uint64_t ns)
{
	unsigned power = ns < STEPS ? 0 : 63 - 6 - (unsigned)__builtin_clzll(ns);
	uint64_t bucket = power * STEPS + (ns >> power);

	round.buckets[bucket < BUCKETS ? bucket : BUCKETS - 1]++;
}

/* Microseconds that this part of the requests took at most. */
static double percentile(double part)
{
	uint64_t wanted = (uint64_t)((double)round.requests * part), seen = 0;
	size_t at = 0;

	while (at < BUCKETS - 1 && (seen += round.buckets[at]) <= wanted)
		at++;
	if (at < 2 * STEPS)
		return (double)at / 1e3;
	return (double)((at % STEPS + STEPS) << (at / STEPS - 1)) / 1e3;
}

/* ---- requests ---- */

static void write_requests(struct conn *conn, unsigned number)
{
	char *at = conn->request;

	for (unsigned i = 0; i < run.depth; i++) {
		if (run.file < 0)
			at += sprintf(at, "GET %s HTTP/1.1\r\nHost: %s:%s\r\n%s%s\r\n", run.path,
				      run.host, run.port, run.field, *run.field ? "\r\n" : "");
		else
			at += sprintf(at,
				      "PUT %s%u HTTP/1.1\r\nHost: %s:%s\r\n"
				      "Content-Length: %lld\r\n\r\n",
				      run.path, number, run.host, run.port,
				      (long long)run.file_size);
	}
	conn->request_len = (size_t)(at - conn->request);
}

static void poll_out(struct conn *conn, bool wanted)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = conn };

	if (conn->polls_out == wanted)
		return;
	conn->polls_out = wanted;
	if (wanted)
		event.events |= EPOLLOUT;
	epoll_ctl(epoll, EPOLL_CTL_MOD, conn->fd, &event);
}

/* Send what is left of the requests, as far as the socket takes it. */
static void push(struct conn *conn)
{
	int more = run.file >= 0 ? MSG_MORE : 0;

	while (conn->request_at < conn->request_len) {
		ssize_t r = send(conn->fd, conn->request + conn->request_at,
				 conn->request_len - conn->request_at, MSG_NOSIGNAL | more);

		if (r < 0 && errno == EAGAIN) {
			poll_out(conn, true);
			return;
		}
		if (r < 0)
			die("send: %s", strerror(errno));
		conn->request_at += (size_t)r;
	}
	for (int turns = 0; run.file >= 0 && conn->body_at < run.file_size; turns++) {
		ssize_t r;

		if (turns == TURNS) {
			poll_out(conn, true);
			return;
		}
		r = sendfile(conn->fd, run.file, &conn->body_at, SEND);
		if (r < 0 && errno == EAGAIN) {
			poll_out(conn, true);
			return;
		}
		if (r <= 0)
			die("sendfile: %s", r < 0 ? strerror(errno) : "the file has shrunk");
	}
	poll_out(conn, false);
}

static void begin(struct conn *conn)
{
	static unsigned count;

	if (run.new_names)
		write_requests(conn, count++);
	conn->request_at = 0;
	conn->body_at = 0;
	conn->awaited = run.depth;
	conn->started = now();
	push(conn);
}

static void finished(struct conn *conn)
{
	uint64_t ns;

	round.requests++;
	if (run.file >= 0)
		round.bytes += (uint64_t)run.file_size;
	if (--conn->awaited)
		return;
	ns = now();
	for (unsigned i = 0; i < run.depth; i++)
		record(ns - conn->started);
	if (ns < round.deadline)
		begin(conn);
	else
		round.busy--;
}

/* ---- responses ---- */

static uint64_t content_length(const char *head)
{
	static const char name[] = "\r\ncontent-length:";
	const char *line;

	for (line = strstr(head, "\r\n"); line; line = strstr(line + 2, "\r\n"))
		if (strncasecmp(line, name, sizeof(name) - 1) == 0)
			return strtoull(line + sizeof(name) - 1, NULL, 10);
	if (strstr(head, "chunked"))
		die("a response of unknown length:\n%s", head);
	return 0;
}

/* Take one head off the buffer. Return: whether there was a whole one. */
static bool take_head(struct conn *conn)
{
	char *end = memmem(conn->buffer, conn->buffered, "\r\n\r\n", 4);
	size_t len;

	if (!end && conn->buffered == run.buffer_size)
		die("a response head of more than %zu bytes", conn->buffered);
	if (!end)
		return false;
	len = (size_t)(end - conn->buffer) + 4;
	end[2] = 0;
	if (len < 16 || memcmp(conn->buffer, "HTTP/1.1 2", 10) != 0)
		die("the server answered:\n%s", conn->buffer);
	conn->body_left = content_length(conn->buffer);
	conn->buffered -= len;
	memmove(conn->buffer, conn->buffer + len, conn->buffered);
	return true;
}

static void take_body(struct conn *conn, size_t len)
{
	conn->body_left -= len;
	if (run.file < 0)
		round.bytes += len;
	if (!conn->body_left)
		finished(conn);
}

/* Take what has been received apart. */
static void take_buffered(struct conn *conn)
{
	while (conn->buffered && conn->awaited) {
		size_t len = conn->buffered;

		if (!conn->body_left) {
			if (!take_head(conn))
				return;
			if (!conn->body_left)
				finished(conn);
			continue;
		}
		if (len > conn->body_left)
			len = (size_t)conn->body_left;
		conn->buffered -= len;
		memmove(conn->buffer, conn->buffer + len, conn->buffered);
		take_body(conn, len);
	}
	if (conn->buffered)
		die("the server says more than it was asked");
}

static void pull(struct conn *conn)
{
	for (int turns = 0; turns < TURNS && conn->awaited; turns++) {
		bool count_only = conn->body_left && (run.depth == 1 || conn->body_left > BUFFER);
		size_t len = run.buffer_size - conn->buffered;
		ssize_t r;

		if (count_only)
			len = conn->body_left < RECEIVE ? (size_t)conn->body_left : RECEIVE;
		r = recv(conn->fd, count_only ? NULL : conn->buffer + conn->buffered, len,
			 count_only ? MSG_TRUNC : 0);
		if (r < 0 && errno == EAGAIN)
			return;
		if (r <= 0)
			die("the server closed: %s", r < 0 ? strerror(errno) : "end of stream");
		if (count_only) {
			take_body(conn, (size_t)r);
			continue;
		}
		conn->buffered += (size_t)r;
		take_buffered(conn);
		/* A short read has emptied the socket. */
		if ((size_t)r < len)
			return;
	}
}

/* ---- rounds ---- */

static void play(struct conn *players, unsigned count, uint64_t ns)
{
	struct epoll_event events[256];

	memset(&round, 0, sizeof(round));
	round.deadline = now() + ns;
	round.busy = count;
	for (unsigned i = 0; i < count; i++)
		begin(&players[i]);
	while (round.busy) {
		int n = epoll_wait(epoll, events, 256, 10000);

		if (n == 0)
			die("nothing has happened for 10 s");
		for (int i = 0; i < n; i++) {
			struct conn *conn = events[i].data.ptr;

			if (events[i].events & EPOLLOUT)
				push(conn);
			if (events[i].events & ~(unsigned)EPOLLOUT) {
				if (!conn->awaited)
					die("the server closed an idle connection");
				pull(conn);
			}
		}
	}
}

static void open_conn(struct conn *conn, unsigned number)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = conn };
	int on = 1;

	*conn = (struct conn){ .buffer = malloc(run.buffer_size) };
	conn->request =
		malloc(run.depth * (strlen(run.path) + strlen(run.host) + strlen(run.field) + 128));
	if (!conn->buffer || !conn->request)
		die("no memory");
	write_requests(conn, number);
	conn->fd = socket(run.address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (conn->fd < 0)
		die("socket: %s", strerror(errno));
	if (connect(conn->fd, run.address->ai_addr, run.address->ai_addrlen) < 0)
		die("can't connect: %s", strerror(errno));
	setsockopt(conn->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (fcntl(conn->fd, F_SETFL, O_NONBLOCK) < 0 ||
	    epoll_ctl(epoll, EPOLL_CTL_ADD, conn->fd, &event) < 0)
		die("epoll: %s", strerror(errno));
}

/* Open them all, with one request each. */
static void open_conns(void)
{
	conns = malloc(run.connections * sizeof(*conns));
	if (!conns)
		die("no memory");
	for (unsigned from = 0; from < run.connections; from += BATCH) {
		unsigned count = run.connections - from < BATCH ? run.connections - from : BATCH;

		for (unsigned i = from; i < from + count; i++)
			open_conn(&conns[i], i);
		play(&conns[from], count, 0);
	}
}

static void measure(void)
{
	clockid_t server_clock = CLOCK_PROCESS_CPUTIME_ID;
	uint64_t began, server, client;

	open_conns();
	if (run.pid && clock_getcpuclockid(run.pid, &server_clock))
		die("there is no process %d", (int)run.pid);
	client = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	server = clock_ns(server_clock);
	began = now();
	play(conns, run.connections, (uint64_t)(run.seconds * 1e9));
	began = now() - began;
	server = run.pid ? clock_ns(server_clock) - server : 0;
	client = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - client;
	printf("{\"requests\": %llu, \"bytes\": %llu, \"seconds\": %.6f, \"cpu\": %.6f, "
	       "\"client_cpu\": %.6f, \"p50_us\": %.1f, \"p99_us\": %.1f}\n",
	       (unsigned long long)round.requests, (unsigned long long)round.bytes,
	       (double)began / 1e9, (double)server / 1e9, (double)client / 1e9, percentile(0.5),
	       percentile(0.99));
}

static void hold(void)
{
	char byte;

	open_conns();
	printf("{\"connections\": %u}\n", run.connections);
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
}

/* ---- the command line ---- */

__attribute__((noreturn)) static void usage(void)
{
	die("usage: load get|put|hold http://HOST:PORT/PATH [-c CONNECTIONS] [-t SECONDS] "
	    "[-d DEPTH] [-p PID] [-H FIELD] [-f FILE] [-n]");
}

static void parse_url(char *url)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	char *colon, *slash;

	if (strncmp(url, "http://", 7) != 0)
		usage();
	run.host = url + 7;
	colon = strchr(run.host, ':');
	slash = colon ? strchr(colon, '/') : NULL;
	if (!slash || slash - colon > 6)
		usage();
	run.path = strdup(slash);
	*colon = *slash = 0;
	strcpy(run.port, colon + 1);
	if (!run.path || getaddrinfo(run.host, run.port, &hints, &run.address) != 0)
		die("can't resolve %s", run.host);
}

static void parse(int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "c:t:d:p:f:nH:")) >= 0) {
		switch (option) {
		case 'c':
			run.connections = (unsigned)atoi(optarg);
			break;
		case 't':
			run.seconds = atof(optarg);
			break;
		case 'd':
			run.depth = (unsigned)atoi(optarg);
			break;
		case 'p':
			run.pid = atoi(optarg);
			break;
		case 'f':
			run.file = open(optarg, O_RDONLY | O_CLOEXEC);
			if (run.file < 0)
				die("can't open %s", optarg);
			run.file_size = lseek(run.file, 0, SEEK_END);
			break;
		case 'n':
			run.new_names = true;
			break;
		case 'H':
			run.field = optarg;
			break;
		default:
			usage();
		}
	}
	if (argc - optind != 2 || !run.connections || !run.depth)
		usage();
	parse_url(argv[optind + 1]);
	run.buffer_size = run.depth > 1 ? BUFFER_DEEP : BUFFER;
}

int main(int argc, char **argv)
{
	struct rlimit limit;
	const char *command;

	parse(argc, argv);
	command = argv[optind];
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	epoll = epoll_create1(EPOLL_CLOEXEC);
	if (strcmp(command, "hold") == 0)
		hold();
	else if (strcmp(command, run.file < 0 ? "get" : "put") == 0)
		measure();
	else
		usage();
	return 0;
}
