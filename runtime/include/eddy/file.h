/* eddy/file.h: the system calls on paths and files, as calls that suspend the task and not the thread.
 * Reading and writing is in eddy/io.h.
 *
 *     fd = eddy_openat(AT_FDCWD, "notes", O_RDONLY, 0);
 *     r = eddy_read(fd, buf, sizeof(buf), 0);
 *     eddy_close(fd);
 *
 * What stands at the head of eddy/io.h holds for each of them. A file system is not to be hurried:
 * what one of the kernel's workers has begun on a disk is awaited also when it is cancelled.
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

/* openat2(2); O_CLOEXEC is added. Suspends, unless every part of the path is cached: then it is opened
 * at once. A FIFO is opened without waiting for its other end, as with O_NONBLOCK; the descriptor has the flags that
 * were asked for. Return: a descriptor, -ENXIO for a FIFO that nobody reads, -errno. */
EDDY_API int eddy_openat2(int dir, const char *path, const struct open_how *how);

/* openat(2), in the same way. Suspends as that does. `mode` matters with O_CREAT and O_TMPFILE only. */
EDDY_API int eddy_openat(int dir, const char *path, int flags, mode_t mode);

/* statx(2). Suspends; fstat(2) on an open descriptor is quicker where it is local. */
EDDY_API int eddy_statx(int dir, const char *path, int flags, unsigned mask,
			struct statx *ret_statx);

/* renameat2(2), linkat(2), unlinkat(2), mkdirat(2). Suspend. */
EDDY_API int eddy_renameat(int from_dir, const char *from, int to_dir, const char *to,
			   unsigned flags);
EDDY_API int eddy_linkat(int from_dir, const char *from, int to_dir, const char *to, int flags);
EDDY_API int eddy_unlinkat(int dir, const char *path, int flags);
EDDY_API int eddy_mkdirat(int dir, const char *path, mode_t mode);

/* Read all of a small regular file, of at most `max` bytes; anything else is refused, and not waited for. A NUL
 * stands behind it, which does not count. Blocks: it is for the start, and for eddy_offload().
 * Return: its length, and bytes to be freed; -EISDIR when it is no regular file, -EFBIG when it has more,
 * -ENOMEM, those of open(2) and read(2). */
EDDY_API ssize_t eddy_file_load(const char *path, size_t max, char **ret_bytes);

/* --- open files */

/* fsync(2), or fdatasync(2) with `data_only`. Suspends. */
EDDY_API int eddy_fsync(int fd, bool data_only);

/* fallocate(2). Suspends. */
EDDY_API int eddy_fallocate(int fd, int mode, uint64_t offset, uint64_t len);

/* ftruncate(2). Suspends; before Linux 6.9 a thread of the offload pool does it, and is awaited. */
EDDY_API int eddy_ftruncate(int fd, uint64_t len);

EDDY_END_DECLS

#endif
