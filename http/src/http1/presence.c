#include "http1.h"

#include <eddy/internal/outside.h>
#include <liburing.h>
#include <poll.h>
#include <stdlib.h>

struct eddyi_conn_poll {
	struct eddy_op op;
	struct eddyi_conn *conn;
	struct eddy_event ended;
};

/* Get the events that cancel a request: POLLERR and POLLHUP for a reset, POLLRDHUP for an end. */
static unsigned wanted_events(const struct eddy_req *req)
{
	switch (eddyi_exchange_cancel_on(req)) {
	case EDDY_CANCEL_ON_END:
		return POLLERR | POLLHUP | POLLRDHUP;
	case EDDY_CANCEL_ON_RESET:
		return POLLERR | POLLHUP;
	default:
		return 0;
	}
}

static void judge(struct eddyi_conn *conn, unsigned events)
{
	if (conn->req && events & wanted_events(&conn->req->req))
		eddyi_exchange_leave(&conn->req->req);
}

void eddyi_presence_look(struct eddyi_conn *conn)
{
	struct pollfd looked = { .fd = conn->wire.fd, .events = POLLRDHUP };

	if (eddyi_poll_now(&looked, 1, 0) > 0)
		judge(conn, (unsigned)looked.revents);
}

static void polled(struct eddy_op *op, int result, unsigned flags)
{
	struct eddyi_conn_poll *job = eddy_of(op, struct eddyi_conn_poll, op);

	(void)flags;
	if (result > 0)
		judge(job->conn, (unsigned)result);
	eddy_event_set(&job->ended);
}

/* The end of the stream completes the poll even if not requested, so a later reset is missed.
 * Without a send, only a killed client causes one. */
static void start_poll(struct eddyi_conn *conn)
{
	struct eddyi_conn_poll *job = calloc(1, sizeof(*job));
	struct io_uring_sqe *sqe;

	/* Without memory, only sending detects the disconnect. */
	if (!job)
		return;
	job->conn = conn;
	eddy_event_init(&job->ended);
	conn->poll = job;
	sqe = eddy_op_begin(&job->op, polled);
	io_uring_prep_poll_add(sqe, conn->wire.fd, POLLRDHUP);
	eddy_op_start(&job->op, sqe);
}

void eddyi_presence_end_poll(struct eddyi_conn *conn)
{
	struct eddyi_conn_poll *job = conn->poll;
	struct eddy_scope shield;

	eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true });
	if (eddy_op_is_started(&job->op)) {
		eddy_op_cancel(&job->op);
		eddy_event_wait(&job->ended);
	}
	eddy_scope_end(&shield);
	conn->poll = NULL;
	free(job);
}

static void look_after(struct eddyi_conn *conn)
{
	/* A receive armed ahead detects the disconnect. */
	if (conn->wire.ahead || conn->presence == EDDYI_PRESENCE_DONE)
		return;
	if (conn->presence == EDDYI_PRESENCE_NEW) {
		conn->presence = EDDYI_PRESENCE_SEEN;
		return;
	}
	conn->presence = EDDYI_PRESENCE_DONE;
	if (wanted_events(&conn->req->req))
		start_poll(conn);
}

/* Find the requests that have been in progress since the last sweep. */
static void sweep(struct eddy_timer *timer)
{
	struct eddyi_conns *conns = eddy_of(timer, struct eddyi_conns, sweep);
	struct eddy_node *all = &conns->http1, *node;

	for (node = all->next; node != all; node = node->next)
		look_after(eddy_of(eddy_of(node, struct eddy_req, in_progress)->stream,
				   struct eddyi_conn, stream));
	if (!eddy_list_is_empty(all))
		eddyi_presence_arm(conns);
}

void eddyi_presence_arm(struct eddyi_conns *conns)
{
	conns->sweep.fire = sweep;
	eddy_timer_arm(&conns->sweep, eddy_loop_now() + EDDYI_PRESENCE_NS);
}
