/* echo_bare: liburing with nothing around it, as one would write it by hand for speed.
 *
 *     echo_bare single|multishot PORT
 *
 * "single" has a receive and then a send on the way for each connection, into and from a buffer of
 * its own, as a task of eddy's has. "multishot" has one receive armed for good, into a ring of
 * buffers that all connections share. Both enter the kernel once for all that is ready.
 */
#include "echo_listen.h"

#include <liburing.h>
#include <stdbool.h>
#include <string.h>

#define ENTRIES 1024
#define BUFFERS 1024
#define GROUP 1

enum what { RECEIVES, SENDS };

struct conn {
	enum what what; /* single: what is on the way */
	int fd;
	unsigned len; /* to be sent */
	unsigned sent;
	char bytes[ROOM];
};

/* multishot: a send of one buffer. */
struct sending {
	struct conn *conn;
	unsigned len;
	unsigned sent;
};

enum tag { TAG_CONN = 0, TAG_ACCEPT = 1, TAG_SENDING = 2, TAG_MASK = 7 };

static struct io_uring ring;
static int listener;
static bool is_multishot;
static struct io_uring_buf_ring *buf_ring;
static char *buffers;
static struct sending sendings[BUFFERS];

static struct io_uring_sqe *take_sqe(void)
{
	struct io_uring_sqe *sqe;

	while (!(sqe = io_uring_get_sqe(&ring)))
		io_uring_submit(&ring);
	return sqe;
}

static void arm_accept(void)
{
	struct io_uring_sqe *sqe = take_sqe();

	io_uring_prep_multishot_accept(sqe, listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	io_uring_sqe_set_data64(sqe, TAG_ACCEPT);
}

static void close_conn(struct conn *conn)
{
	close(conn->fd);
	free(conn);
}

/* ---- single ---- */

static void receive(struct conn *conn)
{
	struct io_uring_sqe *sqe = take_sqe();

	conn->what = RECEIVES;
	io_uring_prep_recv(sqe, conn->fd, conn->bytes, ROOM, 0);
	io_uring_sqe_set_data(sqe, conn);
}

static void send_rest(struct conn *conn)
{
	struct io_uring_sqe *sqe = take_sqe();

	conn->what = SENDS;
	io_uring_prep_send(sqe, conn->fd, conn->bytes + conn->sent, conn->len - conn->sent,
			   MSG_NOSIGNAL);
	io_uring_sqe_set_data(sqe, conn);
}

static void on_single(struct conn *conn, int result)
{
	if (result <= 0) {
		close_conn(conn);
	} else if (conn->what == RECEIVES) {
		conn->len = (unsigned)result;
		conn->sent = 0;
		send_rest(conn);
	} else {
		conn->sent += (unsigned)result;
		if (conn->sent < conn->len)
			send_rest(conn);
		else
			receive(conn);
	}
}

/* ---- multishot ---- */

static void return_buffer(unsigned number)
{
	io_uring_buf_ring_add(buf_ring, buffers + (size_t)number * ROOM, ROOM,
			      (unsigned short)number, io_uring_buf_ring_mask(BUFFERS), 0);
	io_uring_buf_ring_advance(buf_ring, 1);
}

static void receive_for_good(struct conn *conn)
{
	struct io_uring_sqe *sqe = take_sqe();

	io_uring_prep_recv_multishot(sqe, conn->fd, NULL, 0, 0);
	sqe->flags |= IOSQE_BUFFER_SELECT;
	sqe->buf_group = GROUP;
	io_uring_sqe_set_data(sqe, conn);
}

static void send_buffer(struct sending *sending)
{
	struct io_uring_sqe *sqe = take_sqe();
	const char *bytes = buffers + (size_t)(sending - sendings) * ROOM;

	io_uring_prep_send(sqe, sending->conn->fd, bytes + sending->sent,
			   sending->len - sending->sent, MSG_NOSIGNAL);
	io_uring_sqe_set_data64(sqe, (uintptr_t)sending | TAG_SENDING);
}

static void on_received(struct conn *conn, int result, unsigned flags)
{
	if (result > 0) {
		struct sending *sending = &sendings[flags >> IORING_CQE_BUFFER_SHIFT];

		*sending = (struct sending){ .conn = conn, .len = (unsigned)result };
		send_buffer(sending);
	}
	if (flags & IORING_CQE_F_MORE)
		return;
	/* One request is on the way at a time, so that nothing is being sent when it has ended. */
	if (result > 0 || result == -ENOBUFS)
		receive_for_good(conn);
	else
		close_conn(conn);
}

static void on_sent(struct sending *sending, int result)
{
	if (result > 0) {
		sending->sent += (unsigned)result;
		if (sending->sent < sending->len) {
			send_buffer(sending);
			return;
		}
	}
	return_buffer((unsigned)(sending - sendings));
}

static void init_buffers(void)
{
	struct io_uring_buf_reg reg = { .ring_entries = BUFFERS, .bgid = GROUP };

	buffers = malloc((size_t)BUFFERS * ROOM);
	if (!buffers ||
	    posix_memalign((void **)&buf_ring, 4096, BUFFERS * sizeof(struct io_uring_buf)) != 0)
		die("buffers");
	memset(buf_ring, 0, BUFFERS * sizeof(struct io_uring_buf));
	io_uring_buf_ring_init(buf_ring);
	reg.ring_addr = (uintptr_t)buf_ring;
	if (io_uring_register_buf_ring(&ring, &reg, 0) < 0)
		die("io_uring_register_buf_ring");
	for (unsigned i = 0; i < BUFFERS; i++)
		return_buffer(i);
}

/* ---- both ---- */

static void on_accepted(int fd, unsigned flags)
{
	struct conn *conn = fd >= 0 ? malloc(sizeof(*conn)) : NULL;

	if (!(flags & IORING_CQE_F_MORE))
		arm_accept();
	if (!conn)
		return;
	conn->fd = fd;
	if (is_multishot)
		receive_for_good(conn);
	else
		receive(conn);
}

static void on_completion(uint64_t data, int result, unsigned flags)
{
	void *pointer = (void *)(uintptr_t)(data & ~(uint64_t)TAG_MASK);

	switch (data & TAG_MASK) {
	case TAG_ACCEPT:
		on_accepted(result, flags);
		break;
	case TAG_SENDING:
		on_sent(pointer, result);
		break;
	default:
		if (is_multishot)
			on_received(pointer, result, flags);
		else
			on_single(pointer, result);
	}
}

int main(int argc, char **argv)
{
	struct io_uring_params params = {
		.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
			 IORING_SETUP_SUBMIT_ALL | IORING_SETUP_CLAMP | IORING_SETUP_CQSIZE,
		.cq_entries = ENTRIES * 8,
	};

	if (argc != 3) {
		fputs("usage: echo_bare single|multishot PORT\n", stderr);
		return 2;
	}
	is_multishot = strcmp(argv[1], "multishot") == 0;
	if (io_uring_queue_init_params(ENTRIES, &ring, &params) < 0)
		die("io_uring");
	io_uring_register_ring_fd(&ring);
	listener = echo_listen(argv[2]);
	if (is_multishot)
		init_buffers();
	arm_accept();
	for (;;) {
		struct io_uring_cqe *cqe;
		unsigned head, count = 0;

		io_uring_submit_and_wait(&ring, 1);
		io_uring_for_each_cqe(&ring, head, cqe) {
			count++;
			on_completion(cqe->user_data, cqe->res, cqe->flags);
		}
		io_uring_cq_advance(&ring, count);
	}
}
