#include <eddy/file.h>

#include "../folder.h"
#include "expect.h"
#include "failing.h"
#include "base/feature.h"

#include <eddy/io.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/xattr.h>
#include <unistd.h>

static int files(__attribute__((unused)) void *arg)
{
	struct open_how make = { .flags = O_RDWR | O_CREAT | O_EXCL, .mode = 0600 };
	struct open_how read_only = { .flags = O_RDONLY }, of_folder = { .flags = O_DIRECTORY };
	struct statx statx;
	char bytes[16] = "";
	int dir, fd;

	dir = eddy_openat2(AT_FDCWD, folder, &of_folder);
	EXPECT(dir >= 0);
	EXPECT(fcntl(dir, F_GETFD) & FD_CLOEXEC);
	fd = eddy_openat2(dir, "a", &make);
	EXPECT(fd >= 0);
	EXPECT_EQ(eddy_openat2(dir, "a", &make), -EEXIST);
	EXPECT_EQ(eddy_write(fd, "hello", 5, EDDY_OFFSET_NONE), 5);
	EXPECT_EQ(eddy_write(fd, "HE", 2, 0), 2);
	EXPECT_EQ(eddy_write(fd, "!", 1, EDDY_OFFSET_NONE), 1);
	EXPECT_EQ(eddy_read(fd, bytes, sizeof(bytes), 0), 6);
	EXPECT_EQ(strcmp(bytes, "HEllo!"), 0);
	EXPECT_EQ(eddy_read(fd, bytes, sizeof(bytes), EDDY_OFFSET_NONE), 0);
	EXPECT_EQ(eddy_fsync(fd, false), 0);
	EXPECT_EQ(eddy_fsync(fd, true), 0);
	EXPECT_EQ(eddy_fallocate(fd, 0, 0, 4096), 0);
	EXPECT_EQ(eddy_statx(dir, "a", 0, STATX_SIZE, &statx), 0);
	EXPECT_EQ(statx.stx_size, 4096);
	EXPECT_EQ(eddy_close(fd), 0);
	EXPECT_EQ(eddy_write(fd, "x", 1, 0), -EBADF);
	EXPECT_EQ(eddy_read(fd, bytes, 1, 0), -EBADF);
	EXPECT_EQ(eddy_fsync(fd, false), -EBADF);
	EXPECT_EQ(eddy_fallocate(fd, 0, 0, 1), -EBADF);
	fd = eddy_openat2(dir, "a", &read_only);
	EXPECT(fd >= 0);
	EXPECT_EQ(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
	EXPECT_EQ(eddy_close(fd), 0);
	EXPECT_EQ(eddy_openat2(dir, "none", &read_only), -ENOENT);
	EXPECT_EQ(eddy_statx(dir, "none", 0, STATX_SIZE, &statx), -ENOENT);
	EXPECT_EQ(eddy_mkdirat(dir, "d", 0700), 0);
	EXPECT_EQ(eddy_mkdirat(dir, "d", 0700), -EEXIST);
	EXPECT_EQ(eddy_linkat(dir, "a", dir, "b", 0), 0);
	EXPECT_EQ(eddy_linkat(dir, "a", dir, "b", 0), -EEXIST);
	EXPECT_EQ(eddy_renameat(dir, "b", dir, "a2", RENAME_NOREPLACE), 0);
	EXPECT_EQ(eddy_renameat(dir, "a", dir, "a2", RENAME_NOREPLACE), -EEXIST);
	EXPECT_EQ(eddy_renameat(dir, "none", dir, "a2", 0), -ENOENT);
	EXPECT_EQ(eddy_unlinkat(dir, "a", 0), 0);
	EXPECT_EQ(eddy_unlinkat(dir, "a", 0), -ENOENT);
	EXPECT_EQ(eddy_unlinkat(dir, "a2", 0), 0);
	EXPECT_EQ(eddy_unlinkat(dir, "d", AT_REMOVEDIR), 0);
	EXPECT_EQ(eddy_close(dir), 0);
	return 0;
}

Test(file, files, .init = make_folder, .fini = remove_empty_folder)
{
	expect_run(NULL, files, NULL);
}

/* Opening a FIFO that nobody writes to must not hold the loop. */
static int open_fifo(void *arg)
{
	struct open_how how = { .flags = O_RDONLY };
	int fd = eddy_openat2(AT_FDCWD, arg, &how);

	EXPECT(fd >= 0);
	EXPECT_EQ(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
	EXPECT_EQ(eddy_close(fd), 0);
	/* A creating one goes to the ring. */
	EXPECT_EQ(eddy_openat(AT_FDCWD, arg, O_WRONLY, 0), -ENXIO);
	EXPECT_EQ(eddy_openat(AT_FDCWD, arg, O_WRONLY | O_CREAT, 0600), -ENXIO);
	return 0;
}

Test(file, opening_a_fifo_holds_nobody, .init = make_folder, .fini = remove_empty_folder,
     .timeout = 10)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/fifo", folder);
	cr_assert_eq(mkfifo(path, 0600), 0);
	expect_run(NULL, open_fifo, path);
	unlink(path);
}

static int opened(__attribute__((unused)) void *arg)
{
	int dir = eddy_openat(AT_FDCWD, folder, O_DIRECTORY | O_RDONLY, 0), fd;
	mode_t mask = umask(0);
	struct stat stat;

	/* The mode is for a file that is made, and no error with one that is not. */
	fd = eddy_openat(dir, "a", O_CREAT | O_WRONLY, 0640);
	EXPECT(fd >= 0);
	EXPECT_EQ(fstat(fd, &stat), 0);
	EXPECT_EQ(stat.st_mode & 07777, 0640);
	EXPECT(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	EXPECT_EQ(eddy_close(fd), 0);
	fd = eddy_openat(dir, "a", O_RDONLY, 0640);
	EXPECT(fd >= 0);
	EXPECT_EQ(eddy_close(fd), 0);
	EXPECT_EQ(eddy_unlinkat(dir, "a", 0), 0);
	EXPECT_EQ(eddy_openat(dir, "a", O_RDONLY, 0), -ENOENT);
	EXPECT_EQ(eddy_close(dir), 0);
	umask(mask);
	return 0;
}

Test(file, openat, .init = make_folder, .fini = remove_empty_folder)
{
	expect_run(NULL, opened, NULL);
}

static void truncated(int fd)
{
	struct stat stat;

	EXPECT_EQ(eddy_ftruncate(fd, 5 * EDDY_GIB), 0);
	EXPECT_EQ(fstat(fd, &stat), 0);
	EXPECT_EQ(stat.st_size, 5 * EDDY_GIB);
	EXPECT_EQ(eddy_ftruncate(fd, 3), 0);
	EXPECT_EQ(fstat(fd, &stat), 0);
	EXPECT_EQ(stat.st_size, 3);
	EXPECT_EQ(eddy_ftruncate(-1, 3), -EBADF);
}

/* Counts are short under EDDY_CHAOS. */
TASK_TEST(file, write_all_goes_on_where_it_was)
{
	static unsigned char bytes[100000], got[sizeof(bytes)];
	int fd = memfd_create("written", MFD_CLOEXEC);

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = i % 251;
	for (size_t at = 0; at < sizeof(bytes); at += 1000)
		EXPECT_EQ(eddy_write_all(fd, bytes + at, 1000, 7 + at), 0);
	EXPECT_EQ(pread(fd, got, sizeof(got), 7), sizeof(got));
	EXPECT_EQ(memcmp(got, bytes, sizeof(got)), 0);
	EXPECT_EQ(lseek(fd, 0, SEEK_CUR), 0);
	EXPECT_EQ(eddy_write_all(fd, bytes, sizeof(bytes), EDDY_OFFSET_NONE), 0);
	EXPECT_EQ(lseek(fd, 0, SEEK_CUR), sizeof(bytes));
	EXPECT_EQ(pread(fd, got, sizeof(got), 0), sizeof(got));
	EXPECT_EQ(memcmp(got, bytes, sizeof(got)), 0);
	EXPECT_EQ(eddy_close(fd), 0);
	return 0;
}

TASK_TEST(file, ftruncate_with_and_without_the_ring)
{
	int fd = memfd_create("truncated", MFD_CLOEXEC);
	bool has = eddyi_feature_set(EDDYI_FEATURE_FTRUNCATE, false);
	struct eddy_scope scope;

	truncated(fd);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_cancel(&scope);
	EXPECT_EQ(eddy_ftruncate(fd, 4), -ECANCELED);
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	EXPECT_EQ(lseek(fd, 0, SEEK_END), 3);
	eddyi_feature_set(EDDYI_FEATURE_FTRUNCATE, has);
	truncated(fd);
	close(fd);
	return 0;
}

struct late {
	int dir, first, second;
};

static int open_twice(void *arg)
{
	struct late *late = arg;

	late->first = eddy_openat(late->dir, "late", O_CREAT | O_WRONLY, 0600);
	late->second = eddy_openat(late->dir, "later", O_CREAT | O_WRONLY, 0600);
	return 0;
}

/* A worker of the kernel's has opened it, and nobody has looked yet when it is cancelled. */
static int cancel_late(void *arg)
{
	struct late late = { .dir = open(arg, O_DIRECTORY | O_CLOEXEC) };
	struct eddy_loop *loop = eddyi_loop();
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "late", open_twice, &late);
	eddy_yield();
	while (!io_uring_cq_ready(&loop->ring))
		eddyi_loop_enter(loop);
	eddy_scope_cancel(&scope);
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	EXPECT(late.first >= 0);
	EXPECT_EQ(close(late.first), 0);
	EXPECT_EQ(late.second, -ECANCELED);
	EXPECT_EQ(unlinkat(late.dir, "late", 0), 0);
	close(late.dir);
	return 0;
}

Test(file, open_that_succeeded_while_cancelled_is_returned, .init = make_folder,
     .fini = remove_empty_folder)
{
	expect_run(NULL, cancel_late, folder);
}

TASK_TEST(file, cancelled_scope_starts_nothing)
{
	struct eddy_scope scope;
	struct statx statx;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_cancel(&scope);
	EXPECT_EQ(eddy_openat(AT_FDCWD, "/dev/null", O_RDONLY, 0), -ECANCELED);
	EXPECT_EQ(eddy_statx(AT_FDCWD, "/", 0, STATX_SIZE, &statx), -ECANCELED);
	EXPECT_EQ(eddy_mkdirat(AT_FDCWD, "/none/none", 0), -ECANCELED);
	EXPECT_EQ(eddy_linkat(AT_FDCWD, "/none", AT_FDCWD, "/none/x", 0), -ECANCELED);
	EXPECT_EQ(eddy_renameat(AT_FDCWD, "/none", AT_FDCWD, "/none/x", 0), -ECANCELED);
	EXPECT_EQ(eddy_unlinkat(AT_FDCWD, "/none", 0), -ECANCELED);
	EXPECT_EQ(eddy_fsync(0, false), -ECANCELED);
	EXPECT_EQ(eddy_fallocate(0, 0, 0, 1), -ECANCELED);
	EXPECT_EQ(eddy_scope_end(&scope), -ECANCELED);
	return 0;
}

/* ---- whole files ---- */

static void write_whole(const char *path, const char *bytes, size_t len)
{
	FILE *file = fopen(path, "we");

	cr_assert_not_null(file);
	cr_assert_eq(fwrite(bytes, 1, len, file), len);
	fclose(file);
}

Test(file, loads_small_ones, .init = make_folder, .fini = remove_empty_folder)
{
	static const struct {
		const char *bytes;
		ssize_t len;
	} rows[] = { { "", 0 }, { "a", 1 }, { "a\0b", 3 }, { "1234567", 7 }, { "12345678", 8 } };
	char path[64], *bytes;

	snprintf(path, sizeof(path), "%s/small", folder);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		write_whole(path, rows[i].bytes, (size_t)rows[i].len);
		cr_assert_eq(eddy_file_load(path, 8, &bytes), rows[i].len);
		cr_expect_eq(memcmp(bytes, rows[i].bytes, (size_t)rows[i].len + 1), 0);
		free(bytes);
	}
	unlink(path);
	/* One that does not say how long it is. */
	cr_expect_gt(eddy_file_load("/proc/self/status", 1 << 16, &bytes), 0);
	cr_expect_not_null(strstr(bytes, "\nPid:"));
	free(bytes);
}

Test(file, loads_nothing_else, .init = make_folder, .fini = remove_empty_folder)
{
	char path[64], *bytes = NULL;
	int next = dup(0);

	snprintf(path, sizeof(path), "%s/other", folder);
	cr_expect_eq(eddy_file_load(path, 8, &bytes), -ENOENT);
	write_whole(path, "123456789", 9);
	cr_expect_eq(eddy_file_load(path, 8, &bytes), -EFBIG);
	failing_at = 1;
	cr_expect_eq(eddy_file_load(path, 9, &bytes), -ENOMEM);
	cr_expect_eq(failing_at, 0);
	unlink(path);
	/* Nobody would ever write to it. */
	cr_assert_eq(mkfifo(path, 0600), 0);
	cr_expect_eq(eddy_file_load(path, 8, &bytes), -EISDIR);
	unlink(path);
	cr_expect_eq(eddy_file_load(folder, 8, &bytes), -EISDIR);
	cr_expect_eq(eddy_file_load("/dev/zero", 8, &bytes), -EISDIR);
	cr_expect_null(bytes);
	/* All descriptors are closed. */
	close(next);
	cr_expect_eq(dup(0), next);
}
