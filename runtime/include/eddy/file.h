/* eddy/file.h: system calls on paths and files, which suspend the task and not the thread.
 * eddy/io.h reads and writes.
 *
 *     fd = eddy_openat(AT_FDCWD, "notes", O_RDONLY, 0);
 *     r = eddy_read(fd, buf, sizeof(buf), 0);
 *     eddy_close(fd);
 *
 * The rules at the head of eddy/io.h apply. Cancellation does not interrupt a file system: a call
 * that a kernel worker has begun is awaited.
 */
#ifndef EDDY_FILE_H
#define EDDY_FILE_H

#include <eddy/base.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>

EDDY_BEGIN_DECLS

struct statx;

/* --- paths */

/* Open a file with openat2(2) and O_CLOEXEC. Suspends unless every part of the path is cached. A
 * FIFO is opened without waiting for its other end, as with O_NONBLOCK; the descriptor has the
 * flags that were asked for. Return: a descriptor; -ENXIO if it is a FIFO, opened for writing,
 * without a reader; -errno. */
EDDY_API int eddy_openat2(int dir, const char *path, const struct open_how *how);

/* Open a file with openat(2) and O_CLOEXEC. Suspends as eddy_openat2() does. `mode` is used with
 * O_CREAT and O_TMPFILE only. */
EDDY_API int eddy_openat(int dir, const char *path, int flags, mode_t mode);

/* Get the status of a file with statx(2). Suspends. On an open local file fstat(2) is faster. */
EDDY_API int eddy_statx(int dir, const char *path, int flags, unsigned mask,
			struct statx *ret_statx);

/* Call renameat2(2), linkat(2), unlinkat(2) or mkdirat(2). Suspend. */
EDDY_API int eddy_renameat(int from_dir, const char *from, int to_dir, const char *to,
			   unsigned flags);
EDDY_API int eddy_linkat(int from_dir, const char *from, int to_dir, const char *to, int flags);
EDDY_API int eddy_unlinkat(int dir, const char *path, int flags);
EDDY_API int eddy_mkdirat(int dir, const char *path, mode_t mode);

/* Read a small regular file of at most `max` bytes. Blocks: call it at startup or in
 * eddy_offload(). Other kinds of file are rejected without waiting for them. A NUL follows the
 * bytes and is not counted.
 * Return: the length, and bytes to be freed; -EISDIR if it is no regular file; -EFBIG if it is
 * larger; -ENOMEM; the errors of open(2) and read(2). */
EDDY_API ssize_t eddy_file_load(const char *path, size_t max, char **ret_bytes);

/* --- open files */

/* Write a file's changes to disk with fsync(2), or fdatasync(2) if `data_only`. Suspends. */
EDDY_API int eddy_fsync(int fd, bool data_only);

/* Allocate or free space of a file with fallocate(2). Suspends. */
EDDY_API int eddy_fallocate(int fd, int mode, uint64_t offset, uint64_t len);

/* Set the length of a file with ftruncate(2). Suspends. Before Linux 6.9 the offload pool makes the
 * call, which is awaited even if cancelled. */
EDDY_API int eddy_ftruncate(int fd, uint64_t len);

EDDY_END_DECLS

#endif
