#include "core/op.h"
#include "timeline/iowq.h"

#include "../folder.h"
#include "expect.h"

#include <eddy/internal/loop.h>
#include <eddy/file.h>
#include <eddy/op.h>
#include <eddy/stats.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define SOME 64

static struct eddyi_iowq_worker before[SOME];
static size_t known;

static void look(void)
{
	known = eddyi_iowq_look(before, SOME);
}

/* How many there are that were not there at the look. */
static unsigned more_workers(void)
{
	struct eddyi_iowq_worker now[SOME];
	size_t count = eddyi_iowq_look(now, SOME);
	unsigned more = 0;

	for (size_t i = 0; i < count; i++) {
		bool is_known = false;

		for (size_t k = 0; k < known; k++)
			is_known |= before[k].tid == now[i].tid;
		more += !is_known;
	}
	return more;
}

/* Workers are the thread's, and stay when its ring is gone. */
static void on_a_thread(void *(*fn)(void *arg), void *arg)
{
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, fn, arg), 0);
	pthread_join(thread, NULL);
}

static char path[96], other[96], text[16];
static int fd, pipe_ends[2], sockets[2];
static struct io_uring_sqe entry;
static int got;
static unsigned came;

static int call(__attribute__((unused)) void *arg)
{
	look();
	got = eddy_op_call(&entry);
	came = more_workers();
	return 0;
}

static void *calls(__attribute__((unused)) void *arg)
{
	EXPECT_EQ(eddy_run(NULL, call, NULL), 0);
	return NULL;
}

static struct statx found;
static struct open_how how = { .flags = O_WRONLY | O_TRUNC | O_CLOEXEC };

/* Return: false behind the last. */
static bool prepare(int number)
{
	static int from[2];

	entry = (struct io_uring_sqe){ 0 };
	switch (number) {
	case 0:
		io_uring_prep_fsync(&entry, fd, 0);
		return true;
	case 1:
		io_uring_prep_sync_file_range(&entry, fd, 0, 0, 0);
		return true;
	case 2:
		io_uring_prep_fallocate(&entry, fd, 0, 0, 10);
		return true;
	case 3:
		io_uring_prep_splice(&entry, fd, 0, pipe_ends[1], -1, 5, 0);
		return true;
	case 4:
		io_uring_prep_shutdown(&entry, sockets[0], SHUT_WR);
		return true;
	case 5:
		io_uring_prep_renameat(&entry, AT_FDCWD, path, AT_FDCWD, path, 0);
		return true;
	case 6:
		io_uring_prep_symlinkat(&entry, "x", AT_FDCWD, other);
		return true;
	case 7:
		io_uring_prep_unlinkat(&entry, AT_FDCWD, other, 0);
		return true;
	case 8:
		io_uring_prep_linkat(&entry, AT_FDCWD, path, AT_FDCWD, other, 0);
		return true;
	case 9:
		io_uring_prep_mkdirat(&entry, AT_FDCWD, other, 0700);
		return true;
	case 10:
		io_uring_prep_madvise(&entry, NULL, 0, MADV_NORMAL);
		return true;
	case 11:
		io_uring_prep_statx(&entry, AT_FDCWD, path, 0, STATX_SIZE, &found);
		return true;
	case 12:
		cr_assert_eq(pipe(from), 0);
		cr_assert_eq(write(from[1], "x", 1), 1);
		io_uring_prep_tee(&entry, from[0], pipe_ends[1], 1, 0);
		return true;
	case 13:
		io_uring_prep_setxattr(&entry, "user.a", "1", path, 0, 1);
		return true;
	case 14:
		io_uring_prep_getxattr(&entry, "user.a", text, path, sizeof(text));
		return true;
	case 15:
		io_uring_prep_openat(&entry, AT_FDCWD, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		return true;
	case 16:
		io_uring_prep_openat2(&entry, AT_FDCWD, path, &how);
		return true;
	case 17:
		io_uring_prep_nop(&entry);
		entry.flags |= IOSQE_ASYNC;
		return true;
	default:
		return false;
	}
}

static void make_files(void)
{
	make_folder();
	snprintf(path, sizeof(path), "%s/file", folder);
	snprintf(other, sizeof(other), "%s/other", folder);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	cr_assert_eq(write(fd, "bytes", 5), 5);
	cr_assert_eq(pipe(pipe_ends), 0);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
}

Test(iowq, has_what_is_always_left_to_it)
{
	int tried = 0;

	make_files();
	for (int i = 0; prepare(i); i++) {
		cr_expect(eddyi_op_is_worked(&entry), "%d", i);
		on_a_thread(calls, NULL);
		/* Older kernels lack some, and file systems others; then nothing was handed on. */
		if (got == -EINVAL || got == -EOPNOTSUPP)
			continue;
		tried++;
		cr_expect(got >= 0 || got == -EEXIST || got == -ENODATA, "%d: %d", i, got);
		cr_expect_eq(came, 1, "%d: %u workers", i, came);
	}
	cr_expect_geq(tried, 10);
	remove_folder();
	expect_report();
}

Test(iowq, has_nothing_that_the_kernel_tries_itself)
{
	make_files();
	how.flags = O_RDONLY;
	io_uring_prep_openat(&entry, AT_FDCWD, path, O_RDONLY | O_APPEND, 0);
	cr_expect(!eddyi_op_is_worked(&entry));
	io_uring_prep_openat2(&entry, AT_FDCWD, path, &how);
	cr_expect(!eddyi_op_is_worked(&entry));
	io_uring_prep_send(&entry, sockets[0], "x", 1, 0);
	cr_expect(!eddyi_op_is_worked(&entry));
	on_a_thread(calls, NULL);
	cr_expect_eq(got, 1);
	cr_expect_eq(came, 0);
	remove_folder();
	expect_report();
}

static unsigned asked;
static char memory[32 * 1024];
static struct eddyi_text out = { .at = memory, .end = memory + sizeof(memory) - 1 };

/* As inside a PID namespace, where owners are nobody's numbers. */
static uint32_t group_of(__attribute__((unused)) pid_t owner)
{
	asked++;
	return 7;
}

static int tells(__attribute__((unused)) void *arg)
{
	eddyi_iowq_reset();
	eddyi_iowq_tell(&out, group_of);
	EXPECT(out.at == memory && asked == 0);
	EXPECT_EQ(eddyi_stats_io_workers(), 0);
	io_uring_prep_nop(&entry);
	entry.flags |= IOSQE_ASYNC;
	EXPECT_EQ(eddy_op_call(&entry), 0);
	eddyi_iowq_reset();
	eddyi_iowq_tell(&out, group_of);
	*out.at = '\0';
	EXPECT(strstr(memory, "\"ph\":\"C\",\"pid\":7,"));
	EXPECT(strstr(memory, "\"name\":\"io-wq workers\",\"args\":{\"threads\":1}}"));
	EXPECT_EQ(asked, 1);
	EXPECT_EQ(eddyi_stats_io_workers(), 1);
	return 0;
}

Test(iowq, what_changes_is_a_counter)
{
	expect_run(NULL, tells, NULL);
}

static pthread_barrier_t barrier;

static int works(void *arg)
{
	for (int i = 0; i < *(int *)arg; i++) {
		struct io_uring_sqe nop = { 0 };

		io_uring_prep_nop(&nop);
		nop.flags |= IOSQE_ASYNC;
		EXPECT_EQ(eddy_op_call(&nop), 0);
	}
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return 0;
}

static void *has_workers(void *arg)
{
	EXPECT_EQ(eddy_run(NULL, works, arg), 0);
	return NULL;
}

/* Tell until it has looked and found workers, `count` times. */
static void tell(unsigned count)
{
	out.at = memory;
	for (asked = 0; asked < 2 * count;)
		eddyi_iowq_tell(&out, group_of);
	*out.at = '\0';
}

/* Return: 0 where it tells of none. */
static int threads_told(void)
{
	const char *told = strstr(memory, "\"io-wq workers\",\"args\":{\"threads\":");

	return told ? atoi(strstr(told, "threads\":") + strlen("threads\":")) : 0;
}

Test(iowq, rings_of_one_group_are_added_up)
{
	int few = 1, many = 30;
	pthread_t threads[2];

	eddyi_iowq_reset();
	pthread_barrier_init(&barrier, NULL, 3);
	cr_assert_eq(pthread_create(&threads[0], NULL, has_workers, &few), 0);
	cr_assert_eq(pthread_create(&threads[1], NULL, has_workers, &many), 0);
	pthread_barrier_wait(&barrier);
	tell(1);
	/* Who is slow to sleep gets a second one beside it. */
	cr_expect(threads_told() >= 2, "%s", memory);
	cr_expect(strstr(memory, "\"name\":\"io-wq turns\""), "%s", memory);
	/* Then they rest, and there is nothing to be told: soon, save that an idle one wakes every 5 s. */
	do
		tell(1);
	while (*memory);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	while (!strstr(memory, "\"io-wq workers\",\"args\":{\"threads\":0}}")) {
		out.at = memory;
		eddyi_iowq_tell(&out, group_of);
		*out.at = '\0';
	}
	expect_report();
}
