#include "exchange.h"

#include <errno.h>
#include <unistd.h>

struct eddy_req *eddyi_req_new(struct eddyi_conn *conn)
{
	struct eddyi_arena arena = { 0 };
	struct eddy_req *req = eddyi_arena_alloc(&arena, sizeof(*req));

	if (!req)
		return NULL;
	*req = (struct eddy_req){ .arena = arena, .conn = conn };
	eddyi_head_init(&req->head, &req->arena, &conn->server->app->head_limits);
	req->res = (struct eddy_res){ .req = req, .status = 200, .file = -1 };
	return req;
}

void eddyi_req_free(struct eddy_req *req)
{
	struct eddyi_arena arena = req->arena;

	if (req->res.file >= 0)
		close(req->res.file);
	eddyi_arena_deinit(&arena);
}

/* Run `phase` so that a timeout, or the end of the server, can cut it short. */
static int run_phase(struct eddyi_conn *conn, int (*phase)(struct eddy_req *req))
{
	struct eddy_scope scope;
	int r;

	eddy_scope_begin(&scope, NULL);
	conn->scope = &scope;
	r = phase(conn->req);
	conn->scope = NULL;
	eddyi_conn_unguard(conn);
	eddy_scope_end(&scope);
	return r;
}

/* Whether what the client still sends stands in the way of another request. */
static void judge_connection(struct eddyi_conn *conn)
{
	struct eddy_req *req = conn->req;

	conn->keep = !req->refused && !req->res.said_close && req->head.keep_alive &&
		     !conn->server->stopping && !conn->evicted && eddyi_body_can_drain(&req->body);
	conn->linger = req->refused || !req->body.ended;
}

static int reply(struct eddy_req *req)
{
	struct eddyi_conn *conn = req->conn;
	int r = eddyi_reply(req);

	if (r == 0 && conn->keep)
		r = eddyi_body_drain(&req->body, conn);
	return r;
}

void eddyi_exchange(struct eddyi_conn *conn)
{
	struct eddy_req *req = conn->req;
	int r;

	conn->expired = false;
	eddyi_body_init(&req->body, &req->head);
	r = run_phase(conn, eddyi_answer);
	if (conn->expired && !req->res.head_sent) {
		/* The body stalled: whatever the handler made of it, this is what it was. */
		eddyi_body_fail(&req->body, -ETIMEDOUT);
		r = eddyi_problem(&req->res, 408, "the request body did not arrive in time");
	} else if (conn->expired) {
		r = -ETIMEDOUT;
	}
	conn->expired = false;
	judge_connection(conn);
	if (r == 0)
		r = run_phase(conn, reply);
	if (r < 0 || conn->expired) {
		conn->keep = false;
		/* Cut: the client must not take what it got for the whole. But when it is what the client
		 * went on sending that was too much or malformed, it is to get its answer. */
		conn->linger = r == -EMSGSIZE || r == -EBADMSG;
	}
}
