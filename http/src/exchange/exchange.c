#include "exchange.h"

#include "answer.h"
#include "coded.h"
#include "decoded.h"
#include "error.h"
#include "observer.h"
#include "probe.h"
#include "reply.h"
#include "req.h"

#include <eddy/offload.h>
#include <eddy/scope.h>
#include <errno.h>
#include <unistd.h>

struct eddy_req *eddyi_req_new(const struct eddy_app *app, struct eddyi_stream *stream, size_t size)
{
	struct eddyi_arena arena = { 0 };
	struct eddy_req *req = eddyi_arena_alloc(&arena, size);

	if (!req)
		return NULL;
	memset(req, 0, size);
	req->arena = arena;
	req->app = app;
	req->stream = stream;
	req->head.arena = &req->arena;
	req->res.req = req;
	req->res.status = 200;
	req->res.file.fd = -1;
	return req;
}

void eddyi_outgoing_close(struct eddyi_outgoing *file)
{
	if (file->close)
		file->close(file);
	else if (file->fd >= 0)
		close(file->fd);
	*file = (struct eddyi_outgoing){ .fd = -1 };
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

static int answer_and_reply(struct eddy_req *req)
{
	int r = eddyi_answer(req);

	if (r < 0 || req->expired)
		return r;
	req->answered = true;
	return eddyi_reply(req);
}

/* Respond to an exchange that timed out before there was a response. */
static int answer_late(struct eddy_req *req)
{
	if (req->res.head_sent)
		return -ETIMEDOUT;
	/* Whatever the handler returned, the cause is the body's timeout. */
	eddyi_body_fail(req->body, -ETIMEDOUT);
	return eddyi_render_error(req, 408, "the request body did not arrive in time");
}

/* Return: whether the whole response was sent. */
static bool exchange(struct eddy_req *req)
{
	int r = run_phase(req, answer_and_reply);

	if (req->expired && !req->answered && !req->cut) {
		r = answer_late(req);
		if (r == 0)
			r = run_phase(req, eddyi_reply);
	}
	return r >= 0 && !req->expired && !req->cut;
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

bool eddyi_exchange(struct eddy_req *req, struct eddyi_body *body)
{
	uint64_t began_ns = eddyi_probe_request(req);
	bool whole;

	req->body = body;
	eddy_list_append(&req->stream->service->in_progress, &req->in_progress);
	eddyi_observe_begin(req);
	whole = exchange(req);
	if (!whole)
		req->stream->verbs->cut(req);
	eddyi_observe_end(req, whole);
	eddyi_probe_answered(req, began_ns, whole);
	if (req->has_large_json && req->json)
		free_large_json(req);
	eddy_list_remove(&req->in_progress);
	return whole;
}
