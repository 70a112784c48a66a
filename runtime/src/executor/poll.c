/* The executor without io_uring: system calls in place of ring operations. Calls on sockets and pipes are tried, and
 * made again when epoll says that the descriptor is ready; calls that may wait for a disk are jobs of the offload
 * pool. Splices, multishots, provided buffers and zero-copy sends do the same as on a ring, at the cost of more
 * system calls.
 *
 * Invariants:
 * 1. An entry is in exactly one place: in `waiting`, in `due`, on its way in the pool, counted by its timer, linked to
 *    an earlier entry, or in `completed`. From its start until it is complete it is also in `started`.
 * 2. A descriptor is armed in epoll while entries wait for it. EPOLLONESHOT ends that at each event. Each wait asks
 *    epoll anew: the number may have been closed and be of another file since the last one. Events carry the number of
 *    their arming, so an entry ignores those of another file.
 * 3. An entry that waits on after an event is `edge`, as a socket's error queue makes it ready for ever, and only a
 *    change can help. So is a multishot poll. With such an entry a descriptor is armed with EPOLLET, until an event
 *    finds no waiting entry. If its number was closed by then, and another descriptor keeps the file open, each change
 *    of that file ends a sleep for nothing.
 * 4. Nothing here runs the program's code. Completions are posted and dispatched later; a job's end is a message.
 * 5. No splice in the pool waits for the peer of a pipe or socket: that could take the thread for ever, and no cancel
 *    reaches it.
 * 6. The last completion of an entry is posted by poll_wait() only, when the queue has room. A multishot posts others
 *    at once, and ends if there is no room for them, as on a ring.
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
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define ENTRIES_MAX 32768
#define CQ_ENTRIES_FACTOR 8
#define BUCKETS 4096
#define EVENTS_MAX 64
#define SHOTS_MAX 64
#define RETRY_NS EDDY_MS
#define POLL_FIRST IORING_RECVSEND_POLL_FIRST
#define LINKS (IOSQE_IO_LINK | IOSQE_IO_HARDLINK)

/* Results of attempts that did not complete the entry: no errno is as large. With -EAGAIN it waits for its descriptor,
 * unless it asks not to. */
enum {
	TO_POOL = -5000,
	TIMED, /* its timer goes on with it */
};

struct entry {
	struct io_uring_sqe sqe;
	struct eddy_node started; /* .next is NULL outside of the list */
	struct eddy_node queued;  /* of `waiting`, `due` or `completed`; .next is NULL in none */
	struct poller *poller;
	struct entry *linked;  /* starts when this one has ended */
	struct entry *bounded; /* of a started LINK_TIMEOUT: the entry that it is linked to */
	struct eddy_timer timer;
	struct eddyi_job job;
	int awaited;       /* the descriptor that it waits for */
	unsigned events;   /* that it waits for */
	unsigned armed;    /* the number of the arming that it is part of */
	unsigned happened; /* events that it is tried for; 0 at first */
	size_t moved;      /* bytes that were sent or received */
	int result;
	unsigned flags; /* of its next completion */
	bool edge;      /* it is tried at changes only */
	bool in_pool;
	bool broken; /* the chain ended before it */
};

/* What an argument of a system call is in an entry. */
enum field { NO_FIELD, FD, ADDR, LEN, OFF, FLAGS, ADDR3 };

/* What is done with an entry. */
struct operation {
	/* Try the call. Return: its result; TO_POOL, TIMED. */
	int (*attempt)(struct entry *entry);
	long number; /* of the system call, if it is called with fields as they are */
	enum field args[5];
	unsigned events;  /* that it waits for */
	unsigned no_wait; /* the flag of a call that fails instead of waiting */
	unsigned ioprio;  /* flags that it may have there, or a priority */
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
	unsigned armings;
	struct eddyi_heap timers;          /* of entries */
	uint64_t fired_ns;                 /* those up to here were fired */
	struct eddy_node waiting[BUCKETS]; /* entries by descriptor */
	struct eddy_node started[BUCKETS]; /* entries by user_data */
	struct entry *linking;             /* the next entry that is taken will be linked to it */
	struct eddy_node due;              /* entries to start */
	struct eddy_node completed;        /* entries whose last completion is to be posted */
	struct eddy_node groups;
};

static const struct operation operations[256];
static void settle(struct entry *entry, int result);
static void try_again(struct eddy_timer *timer);

static const struct operation *operation_of(const struct io_uring_sqe *sqe)
{
	return &operations[sqe->opcode];
}

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

/* Return: false if the queue is full. */
static bool post(const struct entry *entry, int result, unsigned flags)
{
	struct poller *poller = entry->poller;
	struct io_uring_cq *cq = &poller->loop->ring.cq;

	if (poller->cq_tail - poller->cq_head == cq->ring_entries)
		return false;
	cq->cqes[poller->cq_tail++ & cq->ring_mask] = (struct io_uring_cqe){
		.user_data = entry->sqe.user_data,
		.res = result,
		.flags = flags,
	};
	return true;
}

/* Post the last completions of entries, as many as there is room for. */
static void post_completed(struct poller *poller)
{
	while (!eddy_list_is_empty(&poller->completed)) {
		struct entry *entry = eddy_of(poller->completed.next, struct entry, queued);

		if (!post(entry, entry->result, entry->flags))
			return;
		unqueue(entry);
		free(entry);
	}
}

static void *pointer(uint64_t value)
{
	return (void *)(uintptr_t)value;
}

/* What it sends or receives, in `part` if it names no message. */
static struct msghdr message_of(const struct io_uring_sqe *sqe, struct iovec *part)
{
	switch (sqe->opcode) {
	case IORING_OP_RECVMSG:
	case IORING_OP_SENDMSG:
	case IORING_OP_SENDMSG_ZC:
		return *(const struct msghdr *)pointer(sqe->addr);
	}
	*part = (struct iovec){ pointer(sqe->addr), sqe->len };
	/* A datagram may have a receiver, of io_uring_prep_send_set_addr(). */
	return (struct msghdr){
		.msg_name = pointer(sqe->addr2),
		.msg_namelen = sqe->addr2 ? sqe->addr_len : 0,
		.msg_iov = part,
		.msg_iovlen = 1,
	};
}

static size_t size_of(const struct io_uring_sqe *sqe)
{
	struct iovec part;
	struct msghdr message = message_of(sqe, &part);
	size_t size = 0;

	for (size_t i = 0; i < message.msg_iovlen; i++)
		size += message.msg_iov[i].iov_len;
	return size;
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
	case IORING_OP_RECVMSG:
	case IORING_OP_SEND:
	case IORING_OP_SENDMSG:
	case IORING_OP_SEND_ZC:
	case IORING_OP_SENDMSG_ZC:
		return result < 0 ||
		       (sqe->msg_flags & MSG_WAITALL && (size_t)result < size_of(sqe));
	case IORING_OP_TIMEOUT:
		return result != -ETIME || !(sqe->timeout_flags & IORING_TIMEOUT_ETIME_SUCCESS);
	}
	return result < 0;
}

/* End an entry, with the result of its last completion. */
static void finish(struct entry *entry, int result)
{
	struct poller *poller = entry->poller;
	/* Of a zero-copy send, that says nothing of the send. */
	int judged = entry->flags & IORING_CQE_F_NOTIF ? (int)entry->moved : result;

	unqueue(entry);
	if (eddy_timer_is_armed(&entry->timer))
		eddyi_heap_remove(&poller->timers, &entry->timer);
	if (entry->started.next)
		eddy_list_remove(&entry->started);
	if (entry->bounded) {
		entry->bounded->linked = entry->linked;
		entry->linked = NULL;
	}
	if (entry->linked && entry->linked->bounded)
		finish(entry->linked, entry->linked->result);
	if (entry->linked) {
		entry->linked->broken = entry->broken || (!(entry->sqe.flags & IOSQE_IO_HARDLINK) &&
							  breaks_chain(&entry->sqe, judged));
		queue(&poller->due, entry->linked);
	}
	entry->result = result;
	if (entry->sqe.flags & IOSQE_CQE_SKIP_SUCCESS && result >= 0)
		free(entry);
	else
		queue(&poller->completed, entry);
}

/* ---- descriptors that are not ready ---- */

static struct eddy_node *waiting_of(struct poller *poller, int fd)
{
	return &poller->waiting[(unsigned)fd % BUCKETS];
}

/* Tell epoll what entries wait for. Return: 0, -errno. */
static int arm(struct poller *poller, int fd)
{
	struct eddy_node *head = waiting_of(poller, fd), *node;
	struct epoll_event event = { 0 };
	bool edge = false;
	int r;

	event.data.u64 = (uint64_t)++poller->armings << 32 | (unsigned)fd;
	for (node = head->next; node != head; node = node->next) {
		struct entry *entry = eddy_of(node, struct entry, queued);

		if (entry->awaited != fd)
			continue;
		entry->armed = poller->armings;
		event.events |= entry->events;
		edge |= entry->edge;
	}
	event.events |= edge ? (unsigned)EPOLLET : (unsigned)EPOLLONESHOT;
	r = epoll_ctl(poller->fd, EPOLL_CTL_MOD, fd, &event);
	if (r < 0 && errno == ENOENT)
		r = epoll_ctl(poller->fd, EPOLL_CTL_ADD, fd, &event);
	return r < 0 ? -errno : 0;
}

static void finish_waiting(struct poller *poller, int fd, int result)
{
	struct eddy_node *head = waiting_of(poller, fd), *node, *next;

	for (node = head->next; node != head; node = next) {
		struct entry *entry = eddy_of(node, struct entry, queued);

		next = node->next;
		if (entry->awaited == fd)
			finish(entry, result);
	}
}

static bool is_multishot_poll(const struct io_uring_sqe *sqe)
{
	return sqe->opcode == IORING_OP_POLL_ADD && sqe->len & IORING_POLL_ADD_MULTI;
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

/* Let the entry wait for its descriptor. Return: 0, -errno. */
static int wait_until_ready(struct entry *entry)
{
	int fd = entry->awaited, r;

	entry->edge = is_multishot_poll(&entry->sqe);
	queue(waiting_of(entry->poller, fd), entry);
	r = arm(entry->poller, fd);
	if (r < 0)
		unqueue(entry);
	return r;
}

/* Arm the entry's timer. Those that are being fired arm it for a later turn. */
static void arm_timer(struct entry *entry, uint64_t at_ns)
{
	struct poller *poller = entry->poller;

	entry->timer.at_ns = at_ns > poller->fired_ns ? at_ns : poller->fired_ns + 1;
	eddyi_heap_insert(&poller->timers, &entry->timer);
}

/* Go on by the timer, where no event tells when. Return: TIMED. */
static int try_later(struct entry *entry, uint64_t delay_ns)
{
	entry->timer.fire = try_again;
	arm_timer(entry, eddyi_time_after(eddy_now(), delay_ns));
	return TIMED;
}

/* ---- system calls ---- */

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

/* Make a call that never waits, or on any thread. */
static int make_call(const struct io_uring_sqe *sqe)
{
	const struct operation *operation = operation_of(sqe);
	const enum field *args = operation->args;
	const long values[] = {
		[FD] = sqe->fd,
		[ADDR] = (long)sqe->addr,
		[LEN] = (long)sqe->len,
		[OFF] = (long)sqe->off,
		[FLAGS] = (long)sqe->rw_flags | (long)operation->no_wait,
		[ADDR3] = (long)sqe->addr3,
	};
	loff_t in = (loff_t)sqe->splice_off_in, out = (loff_t)sqe->off;

	switch (sqe->opcode) {
	case IORING_OP_NOP:
		return 0;
	/* They may wait for a disk, but for neither end. */
	case IORING_OP_TEE:
		return result_of(tee(sqe->splice_fd_in, sqe->fd, sqe->len,
				     sqe->splice_flags | SPLICE_F_NONBLOCK));
	case IORING_OP_SPLICE:
		return result_of(splice(sqe->splice_fd_in, in == -1 ? NULL : &in, sqe->fd,
					out == -1 ? NULL : &out, sqe->len,
					sqe->splice_flags | SPLICE_F_NONBLOCK));
	case IORING_OP_READ:
	case IORING_OP_READV:
	case IORING_OP_WRITE:
	case IORING_OP_WRITEV:
		return read_or_write(sqe, 0);
	case IORING_OP_FSYNC:
		if (sqe->fsync_flags & IORING_FSYNC_DATASYNC)
			return result_of(fdatasync(sqe->fd));
		break;
	/* An offset is two arguments on some machines. */
	case IORING_OP_SYNC_FILE_RANGE:
		return result_of(
			sync_file_range(sqe->fd, (off_t)sqe->off, sqe->len, sqe->sync_range_flags));
	case IORING_OP_FALLOCATE:
		return result_of(
			fallocate(sqe->fd, (int)sqe->len, (off_t)sqe->off, (off_t)sqe->addr));
	case IORING_OP_FADVISE:
		return -posix_fadvise(sqe->fd, (off_t)sqe->off, sqe->len, (int)sqe->fadvise_advice);
	case EDDYI_OP_FTRUNCATE:
		return result_of(ftruncate(sqe->fd, (off_t)sqe->off));
	}
	/* A descriptor for the ring's own table. */
	if (!operation->number || sqe->file_index)
		return -EINVAL;
	return result_of(syscall(operation->number, values[args[0]], values[args[1]],
				 values[args[2]], values[args[3]], values[args[4]]));
}

/* ---- attempts ---- */

static int at_once(struct entry *entry)
{
	return make_call(&entry->sqe);
}

/* Make a call that has no flag for it without waiting for the descriptor. */
static int without_waiting(struct entry *entry)
{
	/* Another loop may use the same socket, and must not take this O_NONBLOCK for its own. */
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	int fd = entry->awaited, flags, r;

	pthread_mutex_lock(&lock);
	flags = fcntl(fd, F_GETFL);
	if (flags >= 0 && !(flags & O_NONBLOCK))
		fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	r = flags < 0 ? -errno : make_call(&entry->sqe);
	if (flags >= 0 && !(flags & O_NONBLOCK))
		fcntl(fd, F_SETFL, flags);
	pthread_mutex_unlock(&lock);
	return r;
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
		if (!entry->happened || !events_now(sqe->fd, entry->events))
			return -EAGAIN;
		if (sqe->opcode == IORING_OP_WRITE && part.len > PIPE_BUF)
			part.len = PIPE_BUF;
	}
	return read_or_write(&part, 0);
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
		return r == -EAGAIN || !waits(sqe) ? r : read_or_write_anyway(entry);
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

/* Receive or send what has not moved yet. The name and the control data go with the first bytes. */
static int move_some(const struct entry *entry)
{
	const struct io_uring_sqe *sqe = &entry->sqe;
	int flags = (int)sqe->msg_flags | MSG_DONTWAIT;
	struct iovec part;
	struct msghdr message = message_of(sqe, &part);
	struct iovec *at = message.msg_iov;
	size_t moved = entry->moved;
	ssize_t r;

	for (; moved && moved >= at->iov_len; at++, message.msg_iovlen--)
		moved -= at->iov_len;
	if (moved) {
		part = (struct iovec){ (char *)at->iov_base + moved, at->iov_len - moved };
		at = &part;
		message.msg_iovlen = 1;
	}
	if (entry->moved)
		message = (struct msghdr){ .msg_iov = at, .msg_iovlen = message.msg_iovlen };
	/* Units for systemd permit servers no recvmsg(2). */
	if (sqe->opcode == IORING_OP_RECV)
		r = recv(sqe->fd, at->iov_base, at->iov_len, flags);
	else if (sqe->opcode == IORING_OP_RECVMSG)
		r = recvmsg(sqe->fd, &message, flags);
	else
		r = sendmsg(sqe->fd, &message, flags);
	if (r >= 0 && sqe->opcode == IORING_OP_RECVMSG && !entry->moved)
		*(struct msghdr *)pointer(sqe->addr) = message;
	return result_of(r);
}

/* Receive or send once, or with MSG_WAITALL until all bytes have moved. */
static int move_bytes(struct entry *entry)
{
	const struct io_uring_sqe *sqe = &entry->sqe;
	int r;

	do {
		r = move_some(entry);
		if (r < 0)
			return entry->moved && (r != -EAGAIN || !waits(sqe)) ? (int)entry->moved :
									       r;
		entry->moved += (size_t)r;
	} while (r > 0 && sqe->msg_flags & MSG_WAITALL && entry->moved < size_of(sqe) &&
		 is_stream_socket(sqe->fd));
	return (int)entry->moved;
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
	return r;
}

static int receive(struct entry *entry)
{
	const struct io_uring_sqe *sqe = &entry->sqe;

	if (sqe->ioprio & POLL_FIRST && !entry->happened && waits(sqe))
		return -EAGAIN;
	if (sqe->flags & IOSQE_BUFFER_SELECT)
		return receive_provided(entry);
	return sqe->ioprio & IORING_RECV_MULTISHOT ? -EINVAL : move_bytes(entry);
}

/* Send, and say with a second completion that the memory is no longer in use. */
static int send_zc(struct entry *entry)
{
	const struct io_uring_sqe *sqe = &entry->sqe;
	int r = move_bytes(entry);

	if (r < 0 || !post(entry, r, IORING_CQE_F_MORE))
		return r;
	entry->flags = IORING_CQE_F_NOTIF;
	return sqe->ioprio & EDDYI_SEND_ZC_REPORT_USAGE ? (int)EDDYI_NOTIF_ZC_COPIED : 0;
}

static int connect_socket(struct entry *entry)
{
	int error = 0, r;
	socklen_t len = sizeof(error);

	if (entry->happened) {
		r = getsockopt(entry->sqe.fd, SOL_SOCKET, SO_ERROR, &error, &len);
		return r < 0 ? -errno : -error;
	}
	r = without_waiting(entry);
	/* A UNIX socket whose backlog is full is never reported as ready. */
	if (r == -EAGAIN)
		return try_later(entry, RETRY_NS);
	return r == -EINPROGRESS ? -EAGAIN : r;
}

/* After a splice: let it wait for the end that is not ready. If both are, another was faster. */
static int after_splice(struct entry *entry, int r)
{
	const struct io_uring_sqe *sqe = &entry->sqe;
	struct pollfd ends[] = { { .fd = sqe->splice_fd_in, .events = POLLIN },
				 { .fd = sqe->fd, .events = POLLOUT } };

	if (r != -EAGAIN || !waits(sqe))
		return r;
	if (poll(ends, 2, 0) < 0)
		return -errno;
	for (size_t i = 0; i < 2; i++) {
		if (ends[i].revents & ends[i].events)
			continue;
		entry->awaited = ends[i].fd;
		entry->events = (unsigned)ends[i].events;
		entry->happened = 0;
		return -EAGAIN;
	}
	return try_later(entry, RETRY_NS);
}

static int splice_bytes(struct entry *entry)
{
	const struct io_uring_sqe *sqe = &entry->sqe;
	mode_t in = mode_of(sqe->splice_fd_in), out = mode_of(sqe->fd);

	if (is_of_files(in) || is_of_files(out) || out == S_IFCHR)
		return TO_POOL;
	/* Only pipes heed SPLICE_F_NONBLOCK. */
	entry->awaited = in == S_IFIFO ? sqe->fd : sqe->splice_fd_in;
	return after_splice(entry, in == out ? make_call(sqe) : without_waiting(entry));
}

static int look(struct entry *entry)
{
	int events = (int)entry->happened;

	entry->happened = 0;
	if (!events && !is_multishot_poll(&entry->sqe))
		events = events_now(entry->sqe.fd, entry->events) & ~POLLNVAL;
	return events > 0 ? events : -EAGAIN;
}

static int close_one(struct entry *entry)
{
	int fd = entry->sqe.fd;

	/* A file system may have to write first. */
	if (is_of_files(mode_of(fd)))
		return TO_POOL;
	/* Another descriptor may keep the file open, and epoll would go on to report it. */
	epoll_ctl(entry->poller->fd, EPOLL_CTL_DEL, fd, NULL);
	finish_waiting(entry->poller, fd, -ECANCELED);
	return make_call(&entry->sqe);
}

/* ---- timeouts and cancels ---- */

static struct eddy_node *bucket_of(struct poller *poller, uint64_t data)
{
	return &poller->started[(data * UINT64_C(0x9e3779b97f4a7c15)) >> 52];
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
	if (sqe->cancel_flags || sqe->len)
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
	struct entry *entry = eddy_of(timer, struct entry, timer);
	int r;

	/* The end of the other ends this one, too. */
	entry->result = -ETIME;
	r = entry->bounded ? cancel(entry->bounded) : -ETIME;
	if (r < 0)
		finish(entry, r);
}

static int begin_timeout(struct entry *entry)
{
	const struct io_uring_sqe *sqe = &entry->sqe;
	const struct __kernel_timespec *time = pointer(sqe->addr);
	const unsigned known = IORING_TIMEOUT_ABS | IORING_TIMEOUT_ETIME_SUCCESS;
	uint64_t at;

	if (sqe->opcode == IORING_OP_LINK_TIMEOUT && !entry->bounded)
		return -EINVAL;
	/* The offset is a count of completions. */
	if (sqe->off || sqe->timeout_flags & ~known || time->tv_sec < 0 || time->tv_nsec < 0)
		return -EINVAL;
	if (__builtin_mul_overflow((uint64_t)time->tv_sec, EDDY_SECOND, &at))
		at = EDDY_NEVER;
	at = eddyi_time_after(at, (uint64_t)time->tv_nsec);
	if (!(sqe->timeout_flags & IORING_TIMEOUT_ABS))
		at = eddyi_time_after(eddy_now(), at);
	entry->result = -ECANCELED;
	entry->timer.fire = time_is_up;
	arm_timer(entry, at);
	return TIMED;
}

/* clang-format off */
static const struct operation operations[256] = {
	[IORING_OP_NOP] = { .attempt = at_once },
	[IORING_OP_SHUTDOWN] = { at_once, SYS_shutdown, .args = { FD, LEN } },
	[IORING_OP_SOCKET] = { at_once, SYS_socket, .args = { FD, OFF, LEN } },
	[IORING_OP_EPOLL_CTL] = { at_once, SYS_epoll_ctl, .args = { FD, LEN, OFF, ADDR } },
	[EDDYI_OP_PIPE] = { at_once, SYS_pipe2, .args = { ADDR, FLAGS } },
	[IORING_OP_CLOSE] = { close_one, SYS_close, .args = { FD } },
	[IORING_OP_OPENAT] = { in_pool, SYS_openat, .args = { FD, ADDR, FLAGS, LEN } },
	[IORING_OP_OPENAT2] = { in_pool, SYS_openat2, .args = { FD, ADDR, OFF, LEN } },
	[IORING_OP_STATX] = { in_pool, SYS_statx, .args = { FD, ADDR, FLAGS, LEN, OFF } },
	[IORING_OP_RENAMEAT] = { in_pool, SYS_renameat2, .args = { FD, ADDR, LEN, OFF, FLAGS } },
	[IORING_OP_LINKAT] = { in_pool, SYS_linkat, .args = { FD, ADDR, LEN, OFF, FLAGS } },
	[IORING_OP_SYMLINKAT] = { in_pool, SYS_symlinkat, .args = { ADDR, FD, OFF } },
	[IORING_OP_UNLINKAT] = { in_pool, SYS_unlinkat, .args = { FD, ADDR, FLAGS } },
	[IORING_OP_MKDIRAT] = { in_pool, SYS_mkdirat, .args = { FD, ADDR, LEN } },
	[IORING_OP_FSYNC] = { in_pool, SYS_fsync, .args = { FD } },
	[IORING_OP_SYNC_FILE_RANGE] = { .attempt = in_pool },
	[IORING_OP_FALLOCATE] = { .attempt = in_pool },
	[IORING_OP_FADVISE] = { .attempt = in_pool },
	[IORING_OP_MADVISE] = { in_pool, SYS_madvise, .args = { ADDR, LEN, FLAGS } },
	[IORING_OP_SETXATTR] = { in_pool, SYS_setxattr, .args = { ADDR3, ADDR, OFF, LEN, FLAGS } },
	[IORING_OP_GETXATTR] = { in_pool, SYS_getxattr, .args = { ADDR3, ADDR, OFF, LEN } },
	[IORING_OP_FSETXATTR] = { in_pool, SYS_fsetxattr, .args = { FD, ADDR, OFF, LEN, FLAGS } },
	[IORING_OP_FGETXATTR] = { in_pool, SYS_fgetxattr, .args = { FD, ADDR, OFF, LEN } },
	[EDDYI_OP_FTRUNCATE] = { .attempt = in_pool },
	[IORING_OP_READ] = { try_read_or_write, .events = POLLIN, .no_wait = RWF_NOWAIT, .ioprio = ~0U },
	[IORING_OP_READV] = { try_read_or_write, .events = POLLIN, .no_wait = RWF_NOWAIT, .ioprio = ~0U },
	[IORING_OP_WRITE] = { try_read_or_write, .events = POLLOUT, .no_wait = RWF_NOWAIT, .ioprio = ~0U },
	[IORING_OP_WRITEV] = { try_read_or_write, .events = POLLOUT, .no_wait = RWF_NOWAIT, .ioprio = ~0U },
	[IORING_OP_RECV] = { receive, .events = POLLIN, .no_wait = MSG_DONTWAIT, .ioprio = POLL_FIRST | IORING_RECV_MULTISHOT },
	[IORING_OP_RECVMSG] = { move_bytes, .events = POLLIN, .no_wait = MSG_DONTWAIT, .ioprio = POLL_FIRST },
	[IORING_OP_SEND] = { move_bytes, .events = POLLOUT, .no_wait = MSG_DONTWAIT, .ioprio = POLL_FIRST },
	[IORING_OP_SENDMSG] = { move_bytes, .events = POLLOUT, .no_wait = MSG_DONTWAIT, .ioprio = POLL_FIRST },
	[IORING_OP_SEND_ZC] = { send_zc, .events = POLLOUT, .no_wait = MSG_DONTWAIT, .ioprio = POLL_FIRST | EDDYI_SEND_ZC_REPORT_USAGE },
	[IORING_OP_SENDMSG_ZC] = { send_zc, .events = POLLOUT, .no_wait = MSG_DONTWAIT, .ioprio = POLL_FIRST | EDDYI_SEND_ZC_REPORT_USAGE },
	[IORING_OP_ACCEPT] = { without_waiting, SYS_accept4, { FD, ADDR, OFF, FLAGS }, .events = POLLIN, .ioprio = IORING_ACCEPT_MULTISHOT },
	[IORING_OP_CONNECT] = { connect_socket, SYS_connect, { FD, ADDR, OFF }, .events = POLLOUT },
	[IORING_OP_SPLICE] = { splice_bytes, .events = POLLOUT, .no_wait = SPLICE_F_NONBLOCK },
	[IORING_OP_TEE] = { splice_bytes, .events = POLLOUT, .no_wait = SPLICE_F_NONBLOCK },
	[IORING_OP_POLL_ADD] = { .attempt = look },
	[IORING_OP_POLL_REMOVE] = { .attempt = cancel_named },
	[IORING_OP_TIMEOUT] = { .attempt = begin_timeout },
	[IORING_OP_TIMEOUT_REMOVE] = { .attempt = cancel_named },
	[IORING_OP_LINK_TIMEOUT] = { .attempt = begin_timeout },
	[IORING_OP_ASYNC_CANCEL] = { .attempt = cancel_named },
};
/* clang-format on */

/* ---- starting and trying ---- */

static int call_in_pool(void *arg)
{
	return make_call(&((const struct entry *)arg)->sqe);
}

static void job_ended(struct eddy_message *message)
{
	struct entry *entry = eddy_of(message, struct entry, job.message);

	entry->in_pool = false;
	/* One end of a splice is a file, the other may be a pipe that was not ready. */
	if (is_splice(&entry->sqe))
		settle(entry, after_splice(entry, entry->job.result));
	else
		finish(entry, entry->job.result);
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
	/* No thread could be started: make the call here, which blocks the loop. */
	entry->job.result = call_in_pool(entry);
	job_ended(&entry->job.message);
}

/* Act on the result of an attempt. */
static void settle(struct entry *entry, int result)
{
	if (result == -EAGAIN && waits(&entry->sqe)) {
		result = wait_until_ready(entry);
		if (result == 0)
			return;
		/* epoll takes no files, and some devices. */
		if (result == -EPERM)
			result = TO_POOL;
	}
	if (result == TO_POOL)
		to_pool(entry);
	else if (result != TIMED)
		finish(entry, result);
}

/* Whether the result is one of a multishot that goes on. */
static bool is_shot(struct io_uring_sqe *sqe, int result)
{
	switch (sqe->opcode) {
	case IORING_OP_ACCEPT:
		return sqe->ioprio & IORING_ACCEPT_MULTISHOT && result >= 0;
	case IORING_OP_POLL_ADD:
		return is_multishot_poll(sqe) && result > 0;
	case IORING_OP_RECV:
		if (!(sqe->ioprio & IORING_RECV_MULTISHOT) || result <= 0)
			return false;
		/* The field holds the bytes that it may still receive, or 0. */
		if (!sqe->file_index)
			return true;
		if ((unsigned)result >= sqe->file_index)
			return false;
		sqe->file_index -= (unsigned)result;
		return true;
	}
	return false;
}

/* Try an entry; a multishot until it has no more results, there is no room for one, or it is others' turn. */
static int try(struct entry *entry)
{
	const struct operation *operation = operation_of(&entry->sqe);
	int r = operation->attempt(entry);

	for (int shots = 1; is_shot(&entry->sqe, r); shots++) {
		if (!post(entry, r, entry->flags | IORING_CQE_F_MORE))
			return r;
		entry->flags = 0;
		if (shots == SHOTS_MAX)
			return try_later(entry, 0);
		r = operation->attempt(entry);
	}
	/* It is ready, but the receiver that a datagram names is not. */
	if (r == -EAGAIN && entry->happened & POLLOUT && !entry->moved && waits(&entry->sqe))
		return try_later(entry, RETRY_NS);
	return r;
}

static void try_again(struct eddy_timer *timer)
{
	struct entry *entry = eddy_of(timer, struct entry, timer);

	entry->happened = 0;
	settle(entry, try(entry));
}

/* Whether all that the entry asks for can be done here. */
static bool is_known(const struct io_uring_sqe *sqe)
{
	const struct operation *operation = operation_of(sqe);

	return operation->attempt && !sqe->personality &&
	       !(sqe->flags & (IOSQE_FIXED_FILE | IOSQE_IO_DRAIN)) &&
	       !(sqe->flags & IOSQE_BUFFER_SELECT && sqe->opcode != IORING_OP_RECV) &&
	       !(sqe->ioprio & ~operation->ioprio);
}

static void start(struct entry *entry)
{
	const struct io_uring_sqe *sqe = &entry->sqe;
	struct entry *linked = entry->linked;

	if (entry->broken) {
		finish(entry, -ECANCELED);
		return;
	}
	eddy_list_append(bucket_of(entry->poller, sqe->user_data), &entry->started);
	if (linked && linked->sqe.opcode == IORING_OP_LINK_TIMEOUT && !entry->bounded) {
		linked->bounded = entry;
		start(linked);
	}
	entry->awaited = sqe->fd;
	entry->events = sqe->opcode == IORING_OP_POLL_ADD ? sqe->poll32_events & 0xffff :
							    operation_of(sqe)->events;
	settle(entry, is_known(sqe) ? try(entry) : -EINVAL);
}

/* ---- turns ---- */

/* Take the queued entries, each in `due` or linked to the one before. Return: 0; -ENOMEM if not all were taken. */
static int take_entries(struct poller *poller)
{
	const struct io_uring_sq *sq = &poller->loop->ring.sq;

	while (poller->sq_head != sq->sqe_tail) {
		struct entry *entry = calloc(1, sizeof(*entry));

		if (!entry)
			return -ENOMEM;
		entry->sqe = sq->sqes[poller->sq_head++ & sq->ring_mask];
		entry->poller = poller;
		if (poller->linking)
			poller->linking->linked = entry;
		else
			queue(&poller->due, entry);
		poller->linking = entry->sqe.flags & LINKS ? entry : NULL;
	}
	poller->linking = NULL;
	return 0;
}

/* Start the queued entries, and those whose predecessors in a chain have succeeded. */
static int submit(struct poller *poller)
{
	struct entry *entry;
	int r = take_entries(poller);

	/* A chain may have been cut by the error. */
	while (r == 0 && (entry = shift(&poller->due)))
		start(entry);
	return r;
}

/* Try the entries that wait for a descriptor. Those that wait on are tried at changes only. */
static void has_happened(struct poller *poller, uint64_t data, unsigned events)
{
	int fd = (int)(uint32_t)data, r = 0;
	struct eddy_node *head = waiting_of(poller, fd), *node, *next;
	bool any = false, edge = false, waits_on = false;

	for (node = head->next; node != head; node = next) {
		struct entry *entry = eddy_of(node, struct entry, queued);

		next = node->next;
		if (entry->awaited != fd)
			continue;
		any = true;
		edge |= entry->edge;
		entry->happened = events & (entry->events | EPOLLERR | EPOLLHUP);
		if (entry->armed != data >> 32)
			entry->happened = 0;
		r = entry->happened ? try(entry) : -EAGAIN;
		if (r == -EAGAIN && entry->awaited == fd) {
			entry->edge = waits_on = true;
		} else {
			unqueue(entry);
			settle(entry, r);
		}
	}
	if (!any)
		epoll_ctl(poller->fd, EPOLL_CTL_DEL, fd, NULL);
	r = waits_on && !edge ? arm(poller, fd) : 0;
	if (r < 0)
		finish_waiting(poller, fd, r);
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

/* The time until the next timer, at most `timeout_ns`. */
static uint64_t until_next_timer(const struct poller *poller, uint64_t timeout_ns)
{
	uint64_t at = poller->timers.top ? poller->timers.top->at_ns : EDDY_NEVER, now;

	if (at == EDDY_NEVER || timeout_ns == 0)
		return timeout_ns;
	now = eddy_now();
	if (at <= now)
		return 0;
	return at - now < timeout_ns ? at - now : timeout_ns;
}

static void fire_timers(struct poller *poller)
{
	if (!poller->timers.top)
		return;
	poller->fired_ns = eddy_now();
	while (poller->timers.top && poller->timers.top->at_ns <= poller->fired_ns) {
		struct eddy_timer *timer = poller->timers.top;

		eddyi_heap_remove(&poller->timers, timer);
		timer->fire(timer);
	}
}

static int poll_wait(struct eddy_loop *loop, uint64_t timeout_ns)
{
	struct poller *poller = loop->executor_state;
	struct epoll_event events[EVENTS_MAX];
	int submitted = submit(poller), count;

	if (submitted < 0 || poller->cq_tail != poller->cq_head ||
	    !eddy_list_is_empty(&poller->completed))
		timeout_ns = 0;
	count = wait_for_events(poller, events, until_next_timer(poller, timeout_ns));
	if (count < 0 && submitted == 0)
		return -errno;
	fire_timers(poller);
	for (int i = 0; i < count; i++)
		has_happened(poller, events[i].data.u64, events[i].events);
	post_completed(poller);
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
	int r;

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
	r = poller->fd < 0 ? -errno : 0;
	for (size_t i = 0; i < BUCKETS; i++) {
		eddy_list_init(&poller->waiting[i]);
		eddy_list_init(&poller->started[i]);
	}
	eddy_list_init(&poller->due);
	eddy_list_init(&poller->completed);
	eddy_list_init(&poller->groups);
	if (!loop->ring.sq.sqes || !loop->ring.cq.cqes)
		r = -ENOMEM;
	if (r < 0)
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
