#include "cached.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Folders in folders: a link may make a circle of them. */
#define DEPTH_MAX 8
/* As headers have them that know of cachestat(2): Linux 6.5. */
#define CACHESTAT 451
/* Times that it is tried, and how long after each other. */
#define TRIES 50
#define TRY_US 2000
#define TMPFS 0x01021994
#define RAMFS 0x858458f6

struct range {
	uint64_t offset, len;
};

struct counts {
	uint64_t cached, dirty, writeback, evicted, recently_evicted;
};

static int failed(int r, const char *path, const char *what, char error[OPTIONS_ERROR_SIZE])
{
	snprintf(error, OPTIONS_ERROR_SIZE, "--files %.200s: %.200s", path, what);
	return r;
}

/* Before there was cachestat(2). Return: pages that are in memory, UINT64_MAX when nobody knows. */
static uint64_t count_by_map(int fd, uint64_t size, size_t page)
{
	size_t pages = (size_t)((size + page - 1) / page);
	unsigned char *there = malloc(pages);
	void *map = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, fd, 0);
	uint64_t count = UINT64_MAX;

	if (there && map != MAP_FAILED && mincore(map, (size_t)size, there) == 0) {
		count = 0;
		for (size_t i = 0; i < pages; i++)
			count += there[i] & 1;
	}
	if (map != MAP_FAILED)
		munmap(map, (size_t)size);
	free(there);
	return count;
}

static void look_at(int fd, uint64_t size, struct cached *cached)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct range range = { 0, 0 };
	struct counts counts;
	uint64_t pages;

	if (!size)
		return;
	if (syscall(CACHESTAT, fd, &range, &counts, 0) == 0)
		pages = counts.cached;
	else
		pages = count_by_map(fd, size, page);
	cached->all += (size + page - 1) / page * page;
	if (pages != UINT64_MAX)
		cached->here += pages * page;
}

static int take_folder(int fd, unsigned depth, bool drop, struct cached *cached);

static int take_entry(int folder, const char *name, unsigned depth, bool drop,
		      struct cached *cached)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	struct stat stat;

	/* What may not be read is not what the server sends. */
	if (fd < 0)
		return 0;
	if (fstat(fd, &stat) == 0 && S_ISDIR(stat.st_mode) && depth < DEPTH_MAX)
		return take_folder(fd, depth + 1, drop, cached);
	if (S_ISREG(stat.st_mode)) {
		/* What is not written to the disk yet is not dropped. */
		if (drop)
			fdatasync(fd);
		if (drop)
			posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		look_at(fd, (uint64_t)stat.st_size, cached);
	}
	close(fd);
	return 0;
}

/* Takes over the descriptor. */
static int take_folder(int fd, unsigned depth, bool drop, struct cached *cached)
{
	DIR *dir = fdopendir(fd);
	struct dirent *entry;
	int r = 0;

	if (!dir) {
		r = -errno;
		close(fd);
		return r;
	}
	while (r == 0 && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			r = take_entry(dirfd(dir), entry->d_name, depth, drop, cached);
	closedir(dir);
	return r;
}

static int take(const char *folder, bool drop, struct cached *ret_cached,
		char error[OPTIONS_ERROR_SIZE])
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r;
	struct statfs statfs;

	*ret_cached = (struct cached){ 0 };
	if (fd < 0)
		return failed(-errno, folder, strerror(errno), error);
	if (drop && fstatfs(fd, &statfs) == 0 &&
	    (statfs.f_type == TMPFS || statfs.f_type == RAMFS)) {
		close(fd);
		return failed(
			-EBUSY, folder,
			"its files can't be cold, as tmpfs keeps them in memory only; use a folder "
			"on a disk",
			error);
	}
	r = take_folder(fd, 0, drop, ret_cached);
	return r < 0 ? failed(r, folder, strerror(-r), error) : 0;
}

int cached_look(const char *folder, struct cached *ret_cached, char error[OPTIONS_ERROR_SIZE])
{
	return take(folder, false, ret_cached, error);
}

/* Root may empty all of the page cache. */
static void drop_everything(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	/* Without it everything stays, which is seen. */
	if (write(fd, "1\n", 2) < 0)
		errno = 0;
	close(fd);
}

/* A packet that was received holds the file's pages until the processor that made it next looks at its network: so
 * make each look, by a datagram to ourselves. Where one may not be run on, nothing happens. */
static void flush_network(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	cpu_set_t before, one;

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, len) < 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &len) < 0 ||
	    sched_getaffinity(0, sizeof(before), &before) < 0) {
		if (fd >= 0)
			close(fd);
		return;
	}
	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF) && cpu < CPU_SETSIZE; cpu++) {
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (sched_setaffinity(0, sizeof(one), &one) == 0)
			sendto(fd, "", 1, MSG_DONTWAIT, (struct sockaddr *)&address, len);
	}
	sched_setaffinity(0, sizeof(before), &before);
	close(fd);
}

/* What the disk is just bringing, ahead of a reader, can't be dropped yet. */
static int drop_patiently(const char *folder, struct cached *cached, char error[OPTIONS_ERROR_SIZE])
{
	int r = take(folder, true, cached, error);

	for (int i = 0; r == 0 && cached->here && i < TRIES; i++) {
		flush_network();
		usleep(TRY_US);
		r = take(folder, true, cached, error);
	}
	return r;
}

int cached_drop(const char *folder, char error[OPTIONS_ERROR_SIZE])
{
	struct cached cached;
	int r = drop_patiently(folder, &cached, error);

	if (r < 0 || !cached.here)
		return r;
	drop_everything();
	r = drop_patiently(folder, &cached, error);
	if (r < 0 || !cached.here)
		return r;
	return failed(
		-EBUSY, folder,
		"its files stay in the page cache: a process has mapped or locked them, or is "
		"writing to them; run eddy-bench as root, which can drop the whole page cache",
		error);
}
