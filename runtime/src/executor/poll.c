/* The executor without io_uring: system calls in place of ring operations. Calls on sockets and pipes are tried, and
 * made again when epoll says that the descriptor is ready; calls that may wait for a disk are jobs of the offload
 * pool. Splices, multishots, provided buffers and zero-copy sends do the same as on a ring, at the cost of more
 * system calls.
 *
 * Invariants:
 * 1. An entry is in exactly one place: in a watch's `waiting`, in `again`, on its way in the pool, counted by its
 *    timer, linked to an earlier entry, or in `completed` for want of room in the completion queue. From its start
 *    until it is complete it is also in `started`.
 * 2. A descriptor is armed in epoll while entries wait for it. EPOLLONESHOT ends that at each event, so an event
 *    without a waiting entry comes once at most. Each wait asks epoll anew: the number may have been closed and be of
 *    another file since the last one. For the same reason an event is only a hint: the entry looks again.
 * 3. If an event lets no entry go on (a socket's error queue makes it ready for ever), the watch is `edge`, armed
 *    with EPOLLET, until an event finds no waiting entry. So is one with a multishot poll.
 * 4. Nothing here runs the program's code. Completions are posted and dispatched later; a job's end is a message.
 * 5. No splice in the pool waits for the peer of a pipe or socket: that could take the thread for ever, and no cancel
 *    reaches it.
 */
#include "core/executor.h"
#include "core/loop.h"

#include "base/uapi.h"
#include "io/offload_pool.h"

#include <eddy/loop.h>
#include <eddy/timer.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

#define ENTRIES_MAX 32768
#define CQ_ENTRIES_FACTOR 8
#define BUCKETS 1024
#define EVENTS_MAX 64
/* Completions of a multishot in one turn. */
#define SHOTS_MAX 64
/* A UNIX socket whose backlog is full is never reported as ready. */
#define CONNECT_RETRY_NS EDDY_MS

/* Results of attempts that did not complete the entry: no errno is as large. */
enum {
	NOT_READY = -5000,
	NEXT_TURN,
	TO_POOL,
	TIMED, /* its timer goes on with it */
};

struct entry {
	struct io_uring_sqe sqe;
	struct eddy_node started; /* .next is NULL outside of the list */
	struct eddy_node queued;  /* in `waiting`, `again` or `completed`; .next is NULL in none */
	struct poller *poller;
	struct entry *linked; /* starts when this one has succeeded */
	struct entry *bound;  /* its started LINK_TIMEOUT, and the entry of a LINK_TIMEOUT */
	struct eddy_timer timer;
	struct eddyi_job job;
	unsigned events;   /* that it waits for */
	unsigned happened; /* events that it is tried for; 0 at first */
	size_t moved;      /* bytes of a call with MSG_WAITALL */
	int result;
	unsigned flags; /* of its last completion */
	bool in_pool;
	bool connecting;
};

/* What is done with an entry. */
struct operation {
	/* Try the call. Return: its result; NOT_READY, NEXT_TURN, TO_POOL, TIMED. */
	int (*attempt)(struct entry *entry);
	unsigned events;  /* that it waits for */
	unsigned no_wait; /* the flag of a call that fails instead of waiting */
};

/* A descriptor that entries wait for. */
struct watch {
	struct eddy_node waiting;
	bool registered;
	bool edge;
};

struct group {
	struct eddy_node node;
	struct io_uring_buf_ring *ring;
	unsigned mask;
	uint16_t head; /* the next buffer */
	uint16_t number;
};

struct poller {
	struct eddy_loop *loop;
	int fd;
	bool lacks_pwait2;
	/* Of loop->ring, which points to them. */
	unsigned sq_head, sq_flags, cq_head, cq_tail;
	struct watch **watches; /* by descriptor; NULL until an entry waits for it */
	size_t watch_count;
	struct eddy_node started[BUCKETS];
	struct eddy_node again;     /* entries to start, or to try again, in the next turn */
	struct eddy_node completed; /* entries whose completion found no room in the queue */
	struct eddy_node groups;
};

static const struct operation *operation_of(const struct io_uring_sqe *sqe);

/* ---- entries and their completions ---- */

static void queue(struct eddy_node *list, struct entry *entry)
{
	eddy_list_append(list, &entry->queued);
}

static void unqueue(struct entry *entry)
{
	if (entry->queued.next)
		eddy_list_remove(&entry->queued);
}

static struct entry *shift(struct eddy_node *list)
{
	struct eddy_node *node = eddy_list_shift(list);

	return node ? eddy_of(node, struct entry, queued) : NULL;
}

static void take_all(struct eddy_node *from, struct eddy_node *ret_list)
{
	struct entry *entry;

	eddy_list_init(ret_list);
	while ((entry = shift(from)))
		queue(ret_list, entry);
}

static unsigned room(const struct poller *poller)
{
	return poller->loop->ring.cq.ring_entries - (poller->cq_tail - poller->cq_head);
}

static void post(const struct entry *entry, int result, unsigned flags)
{
	struct poller *poller = entry->poller;
	struct io_uring_cq *cq = &poller->loop->ring.cq;

	cq->cqes[poller->cq_tail++ & cq->ring_mask] = (struct io_uring_cqe){
		.user_data = entry->sqe.user_data,
		.res = result,
		.flags = flags,
	};
}

/* Post completions that found no room. */
static void complete_rest(struct poller *poller)
{
	while (room(poller) && !eddy_list_is_empty(&poller->completed)) {
		struct entry *entry = shift(&poller->completed);

		post(entry, entry->result, entry->flags);
		free(entry);
	}
}

/* Post the last completion of an entry that is in no list. */
static void complete(struct entry *entry, int result)
{
	struct poller *poller = entry->poller;

	if (entry->sqe.flags & IOSQE_CQE_SKIP_SUCCESS && result >= 0) {
		free(entry);
		return;
	}
	entry->result = result;
	queue(&poller->completed, entry);
	complete_rest(poller);
}

/* Whether the result ends a chain: an error, or fewer bytes than asked for. */
static bool breaks_chain(const struct io_uring_sqe *sqe, int result)
{
	switch (sqe->opcode) {
	case IORING_OP_READ:
	case IORING_OP_WRITE:
	case IORING_OP_SPLICE:
	case IORING_OP_TEE:
		return result != (int)sqe->len;
	case IORING_OP_RECV:
	case IORING_OP_SEND:
		return result < 0 || (sqe->msg_flags & MSG_WAITALL && result != (int)sqe->len);
	case IORING_OP_TIMEOUT:
		return result != -ETIME || !(sqe->timeout_flags & IORING_TIMEOUT_ETIME_SUCCESS);
	}
	return result < 0;
}

static void finish(struct entry *entry, int result)
{
	struct entry *linked = entry->linked, *bound = entry->bound;

	unqueue(entry);
	eddy_timer_disarm(&entry->timer);
	if (entry->started.next)
		eddy_list_remove(&entry->started);
	if (bound) {
		bound->bound = NULL;
		if (bound->sqe.opcode == IORING_OP_LINK_TIMEOUT)
			finish(bound, -ECANCELED);
	}
	if (linked &&
	    (entry->sqe.flags & IOSQE_IO_HARDLINK || !breaks_chain(&entry->sqe, result))) {
		queue(&entry->poller->again, linked);
		linked = NULL;
	}
	complete(entry, result);
	while (linked) {
		entry = linked;
		linked = entry->linked;
		complete(entry, -ECANCELED);
	}
}

/* ---- descriptors that are not ready ---- */

static struct watch *watch_of(const struct poller *poller, int fd)
{
	return fd >= 0 && (size_t)fd < poller->watch_count ? poller->watches[fd] : NULL;
}

/* Return: NULL on allocation failure. */
static struct watch *make_watch(struct poller *poller, int fd)
{
	size_t at = (size_t)fd, count = at < 64 ? 128 : 2 * at;
	struct watch *watch = watch_of(poller, fd);

	if (watch)
		return watch;
	if (at >= poller->watch_count) {
		struct watch **grown = reallocarray(poller->watches, count, sizeof(*grown));

		if (!grown)
			return NULL;
		memset(grown + poller->watch_count, 0,
		       (count - poller->watch_count) * sizeof(*grown));
		poller->watches = grown;
		poller->watch_count = count;
	}
	watch = calloc(1, sizeof(*watch));
	if (watch)
		eddy_list_init(&watch->waiting);
	return poller->watches[at] = watch;
}

/* Tell epoll what entries wait for. Return: 0, -errno. */
static int arm(struct poller *poller, struct watch *watch, int fd)
{
	struct epoll_event event = {
		.events = watch->edge ? (unsigned)EPOLLET : (unsigned)EPOLLONESHOT,
		.data.fd = fd,
	};
	int op = watch->registered ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, r;

	for (struct eddy_node *at = watch->waiting.next; at != &watch->waiting; at = at->next)
		event.events |= eddy_of(at, struct entry, queued)->events;
	r = epoll_ctl(poller->fd, op, fd, &event);
	/* The number was closed since, or is still registered for a file that was. */
	if (r < 0 && (errno == ENOENT || errno == EEXIST))
		r = epoll_ctl(poller->fd, errno == ENOENT ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd,
			      &event);
	watch->registered = r == 0;
	return r < 0 ? -errno : 0;
}

static void disarm(struct poller *poller, struct watch *watch, int fd)
{
	if (watch->registered)
		epoll_ctl(poller->fd, EPOLL_CTL_DEL, fd, NULL);
	watch->registered = watch->edge = false;
}

static bool is_multishot_poll(const struct io_uring_sqe *sqe)
{
	return sqe->opcode == IORING_OP_POLL_ADD && sqe->len & IORING_POLL_ADD_MULTI;
}

static unsigned events_of(const struct io_uring_sqe *sqe)
{
	return sqe->opcode == IORING_OP_POLL_ADD ? sqe->poll32_events & 0xffff :
						   operation_of(sqe)->events;
}

static bool waits(const struct io_uring_sqe *sqe)
{
	return !(sqe->rw_flags & (int)operation_of(sqe)->no_wait);
}

static bool is_splice(const struct io_uring_sqe *sqe)
{
	return sqe->opcode == IORING_OP_SPLICE || sqe->opcode == IORING_OP_TEE;
}

/* Return: the events; -1 if poll(2) can't tell, as where RLIMIT_NOFILE is 0. */
static int events_now(int fd, unsigned events)
{
	struct pollfd pollfd = { .fd = fd, .events = (short)events };

	return poll(&pollfd, 1, 0) < 0 ? -1 : pollfd.revents;
}

/* The events of the entry's descriptor, or those that epoll has told of. */
static unsigned ready_events(const struct entry *entry)
{
	int now = events_now(entry->sqe.fd, events_of(&entry->sqe));

	return now < 0 ? entry->happened : (unsigned)now;
}

/* The descriptor that an entry waits for, and its `events`. Of a splice, it is the end that is not ready; negative if
 * that can't be told. */
static int awaited_of(struct entry *entry)
{
	const struct io_uring_sqe *sqe = &entry->sqe;
	int out = is_splice(sqe) ? events_now(sqe->fd, POLLOUT) : 0;

	if (out < 0)
		return out;
	entry->events = out & POLLOUT ? POLLIN : events_of(sqe);
	return out & POLLOUT ? sqe->splice_fd_in : sqe->fd;
}

/* Let the entry wait for its descriptor. Return: 0, -errno. */
static int wait_until_ready(struct entry *entry)
{
	struct poller *poller = entry->poller;
	int fd = awaited_of(entry), r;
	struct watch *watch = fd < 0 ? NULL : make_watch(poller, fd);

	if (!watch)
		return fd < 0 ? -EBADF : -ENOMEM;
	if (eddy_list_is_empty(&watch->waiting))
		watch->edge = false;
	watch->edge |= is_multishot_poll(&entry->sqe);
	queue(&watch->waiting, entry);
	r = arm(poller, watch, fd);
	if (r < 0)
		unqueue(entry);
	return r;
}

static void finish_all(struct watch *watch, int result)
{
	while (!eddy_list_is_empty(&watch->waiting))
		finish(eddy_of(watch->waiting.next, struct entry, queued), result);
}

/* ---- system calls ---- */

static void *pointer(uint64_t value)
{
	return (void *)(uintptr_t)value;
}

/* The result of a system call as that of an operation. */
static int result_of(long r)
{
	return r < 0 ? -errno : (int)r;
}

static bool writes(const struct io_uring_sqe *sqe)
{
	return sqe->opcode == IORING_OP_WRITE || sqe->opcode == IORING_OP_WRITEV;
}

static int read_or_write(const struct io_uring_sqe *sqe, int flags)
{
	bool many = sqe->opcode == IORING_OP_READV || sqe->opcode == IORING_OP_WRITEV;
	struct iovec one = { pointer(sqe->addr), sqe->len };
	const struct iovec *parts = many ? pointer(sqe->addr) : &one;
	int count = many ? (int)sqe->len : 1;
	off_t offset = (off_t)sqe->off;
	ssize_t r;

	flags |= (int)sqe->rw_flags;
	for (;; offset = -1) {
		if (!flags && offset == -1)
			r = writes(sqe) ? writev(sqe->fd, parts, count) :
					  readv(sqe->fd, parts, count);
		else
			r = writes(sqe) ? pwritev2(sqe->fd, parts, count, offset, flags) :
					  preadv2(sqe->fd, parts, count, offset, flags);
		/* A ring ignores the offset where there is no position. */
		if (r >= 0 || errno != ESPIPE || offset == -1)
			return result_of(r);
	}
}

/* Splice or tee. It may wait for a disk, but for neither end. */
static int splice_ready(const struct io_uring_sqe *sqe)
{
	unsigned flags = sqe->splice_flags | SPLICE_F_NONBLOCK;
	loff_t in = (loff_t)sqe->splice_off_in, out = (loff_t)sqe->off;

	if (flags & SPLICE_F_FD_IN_FIXED)
		return -EBADF;
	if (sqe->opcode == IORING_OP_TEE)
		return result_of(tee(sqe->splice_fd_in, sqe->fd, sqe->len, flags));
	return result_of(splice(sqe->splice_fd_in, in == -1 ? NULL : &in, sqe->fd,
				out == -1 ? NULL : &out, sqe->len, flags));
}

/* Make a call that is not tried: one that never waits, or on any thread. */
static int make_call(const struct io_uring_sqe *sqe)
{
	int fd = sqe->fd, flags = (int)sqe->rw_flags;
	void *first = pointer(sqe->addr), *second = pointer(sqe->addr2);

	switch (sqe->opcode) {
	case IORING_OP_NOP:
		return 0;
	case IORING_OP_SHUTDOWN:
		return result_of(shutdown(fd, (int)sqe->len));
	case IORING_OP_SOCKET:
		return sqe->file_index ? -EINVAL :
					 result_of(socket(fd, (int)sqe->off, (int)sqe->len));
	case IORING_OP_EPOLL_CTL:
		return result_of(epoll_ctl(fd, (int)sqe->len, (int)sqe->off, first));
	case EDDYI_OP_PIPE:
		return result_of(pipe2(first, flags));
	case IORING_OP_CLOSE:
		return sqe->file_index ? -EINVAL : result_of(close(fd));
	case IORING_OP_OPENAT:
		return sqe->file_index ? -EINVAL :
					 result_of(openat(fd, first, flags, (mode_t)sqe->len));
	case IORING_OP_OPENAT2:
		return sqe->file_index ?
			       -EINVAL :
			       result_of(syscall(SYS_openat2, fd, first, second, (size_t)sqe->len));
	case IORING_OP_STATX:
		return result_of(syscall(SYS_statx, fd, first, flags, sqe->len, second));
	case IORING_OP_RENAMEAT:
		return result_of(syscall(SYS_renameat2, fd, first, (int)sqe->len, second, flags));
	case IORING_OP_LINKAT:
		return result_of(linkat(fd, first, (int)sqe->len, second, flags));
	case IORING_OP_SYMLINKAT:
		return result_of(symlinkat(first, fd, second));
	case IORING_OP_UNLINKAT:
		return result_of(unlinkat(fd, first, flags));
	case IORING_OP_MKDIRAT:
		return result_of(mkdirat(fd, first, (mode_t)sqe->len));
	case IORING_OP_FSYNC:
		return result_of(flags & IORING_FSYNC_DATASYNC ? fdatasync(fd) : fsync(fd));
	case IORING_OP_SYNC_FILE_RANGE:
		return result_of(sync_file_range(fd, (off_t)sqe->off, sqe->len, (unsigned)flags));
	case IORING_OP_FALLOCATE:
		return result_of(fallocate(fd, (int)sqe->len, (off_t)sqe->off, (off_t)sqe->addr));
	case IORING_OP_FADVISE:
		return -posix_fadvise(fd, (off_t)sqe->off, sqe->len, flags);
	case IORING_OP_MADVISE:
		return result_of(madvise(first, sqe->len, flags));
	case IORING_OP_SETXATTR:
		return result_of(setxattr(pointer(sqe->addr3), first, second, sqe->len, flags));
	case IORING_OP_GETXATTR:
		return result_of(getxattr(pointer(sqe->addr3), first, second, sqe->len));
	case IORING_OP_FSETXATTR:
		return result_of(fsetxattr(fd, first, second, sqe->len, flags));
	case IORING_OP_FGETXATTR:
		return result_of(fgetxattr(fd, first, second, sqe->len));
	case EDDYI_OP_FTRUNCATE:
		return result_of(ftruncate(fd, (off_t)sqe->off));
	case IORING_OP_SPLICE:
	case IORING_OP_TEE:
		return splice_ready(sqe);
	case IORING_OP_READ:
	case IORING_OP_READV:
	case IORING_OP_WRITE:
	case IORING_OP_WRITEV:
		return read_or_write(sqe, 0);
	}
	return -EINVAL;
}

/* Make a call that has no flag for it without waiting. */
static int without_waiting(int (*call)(const struct io_uring_sqe *sqe),
			   const struct io_uring_sqe *sqe)
{
	/* Another loop may use the same socket, and must not take this O_NONBLOCK for its own. */
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	int flags, r;

	pthread_mutex_lock(&lock);
	flags = fcntl(sqe->fd, F_GETFL);
	if (flags >= 0 && !(flags & O_NONBLOCK))
		fcntl(sqe->fd, F_SETFL, flags | O_NONBLOCK);
	r = flags < 0 ? -errno : call(sqe);
	if (flags >= 0 && !(flags & O_NONBLOCK))
		fcntl(sqe->fd, F_SETFL, flags);
	pthread_mutex_unlock(&lock);
	return r;
}

/* The result of a call that was made without waiting. */
static int unless_it_waits(const struct io_uring_sqe *sqe, int result)
{
	return result == -EAGAIN && waits(sqe) ? NOT_READY : result;
}

/* ---- attempts ---- */

static int at_once(struct entry *entry)
{
	return make_call(&entry->sqe);
}

static int in_pool(__attribute__((unused)) struct entry *entry)
{
	return TO_POOL;
}

/* Return: 0 for a descriptor that is not open, too. */
static mode_t mode_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) < 0 ? 0 : st.st_mode & S_IFMT;
}

static bool is_of_files(mode_t mode)
{
	return mode == S_IFREG || mode == S_IFDIR || mode == S_IFBLK;
}

/* Read or write where the kernel can't say whether that would wait. */
static int read_or_write_anyway(const struct entry *entry)
{
	const struct io_uring_sqe *sqe = &entry->sqe;
	struct io_uring_sqe part = *sqe;

	if (!(fcntl(sqe->fd, F_GETFL) & O_NONBLOCK)) {
		/* The other end of a terminal may hold it up in the middle. */
		if (writes(sqe) && mode_of(sqe->fd) == S_IFCHR)
			return TO_POOL;
		if (!ready_events(entry))
			return NOT_READY;
		if (sqe->opcode == IORING_OP_WRITE && part.len > PIPE_BUF)
			part.len = PIPE_BUF;
	}
	return unless_it_waits(sqe, read_or_write(&part, 0));
}

static int try_read_or_write(struct entry *entry)
{
	const struct io_uring_sqe *sqe = &entry->sqe;
	int r = read_or_write(sqe, RWF_NOWAIT);

	switch (r) {
	case -EAGAIN:
	case -EOPNOTSUPP:
	case -ENOSYS: /* before Linux 4.14 */
	case -EPERM:  /* in some sandboxes */
		if (is_of_files(mode_of(sqe->fd)))
			return TO_POOL;
		return r == -EAGAIN ? unless_it_waits(sqe, r) : read_or_write_anyway(entry);
	}
	return r;
}

static bool is_stream_socket(int fd)
{
	int type = 0;
	socklen_t len = sizeof(type);

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 &&
	       (type == SOCK_STREAM || type == SOCK_SEQPACKET);
}

/* Receive or send once, or with MSG_WAITALL until all bytes have moved. */
static int move_bytes(struct entry *entry)
{
	const struct io_uring_sqe *sqe = &entry->sqe;
	int flags = (int)sqe->msg_flags | MSG_DONTWAIT;
	ssize_t r;

	do {
		char *at = (char *)pointer(sqe->addr) + entry->moved;
		size_t len = sqe->len - entry->moved;

		/* A datagram may have a receiver, of io_uring_prep_send_set_addr(). */
		r = sqe->opcode == IORING_OP_RECV ?
			    recv(sqe->fd, at, len, flags) :
			    sendto(sqe->fd, at, len, flags, pointer(sqe->addr2),
				   sqe->addr2 ? sqe->addr_len : 0);
		if (r < 0 && errno == EAGAIN && waits(sqe))
			return NOT_READY;
		if (r < 0)
			return entry->moved ? (int)entry->moved : -errno;
		entry->moved += (size_t)r;
	} while (r > 0 && sqe->msg_flags & MSG_WAITALL && entry->moved < sqe->len &&
		 is_stream_socket(sqe->fd));
	return (int)entry->moved;
}

static int move_message(struct entry *entry)
{
	const struct io_uring_sqe *sqe = &entry->sqe;
	int flags = (int)sqe->msg_flags | MSG_DONTWAIT;

	if (sqe->opcode != IORING_OP_RECVMSG)
		return unless_it_waits(sqe, result_of(sendmsg(sqe->fd, pointer(sqe->addr), flags)));
	if (sqe->ioprio & IORING_RECV_MULTISHOT)
		return -EINVAL;
	return unless_it_waits(sqe, result_of(recvmsg(sqe->fd, pointer(sqe->addr), flags)));
}

static struct group *group_of(struct poller *poller, unsigned number)
{
	for (struct eddy_node *at = poller->groups.next; at != &poller->groups; at = at->next)
		if (eddy_of(at, struct group, node)->number == number)
			return eddy_of(at, struct group, node);
	return NULL;
}

/* Receive into the next buffer of a group. */
static int receive_provided(struct entry *entry)
{
	const struct io_uring_sqe *sqe = &entry->sqe;
	struct group *group = group_of(entry->poller, sqe->buf_group);
	const struct io_uring_buf *buffer;
	size_t len = sqe->len;
	int r;

	if (!group || group->head == io_uring_smp_load_acquire(&group->ring->tail))
		return -ENOBUFS;
	buffer = &group->ring->bufs[group->head & group->mask];
	if (!len || len > buffer->len)
		len = buffer->len;
	r = result_of(
		recv(sqe->fd, pointer(buffer->addr), len, (int)sqe->msg_flags | MSG_DONTWAIT));
	if (r > 0) {
		entry->flags = IORING_CQE_F_BUFFER | (unsigned)buffer->bid
							     << IORING_CQE_BUFFER_SHIFT;
		group->head++;
	}
	return unless_it_waits(sqe, r);
}

static int receive(struct entry *entry)
{
	struct io_uring_sqe *sqe = &entry->sqe;
	bool many = sqe->ioprio & IORING_RECV_MULTISHOT;

	if (sqe->ioprio & ~(unsigned)(IORING_RECV_MULTISHOT | IORING_RECVSEND_POLL_FIRST))
		return -EINVAL;
	if (!(sqe->flags & IOSQE_BUFFER_SELECT))
		return many ? -EINVAL : move_bytes(entry);
	if (!many)
		return receive_provided(entry);
	for (unsigned i = 0; i < SHOTS_MAX && room(entry->poller) > 1; i++) {
		int r = receive_provided(entry);

		/* The field holds the bytes that it may still receive, or 0. */
		if (r <= 0 || (sqe->file_index && (unsigned)r >= sqe->file_index))
			return r;
		if (sqe->file_index)
			sqe->file_index -= (unsigned)r;
		post(entry, r, entry->flags | IORING_CQE_F_MORE);
		entry->flags = 0;
	}
	return NEXT_TURN;
}

/* Send, and say with a second completion that the memory is no longer in use. */
static int send_zc(struct entry *entry)
{
	const struct io_uring_sqe *sqe = &entry->sqe;
	int r;

	if (room(entry->poller) < 2)
		return NEXT_TURN;
	if (sqe->ioprio & IORING_RECVSEND_FIXED_BUF)
		return -EINVAL;
	r = sqe->opcode == IORING_OP_SEND_ZC ? move_bytes(entry) : move_message(entry);
	if (r < 0)
		return r;
	post(entry, r, IORING_CQE_F_MORE);
	entry->flags = IORING_CQE_F_NOTIF;
	return sqe->ioprio & EDDYI_SEND_ZC_REPORT_USAGE ? (int)EDDYI_NOTIF_ZC_COPIED : 0;
}

static int accept_one(const struct io_uring_sqe *sqe)
{
	return result_of(
		accept4(sqe->fd, pointer(sqe->addr), pointer(sqe->addr2), (int)sqe->accept_flags));
}

static int accept_connections(struct entry *entry)
{
	const struct io_uring_sqe *sqe = &entry->sqe;

	if (sqe->file_index)
		return -EINVAL;
	for (unsigned i = 0; i < SHOTS_MAX && room(entry->poller) > 1; i++) {
		int r = unless_it_waits(sqe, without_waiting(accept_one, sqe));

		if (r < 0 || !(sqe->ioprio & IORING_ACCEPT_MULTISHOT))
			return r;
		post(entry, r, IORING_CQE_F_MORE);
	}
	return NEXT_TURN;
}

static int connect_one(const struct io_uring_sqe *sqe)
{
	return result_of(connect(sqe->fd, pointer(sqe->addr), (socklen_t)sqe->off));
}

static void try_later(struct eddy_timer *timer)
{
	struct entry *entry = eddy_of(timer, struct entry, timer);

	queue(&entry->poller->again, entry);
}

static void start_timer(struct entry *entry, void (*fire)(struct eddy_timer *timer), uint64_t at_ns)
{
	entry->timer.fire = fire;
	eddy_timer_arm(&entry->timer, at_ns);
}

static int connect_socket(struct entry *entry)
{
	int error = 0, r;
	socklen_t len = sizeof(error);

	if (entry->connecting) {
		if (!ready_events(entry))
			return NOT_READY;
		r = getsockopt(entry->sqe.fd, SOL_SOCKET, SO_ERROR, &error, &len);
		return r < 0 ? -errno : -error;
	}
	r = without_waiting(connect_one, &entry->sqe);
	entry->connecting = r == -EINPROGRESS;
	if (r == -EAGAIN) {
		start_timer(entry, try_later, eddyi_time_after(eddy_now(), CONNECT_RETRY_NS));
		return TIMED;
	}
	return entry->connecting ? NOT_READY : r;
}

static int splice_bytes(struct entry *entry)
{
	const struct io_uring_sqe *sqe = &entry->sqe;
	mode_t in = mode_of(sqe->splice_fd_in), out = mode_of(sqe->fd);

	/* Terminals and sockets that it writes to don't heed SPLICE_F_NONBLOCK. */
	if (is_of_files(in) || is_of_files(out) || out == S_IFCHR)
		return TO_POOL;
	return unless_it_waits(sqe, out == S_IFSOCK ? without_waiting(splice_ready, sqe) :
						      splice_ready(sqe));
}

static int look(struct entry *entry)
{
	const struct io_uring_sqe *sqe = &entry->sqe;
	unsigned events = ready_events(entry);

	if (events & POLLNVAL)
		return -EBADF;
	if (!events)
		return NOT_READY;
	if (!is_multishot_poll(sqe))
		return (int)events;
	if (room(entry->poller) < 2)
		return NEXT_TURN;
	post(entry, (int)events, IORING_CQE_F_MORE);
	return NOT_READY;
}

static int close_one(struct entry *entry)
{
	struct watch *watch = watch_of(entry->poller, entry->sqe.fd);

	if (watch) {
		/* Another descriptor may keep the file open, and epoll would go on to report it. */
		disarm(entry->poller, watch, entry->sqe.fd);
		finish_all(watch, -ECANCELED);
	}
	/* A file system may have to write first. */
	return is_of_files(mode_of(entry->sqe.fd)) ? TO_POOL : make_call(&entry->sqe);
}

/* ---- timeouts and cancels ---- */

static struct eddy_node *bucket_of(struct poller *poller, uint64_t data)
{
	return &poller->started[(data * UINT64_C(0x9e3779b97f4a7c15)) >> 54];
}

/* Return: 0; -EALREADY if its call is being made. */
static int cancel(struct entry *entry)
{
	if (entry->in_pool && !eddyi_offload_take_back(&entry->job))
		return -EALREADY;
	finish(entry, entry->moved ? (int)entry->moved : -ECANCELED);
	return 0;
}

static int cancel_named(struct entry *by)
{
	const struct io_uring_sqe *sqe = &by->sqe;
	struct eddy_node *head = bucket_of(by->poller, sqe->addr), *node;

	/* By descriptor, or a change of what goes on. */
	if (sqe->opcode == IORING_OP_POLL_REMOVE ? sqe->len : sqe->cancel_flags)
		return -EINVAL;
	for (node = head->next; node != head; node = node->next) {
		struct entry *entry = eddy_of(node, struct entry, started);

		if (entry->sqe.user_data == sqe->addr && entry != by)
			return cancel(entry);
	}
	return -ENOENT;
}

static void time_is_up(struct eddy_timer *timer)
{
	struct entry *entry = eddy_of(timer, struct entry, timer), *bound = entry->bound;
	int r = 0;

	if (bound) {
		entry->bound = bound->bound = NULL;
		r = cancel(bound);
	}
	finish(entry, r < 0 ? r : -ETIME);
}

static int begin_timeout(struct entry *entry)
{
	const struct io_uring_sqe *sqe = &entry->sqe;
	const struct __kernel_timespec *time = pointer(sqe->addr);
	const unsigned known = IORING_TIMEOUT_ABS | IORING_TIMEOUT_ETIME_SUCCESS;
	uint64_t at;

	/* The offset is a count of completions; all callers that want only the time pass 0. */
	if (sqe->off > (sqe->opcode == IORING_OP_LINK_TIMEOUT) || sqe->timeout_flags & ~known ||
	    time->tv_sec < 0 || time->tv_nsec < 0)
		return -EINVAL;
	if (__builtin_mul_overflow((uint64_t)time->tv_sec, EDDY_SECOND, &at))
		at = EDDY_NEVER;
	at = eddyi_time_after(at, (uint64_t)time->tv_nsec);
	if (!(sqe->timeout_flags & IORING_TIMEOUT_ABS))
		at = eddyi_time_after(eddy_now(), at);
	start_timer(entry, time_is_up, at);
	return TIMED;
}

/* ---- starting and trying ---- */

static const struct operation *operation_of(const struct io_uring_sqe *sqe)
{
	static const struct operation operations[256] = {
		[IORING_OP_NOP] = { at_once, 0, 0 },
		[IORING_OP_SHUTDOWN] = { at_once, 0, 0 },
		[IORING_OP_SOCKET] = { at_once, 0, 0 },
		[IORING_OP_EPOLL_CTL] = { at_once, 0, 0 },
		[EDDYI_OP_PIPE] = { at_once, 0, 0 },
		[IORING_OP_CLOSE] = { close_one, 0, 0 },
		[IORING_OP_OPENAT] = { in_pool, 0, 0 },
		[IORING_OP_OPENAT2] = { in_pool, 0, 0 },
		[IORING_OP_STATX] = { in_pool, 0, 0 },
		[IORING_OP_RENAMEAT] = { in_pool, 0, 0 },
		[IORING_OP_LINKAT] = { in_pool, 0, 0 },
		[IORING_OP_SYMLINKAT] = { in_pool, 0, 0 },
		[IORING_OP_UNLINKAT] = { in_pool, 0, 0 },
		[IORING_OP_MKDIRAT] = { in_pool, 0, 0 },
		[IORING_OP_FSYNC] = { in_pool, 0, 0 },
		[IORING_OP_SYNC_FILE_RANGE] = { in_pool, 0, 0 },
		[IORING_OP_FALLOCATE] = { in_pool, 0, 0 },
		[IORING_OP_FADVISE] = { in_pool, 0, 0 },
		[IORING_OP_MADVISE] = { in_pool, 0, 0 },
		[IORING_OP_SETXATTR] = { in_pool, 0, 0 },
		[IORING_OP_GETXATTR] = { in_pool, 0, 0 },
		[IORING_OP_FSETXATTR] = { in_pool, 0, 0 },
		[IORING_OP_FGETXATTR] = { in_pool, 0, 0 },
		[EDDYI_OP_FTRUNCATE] = { in_pool, 0, 0 },
		[IORING_OP_READ] = { try_read_or_write, POLLIN, RWF_NOWAIT },
		[IORING_OP_READV] = { try_read_or_write, POLLIN, RWF_NOWAIT },
		[IORING_OP_WRITE] = { try_read_or_write, POLLOUT, RWF_NOWAIT },
		[IORING_OP_WRITEV] = { try_read_or_write, POLLOUT, RWF_NOWAIT },
		[IORING_OP_RECV] = { receive, POLLIN, MSG_DONTWAIT },
		[IORING_OP_RECVMSG] = { move_message, POLLIN, MSG_DONTWAIT },
		[IORING_OP_SEND] = { move_bytes, POLLOUT, MSG_DONTWAIT },
		[IORING_OP_SENDMSG] = { move_message, POLLOUT, MSG_DONTWAIT },
		[IORING_OP_SEND_ZC] = { send_zc, POLLOUT, MSG_DONTWAIT },
		[IORING_OP_SENDMSG_ZC] = { send_zc, POLLOUT, MSG_DONTWAIT },
		[IORING_OP_ACCEPT] = { accept_connections, POLLIN, 0 },
		[IORING_OP_CONNECT] = { connect_socket, POLLOUT, 0 },
		[IORING_OP_SPLICE] = { splice_bytes, POLLOUT, SPLICE_F_NONBLOCK },
		[IORING_OP_TEE] = { splice_bytes, POLLOUT, SPLICE_F_NONBLOCK },
		[IORING_OP_POLL_ADD] = { look, 0, 0 },
		[IORING_OP_POLL_REMOVE] = { cancel_named, 0, 0 },
		[IORING_OP_TIMEOUT] = { begin_timeout, 0, 0 },
		[IORING_OP_TIMEOUT_REMOVE] = { cancel_named, 0, 0 },
		[IORING_OP_ASYNC_CANCEL] = { cancel_named, 0, 0 },
	};

	return &operations[sqe->opcode];
}

static int call_in_pool(void *arg)
{
	return make_call(&((const struct entry *)arg)->sqe);
}

static void job_ended(struct eddy_message *message)
{
	struct entry *entry = eddy_of(message, struct entry, job.message);
	int r = entry->job.result;

	entry->in_pool = false;
	/* One end of a splice is a file, the other a pipe that was not ready. */
	if (r == -EAGAIN && is_splice(&entry->sqe) && waits(&entry->sqe)) {
		r = wait_until_ready(entry);
		if (r == 0)
			return;
	}
	finish(entry, r);
}

static void to_pool(struct entry *entry)
{
	entry->job = (struct eddyi_job){
		.message = { .deliver = job_ended },
		.loop = entry->poller->loop,
		.kind = EDDYI_JOB_FILE,
		.fn = call_in_pool,
		.arg = entry,
	};
	entry->in_pool = eddyi_offload_submit(&entry->job) == 0;
	if (entry->in_pool)
		return;
	/* There are no threads: better late than never. */
	entry->job.result = call_in_pool(entry);
	job_ended(&entry->job.message);
}

/* Act on the result of an attempt. */
static void settle(struct entry *entry, int result)
{
	if (result == NOT_READY) {
		result = wait_until_ready(entry);
		if (result == 0)
			return;
		/* epoll takes no files, and some devices. */
		if (result == -EPERM)
			result = TO_POOL;
	}
	if (result == TO_POOL)
		to_pool(entry);
	else if (result == NEXT_TURN)
		queue(&entry->poller->again, entry);
	else if (result != TIMED)
		finish(entry, result);
}

static void add_started(struct entry *entry)
{
	eddy_list_append(bucket_of(entry->poller, entry->sqe.user_data), &entry->started);
}

/* Start the LINK_TIMEOUT that follows an entry. */
static void start_bound(struct entry *entry)
{
	struct entry *bound = entry->linked;
	int r;

	entry->linked = bound->linked;
	bound->linked = NULL;
	add_started(bound);
	r = begin_timeout(bound);
	if (r != TIMED) {
		finish(bound, r);
		return;
	}
	bound->bound = entry;
	entry->bound = bound;
}

/* Whether an entry waits for an event before it is tried. */
static bool waits_first(const struct io_uring_sqe *sqe)
{
	if (sqe->opcode == IORING_OP_RECV || sqe->opcode == IORING_OP_SEND)
		return sqe->ioprio & IORING_RECVSEND_POLL_FIRST && waits(sqe);
	return is_multishot_poll(sqe);
}

static void start(struct entry *entry)
{
	const struct io_uring_sqe *sqe = &entry->sqe;
	const struct operation *operation = operation_of(sqe);

	add_started(entry);
	if (entry->linked && entry->linked->sqe.opcode == IORING_OP_LINK_TIMEOUT)
		start_bound(entry);
	if (!operation->attempt || sqe->personality ||
	    sqe->flags & (IOSQE_FIXED_FILE | IOSQE_IO_DRAIN))
		finish(entry, -EINVAL);
	else
		settle(entry, waits_first(sqe) ? NOT_READY : operation->attempt(entry));
}

/* ---- turns ---- */

static void free_chain(struct entry *entry)
{
	while (entry) {
		struct entry *linked = entry->linked;

		free(entry);
		entry = linked;
	}
}

/* Take a queued entry and those that are linked to it, or none of them. Return: NULL on allocation failure. */
static struct entry *take_chain(struct poller *poller)
{
	const struct io_uring_sq *sq = &poller->loop->ring.sq;
	struct entry *first = NULL, **next = &first, *entry;
	unsigned at = poller->sq_head;

	do {
		entry = *next = calloc(1, sizeof(*entry));
		if (!entry) {
			free_chain(first);
			return NULL;
		}
		entry->sqe = sq->sqes[at++ & sq->ring_mask];
		entry->poller = poller;
		next = &entry->linked;
	} while (entry->sqe.flags & (IOSQE_IO_LINK | IOSQE_IO_HARDLINK) && at != sq->sqe_tail);
	poller->sq_head = at;
	return first;
}

/* Start the queued entries; of a chain, the first. Return: 0; -ENOMEM if not all were taken. */
static int submit(struct poller *poller)
{
	while (poller->sq_head != poller->loop->ring.sq.sqe_tail) {
		struct entry *first = take_chain(poller);

		if (!first)
			return -ENOMEM;
		start(first);
	}
	return 0;
}

static void try_again(struct poller *poller)
{
	struct eddy_node now;
	struct entry *entry;

	/* What comes back is for the next turn. */
	take_all(&poller->again, &now);
	while ((entry = shift(&now))) {
		if (entry->started.next)
			settle(entry, operation_of(&entry->sqe)->attempt(entry));
		else
			start(entry);
	}
}

/* Try an entry whose descriptor has had events. Return: whether it goes on waiting for it. */
static bool still_waits(struct entry *entry, struct watch *watch, int fd, unsigned events)
{
	int result;

	if (!(events & (entry->events | EPOLLERR | EPOLLHUP))) {
		queue(&watch->waiting, entry);
		return true;
	}
	entry->happened = events;
	result = operation_of(&entry->sqe)->attempt(entry);
	entry->happened = 0;
	if (result == NOT_READY && awaited_of(entry) == fd) {
		queue(&watch->waiting, entry);
		return true;
	}
	settle(entry, result);
	return false;
}

static void has_happened(struct poller *poller, int fd, unsigned events)
{
	struct watch *watch = watch_of(poller, fd);
	struct eddy_node due;
	struct entry *entry;
	bool went_on = false;
	int r;

	if (!watch)
		return;
	take_all(&watch->waiting, &due);
	while ((entry = shift(&due)))
		went_on |= !still_waits(entry, watch, fd, events);
	if (eddy_list_is_empty(&watch->waiting) && watch->edge)
		disarm(poller, watch, fd);
	if (eddy_list_is_empty(&watch->waiting) || watch->edge)
		return;
	watch->edge = !went_on;
	r = arm(poller, watch, fd);
	if (r < 0)
		finish_all(watch, r);
}

/* epoll_pwait2(2), which came with Linux 5.11, and which old filters forbid. */
static int wait_for_events(struct poller *poller, struct epoll_event *events, uint64_t timeout_ns)
{
	struct timespec timeout = {
		.tv_sec = (time_t)(timeout_ns / EDDY_SECOND),
		.tv_nsec = (long)(timeout_ns % EDDY_SECOND),
	};
	struct timespec *until = timeout_ns == EDDY_NEVER ? NULL : &timeout;
	struct pollfd pollfd = { .fd = poller->fd, .events = POLLIN };
	int count;

	if (timeout_ns && !poller->lacks_pwait2) {
		count = epoll_pwait2(poller->fd, events, EVENTS_MAX, until, NULL);
		if (count >= 0 || (errno != ENOSYS && errno != EPERM))
			return count;
		poller->lacks_pwait2 = true;
	}
	if (timeout_ns && ppoll(&pollfd, 1, until, NULL) < 0)
		return -1;
	return epoll_wait(poller->fd, events, EVENTS_MAX, 0);
}

/* The timers of this turn's entries are in no timeout that the caller has looked up before. */
static uint64_t until_next_timer(const struct eddy_loop *loop, uint64_t timeout_ns)
{
	uint64_t at = loop->timers.top ? loop->timers.top->at_ns : EDDY_NEVER;
	uint64_t now = at == EDDY_NEVER ? 0 : eddy_now();
	uint64_t left = at > now ? at - now : 0;

	return left < timeout_ns ? left : timeout_ns;
}

static int poll_wait(struct eddy_loop *loop, uint64_t timeout_ns)
{
	struct poller *poller = loop->executor_state;
	struct epoll_event events[EVENTS_MAX];
	int submitted, count;

	complete_rest(poller);
	submitted = submit(poller);
	try_again(poller);
	if (submitted < 0 || poller->cq_tail != poller->cq_head ||
	    !eddy_list_is_empty(&poller->again))
		timeout_ns = 0;
	if (timeout_ns)
		timeout_ns = until_next_timer(loop, timeout_ns);
	count = wait_for_events(poller, events, timeout_ns);
	if (count < 0 && submitted == 0)
		return -errno;
	for (int i = 0; i < count; i++)
		has_happened(poller, events[i].data.fd, events[i].events);
	return submitted;
}

static int poll_enter(struct eddy_loop *loop)
{
	return poll_wait(loop, 0);
}

/* ---- begin and end ---- */

static void poll_end(struct eddy_loop *loop)
{
	struct poller *poller = loop->executor_state;
	struct entry *entry;

	/* No op is in flight any more, so no entry is started; completions may have been left. */
	while ((entry = shift(&poller->completed)))
		free(entry);
	while (!eddy_list_is_empty(&poller->groups))
		free(eddy_of(eddy_list_shift(&poller->groups), struct group, node));
	for (size_t fd = 0; fd < poller->watch_count; fd++)
		free(poller->watches[fd]);
	free(poller->watches);
	if (poller->fd >= 0)
		close(poller->fd);
	free(loop->ring.sq.sqes);
	free(loop->ring.cq.cqes);
	free(poller);
}

static int poll_begin(struct eddy_loop *loop, unsigned entries)
{
	struct poller *poller = calloc(1, sizeof(*poller));
	unsigned count = 1;
	int r = -ENOMEM;

	if (!poller)
		return -ENOMEM;
	while (count < entries && count < ENTRIES_MAX)
		count *= 2;
	loop->ring = (struct io_uring){
		.sq = {
			.khead = &poller->sq_head,
			.kflags = &poller->sq_flags,
			.sqes = calloc(count, sizeof(struct io_uring_sqe)),
			.ring_mask = count - 1,
			.ring_entries = count,
		},
		.cq = {
			.khead = &poller->cq_head,
			.ktail = &poller->cq_tail,
			.cqes = calloc((size_t)count * CQ_ENTRIES_FACTOR, sizeof(struct io_uring_cqe)),
			.ring_mask = count * CQ_ENTRIES_FACTOR - 1,
			.ring_entries = count * CQ_ENTRIES_FACTOR,
		},
		.ring_fd = -1,
		.enter_ring_fd = -1,
	};
	loop->executor_state = poller;
	poller->loop = loop;
	poller->fd = epoll_create1(EPOLL_CLOEXEC);
	if (poller->fd < 0)
		r = -errno;
	for (size_t i = 0; i < BUCKETS; i++)
		eddy_list_init(&poller->started[i]);
	eddy_list_init(&poller->again);
	eddy_list_init(&poller->completed);
	eddy_list_init(&poller->groups);
	if (poller->fd >= 0 && loop->ring.sq.sqes && loop->ring.cq.cqes)
		return 0;
	poll_end(loop);
	return r;
}

/* All loops share them, so none has a number of its own in its statistics. */
static int poll_limit_workers(__attribute__((unused)) struct eddy_loop *loop, unsigned max)
{
	eddyi_offload_limit_files(max);
	return 0;
}

static int poll_add_buffers(struct eddy_loop *loop, struct io_uring_buf_reg *reg)
{
	struct poller *poller = loop->executor_state;
	struct group *group;

	if (group_of(poller, reg->bgid))
		return -EEXIST;
	group = calloc(1, sizeof(*group));
	if (!group)
		return -ENOMEM;
	group->ring = pointer(reg->ring_addr);
	group->mask = reg->ring_entries - 1;
	group->number = reg->bgid;
	eddy_list_append(&poller->groups, &group->node);
	return 0;
}

static void poll_remove_buffers(struct eddy_loop *loop, int number)
{
	struct group *group = group_of(loop->executor_state, (unsigned)number);

	eddy_list_remove(&group->node);
	free(group);
}

const struct eddyi_executor eddyi_executor_poll = {
	.name = "poll",
	.call = "epoll_wait",
	.begin = poll_begin,
	.end = poll_end,
	.enter = poll_enter,
	.wait = poll_wait,
	.limit_workers = poll_limit_workers,
	.add_buffers = poll_add_buffers,
	.remove_buffers = poll_remove_buffers,
};
