#include "coldness.h"

#include <eddy/internal/outside.h>
#include <eddy/loop.h>
#include <errno.h>
#include <linux/magic.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

/* The kernel's structures, which Debian 12's headers lack. */
struct cachestat_range {
	uint64_t offset;
	uint64_t len;
};

struct cachestat {
	uint64_t cached;
	uint64_t dirty;
	uint64_t writeback;
	uint64_t evicted;
	uint64_t recently_evicted;
};

/* Count the cached pages of a range. Return: 0; -ENOSYS if the kernel has no cachestat; since Linux
 * 6.14, -EPERM if this user may not write the file. */
static int pages_cached(int fd, uint64_t offset, uint64_t len, uint64_t *ret_pages)
{
	struct cachestat_range range = { offset, len };
	struct cachestat stat;

	if (eddyi_cachestat_now(fd, &range, &stat) < 0)
		return -errno;
	*ret_pages = stat.cached;
	return 0;
}

static bool probe_supported(int fd)
{
	char byte;
	struct iovec iov = { &byte, 1 };

	return eddyi_preadv2_now(fd, &iov, 1, 0, RWF_NOWAIT) >= 0 || errno == EAGAIN;
}

/* Whether the kernel has cachestat; tested once per process. */
static bool cachestat_supported(int fd)
{
	static atomic_int known; /* 0 untested, 1 yes, -1 no */
	int value = (int)eddyi_outside_value("cachestat",
					     atomic_load_explicit(&known, memory_order_relaxed));
	uint64_t pages;

	if (!value) {
		value = pages_cached(fd, 0, 1, &pages) != -ENOSYS ? 1 : -1;
		atomic_store_explicit(&known, value, memory_order_relaxed);
	}
	return value > 0;
}

/* After an unmount, the device number may be reused for another kind of file system. */
#define DEVICE_NS EDDY_SECOND

static enum eddyi_coldness ask(int fd, const struct statfs *fs)
{
	switch ((unsigned long)fs->f_type) {
	case TMPFS_MAGIC:
	case RAMFS_MAGIC:
		return EDDYI_ALWAYS_WARM;
	case OVERLAYFS_SUPER_MAGIC: /* cachestat does not see the underlying file */
		return probe_supported(fd) ? EDDYI_PROBE : EDDYI_UNKNOWN;
	default:
		if (!probe_supported(fd))
			return EDDYI_UNKNOWN;
		return cachestat_supported(fd) ? EDDYI_CACHESTAT : EDDYI_PROBE;
	}
}

enum eddyi_coldness eddyi_coldness_of(int fd, uint64_t device)
{
	/* The last answer, since a loop sends most files from one file system. */
	static _Thread_local struct {
		struct statfs fs;
		enum eddyi_coldness how;
		bool known;
		uint64_t device; /* 0: unknown */
		uint64_t at_ns;
	} last;
	struct statfs fs;
	uint64_t now = device ? eddy_loop_now() : 0;

	if (device && device == last.device && now - last.at_ns < DEVICE_NS)
		return last.how;
	last.device = 0;
	if (eddyi_fstatfs_now(fd, &fs) < 0)
		return EDDYI_UNKNOWN;
	if (!last.known || last.fs.f_type != fs.f_type ||
	    memcmp(&last.fs.f_fsid, &fs.f_fsid, sizeof(fs.f_fsid)) != 0) {
		last.how = ask(fd, &fs);
		last.fs = fs;
		last.known = true;
	}
	last.device = device;
	last.at_ns = now;
	return last.how;
}

static bool byte_is_warm(int fd, uint64_t offset)
{
	char byte;
	struct iovec iov = { &byte, 1 };

	/* The end of the file or an error does not block either; the reader will see it. */
	return eddyi_preadv2_now(fd, &iov, 1, (off_t)offset, RWF_NOWAIT) >= 0 || errno != EAGAIN;
}

bool eddyi_coldness_is_warm(enum eddyi_coldness how, int fd, uint64_t offset, uint64_t len)
{
	uint64_t page = (uint64_t)eddyi_sysconf_now(_SC_PAGESIZE);
	uint64_t pages = 0, wanted = (offset + len + page - 1) / page - offset / page;

	switch (how) {
	case EDDYI_ALWAYS_WARM:
		return true;
	case EDDYI_CACHESTAT:
		if (pages_cached(fd, offset, len, &pages) == 0)
			return pages >= wanted;
		/* It failed for this file only. */
		/* fallthrough */
	case EDDYI_PROBE:
		return byte_is_warm(fd, offset) && byte_is_warm(fd, offset + len - 1);
	case EDDYI_UNKNOWN:
		break;
	}
	return false;
}
