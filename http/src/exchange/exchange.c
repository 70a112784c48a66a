#include "exchange.h"

#include "answer.h"
#include "coded.h"
#include "decoded.h"
#include "error.h"
#include "observer.h"
#include "probe.h"
#include "reply.h"
#include "req.h"

#include <eddy/internal/outside.h>
#include <eddy/offload.h>
#include <eddy/scope.h>
#include <errno.h>
#include <sys/socket.h>

struct eddy_req *eddyi_req_new(const struct eddy_app *app, struct eddyi_wire *wire)
{
	struct eddyi_arena arena = { 0 };
	struct eddy_req *req = eddyi_arena_alloc(&arena, sizeof(*req));

	if (!req)
		return NULL;
	*req = (struct eddy_req){ .arena = arena, .app = app, .wire = wire };
	eddyi_head_init(&req->head, &req->arena, &app->head_limits);
	req->res = (struct eddy_res){ .req = req, .status = 200, .file = { .fd = -1 } };
	return req;
}

void eddyi_req_free(struct eddy_req *req)
{
	struct eddyi_arena arena = req->arena;

	if (req->body_memory)
		eddyi_req_free_body_memory(req);
	eddyi_req_layers_deinit(req);
	eddyi_coded_deinit(req);
	eddyi_decoded_deinit(req);
	eddyi_outgoing_close(&req->res.file);
	json_decref(req->json);
	eddyi_arena_deinit(&arena);
}

/* Run `phase` so that a timeout or shutdown can cancel it. */
static int run_phase(struct eddy_req *req, int (*phase)(struct eddy_req *req))
{
	struct eddy_scope_options options = { 0 };
	struct eddy_scope scope;
	int r;

	if (req->observed) {
		options.log_fields = req->observed->fields;
		options.locals = req->observed->locals;
	}
	req->expired = false;
	eddy_scope_begin(&scope, &options);
	req->scope = &scope;
	r = phase(req);
	req->scope = NULL;
	eddyi_wire_unguard(req->wire);
	eddy_scope_end(&scope);
	return r;
}

void eddyi_exchange_expire(struct eddy_req *req)
{
	req->expired = true;
	if (req->scope)
		eddy_scope_cancel(req->scope);
}

void eddyi_exchange_cut(struct eddy_req *req)
{
	req->cut = true;
	eddyi_exchange_expire(req);
}

void eddyi_exchange_leave(struct eddy_req *req)
{
	if (req->answered || !req->scope)
		return;
	req->client_left = true;
	eddy_scope_cancel(req->scope);
}

static int reply_and_drain(struct eddy_req *req)
{
	int r;

	/* A stream's head has already said whether the connection is kept. */
	req->keep = req->res.head_sent ? req->keep && eddyi_req_can_keep(req) :
					 eddyi_req_may_keep(req);
	r = eddyi_reply(req);
	if (r == 0 && req->keep)
		r = eddyi_body_drain(&req->body, req->wire);
	return r;
}

static int answer_and_reply(struct eddy_req *req)
{
	int r = eddyi_answer(req);

	if (r < 0 || req->expired)
		return r;
	req->answered = true;
	return reply_and_drain(req);
}

/* Respond to an exchange that timed out before there was a response. */
static int answer_late(struct eddy_req *req)
{
	if (req->res.head_sent)
		return -ETIMEDOUT;
	/* Whatever the handler returned, the cause is the body's timeout. */
	eddyi_body_fail(&req->body, -ETIMEDOUT);
	return eddyi_render_error(req, 408, "the request body did not arrive in time");
}

/* The client must not take the response for complete. A body without length and chunks ends with the
 * connection, so only a reset tells that it is not complete. */
static enum eddyi_ending cut(const struct eddy_req *req)
{
	if (req->res.head_sent && req->res.unsized && !req->res.chunked)
		eddyi_setsockopt_now(req->wire->fd, SOL_SOCKET, SO_LINGER,
				     &(struct linger){ .l_onoff = 1 }, sizeof(struct linger));
	return EDDYI_ENDING_CUT;
}

static enum eddyi_ending exchange(struct eddy_req *req)
{
	int r = run_phase(req, answer_and_reply);

	if (req->expired && !req->answered && !req->cut) {
		r = answer_late(req);
		if (r == 0)
			r = run_phase(req, reply_and_drain);
	}
	if (!req->cut && (r == -EMSGSIZE || r == -EBADMSG))
		/* Let the client read its response, although its body is too long or malformed. */
		return EDDYI_ENDING_LINGER;
	if (r < 0 || req->expired || req->cut)
		return cut(req);
	if (req->keep)
		return EDDYI_ENDING_KEEP;
	/* A close would discard what is not yet sent, or not yet read by the client. */
	if (eddyi_req_has_unknown_end(req) || !req->body.ended || eddyi_wire_would_reset(req->wire))
		return EDDYI_ENDING_LINGER;
	return EDDYI_ENDING_CLOSE;
}

static int free_json(void *arg)
{
	json_decref(arg);
	return 0;
}

/* Free a large tree on the offload pool: it takes too long for a loop. */
static void free_large_json(struct eddy_req *req)
{
	struct eddy_scope shield;

	/* Layers may use the tree until then. */
	eddyi_req_layers_deinit(req);
	eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true });
	eddy_offload_short(free_json, req->json);
	eddy_scope_end(&shield);
	req->json = NULL;
}

enum eddyi_ending eddyi_exchange(struct eddy_req *req)
{
	uint64_t began_ns = eddyi_probe_request(req);
	enum eddyi_ending ending;

	eddyi_body_init(&req->body, &req->head);
	eddyi_observe_begin(req);
	ending = exchange(req);
	eddyi_observe_end(req, ending != EDDYI_ENDING_CUT);
	eddyi_probe_answered(req, began_ns, ending != EDDYI_ENDING_CUT);
	if (req->has_large_json && req->json)
		free_large_json(req);
	return ending;
}
