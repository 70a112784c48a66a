/* Tests of eddy/io.h: calls that are cancelled, of which the kernel has let go when they return. */
#include "expect.h"

#include "base/feature.h"
#include <eddy/io.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>

#define MUCH (2 * 1024 * 1024)

/* --- cancelled while blocked, the buffer on the stack */

struct blocked {
	int fds[2];
	ssize_t (*call)(struct blocked *blocked, void *bytes, size_t len);
	ssize_t result, again;
	bool intact, returned;
};

static int be_blocked(void *arg)
{
	struct blocked *blocked = arg;
	struct eddy_scope shield;
	char bytes[512];

	memset(bytes, 'o', sizeof(bytes));
	blocked->result = blocked->call(blocked, bytes, sizeof(bytes));
	blocked->returned = true;
	/* What comes now must not be written here. */
	memset(bytes, 'n', sizeof(bytes));
	eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true });
	(void)!write(blocked->fds[1], "late", 4);
	expect_turns(2);
	eddy_scope_end(&shield);
	blocked->intact = true;
	for (size_t i = 0; i < sizeof(bytes); i++)
		blocked->intact &= bytes[i] == 'n';
	blocked->again = blocked->call(blocked, bytes, sizeof(bytes));
	return 0;
}

static void cancel_blocked(struct blocked *blocked)
{
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	EXPECT_EQ(eddy_scope_spawn(&scope, "blocked", be_blocked, blocked), 0);
	expect_turns(3);
	/* What a worker of the kernel's does has very likely begun; either way is right. */
	eddy_sleep(EDDY_MS);
	EXPECT(!blocked->returned);
	eddy_scope_cancel(&scope);
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	EXPECT_EQ(blocked->result, -ECANCELED);
	EXPECT_EQ(blocked->again, -ECANCELED);
	EXPECT(blocked->intact);
	close(blocked->fds[0]);
	close(blocked->fds[1]);
}

static void fill(int fd)
{
	char bytes[4096] = "";

	fcntl(fd, F_SETFL, O_NONBLOCK);
	while (write(fd, bytes, sizeof(bytes)) > 0)
		;
}

static ssize_t call_recv(struct blocked *blocked, void *bytes, size_t len)
{
	return eddy_recv(blocked->fds[0], bytes, len, 0);
}

static ssize_t call_recvmsg(struct blocked *blocked, void *bytes, size_t len)
{
	struct iovec part = { bytes, len };
	struct msghdr msg = { .msg_iov = &part, .msg_iovlen = 1 };

	return eddy_recvmsg(blocked->fds[0], &msg, 0);
}

static ssize_t call_send(struct blocked *blocked, void *bytes, size_t len)
{
	return eddy_send(blocked->fds[0], bytes, len, 0);
}

static ssize_t call_send_all(struct blocked *blocked, void *bytes, size_t len)
{
	return eddy_send_all(blocked->fds[0], bytes, len, 0);
}

static ssize_t call_sendmsg(struct blocked *blocked, void *bytes, size_t len)
{
	struct iovec part = { bytes, len };
	struct msghdr msg = { .msg_iov = &part, .msg_iovlen = 1 };

	return eddy_sendmsg(blocked->fds[0], &msg, 0);
}

static ssize_t call_read(struct blocked *blocked, void *bytes, size_t len)
{
	return eddy_read(blocked->fds[0], bytes, len, EDDY_OFFSET_NONE);
}

static ssize_t call_write(struct blocked *blocked, void *bytes, size_t len)
{
	return eddy_write(blocked->fds[0], bytes, len, EDDY_OFFSET_NONE);
}

static ssize_t call_poll(struct blocked *blocked, __attribute__((unused)) void *bytes,
			 __attribute__((unused)) size_t len)
{
	return eddy_poll(blocked->fds[0], POLLIN);
}

TASK_TEST(io_cancel, cancelled_on_a_socket)
{
	static ssize_t (*const calls[])(struct blocked *, void *, size_t) = {
		call_recv, call_recvmsg,  call_poll,    call_read,
		call_send, call_send_all, call_sendmsg,
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct blocked blocked = { .call = calls[i] };

		stream_pair(blocked.fds);
		if (i >= 4)
			fill(blocked.fds[0]);
		cancel_blocked(&blocked);
	}
	return 0;
}

static ssize_t call_splice(struct blocked *blocked, __attribute__((unused)) void *bytes,
			   __attribute__((unused)) size_t len)
{
	int fds[2];
	ssize_t r;

	EXPECT_EQ(pipe(fds), 0);
	r = eddy_splice(blocked->fds[0], EDDY_OFFSET_NONE, fds[1], EDDY_OFFSET_NONE, 100, 0);
	close(fds[0]);
	close(fds[1]);
	return r;
}

TASK_TEST(io_cancel, cancelled_on_a_pipe)
{
	static ssize_t (*const calls[])(struct blocked *, void *, size_t) = {
		call_read,
		call_poll,
		call_splice,
		call_write,
	};

	int reader;

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct blocked blocked = { .call = calls[i] };

		EXPECT_EQ(pipe(blocked.fds), 0);
		reader = -1;
		if (calls[i] == call_write) {
			fill(blocked.fds[1]);
			fcntl(blocked.fds[1], F_SETFL, 0);
			reader = blocked.fds[0];
			blocked.fds[0] = blocked.fds[1];
			blocked.fds[1] = -1;
		}
		cancel_blocked(&blocked);
		close(reader);
	}
	return 0;
}

static ssize_t call_accept(struct blocked *blocked, void *bytes, size_t len)
{
	socklen_t addr_len = (socklen_t)len;

	return eddy_accept(blocked->fds[0], bytes, &addr_len);
}

static struct sockaddr_in full;

static ssize_t call_connect(struct blocked *blocked, __attribute__((unused)) void *bytes,
			    __attribute__((unused)) size_t len)
{
	return eddy_connect(blocked->fds[0], (struct sockaddr *)&full, sizeof(full));
}

TASK_TEST(io_cancel, cancelled_accept_and_connect)
{
	struct blocked accepting = { .call = call_accept }, connecting = { .call = call_connect };
	struct sockaddr_in addr;
	int peers[8], listener = tcp_listen(&full, 0);

	accepting.fds[0] = tcp_listen(&addr, 1);
	accepting.fds[1] = dup(accepting.fds[0]);
	cancel_blocked(&accepting);
	/* Nobody takes from this backlog: what does not fit waits. */
	for (int i = 0; i < 8; i++) {
		peers[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		connect(peers[i], (struct sockaddr *)&full, sizeof(full));
	}
	connecting.fds[0] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	connecting.fds[1] = -1;
	cancel_blocked(&connecting);
	for (int i = 0; i < 8; i++)
		close(peers[i]);
	close(listener);
	return 0;
}

/* --- succeeded while cancelled */

struct late {
	int (*call)(struct late *late);
	int fd, fds[2], result, again;
	char bytes[16];
	siginfo_t info;
};

static int call_twice(void *arg)
{
	struct late *late = arg;

	late->result = late->call(late);
	late->again = late->call(late);
	return 0;
}

/* Begin the call, do `meanwhile`, and cancel when the kernel has completed it and nobody has looked yet. */
static void cancel_late(struct late *late, void (*meanwhile)(struct late *late))
{
	struct eddy_loop *loop = eddyi_loop();
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "late", call_twice, late);
	if (meanwhile) {
		expect_turns(2);
		meanwhile(late);
	} else {
		/* Within the same turn: it takes its entry, and the kernel does not see it yet. */
		eddy_yield();
	}
	while (!io_uring_cq_ready(&loop->ring))
		eddyi_loop_enter(loop);
	eddy_scope_cancel(&scope);
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	EXPECT_EQ(late->again, -ECANCELED);
}

static int late_accept(struct late *late)
{
	return eddy_accept(late->fd, NULL, NULL);
}

static void connect_late(struct late *late)
{
	struct sockaddr_in addr;
	socklen_t len = sizeof(addr);

	EXPECT_EQ(getsockname(late->fd, (struct sockaddr *)&addr, &len), 0);
	late->fds[0] = tcp_connect(&addr);
}

TASK_TEST(io_cancel, accept_that_succeeded_while_cancelled_is_returned)
{
	struct late late = { .call = late_accept };
	struct sockaddr_in addr;

	late.fd = tcp_listen(&addr, 4);
	cancel_late(&late, connect_late);
	EXPECT(late.result >= 0);
	EXPECT_EQ(send(late.fds[0], "x", 1, 0), 1);
	EXPECT_EQ(eddy_close(late.result), 0);
	close(late.fds[0]);
	close(late.fd);
	return 0;
}

static int late_socket(__attribute__((unused)) struct late *late)
{
	return eddy_socket(AF_UNIX, SOCK_STREAM, 0);
}

static int late_pipe(struct late *late)
{
	return eddy_pipe(late->fds, 0);
}

TASK_TEST(io_cancel, socket_and_pipe_that_succeeded_while_cancelled_are_returned)
{
	struct late socket = { .call = late_socket }, pipe = { .call = late_pipe };

	cancel_late(&socket, NULL);
	EXPECT(socket.result >= 0);
	EXPECT_EQ(close(socket.result), 0);
	if (!eddyi_feature_is_there(EDDYI_FEATURE_PIPE))
		return 0;
	cancel_late(&pipe, NULL);
	EXPECT_EQ(pipe.result, 0);
	EXPECT_EQ(close(pipe.fds[0]), 0);
	EXPECT_EQ(close(pipe.fds[1]), 0);
	return 0;
}

static int late_recv(struct late *late)
{
	return (int)eddy_recv(late->fds[0], late->bytes, sizeof(late->bytes), MSG_WAITALL);
}

static int late_send(struct late *late)
{
	static char much[MUCH];

	return (int)eddy_send(late->fds[0], much, sizeof(much), MSG_WAITALL);
}

static int part_of(int (*call)(struct late *late), const char *text, struct late *late)
{
	struct eddy_scope scope;

	*late = (struct late){ .call = call };
	stream_pair(late->fds);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "late", call_twice, late);
	expect_turns(2);
	if (text)
		EXPECT_EQ(write(late->fds[1], text, strlen(text)), strlen(text));
	expect_turns(2);
	EXPECT_EQ(late->result, 0);
	eddy_scope_cancel(&scope);
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	EXPECT_EQ(late->again, -ECANCELED);
	return late->result;
}

/* -ECANCELED would hide the bytes that have moved. */
TASK_TEST(io_cancel, part_that_moved_before_the_cancellation_is_returned)
{
	static char got[MUCH];
	struct late late;
	int sent;

	EXPECT_EQ(part_of(late_recv, "part", &late), 4);
	EXPECT_EQ(memcmp(late.bytes, "part", 4), 0);
	close(late.fds[0]);
	close(late.fds[1]);
	sent = part_of(late_send, NULL, &late);
	EXPECT(sent > 0 && sent < MUCH);
	close(late.fds[0]);
	for (int len = 0, r; sent > 0; len += r) {
		r = (int)read(late.fds[1], got, sizeof(got));
		if (r <= 0) {
			EXPECT_EQ(len, sent);
			break;
		}
	}
	close(late.fds[1]);
	return 0;
}
