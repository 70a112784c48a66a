/* hello: small requests answered by bare liburing, to hold a server against. It knows of HTTP that a request
 * ends with an empty line.
 *
 *     hello PORT
 *
 * Receives are multishot into a ring of buffers; what they bring is counted, and so many answers go out by
 * one send.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <liburing.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ENTRIES 4096
#define BUFFERS 1024
#define BUFFER 4096
#define GROUP 1
#define CONNS_MAX 65536
/* As many as one send has room for. */
#define ANSWERS_MAX 64

/* As long as what others say. */
#define ANSWER                                                                                     \
	"HTTP/1.1 200 OK\r\n"                                                                      \
	"Date: Mon, 06 Dec 2021 19:08:57 GMT\r\n"                                                  \
	"Content-Type: text/plain\r\n"                                                             \
	"Content-Length: 13\r\n"                                                                   \
	"\r\n"                                                                                     \
	"Hello, World!"
#define ANSWER_LEN (sizeof(ANSWER) - 1)

/* Above the descriptor in what a completion says. */
enum what { ACCEPT, RECEIVE, SEND };

/* By descriptor. A descriptor is closed once neither a receive nor a send is on it. */
static struct conn {
	bool receives;
	bool sends;
	bool closing;
	unsigned char matched; /* of the empty line, at the end of what has come */
	unsigned due;          /* answers that are not being sent yet */
	size_t sending;        /* bytes */
} conns[CONNS_MAX];

static struct io_uring ring;
static struct io_uring_buf_ring *buffers;
static char memory[BUFFERS][BUFFER];
static char answers[ANSWERS_MAX * ANSWER_LEN];

static void die(const char *what, int error)
{
	fprintf(stderr, "%s: %s\n", what, strerror(error));
	exit(1);
}

static struct io_uring_sqe *get_sqe(void)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

	if (!sqe) {
		io_uring_submit(&ring);
		sqe = io_uring_get_sqe(&ring);
	}
	if (!sqe)
		die("io_uring_get_sqe", EBUSY);
	return sqe;
}

static void tag(struct io_uring_sqe *sqe, enum what what, int fd)
{
	sqe->user_data = (uint64_t)what << 32 | (unsigned)fd;
}

static void accept_all(int listener)
{
	struct io_uring_sqe *sqe = get_sqe();

	io_uring_prep_multishot_accept(sqe, listener, NULL, NULL, SOCK_CLOEXEC);
	tag(sqe, ACCEPT, listener);
}

static void receive(int fd)
{
	struct io_uring_sqe *sqe = get_sqe();

	io_uring_prep_recv_multishot(sqe, fd, NULL, 0, 0);
	sqe->flags |= IOSQE_BUFFER_SELECT;
	sqe->buf_group = GROUP;
	tag(sqe, RECEIVE, fd);
	conns[fd].receives = true;
}

static void send_answers(int fd)
{
	struct conn *conn = &conns[fd];
	unsigned count = conn->due < ANSWERS_MAX ? conn->due : ANSWERS_MAX;
	struct io_uring_sqe *sqe = get_sqe();

	conn->due -= count;
	conn->sending = count * ANSWER_LEN;
	conn->sends = true;
	io_uring_prep_send(sqe, fd, answers, conn->sending, MSG_WAITALL | MSG_NOSIGNAL);
	tag(sqe, SEND, fd);
}

/* Go on with what can be done for a connection; the last thing is to close it. */
static void proceed(int fd)
{
	struct conn *conn = &conns[fd];

	if (conn->due && !conn->sends && !conn->closing)
		send_answers(fd);
	if (conn->closing && conn->receives)
		shutdown(fd, SHUT_RDWR);
	else if (conn->closing && !conn->sends)
		close(fd);
}

/* Return: how many requests end in these bytes. */
static unsigned count_requests(struct conn *conn, const char *bytes, size_t len)
{
	unsigned count = 0, matched = conn->matched;

	for (const char *at = bytes; at < bytes + len; at++) {
		if (!matched) {
			at = memchr(at, '\r', (size_t)(bytes + len - at));
			if (!at)
				break;
		}
		if (*at == "\r\n\r\n"[matched])
			matched++;
		else
			matched = *at == '\r';
		if (matched == 4) {
			matched = 0;
			count++;
		}
	}
	conn->matched = (unsigned char)matched;
	return count;
}

static void accepted(int listener, const struct io_uring_cqe *cqe)
{
	int on = 1;

	if (!(cqe->flags & IORING_CQE_F_MORE))
		accept_all(listener);
	if (cqe->res < 0)
		return;
	if (cqe->res >= CONNS_MAX) {
		close(cqe->res);
		return;
	}
	setsockopt(cqe->res, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	memset(&conns[cqe->res], 0, sizeof(*conns));
	receive(cqe->res);
}

static void received(int fd, const struct io_uring_cqe *cqe)
{
	struct conn *conn = &conns[fd];

	if (cqe->flags & IORING_CQE_F_BUFFER) {
		unsigned id = cqe->flags >> IORING_CQE_BUFFER_SHIFT;

		if (cqe->res > 0)
			conn->due += count_requests(conn, memory[id], (size_t)cqe->res);
		io_uring_buf_ring_add(buffers, memory[id], BUFFER, (unsigned short)id,
				      io_uring_buf_ring_mask(BUFFERS), 0);
		io_uring_buf_ring_advance(buffers, 1);
	}
	conn->receives = cqe->flags & IORING_CQE_F_MORE;
	if (cqe->res == 0 || (cqe->res < 0 && cqe->res != -ENOBUFS))
		conn->closing = true;
	else if (!conn->receives)
		receive(fd);
	proceed(fd);
}

static void sent(int fd, const struct io_uring_cqe *cqe)
{
	struct conn *conn = &conns[fd];

	conn->sends = false;
	if (cqe->res != (int)conn->sending)
		conn->closing = true;
	proceed(fd);
}

static int listen_at(int port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, 4096) < 0)
		die("listen", errno);
	return fd;
}

static void set_up(void)
{
	struct io_uring_params params = {
		.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
			 IORING_SETUP_CQSIZE,
		.cq_entries = 8 * ENTRIES,
	};
	struct io_uring_buf_reg reg = { .ring_entries = BUFFERS, .bgid = GROUP };
	int r = io_uring_queue_init_params(ENTRIES, &ring, &params);
	void *at = NULL;

	if (r < 0)
		die("io_uring_queue_init_params", -r);
	if (posix_memalign(&at, 4096, BUFFERS * sizeof(struct io_uring_buf)))
		die("posix_memalign", ENOMEM);
	buffers = at;
	reg.ring_addr = (uintptr_t)at;
	r = io_uring_register_buf_ring(&ring, &reg, 0);
	if (r < 0)
		die("io_uring_register_buf_ring", -r);
	io_uring_buf_ring_init(buffers);
	for (unsigned i = 0; i < BUFFERS; i++)
		io_uring_buf_ring_add(buffers, memory[i], BUFFER, (unsigned short)i,
				      io_uring_buf_ring_mask(BUFFERS), (int)i);
	io_uring_buf_ring_advance(buffers, BUFFERS);
	for (unsigned i = 0; i < ANSWERS_MAX; i++)
		memcpy(answers + i * ANSWER_LEN, ANSWER, ANSWER_LEN);
}

static void turn(void)
{
	struct io_uring_cqe *cqe;
	unsigned head, count = 0;
	int r = io_uring_submit_and_wait(&ring, 1);

	if (r < 0 && r != -EINTR)
		die("io_uring_submit_and_wait", -r);
	io_uring_for_each_cqe(&ring, head, cqe) {
		int fd = (int)(uint32_t)cqe->user_data;

		count++;
		switch ((enum what)(cqe->user_data >> 32)) {
		case ACCEPT:
			accepted(fd, cqe);
			break;
		case RECEIVE:
			received(fd, cqe);
			break;
		case SEND:
			sent(fd, cqe);
			break;
		}
	}
	io_uring_cq_advance(&ring, count);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fputs("usage: hello PORT\n", stderr);
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	set_up();
	accept_all(listen_at(atoi(argv[1])));
	for (;;)
		turn();
}
