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

static int receive_into(int file, enum eddy_technique technique, size_t sent, size_t len,
			uint64_t *ret_moved)
{
	struct line line;
	unsigned char *bytes = malloc(len + 1);
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
	EXPECT_EQ(pread(file, bytes, len + 1, 4097), *ret_moved);
	for (uint64_t i = 0; i < *ret_moved; i++)
		if (bytes[i] != byte_at(i)) {
			EXPECT_EQ(i, -1);
			break;
		}
	free(bytes);
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
	uint64_t moved, by_ring;

	if (!has_disk())
		return 0;
	eddy_transfer_configure(&(struct eddy_transfer_options){ .slow_write_ns = 1 });
	EXPECT_EQ(receive_at("/tmp", EDDY_TECHNIQUE_AUTO, SIZE, SIZE, &moved), 0);
	by_ring = eddy_transfer_stats().written_by_ring;
	/* Who comes next knows. */
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(receive_at("/tmp", EDDY_TECHNIQUE_AUTO, SIZE, SIZE, &moved), 0);
		by_ring += SIZE;
		EXPECT_EQ(eddy_transfer_stats().written_by_ring, by_ring);
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
