/* Chaos: what it does to the ready queue, to submissions and to completions.
 *
 * Invariants:
 * 1. Nothing happens that the kernel could not do. Completions of different user_data come in any
 *    order and with any delay; those of one user_data keep their order. So a multishot's
 *    completions stay in order, a notification comes after its first completion, and a cancel's
 *    before or after its op's.
 * 2. A held completion is still owed to its op (op.c, 2): an op never ends, and its memory is never
 *    reused, while one of its completions is held. A held buffer is as if it were in the completion
 *    queue.
 * 3. While anything is held the loop does not sleep, and each turn brings it nearer.
 * 4. Internal ops of the loop are shuffled and delayed, and their cancels may miss (op.c, 4).
 *    Nothing else is done to them.
 * 5. Entries of a chain (IOSQE_IO_LINK, IOSQE_IO_DRAIN) are not changed: their neighbours depend on
 *    them.
 * 6. A failed call is not made, so its failure loses nothing. Calls that close, undo or end
 *    something never fail.
 * 7. A delayed entry reaches the kernel before the cancellation of its op.
 */
#include "chaos.h"

#include "base/panic.h"
#include "base/uapi.h"
#include "core/guest.h"
#include "core/op.h"
#include "core/task.h"

#include <eddy/internal/outside.h>
#include <eddy/log.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define TARGET "eddy::chaos"
/* One in this many. */
#define FAIL_ODDS 32
#define EINTR_ODDS 16
#define NOBUFS_ODDS 16
#define ENDS_ODDS 2
#define MISSES_ODDS 4
#define SHORT_ODDS 4
#define DELAY_ODDS 4
/* Maximum number of turns that a completion is held. */
#define CQE_TURNS 4
#define CQES EDDYI_CHAOS_CQES
#define SQES 64
/* Maximum distance of an inserted task from the end of the ready queue. */
#define READY_DEPTH 32

#define USAGE                                                                                        \
	"EDDY_CHAOS is SEED[,MODE...]: a number, then any of shuffle, delay, short, eintr, nobufs, " \
	"ends, misses (default: all of these) and errors"

struct held_cqe {
	uint64_t data;
	int result;
	unsigned flags;
	uint64_t due; /* turn when it is dispatched */
};

struct held_sqe {
	struct eddy_op *op;
	struct io_uring_sqe sqe;
	uint64_t due;
};

struct chaos {
	struct eddyi_guest guest;
	uint64_t seed;
	unsigned modes;
	char text[64];
	uint64_t turn;
	/* Separate streams: the timing of completions does not affect later submissions. */
	uint64_t ready_random, sqe_random, cqe_random;
	bool in_chain; /* the previous entry was linked to the next */
	unsigned cqe_count, sqe_count;
	struct held_cqe cqes[CQES]; /* in order of arrival */
	struct held_sqe sqes[SQES]; /* in order of their start */
};

static struct chaos *chaos_of(struct eddyi_guest *guest)
{
	return eddy_of(guest, struct chaos, guest);
}

/* ---- random numbers ---- */

/* splitmix64, for which all seeds are equally good. */
static uint64_t next(uint64_t *stream)
{
	uint64_t z = (*stream += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* Get the next number of a stream, below `limit`. */
static uint64_t below(uint64_t *stream, uint64_t limit)
{
	return next(stream) % limit;
}

/* ---- the ready queue ---- */

/* Insert the task at a random position. A yielding task must come after all ready ones: other tasks
 * are inserted before it. */
static bool queue(struct eddyi_guest *guest, struct eddy_task *task)
{
	struct chaos *chaos = chaos_of(guest);
	struct eddy_node *ready = &guest->loop->ready, *before = ready;

	if (chaos->modes & EDDYI_CHAOS_SHUFFLE) {
		uint64_t steps = below(&chaos->ready_random, READY_DEPTH);

		while (steps-- && before->prev != ready)
			before = before->prev;
	}
	eddy_list_append(before, &task->queued);
	return true;
}

/* ---- completions that are held or injected ---- */

static void hold(struct chaos *chaos, uint64_t data, int result, unsigned flags, uint64_t due)
{
	chaos->cqes[chaos->cqe_count++] = (struct held_cqe){
		.data = data,
		.result = result,
		.flags = flags,
		.due = due,
	};
}

/* Inject a completion of the entry `data` in a later turn. Return: false if there is no room. */
static bool inject(struct chaos *chaos, uint64_t data, int result)
{
	if (chaos->cqe_count == CQES)
		return false;
	/* Not in this turn, which would never end if the op is restarted each time. */
	hold(chaos, data, result, 0, chaos->turn + 1);
	return true;
}

/* ---- submissions ----
 *
 * A failed or delayed entry is replaced by a NOP whose completion is ignored. */

static bool odds(struct chaos *chaos, unsigned mode, unsigned one_in)
{
	return chaos->modes & mode && !below(&chaos->sqe_random, one_in);
}

static void make_nothing(struct io_uring_sqe *sqe)
{
	io_uring_prep_nop(sqe);
	sqe->flags |= IOSQE_CQE_SKIP_SUCCESS;
	io_uring_sqe_set_data64(sqe, EDDYI_OP_TAG_NOBODY);
}

static bool may_fail(uint8_t opcode)
{
	switch (opcode) {
	case IORING_OP_CLOSE:
	case IORING_OP_SHUTDOWN:
	case IORING_OP_UNLINKAT:
	case IORING_OP_ASYNC_CANCEL:
	case IORING_OP_POLL_REMOVE:
	case IORING_OP_TIMEOUT:
	case IORING_OP_TIMEOUT_REMOVE:
	case IORING_OP_LINK_TIMEOUT:
	case IORING_OP_FILES_UPDATE:
	case IORING_OP_PROVIDE_BUFFERS:
	case IORING_OP_REMOVE_BUFFERS:
	case IORING_OP_MSG_RING:
		return false;
	}
	return true;
}

static int failure_of(struct chaos *chaos, uint8_t opcode)
{
	if (!below(&chaos->sqe_random, 4))
		return -ECANCELED;
	switch (opcode) {
	case IORING_OP_ACCEPT:
	case IORING_OP_OPENAT:
	case IORING_OP_OPENAT2:
	case IORING_OP_SOCKET:
	case EDDYI_OP_PIPE:
		return -EMFILE;
	case IORING_OP_WRITE:
	case IORING_OP_WRITEV:
	case IORING_OP_WRITE_FIXED:
	case IORING_OP_FALLOCATE:
	case EDDYI_OP_FTRUNCATE:
		return -ENOSPC;
	}
	return -ENOMEM;
}

/* Return: the error to inject; 0 to make the call. */
static int failure(struct chaos *chaos, const struct eddy_op *op, const struct io_uring_sqe *sqe)
{
	if (!may_fail(sqe->opcode))
		return 0;
	if (odds(chaos, EDDYI_CHAOS_ERRORS, FAIL_ODDS))
		return failure_of(chaos, sqe->opcode);
	if (sqe->flags & IOSQE_BUFFER_SELECT && odds(chaos, EDDYI_CHAOS_NOBUFS, NOBUFS_ODDS))
		return -ENOBUFS;
	/* A task's op is repeated before the task sees the error. */
	if ((op->waiter || op->restarts) && odds(chaos, EDDYI_CHAOS_EINTR, EINTR_ODDS))
		return -EINTR;
	return 0;
}

/* Whether a call on this descriptor may move fewer bytes than requested. Not if the bytes form a
 * message or record (datagrams, eventfds, signalfds, inotify, terminals), or must be aligned. */
static bool is_stream(int fd)
{
	struct stat st;
	int type, flags;
	socklen_t len = sizeof(type);

	if (eddyi_fstat_now(fd, &st) < 0)
		return false;
	if (S_ISSOCK(st.st_mode))
		return eddyi_getsockopt_now(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 &&
		       type == SOCK_STREAM;
	flags = eddyi_fcntl_now(fd, F_GETFL, 0);
	/* A pipe with O_DIRECT is a packet pipe; only its writing end has the flag. */
	if (flags < 0 || flags & O_DIRECT)
		return false;
	return S_ISFIFO(st.st_mode) || S_ISREG(st.st_mode);
}

static bool can_be_short(const struct io_uring_sqe *sqe)
{
	if (sqe->len < 2 || sqe->flags & IOSQE_FIXED_FILE)
		return false;
	switch (sqe->opcode) {
	case IORING_OP_RECV:
	case IORING_OP_SEND:
	case IORING_OP_SEND_ZC:
		/* Multishots and bundles have lengths of their own. */
		if (sqe->msg_flags & (MSG_WAITALL | MSG_OOB) ||
		    sqe->ioprio & ~(unsigned)IORING_RECVSEND_POLL_FIRST)
			return false;
		return is_stream(sqe->fd);
	case IORING_OP_READ:
	case IORING_OP_WRITE:
		return is_stream(sqe->fd);
	case IORING_OP_SPLICE:
	case IORING_OP_TEE:
		return !(sqe->splice_flags & SPLICE_F_FD_IN_FIXED) && is_stream(sqe->fd) &&
		       is_stream(sqe->splice_fd_in);
	}
	return false;
}

static void shorten(struct chaos *chaos, struct io_uring_sqe *sqe)
{
	unsigned len = sqe->len;

	/* Usually by some part, sometimes to a few bytes. */
	if (len > 16 && !below(&chaos->sqe_random, 4))
		sqe->len = 16;
	sqe->len = 1 + (unsigned)below(&chaos->sqe_random, sqe->len - 1);
	eddy_debug(TARGET, "a call of opcode %u on %d moves up to %u bytes, not %u", sqe->opcode,
		   sqe->fd, sqe->len, len);
}

/* Turn a multishot into a single op: it may end after any completion, and so ends after the first.
 * Return: false if it is no multishot. */
static bool make_single(struct io_uring_sqe *sqe)
{
	switch (sqe->opcode) {
	case IORING_OP_ACCEPT:
		if (!(sqe->ioprio & IORING_ACCEPT_MULTISHOT))
			return false;
		sqe->ioprio &= (uint16_t)~IORING_ACCEPT_MULTISHOT;
		return true;
	case IORING_OP_RECV:
		if (!(sqe->ioprio & IORING_RECV_MULTISHOT))
			return false;
		sqe->ioprio &= (uint16_t)~IORING_RECV_MULTISHOT;
		sqe->file_index = 0; /* a limit, which only multishots may have */
		return true;
	case IORING_OP_POLL_ADD:
		if (!(sqe->len & IORING_POLL_ADD_MULTI))
			return false;
		sqe->len &= ~IORING_POLL_ADD_MULTI;
		return true;
	}
	return false;
}

static void delay(struct chaos *chaos, struct eddy_op *op, struct io_uring_sqe *sqe)
{
	struct held_sqe *held = &chaos->sqes[chaos->sqe_count++];

	eddy_trace(TARGET, "a call of opcode %u on %d is made a turn later", sqe->opcode, sqe->fd);
	held->op = op;
	held->sqe = *sqe;
	held->due = chaos->turn + 1 + below(&chaos->sqe_random, 2);
	make_nothing(sqe);
}

static void start(struct eddyi_guest *guest, struct eddy_op *op, struct io_uring_sqe *sqe)
{
	const unsigned chain = IOSQE_IO_LINK | IOSQE_IO_HARDLINK;
	struct chaos *chaos = chaos_of(guest);
	bool chained = chaos->in_chain;
	int error;

	chaos->in_chain = sqe->flags & chain;
	if (op->own || chained || sqe->flags & (chain | IOSQE_IO_DRAIN))
		return;
	error = failure(chaos, op, sqe);
	if (error && inject(chaos, (uintptr_t)op, error)) {
		eddy_debug(TARGET, "a call of opcode %u on %d fails: %s", sqe->opcode, sqe->fd,
			   strerror(-error));
		make_nothing(sqe);
		return;
	}
	if (odds(chaos, EDDYI_CHAOS_ENDS, ENDS_ODDS) && make_single(sqe))
		eddy_debug(TARGET, "a multishot of opcode %u on %d ends early", sqe->opcode,
			   sqe->fd);
	if (odds(chaos, EDDYI_CHAOS_SHORT, SHORT_ODDS) && can_be_short(sqe))
		shorten(chaos, sqe);
	if (chaos->sqe_count < SQES && odds(chaos, EDDYI_CHAOS_DELAY, DELAY_ODDS))
		delay(chaos, op, sqe);
}

static void try_send(struct eddyi_guest *guest, int fd, size_t *len)
{
	struct chaos *chaos = chaos_of(guest);

	if (odds(chaos, EDDYI_CHAOS_DELAY, DELAY_ODDS))
		*len = 0;
	else if (*len > 1 && odds(chaos, EDDYI_CHAOS_SHORT, SHORT_ODDS) && is_stream(fd))
		*len = 1 + (size_t)below(&chaos->sqe_random, *len - 1);
}

static void submit(struct chaos *chaos, unsigned at)
{
	struct io_uring_sqe copy = chaos->sqes[at].sqe;

	chaos->sqe_count--;
	memmove(&chaos->sqes[at], &chaos->sqes[at + 1],
		(chaos->sqe_count - at) * sizeof(chaos->sqes[0]));
	*eddyi_op_take_sqe(chaos->guest.loop) = copy;
}

static void cancel(struct eddyi_guest *guest, struct eddy_op *op)
{
	struct chaos *chaos = chaos_of(guest);

	for (unsigned at = 0; at < chaos->sqe_count; at++)
		if (chaos->sqes[at].op == op) {
			submit(chaos, at);
			return;
		}
}

static bool miss(struct eddyi_guest *guest, uint64_t data)
{
	struct chaos *chaos = chaos_of(guest);
	int result;

	if (!odds(chaos, EDDYI_CHAOS_MISSES, MISSES_ODDS))
		return false;
	result = below(&chaos->sqe_random, 2) ? -ENOENT : -EALREADY;
	if (!inject(chaos, data, result))
		return false;
	eddy_debug(TARGET, "a cancel misses: %s", strerror(-result));
	return true;
}

/* Submit the delayed entries that are due. */
static void submit_due(struct chaos *chaos)
{
	unsigned at = 0;

	while (at < chaos->sqe_count) {
		if (chaos->sqes[at].due <= chaos->turn)
			submit(chaos, at);
		else
			at++;
	}
}

/* ---- completions ---- */

/* Collect completions. Return: true if they may not all have fit. */
static bool collect(struct chaos *chaos)
{
	struct io_uring *ring = &chaos->guest.loop->ring;
	struct io_uring_cqe *cqe;
	unsigned head, count = 0;

	io_uring_for_each_cqe(ring, head, cqe) {
		uint64_t due = chaos->turn;

		if (chaos->cqe_count == CQES)
			break;
		if (chaos->modes & EDDYI_CHAOS_DELAY && !below(&chaos->cqe_random, 4))
			due += 1 + below(&chaos->cqe_random, CQE_TURNS);
		hold(chaos, cqe->user_data, cqe->res, cqe->flags, due);
		count++;
	}
	io_uring_cq_advance(ring, count);
	return chaos->cqe_count == CQES;
}

/* Remove one that is due, or with `all` any. Return: false if there is none. */
static bool take(struct chaos *chaos, bool all, struct held_cqe *ret_cqe)
{
	unsigned due = 0, at, chosen;

	for (at = 0; at < chaos->cqe_count; at++)
		due += all || chaos->cqes[at].due <= chaos->turn;
	if (!due)
		return false;
	chosen = chaos->modes & EDDYI_CHAOS_SHUFFLE ? (unsigned)below(&chaos->cqe_random, due) : 0;
	for (at = 0;; at++)
		if ((all || chaos->cqes[at].due <= chaos->turn) && !chosen--)
			break;
	/* Keep the order of one op's completions. */
	for (unsigned earlier = 0; earlier < at; earlier++)
		if (chaos->cqes[earlier].data == chaos->cqes[at].data)
			at = earlier;
	*ret_cqe = chaos->cqes[at];
	chaos->cqe_count--;
	memmove(&chaos->cqes[at], &chaos->cqes[at + 1],
		(chaos->cqe_count - at) * sizeof(chaos->cqes[0]));
	return true;
}

static bool dispatch(struct eddyi_guest *guest)
{
	struct chaos *chaos = chaos_of(guest);
	struct held_cqe cqe;
	bool full;

	chaos->turn++;
	submit_due(chaos);
	do {
		full = collect(chaos);
		/* Completions injected by these are not due in this turn. */
		while (take(chaos, full, &cqe))
			eddyi_op_complete(guest->loop, cqe.data, cqe.result, cqe.flags);
	} while (full);
	return true;
}

static bool is_holding(struct eddyi_guest *guest)
{
	const struct chaos *chaos = chaos_of(guest);

	return chaos->cqe_count || chaos->sqe_count;
}

/* ---- the guest, and the environment ---- */

static const struct eddyi_guest_hooks hooks = {
	.ready = queue,
	.start = start,
	.cancel = cancel,
	.miss = miss,
	.dispatch = dispatch,
	.hold = is_holding,
	.try_send = try_send,
};

/* Return: NULL if the loop has none. */
static struct chaos *find(const struct eddy_loop *loop)
{
	struct eddyi_guest *guest = eddyi_guest_find(loop, &hooks);

	return guest ? chaos_of(guest) : NULL;
}

bool eddyi_chaos_is_on(const struct eddy_loop *loop)
{
	return find(loop);
}

static const struct {
	const char *name;
	unsigned mode;
} modes[] = {
	{ "shuffle", EDDYI_CHAOS_SHUFFLE }, { "delay", EDDYI_CHAOS_DELAY },
	{ "short", EDDYI_CHAOS_SHORT },     { "eintr", EDDYI_CHAOS_EINTR },
	{ "nobufs", EDDYI_CHAOS_NOBUFS },   { "ends", EDDYI_CHAOS_ENDS },
	{ "misses", EDDYI_CHAOS_MISSES },   { "errors", EDDYI_CHAOS_ERRORS },
};

/* Return: 0 if there is no such mode. */
static unsigned mode_of(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (strlen(modes[i].name) == len && memcmp(modes[i].name, name, len) == 0)
			return modes[i].mode;
	return 0;
}

int eddyi_chaos_parse(const char *text, uint64_t *ret_seed, unsigned *ret_modes)
{
	unsigned chosen = 0;
	uint64_t seed;
	char *end;

	/* strtoull() would accept blanks and a sign. */
	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	seed = strtoull(text, &end, 0);
	if (errno)
		return -EINVAL;
	while (*end == ',') {
		const char *name = end + 1;
		unsigned mode = mode_of(name, strcspn(name, ","));

		if (!mode)
			return -EINVAL;
		chosen |= mode;
		end += 1 + strcspn(name, ",");
	}
	if (*end)
		return -EINVAL;
	*ret_seed = seed;
	*ret_modes = chosen & EDDYI_CHAOS_BENIGN ? chosen : chosen | EDDYI_CHAOS_BENIGN;
	return 0;
}

/* Return: NULL if the variable is unset or empty. */
static const char *environment(void)
{
	const char *text = eddyi_getenv_now("EDDY_CHAOS");

	return text && *text ? text : NULL;
}

const char *eddyi_chaos_advice(void)
{
	const char *text = environment();
	uint64_t seed;
	unsigned chosen;

	return text && eddyi_chaos_parse(text, &seed, &chosen) < 0 ? USAGE : NULL;
}

/* Get the variable's text; NULL if this thread's loop has no chaos. */
static const char *text_of_loop(void)
{
	const struct eddy_loop *loop = eddy_loop_self();
	const struct chaos *chaos = loop ? find(loop) : NULL;

	return chaos ? chaos->text : NULL;
}

int eddyi_chaos_attach(struct eddy_loop *loop)
{
	const char *text = environment();
	struct chaos *chaos;
	uint64_t seed;
	unsigned chosen;

	if (!text)
		return 0;
	if (eddyi_chaos_parse(text, &seed, &chosen) < 0) {
		eddy_error(TARGET, "invalid EDDY_CHAOS=\"%s\"; %s", text, USAGE);
		return -EINVAL;
	}
	chaos = calloc(1, sizeof(*chaos));
	if (!chaos)
		return -ENOMEM;
	chaos->seed = seed;
	chaos->modes = chosen;
	snprintf(chaos->text, sizeof(chaos->text), "%s", text);
	__atomic_store_n(&eddyi_panic_under, text_of_loop, __ATOMIC_RELAXED);
	eddyi_guest_attach(loop, &chaos->guest, &hooks);
	return 0;
}

void eddyi_chaos_detach(struct eddy_loop *loop)
{
	struct chaos *chaos = find(loop);

	if (!chaos)
		return;
	eddyi_guest_detach(&chaos->guest);
	free(chaos);
}

void eddyi_chaos_begin(struct eddy_loop *loop)
{
	struct chaos *chaos = find(loop);
	uint64_t source;

	if (!chaos)
		return;
	source = chaos->seed;
	source = next(&source) ^ loop->id;
	chaos->ready_random = next(&source);
	chaos->sqe_random = next(&source);
	chaos->cqe_random = next(&source);
	eddy_debug(TARGET, "loop %u, \"%s\", runs under EDDY_CHAOS=%s", loop->id, loop->name,
		   chaos->text);
}
