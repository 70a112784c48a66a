/* ws_bare: echoes WebSocket messages by bare liburing, to hold a server against. It trusts its
 * clients.
 *
 *     ws_bare PORT
 *
 * Receives are multishot into a ring of buffers. A frame that fills a buffer alone is unmasked and
 * sent from there. Others are unmasked on the way into the memory of the connection, and sent once
 * they are whole. The kernel gets them at once, by one call; the rest, if it does not take all, by
 * the ring. Nothing is checked, and control frames are echoed.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <liburing.h>
#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ENTRIES 4096
#define BUFFERS 64
#define BUFFER (128u << 10)
#define GROUP 1
#define CONNS_MAX 65536
#define GUID "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
#define KEY_FIELD "sec-websocket-key:"
#define KEY_LEN 24
/* Of a masked frame with 64 bits of length. */
#define HEAD_MAX 14

/* Above the descriptor in what a completion says. */
enum what { ACCEPT, RECEIVE, SEND };

/* Bytes that go out, from `at` to `len`. */
struct frames {
	char *bytes;
	size_t size, at, len;
};

/* By descriptor. A descriptor is closed once neither a receive nor a send is on it. */
static struct conn {
	bool receives;
	bool sends;
	bool closing;
	bool is_open;                 /* the handshake is over */
	unsigned char head[HEAD_MAX]; /* of the frame that arrives, `head_len` bytes of it */
	unsigned char head_len;
	unsigned char mask[4];
	uint64_t left;         /* of its payload */
	uint64_t done;         /* of its payload */
	size_t whole;          /* bytes of `next` that are whole frames */
	struct frames next;    /* what is not being sent yet; before the handshake, the request */
	struct frames current; /* what is */
} conns[CONNS_MAX];

static struct io_uring ring;
static struct io_uring_buf_ring *buffers;
static char memory[BUFFERS][BUFFER];

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

static char *reserve(struct frames *frames, size_t len)
{
	if (frames->len + len > frames->size) {
		frames->size = 2 * frames->size > frames->len + len ? 2 * frames->size :
								      frames->len + len;
		frames->bytes = realloc(frames->bytes, frames->size);
		if (!frames->bytes)
			die("realloc", ENOMEM);
	}
	return frames->bytes + frames->len;
}

static void append(struct frames *frames, const void *bytes, size_t len)
{
	memcpy(reserve(frames, len), bytes, len);
	frames->len += len;
}

/* ---- sending ---- */

/* Make whole frames those that are sent; the rest stays. */
static void swap(struct conn *conn)
{
	struct frames whole = conn->next;

	conn->next = conn->current;
	conn->next.at = conn->next.len = 0;
	append(&conn->next, whole.bytes + conn->whole, whole.len - conn->whole);
	whole.len = conn->whole;
	conn->whole = 0;
	conn->current = whole;
}

static void send_frames(int fd)
{
	struct conn *conn = &conns[fd];
	struct frames *out = &conn->current;
	struct io_uring_sqe *sqe;
	ssize_t r;

	swap(conn);
	r = send(fd, out->bytes, out->len, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (r == (ssize_t)out->len)
		return;
	out->at = r > 0 ? (size_t)r : 0;
	sqe = get_sqe();
	io_uring_prep_send(sqe, fd, out->bytes + out->at, out->len - out->at,
			   MSG_WAITALL | MSG_NOSIGNAL);
	tag(sqe, SEND, fd);
	conn->sends = true;
}

/* Go on with what can be done for a connection; the last thing is to close it. */
static void proceed(int fd)
{
	struct conn *conn = &conns[fd];

	if (conn->whole && !conn->sends && !conn->closing)
		send_frames(fd);
	if (conn->closing && conn->receives) {
		shutdown(fd, SHUT_RDWR);
	} else if (conn->closing && !conn->sends) {
		free(conn->next.bytes);
		free(conn->current.bytes);
		close(fd);
	}
}

/* ---- the handshake ---- */

/* Take what belongs to the request. Return: bytes that do. */
static size_t take_request(struct conn *conn, const char *bytes, size_t len)
{
	char text[KEY_LEN + sizeof(GUID)], accept[32], *end, *key;
	unsigned char digest[EVP_MAX_MD_SIZE];
	size_t before = conn->next.len, used;
	unsigned digest_len = 0;

	append(&conn->next, bytes, len);
	append(&conn->next, "", 1);
	conn->next.len--;
	end = strstr(conn->next.bytes, "\r\n\r\n");
	if (!end)
		return len;
	used = (size_t)(end + 4 - conn->next.bytes) - before;
	conn->next.len = 0;
	key = strcasestr(conn->next.bytes, KEY_FIELD);
	if (!key || strlen(key += sizeof(KEY_FIELD)) < KEY_LEN) {
		conn->closing = true;
		return len;
	}
	memcpy(text, key, KEY_LEN);
	memcpy(text + KEY_LEN, GUID, sizeof(GUID));
	EVP_Digest(text, sizeof(text) - 1, digest, &digest_len, EVP_sha1(), NULL);
	EVP_EncodeBlock((unsigned char *)accept, digest, (int)digest_len);
	conn->next.len =
		(size_t)sprintf(reserve(&conn->next, 256),
				"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
				"Connection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n",
				accept);
	conn->whole = conn->next.len;
	conn->is_open = true;
	return used;
}

/* ---- frames ---- */

static size_t head_size(const unsigned char *head)
{
	size_t len = head[1] & 127;

	return 2 + (len == 127 ? 8u : len == 126 ? 2u : 0u) + 4;
}

static uint64_t payload_size(const unsigned char *head, size_t head_len)
{
	uint64_t size = head_len == 6 ? head[1] & 127 : 0;

	for (size_t i = 2; i < head_len - 4; i++)
		size = size << 8 | head[i];
	return size;
}

/* Take bytes of a head, and write that of the answer. Return: how many. */
static size_t take_head(struct conn *conn, const char *bytes, size_t len)
{
	size_t need = conn->head_len < 2 ? 2 : head_size(conn->head), used = 0;

	while (used < len && conn->head_len < need) {
		conn->head[conn->head_len++] = (unsigned char)bytes[used++];
		if (conn->head_len == 2)
			need = head_size(conn->head);
	}
	if (conn->head_len < need)
		return used;
	conn->head_len = 0;
	conn->head[1] &= 127;
	memcpy(conn->mask, conn->head + need - 4, 4);
	conn->done = 0;
	conn->left = payload_size(conn->head, need);
	reserve(&conn->next, need - 4 + conn->left);
	append(&conn->next, conn->head, need - 4);
	if (!conn->left)
		conn->whole = conn->next.len;
	return used;
}

static uint64_t pattern_of(const unsigned char mask[4], uint64_t at)
{
	unsigned char turned[8];
	uint64_t pattern;

	for (size_t i = 0; i < sizeof(turned); i++)
		turned[i] = mask[(at + i) % 4];
	memcpy(&pattern, turned, sizeof(pattern));
	return pattern;
}

static void unmask(char *restrict to, const char *restrict from, size_t len, uint64_t pattern)
{
	uint64_t word;

	for (; len >= sizeof(word); len -= sizeof(word)) {
		memcpy(&word, from, sizeof(word));
		word ^= pattern;
		memcpy(to, &word, sizeof(word));
		from += sizeof(word);
		to += sizeof(word);
	}
	for (size_t i = 0; i < len; i++)
		to[i] = (char)(from[i] ^ ((char *)&pattern)[i]);
}

static void unmask_here(char *bytes, size_t len, uint64_t pattern)
{
	uint64_t word;

	for (; len >= sizeof(word); len -= sizeof(word), bytes += sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		word ^= pattern;
		memcpy(bytes, &word, sizeof(word));
	}
	for (size_t i = 0; i < len; i++)
		bytes[i] = (char)(bytes[i] ^ ((char *)&pattern)[i]);
}

static size_t take_payload(struct conn *conn, const char *bytes, size_t len)
{
	size_t here = len < conn->left ? len : conn->left;

	unmask(reserve(&conn->next, here), bytes, here, pattern_of(conn->mask, conn->done));
	conn->next.len += here;
	conn->done += here;
	conn->left -= here;
	if (!conn->left)
		conn->whole = conn->next.len;
	return here;
}

/* Echo a frame that is alone in a buffer. Return: whether it is. */
static bool take_whole(int fd, char *bytes, size_t len)
{
	struct conn *conn = &conns[fd];
	unsigned char *head = (unsigned char *)bytes;
	size_t head_len;
	ssize_t r;

	if (!conn->is_open || conn->head_len || conn->left || conn->next.len || conn->sends ||
	    len < 6)
		return false;
	head_len = head_size(head);
	if (len < head_len || payload_size(head, head_len) != len - head_len)
		return false;
	unmask_here(bytes + head_len, len - head_len, pattern_of(head + head_len - 4, 0));
	head[1] &= 127;
	memmove(bytes + 4, bytes, head_len - 4);
	bytes += 4;
	len -= 4;
	r = send(fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (r == (ssize_t)len)
		return true;
	append(&conn->next, bytes + (r > 0 ? r : 0), len - (r > 0 ? (size_t)r : 0));
	conn->whole = conn->next.len;
	return true;
}

static void take(struct conn *conn, const char *bytes, size_t len)
{
	while (len && !conn->closing) {
		size_t used = !conn->is_open ? take_request(conn, bytes, len) :
			      conn->left     ? take_payload(conn, bytes, len) :
					       take_head(conn, bytes, len);

		bytes += used;
		len -= used;
	}
}

/* ---- completions ---- */

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

		if (cqe->res > 0 && !take_whole(fd, memory[id], (size_t)cqe->res))
			take(conn, memory[id], (size_t)cqe->res);
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
	if (cqe->res != (int)(conn->current.len - conn->current.at))
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
		fputs("usage: ws_bare PORT\n", stderr);
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	set_up();
	accept_all(listen_at(atoi(argv[1])));
	for (;;)
		turn();
}
