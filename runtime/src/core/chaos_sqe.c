/* The effect of chaos on submissions. A failed or delayed entry is replaced by a NOP whose
 * completion is ignored.
 *
 * Invariants:
 * 1. Entries of a chain (IOSQE_IO_LINK, IOSQE_IO_DRAIN) are not changed: their neighbours depend on
 *    them.
 * 2. A failed call is not made, so its failure loses nothing.
 * 3. Calls that close, undo or end something never fail.
 * 4. A delayed entry reaches the kernel before the cancellation of its op.
 */
#include "chaos.h"
#include "op.h"
#include "base/uapi.h"

#include <eddy/internal/outside.h>
#include <eddy/log.h>

#include <errno.h>
#include <fcntl.h>
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

static bool odds(struct eddyi_chaos *chaos, unsigned mode, unsigned one_in)
{
	return chaos->modes & mode && !eddyi_chaos_below(&chaos->sqe_random, one_in);
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

static int failure_of(struct eddyi_chaos *chaos, uint8_t opcode)
{
	if (!eddyi_chaos_below(&chaos->sqe_random, 4))
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
static int failure(struct eddyi_chaos *chaos, const struct eddy_op *op,
		   const struct io_uring_sqe *sqe)
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

static void shorten(struct eddyi_chaos *chaos, struct io_uring_sqe *sqe)
{
	unsigned len = sqe->len;

	/* Usually by some part, sometimes to a few bytes. */
	if (len > 16 && !eddyi_chaos_below(&chaos->sqe_random, 4))
		sqe->len = 16;
	sqe->len = 1 + (unsigned)eddyi_chaos_below(&chaos->sqe_random, sqe->len - 1);
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

static void delay(struct eddyi_chaos *chaos, struct eddy_op *op, struct io_uring_sqe *sqe)
{
	struct eddyi_chaos_held_sqe *held = &chaos->sqes[chaos->sqe_count++];

	eddy_trace(TARGET, "a call of opcode %u on %d is made a turn later", sqe->opcode, sqe->fd);
	held->op = op;
	held->sqe = *sqe;
	held->due = chaos->turn + 1 + eddyi_chaos_below(&chaos->sqe_random, 2);
	make_nothing(sqe);
}

void eddyi_chaos_start(struct eddy_loop *loop, struct eddy_op *op, struct io_uring_sqe *sqe)
{
	const unsigned chain = IOSQE_IO_LINK | IOSQE_IO_HARDLINK;
	struct eddyi_chaos *chaos = loop->chaos;
	bool chained = chaos->in_chain;
	int error;

	chaos->in_chain = sqe->flags & chain;
	if (op->own || chained || sqe->flags & (chain | IOSQE_IO_DRAIN))
		return;
	error = failure(chaos, op, sqe);
	if (error && eddyi_chaos_complete(chaos, (uintptr_t)op, error)) {
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
	if (chaos->sqe_count < EDDYI_CHAOS_SQES && odds(chaos, EDDYI_CHAOS_DELAY, DELAY_ODDS))
		delay(chaos, op, sqe);
}

size_t eddyi_chaos_try_send(struct eddyi_chaos *chaos, int fd, size_t len)
{
	if (odds(chaos, EDDYI_CHAOS_DELAY, DELAY_ODDS))
		return 0;
	if (len > 1 && odds(chaos, EDDYI_CHAOS_SHORT, SHORT_ODDS) && is_stream(fd))
		return 1 + (size_t)eddyi_chaos_below(&chaos->sqe_random, len - 1);
	return len;
}

static void submit(struct eddy_loop *loop, unsigned at)
{
	struct eddyi_chaos *chaos = loop->chaos;
	struct io_uring_sqe copy = chaos->sqes[at].sqe;

	chaos->sqe_count--;
	memmove(&chaos->sqes[at], &chaos->sqes[at + 1],
		(chaos->sqe_count - at) * sizeof(chaos->sqes[0]));
	*eddyi_op_take_sqe(loop) = copy;
}

void eddyi_chaos_cancel(struct eddy_loop *loop, struct eddy_op *op)
{
	for (unsigned at = 0; at < loop->chaos->sqe_count; at++)
		if (loop->chaos->sqes[at].op == op) {
			submit(loop, at);
			return;
		}
}

bool eddyi_chaos_misses(struct eddyi_chaos *chaos, uint64_t cancel)
{
	int result;

	if (!odds(chaos, EDDYI_CHAOS_MISSES, MISSES_ODDS))
		return false;
	result = eddyi_chaos_below(&chaos->sqe_random, 2) ? -ENOENT : -EALREADY;
	if (!eddyi_chaos_complete(chaos, cancel, result))
		return false;
	eddy_debug(TARGET, "a cancel misses: %s", strerror(-result));
	return true;
}

void eddyi_chaos_release(struct eddy_loop *loop)
{
	unsigned at = 0;

	while (at < loop->chaos->sqe_count) {
		if (loop->chaos->sqes[at].due <= loop->chaos->turn)
			submit(loop, at);
		else
			at++;
	}
}
