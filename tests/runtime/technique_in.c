/* Tests of eddy/technique.h: from sockets to files. */
#include "moved.h"

static const enum eddy_technique inward[] = {
	EDDY_TECHNIQUE_SPLICE,
	EDDY_TECHNIQUE_RING_SPLICE,
	EDDY_TECHNIQUE_RECV_WRITE,
};

static uint64_t received_by(enum eddy_technique technique)
{
	struct eddy_transfer_stats stats = eddy_transfer_stats();

	if (technique == EDDY_TECHNIQUE_SPLICE)
		return stats.spliced_in;
	return technique == EDDY_TECHNIQUE_RING_SPLICE ? stats.ring_spliced_in : stats.received_in;
}

static bool refuse_descriptors;

/* Whether these bytes of the file are those that were sent. */
static bool has_pattern(int file, off_t offset, size_t len)
{
	unsigned char *bytes = malloc(len + 1);
	bool right = pread(file, bytes, len, offset) == (ssize_t)len;

	for (size_t i = 0; right && i < len; i++)
		right = bytes[i] == byte_at(i);
	free(bytes);
	return right;
}

static int receive_into(int file, enum eddy_technique technique, size_t sent, size_t len,
			uint64_t *ret_moved)
{
	struct line line;
	int r;

	open_line(&line, technique, file, len);
	line.transfer.offset = 4097;
	line.peer.most = sent;
	eddy_scope_begin(&line.scope, NULL);
	eddy_scope_spawn(&line.scope, "peer", write_all, &line.peer);
	allow_descriptors(!refuse_descriptors);
	r = eddy_transfer_to_file(&line.transfer);
	allow_descriptors(true);
	eddy_scope_end(&line.scope);
	*ret_moved = line.transfer.moved;
	EXPECT_EQ(lseek(file, 0, SEEK_END), *ret_moved ? 4097 + *ret_moved : 0);
	EXPECT(has_pattern(file, 4097, *ret_moved));
	close_line(&line);
	return r;
}

static int receive_at(const char *folder, enum eddy_technique technique, size_t sent, size_t len,
		      uint64_t *ret_moved)
{
	int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	int r = receive_into(file, technique, sent, len, ret_moved);

	close(file);
	return r;
}

TASK_TEST(technique_in, each_receives_into_files)
{
	static const char *const folders[] = { "/tmp", "/dev/shm" };
	uint64_t moved;

	for (size_t f = 0; f < COUNT(folders); f++) {
		for (size_t i = 0; i < COUNT(inward); i++) {
			uint64_t before = received_by(inward[i]);

			EXPECT_EQ(receive_at(folders[f], inward[i], SIZE, SIZE, &moved), 0);
			EXPECT_EQ(moved, SIZE);
			EXPECT_EQ(received_by(inward[i]) - before, SIZE);
			EXPECT_EQ(receive_at(folders[f], inward[i], 70000, 100000, &moved),
				  -ENODATA);
			EXPECT_EQ(moved, 70000);
			EXPECT_EQ(receive_at(folders[f], inward[i], 10, 0, &moved), 0);
			EXPECT_EQ(received_by(inward[i]) - before, SIZE + 70000);
		}
	}
	return 0;
}

TASK_TEST(technique_in, each_tells_of_a_file_that_takes_nothing)
{
	for (size_t i = 0; i < COUNT(inward); i++) {
		int file = open("/dev/full", O_WRONLY | O_CLOEXEC);
		struct line line;

		open_line(&line, inward[i], file, 100000);
		line.peer.most = 1000;
		EXPECT_EQ(write_all(&line.peer), 0);
		EXPECT(eddy_transfer_to_file(&line.transfer) < 0);
		EXPECT_EQ(line.transfer.moved, 0);
		close_line(&line);
		close(file);
	}
	return 0;
}

TASK_TEST(technique_in, each_is_cancelled_while_nobody_sends)
{
	for (size_t i = 0; i < COUNT(inward); i++) {
		int file = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
		struct eddy_scope scope;
		struct line line;

		open_line(&line, inward[i], file, 1000);
		eddy_scope_begin(&scope,
				 &(struct eddy_scope_options){ .timeout_ns = 10 * EDDY_MS });
		EXPECT_EQ(eddy_transfer_to_file(&line.transfer), -ECANCELED);
		EXPECT_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
		close_line(&line);
		close(file);
	}
	return 0;
}

/* ---- cancelled at any moment ---- */

struct feeding {
	int fd;
	size_t sent;
};

static int feed(void *arg)
{
	struct feeding *feeding = arg;
	unsigned char *bytes = malloc(SIZE);
	ssize_t r = 1;

	for (size_t i = 0; i < SIZE; i++)
		bytes[i] = byte_at(i);
	while (feeding->sent < SIZE && r > 0) {
		r = eddy_send(feeding->fd, bytes + feeding->sent, SIZE - feeding->sent, 0);
		if (r > 0)
			feeding->sent += (size_t)r;
	}
	free(bytes);
	return 0;
}

static int result;

static int receive_line(void *arg)
{
	struct line *line = arg;

	result = eddy_transfer_to_file(&line->transfer);
	return 0;
}

/* Bytes that are left in a socket whose peer sends no more. */
static size_t left_in(int fd)
{
	char buf[65536];
	size_t left = 0;
	ssize_t r;

	while ((r = eddy_recv(fd, buf, sizeof(buf), 0)) > 0)
		left += (size_t)r;
	EXPECT_EQ(r, 0);
	return left;
}

/* The upload is cancelled at some moment. Return: how many bytes the file got. */
static uint64_t receive_for(unsigned moment, const char *folder, enum eddy_technique technique)
{
	int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	struct feeding feeding = { 0 };
	struct eddy_scope peer;
	struct line line;
	uint64_t moved;

	open_line(&line, technique, file, SIZE);
	feeding.fd = line.fds[1];
	make_small(line.fds[0]);
	make_small(line.fds[1]);
	eddy_scope_begin(&peer, NULL);
	eddy_scope_spawn(&peer, "peer", feed, &feeding);
	eddy_scope_begin(&line.scope, NULL);
	eddy_scope_spawn(&line.scope, "upload", receive_line, &line);
	cancel_at(&line, moment);
	eddy_scope_end(&peer);
	eddy_shutdown(line.fds[1], SHUT_WR);
	moved = line.transfer.moved;
	EXPECT_EQ(result, moved == SIZE ? 0 : -ECANCELED);
	EXPECT_EQ(feeding.sent - left_in(line.fds[0]), moved);
	EXPECT_EQ(lseek(file, 0, SEEK_END), moved);
	EXPECT(has_pattern(file, 0, moved));
	close_line(&line);
	close(file);
	return moved;
}

/* What was taken off the socket is in the file, and counted. */
TASK_TEST(technique_in, a_cancelled_upload_loses_no_byte)
{
	static const char *const folders[] = { "/tmp", "/dev/shm" };
	unsigned seed = 18;

	/* Small pieces are many moments. Every write to a disk is slow by this. */
	eddy_transfer_configure(
		&(struct eddy_transfer_options){ .turn_max = 128 * EDDY_KIB, .slow_write_ns = 1 });
	for (size_t f = 0; f < COUNT(folders); f++) {
		for (size_t i = 0; i < COUNT(inward); i++) {
			unsigned cut = 0;

			for (unsigned tries = 0; tries < 200 && cut < CUTS; tries++) {
				uint64_t moved =
					receive_for((unsigned)rand_r(&seed), folders[f], inward[i]);

				cut += moved > 0 && moved < SIZE;
			}
			EXPECT_EQ(cut, CUTS);
		}
	}
	return 0;
}

TASK_TEST(technique_in, each_begins_nothing_when_cancelled_before)
{
	for (size_t i = 0; i < COUNT(inward); i++) {
		int file = make_file(0);
		struct line line;

		open_line(&line, inward[i], file, 4);
		EXPECT_EQ(write(line.fds[1], "byte", 4), 4);
		eddy_scope_begin(&line.scope, NULL);
		eddy_scope_cancel(&line.scope);
		EXPECT_EQ(eddy_transfer_to_file(&line.transfer), -ECANCELED);
		eddy_scope_end(&line.scope);
		EXPECT_EQ(line.transfer.moved, 0);
		shutdown(line.fds[1], SHUT_WR);
		EXPECT_EQ(left_in(line.fds[0]), 4);
		close_line(&line);
		close(file);
	}
	return 0;
}

#define IDLE 40

static int receive_idle(void *arg)
{
	struct line *line = arg;

	EXPECT_EQ(eddy_transfer_to_file(&line->transfer), -ECANCELED);
	return 0;
}

/* The kernel has few workers for ring-splice. */
TASK_TEST(technique_in, idle_uploads_hold_back_nobody)
{
	static struct line lines[IDLE];
	uint64_t stalls = eddy_transfer_stats().stalls, moved;
	struct eddy_scope idle, limit;
	int file = make_file(0);

	eddy_scope_begin(&idle, NULL);
	for (int i = 0; i < IDLE; i++) {
		open_line(&lines[i], EDDY_TECHNIQUE_RING_SPLICE, file, SIZE);
		/* That it does not block is asked of a socket, but here nothing hangs by it. */
		if (i % 2)
			fcntl(lines[i].fds[0], F_SETFL, 0);
		eddy_scope_spawn(&idle, "idle", receive_idle, &lines[i]);
	}
	while (eddy_transfer_stats().stalls < stalls + IDLE)
		eddy_sleep(0);
	eddy_scope_begin(&limit, &(struct eddy_scope_options){ .timeout_ns = 20 * EDDY_SECOND });
	EXPECT_EQ(receive_at("/dev/shm", EDDY_TECHNIQUE_RING_SPLICE, SIZE, SIZE, &moved), 0);
	EXPECT_EQ(eddy_scope_end(&limit), 0);
	eddy_scope_end(&idle);
	for (int i = 0; i < IDLE; i++)
		close_line(&lines[i]);
	close(file);
	return 0;
}

/* What is in memory is never slow. */
static bool has_disk(void)
{
	struct statfs fs;

	if (statfs("/tmp", &fs) == 0 && is_on_disk(&fs))
		return true;
	expect_skip("needs a /tmp on a disk");
	return false;
}

TASK_TEST(technique_in, a_slow_disk_is_written_by_workers)
{
	struct eddy_transfer_stats stats;
	uint64_t moved;

	if (!has_disk())
		return 0;
	/* Every write is slow by this. */
	eddy_transfer_configure(&(struct eddy_transfer_options){ .slow_write_ns = 1 });
	EXPECT_EQ(receive_at("/tmp", EDDY_TECHNIQUE_AUTO, SIZE, SIZE, &moved), 0);
	stats = eddy_transfer_stats();
	EXPECT_EQ(stats.spliced_in, SIZE);
	/* All but the first, which showed it. */
	EXPECT(stats.written_by_ring >= SIZE - EDDY_MIB);
	EXPECT(stats.written_by_ring < SIZE);
	EXPECT_EQ(receive_at("/tmp", EDDY_TECHNIQUE_RECV_WRITE, SIZE, SIZE, &moved), 0);
	EXPECT_EQ(eddy_transfer_stats().received_in, SIZE);
	/* When so many wait for disks that no pipe is left: through memory. */
	hold_all();
	EXPECT_EQ(receive_at("/tmp", EDDY_TECHNIQUE_AUTO, SIZE, SIZE, &moved), 0);
	EXPECT(eddy_transfer_stats().received_in >= stats.received_in + SIZE - EDDY_MIB);
	EXPECT_EQ(receive_at("/tmp", EDDY_TECHNIQUE_RING_SPLICE, SIZE, SIZE, &moved), 0);
	EXPECT_EQ(eddy_transfer_stats().ring_spliced_in, 0);
	return 0;
}

TASK_TEST(technique_in, splices_are_copies_where_descriptors_have_run_out)
{
	uint64_t moved;

	for (size_t i = 0; i < 2; i++) {
		int file = make_file(0);

		refuse_descriptors = true;
		EXPECT_EQ(receive_into(file, inward[i], SIZE, SIZE, &moved), 0);
		refuse_descriptors = false;
		EXPECT_EQ(received_by(inward[i]), 0);
		EXPECT_EQ(eddy_transfer_stats().received_in, (i + 1) * SIZE);
		close(file);
	}
	return 0;
}

TASK_TEST(technique_in, a_slow_disk_holds_the_loop_once)
{
	uint64_t began = eddy_now(), moved, by_ring;

	if (!has_disk())
		return 0;
	eddy_transfer_configure(&(struct eddy_transfer_options){ .slow_write_ns = 1 });
	EXPECT_EQ(receive_at("/tmp", EDDY_TECHNIQUE_AUTO, SIZE, SIZE, &moved), 0);
	by_ring = eddy_transfer_stats().written_by_ring;
	/* The next ones know, unless this machine is so busy that a second has gone by. */
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(receive_at("/tmp", EDDY_TECHNIQUE_AUTO, SIZE, SIZE, &moved), 0);
		if (eddy_now() - began < EDDY_SECOND)
			EXPECT_EQ(eddy_transfer_stats().written_by_ring, by_ring + SIZE);
		by_ring = eddy_transfer_stats().written_by_ring;
	}
	/* In memory there is none. */
	EXPECT_EQ(receive_at("/dev/shm", EDDY_TECHNIQUE_AUTO, SIZE, SIZE, &moved), 0);
	EXPECT_EQ(eddy_transfer_stats().written_by_ring, by_ring);
	/* It may have become quicker. */
	EXPECT_EQ(eddy_sleep(EDDY_SECOND), 0);
	EXPECT_EQ(receive_at("/tmp", EDDY_TECHNIQUE_AUTO, SIZE, SIZE, &moved), 0);
	EXPECT(eddy_transfer_stats().written_by_ring < by_ring + SIZE);
	return 0;
}

TASK_TEST(technique_in, memory_is_no_slow_disk)
{
	uint64_t moved;

	eddy_transfer_configure(&(struct eddy_transfer_options){ .slow_write_ns = 1 });
	EXPECT_EQ(receive_at("/dev/shm", EDDY_TECHNIQUE_AUTO, SIZE, SIZE, &moved), 0);
	EXPECT_EQ(moved, SIZE);
	EXPECT_EQ(eddy_transfer_stats().written_by_ring, 0);
	return 0;
}
