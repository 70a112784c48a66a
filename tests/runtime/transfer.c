/* Tests of eddy/transfer.h. */
#include "moved.h"

#include <sys/fsuid.h>
#include <sys/mman.h>

/* Send a piece of a file behind a head; the peer reads it and compares. */
static void send_piece(uint64_t offset, uint64_t len, uint64_t pause_ns)
{
	struct peer peer = {
		.first = offset, .skip = 4, .most = (size_t)len + 4, .pause_ns = pause_ns
	};
	int file = make_file(SIZE), fds[2];
	struct eddy_transfer transfer = {
		.file = file,
		.offset = offset,
		.len = len,
		.head = { "head", 4 },
	};
	struct eddy_scope scope;
	int small = 65536;

	tcp_pair(fds);
	if (pause_ns)
		setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	transfer.socket = fds[0];
	peer.fd = fds[1];
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "peer", read_all, &peer);
	EXPECT_EQ(eddy_transfer_to_socket(&transfer), 0);
	EXPECT_EQ(transfer.moved, len);
	eddy_scope_join(&scope);
	EXPECT_EQ(eddy_scope_end(&scope), 0);
	EXPECT_EQ(peer.got, len + 4);
	EXPECT(!peer.wrong);
	close(file);
	eddy_close(fds[0]);
	eddy_close(fds[1]);
}

TASK_TEST(transfer, sends_every_piece_whole)
{
	static const struct {
		uint64_t offset, len;
	} pieces[] = { { 0, 0 },        { 0, 1 },        { 0, SIZE },     { 1, SIZE - 1 },
		       { 4095, 2 },     { 5000, 65536 }, { 5000, 65537 }, { 0, EDDY_MIB },
		       { 1, EDDY_MIB }, { SIZE - 1, 1 } };

	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++)
		send_piece(pieces[i].offset, pieces[i].len, 0);
	/* To a peer that is slower than the socket's buffer is large. */
	send_piece(3, SIZE - 3, EDDY_MS / 4);
	EXPECT(eddy_transfer_stats().stalls > 0);
	return 0;
}

TASK_TEST(transfer, says_when_the_file_ends_first)
{
	struct eddy_transfer transfer = { .len = 5000, .file = make_file(3000) };
	struct peer peer = { .most = SIZE };
	struct eddy_scope scope;
	int fds[2];

	tcp_pair(fds);
	transfer.socket = fds[0];
	peer.fd = fds[1];
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "peer", read_all, &peer);
	EXPECT_EQ(eddy_transfer_to_socket(&transfer), -ENODATA);
	EXPECT_EQ(transfer.moved, 3000);
	eddy_close(fds[0]);
	eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	EXPECT_EQ(peer.got, 3000);
	EXPECT(!peer.wrong);
	close(transfer.file);
	eddy_close(fds[1]);
	return 0;
}

TASK_TEST(transfer, is_cancelled_while_the_peer_does_not_read)
{
	struct eddy_transfer transfer = { .len = SIZE, .file = make_file(SIZE) };
	struct eddy_scope scope;
	int fds[2], small = 4096;

	tcp_pair(fds);
	setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	transfer.socket = fds[0];
	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = 20 * EDDY_MS });
	EXPECT_EQ(eddy_transfer_to_socket(&transfer), -ECANCELED);
	EXPECT_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
	EXPECT(transfer.moved < SIZE);
	close(transfer.file);
	eddy_close(fds[0]);
	eddy_close(fds[1]);
	return 0;
}

TASK_TEST(transfer, a_peer_that_left_is_an_error)
{
	struct eddy_transfer transfer = { .len = SIZE, .file = make_file(SIZE) };
	struct linger reset = { 1, 0 };
	int fds[2], r;

	tcp_pair(fds);
	transfer.socket = fds[0];
	setsockopt(fds[1], SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	eddy_close(fds[1]);
	r = eddy_transfer_to_socket(&transfer);
	EXPECT(r == -EPIPE || r == -ECONNRESET);
	close(transfer.file);
	eddy_close(fds[0]);
	return 0;
}

/* Receive `len` of the `sent` bytes into a file on `folder`, from `offset` on. */
static int receive(const char *folder, size_t sent, size_t len, uint64_t offset,
		   uint64_t *ret_moved)
{
	int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600), fds[2], r;
	struct peer peer = { .most = sent };
	struct eddy_transfer transfer = { .file = file, .offset = offset, .len = len };
	struct eddy_scope scope;
	unsigned char *bytes;

	tcp_pair(fds);
	transfer.socket = fds[0];
	peer.fd = fds[1];
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "peer", write_all, &peer);
	r = eddy_transfer_to_file(&transfer);
	eddy_scope_end(&scope);
	*ret_moved = transfer.moved;
	bytes = malloc(len + 1);
	EXPECT_EQ(pread(file, bytes, len + 1, (off_t)offset), transfer.moved);
	for (uint64_t i = 0; i < transfer.moved; i++)
		if (bytes[i] != byte_at(i)) {
			EXPECT_EQ(i, -1);
			break;
		}
	free(bytes);
	close(file);
	eddy_close(fds[0]);
	eddy_close(fds[1]);
	return r;
}

TASK_TEST(transfer, receives_into_files)
{
	static const char *const folders[] = { "/tmp", "/dev/shm" };
	uint64_t moved;

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		EXPECT_EQ(receive(folders[i], SIZE, SIZE, 0, &moved), 0);
		EXPECT_EQ(moved, SIZE);
		EXPECT_EQ(receive(folders[i], SIZE, SIZE - 7, 4097, &moved), 0);
		EXPECT_EQ(moved, SIZE - 7);
		EXPECT_EQ(receive(folders[i], 70000, 100000, 0, &moved), -ENODATA);
		EXPECT_EQ(moved, 70000);
		EXPECT_EQ(receive(folders[i], 10, 0, 0, &moved), 0);
	}
	return 0;
}

/* ---- what is known of a file ---- */

/* What is read in first of 100 bytes, when this is said to be known of their file. */
static uint64_t warmed_for(int file, uint64_t offset, struct eddy_warmth warmth)
{
	uint64_t before = eddy_transfer_stats().warmed;
	struct line line;

	open_line(&line, EDDY_TECHNIQUE_AUTO, file, 100);
	line.transfer.warmth = &warmth;
	EXPECT_EQ(send_line(&line, offset), 0);
	return eddy_transfer_stats().warmed - before;
}

/* The same, when they are cold. */
static uint64_t warmed_knowing(int file, uint64_t offset, struct eddy_warmth warmth)
{
	chill_at(file, offset);
	return warmed_for(file, offset, warmth);
}

/* Whether they are warmed. A disk may be so quick that what is asked for is there before the answer. */
static bool are_warmed_knowing(int file, uint64_t offset, struct eddy_warmth warmth)
{
	for (int tries = 0; tries < 50; tries++)
		if (warmed_knowing(file, offset, warmth) == 100)
			return true;
	return false;
}

/* That these bytes were cached in this turn, or some turns before. */
static struct eddy_warmth seen(uint64_t offset, uint64_t end, uint64_t turns_ago)
{
	return (struct eddy_warmth){ offset, end, eddy_loop_stats(NULL).turns - turns_ago };
}

TASK_TEST(transfer, what_was_cached_is_not_asked_again_in_this_turn)
{
	int file = make_file(SIZE);
	/* Pieces far from one another: what has been sent may stay in the page cache for as long as a socket has it. */
	uint64_t at = 5000, step = EDDY_MIB / 2;

	if (!chill(file)) {
		close(file);
		expect_skip("needs a /tmp on a disk");
		return 0;
	}
	EXPECT_EQ(warmed_knowing(file, at, seen(at, at + 100, 0)), 0);
	at += step;
	EXPECT_EQ(warmed_knowing(file, at, seen(0, SIZE, 0)), 0);
	at += step;
	EXPECT(are_warmed_knowing(file, at, seen(at, at + 100, 1)));
	at += step;
	EXPECT(are_warmed_knowing(file, at, seen(at + 1, SIZE, 0)));
	at += step;
	EXPECT(are_warmed_knowing(file, at, seen(0, at + 99, 0)));
	at += step;
	EXPECT(are_warmed_knowing(file, at, (struct eddy_warmth){ 0 }));
	close(file);
	return 0;
}

TASK_TEST(transfer, what_is_found_cached_is_known)
{
	struct eddy_warmth warmth = { 0 };
	int file = make_file(SIZE);
	struct line line;

	open_line(&line, EDDY_TECHNIQUE_AUTO, file, 70000);
	line.transfer.warmth = &warmth;
	EXPECT_EQ(send_line(&line, 100), 0);
	EXPECT_EQ(warmth.offset, 100);
	EXPECT_EQ(warmth.end, 70100);
	EXPECT(warmth.turn && warmth.turn <= eddy_loop_stats(NULL).turns);
	close(file);
	return 0;
}

/* Whether a cold byte is found cold. Not so if the disk is done before the question is: asking begins to read. */
static bool is_found_cold(int file, uint64_t offset)
{
	char byte;
	struct iovec iov = { &byte, 1 };

	chill_at(file, offset);
	return preadv2(file, &iov, 1, (off_t)offset, RWF_NOWAIT) < 0 && errno == EAGAIN;
}

/* Linux 6.14 tells of the page cache (cachestat) only who may write to the file. */
TASK_TEST(transfer, a_file_that_may_only_be_read_is_asked_as_well)
{
	int written = make_file(SIZE), other = make_file(SIZE), file;
	struct eddy_warmth nothing = { 0 };
	char path[64];
	uint64_t at = EDDY_MIB, warmed = 0;
	int found = 0;

	if (geteuid() != 0 || !chill(written)) {
		close(written);
		close(other);
		expect_skip("needs root, to be somebody else, and a /tmp on a disk");
		return 0;
	}
	/* Asks what the file system can do. That may read ahead, and so is done on another file. */
	warmed_for(other, 0, nothing);
	close(other);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", written);
	EXPECT_EQ(fchmod(written, 0644), 0);
	file = open(path, O_RDONLY | O_CLOEXEC);
	for (int tries = 0; tries < 50 && !warmed; tries++) {
		found += is_found_cold(written, at);
		chill_at(written, at);
		setfsuid(65534);
		warmed = warmed_for(file, at, nothing);
		setfsuid(0);
	}
	if (!warmed && found < 10) {
		close(file);
		close(written);
		expect_skip("needs a disk that is slower than a question about the page cache");
		return 0;
	}
	EXPECT_EQ(warmed, 100);
	setfsuid(65534);
	EXPECT_EQ(warmed_for(file, at, nothing), 0);
	setfsuid(0);
	close(file);
	close(written);
	return 0;
}
