/* Tests of eddy/technique.h, by transfers that take each of them. */
#include "../on_valgrind.h"
#include "moved.h"

#include <eddy/internal/transfer.h>

static const enum eddy_technique outward[] = {
	EDDY_TECHNIQUE_SPLICE,    EDDY_TECHNIQUE_RING_SPLICE, EDDY_TECHNIQUE_SENDFILE,
	EDDY_TECHNIQUE_READ_SEND, EDDY_TECHNIQUE_MMAP,        EDDY_TECHNIQUE_SEND_ZC,
};
/* Bytes that a technique has sent. */
static uint64_t sent_by(enum eddy_technique technique)
{
	struct eddy_transfer_stats stats = eddy_transfer_stats();

	switch (technique) {
	case EDDY_TECHNIQUE_SPLICE:
		return stats.spliced_out;
	case EDDY_TECHNIQUE_RING_SPLICE:
		return stats.ring_spliced_out;
	case EDDY_TECHNIQUE_SENDFILE:
		return stats.sendfile_out;
	case EDDY_TECHNIQUE_READ_SEND:
		return stats.read_sent_out;
	case EDDY_TECHNIQUE_MMAP:
		return stats.mapped_out;
	case EDDY_TECHNIQUE_SEND_ZC:
		return stats.zc_out;
	default:
		return 0;
	}
}

static uint64_t sent_by_all(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < COUNT(outward); i++)
		sum += sent_by(outward[i]);
	return sum;
}

/* ---- names and options ---- */

Test(technique, has_a_name)
{
	enum eddy_technique technique;

	for (int i = 0; i < EDDY_TECHNIQUES; i++) {
		const char *name = eddy_technique_name((enum eddy_technique)i);

		cr_assert_eq(eddy_technique_parse(eddy_str_from(name), &technique), 0);
		cr_assert_eq((int)technique, i);
	}
	cr_assert_eq(eddy_technique_parse(EDDY_STR("auto"), &technique), 0);
	cr_assert_eq(technique, EDDY_TECHNIQUE_AUTO);
	technique = EDDY_TECHNIQUE_MMAP;
	cr_assert_eq(eddy_technique_parse(EDDY_STR("splic"), &technique), -EINVAL);
	cr_assert_eq(eddy_technique_parse(EDDY_STR(""), &technique), -EINVAL);
	cr_assert_eq(technique, EDDY_TECHNIQUE_MMAP);
	cr_assert_str_eq(eddy_technique_name((enum eddy_technique)EDDY_TECHNIQUES), "?");
}

TASK_TEST(technique, options_are_checked_and_filled_in)
{
	static const struct eddy_transfer_options bad[] = {
		{ .technique = EDDY_TECHNIQUE_RECV_WRITE },
		{ .technique_in = EDDY_TECHNIQUE_SENDFILE },
		{ .technique_in = EDDY_TECHNIQUE_READ_SEND },
		{ .technique_in = EDDY_TECHNIQUE_MMAP },
		{ .technique_in = EDDY_TECHNIQUE_SEND_ZC },
		{ .technique_in = EDDY_TECHNIQUE_DONTCACHE },
		{ .technique = (enum eddy_technique)EDDY_TECHNIQUES },
		{ .technique = (enum eddy_technique) - 1 },
		{ .copied_out_max = EDDY_MIB + 1 },
		{ .turn_max = EDDY_MIB + 1 },
		{ .turn_max = 4095 },
		{ .pipe_size = 4095 },
		{ .pipe_size = EDDY_GIB + 1 },
		{ .pipes_kept = 1025 },
		{ .pipes_held_max = 1025 },
	};
	const struct eddy_transfer_options good = { .technique = EDDY_TECHNIQUE_MMAP,
						    .turn_max = 4096,
						    .pipes_kept = 1024 };

	EXPECT_EQ(eddy_transfer_configure(&good), 0);
	for (size_t i = 0; i < COUNT(bad); i++) {
		EXPECT_EQ(eddy_transfer_options_check(&bad[i]), -EINVAL);
		EXPECT_EQ(eddy_transfer_configure(&bad[i]), -EINVAL);
	}
	EXPECT_EQ(eddy_transfer_options()->technique, EDDY_TECHNIQUE_MMAP);
	EXPECT_EQ(eddy_transfer_options()->turn_max, 4096);
	EXPECT_EQ(eddy_transfer_options()->pipes_kept, 1024);
	EXPECT_EQ(eddy_transfer_options()->pipe_size, EDDY_MIB);
	EXPECT_EQ(eddy_transfer_configure(NULL), 0);
	EXPECT_EQ(eddy_transfer_options()->technique, EDDY_TECHNIQUE_AUTO);
	EXPECT_EQ(eddy_transfer_options()->turn_max, EDDY_MIB);
	EXPECT_EQ(eddy_transfer_options()->pipes_kept, 8);
	EXPECT_EQ(eddy_transfer_options()->sendfile_out_max, 64 * EDDY_KIB);
	return 0;
}

TASK_TEST(technique, small_bodies_are_copied_by_auto_alone)
{
	EXPECT(eddyi_transfer_copies_out(8 * EDDY_KIB));
	EXPECT(!eddyi_transfer_copies_out(8 * EDDY_KIB + 1));
	EXPECT(eddyi_transfer_copies_in(64 * EDDY_KIB - 1));
	EXPECT(!eddyi_transfer_copies_in(64 * EDDY_KIB));
	eddy_transfer_configure(
		&(struct eddy_transfer_options){ .copied_out_max = 100, .spliced_in_min = 200 });
	EXPECT(eddyi_transfer_copies_out(100));
	EXPECT(!eddyi_transfer_copies_out(101));
	EXPECT(eddyi_transfer_copies_in(199));
	EXPECT(!eddyi_transfer_copies_in(200));
	eddy_transfer_configure(&(struct eddy_transfer_options){
		.technique = EDDY_TECHNIQUE_SPLICE, .technique_in = EDDY_TECHNIQUE_SPLICE });
	EXPECT(!eddyi_transfer_copies_out(1));
	EXPECT(!eddyi_transfer_copies_in(1));
	return 0;
}

TASK_TEST(technique, pipes_are_as_the_options_say)
{
	struct eddyi_pipe *pipes[3], *again;
	int fds[3], kept = 0;

	eddy_transfer_configure(
		&(struct eddy_transfer_options){ .pipe_size = 256 * EDDY_KIB, .pipes_kept = 2 });
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(eddyi_pipe_take(&pipes[i]), 0);
		EXPECT_EQ(fcntl(pipes[i]->read_fd, F_GETPIPE_SZ), 256 * EDDY_KIB);
		fds[i] = pipes[i]->read_fd;
	}
	for (int i = 0; i < 3; i++)
		eddyi_pipe_put(pipes[i]);
	for (int i = 0; i < 3; i++)
		kept += fcntl(fds[i], F_GETFD) >= 0;
	EXPECT_EQ(kept, 2);
	/* Those of another size are of no use any more. */
	eddy_transfer_configure(
		&(struct eddy_transfer_options){ .pipe_size = 64 * EDDY_KIB, .pipes_held_max = 1 });
	EXPECT_EQ(eddyi_pipe_take(&again), 0);
	EXPECT_EQ(fcntl(again->read_fd, F_GETPIPE_SZ), 64 * EDDY_KIB);
	eddyi_pipe_put(again);
	EXPECT(eddyi_pipe_hold());
	EXPECT(!eddyi_pipe_hold());
	eddyi_pipe_release();
	return 0;
}

/* ---- to a socket ---- */

/* `asked` is to become `technique`. */
static void send_as(enum eddy_technique asked, enum eddy_technique technique, int file,
		    uint64_t offset, uint64_t len, uint64_t pause_ns)
{
	uint64_t before = sent_by(technique), before_all = sent_by_all();
	int small = 65536;
	struct line line;

	open_line(&line, asked, file, len);
	line.peer.pause_ns = pause_ns;
	if (pause_ns)
		setsockopt(line.fds[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	EXPECT_EQ(send_line(&line, offset), 0);
	EXPECT_EQ(line.transfer.moved, len);
	EXPECT_EQ(sent_by(technique) - before, len);
	EXPECT_EQ(sent_by_all() - before_all, len);
}

static void send_whole(enum eddy_technique technique, int file, uint64_t offset, uint64_t len,
		       uint64_t pause_ns)
{
	send_as(technique, technique, file, offset, len, pause_ns);
}

static void send_by_auto(enum eddy_technique technique, int file, uint64_t len)
{
	send_as(EDDY_TECHNIQUE_AUTO, technique, file, 0, len, 0);
}

TASK_TEST(technique, each_sends_every_piece_whole)
{
	static const char *const folders[] = { "/tmp", "/dev/shm" };
	static const struct {
		uint64_t offset, len;
	} pieces[] = { { 0, 0 },        { 0, 1 },        { 1, SIZE - 1 }, { 4095, 2 },
		       { 5000, 65537 }, { 1, EDDY_MIB }, { SIZE - 1, 1 } };

	for (size_t f = 0; f < COUNT(folders); f++) {
		int file = make_file_in(folders[f], SIZE);

		for (size_t i = 0; i < COUNT(outward); i++)
			for (size_t p = 0; p < COUNT(pieces); p++)
				send_whole(outward[i], file, pieces[p].offset, pieces[p].len, 0);
		close(file);
	}
	return 0;
}

TASK_TEST(technique, auto_goes_by_size)
{
	int file = make_file(SIZE);

	send_by_auto(EDDY_TECHNIQUE_SENDFILE, file, 64 * EDDY_KIB);
	send_by_auto(EDDY_TECHNIQUE_SPLICE, file, 64 * EDDY_KIB + 1);
	eddy_transfer_configure(&(struct eddy_transfer_options){ .sendfile_out_max = 100 });
	send_by_auto(EDDY_TECHNIQUE_SENDFILE, file, 100);
	send_by_auto(EDDY_TECHNIQUE_SPLICE, file, 101);
	eddy_transfer_configure(
		&(struct eddy_transfer_options){ .technique = EDDY_TECHNIQUE_READ_SEND });
	send_by_auto(EDDY_TECHNIQUE_READ_SEND, file, 100);
	eddy_transfer_configure(NULL);
	/* Who asks for one by name has it. */
	send_whole(EDDY_TECHNIQUE_SPLICE, file, 0, 100, 0);
	close(file);
	return 0;
}

/* ---- past the page cache ---- */

#define RWF_UNCACHED 0x80
#define PAGES ((SIZE + 4095) / 4096)

static bool can_bypass(int file)
{
	char byte;
	struct iovec iov = { &byte, 1 };

	return preadv2(file, &iov, 1, 0, RWF_UNCACHED) == 1;
}

static size_t cached_pages(int file)
{
	static unsigned char pages[PAGES];
	void *at = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, file, 0);
	size_t count = 0;

	EXPECT_EQ(mincore(at, SIZE, pages), 0);
	for (size_t i = 0; i < PAGES; i++)
		count += pages[i] & 1;
	munmap(at, SIZE);
	return count;
}

static void drop_pages(int file)
{
	EXPECT_EQ(fsync(file), 0);
	posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
}

static void cache_pages(int file)
{
	EXPECT_EQ(posix_fadvise(file, 0, 0, POSIX_FADV_WILLNEED), 0);
	while (cached_pages(file) < PAGES)
		eddy_sleep(EDDY_MS);
}

static uint64_t sent_past_cache(void)
{
	return eddy_transfer_stats().dontcache_out;
}

/* Return: how many of the bytes went past the page cache. */
static uint64_t send_some(enum eddy_technique technique, int file, uint64_t offset, uint64_t len)
{
	uint64_t before = sent_past_cache(), before_all = sent_by_all();
	struct line line;

	open_line(&line, technique, file, len);
	EXPECT_EQ(send_line(&line, offset), 0);
	EXPECT_EQ(line.transfer.moved, len);
	EXPECT_EQ(sent_past_cache() - before + sent_by_all() - before_all, len);
	return sent_past_cache() - before;
}

/* Whether a file, cached or not, is sent with so many bytes past the page cache, which then has so many of
 * its pages. Other programs may empty the cache meanwhile, or hold pages: one of several tries counts. */
static bool sends(enum eddy_technique technique, int file, bool cached, uint64_t past, size_t pages)
{
	for (int tries = 0; tries < 5; tries++) {
		if (cached)
			cache_pages(file);
		else
			drop_pages(file);
		if (send_some(technique, file, 0, SIZE) == past && cached_pages(file) == pages)
			return true;
	}
	return false;
}

TASK_TEST(technique, dontcache_leaves_the_page_cache_as_it_was)
{
	int file = make_file(SIZE);

	/* Every piece comes whole. */
	send_some(EDDY_TECHNIQUE_DONTCACHE, file, 0, 0);
	send_some(EDDY_TECHNIQUE_DONTCACHE, file, SIZE - 1, 1);
	send_some(EDDY_TECHNIQUE_DONTCACHE, file, 5000, 65537);
	send_some(EDDY_TECHNIQUE_DONTCACHE, file, 2 * EDDY_MIB - 1, 2);
	if (can_bypass(file)) {
		EXPECT(sends(EDDY_TECHNIQUE_DONTCACHE, file, false, SIZE, 0));
		EXPECT(sends(EDDY_TECHNIQUE_DONTCACHE, file, true, SIZE, PAGES));
	}
	close(file);
	return 0;
}

TASK_TEST(technique, dontcache_is_splice_where_it_is_not_supported)
{
	int file = make_file_in("/dev/shm", SIZE);

	EXPECT(!can_bypass(file));
	send_as(EDDY_TECHNIQUE_DONTCACHE, EDDY_TECHNIQUE_SPLICE, file, 0, SIZE, 0);
	/* Nothing is held. */
	eddy_transfer_configure(&(struct eddy_transfer_options){ .pipes_held_max = 1 });
	EXPECT(eddyi_pipe_hold());
	eddyi_pipe_release();
	close(file);
	return 0;
}

TASK_TEST(technique, auto_caches_no_file_that_is_too_large)
{
	int file = make_file(SIZE);

	eddy_transfer_configure(&(struct eddy_transfer_options){ .uncached_min = SIZE });
	/* valgrind reads the first pages of a file that is mapped, as it is to see what is cached. */
	if (can_bypass(file) && !RUNNING_ON_VALGRIND) {
		/* The file counts, not its part. */
		drop_pages(file);
		EXPECT_EQ(send_some(EDDY_TECHNIQUE_AUTO, file, 100, EDDY_MIB), EDDY_MIB);
		EXPECT(sends(EDDY_TECHNIQUE_AUTO, file, false, SIZE, 0));
		/* A cached file is spliced. */
		EXPECT(sends(EDDY_TECHNIQUE_AUTO, file, true, 0, PAGES));
	}
	for (int i = 0; i < 2; i++) {
		eddy_transfer_configure(&(struct eddy_transfer_options){
			.uncached_min = i ? SIZE + 1 : EDDY_NEVER });
		EXPECT(sends(EDDY_TECHNIQUE_AUTO, file, false, 0, PAGES));
	}
	close(file);
	return 0;
}

TASK_TEST(technique, memory_of_the_process_sets_what_is_too_large)
{
	int file = make_file(SIZE);

	drop_pages(file);
	EXPECT_EQ(send_some(EDDY_TECHNIQUE_AUTO, file, 0, SIZE), 0);
	if (can_bypass(file)) {
		eddyi_transfer_set_memory(2 * SIZE);
		drop_pages(file);
		EXPECT_EQ(send_some(EDDY_TECHNIQUE_AUTO, file, 0, SIZE), SIZE);
	}
	close(file);
	return 0;
}

TASK_TEST(technique, each_waits_for_a_slow_peer)
{
	int file = make_file(SIZE), before;

	for (size_t i = 0; i < COUNT(outward); i++) {
		before = open_descriptors();
		send_whole(outward[i], file, 3, SIZE - 3, EDDY_MS / 8);
		/* A pipe, and where it is drained to. */
		EXPECT(open_descriptors() <= before + 3);
	}
	close(file);
	return 0;
}

TASK_TEST(technique, each_says_when_the_file_ends_first)
{
	int file = make_file(70000);

	for (size_t i = 0; i < COUNT(outward); i++) {
		struct line line;

		open_line(&line, outward[i], file, 90000);
		EXPECT_EQ(send_line(&line, 0), -ENODATA);
		EXPECT_EQ(line.transfer.moved, 70000);
		open_line(&line, outward[i], file, 1);
		EXPECT_EQ(send_line(&line, 70000), -ENODATA);
		EXPECT_EQ(line.transfer.moved, 0);
	}
	close(file);
	return 0;
}

TASK_TEST(technique, each_is_cancelled_while_the_peer_does_not_read)
{
	int file = make_file(SIZE);

	for (size_t i = 0; i < COUNT(outward); i++) {
		struct eddy_scope scope;
		struct line line;
		int small = 65536;

		open_line(&line, outward[i], file, SIZE);
		setsockopt(line.fds[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
		setsockopt(line.fds[1], SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
		eddy_scope_begin(&scope,
				 &(struct eddy_scope_options){ .timeout_ns = 20 * EDDY_MS });
		EXPECT_EQ(eddy_transfer_to_socket(&line.transfer), -ECANCELED);
		EXPECT_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
		EXPECT(line.transfer.moved < SIZE);
		close_line(&line);
	}
	close(file);
	return 0;
}

static int send_all_of_it(void *arg)
{
	struct line *line = arg;

	eddy_transfer_to_socket(&line->transfer);
	return 0;
}

/* The transfer is cancelled at some moment. Return: how many bytes it counted. */
static uint64_t send_for(unsigned moment, enum eddy_technique technique, int file)
{
	struct eddy_scope peer;
	struct line line;

	open_line(&line, technique, file, SIZE);
	make_small(line.fds[0]);
	eddy_scope_begin(&peer, NULL);
	eddy_scope_spawn(&peer, "peer", read_all, &line.peer);
	eddy_scope_begin(&line.scope, NULL);
	eddy_scope_spawn(&line.scope, "sending", send_all_of_it, &line);
	cancel_at(&line, moment);
	eddy_shutdown(line.fds[0], SHUT_WR);
	eddy_scope_join(&peer);
	eddy_scope_end(&peer);
	EXPECT(!line.peer.wrong);
	EXPECT_EQ(line.peer.got, line.transfer.moved);
	close_line(&line);
	return line.transfer.moved;
}

/* What the socket took is counted. */
TASK_TEST(technique, each_counts_what_was_sent_before_it_was_cancelled)
{
	int file = make_file(SIZE);
	unsigned seed = 18;

	for (size_t i = 0; i < COUNT(outward); i++) {
		unsigned cut = 0;

		/* That one resets the connection, and the peer loses what it has not read. */
		if (outward[i] == EDDY_TECHNIQUE_SEND_ZC)
			continue;
		for (unsigned tries = 0; tries < 200 && cut < CUTS; tries++) {
			uint64_t moved = send_for((unsigned)rand_r(&seed), outward[i], file);

			cut += moved > 0 && moved < SIZE;
		}
		EXPECT_EQ(cut, CUTS);
	}
	close(file);
	return 0;
}

TASK_TEST(technique, each_begins_nothing_when_cancelled_before)
{
	int file = make_file(SIZE);

	for (size_t i = 0; i < COUNT(outward); i++) {
		struct eddy_scope scope;
		struct line line;

		open_line(&line, outward[i], file, SIZE);
		eddy_scope_begin(&scope, NULL);
		eddy_scope_cancel(&scope);
		EXPECT_EQ(eddy_transfer_to_socket(&line.transfer), -ECANCELED);
		eddy_scope_end(&scope);
		EXPECT_EQ(line.transfer.moved, 0);
		close_line(&line);
	}
	close(file);
	return 0;
}

TASK_TEST(technique, each_tells_of_a_peer_that_left)
{
	int file = make_file(SIZE);

	for (size_t i = 0; i < COUNT(outward); i++) {
		struct linger reset = { 1, 0 };
		struct line line;
		int r;

		open_line(&line, outward[i], file, SIZE);
		setsockopt(line.fds[1], SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
		eddy_close(line.fds[1]);
		r = eddy_transfer_to_socket(&line.transfer);
		EXPECT(r == -EPIPE || r == -ECONNRESET);
		eddy_close(line.fds[0]);
	}
	close(file);
	return 0;
}

/* Send a cold file. Return: how many bytes of it were warmed. */
static uint64_t warmed_by(enum eddy_technique technique, int file)
{
	uint64_t before = eddy_transfer_stats().warmed;

	chill_at(file, 0);
	send_whole(technique, file, 0, SIZE, 0);
	return eddy_transfer_stats().warmed - before;
}

/* Whether a cold file is warmed. A disk may be so quick that what is asked for is there before the answer. */
static bool is_warmed_by(enum eddy_technique technique, int file)
{
	for (int tries = 0; tries < 20; tries++)
		if (warmed_by(technique, file))
			return true;
	return false;
}

TASK_TEST(technique, what_is_cold_is_warmed_unless_a_worker_waits_for_it)
{
	int file = make_file(SIZE);

	if (!chill(file)) {
		close(file);
		expect_skip("needs a /tmp on a disk");
		return 0;
	}
	for (size_t i = 0; i < COUNT(outward); i++) {
		if (outward[i] == EDDY_TECHNIQUE_RING_SPLICE)
			EXPECT_EQ(warmed_by(outward[i], file), 0);
		else
			EXPECT(is_warmed_by(outward[i], file));
	}
	eddy_transfer_configure(&(struct eddy_transfer_options){ .no_warming = true });
	for (size_t i = 0; i < COUNT(outward); i++)
		EXPECT_EQ(warmed_by(outward[i], file), 0);
	close(file);
	return 0;
}

TASK_TEST(technique, zero_copy_over_the_loopback_is_none)
{
	struct eddy_transfer_stats before = eddy_transfer_stats(), after;
	int file = make_file(SIZE);

	send_whole(EDDY_TECHNIQUE_SEND_ZC, file, 0, SIZE, 0);
	after = eddy_transfer_stats();
	if (kernel_is("6.2"))
		EXPECT_EQ(after.zc_copied - before.zc_copied, SIZE);
	else
		expect_skip("needs Linux 6.2, which reports it");
	close(file);
	return 0;
}

TASK_TEST(technique, zero_copy_is_a_mapping_where_a_socket_has_none)
{
	struct eddy_transfer transfer = { .file = make_file(3000),
					  .len = 3000,
					  .technique = EDDY_TECHNIQUE_SEND_ZC };
	unsigned char bytes[3000];
	int fds[2];

	stream_pair(fds);
	transfer.socket = fds[0];
	EXPECT_EQ(eddy_transfer_to_socket(&transfer), 0);
	EXPECT_EQ(eddy_transfer_stats().zc_out, 0);
	EXPECT_EQ(eddy_transfer_stats().mapped_out, 3000);
	EXPECT_EQ(read(fds[1], bytes, sizeof(bytes)), 3000);
	for (size_t i = 0; i < sizeof(bytes); i++)
		if (bytes[i] != byte_at(i)) {
			EXPECT_EQ(i, -1);
			break;
		}
	close(transfer.file);
	close(fds[0]);
	close(fds[1]);
	return 0;
}

TASK_TEST(technique, ring_splice_takes_no_more_pipes_than_it_may)
{
	int file = make_file(SIZE);
	struct line line;

	hold_all();
	open_line(&line, EDDY_TECHNIQUE_RING_SPLICE, file, SIZE);
	EXPECT_EQ(send_line(&line, 0), 0);
	EXPECT_EQ(eddy_transfer_stats().ring_spliced_out, 0);
	EXPECT_EQ(eddy_transfer_stats().spliced_out, SIZE);
	close(file);
	return 0;
}

TASK_TEST(technique, splices_are_copies_where_descriptors_have_run_out)
{
	int file = make_file(SIZE);
	struct line line;

	for (size_t i = 0; i < 2; i++) {
		open_line(&line, outward[i], file, SIZE);
		allow_descriptors(false);
		EXPECT_EQ(send_line(&line, 0), 0);
		allow_descriptors(true);
		EXPECT_EQ(sent_by(outward[i]), 0);
		EXPECT_EQ(eddy_transfer_stats().read_sent_out, (i + 1) * SIZE);
	}
	close(file);
	return 0;
}

struct sending {
	struct line line;
	int result;
};

static int send_to_nobody(void *arg)
{
	struct sending *sending = arg;

	sending->result = eddy_transfer_to_socket(&sending->line.transfer);
	return 0;
}

#define STALLED 40

static bool all_stall(uint64_t stalls)
{
	return eddy_transfer_stats().stalls >= stalls + STALLED;
}

/* Those for whom nobody reads. What a pool of pipes keeps is no more than before the first of them. */
static void stall(enum eddy_technique technique, int file)
{
	static struct sending sendings[STALLED];
	uint64_t stalls = eddy_transfer_stats().stalls;
	struct eddy_scope scope;
	int most, small = 65536;
	uint64_t until;

	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < STALLED; i++) {
		open_line(&sendings[i].line, technique, file, SIZE);
		setsockopt(sendings[i].line.fds[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
		setsockopt(sendings[i].line.fds[1], SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	}
	most = open_descriptors() + 2 * 8 + 1;
	until = eddy_now() + 20 * EDDY_SECOND;
	for (int i = 0; i < STALLED; i++)
		eddy_scope_spawn(&scope, "sending", send_to_nobody, &sendings[i]);
	/* One may stall twice before another does once, so the count alone does not tell that all wait. */
	while ((!all_stall(stalls) || open_descriptors() > most) && eddy_now() < until)
		eddy_yield();
	EXPECT(all_stall(stalls));
	EXPECT(open_descriptors() <= most);
	eddy_scope_cancel(&scope);
	eddy_scope_end(&scope);
	for (int i = 0; i < STALLED; i++) {
		EXPECT_EQ(sendings[i].result, -ECANCELED);
		close_line(&sendings[i].line);
	}
}

TASK_TEST(technique, who_is_stalled_holds_no_pipe)
{
	int file = make_file(SIZE);

	for (size_t i = 0; i < COUNT(outward); i++)
		/* That one waits on the ring. */
		if (outward[i] != EDDY_TECHNIQUE_SEND_ZC)
			stall(outward[i], file);
	close(file);
	return 0;
}

/* Memory is held by so many of them at a time; the others are spliced. */
TASK_TEST(technique, who_is_stalled_past_the_cache_holds_little)
{
	int file = make_file(SIZE);

	stall(EDDY_TECHNIQUE_DONTCACHE, file);
	if (can_bypass(file))
		EXPECT(sent_past_cache() > 0 && sent_by(EDDY_TECHNIQUE_SPLICE) > 0);
	eddy_transfer_configure(&(struct eddy_transfer_options){ .pipes_held_max = 1 });
	EXPECT(eddyi_pipe_hold());
	eddyi_pipe_release();
	close(file);
	return 0;
}

TASK_TEST(technique, that_goes_the_other_way_is_refused)
{
	struct eddy_transfer transfer = { .len = 1, .technique = EDDY_TECHNIQUE_RECV_WRITE };
	static const enum eddy_technique out_only[] = { EDDY_TECHNIQUE_SENDFILE,
							EDDY_TECHNIQUE_READ_SEND,
							EDDY_TECHNIQUE_MMAP, EDDY_TECHNIQUE_SEND_ZC,
							EDDY_TECHNIQUE_DONTCACHE };

	EXPECT_EQ(eddy_transfer_to_socket(&transfer), -EINVAL);
	for (size_t i = 0; i < COUNT(out_only); i++) {
		transfer.technique = out_only[i];
		EXPECT_EQ(eddy_transfer_to_file(&transfer), -EINVAL);
	}
	return 0;
}
