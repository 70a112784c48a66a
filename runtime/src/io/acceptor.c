/* Invariants:
 * 1. While the acceptor is neither ended nor stopping, exactly one of these holds: the op is
 *    started; it pauses for lack of descriptors (`retry` is armed, and `paused` in the loop's
 *    list); or so many connections are pending that the task has to take some first. In the latter
 *    two cases it is at rest, and notified when its descriptor is closed.
 * 2. A descriptor is in `fds` from its completion until _next returns it or _close closes it.
 */
#include "acceptor.h"
#include "core/loop.h"
#include "core/wait.h"

#include <eddy/internal/outside.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define PENDING_DEFAULT 64
/* Rearmed at once, it would fail in a busy loop. */
#define RETRY_NS (100 * EDDY_MS)

static void arm(struct eddyi_acceptor *acceptor);

static void rest(struct eddyi_acceptor *acceptor)
{
	eddy_list_append(&eddyi_loop()->at_rest, &acceptor->at_rest.node);
}

static void rest_no_more(struct eddyi_acceptor *acceptor)
{
	eddy_timer_disarm(&acceptor->retry);
	if (acceptor->paused.next)
		eddy_list_remove(&acceptor->paused);
	if (acceptor->at_rest.node.next)
		eddy_list_remove(&acceptor->at_rest.node);
}

static void closed(struct eddyi_at_rest *at_rest)
{
	struct eddyi_acceptor *acceptor = eddy_of(at_rest, struct eddyi_acceptor, at_rest);

	rest_no_more(acceptor);
	acceptor->ended = true;
	acceptor->end = -EBADF;
	if (acceptor->waiter)
		eddyi_wake(acceptor->waiter, 0);
}

static void retry(struct eddy_timer *timer)
{
	arm(eddy_of(timer, struct eddyi_acceptor, retry));
}

void eddyi_acceptors_resume(struct eddy_loop *loop)
{
	while (!eddy_list_is_empty(&loop->paused_acceptors))
		arm(eddy_of(loop->paused_acceptors.next, struct eddyi_acceptor, paused));
}

static bool has_room(struct eddyi_acceptor *acceptor)
{
	unsigned room = 2 * acceptor->room;
	int *fds;

	if (acceptor->pending < acceptor->room)
		return true;
	fds = malloc(room * sizeof(*fds));
	if (!fds)
		return false;
	for (unsigned i = 0; i < acceptor->pending; i++)
		fds[i] = acceptor->fds[(acceptor->first + i) % acceptor->room];
	free(acceptor->fds);
	acceptor->fds = fds;
	acceptor->first = 0;
	acceptor->room = room;
	return true;
}

static void append(struct eddyi_acceptor *acceptor, int fd)
{
	if (has_room(acceptor))
		acceptor->fds[(acceptor->first + acceptor->pending++) % acceptor->room] = fd;
	else
		eddyi_close_now(fd);
}

static int shift(struct eddyi_acceptor *acceptor)
{
	int fd = acceptor->fds[acceptor->first];

	acceptor->first = (acceptor->first + 1) % acceptor->room;
	acceptor->pending--;
	return fd;
}

static bool is_of_one_connection(int error)
{
	return error == -ECONNABORTED || error == -EPROTO || error == -EINTR;
}

static bool is_want(int error)
{
	return error == -EMFILE || error == -ENFILE || error == -ENOBUFS || error == -ENOMEM;
}

/* Continue after the op has ended. */
static void go_on(struct eddyi_acceptor *acceptor, int result)
{
	struct eddy_loop *loop = eddyi_loop();
	bool pausing = acceptor->pausing;

	acceptor->pausing = false;
	if (acceptor->stopping)
		return;
	if (is_want(result)) {
		acceptor->pauses++;
		eddy_timer_arm(&acceptor->retry, eddyi_time_after(loop->now_ns, RETRY_NS));
		eddy_list_append(&loop->paused_acceptors, &acceptor->paused);
		rest(acceptor);
	} else if (result >= 0 || is_of_one_connection(result) ||
		   (pausing && result == -ECANCELED)) {
		if (acceptor->pending < acceptor->pending_max)
			arm(acceptor);
		else
			rest(acceptor);
	} else {
		acceptor->ended = true;
		/* Cancelled because a task closes the descriptor. */
		acceptor->end = result == -ECANCELED ? -EBADF : result;
	}
}

static void accepted(struct eddy_op *op, int result, unsigned flags)
{
	struct eddyi_acceptor *acceptor = eddy_of(op, struct eddyi_acceptor, op);

	if (result >= 0)
		append(acceptor, result);
	if (!(flags & IORING_CQE_F_MORE)) {
		go_on(acceptor, result);
	} else if (acceptor->pending >= acceptor->pending_max) {
		acceptor->pausing = true;
		eddy_op_cancel(op);
	}
	if (!acceptor->waiter)
		return;
	if (acceptor->stopping ? !eddy_op_is_started(op) : acceptor->pending || acceptor->ended)
		eddyi_wake(acceptor->waiter, 0);
}

static void arm(struct eddyi_acceptor *acceptor)
{
	struct io_uring_sqe *sqe = eddy_op_begin(&acceptor->op, accepted);

	acceptor->op.watched = acceptor->waiter;
	rest_no_more(acceptor);
	io_uring_prep_multishot_accept(sqe, acceptor->at_rest.fd, NULL, NULL,
				       SOCK_NONBLOCK | SOCK_CLOEXEC);
	eddy_op_start(&acceptor->op, sqe);
}

int eddyi_acceptor_open(struct eddyi_acceptor *acceptor, int fd, unsigned pending_max)
{
	unsigned max = pending_max ? pending_max : PENDING_DEFAULT;
	int *fds = malloc(max * sizeof(*fds));

	if (!fds)
		return -ENOMEM;
	*acceptor = (struct eddyi_acceptor){
		.retry = { .fire = retry },
		.at_rest = { .fd = fd, .closed = closed },
		.fds = fds,
		.room = max,
		.pending_max = max,
	};
	arm(acceptor);
	return 0;
}

static int wait_for(struct eddyi_acceptor *acceptor, const char *what, bool cancellable)
{
	struct eddyi_waiter waiter = {
		.cancel = cancellable ? eddyi_cancel_wait : NULL,
		.what = what,
		.op = &acceptor->op,
	};
	int r;

	eddyi_assert(!acceptor->waiter, "two tasks use one acceptor at the same time");
	acceptor->waiter = &waiter;
	acceptor->op.watched = true;
	r = eddyi_wait(&waiter);
	acceptor->op.watched = false;
	acceptor->waiter = NULL;
	return r;
}

static int next_of_backlog(struct eddyi_acceptor *acceptor)
{
	int fd;

	do
		fd = eddyi_accept4_now(acceptor->at_rest.fd, NULL, NULL,
				       SOCK_NONBLOCK | SOCK_CLOEXEC);
	while (fd < 0 && is_of_one_connection(-errno));
	if (fd >= 0)
		return fd;
	return errno == EAGAIN ? -ESHUTDOWN : -errno;
}

int eddyi_acceptor_next(struct eddyi_acceptor *acceptor)
{
	if (eddy_is_cancelled())
		return -ECANCELED;
	while (!acceptor->pending) {
		int r;

		if (acceptor->ended)
			return acceptor->end;
		if (acceptor->stopping)
			return next_of_backlog(acceptor);
		r = wait_for(acceptor, "accept", true);
		if (r < 0)
			return r;
	}
	if (!acceptor->ended && !acceptor->stopping && !eddy_op_is_started(&acceptor->op) &&
	    !eddy_timer_is_armed(&acceptor->retry) &&
	    acceptor->pending - 1 <= acceptor->pending_max / 2)
		arm(acceptor);
	return shift(acceptor);
}

void eddyi_acceptor_stop(struct eddyi_acceptor *acceptor)
{
	acceptor->stopping = true;
	rest_no_more(acceptor);
	eddy_op_cancel(&acceptor->op);
	while (eddy_op_is_started(&acceptor->op))
		wait_for(acceptor, "acceptor stop", false);
}

void eddyi_acceptor_close(struct eddyi_acceptor *acceptor)
{
	eddyi_acceptor_stop(acceptor);
	while (acceptor->pending)
		eddyi_close_now(shift(acceptor));
	free(acceptor->fds);
}
