#include "iowq.h"

#include "expect.h"

#include <eddy/file.h>
#include <eddy/op.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

static unsigned workers(void)
{
	struct eddyi_iowq rings[8];
	size_t count = eddyi_iowq_look(rings, 8);
	unsigned sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += rings[i].workers;
	return sum;
}

static char folder[64], path[96], other[96], text[16];
static int fd, pipe_ends[2], sockets[2];
static struct io_uring_sqe entry;

static int call(__attribute__((unused)) void *arg)
{
	int r = eddy_op_call(&entry);

	/* Older kernels lack some, and file systems others; then nothing was handed on. */
	if (r == -EINVAL || r == -EOPNOTSUPP)
		return r;
	EXPECT(r >= 0 || r == -EEXIST || r == -ENODATA);
	EXPECT(workers() > 0);
	return 0;
}

static struct statx found;

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
	default:
		return false;
	}
}

/* Each on a ring that had no worker before. */
Test(iowq, has_what_is_always_left_to_it)
{
	int tried = 0;

	snprintf(folder, sizeof(folder), "/tmp/eddy-iowq-XXXXXX");
	cr_assert(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/file", folder);
	snprintf(other, sizeof(other), "%s/other", folder);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	cr_assert_eq(write(fd, "bytes", 5), 5);
	cr_assert_eq(pipe(pipe_ends), 0);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	for (int i = 0; prepare(i); i++) {
		cr_expect(eddyi_op_is_worked(&entry), "%d", i);
		tried += eddy_run(NULL, call, NULL) == 0;
	}
	io_uring_prep_send(&entry, sockets[0], "x", 1, 0);
	cr_expect(!eddyi_op_is_worked(&entry));
	entry.flags |= IOSQE_ASYNC;
	cr_expect(eddyi_op_is_worked(&entry));
	cr_expect_geq(tried, 8);
	unlink(path);
	unlink(other);
	rmdir(folder);
	expect_report();
}

static unsigned asked;

static uint32_t group_of(__attribute__((unused)) pid_t owner)
{
	asked++;
	return 7;
}

static int tells(__attribute__((unused)) void *arg)
{
	static char memory[32 * 1024];
	struct eddyi_text out = { memory, memory };

	eddyi_iowq_reset();
	eddyi_iowq_tell(&out, group_of);
	EXPECT(out.at == out.begin && asked == 0);
	prepare(0);
	EXPECT_EQ(eddy_op_call(&entry), 0);
	eddyi_iowq_reset();
	eddyi_iowq_tell(&out, group_of);
	*out.at = '\0';
	EXPECT(strstr(memory, "\"ph\":\"C\",\"pid\":7,"));
	EXPECT(strstr(memory, "\"name\":\"io-wq workers\",\"args\":{\"threads\":1}}"));
	EXPECT_EQ(asked, 1);
	return 0;
}

Test(iowq, what_changes_is_a_counter)
{
	fd = open("/tmp", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	if (fd < 0)
		cr_skip_test("needs a file system with O_TMPFILE at /tmp");
	expect_run(NULL, tells, NULL);
	close(fd);
}
