/* Tests of eddy_transfer_between() of eddy/transfer.h. */
#include "expect.h"

#include <eddy/event.h>
#include <eddy/io.h>
#include <eddy/transfer.h>
#include <fcntl.h>
#include <stdlib.h>

#include "transfer/pipe.h"

#define SIZE ((size_t)(2 * EDDY_MIB + 12345))
/* The default of .pipes_held_max. */
#define HELD_MAX 32

static unsigned char byte_at(size_t offset)
{
	return (unsigned char)(offset * 31 + offset / 251);
}

/* source[1] is written by the test, sink[1] read: the relay lies between the two. */
struct line {
	int source[2];
	int sink[2];
	struct eddy_relay relay;
	struct eddy_scope scope;
	size_t len; /* to send */
	size_t got;
	bool wrong;
	int result;
};

static void open_line(struct line *line, void (*pair)(int fds[2]))
{
	*line = (struct line){ .result = 1 };
	pair(line->source);
	pair(line->sink);
	line->relay.from = line->source[0];
	line->relay.to = line->sink[0];
}

static void close_line(struct line *line)
{
	eddy_close(line->source[0]);
	eddy_close(line->source[1]);
	eddy_close(line->sink[0]);
	eddy_close(line->sink[1]);
}

static int relay(void *arg)
{
	struct line *line = arg;

	line->result = eddy_transfer_between(&line->relay);
	if (line->result == 0)
		eddy_shutdown(line->relay.to, SHUT_WR);
	return 0;
}

static int write_all(void *arg)
{
	struct line *line = arg;
	unsigned char *bytes = malloc(line->len + 1);
	int r;

	for (size_t i = 0; i < line->len; i++)
		bytes[i] = byte_at(i);
	r = eddy_send_all(line->source[1], bytes, line->len, 0);
	free(bytes);
	return r < 0 ? r : eddy_shutdown(line->source[1], SHUT_WR);
}

static int read_all(void *arg)
{
	struct line *line = arg;
	unsigned char buf[16384];
	ssize_t r;

	while ((r = eddy_recv(line->sink[1], buf, sizeof(buf), 0)) > 0) {
		for (ssize_t i = 0; i < r; i++)
			line->wrong |= buf[i] != byte_at(line->got + (size_t)i);
		line->got += (size_t)r;
	}
	return (int)r;
}

static void expect_whole(struct line *line)
{
	EXPECT_EQ(line->result, 0);
	EXPECT_EQ(line->relay.moved, line->len);
	EXPECT_EQ(line->got, line->len);
	EXPECT(!line->wrong);
}

static void move_whole(void (*pair)(int fds[2]), size_t len)
{
	struct line line;

	open_line(&line, pair);
	line.len = len;
	eddy_scope_begin(&line.scope, NULL);
	eddy_scope_spawn(&line.scope, "relay", relay, &line);
	eddy_scope_spawn(&line.scope, "writer", write_all, &line);
	eddy_scope_spawn(&line.scope, "reader", read_all, &line);
	eddy_scope_join(&line.scope);
	EXPECT_EQ(eddy_scope_end(&line.scope), 0);
	expect_whole(&line);
	close_line(&line);
}

TASK_TEST(transfer_between, moves_every_stream_whole)
{
	static const size_t sizes[] = { 0, 1, 4096, 65537, SIZE };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		move_whole(tcp_pair, sizes[i]);
		move_whole(stream_pair, sizes[i]);
	}
	EXPECT(eddy_transfer_stats().stalls > 0);
	EXPECT(eddy_transfer_stats().spliced_between > SIZE);
	EXPECT_EQ(eddy_transfer_stats().copied_between, 0);
	return 0;
}

/* What comes is passed on at once, not when a buffer is full or the stream ends. */
TASK_TEST(transfer_between, passes_on_what_is_there)
{
	struct line line;
	char byte;

	open_line(&line, tcp_pair);
	eddy_scope_begin(&line.scope, NULL);
	eddy_scope_spawn(&line.scope, "relay", relay, &line);
	for (int i = 0; i < 10; i++) {
		EXPECT_EQ(eddy_send_all(line.source[1], "x", 1, 0), 0);
		EXPECT_EQ(eddy_recv(line.sink[1], &byte, 1, 0), 1);
		EXPECT_EQ(line.relay.moved, i + 1);
	}
	eddy_shutdown(line.source[1], SHUT_WR);
	EXPECT_EQ(eddy_recv(line.sink[1], &byte, 1, 0), 0);
	eddy_scope_join(&line.scope);
	eddy_scope_end(&line.scope);
	EXPECT_EQ(line.result, 0);
	close_line(&line);
	return 0;
}

/* Fill the way to a reader that does not read, until no more is taken from the writer. */
static void stall(struct line *line)
{
	uint64_t stalls = eddy_transfer_stats().stalls;

	eddy_scope_spawn(&line->scope, "relay", relay, line);
	eddy_scope_spawn(&line->scope, "writer", write_all, line);
	while (eddy_transfer_stats().stalls == stalls)
		eddy_sleep(0);
}

/* As many relays as may hold a pipe do; those beyond hold none, and nobody loses a byte. */
TASK_TEST(transfer_between, copies_past_the_cap_of_pipes)
{
	enum { COUNT = HELD_MAX + 3 };
	static struct line lines[COUNT];
	struct eddy_scope readers;
	int before;

	for (size_t i = 0; i < COUNT; i++) {
		open_line(&lines[i], stream_pair);
		lines[i].len = 600000;
	}
	/* The loop's own pipes and what is below them. */
	move_whole(stream_pair, 1);
	before = open_descriptors();
	eddy_scope_begin(&readers, NULL);
	for (size_t i = 0; i < COUNT; i++) {
		eddy_scope_begin(&lines[i].scope, NULL);
		stall(&lines[i]);
	}
	/* One pipe was there before. */
	EXPECT_EQ(open_descriptors() - before, 2 * HELD_MAX);
	EXPECT(!eddyi_pipe_hold());
	for (size_t i = 0; i < COUNT; i++)
		eddy_scope_spawn(&readers, "reader", read_all, &lines[i]);
	for (size_t i = COUNT; i-- > 0;) {
		eddy_scope_join(&lines[i].scope);
		EXPECT_EQ(eddy_scope_end(&lines[i].scope), 0);
	}
	eddy_scope_join(&readers);
	EXPECT_EQ(eddy_scope_end(&readers), 0);
	for (size_t i = 0; i < COUNT; i++) {
		expect_whole(&lines[i]);
		close_line(&lines[i]);
	}
	EXPECT(eddy_transfer_stats().copied_between > 0);
	EXPECT(eddyi_pipe_hold());
	eddyi_pipe_release();
	return 0;
}

static void cancel_stalled(size_t held)
{
	struct line line;

	for (size_t i = 0; i < held; i++)
		EXPECT(eddyi_pipe_hold());
	open_line(&line, stream_pair);
	line.len = SIZE;
	eddy_scope_begin(&line.scope, NULL);
	stall(&line);
	eddy_scope_cancel(&line.scope);
	eddy_scope_end(&line.scope);
	EXPECT_EQ(line.result, -ECANCELED);
	EXPECT(line.relay.moved > 0 && line.relay.moved < SIZE);
	close_line(&line);
	for (size_t i = 0; i < held; i++)
		eddyi_pipe_release();
}

TASK_TEST(transfer_between, is_cancelled_in_the_middle)
{
	struct line line;
	int fds;

	move_whole(stream_pair, SIZE);
	fds = open_descriptors();
	cancel_stalled(0);
	cancel_stalled(HELD_MAX);
	/* The pipe that held bytes is closed; the pool may have one less, and no more. */
	EXPECT(open_descriptors() <= fds);
	/* None of it is left in a pipe that is used again. */
	move_whole(stream_pair, SIZE);

	open_line(&line, stream_pair);
	eddy_scope_begin(&line.scope, NULL);
	eddy_scope_spawn(&line.scope, "relay", relay, &line);
	expect_turns(2);
	eddy_scope_cancel(&line.scope);
	/* In a scope that is cancelled already nothing moves. */
	EXPECT_EQ(write(line.source[1], "x", 1), 1);
	EXPECT_EQ(eddy_transfer_between(&line.relay), -ECANCELED);
	eddy_scope_end(&line.scope);
	EXPECT_EQ(line.relay.moved, 0);
	close_line(&line);
	return 0;
}

static void reset(int fd)
{
	struct linger linger = { 1, 0 };

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	eddy_close(fd);
}

TASK_TEST(transfer_between, says_who_has_left)
{
	struct line line;

	open_line(&line, tcp_pair);
	EXPECT_EQ(eddy_send_all(line.source[1], "x", 1, 0), 0);
	reset(line.source[1]);
	EXPECT_EQ(eddy_transfer_between(&line.relay), -ECONNRESET);
	line.source[1] = -1;
	close_line(&line);

	open_line(&line, tcp_pair);
	EXPECT_EQ(eddy_send_all(line.source[1], "x", 1, 0), 0);
	reset(line.sink[1]);
	line.result = eddy_transfer_between(&line.relay);
	EXPECT(line.result == -ECONNRESET || line.result == -EPIPE);
	line.sink[1] = -1;
	close_line(&line);

	/* While it waits for room. */
	open_line(&line, tcp_pair);
	line.len = 8 * SIZE;
	eddy_scope_begin(&line.scope, NULL);
	stall(&line);
	reset(line.sink[1]);
	while (line.result == 1)
		eddy_sleep(0);
	EXPECT(line.result == -ECONNRESET || line.result == -EPIPE);
	eddy_scope_cancel(&line.scope);
	eddy_scope_end(&line.scope);
	line.sink[1] = -1;
	close_line(&line);
	return 0;
}
