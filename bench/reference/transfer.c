/* transfer: techniques laid bare, to hold a server against. An epoll loop that moves a file for each
 * head of a request, whatever it asks; the response's head is always the same.
 *
 *     transfer splice|read-send PORT FILE                sends FILE
 *     transfer splice-in|recv-write PORT FOLDER          receives into new files of FOLDER
 *     transfer splice-replace|recv-replace PORT FOLDER   and gives them the names of others that are there
 *     transfer splice-over|recv-over PORT FOLDER         receives over a file that is there
 *
 * Those of splice move a MiB at a time through a pipe of that size, on this thread,
 * without blocking; the others copy 256 KiB at a time through memory. splice sends up to 32 KiB by one send,
 * behind the head, since that is quicker. A body of more than 64 KiB is sent corked. Files that are received
 * are called by numbers, those that are replaced by that of their connection; the one that is
 * there is called "over".
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB (1024 * 1024)
#define COPY (256 * 1024)
#define CORK_FROM (64 * 1024)
#define ONE_SEND (32 * 1024)
#define HEAD 4096

struct conn {
	int fd;
	unsigned number;
	bool polls_out;
	char head[HEAD]; /* of the request */
	size_t head_len;
	int file;   /* that is being received, or -1 */
	off_t at;   /* in the file */
	off_t left; /* bytes of the body; 0 between requests */
};

static struct {
	bool splices;
	bool receives;
	bool over; /* what is received goes over files that are there */
	bool replaces;
	int file; /* or the folder */
	off_t size;
	char head[128]; /* of the response */
	size_t head_len;
} run;

static int epoll, pipe_fds[2];
static char buffer[COPY];

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static bool again(ssize_t r)
{
	return r < 0 && errno == EAGAIN;
}

static void close_conn(struct conn *conn)
{
	if (conn->file >= 0)
		close(conn->file);
	close(conn->fd);
	free(conn);
}

static void cork(struct conn *conn, int on)
{
	setsockopt(conn->fd, IPPROTO_TCP, TCP_CORK, &on, sizeof(on));
}

static void poll_out(struct conn *conn, bool wanted)
{
	struct epoll_event event = { .events = wanted ? EPOLLOUT : EPOLLIN, .data.ptr = conn };

	if (conn->polls_out != wanted)
		epoll_ctl(epoll, EPOLL_CTL_MOD, conn->fd, &event);
	conn->polls_out = wanted;
}

/* ---- sending ---- */

/* Move a piece. Return: bytes, fewer when the socket is full; -1. */
static ssize_t send_piece(struct conn *conn, size_t len)
{
	loff_t at = conn->at;
	ssize_t r, in, out = 0;

	if (!run.splices) {
		in = pread(run.file, buffer, len, at);
		r = in > 0 ? send(conn->fd, buffer, (size_t)in, MSG_NOSIGNAL) : -1;
		return again(r) ? 0 : r;
	}
	in = splice(run.file, &at, pipe_fds[1], NULL, len, SPLICE_F_NONBLOCK);
	if (in <= 0)
		return -1;
	while (out < in) {
		r = splice(pipe_fds[0], NULL, conn->fd, NULL, (size_t)(in - out),
			   SPLICE_F_NONBLOCK);
		if (r <= 0 && !again(r))
			return -1;
		if (r < 0)
			break;
		out += r;
	}
	/* What the socket did not take is read again. */
	for (in -= out; in > 0; in -= r) {
		static int null = -1;

		if (null < 0)
			null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		r = splice(pipe_fds[0], NULL, null, NULL, (size_t)in, 0);
		if (r <= 0)
			die("the pipe can't be emptied");
	}
	return out;
}

static void send_body(struct conn *conn)
{
	size_t piece = run.splices ? MIB : COPY, len;
	ssize_t moved = 0, r;

	/* A MiB, and others have their turn. */
	do {
		len = (size_t)conn->left < piece ? (size_t)conn->left : piece;
		r = send_piece(conn, len);
		if (r < 0) {
			close_conn(conn);
			return;
		}
		conn->at += r;
		conn->left -= r;
		moved += r;
	} while ((size_t)r == len && conn->left && moved < MIB);
	poll_out(conn, conn->left > 0);
	if (!conn->left && run.size > CORK_FROM)
		cork(conn, 0);
}

/* ---- receiving ---- */

static bool open_file(struct conn *conn)
{
	char name[32];

	snprintf(name, sizeof(name), run.over ? "over" : ".%u", conn->number);
	conn->file = openat(run.file, name,
			    O_WRONLY | O_CREAT | (run.over ? 0 : O_TRUNC) | O_CLOEXEC, 0666);
	conn->at = 0;
	return conn->file >= 0;
}

static void publish(struct conn *conn)
{
	static unsigned count;
	char hidden[32], name[32];

	snprintf(hidden, sizeof(hidden), ".%u", conn->number);
	snprintf(name, sizeof(name), run.replaces ? "%u" : "new-%u",
		 run.replaces ? conn->number : count++);
	close(conn->file);
	conn->file = -1;
	if (!run.over && renameat(run.file, hidden, run.file, name) < 0)
		die("renameat");
	if (send(conn->fd, run.head, run.head_len, MSG_NOSIGNAL) < 0)
		die("send");
}

/* Move a piece. Return: bytes, 0 when the socket is empty, -1. */
static ssize_t receive_piece(struct conn *conn)
{
	size_t len = conn->left < MIB ? (size_t)conn->left : MIB;
	loff_t at = conn->at;
	ssize_t r, in, out = 0;

	if (!run.splices) {
		in = recv(conn->fd, buffer, len < COPY ? len : COPY, 0);
		if (in <= 0)
			return again(in) ? 0 : -1;
		return pwrite(conn->file, buffer, (size_t)in, at) == in ? in : -1;
	}
	in = splice(conn->fd, NULL, pipe_fds[1], NULL, len, SPLICE_F_NONBLOCK);
	if (in <= 0)
		return again(in) ? 0 : -1;
	while (out < in) {
		r = splice(pipe_fds[0], NULL, conn->file, &at, (size_t)(in - out), 0);
		if (r <= 0)
			die("splice");
		out += r;
	}
	return in;
}

static void receive_body(struct conn *conn)
{
	ssize_t r = receive_piece(conn);

	if (r < 0) {
		close_conn(conn);
		return;
	}
	conn->at += r;
	conn->left -= r;
	if (!conn->left)
		publish(conn);
}

/* ---- requests ---- */

static off_t content_length(const char *head)
{
	const char *at = strcasestr(head, "\r\ncontent-length:");

	return at ? atoll(at + 17) : 0;
}

static void begin_upload(struct conn *conn, const char *body, size_t len)
{
	conn->left = content_length(conn->head);
	if (!open_file(conn) || pwrite(conn->file, body, len, 0) != (ssize_t)len)
		die("can't write");
	conn->at = (off_t)len;
	conn->left -= (off_t)len;
	if (!conn->left)
		publish(conn);
}

/* Head and body by one send. Return: false where the socket does not take all of it. */
static bool send_small(struct conn *conn)
{
	size_t len = run.head_len + (size_t)run.size;

	memcpy(buffer, run.head, run.head_len);
	if (pread(run.file, buffer + run.head_len, (size_t)run.size, 0) != run.size)
		die("pread");
	return send(conn->fd, buffer, len, MSG_NOSIGNAL) == (ssize_t)len;
}

static void begin_download(struct conn *conn)
{
	bool small = run.size <= CORK_FROM;

	/* A client that asks anew before it has read has room for no answer: one that is of no use here. */
	if (run.splices && run.size <= ONE_SEND) {
		if (!send_small(conn))
			close_conn(conn);
		return;
	}
	conn->at = 0;
	conn->left = run.size;
	if (!small)
		cork(conn, 1);
	if (send(conn->fd, run.head, run.head_len, MSG_NOSIGNAL | (small ? MSG_MORE : 0)) < 0)
		die("send");
	send_body(conn);
}

static void read_head(struct conn *conn)
{
	ssize_t r = recv(conn->fd, conn->head + conn->head_len, HEAD - 1 - conn->head_len, 0);
	size_t head_len = conn->head_len;
	char *end;

	if (again(r))
		return;
	if (r <= 0) {
		close_conn(conn);
		return;
	}
	conn->head_len += (size_t)r;
	end = memmem(conn->head, conn->head_len, "\r\n\r\n", 4);
	if (!end)
		return;
	end[2] = 0;
	end += 4;
	head_len = conn->head_len - (size_t)(end - conn->head);
	conn->head_len = 0;
	if (run.receives)
		begin_upload(conn, end, head_len);
	else
		begin_download(conn);
}

static void accept_conn(int listener)
{
	static unsigned count;
	struct conn *conn = calloc(1, sizeof(*conn));
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = conn };

	if (!conn)
		die("calloc");
	conn->file = -1;
	conn->number = count++;
	conn->fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (conn->fd < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, conn->fd, &event) < 0)
		die("accept");
}

static int listen_at(int port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct epoll_event event = { .events = EPOLLIN };
	int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, 4096) < 0 ||
	    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0)
		die("listen");
	return fd;
}

static bool parse(int argc, char **argv)
{
	static const char *const modes[] = { "splice",      "read-send",      "splice-in",
					     "recv-write",  "splice-replace", "recv-replace",
					     "splice-over", "recv-over" };
	const size_t count = sizeof(modes) / sizeof(*modes);
	struct stat st;
	size_t mode;

	if (argc != 4)
		return false;
	for (mode = 0; mode < count && strcmp(argv[1], modes[mode]) != 0; mode++)
		;
	if (mode == count)
		return false;
	run.splices = mode % 2 == 0;
	run.receives = mode >= 2;
	run.replaces = mode / 2 == 2;
	run.over = mode / 2 == 3;
	run.file = open(argv[3], O_RDONLY | O_CLOEXEC);
	if (run.file < 0 || fstat(run.file, &st) < 0)
		die(argv[3]);
	run.size = run.receives ? 0 : st.st_size;
	run.head_len = (size_t)snprintf(run.head, sizeof(run.head),
					"HTTP/1.1 200 OK\r\nContent-Length: %lld\r\n\r\n",
					(long long)run.size);
	return true;
}

int main(int argc, char **argv)
{
	struct epoll_event events[64];
	int listener;

	if (!parse(argc, argv)) {
		fputs("usage: transfer splice|read-send PORT FILE\n"
		      "       transfer splice-in|recv-write|splice-replace|recv-replace|splice-over|recv-over PORT FOLDER\n",
		      stderr);
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	epoll = epoll_create1(EPOLL_CLOEXEC);
	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		die("pipe");
	fcntl(pipe_fds[1], F_SETPIPE_SZ, MIB);
	listener = listen_at(atoi(argv[2]));
	for (;;) {
		int n = epoll_wait(epoll, events, 64, -1);

		for (int i = 0; i < n; i++) {
			struct conn *conn = events[i].data.ptr;

			if (!conn)
				accept_conn(listener);
			else if (!conn->left)
				read_head(conn);
			else if (run.receives)
				receive_body(conn);
			else
				send_body(conn);
		}
	}
}
