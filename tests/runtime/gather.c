#include "failing.h"
#include "moved.h"

#include <eddy/internal/gather.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define PAGE ((size_t)4096)

/* What is sent together, and the socket it goes to. */
struct sent {
	struct eddyi_gather gather;
	struct eddy_str rest;
	int ends[2];
};

static void open_sent(struct sent *sent)
{
	sent->gather.pipe = NULL;
	EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, sent->ends),
		  0);
	EXPECT(eddyi_gather_begin(&sent->gather, SIZE_MAX));
}

static int send_all(struct sent *sent)
{
	return eddyi_gather_send(&sent->gather, sent->ends[0], &sent->rest);
}

static void close_sent(struct sent *sent)
{
	free((char *)sent->rest.ptr);
	close(sent->ends[0]);
	close(sent->ends[1]);
}

static struct eddy_transfer whole(int file, size_t size)
{
	return (struct eddy_transfer){ .file = file, .len = size };
}

static struct eddyi_file_part find(struct eddyi_window *window, int file, uint64_t offset,
				   size_t len)
{
	struct eddy_transfer transfer = whole(file, offset + len);

	transfer.moved = offset;
	return eddyi_window_find(window, &transfer, len, true);
}

/* Whether the next bytes of the socket, or else of the rest, are those. */
static bool got(struct sent *sent, const void *bytes, size_t len)
{
	static char buf[2 * EDDY_MIB];
	size_t at = 0;

	for (ssize_t r = 1; at < len && r > 0; at += r > 0 ? (size_t)r : 0)
		r = recv(sent->ends[1], buf + at, len - at, 0);
	return at == len && memcmp(buf, bytes, len) == 0;
}

static bool got_of_file(struct sent *sent, uint64_t offset, size_t len)
{
	static unsigned char wanted[EDDY_MIB];

	for (size_t i = 0; i < len; i++)
		wanted[i] = byte_at(offset + i);
	return got(sent, wanted, len);
}

TASK_TEST(gather, memory_and_files_arrive_in_order)
{
	int one = make_file(SIZE), other = make_file_in("/dev/shm", SIZE);
	struct eddyi_window windows[2] = { 0 };
	struct sent sent;
	struct eddyi_file_part at;

	open_sent(&sent);
	eddyi_gather_add(&sent.gather, EDDY_STR(""));
	eddyi_gather_add(&sent.gather, EDDY_STR("head "));
	eddyi_gather_add(&sent.gather, EDDY_STR("one"));
	at = find(&windows[0], one, 100, 20000);
	EXPECT(at.len);
	eddyi_gather_add_found(&sent.gather, &at, 20000);
	eddyi_gather_add(&sent.gather, EDDY_STR("other"));
	at = find(&windows[1], other, SIZE - 7, 7);
	EXPECT(at.len);
	eddyi_gather_add_found(&sent.gather, &at, 7);
	EXPECT_EQ(send_all(&sent), 0);
	EXPECT(!sent.rest.ptr);
	EXPECT(got(&sent, "head one", 8));
	EXPECT(got_of_file(&sent, 100, 20000));
	EXPECT(got(&sent, "other", 5));
	EXPECT(got_of_file(&sent, SIZE - 7, 7));
	close_sent(&sent);
	eddyi_window_close(&windows[0]);
	eddyi_window_close(&windows[1]);
	close(one);
	close(other);
	return 0;
}

/* The kernel has a page of copies for as long as nobody reads them. */
TASK_TEST(gather, copies_are_not_written_again)
{
	struct sent sents[20];
	char text[1000];

	for (size_t i = 0; i < COUNT(sents); i++) {
		open_sent(&sents[i]);
		memset(text, 'a' + (int)i, sizeof(text));
		EXPECT(eddyi_gather_room(&sents[i].gather) >= sizeof(text));
		eddyi_gather_add(&sents[i].gather, eddy_str(text, sizeof(text)));
		EXPECT_EQ(send_all(&sents[i]), 0);
	}
	for (size_t i = 0; i < COUNT(sents); i++) {
		memset(text, 'a' + (int)i, sizeof(text));
		EXPECT(got(&sents[i], text, sizeof(text)));
		close_sent(&sents[i]);
	}
	return 0;
}

/* As much as there is room for fits into the pipe, from whatever offset. */
static void fill(int file, uint64_t offset, size_t step)
{
	struct eddyi_window window = { 0 };
	struct eddy_str all;
	struct sent sent;
	size_t room;

	open_sent(&sent);
	for (struct eddyi_file_part at; (at = find(&window, file, offset, step)).len;
	     offset += step) {
		room = eddyi_gather_room_for(&sent.gather, 5, &at);
		if (room < step)
			break;
		eddyi_gather_add(&sent.gather, EDDY_STR("head "));
		eddyi_gather_add_found(&sent.gather, &at, step);
	}
	all = eddy_str("", sent.gather.len);
	EXPECT(all.len > step);
	EXPECT_EQ(send_all(&sent), 0);
	EXPECT(sent.rest.len && sent.rest.len < all.len);
	/* The socket has the first bytes, and the rest is behind them. */
	EXPECT_EQ((int)recv(sent.ends[1], (char[5]){ 0 }, 5, MSG_PEEK), 5);
	close_sent(&sent);
	eddyi_window_close(&window);
}

TASK_TEST(gather, the_room_is_that_of_the_pipe)
{
	int file = make_file(SIZE);

	fill(file, 0, 16 * EDDY_KIB);
	fill(file, 3, 16 * EDDY_KIB);
	fill(file, 4095, 3 * PAGE + 2);
	fill(file, 1, 240 * EDDY_KIB);
	close(file);
	return 0;
}

/* Bytes that the socket does not take are in the rest. */
TASK_TEST(gather, what_a_full_socket_leaves_is_kept)
{
	int file = make_file(SIZE);
	struct eddyi_window window = { 0 };
	struct sent sent;
	size_t in_socket;
	struct eddyi_file_part at;

	open_sent(&sent);
	at = find(&window, file, 0, 800000);
	EXPECT(at.len);
	eddyi_gather_add_found(&sent.gather, &at, 800000);
	EXPECT_EQ(send_all(&sent), 0);
	EXPECT(sent.rest.len > 0 && sent.rest.len < 800000);
	in_socket = 800000 - sent.rest.len;
	EXPECT(got_of_file(&sent, 0, in_socket));
	EXPECT_EQ(send(sent.ends[0], sent.rest.ptr, sent.rest.len < 1000 ? sent.rest.len : 1000, 0),
		  sent.rest.len < 1000 ? sent.rest.len : 1000);
	EXPECT(got_of_file(&sent, in_socket, sent.rest.len < 1000 ? sent.rest.len : 1000));
	close_sent(&sent);
	eddyi_window_close(&window);
	close(file);
	return 0;
}

/* The rest gets all of it, so that the error is found by who sends that. */
TASK_TEST(gather, a_socket_that_is_closed_takes_nothing)
{
	struct sent sent;

	open_sent(&sent);
	shutdown(sent.ends[0], SHUT_WR);
	eddyi_gather_add(&sent.gather, EDDY_STR("bytes"));
	EXPECT_EQ(send_all(&sent), 0);
	EXPECT_EQ(sent.rest.len, 5);
	EXPECT(memcmp(sent.rest.ptr, "bytes", 5) == 0);
	close_sent(&sent);
	return 0;
}

TASK_TEST(gather, a_file_that_is_truncated_is_missed)
{
	int file = make_file(SIZE);
	struct eddyi_window window = { 0 };
	struct sent sent;
	struct eddyi_file_part at;

	open_sent(&sent);
	at = find(&window, file, PAGE, 8 * PAGE);
	EXPECT(at.len);
	eddyi_gather_add_found(&sent.gather, &at, 8 * PAGE);
	EXPECT_EQ(ftruncate(file, 4 * PAGE), 0);
	EXPECT_EQ(send_all(&sent), -ENODATA);
	EXPECT(!sent.rest.ptr);
	/* Its last page is filled up with zeros. */
	EXPECT(find(&window, file, PAGE, 3 * PAGE).len);
	EXPECT(!find(&window, file, PAGE, 3 * PAGE + 1).len);
	EXPECT_EQ(ftruncate(file, 4 * PAGE - 1), 0);
	EXPECT(!find(&window, file, PAGE, 3 * PAGE).len);
	close_sent(&sent);
	eddyi_window_close(&window);
	close(file);
	return 0;
}

/* The same for one that is not mapped. */
TASK_TEST(gather, a_large_part_that_is_truncated_is_missed)
{
	int file = make_file(SIZE);
	struct eddyi_window window = { 0 };
	struct eddyi_file_part at;
	struct sent sent;

	open_sent(&sent);
	at = find(&window, file, PAGE, 30 * PAGE);
	EXPECT(at.len && !at.at && !window.at);
	EXPECT_EQ(ftruncate(file, 4 * PAGE), 0);
	eddyi_gather_add(&sent.gather, EDDY_STR("head"));
	eddyi_gather_add_found(&sent.gather, &at, 30 * PAGE);
	eddyi_gather_add(&sent.gather, EDDY_STR("head"));
	EXPECT_EQ(send_all(&sent), -ENODATA);
	EXPECT(!sent.rest.ptr);
	close_sent(&sent);
	close(file);
	return 0;
}

TASK_TEST(gather, a_window_moves_through_a_file)
{
	uint64_t size = 160 * EDDY_MIB;
	int file = open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	struct eddyi_window window = { 0 };
	struct sent sent;
	const char *before;
	struct eddyi_file_part at;

	EXPECT_EQ(ftruncate(file, (off_t)size), 0);
	for (uint64_t offset = 0; offset < size; offset += 23 * EDDY_MIB) {
		EXPECT_EQ(pwrite(file, &offset, sizeof(offset), (off_t)offset), sizeof(offset));
		at = find(&window, file, offset, sizeof(offset));
		EXPECT(at.len);
		open_sent(&sent);
		eddyi_gather_add_found(&sent.gather, &at, sizeof(offset));
		EXPECT_EQ(send_all(&sent), 0);
		EXPECT(got(&sent, &offset, sizeof(offset)));
		close_sent(&sent);
	}
	before = window.at;
	EXPECT(!eddyi_window_find(&window, &(struct eddy_transfer){ .file = file, .len = PAGE },
				  PAGE, false)
			.len);
	EXPECT(window.at == before);
	eddyi_window_close(&window);
	EXPECT(!window.at);
	eddyi_window_close(&window);
	close(file);
	return 0;
}

TASK_TEST(gather, pages_that_are_not_cached_are_not_found)
{
	int file = make_file(SIZE);
	struct eddyi_window window = { 0 };
	bool found = true;

	if (!chill(file)) {
		close(file);
		expect_skip("needs a /tmp on a disk");
		return 0;
	}
	/* A disk may be so quick that they are there when they are asked for. */
	for (int tries = 0; found && tries < 50; tries++) {
		chill_at(file, EDDY_MIB);
		found = find(&window, file, EDDY_MIB, 10 * PAGE).len;
	}
	EXPECT(!found);
	EXPECT_EQ(pread(file, (char[1]){ 0 }, 1, 0), 1);
	EXPECT(find(&window, file, 0, 1).len);
	eddyi_window_close(&window);
	close(file);
	return 0;
}

TASK_TEST(gather, a_technique_that_copies_does_not_begin)
{
	struct eddyi_gather gather = { 0 };

	EXPECT_EQ(eddy_transfer_configure(
			  &(struct eddy_transfer_options){ .technique = EDDY_TECHNIQUE_READ_SEND }),
		  0);
	EXPECT(!eddyi_gather_begin(&gather, SIZE_MAX));
	EXPECT(!gather.pipe);
	EXPECT_EQ(eddy_transfer_configure(&(struct eddy_transfer_options){ .pipe_size = 4096 }), 0);
	EXPECT(!eddyi_gather_begin(&gather, SIZE_MAX));
	EXPECT_EQ(eddy_transfer_configure(NULL), 0);
	EXPECT(!eddyi_gather_begin(&gather, 7 * PAGE));
	EXPECT(eddyi_gather_begin(&gather, 8 * PAGE));
	EXPECT_EQ(gather.slots, 8);
	EXPECT_EQ(eddyi_gather_send(&gather, -1, &(struct eddy_str){ 0 }), 0);
	return 0;
}

/* Some containers refuse the call; gVisor does not have it. */
TASK_TEST(gather, a_kernel_that_refuses_is_asked_once)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_vmsplice, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = COUNT(code), .filter = code };
	struct eddyi_gather gather = { 0 };

	EXPECT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	EXPECT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
	for (int i = 0; i < 2; i++) {
		EXPECT(!eddyi_gather_begin(&gather, SIZE_MAX));
		EXPECT(!gather.pipe);
	}
	return 0;
}

TASK_TEST(gather, without_memory_nothing_begins)
{
	struct eddyi_gather gather = { 0 };
	int failed = 0;

	for (int n = 1; !gather.pipe && n < 20; n++) {
		failing_at = n;
		failed += !eddyi_gather_begin(&gather, SIZE_MAX);
	}
	failing_at = 0;
	EXPECT(failed > 2);
	EXPECT_EQ(eddyi_gather_send(&gather, -1, &(struct eddy_str){ 0 }), 0);
	return 0;
}

TASK_TEST(gather, without_memory_a_full_page_is_not_used)
{
	struct sent sent;

	open_sent(&sent);
	eddyi_gather_add(&sent.gather, eddy_str((char[PAGE - 1]){ 0 }, PAGE - 1));
	EXPECT_EQ(send_all(&sent), 0);
	failing_at = 1;
	EXPECT(!eddyi_gather_begin(&sent.gather, SIZE_MAX));
	EXPECT(eddyi_gather_begin(&sent.gather, SIZE_MAX));
	EXPECT(eddyi_gather_room(&sent.gather) >= EDDYI_GATHER_ROOM);
	EXPECT_EQ(send_all(&sent), 0);
	close_sent(&sent);
	return 0;
}

TASK_TEST(gather, without_memory_the_rest_is_lost)
{
	struct eddyi_window window = { 0 };
	int file = make_file(SIZE);
	struct sent sent;

	failing_at = 1;
	EXPECT(!find(&window, file, 0, PAGE).len);
	EXPECT(!window.at);
	open_sent(&sent);
	shutdown(sent.ends[0], SHUT_WR);
	eddyi_gather_add(&sent.gather, EDDY_STR("bytes"));
	failing_at = 1;
	EXPECT_EQ(send_all(&sent), -ENOMEM);
	EXPECT_EQ(failing_at, 0);
	EXPECT(!sent.rest.ptr);
	close_sent(&sent);
	close(file);
	return 0;
}
