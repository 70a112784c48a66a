/* A request from its head to its response: the route, the filters and the handler, and what they
 * have set, sent over the stream. */
#include "exchange.h"

#include "coded.h"
#include "observer.h"
#include "req.h"
#include "res.h"

#include <eddy/internal/outside.h>
#include <eddy/internal/debug.h>
#include <eddy/log.h>
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

void eddyi_req_free(struct eddy_req *req)
{
	struct eddyi_arena arena = req->arena;

	if (req->body_memory)
		eddyi_req_free_body_memory(req);
	eddyi_req_layers_deinit(req);
	if (req->decoded)
		eddyi_decoded_deinit(req);
	if (req->socket)
		req->free_socket(req->socket);
	json_decref(req->json);
	eddyi_arena_deinit(&arena);
}

/* ---- filters ---- */

struct eddy_next {
	const struct eddyi_filters *at;    /* whose filters are being run */
	const struct eddyi_filter *filter; /* the next of them; NULL after the last */
	const struct eddyi_filters *innermost;
	eddy_handler_fn *handler;
	void *data; /* of the current filter */
};

/* Go inwards to the next owner with a filter, if any; else the handler is next. */
static void find_filter(struct eddy_next *next)
{
	while (!next->filter && next->at != next->innermost) {
		const struct eddyi_filters *inner = next->innermost;

		while (inner->outer != next->at)
			inner = inner->outer;
		next->at = inner;
		next->filter = inner->first;
	}
}

int eddy_next(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_next inner = *next;
	const struct eddyi_filter *filter;

	find_filter(&inner);
	filter = inner.filter;
	if (!filter)
		return eddyi_finish(req, inner.handler(req, res));
	inner.filter = filter->next;
	inner.data = filter->data;
	return eddyi_finish(req, filter->fn(&inner, req, res));
}

void *eddy_next_data(const struct eddy_next *next)
{
	return next->data;
}

bool eddy_next_has(const struct eddy_next *next, eddy_filter_fn *filter)
{
	struct eddy_next inner = *next;

	for (find_filter(&inner); inner.filter; find_filter(&inner)) {
		if (inner.filter->fn == filter)
			return true;
		inner.filter = inner.filter->next;
	}
	return false;
}

static int run_filters(const struct eddyi_filters *innermost, eddy_handler_fn *handler,
		       struct eddy_req *req, struct eddy_res *res)
{
	const struct eddyi_filters *outermost = innermost;
	struct eddy_next next;

	while (outermost->outer)
		outermost = outermost->outer;
	next = (struct eddy_next){ outermost, outermost->first, innermost, handler, NULL };
	return eddy_next(&next, req, res);
}

/* ---- finding and running the handler ---- */

/* Whether the body has a content coding, which handlers would not decode. Codings may be listed in
 * several fields (RFC 9110 section 8.4). */
static bool has_coded_body(const struct eddy_req *req)
{
	const struct eddyi_head *head = &req->head;

	if (!eddy_req_length(req) || req->decoded)
		return false;
	for (unsigned i = 0; i < head->header_count; i++) {
		struct eddyi_header header = head->headers[i];

		if (eddy_str_eq_nocase(header.name, EDDY_STR("content-encoding")) &&
		    header.value.len && !eddy_str_eq_nocase(header.value, EDDY_STR("identity")))
			return true;
	}
	return false;
}

/* Run the route's handler, else the app's fallback. */
static int handle_mapped(struct eddy_req *req, struct eddy_res *res)
{
	const struct eddy_route *route = req->route ? req->route->value : NULL;
	int r;

	if (!has_coded_body(req))
		return (route ? route->handler : req->app->fallback)(req, res);
	r = eddy_res_set_z(res, "accept-encoding", "identity");
	return r ? r : eddyi_render_error(req, 415, "the body must not have a content-encoding");
}

/* Respond with 405, or to an OPTIONS request without a route. */
static int handle_other_method(struct eddy_req *req, struct eddy_res *res)
{
	char allow[EDDYI_METHOD_SET_SIZE];
	int r = eddy_res_set(res, "allow", eddyi_method_format_set(req->methods, allow));

	if (r < 0)
		return r;
	return req->head.method == EDDYI_METHOD_OPTIONS ? 204 : 405;
}

static int handle_bad_path(struct eddy_req *req, struct eddy_res *res)
{
	(void)res;
	return eddyi_req_fail(req, -EINVAL, 400,
			      "the path has a percent escape that is malformed or not allowed");
}

static int handle_nothing(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	(void)res;
	return 404;
}

static int handle_refused(struct eddy_req *req, struct eddy_res *res)
{
	eddy_debug("eddy::http", "a request is rejected with %d: %s", req->refused,
		   req->head.problem ? req->head.problem : "malformed");
	/* Only for another version of WebSocket (RFC 6455 section 4.4). */
	if (req->refused == 426) {
		eddy_res_set_z(res, "upgrade", "websocket");
		eddy_res_set_z(res, "sec-websocket-version", "13");
	}
	return eddyi_render_error(req, req->refused, req->head.problem);
}

static int handle_no_memory(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	(void)res;
	return 503;
}

/* Copy the match: on the stack it has room for many more parameters than most routes have. */
static bool keep_match(struct eddy_req *req, const struct eddyi_router_match *match)
{
	size_t size = match->route->param_count * sizeof(*req->params);
	const struct eddy_route *route = match->route->value;

	req->route = match->route;
	req->filters = &route->owner.filters;
	if (!size)
		return true;
	req->params = eddyi_arena_alloc(&req->arena, size);
	if (!req->params)
		return false;
	memcpy(req->params, match->params, size);
	return true;
}

static eddy_handler_fn *find_handler(struct eddy_req *req)
{
	const struct eddy_app *app = req->app;
	const struct eddy_group *beneath;
	struct eddyi_router_match match;
	int r;

	if (req->refused)
		return handle_refused;
	if (req->head.target.form == EDDYI_TARGET_ASTERISK ||
	    req->head.target.form == EDDYI_TARGET_AUTHORITY) {
		req->methods = eddyi_router_methods(app->router) |
			       EDDYI_METHOD_BIT(EDDYI_METHOD_OPTIONS);
		return handle_other_method;
	}
	r = eddyi_path_split(&req->arena, req->head.target.path, &req->path);
	if (r < 0)
		return r == -ENOMEM ? handle_no_memory : handle_bad_path;
	eddyi_router_find(app->router, req->head.method, &req->path, &match);
	if (match.route)
		return keep_match(req, &match) ? handle_mapped : handle_no_memory;
	/* The app's own filters run in any case. */
	beneath = match.beneath;
	req->filters = &beneath->owner.filters;
	req->methods = match.methods;
	if (match.methods) {
		req->methods |= EDDYI_METHOD_BIT(EDDYI_METHOD_OPTIONS);
		return handle_other_method;
	}
	return app->fallback ? handle_mapped : handle_nothing;
}

const char *eddyi_answer_label(const struct eddy_req *req)
{
	const struct eddy_route *route = req->route ? req->route->value : NULL;

	return route ? route->label : "a request without a route";
}

int eddyi_answer(struct eddy_req *req)
{
	eddy_handler_fn *handler;

	req->filters = &req->app->root.owner.filters;
	handler = find_handler(req);
	/* Until the task's next request, or its end. */
	eddyi_task_set_label(eddyi_answer_label(req));
	return run_filters(req->filters, handler, req, &req->res);
}

/* ---- sending the response ---- */

/* Send the head. `length` is that of the body; EDDY_LENGTH_UNKNOWN: the head does not tell. */
static void send_head(struct eddy_req *req, uint64_t length)
{
	req->res.head_sent = true;
	req->stream->verbs->send_head(req, length);
}

static int reply_bytes(struct eddy_req *req, struct eddy_str body)
{
	send_head(req, eddyi_res_is_length_unsaid(&req->res) ? EDDY_LENGTH_UNKNOWN : body.len);
	return req->stream->verbs->send(req, eddyi_res_is_silent(&req->res) ? EDDY_STR("") : body,
					true);
}

static struct eddy_transfer part_of(const struct eddyi_outgoing *file, struct eddyi_range range)
{
	return (struct eddy_transfer){
		.file = file->fd,
		.device = file->device,
		.warmth = file->warmth,
		.offset = range.first,
		.len = range.last - range.first + 1,
	};
}

static int reply_piece(struct eddy_req *req)
{
	struct eddy_res *res = &req->res;
	uint64_t length = res->file_size ? res->range.last - res->range.first + 1 : 0;
	struct eddyi_outgoing *file = &res->file;
	struct eddy_transfer part;

	if (!file->bytes && file->verbs && file->verbs->load && !eddyi_res_is_silent(res))
		file->verbs->load(file);
	if (file->bytes)
		return reply_bytes(req, eddy_str(file->bytes + res->range.first, length));
	send_head(req, length);
	if (!length || eddyi_res_is_silent(res))
		return req->stream->verbs->send(req, EDDY_STR(""), true);
	part = part_of(file, res->range);
	return req->stream->verbs->file_out(req, &part, true);
}

/* Get the lines before part `at` of a multipart/byteranges body; past the last part, its end. The
 * blank line before the first (RFC 9110 section 14.6) is needed by zsync, which skips one. */
static struct eddy_str part_head(struct eddy_res *res, size_t at)
{
	char range[EDDYI_RANGE_TEXT_SIZE];

	if (at == res->ranges->count)
		return eddyi_arena_printf(&res->req->arena, "\r\n--%.*s--\r\n",
					  EDDY_FMT(res->boundary));
	return eddyi_arena_printf(
		&res->req->arena, "\r\n--%.*s\r\ncontent-type: %.*s\r\ncontent-range: %.*s\r\n\r\n",
		EDDY_FMT(res->boundary), EDDY_FMT(res->part_type),
		EDDY_FMT(eddyi_range_format(res->ranges->ranges[at], res->file_size, range)));
}

static int reply_pieces(struct eddy_req *req)
{
	struct eddy_res *res = &req->res;
	size_t count = res->ranges->count;
	struct eddy_str *parts = eddyi_arena_alloc(&req->arena, (count + 1) * sizeof(*parts));
	uint64_t length = 0;
	int r;

	if (!parts)
		return -ENOMEM;
	for (size_t i = 0; i <= count; i++) {
		parts[i] = part_head(res, i);
		if (!parts[i].ptr)
			return -ENOMEM;
		length += parts[i].len;
		if (i < count)
			length += res->ranges->ranges[i].last - res->ranges->ranges[i].first + 1;
	}
	send_head(req, length);
	if (eddyi_res_is_silent(res))
		return req->stream->verbs->send(req, EDDY_STR(""), true);
	for (size_t i = 0; i < count; i++) {
		struct eddy_transfer part = part_of(&res->file, res->ranges->ranges[i]);

		part.head = parts[i];
		r = req->stream->verbs->file_out(req, &part, false);
		if (r < 0)
			return r;
	}
	return req->stream->verbs->send(req, parts[count], true);
}

/* ---- streams ---- */

/* Call the functions of eddy_res_on_head(). If the head can't be sent, they are called again for
 * the response that replaces this one. */
static void look(struct eddy_req *req)
{
	for (struct eddyi_res_look *look = req->res.looks; look; look = look->next)
		look->fn(look->data, req, &req->res);
}

static void begin_stream(struct eddy_req *req)
{
	struct eddy_res *res = &req->res;

	if (res->head_sent || res->kind == EDDYI_RES_STREAM)
		return;
	res->kind = EDDYI_RES_STREAM;
	look(req);
	/* With a coder it is unsized already. */
	if (!res->announced)
		res->unsized = true;
}

/* Report a program that breaks its announcement. Return: `error`. */
static int fail_length(struct eddy_res *res, uint64_t written, int error)
{
	struct eddy_req *req = res->req;

	eddy_log(EDDY_LOG_ERROR, "eddy::http",
		 EDDY_FIELDS(eddy_field_str("route", eddy_req_pattern(req))),
		 "%.*s %.*s has announced %llu bytes, but writes %llu",
		 EDDY_FMT(req->head.method_name), EDDY_FMT(req->head.target.path),
		 (unsigned long long)res->announced_length, (unsigned long long)written);
	res->is_cut = res->head_sent;
	return error;
}

/* Send a stream's head, if it has not been sent, and a piece: `file`, or the bytes if it is NULL.
 * Suspends. Return: 0, -errno. */
static int send_stream(struct eddy_req *req, struct eddy_str bytes, struct eddy_transfer *file)
{
	struct eddy_res *res = &req->res;
	uint64_t len = file ? file->len : bytes.len;

	if (res->announced && len > res->announced_length - res->written)
		return fail_length(res, res->written + len, -EOVERFLOW);
	res->written += len;
	begin_stream(req);
	if (res->coded.coder)
		return file ? eddyi_coded_write_file(req, file) : eddyi_coded_write(req, bytes);
	return file ? eddyi_res_send_file(res, file) : eddyi_res_send(res, bytes, false);
}

/* Stop a response that can't be sent. Before its head was sent, another may replace it. */
static void stop(struct eddy_res *res, int error)
{
	res->failed = error;
	if (res->head_sent)
		return;
	if (res->coded.coder) {
		eddyi_coded_deinit(res->req);
		eddy_res_remove(res, "content-encoding");
	}
	res->unsized = false;
	res->announced = false;
	res->kind = EDDYI_RES_EMPTY;
}

static int write_stream(struct eddy_res *res, struct eddy_str bytes, struct eddy_transfer *file)
{
	int r = res->failed;

	if (r == 0)
		r = send_stream(res->req, bytes, file);
	if (r < 0 && !res->failed)
		stop(res, r);
	/* Without a body, stop the handler: a stream may be endless. */
	return r == 0 && eddyi_res_is_silent(res) ? -EPIPE : r;
}

int eddy_res_write(struct eddy_res *res, const void *buf, size_t len)
{
	return write_stream(res, eddy_str(buf, len), NULL);
}

int eddy_res_write_file(struct eddy_res *res, int fd, uint64_t offset, uint64_t len)
{
	struct eddy_transfer file = { .file = fd, .offset = offset, .len = len };

	return write_stream(res, EDDY_STR(""), &file);
}

int eddy_res_announce(struct eddy_res *res, uint64_t length)
{
	if (res->head_sent)
		return -EINVAL;
	eddyi_res_drop_body(res);
	res->announced = true;
	res->announced_length = length;
	return 0;
}

static int end_stream(struct eddy_req *req)
{
	struct eddy_res *res = &req->res;

	if (res->goes_on)
		return 0;
	if (res->announced && res->written < res->announced_length && !eddyi_res_is_silent(res))
		return fail_length(res, res->written, -ENODATA);
	begin_stream(req);
	if (res->coded.coder)
		return eddyi_coded_end(req);
	return eddyi_res_send(res, EDDY_STR(""), true);
}

static int reply(struct eddy_req *req)
{
	struct eddy_res *res = &req->res;

	/* A body that was set after the head was sent is ignored. */
	if (res->kind == EDDYI_RES_STREAM || res->head_sent || res->announced)
		return end_stream(req);
	look(req);
	if (res->unsized)
		return eddyi_coded_reply(req);
	switch (res->kind) {
	case EDDYI_RES_EMPTY:
		return reply_bytes(req, EDDY_STR(""));
	case EDDYI_RES_BYTES:
		return reply_bytes(req, res->bytes);
	case EDDYI_RES_FILE:
		return res->ranges ? reply_pieces(req) : reply_piece(req);
	case EDDYI_RES_STREAM:
		break;
	}
	return -EINVAL;
}

/* ---- the phases ---- */

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

enum eddy_cancel_on eddyi_exchange_cancel_on(const struct eddy_req *req)
{
	const struct eddy_route *route = req->route ? req->route->value : NULL;
	enum eddy_cancel_on cancel_on = route ? route->options.cancel_on : EDDY_CANCEL_ON_DEFAULT;

	if (cancel_on != EDDY_CANCEL_ON_DEFAULT)
		return cancel_on;
	if (req->res.events)
		return EDDY_CANCEL_ON_END;
	return req->head.method == EDDYI_METHOD_GET || req->head.method == EDDYI_METHOD_HEAD ?
		       EDDY_CANCEL_ON_RESET :
		       EDDY_CANCEL_ON_NOTHING;
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

	if (req->res.events)
		req->res.end_events(&req->res);
	if (r < 0 || req->expired)
		return r;
	req->answered = true;
	return reply(req);
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

/* Respond with the error that stopped a response before its head was sent. */
static int reply_error(struct eddy_req *req)
{
	int r = eddyi_finish(req, 0);

	return r < 0 ? r : reply(req);
}

/* Return: whether the whole response was sent. */
static bool exchange(struct eddy_req *req)
{
	int r = run_phase(req, answer_and_reply);

	if (r >= 0 && !req->expired)
		return !req->cut;
	if (req->cut)
		return false;
	if (!req->expired && !req->res.head_sent) {
		stop(&req->res, r);
		r = run_phase(req, reply_error);
	} else if (req->expired && !req->answered) {
		r = answer_late(req);
		if (r == 0)
			r = run_phase(req, reply);
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
	if (req->app->watches)
		eddyi_observe_begin(req);
	whole = exchange(req);
	if (!whole)
		req->stream->verbs->cut(req);
	if (req->observed)
		eddyi_observe_end(req, whole);
	eddyi_probe_answered(req, began_ns, whole);
	if (req->has_large_json && req->json)
		free_large_json(req);
	/* The stream may still have to read the rest of the request. */
	if (req->res.coded.coder)
		eddyi_coded_deinit(req);
	if (req->res.file.verbs || req->res.file.fd >= 0)
		eddyi_outgoing_close(&req->res.file);
	return whole;
}
