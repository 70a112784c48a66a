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
 *    another file since the last one.
 * 3. If an event lets no entry go on (a socket's error queue makes it ready for ever), the watch is `edge`, armed
 *    with EPOLLET, until no entry waits. So is one with a multishot poll.
 * 4. Nothing here runs the program's code. Completions are posted and dispatched later; a job's end is a message.
 */
#include "core/executor.h"
#include "core/loop.h"

#include "call.h"
#include "base/uapi.h"
#include "io/offload_pool.h"

#include <eddy/loop.h>
#include <eddy/timer.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENTRIES_MAX 32768
#define CQ_ENTRIES_FACTOR 8
#define BUCKETS 1024
#define EVENTS_MAX 64
/* Entries that are kept for reuse. */
#define SPARE_MAX 256
/* Completions of a multishot in one turn. */
#define SHOTS_MAX 64
/* A UNIX socket whose backlog is full is never reported as ready. */
#define CONNECT_RETRY_NS EDDY_MS

/* Results of attempts that did not complete the entry: no errno is as large. */
#define NOT_READY (-5000)
#define NEXT_TURN (-5001)
#define TO_POOL (-5002)

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
	unsigned left;     /* bytes until a multishot receive ends; 0: unlimited */
	size_t moved;      /* bytes of a call with MSG_WAITALL */
	int result;
	unsigned flags;
	bool in_pool;
	bool connecting;
};

/* A descriptor that entries wait for. */
struct watch {
	struct eddy_node waiting;
	unsigned armed; /* events; 0: none */
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
	unsigned sq_head, sq_tail, sq_flags;
	unsigned cq_head, cq_tail;
	struct watch **watches; /* by descriptor; NULL until an entry waits for it */
	size_t watch_count;
	size_t waiting; /* entries that wait for a descriptor */
	struct eddy_node started[BUCKETS];
	struct eddy_node again;     /* entries to start, or to try again, in the next turn */
	struct eddy_node completed; /* entries whose completion found no room in the queue */
	struct eddy_node spare;
	unsigned spare_count;
	struct eddy_node groups;
};

static struct poller *poll_of(struct eddy_loop *loop)
{
	return loop->executor_state;
}

/* ---- entries and their completions ---- */

static struct entry *take_entry(struct poller *poller)
{
	struct eddy_node *node = eddy_list_shift(&poller->spare);
	struct entry *entry = node ? eddy_of(node, struct entry, queued) : malloc(sizeof(*entry));

	if (!entry)
		return NULL;
	poller->spare_count -= node != NULL;
	memset(entry, 0, sizeof(*entry));
	entry->poller = poller;
	return entry;
}

static void put_entry(struct entry *entry)
{
	struct poller *poller = entry->poller;

	if (poller->spare_count >= SPARE_MAX) {
		free(entry);
		return;
	}
	eddy_list_prepend(&poller->spare, &entry->queued);
	poller->spare_count++;
}

static void queue(struct eddy_node *list, struct entry *entry)
{
	eddy_list_append(list, &entry->queued);
}

static void unqueue(struct entry *entry)
{
	if (!entry->queued.next)
		return;
	eddy_list_remove(&entry->queued);
	entry->queued.next = NULL;
}

static unsigned room(const struct poller *poller)
{
	return poller->loop->ring.cq.ring_entries - (poller->cq_tail - poller->cq_head);
}

static void post(struct poller *poller, uint64_t data, int result, unsigned flags)
{
	struct io_uring_cq *cq = &poller->loop->ring.cq;

	cq->cqes[poller->cq_tail & cq->ring_mask] = (struct io_uring_cqe){
		.user_data = data,
		.res = result,
		.flags = flags,
	};
	poller->cq_tail++;
}

/* One completion of several. The caller has seen that there is room. */
static void post_more(struct entry *entry, int result, unsigned flags)
{
	post(entry->poller, entry->sqe.user_data, result, flags | IORING_CQE_F_MORE);
}

/* Post the last completion of an entry that is in no list. */
static void complete(struct entry *entry, int result, unsigned flags)
{
	struct poller *poller = entry->poller;

	entry->result = result;
	entry->flags = flags;
	if (entry->sqe.flags & IOSQE_CQE_SKIP_SUCCESS && result >= 0) {
		put_entry(entry);
	} else if (room(poller) && eddy_list_is_empty(&poller->completed)) {
		post(poller, entry->sqe.user_data, result, flags);
		put_entry(entry);
	} else {
		queue(&poller->completed, entry);
	}
}

/* Post completions that found no room. */
static void complete_rest(struct poller *poller)
{
	struct eddy_node *node;

	while (room(poller) && (node = eddy_list_shift(&poller->completed))) {
		struct entry *entry = eddy_of(node, struct entry, queued);

		post(poller, entry->sqe.user_data, entry->result, entry->flags);
		put_entry(entry);
	}
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
	}
	return result < 0;
}

static void end_chain(struct entry *entry)
{
	while (entry) {
		struct entry *next = entry->linked;

		complete(entry, -ECANCELED, 0);
		entry = next;
	}
}

static void finish(struct entry *entry, int result, unsigned flags)
{
	struct entry *linked = entry->linked, *bound = entry->bound;

	unqueue(entry);
	eddy_timer_disarm(&entry->timer);
	if (entry->started.next)
		eddy_list_remove(&entry->started);
	if (bound) {
		bound->bound = NULL;
		if (bound->sqe.opcode == IORING_OP_LINK_TIMEOUT)
			finish(bound, -ECANCELED, 0);
	}
	if (linked && breaks_chain(&entry->sqe, result) && !(entry->sqe.flags & IOSQE_IO_HARDLINK))
		end_chain(linked);
	else if (linked)
		queue(&entry->poller->again, linked);
	complete(entry, result, flags);
}

/* ---- descriptors that are not ready ---- */

static struct watch *watch_of(struct poller *poller, int fd)
{
	size_t at = (size_t)fd;

	if (at >= poller->watch_count) {
		size_t count = at < 64 ? 128 : 2 * at;
		struct watch **grown = reallocarray(poller->watches, count, sizeof(*grown));

		if (!grown)
			return NULL;
		memset(grown + poller->watch_count, 0,
		       (count - poller->watch_count) * sizeof(*grown));
		poller->watches = grown;
		poller->watch_count = count;
	}
	if (!poller->watches[at]) {
		struct watch *watch = calloc(1, sizeof(*watch));

		if (!watch)
			return NULL;
		eddy_list_init(&watch->waiting);
		poller->watches[at] = watch;
	}
	return poller->watches[at];
}

/* Tell epoll what entries wait for. Return: 0, -errno. */
static int arm(struct poller *poller, struct watch *watch, int fd, unsigned events)
{
	struct epoll_event event = {
		.events = events | (watch->edge ? (unsigned)EPOLLET : (unsigned)EPOLLONESHOT),
		.data.fd = fd,
	};
	int op = watch->registered ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
	int r = epoll_ctl(poller->fd, op, fd, &event);

	/* The number was closed since, or is still registered for a file that was. */
	if (r < 0 && (errno == ENOENT || errno == EEXIST)) {
		op = op == EPOLL_CTL_MOD ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
		r = epoll_ctl(poller->fd, op, fd, &event);
	}
	watch->registered = r == 0;
	watch->armed = r == 0 ? events : 0;
	return r < 0 ? -errno : 0;
}

static unsigned events_of(const struct watch *watch)
{
	unsigned events = 0;

	for (const struct eddy_node *node = watch->waiting.next; node != &watch->waiting;
	     node = node->next)
		events |= eddy_of(node, struct entry, queued)->events;
	return events;
}

static bool is_multishot_poll(const struct io_uring_sqe *sqe)
{
	return sqe->opcode == IORING_OP_POLL_ADD && sqe->len & IORING_POLL_ADD_MULTI;
}

/* Let the entry wait for events. Return: 0, -errno. */
static int wait_for(struct entry *entry, unsigned events)
{
	struct poller *poller = entry->poller;
	int fd = entry->sqe.fd, r;
	struct watch *watch = fd < 0 ? NULL : watch_of(poller, fd);

	if (!watch)
		return fd < 0 ? -EBADF : -ENOMEM;
	if (eddy_list_is_empty(&watch->waiting)) {
		watch->edge = false;
		watch->armed = 0;
	}
	watch->edge |= is_multishot_poll(&entry->sqe);
	entry->events = events;
	queue(&watch->waiting, entry);
	r = arm(poller, watch, fd, events_of(watch));
	if (r < 0)
		unqueue(entry);
	else
		poller->waiting++;
	return r;
}

/* Take an entry that waits out of its watch. */
static void wait_no_more(struct entry *entry)
{
	if (!entry->events)
		return;
	unqueue(entry);
	entry->events = 0;
	entry->poller->waiting--;
}

/* The descriptor is about to be closed. */
static void forget(struct poller *poller, int fd)
{
	struct watch *watch = fd >= 0 && (size_t)fd < poller->watch_count ? poller->watches[fd] :
									    NULL;
	struct eddy_node *node;

	if (!watch)
		return;
	/* Another descriptor may keep the file open, and epoll would go on to report it. */
	if (watch->registered)
		epoll_ctl(poller->fd, EPOLL_CTL_DEL, fd, NULL);
	while ((node = watch->waiting.next) != &watch->waiting) {
		struct entry *entry = eddy_of(node, struct entry, queued);

		wait_no_more(entry);
		finish(entry, -ECANCELED, 0);
	}
	free(watch);
	poller->watches[fd] = NULL;
}

/* ---- provided buffers ---- */

static struct group *group_of(const struct poller *poller, unsigned number)
{
	for (struct eddy_node *node = poller->groups.next; node != &poller->groups;
	     node = node->next) {
		struct group *group = eddy_of(node, struct group, node);

		if (group->number == number)
			return group;
	}
	return NULL;
}

/* Look at the next buffer of a group. Return: NULL if there is none. */
static const struct io_uring_buf *next_buffer(const struct group *group)
{
	if (!group || group->head == io_uring_smp_load_acquire(&group->ring->tail))
		return NULL;
	return &group->ring->bufs[group->head & group->mask];
}

/* ---- streams ---- */

static bool waits(const struct io_uring_sqe *sqe)
{
	switch (sqe->opcode) {
	case IORING_OP_RECV:
	case IORING_OP_RECVMSG:
	case IORING_OP_SEND:
	case IORING_OP_SENDMSG:
	case IORING_OP_SEND_ZC:
	case IORING_OP_SENDMSG_ZC:
		return !(sqe->msg_flags & MSG_DONTWAIT);
	case IORING_OP_SPLICE:
	case IORING_OP_TEE:
		return !(sqe->splice_flags & SPLICE_F_NONBLOCK);
	}
	return true;
}

static unsigned direction_of(const struct io_uring_sqe *sqe)
{
	switch (sqe->opcode) {
	case IORING_OP_READ:
	case IORING_OP_READV:
	case IORING_OP_RECV:
	case IORING_OP_RECVMSG:
	case IORING_OP_ACCEPT:
		return POLLIN;
	case IORING_OP_POLL_ADD:
		return sqe->poll32_events & (0xffff | POLLRDHUP);
	}
	return POLLOUT;
}

/* Return: 0 also if poll(2) can't tell. */
static unsigned events_now(int fd, unsigned events)
{
	struct pollfd pollfd = { .fd = fd, .events = (short)events };

	return poll(&pollfd, 1, 0) < 0 ? 0 : (unsigned)pollfd.revents;
}

/* Return: the events that an entry is tried for, or that its descriptor has. */
static unsigned ready_events(const struct entry *entry)
{
	return entry->happened ? entry->happened :
				 events_now(entry->sqe.fd, direction_of(&entry->sqe));
}

static int mode_of(int fd, mode_t *ret_mode)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	*ret_mode = st.st_mode & S_IFMT;
	return 0;
}

static bool is_of_files(mode_t mode)
{
	return mode == S_IFREG || mode == S_IFDIR || mode == S_IFBLK;
}

static bool writes(const struct io_uring_sqe *sqe)
{
	return sqe->opcode == IORING_OP_WRITE || sqe->opcode == IORING_OP_WRITEV;
}

/* Read or write where the kernel can't say whether that would wait. */
static int read_or_write_anyway(const struct entry *entry, mode_t mode)
{
	const struct io_uring_sqe *sqe = &entry->sqe;
	struct io_uring_sqe part = *sqe;

	/* The other end of a terminal may hold it up in the middle. */
	if (mode == S_IFCHR && writes(sqe))
		return TO_POOL;
	if (!ready_events(entry))
		return NOT_READY;
	if (mode == S_IFIFO && sqe->opcode == IORING_OP_WRITE && part.len > PIPE_BUF)
		part.len = PIPE_BUF;
	return eddyi_call(&part);
}

static int read_or_write(const struct entry *entry)
{
	const struct io_uring_sqe *sqe = &entry->sqe;
	int r = eddyi_call_without_waiting(sqe);
	mode_t mode;

	if (r != -EAGAIN && r != -EOPNOTSUPP)
		return r;
	if (mode_of(sqe->fd, &mode) < 0)
		return -EBADF;
	if (is_of_files(mode))
		return TO_POOL;
	if (r == -EAGAIN)
		return NOT_READY;
	return read_or_write_anyway(entry, mode);
}

static bool is_stream_socket(int fd)
{
	int type = 0;
	socklen_t len = sizeof(type);

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 &&
	       (type == SOCK_STREAM || type == SOCK_SEQPACKET);
}

static ssize_t receive_or_send(const struct io_uring_sqe *sqe, size_t moved)
{
	int flags = (int)sqe->msg_flags | MSG_DONTWAIT;
	char *at = (char *)(uintptr_t)sqe->addr + moved;
	size_t len = sqe->len - moved;

	if (sqe->opcode == IORING_OP_RECV)
		return recv(sqe->fd, at, len, flags);
	/* A datagram's receiver, of liburing's io_uring_prep_send_set_addr(). */
	return sendto(sqe->fd, at, len, flags, (const void *)(uintptr_t)sqe->addr2,
		      sqe->addr2 ? sqe->addr_len : 0);
}

/* Receive or send once, or with MSG_WAITALL until all bytes have moved. */
static int move_bytes(struct entry *entry)
{
	const struct io_uring_sqe *sqe = &entry->sqe;
	ssize_t r;

	do {
		r = receive_or_send(sqe, entry->moved);
		if (r < 0 && errno == EAGAIN && waits(sqe))
			return NOT_READY;
		if (r < 0)
			return entry->moved ? (int)entry->moved : -errno;
		entry->moved += (size_t)r;
	} while (r > 0 && sqe->msg_flags & MSG_WAITALL && entry->moved < sqe->len &&
		 is_stream_socket(sqe->fd));
	return (int)entry->moved;
}

static int move_message(const struct io_uring_sqe *sqe)
{
	void *msg = (void *)(uintptr_t)sqe->addr;
	int flags = (int)sqe->msg_flags | MSG_DONTWAIT;
	ssize_t r = sqe->opcode == IORING_OP_RECVMSG ? recvmsg(sqe->fd, msg, flags) :
						       sendmsg(sqe->fd, msg, flags);

	if (r < 0)
		return errno == EAGAIN && waits(sqe) ? NOT_READY : -errno;
	return (int)r;
}

/* Receive into a provided buffer. */
static int receive_provided(const struct io_uring_sqe *sqe, struct group *group,
			    unsigned *ret_flags)
{
	const struct io_uring_buf *buffer = next_buffer(group);
	size_t len = sqe->len;
	ssize_t r;

	if (!buffer)
		return -ENOBUFS;
	if (!len || len > buffer->len)
		len = buffer->len;
	r = recv(sqe->fd, (void *)(uintptr_t)buffer->addr, len, (int)sqe->msg_flags | MSG_DONTWAIT);
	if (r < 0)
		return errno == EAGAIN && waits(sqe) ? NOT_READY : -errno;
	if (r > 0) {
		*ret_flags = IORING_CQE_F_BUFFER | (unsigned)buffer->bid << IORING_CQE_BUFFER_SHIFT;
		group->head++;
	}
	return (int)r;
}

static int receive_many(struct entry *entry, struct group *group, unsigned *ret_flags)
{
	for (unsigned i = 0; i < SHOTS_MAX && room(entry->poller) > 1; i++) {
		int r = receive_provided(&entry->sqe, group, ret_flags);

		if (r <= 0)
			return r;
		if (entry->left && (unsigned)r >= entry->left)
			return r;
		if (entry->left)
			entry->left -= (unsigned)r;
		post_more(entry, r, *ret_flags);
		*ret_flags = 0;
	}
	return NEXT_TURN;
}

static int receive(struct entry *entry, unsigned *ret_flags)
{
	const struct io_uring_sqe *sqe = &entry->sqe;
	bool many = sqe->ioprio & IORING_RECV_MULTISHOT;
	struct group *group;

	if (sqe->ioprio & ~(unsigned)(IORING_RECV_MULTISHOT | IORING_RECVSEND_POLL_FIRST))
		return -EINVAL;
	if (!(sqe->flags & IOSQE_BUFFER_SELECT))
		return many ? -EINVAL : move_bytes(entry);
	group = group_of(entry->poller, sqe->buf_group);
	return many ? receive_many(entry, group, ret_flags) :
		      receive_provided(sqe, group, ret_flags);
}

/* Send, and say with a second completion that the memory is no longer in use. */
static int send_zc(struct entry *entry, unsigned *ret_flags)
{
	const struct io_uring_sqe *sqe = &entry->sqe;
	int r;

	if (room(entry->poller) < 2)
		return NEXT_TURN;
	if (sqe->flags & IOSQE_FIXED_FILE || sqe->ioprio & IORING_RECVSEND_FIXED_BUF)
		return -EINVAL;
	r = sqe->opcode == IORING_OP_SEND_ZC ? move_bytes(entry) : move_message(sqe);
	if (r < 0)
		return r;
	post_more(entry, r, 0);
	*ret_flags = IORING_CQE_F_NOTIF;
	return sqe->ioprio & EDDYI_SEND_ZC_REPORT_USAGE ? (int)EDDYI_NOTIF_ZC_COPIED : 0;
}

/* Make a call that has no flag for it without waiting. */
static int without_waiting(int fd, int (*call)(const struct io_uring_sqe *sqe),
			   const struct io_uring_sqe *sqe)
{
	int flags = fcntl(fd, F_GETFL), r;

	if (flags < 0)
		return -errno;
	if (flags & O_NONBLOCK)
		return call(sqe);
	fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	r = call(sqe);
	fcntl(fd, F_SETFL, flags);
	return r;
}

static int accept_one(const struct io_uring_sqe *sqe)
{
	int fd = accept4(sqe->fd, (struct sockaddr *)(uintptr_t)sqe->addr,
			 (socklen_t *)(uintptr_t)sqe->addr2, (int)sqe->accept_flags);

	if (fd >= 0)
		return fd;
	return errno == EAGAIN ? NOT_READY : -errno;
}

static int accept_connection(struct entry *entry)
{
	const struct io_uring_sqe *sqe = &entry->sqe;
	int r;

	if (sqe->file_index)
		return -EINVAL;
	if (!(sqe->ioprio & IORING_ACCEPT_MULTISHOT))
		return without_waiting(sqe->fd, accept_one, sqe);
	for (unsigned i = 0; i < SHOTS_MAX && room(entry->poller) > 1; i++) {
		r = without_waiting(sqe->fd, accept_one, sqe);
		if (r < 0)
			return r;
		post_more(entry, r, 0);
	}
	return NEXT_TURN;
}

static int begin_to_connect(const struct io_uring_sqe *sqe)
{
	return connect(sqe->fd, (const struct sockaddr *)(uintptr_t)sqe->addr,
		       (socklen_t)sqe->off) < 0 ?
		       -errno :
		       0;
}

static void try_later(struct eddy_timer *timer)
{
	struct entry *entry = eddy_of(timer, struct entry, timer);

	queue(&entry->poller->again, entry);
}

static int connect_socket(struct entry *entry)
{
	int error = 0, r, fd = entry->sqe.fd;
	socklen_t len = sizeof(error);

	if (entry->connecting) {
		if (!ready_events(entry))
			return NOT_READY;
		if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
			return -errno;
		return -error;
	}
	r = without_waiting(fd, begin_to_connect, &entry->sqe);
	if (r == -EAGAIN) {
		entry->timer.fire = try_later;
		eddy_timer_arm(&entry->timer, eddyi_time_after(eddy_now(), CONNECT_RETRY_NS));
		return NEXT_TURN;
	}
	entry->connecting = r == -EINPROGRESS;
	return entry->connecting ? NOT_READY : r;
}

/* Whether a splice may wait for a disk, or for a peer that does not heed SPLICE_F_NONBLOCK. */
static bool splice_may_block(const struct io_uring_sqe *sqe)
{
	mode_t in = 0, out = 0;
	int flags;

	if (mode_of(sqe->splice_fd_in, &in) < 0 || mode_of(sqe->fd, &out) < 0)
		return false;
	if (is_of_files(in) || is_of_files(out))
		return true;
	flags = out == S_IFSOCK ? fcntl(sqe->fd, F_GETFL) : O_NONBLOCK;
	return flags >= 0 && !(flags & O_NONBLOCK);
}

static int splice_bytes(struct entry *entry)
{
	struct io_uring_sqe sqe = entry->sqe;
	int r;

	if (splice_may_block(&sqe))
		return TO_POOL;
	sqe.splice_flags |= SPLICE_F_NONBLOCK;
	r = eddyi_call(&sqe);
	return r == -EAGAIN && waits(&entry->sqe) ? NOT_READY : r;
}

static int look(struct entry *entry, unsigned *ret_flags)
{
	const struct io_uring_sqe *sqe = &entry->sqe;
	unsigned events = ready_events(entry) & (direction_of(sqe) | POLLERR | POLLHUP | POLLNVAL);

	if (events & POLLNVAL)
		return -EBADF;
	if (!events)
		return NOT_READY;
	if (!is_multishot_poll(sqe))
		return (int)events;
	if (room(entry->poller) < 2)
		return NEXT_TURN;
	post_more(entry, (int)events, *ret_flags);
	return NOT_READY;
}

/* Try the call. Return: its result; NOT_READY, NEXT_TURN or TO_POOL. */
static int attempt(struct entry *entry, unsigned *ret_flags)
{
	switch (entry->sqe.opcode) {
	case IORING_OP_RECV:
		return receive(entry, ret_flags);
	case IORING_OP_SEND:
		return move_bytes(entry);
	case IORING_OP_RECVMSG:
		return entry->sqe.ioprio & IORING_RECV_MULTISHOT ? -EINVAL :
								   move_message(&entry->sqe);
	case IORING_OP_SENDMSG:
		return move_message(&entry->sqe);
	case IORING_OP_SEND_ZC:
	case IORING_OP_SENDMSG_ZC:
		return send_zc(entry, ret_flags);
	case IORING_OP_ACCEPT:
		return accept_connection(entry);
	case IORING_OP_CONNECT:
		return connect_socket(entry);
	case IORING_OP_SPLICE:
	case IORING_OP_TEE:
		return splice_bytes(entry);
	case IORING_OP_POLL_ADD:
		return look(entry, ret_flags);
	}
	return read_or_write(entry);
}

/* ---- jobs of the offload pool ---- */

static int call_in_pool(void *arg)
{
	const struct entry *entry = arg;

	return eddyi_call(&entry->sqe);
}

static void job_ended(struct eddy_message *message)
{
	struct entry *entry = eddy_of(message, struct entry, job.message);

	entry->in_pool = false;
	finish(entry, entry->job.result, 0);
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
	/* There are no threads: better late than never. */
	if (!entry->in_pool)
		finish(entry, eddyi_call(&entry->sqe), 0);
}

/* ---- starting, trying, cancelling ---- */

/* A splice waits for the end that is not ready. */
static int wait_for_splice(struct entry *entry)
{
	int out = entry->sqe.fd, r;

	if (events_now(out, POLLOUT)) {
		entry->sqe.fd = entry->sqe.splice_fd_in;
		r = wait_for(entry, POLLIN);
		entry->sqe.fd = out;
		return r;
	}
	return wait_for(entry, POLLOUT);
}

static void not_ready(struct entry *entry)
{
	bool is_splice = entry->sqe.opcode == IORING_OP_SPLICE ||
			 entry->sqe.opcode == IORING_OP_TEE;
	int r = is_splice ? wait_for_splice(entry) : wait_for(entry, direction_of(&entry->sqe));

	/* epoll takes no files, and some devices. */
	if (r == -EPERM)
		to_pool(entry);
	else if (r < 0)
		finish(entry, r, 0);
}

/* Act on the result of an attempt. */
static void settle(struct entry *entry, int result, unsigned flags)
{
	switch (result) {
	case NOT_READY:
		not_ready(entry);
		break;
	case NEXT_TURN:
		if (!eddy_timer_is_armed(&entry->timer))
			queue(&entry->poller->again, entry);
		break;
	case TO_POOL:
		to_pool(entry);
		break;
	default:
		finish(entry, result, flags);
	}
}

static void try(struct entry *entry)
{
	unsigned flags = 0;
	int result = attempt(entry, &flags);

	settle(entry, result, flags);
}

static struct eddy_node *bucket_of(struct poller *poller, uint64_t data)
{
	return &poller->started[(data * UINT64_C(0x9e3779b97f4a7c15)) >> 54];
}

/* Return: NULL if there is no other started entry with this user_data. */
static struct entry *find(struct poller *poller, uint64_t data, const struct entry *other_than)
{
	struct eddy_node *head = bucket_of(poller, data), *node;

	for (node = head->next; node != head; node = node->next) {
		struct entry *entry = eddy_of(node, struct entry, started);

		if (entry->sqe.user_data == data && entry != other_than)
			return entry;
	}
	return NULL;
}

/* Return: 0; -EALREADY if its call is being made. */
static int cancel(struct entry *entry)
{
	if (entry->in_pool && !eddyi_offload_take_back(&entry->job))
		return -EALREADY;
	entry->in_pool = false;
	wait_no_more(entry);
	finish(entry, entry->moved ? (int)entry->moved : -ECANCELED, 0);
	return 0;
}

static int cancel_named(const struct entry *by)
{
	const struct io_uring_sqe *sqe = &by->sqe;
	struct entry *entry;

	/* By descriptor, or a change of what goes on. */
	if (sqe->opcode == IORING_OP_POLL_REMOVE ? sqe->len : sqe->cancel_flags)
		return -EINVAL;
	entry = find(by->poller, sqe->addr, by);
	return entry ? cancel(entry) : -ENOENT;
}

static void time_is_up(struct eddy_timer *timer)
{
	struct entry *entry = eddy_of(timer, struct entry, timer), *bound = entry->bound;
	int r = 0;

	if (bound) {
		entry->bound = bound->bound = NULL;
		r = cancel(bound);
	}
	finish(entry, r < 0 ? r : -ETIME, 0);
}

/* Return: 0; -EINVAL. */
static int begin_timeout(struct entry *entry)
{
	const struct io_uring_sqe *sqe = &entry->sqe;
	const struct __kernel_timespec *time = (const void *)(uintptr_t)sqe->addr;
	const unsigned known = IORING_TIMEOUT_ABS | IORING_TIMEOUT_ETIME_SUCCESS;
	uint64_t at;

	if (sqe->off > 1 || sqe->timeout_flags & ~known || time->tv_sec < 0 || time->tv_nsec < 0)
		return -EINVAL;
	/* A count of completions; all callers that want only the time pass 0. */
	if (sqe->opcode == IORING_OP_TIMEOUT && sqe->off)
		return -EINVAL;
	at = eddyi_time_after((uint64_t)time->tv_nsec,
			      (uint64_t)time->tv_sec > EDDY_NEVER / EDDY_SECOND ?
				      EDDY_NEVER :
				      (uint64_t)time->tv_sec * EDDY_SECOND);
	if (!(sqe->timeout_flags & IORING_TIMEOUT_ABS))
		at = eddyi_time_after(eddy_now(), at);
	entry->timer.fire = time_is_up;
	eddy_timer_arm(&entry->timer, at);
	return 0;
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
	if (r < 0) {
		finish(bound, r, 0);
		return;
	}
	bound->bound = entry;
	entry->bound = bound;
}

static void start_own(struct entry *entry)
{
	int r;

	switch (entry->sqe.opcode) {
	case IORING_OP_POLL_ADD:
		if (is_multishot_poll(&entry->sqe))
			not_ready(entry);
		else
			try(entry);
		return;
	case IORING_OP_TIMEOUT:
		r = begin_timeout(entry);
		if (r < 0)
			finish(entry, r, 0);
		return;
	case IORING_OP_LINK_TIMEOUT:
		finish(entry, -EINVAL, 0);
		return;
	}
	finish(entry, cancel_named(entry), 0);
}

static void start_file(struct entry *entry)
{
	struct io_uring_sqe *sqe = &entry->sqe;
	mode_t mode;

	if (sqe->opcode != IORING_OP_CLOSE) {
		to_pool(entry);
		return;
	}
	forget(entry->poller, sqe->fd);
	/* A file system may have to write first. */
	if (mode_of(sqe->fd, &mode) == 0 && is_of_files(mode))
		to_pool(entry);
	else
		finish(entry, eddyi_call(sqe), 0);
}

static void start_stream(struct entry *entry)
{
	const struct io_uring_sqe *sqe = &entry->sqe;

	if (sqe->opcode == IORING_OP_RECV)
		entry->left = sqe->file_index;
	if ((sqe->opcode == IORING_OP_RECV || sqe->opcode == IORING_OP_SEND) &&
	    sqe->ioprio & IORING_RECVSEND_POLL_FIRST && waits(sqe))
		not_ready(entry);
	else
		try(entry);
}

static void start(struct entry *entry)
{
	struct io_uring_sqe *sqe = &entry->sqe;

	add_started(entry);
	if (entry->linked && entry->linked->sqe.opcode == IORING_OP_LINK_TIMEOUT)
		start_bound(entry);
	if (sqe->flags & (IOSQE_FIXED_FILE | IOSQE_IO_DRAIN) || sqe->personality) {
		finish(entry, -EINVAL, 0);
		return;
	}
	switch (eddyi_call_kind(sqe)) {
	case EDDYI_CALL_UNKNOWN:
		finish(entry, -EINVAL, 0);
		break;
	case EDDYI_CALL_QUICK:
		finish(entry, eddyi_call(sqe), 0);
		break;
	case EDDYI_CALL_FILE:
		start_file(entry);
		break;
	case EDDYI_CALL_STREAM:
		start_stream(entry);
		break;
	case EDDYI_CALL_OWN:
		start_own(entry);
		break;
	}
}

/* ---- turns ---- */

/* Start the queued entries; of a chain, the first. Return: 0; -ENOMEM if not all were taken. */
static int submit(struct poller *poller)
{
	const struct io_uring_sq *sq = &poller->loop->ring.sq;
	struct entry *first = NULL, *last = NULL;

	while (poller->sq_head != sq->sqe_tail) {
		struct entry *entry = take_entry(poller);

		if (!entry)
			break;
		entry->sqe = sq->sqes[poller->sq_head++ & sq->ring_mask];
		if (last)
			last->linked = entry;
		else
			first = entry;
		last = entry->sqe.flags & (IOSQE_IO_LINK | IOSQE_IO_HARDLINK) ? entry : NULL;
		if (!last)
			start(first);
	}
	if (last)
		start(first);
	return poller->sq_head == sq->sqe_tail ? 0 : -ENOMEM;
}

static void try_again(struct poller *poller)
{
	struct eddy_node now, *node;

	/* What comes back is for the next turn. */
	eddy_list_init(&now);
	while ((node = eddy_list_shift(&poller->again)))
		eddy_list_append(&now, node);
	while ((node = eddy_list_shift(&now))) {
		struct entry *entry = eddy_of(node, struct entry, queued);

		node->next = NULL;
		if (entry->started.next)
			try(entry);
		else
			start(entry);
	}
}

/* Take those out of the watch that these events are for. */
static void take_due(struct watch *watch, unsigned events, struct eddy_node *due)
{
	struct eddy_node *node = watch->waiting.next;

	eddy_list_init(due);
	while (node != &watch->waiting) {
		struct entry *entry = eddy_of(node, struct entry, queued);

		node = node->next;
		if (!(entry->events & events) && !(events & (EPOLLERR | EPOLLHUP)))
			continue;
		unqueue(entry);
		queue(due, entry);
	}
}

/* Try an entry whose descriptor has had an event. Return: whether it goes on waiting. */
static bool still_waits(struct entry *entry, struct watch *watch, unsigned events)
{
	unsigned flags = 0;
	int result;

	entry->happened = events;
	result = attempt(entry, &flags);
	entry->happened = 0;
	if (result == NOT_READY && entry->sqe.opcode != IORING_OP_SPLICE &&
	    entry->sqe.opcode != IORING_OP_TEE) {
		queue(&watch->waiting, entry);
		return true;
	}
	entry->events = 0;
	entry->poller->waiting--;
	settle(entry, result, flags);
	return false;
}

static void fail_all(struct watch *watch, int error)
{
	while (!eddy_list_is_empty(&watch->waiting)) {
		struct entry *entry = eddy_of(watch->waiting.next, struct entry, queued);

		wait_no_more(entry);
		finish(entry, error, 0);
	}
}

static void has_happened(struct poller *poller, int fd, unsigned events)
{
	struct watch *watch = (size_t)fd < poller->watch_count ? poller->watches[fd] : NULL;
	struct eddy_node due, *node;
	bool went_on = false;
	int r;

	if (!watch)
		return;
	take_due(watch, events, &due);
	while ((node = eddy_list_shift(&due))) {
		node->next = NULL;
		if (!still_waits(eddy_of(node, struct entry, queued), watch, events))
			went_on = true;
	}
	if (watch->edge || eddy_list_is_empty(&watch->waiting))
		return;
	watch->edge = !went_on;
	r = arm(poller, watch, fd, events_of(watch));
	if (r < 0)
		fail_all(watch, r);
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

static int collect(struct poller *poller, uint64_t timeout_ns)
{
	struct epoll_event events[EVENTS_MAX];
	int count = wait_for_events(poller, events, timeout_ns);

	if (count < 0)
		return -errno;
	for (int i = 0; i < count; i++)
		has_happened(poller, events[i].data.fd, events[i].events);
	return 0;
}

static int poll_wait(struct eddy_loop *loop, uint64_t timeout_ns)
{
	struct poller *poller = poll_of(loop);
	int r, submitted;

	complete_rest(poller);
	submitted = submit(poller);
	try_again(poller);
	if (submitted < 0 || poller->cq_tail != poller->cq_head ||
	    !eddy_list_is_empty(&poller->again) || !eddy_list_is_empty(&poller->completed))
		timeout_ns = 0;
	r = collect(poller, timeout_ns);
	return submitted < 0 ? submitted : r;
}

static int poll_enter(struct eddy_loop *loop)
{
	return poll_wait(loop, 0);
}

/* ---- begin and end ---- */

static void free_queues(struct io_uring *ring)
{
	free(ring->sq.sqes);
	free(ring->cq.cqes);
}

/* Give the ring queues in the program's memory. Return: 0, -ENOMEM. */
static int make_queues(struct poller *poller, unsigned entries)
{
	struct io_uring *ring = &poller->loop->ring;
	unsigned count = 1;

	while (count < entries && count < ENTRIES_MAX)
		count *= 2;
	*ring = (struct io_uring){
		.sq = {
			.khead = &poller->sq_head,
			.ktail = &poller->sq_tail,
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
	if (ring->sq.sqes && ring->cq.cqes)
		return 0;
	free_queues(ring);
	return -ENOMEM;
}

static int poll_begin(struct eddy_loop *loop, unsigned entries)
{
	struct poller *poller = calloc(1, sizeof(*poller));
	int r;

	if (!poller)
		return -ENOMEM;
	poller->loop = loop;
	poller->fd = epoll_create1(EPOLL_CLOEXEC);
	r = poller->fd < 0 ? -errno : make_queues(poller, entries);
	if (r < 0) {
		if (poller->fd >= 0)
			close(poller->fd);
		free(poller);
		return r;
	}
	for (size_t i = 0; i < BUCKETS; i++)
		eddy_list_init(&poller->started[i]);
	eddy_list_init(&poller->again);
	eddy_list_init(&poller->completed);
	eddy_list_init(&poller->spare);
	eddy_list_init(&poller->groups);
	loop->executor_state = poller;
	return 0;
}

static void free_all(struct eddy_node *list)
{
	struct eddy_node *node;

	while ((node = eddy_list_shift(list)))
		free(eddy_of(node, struct entry, queued));
}

/* No op of the loop is in flight any more; entries whose completions are ignored may be. */
static void poll_end(struct eddy_loop *loop)
{
	struct poller *poller = poll_of(loop);

	for (size_t i = 0; i < BUCKETS; i++) {
		struct eddy_node *node;

		while ((node = eddy_list_shift(&poller->started[i]))) {
			struct entry *entry = eddy_of(node, struct entry, started);

			unqueue(entry);
			eddy_timer_disarm(&entry->timer);
			free(entry);
		}
	}
	free_all(&poller->again);
	free_all(&poller->completed);
	free_all(&poller->spare);
	while (!eddy_list_is_empty(&poller->groups))
		free(eddy_of(eddy_list_shift(&poller->groups), struct group, node));
	for (size_t fd = 0; fd < poller->watch_count; fd++)
		free(poller->watches[fd]);
	free(poller->watches);
	close(poller->fd);
	free_queues(&loop->ring);
	free(poller);
}

static int poll_limit_workers(struct eddy_loop *loop, unsigned max)
{
	eddyi_offload_limit_files(max);
	__atomic_store_n(&loop->stats.io_workers_max, max, __ATOMIC_RELAXED);
	return 0;
}

static int poll_add_buffers(struct eddy_loop *loop, struct io_uring_buf_reg *reg)
{
	struct poller *poller = poll_of(loop);
	struct group *group;

	if (group_of(poller, reg->bgid))
		return -EEXIST;
	group = calloc(1, sizeof(*group));
	if (!group)
		return -ENOMEM;
	group->ring = (struct io_uring_buf_ring *)(uintptr_t)reg->ring_addr;
	group->mask = reg->ring_entries - 1;
	group->number = reg->bgid;
	eddy_list_append(&poller->groups, &group->node);
	return 0;
}

static void poll_remove_buffers(struct eddy_loop *loop, int number)
{
	struct group *group = group_of(poll_of(loop), (unsigned)number);

	eddy_list_remove(&group->node);
	free(group);
}

const struct eddyi_executor eddyi_executor_poll = {
	.name = "poll",
	.begin = poll_begin,
	.end = poll_end,
	.enter = poll_enter,
	.wait = poll_wait,
	.limit_workers = poll_limit_workers,
	.add_buffers = poll_add_buffers,
	.remove_buffers = poll_remove_buffers,
};
