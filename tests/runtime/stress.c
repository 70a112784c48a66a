/* Random trees of scopes and tasks that send, receive, sleep, open, fail, cancel and clean up, against a
 * model of what must hold whatever happens: every byte that was reported as sent was received or is
 * still in its socket, in order; no task outlives its scope; at the end no descriptor, no op and no
 * buffer is missing. The seed is that of EDDY_CHAOS where it is set.
 */
#include "expect.h"

#include <eddy/buffers.h>
#include <eddy/file.h>
#include <eddy/io.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define PAIRS 6
#define DEPTH 4
#define CHILDREN 4
#define BUFFERS 128 /* of the loop's group */
#define FAILURE -EPROTO

/* A stream of bytes that count on: one task at a time sends, one receives. */
static struct stream {
	int fds[2];
	size_t sent, received;
	bool sending, receiving;
} streams[PAIRS];

static uint64_t chance_state;
static int entered, left, moved;

static unsigned chance(unsigned limit)
{
	chance_state ^= chance_state << 13;
	chance_state ^= chance_state >> 7;
	chance_state ^= chance_state << 17;
	return (unsigned)(chance_state >> 20) % limit;
}

static char byte_at(size_t position)
{
	return (char)(position % 251);
}

static int send_some(struct stream *stream)
{
	char bytes[300];
	size_t len = 1 + chance(sizeof(bytes));
	ssize_t r;

	if (stream->sending)
		return 0;
	stream->sending = true;
	for (size_t i = 0; i < len; i++)
		bytes[i] = byte_at(stream->sent + i);
	r = eddy_send(stream->fds[0], bytes, len, 0);
	/* The kernel has let go: what is written here is not sent. */
	memset(bytes, 0xff, sizeof(bytes));
	if (r > 0)
		stream->sent += (size_t)r;
	stream->sending = false;
	EXPECT(r > 0 || r == -ECANCELED);
	return r < 0 ? (int)r : 0;
}

static void take_bytes(struct stream *stream, const char *bytes, ssize_t len)
{
	for (ssize_t i = 0; i < len; i++)
		EXPECT(bytes[i] == byte_at(stream->received + (size_t)i));
	if (len > 0)
		stream->received += (size_t)len;
	moved += len > 0;
}

static int receive_some(struct stream *stream)
{
	char bytes[300];
	ssize_t r;

	if (stream->receiving)
		return 0;
	stream->receiving = true;
	r = eddy_recv(stream->fds[1], bytes, 1 + chance(sizeof(bytes)), 0);
	take_bytes(stream, bytes, r);
	stream->receiving = false;
	EXPECT(r > 0 || r == -ECANCELED);
	return r < 0 ? (int)r : 0;
}

static int receive_into_buffer(struct stream *stream)
{
	struct eddy_op op;
	struct io_uring_sqe *sqe;
	int r;

	if (stream->receiving)
		return 0;
	sqe = eddy_op_begin_await(&op);
	if (!sqe)
		return -ECANCELED;
	stream->receiving = true;
	eddy_buffers_prep_recv(NULL, sqe, stream->fds[1]);
	r = eddy_op_await(&op, sqe);
	EXPECT_EQ(eddy_buffers_of(NULL, op.flags) != NULL, r > 0);
	if (r > 0)
		take_bytes(stream, eddy_buffers_of(NULL, op.flags), r);
	eddy_buffers_give_back(NULL, op.flags);
	stream->receiving = false;
	EXPECT(r > 0 || r == -ECANCELED || r == -ENOBUFS);
	return r == -ECANCELED ? r : 0;
}

static int open_and_close(void)
{
	struct open_how how = { .flags = O_RDONLY };
	int fd = eddy_openat2(AT_FDCWD, "/dev/null", &how);

	EXPECT(fd >= 0 || fd == -ECANCELED);
	if (fd < 0)
		return fd;
	/* Also where the scope is cancelled by now. */
	EXPECT_EQ(eddy_close(fd), 0);
	return 0;
}

static int act(void)
{
	struct stream *stream = &streams[chance(PAIRS)];

	switch (chance(8)) {
	case 0:
	case 1:
		return send_some(stream);
	case 2:
		return receive_some(stream);
	case 3:
		return receive_into_buffer(stream);
	case 4:
		return open_and_close();
	case 5:
		return eddy_poll(stream->fds[0], POLLOUT) < 0 ? -ECANCELED : 0;
	case 6:
		return eddy_yield();
	}
	return eddy_sleep(chance(300) * EDDY_US);
}

/* Suspends, and succeeds though all around it is cancelled. */
static void clean_up(void)
{
	struct eddy_scope shield;

	eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true,
								.timeout_ns = 10 * EDDY_SECOND });
	EXPECT_EQ(eddy_sleep(chance(50) * EDDY_US), 0);
	EXPECT_EQ(eddy_yield(), 0);
	EXPECT_EQ(eddy_scope_end(&shield), 0);
}

struct node {
	unsigned depth;
	int *ended; /* the parent's count */
};

static int grow(void *arg);

static void live(struct eddy_scope *scope, struct node *children, int *spawned, unsigned depth)
{
	for (unsigned steps = 1 + chance(6); steps; steps--) {
		bool cancelled = eddy_is_cancelled();
		int r;

		if (depth && *spawned < CHILDREN && chance(2)) {
			r = eddy_scope_spawn(scope, "node", grow, &children[*spawned]);
			EXPECT_EQ(r, scope->cancelled ? -ECANCELED : 0);
			*spawned += r == 0;
		}
		r = act();
		EXPECT(r == 0 || r == -ECANCELED);
		/* Nothing that suspends succeeds in a scope that had been cancelled. */
		if (cancelled)
			EXPECT_EQ(eddy_sleep(0), -ECANCELED);
		if (!chance(20))
			eddy_scope_cancel(scope);
	}
}

static int grow(void *arg)
{
	struct node *node = arg;
	int ended = 0, spawned = 0, r;
	struct node children[CHILDREN];
	struct eddy_scope scope;
	bool fails = !chance(8);

	entered++;
	for (int i = 0; i < CHILDREN; i++)
		children[i] = (struct node){ node->depth - 1, &ended };
	eddy_scope_begin(&scope, &(struct eddy_scope_options){
					 .timeout_ns = chance(3) ? 0 : (1 + chance(2000)) * EDDY_US,
					 .fail_fast = chance(2),
				 });
	live(&scope, children, &spawned, node->depth);
	if (chance(2))
		eddy_scope_join(&scope);
	if (!chance(4))
		clean_up();
	r = eddy_scope_end(&scope);
	EXPECT(r == 0 || r == -ECANCELED || r == -ETIMEDOUT || r == FAILURE);
	EXPECT_EQ(ended, spawned);
	left++;
	++*node->ended;
	return fails ? FAILURE : 0;
}

/* What was sent and not received is what is still there. */
static void account_for(struct stream *stream)
{
	char bytes[4096];
	ssize_t r;

	while ((r = recv(stream->fds[1], bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
		take_bytes(stream, bytes, r);
	EXPECT_EQ(stream->received, stream->sent);
	close(stream->fds[0]);
	close(stream->fds[1]);
}

/* Every buffer of the group can be had at once. */
static void account_for_buffers(void)
{
	unsigned flags[BUFFERS];
	int fds[2];

	stream_pair(fds);
	for (int i = 0; i < BUFFERS; i++) {
		int r = -ENOBUFS;

		EXPECT_EQ(write(fds[1], "x", 1), 1);
		for (int tries = 0; tries < 20 && r == -ENOBUFS; tries++) {
			struct eddy_op op;
			struct io_uring_sqe *sqe = eddy_op_begin_await(&op);

			eddy_buffers_prep_recv(NULL, sqe, fds[0]);
			r = eddy_op_await(&op, sqe);
			flags[i] = op.flags;
		}
		EXPECT_EQ(r, 1);
	}
	for (int i = 0; i < BUFFERS; i++)
		eddy_buffers_give_back(NULL, flags[i]);
	close(fds[0]);
	close(fds[1]);
}

static int run_trees(__attribute__((unused)) void *arg)
{
	struct eddy_loop *loop = eddyi_loop();
	size_t ops = loop->ops;
	int before, ended, trees = IS_SLOW ? 8 : 30;

	EXPECT_EQ(eddy_buffers_prepare(), 0);
	before = open_descriptors();
	for (int tree = 0; tree < trees; tree++) {
		struct node root = { DEPTH, &ended };

		for (int i = 0; i < PAIRS; i++) {
			streams[i] = (struct stream){ 0 };
			stream_pair(streams[i].fds);
		}
		/* Deadlines end those that wait for bytes that nobody sends. */
		struct eddy_scope scope;

		eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = 4 * EDDY_MS });
		EXPECT_EQ(eddy_scope_spawn(&scope, "tree", grow, &root), 0);
		eddy_scope_join(&scope);
		eddy_scope_end(&scope);
		EXPECT_EQ(entered, left);
		EXPECT_EQ(loop->ops, ops);
		EXPECT(eddy_list_is_empty(&loop->root.children));
		for (int i = 0; i < PAIRS; i++)
			account_for(&streams[i]);
		EXPECT_EQ(open_descriptors(), before);
	}
	account_for_buffers();
	EXPECT(entered > trees && moved > 0);
	return 0;
}

static void run_with(uint64_t seed)
{
	chance_state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	entered = left = moved = 0;
	expect_run(NULL, run_trees, NULL);
}

Test(stress, trees)
{
	const char *chaos = getenv("EDDY_CHAOS");

	run_with(chaos ? strtoull(chaos, NULL, 0) : 1);
}

Test(stress, trees_under_chaos)
{
	char text[32];

	for (unsigned seed = 1; seed <= 3; seed++) {
		snprintf(text, sizeof(text), "%u", seed);
		setenv("EDDY_CHAOS", text, 1);
		run_with(seed);
	}
}
