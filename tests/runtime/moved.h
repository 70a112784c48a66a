/* moved.h: what tests of files on their way share: bytes that tell where they belong, and peers that read or
 * send them. */
#ifndef EDDY_TESTS_MOVED_H
#define EDDY_TESTS_MOVED_H

#include "expect.h"

#include <eddy/io.h>
#include <eddy/transfer.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/mman.h>
#include <sys/vfs.h>

#include "transfer/pipe.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SIZE ((size_t)(3 * EDDY_MIB + 12345))

static inline unsigned char byte_at(uint64_t offset)
{
	return (unsigned char)(offset * 31 + offset / 251);
}

/* A file with a pattern; it has no name. */
static inline int make_file_in(const char *folder, size_t size)
{
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	unsigned char *bytes = malloc(size ? size : 1);

	for (size_t i = 0; i < size; i++)
		bytes[i] = byte_at(i);
	EXPECT_EQ(pwrite(fd, bytes, size, 0), size);
	free(bytes);
	return fd;
}

static inline int make_file(size_t size)
{
	return make_file_in("/tmp", size);
}

struct peer {
	int fd;
	uint64_t first; /* offset of the file's byte that comes first */
	size_t skip;    /* bytes before it */
	size_t got;
	size_t most; /* then stop reading */
	bool wrong;
	uint64_t pause_ns;
};

static inline int read_all(void *arg)
{
	struct peer *peer = arg;
	char buf[65536];

	while (peer->got < peer->most) {
		ssize_t r = eddy_recv(peer->fd, buf, sizeof(buf), 0);

		if (r <= 0)
			return (int)r;
		for (ssize_t i = 0; i < r; i++) {
			size_t at = peer->got + (size_t)i;

			if (at >= peer->skip &&
			    (unsigned char)buf[i] != byte_at(peer->first + at - peer->skip))
				peer->wrong = true;
		}
		peer->got += (size_t)r;
		if (peer->pause_ns)
			eddy_sleep(peer->pause_ns);
	}
	return 0;
}

static inline int write_all(void *arg)
{
	struct peer *peer = arg;
	unsigned char *bytes = malloc(peer->most);
	int r;

	for (size_t i = 0; i < peer->most; i++)
		bytes[i] = byte_at(i);
	r = eddy_send_all(peer->fd, bytes, peer->most, 0);
	free(bytes);
	return r < 0 ? r : eddy_shutdown(peer->fd, SHUT_WR);
}

struct line {
	struct eddy_transfer transfer;
	struct peer peer;
	struct eddy_scope scope;
	int fds[2];
};

static inline void open_line(struct line *line, enum eddy_technique technique, int file,
			     uint64_t len)
{
	*line = (struct line){ .transfer = { .file = file, .len = len, .technique = technique } };
	tcp_pair(line->fds);
	line->transfer.socket = line->fds[0];
	line->peer.fd = line->fds[1];
	line->peer.most = SIZE_MAX;
}

static inline void close_line(struct line *line)
{
	eddy_close(line->fds[0]);
	eddy_close(line->fds[1]);
}

/* Send from `offset` on behind a head of four bytes, to a peer that reads and compares. */
static inline int send_line(struct line *line, uint64_t offset)
{
	int r;

	line->transfer.offset = line->peer.first = offset;
	line->transfer.head = EDDY_STR("head");
	line->peer.skip = 4;
	eddy_scope_begin(&line->scope, NULL);
	eddy_scope_spawn(&line->scope, "peer", read_all, &line->peer);
	r = eddy_transfer_to_socket(&line->transfer);
	eddy_shutdown(line->fds[0], SHUT_WR);
	eddy_scope_join(&line->scope);
	EXPECT_EQ(eddy_scope_end(&line->scope), 0);
	EXPECT(!line->peer.wrong);
	EXPECT_EQ(line->peer.got, line->transfer.moved + 4);
	close_line(line);
	return r;
}

/* So many transfers are cancelled in their middle. */
#define CUTS 30

/* End the scope of the line, where its transfer is the only task: when so many bytes have moved, and some turns
 * later, as `moment`, a random number, says. */
static inline void cancel_at(struct line *line, unsigned moment)
{
	while (line->scope.running && line->transfer.moved < moment % SIZE)
		expect_turns(1);
	expect_turns((int)(moment >> 8) % 32 >> moment % 6);
	eddy_scope_end(&line->scope);
}

/* Many turns for what goes through a socket. */
static inline void make_small(int fd)
{
	int small = 65536;

	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
}

/* Whether it keeps files on a disk: not in memory. */
static inline bool is_on_disk(const struct statfs *fs)
{
	return (unsigned long)fs->f_type != TMPFS_MAGIC && (unsigned long)fs->f_type != RAMFS_MAGIC;
}

/* Out of the page cache with it, but for what somebody still works on. Return: whether there was a cache to leave. */
static inline bool chill(int file)
{
	struct statfs fs;

	return fstatfs(file, &fs) == 0 && is_on_disk(&fs) && fsync(file) == 0 &&
	       posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0;
}

/* Whether the page of this offset is in the page cache. */
static inline bool is_cached(int file, uint64_t offset)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	void *map = mmap(NULL, page, PROT_READ, MAP_SHARED, file, (off_t)(offset / page * page));
	unsigned char in = 0;

	EXPECT(map != MAP_FAILED);
	EXPECT_EQ(mincore(map, page, &in), 0);
	munmap(map, page);
	return in & 1;
}

/* Remove a file from the page cache. Wait until the page of this offset has left it, which a journal may delay. */
static inline void chill_at(int file, uint64_t offset)
{
	for (int tries = 0; (chill(file), is_cached(file, offset)) && tries < 5000; tries++)
		usleep(1000);
}

/* All pipes that may be held. */
static inline void hold_all(void)
{
	struct eddyi_pipe *pipe;

	EXPECT_EQ(eddyi_pipe_take(&pipe), 0);
	eddyi_pipe_put(pipe);
	while (eddyi_pipe_hold())
		;
}

/* Whether there may be further descriptors. */
static inline void allow_descriptors(bool allowed)
{
	struct rlimit limit;

	EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = allowed ? limit.rlim_max : 0;
	EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

#endif
