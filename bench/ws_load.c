/* ws_load: a client that loads a server of WebSockets, or of server-sent events, on 127.0.0.1.
 *
 *     ws_load echo PORT PATH PID SOCKETS SIZE SECONDS text|binary
 *     ws_load fan PORT PATH PID SOCKETS SIZE SECONDS FLIGHT
 *     ws_load events PORT PATH PID STREAMS SIZE SECONDS FLIGHT
 *     ws_load idle PORT PATH SOCKETS
 *     ws_load held PORT PATH SOCKETS
 *
 * echo: each socket sends a message, waits until it has come back, and sends the next. fan: the
 * sockets are one room, and the first of them sends text, of which FLIGHT messages are on their
 * way; deliveries are counted. Both check the messages, and print their number, the seconds, and
 * the processor time of the process PID. events: likewise with the streams of GET PATH, to which
 * POST PATH sends its body. idle: each socket echoes one message, and then nothing happens until a
 * byte is on stdin. held: likewise with connections of HTTP that have got the head of a response.
 *
 * A message has a number of eight digits and a pattern. All frames of a run have the same mask.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define EVENTS 256
#define BUFFER (256u << 10)
#define DIGITS 8
/* Before the payload of an event. */
#define DATA "data: "
/* The longest head of a frame, without a mask. */
#define HEAD_MAX 10
#define MASK 4
/* Of what is warmed up before the figures count. */
#define WARM_UP 0.2
/* After the last handshake, until all sockets are surely in the room. */
#define JOIN_US 200000
/* A run that takes longer has failed, in seconds. */
#define DEADLINE 300
/* RFC 6455 section 1.3. */
#define KEY "dGhlIHNhbXBsZSBub25jZQ=="
#define ACCEPT "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

struct sock {
	int fd;
	bool polls_out;
	unsigned char head[HEAD_MAX]; /* of the frame that arrives, `head_len` bytes of it */
	unsigned char head_len;
	uint64_t arrived;  /* of its payload */
	uint32_t received; /* messages */
	uint32_t sent;     /* messages, the current one included */
	uint64_t gone;     /* bytes of the current one */
	unsigned char out[HEAD_MAX + MASK + DIGITS];
	char line[sizeof(DATA) - 1 + DIGITS]; /* of events, the begin of the one that arrives */
	uint8_t line_len;
};

static struct {
	struct sock *socks;
	size_t count;
	int epoll;
	bool is_fan;
	int publisher; /* of events; else 0 */
	uint32_t published;
	char *post; /* the request that publishes; its body is the last `size` bytes of `post_len` */
	size_t post_len;
	unsigned char opcode;
	unsigned char mask[MASK];
	unsigned char head[HEAD_MAX + MASK]; /* of a frame to send */
	size_t head_len;
	uint64_t size;
	char *pattern, *masked; /* `size` bytes */
	uint64_t flight;
	uint64_t messages; /* received */
} load;

static char buffer[BUFFER];

static _Noreturn void die(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	fputc('\n', stderr);
	exit(1);
}

static double seconds_of(clockid_t clock)
{
	struct timespec time;

	if (clock_gettime(clock, &time) < 0)
		die("the clock of the server: %s", strerror(errno));
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* The clock of a process, with the kernel's workers for it. */
static clockid_t clock_of(pid_t pid)
{
	return (clockid_t)(~(unsigned)pid << 3 | 2);
}

/* ---- connections ---- */

/* Connect, send the request and read until an empty line; bytes behind it are not expected. */
static int ask(int port, const char *request, const char *want)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char head[4096];
	size_t len = 0;

	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		die("connect: %s", strerror(errno));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (send(fd, request, strlen(request), MSG_NOSIGNAL) < 0)
		die("send: %s", strerror(errno));
	do {
		ssize_t r = recv(fd, head + len, sizeof(head) - 1 - len, 0);

		if (r <= 0)
			die("no response");
		len += (size_t)r;
		head[len] = 0;
	} while (!strstr(head, "\r\n\r\n"));
	if (!strstr(head, want))
		die("without '%s': %s", want, head);
	return fd;
}

static int open_socket(int port, const char *path)
{
	char request[512];

	snprintf(request, sizeof(request),
		 "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\n"
		 "Connection: Upgrade\r\nSec-WebSocket-Key: " KEY
		 "\r\nSec-WebSocket-Version: 13\r\n\r\n",
		 path, port);
	return ask(port, request, ACCEPT);
}

static void make_socks(size_t count)
{
	load.count = count;
	load.socks = calloc(count, sizeof(*load.socks));
	load.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (!count || !load.socks || load.epoll < 0)
		die("no sockets");
}

static void watch(struct sock *sock, int operation, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = sock };

	if (epoll_ctl(load.epoll, operation, sock->fd, &event) < 0)
		die("epoll_ctl: %s", strerror(errno));
}

static void open_all(int port, const char *path)
{
	for (size_t i = 0; i < load.count; i++) {
		load.socks[i].fd = open_socket(port, path);
		watch(&load.socks[i], EPOLL_CTL_ADD, EPOLLIN);
	}
}

/* ---- messages ---- */

static void make_message(uint64_t size, unsigned char opcode)
{
	unsigned extra = size < 126 ? 0 : size <= 0xffff ? 2 : 8;

	if (size < DIGITS)
		die("a message has at least %d bytes", DIGITS);
	load.size = size;
	load.opcode = opcode;
	load.pattern = malloc(size);
	load.masked = malloc(size);
	if (!load.pattern || !load.masked || getrandom(load.mask, MASK, 0) != MASK)
		die("no message");
	for (uint64_t i = 0; i < size; i++) {
		load.pattern[i] = (char)('a' + i % 23);
		load.masked[i] = (char)(load.pattern[i] ^ load.mask[i % MASK]);
	}
	load.head[0] = 0x80 | opcode;
	load.head[1] = (unsigned char)(0x80 | (extra == 8 ? 127 : extra == 2 ? 126 : size));
	for (unsigned i = 0; i < extra; i++)
		load.head[2 + i] = (unsigned char)(size >> 8 * (extra - 1 - i));
	memcpy(load.head + 2 + extra, load.mask, MASK);
	load.head_len = 2 + extra + MASK;
}

static void put_number(uint32_t number, unsigned char digits[DIGITS])
{
	for (int i = DIGITS - 1; i >= 0; i--, number >>= 4)
		digits[i] = (unsigned char)"0123456789abcdef"[number & 15];
}

/* Send the rest of the current message. Return: whether all of it has gone. */
static bool push(struct sock *sock)
{
	uint64_t front = load.head_len + DIGITS, total = load.head_len + load.size;

	while (sock->gone < total) {
		bool in_front = sock->gone < front;
		struct iovec pieces[] = {
			{ sock->out + sock->gone, in_front ? front - sock->gone : 0 },
			{ load.masked + (in_front ? DIGITS : sock->gone - load.head_len), 0 },
		};
		struct msghdr msg = { .msg_iov = in_front ? pieces : pieces + 1,
				      .msg_iovlen = in_front ? 2 : 1 };
		ssize_t r;

		pieces[1].iov_len = total - (in_front ? front : sock->gone);
		r = sendmsg(sock->fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (r < 0 && errno != EAGAIN)
			die("sendmsg: %s", strerror(errno));
		if (r > 0)
			sock->gone += (uint64_t)r;
		if (sock->gone < total && r < 0)
			break;
	}
	if (sock->polls_out != (sock->gone < total)) {
		sock->polls_out = sock->gone < total;
		watch(sock, EPOLL_CTL_MOD, EPOLLIN | (sock->polls_out ? EPOLLOUT : 0));
	}
	return sock->gone == total;
}

/* Begin the next message. */
static void send_next(struct sock *sock)
{
	unsigned char *digits = sock->out + load.head_len;

	memcpy(sock->out, load.head, load.head_len);
	put_number(sock->sent++, digits);
	for (int i = 0; i < DIGITS; i++)
		digits[i] ^= load.mask[i % MASK];
	sock->gone = 0;
	push(sock);
}

/* Send as many messages to the room as may be on their way. */
static void send_to_room(void)
{
	struct sock *sender = &load.socks[0];

	while (!sender->polls_out &&
	       sender->sent * load.count < load.messages + load.flight * load.count)
		send_next(sender);
}

/* Take bytes of a head. Return: how many; the head is complete once `head_len` is 0. */
static size_t take_head(struct sock *sock, const char *bytes, size_t len, bool *ret_whole)
{
	size_t used = 0, need = 2;

	*ret_whole = false;
	while (used < len) {
		sock->head[sock->head_len++] = (unsigned char)bytes[used++];
		if (sock->head_len >= 2)
			need = sock->head[1] == 127 ? 10 : sock->head[1] == 126 ? 4 : 2;
		if (sock->head_len == need && need >= 2) {
			*ret_whole = true;
			break;
		}
	}
	return used;
}

static void check_head(const struct sock *sock)
{
	size_t extra = sock->head_len - 2u;
	uint64_t len = extra ? 0 : sock->head[1];

	for (size_t i = 0; i < extra; i++)
		len = len << 8 | sock->head[2 + i];
	if (sock->head[0] != (0x80 | load.opcode) || len != load.size)
		die("a frame that was not sent: %02x, %llu bytes", sock->head[0],
		    (unsigned long long)len);
}

static void check_payload(const struct sock *sock, const char *bytes, size_t len)
{
	unsigned char digits[DIGITS];
	uint64_t at = sock->arrived;

	put_number(sock->received, digits);
	for (; len && at < DIGITS; len--, at++)
		if ((unsigned char)*bytes++ != digits[at])
			die("message %u has another number", sock->received);
	if (len && memcmp(load.pattern + at, bytes, len))
		die("message %u has other bytes", sock->received);
}

static void take(struct sock *sock, const char *bytes, size_t len)
{
	while (len) {
		size_t here;

		if (!sock->arrived && sock->head_len < HEAD_MAX) {
			bool whole;

			here = take_head(sock, bytes, len, &whole);
			bytes += here;
			len -= here;
			if (!whole)
				return;
			check_head(sock);
			sock->head_len = HEAD_MAX;
		}
		here = len < load.size - sock->arrived ? len : load.size - sock->arrived;
		check_payload(sock, bytes, here);
		bytes += here;
		len -= here;
		sock->arrived += here;
		if (sock->arrived < load.size)
			return;
		sock->arrived = 0;
		sock->head_len = 0;
		sock->received++;
		load.messages++;
		if (!load.is_fan)
			send_next(sock);
	}
}

/* ---- events ---- */

static void check_line(struct sock *sock)
{
	char want[sizeof(sock->line) + 1];

	if (sock->line_len < sizeof(DATA) - 1 || memcmp(sock->line, DATA, sizeof(DATA) - 1))
		return;
	memcpy(want, DATA, sizeof(DATA) - 1);
	put_number(sock->received, (unsigned char *)want + sizeof(DATA) - 1);
	if (sock->line_len != sizeof(sock->line) || memcmp(sock->line, want, sizeof(sock->line)))
		die("event %u is another one", sock->received);
	sock->received++;
	load.messages++;
}

/* Lines of chunks and of other fields have nothing to check. */
static void take_lines(struct sock *sock, const char *bytes, size_t len)
{
	while (len) {
		const char *end = memchr(bytes, '\n', len);
		size_t here = end ? (size_t)(end - bytes) : len,
		       room = sizeof(sock->line) - sock->line_len, kept = here < room ? here : room;

		memcpy(sock->line + sock->line_len, bytes, kept);
		sock->line_len += (uint8_t)kept;
		if (end) {
			check_line(sock);
			sock->line_len = 0;
			here++;
		}
		bytes += here;
		len -= here;
	}
}

/* Publish as many events as may be on their way. */
static void publish(void)
{
	while (load.published * load.count < load.messages + load.flight * load.count) {
		put_number(load.published++,
			   (unsigned char *)load.post + load.post_len - load.size);
		if (send(load.publisher, load.post, load.post_len, MSG_NOSIGNAL) !=
		    (ssize_t)load.post_len)
			die("send: %s", strerror(errno));
	}
	while (recv(load.publisher, buffer, sizeof(buffer), MSG_DONTWAIT) > 0)
		;
}

/* ---- the loop ---- */

static void turn(void)
{
	struct epoll_event events[EVENTS];
	int count = epoll_wait(load.epoll, events, EVENTS, 100);

	for (int i = 0; i < count; i++) {
		struct sock *sock = events[i].data.ptr;
		ssize_t r;

		if (events[i].events & EPOLLOUT)
			push(sock);
		if (!(events[i].events & ~(uint32_t)EPOLLOUT))
			continue;
		r = recv(sock->fd, buffer, sizeof(buffer), MSG_DONTWAIT);
		if (r == 0 || (r < 0 && errno != EAGAIN))
			die("the server has closed a socket");
		if (r > 0 && load.publisher)
			take_lines(sock, buffer, (size_t)r);
		else if (r > 0)
			take(sock, buffer, (size_t)r);
	}
	if (load.publisher)
		publish();
	if (load.is_fan)
		send_to_room();
}

/* Until both a moment and so many messages. */
static void turn_until(double end, uint64_t messages)
{
	do {
		turn();
	} while (seconds_of(CLOCK_MONOTONIC) < end || load.messages < messages);
}

/* ---- modes ---- */

static void measure(pid_t pid, double seconds)
{
	double began, cpu;
	uint64_t before;

	for (size_t i = 0; i < (load.is_fan || load.publisher ? 0 : load.count); i++)
		send_next(&load.socks[i]);
	turn_until(seconds_of(CLOCK_MONOTONIC) + WARM_UP * seconds, load.count);
	before = load.messages;
	cpu = seconds_of(clock_of(pid));
	began = seconds_of(CLOCK_MONOTONIC);
	turn_until(began + seconds, before + load.count);
	printf("{\"messages\": %llu, \"cpu_seconds\": %.6f, \"seconds\": %.6f}\n",
	       (unsigned long long)(load.messages - before), seconds_of(clock_of(pid)) - cpu,
	       seconds_of(CLOCK_MONOTONIC) - began);
}

static void echo(int port, char **words)
{
	make_message(strtoull(words[3], NULL, 10), strcmp(words[5], "binary") == 0 ? 2 : 1);
	make_socks(strtoul(words[2], NULL, 10));
	open_all(port, words[0]);
	measure(atoi(words[1]), atof(words[4]));
}

static void fan(int port, char **words)
{
	load.is_fan = true;
	load.flight = strtoull(words[5], NULL, 10);
	make_message(strtoull(words[3], NULL, 10), 1);
	make_socks(strtoul(words[2], NULL, 10));
	open_all(port, words[0]);
	usleep(JOIN_US);
	measure(atoi(words[1]), atof(words[4]));
}

static void make_post(int port, const char *path)
{
	size_t size = strlen(path) + 256 + load.size;

	load.post = malloc(size);
	if (!load.post)
		die("no request");
	load.post_len = (size_t)snprintf(load.post, size,
					 "POST %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
					 "Content-Length: %llu\r\n\r\n%.*s",
					 path, port, (unsigned long long)load.size, (int)load.size,
					 load.pattern);
}

/* Return: a connection that has got the head of the response. */
static int get(int port, const char *path)
{
	char request[512];

	snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", path,
		 port);
	return ask(port, request, " 200 ");
}

static void events(int port, char **words)
{
	load.flight = strtoull(words[5], NULL, 10);
	make_message(strtoull(words[3], NULL, 10), 1);
	make_post(port, words[0]);
	make_socks(strtoul(words[2], NULL, 10));
	for (size_t i = 0; i < load.count; i++) {
		load.socks[i].fd = get(port, words[0]);
		watch(&load.socks[i], EPOLL_CTL_ADD, EPOLLIN);
	}
	load.publisher = get(port, "/hello");
	measure(atoi(words[1]), atof(words[4]));
}

static void await_stdin(void)
{
	char byte;

	puts("ready");
	fflush(stdout);
	if (read(STDIN_FILENO, &byte, 1) < 0)
		die("stdin: %s", strerror(errno));
}

static void idle(int port, char **words)
{
	make_message(32, 1);
	make_socks(strtoul(words[1], NULL, 10));
	load.is_fan = true; /* nothing is sent in return */
	load.flight = 0;
	open_all(port, words[0]);
	for (size_t i = 0; i < load.count; i++)
		send_next(&load.socks[i]);
	while (load.messages < load.count)
		turn();
	await_stdin();
}

static void held(int port, char **words)
{
	size_t count = strtoul(words[1], NULL, 10);

	for (size_t i = 0; i < count; i++)
		get(port, words[0]);
	await_stdin();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int words;
		void (*run)(int port, char **words);
	} modes[] = {
		{ "echo", 6, echo }, { "fan", 6, fan },   { "events", 6, events },
		{ "idle", 2, idle }, { "held", 2, held },
	};
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	alarm(DEADLINE);
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		if (argc == modes[i].words + 3 && strcmp(argv[1], modes[i].name) == 0) {
			modes[i].run(atoi(argv[2]), argv + 3);
			return 0;
		}
	fputs("usage: see the head of ws_load.c\n", stderr);
	return 2;
}
