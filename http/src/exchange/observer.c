#include "observer.h"

#include "exchange_state.h"

#include <eddy/internal/loop.h>
#include <eddy/local.h>
#include <eddy/log.h>
#include <eddy/loop.h>
#include <eddy/observer.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct eddyi_watch {
	struct eddyi_watch *next; /* the one added before */
	const struct eddy_observer *observer;
	void *data;
	size_t at; /* index of its state in a request's states */
};

void eddy_app_observe(struct eddy_app *app, const struct eddy_observer *observer, void *data)
{
	struct eddyi_watch *watch = eddy_app_alloc(app, sizeof(*watch));

	*watch = (struct eddyi_watch){ app->watches, observer, data, 0 };
	if (app->watches)
		watch->at = app->watches->at + 1;
	app->watches = watch;
}

/* Begin with the first one added. */
static void begin(const struct eddyi_watch *watch, struct eddy_req *req)
{
	if (!watch)
		return;
	begin(watch->next, req);
	req->observed->states[watch->at] = watch->observer->begin(watch->data, req, &req->res);
}

void eddyi_observe_begin(struct eddy_req *req)
{
	const struct eddyi_watch *last = req->app->watches;
	size_t size = sizeof(*req->observed);

	size += (last->at + 1) * sizeof(req->observed->states[0]);
	req->observed = eddyi_arena_alloc(&req->arena, size);
	if (!req->observed)
		return;
	memset(req->observed, 0, size);
	req->observed->began_ns = eddy_now();
	req->observed->sent = *req->stream->sent;
	begin(last, req);
}

void eddyi_observe_end(struct eddy_req *req, bool whole)
{
	struct eddyi_observed *observed = req->observed;
	const struct eddy_outcome outcome = {
		.status = req->res.status,
		.received = req->body->took,
		.sent = *req->stream->sent - observed->sent,
		.duration_ns = eddy_now() - observed->began_ns,
		.whole = whole,
	};

	for (const struct eddyi_watch *watch = req->app->watches; watch; watch = watch->next)
		watch->observer->end(watch->data, observed->states[watch->at], req, &outcome);
}

/* ---- sockets ---- */

/* The first observer that was added begins. */
static void begin_socket(const struct eddyi_watch *watch, struct eddy_req *req,
			 struct eddyi_observed_socket *observed)
{
	if (!watch)
		return;
	begin_socket(watch->next, req, observed);
	if (watch->observer->socket)
		observed->states[watch->at] = watch->observer->socket(
			watch->data, req->observed->states[watch->at], req, &observed->notes);
}

struct eddyi_observed_socket *eddyi_observe_socket(struct eddy_req *req)
{
	const struct eddyi_watch *last = req->app->watches;
	struct eddyi_observed_socket *observed;

	if (!req->observed)
		return NULL;
	observed = calloc(1, sizeof(*observed) + (last->at + 1) * sizeof(observed->states[0]));
	if (!observed)
		return NULL;
	observed->watches = last;
	begin_socket(last, req, observed);
	return observed;
}

void eddyi_observe_socket_end(struct eddyi_observed_socket *observed,
			      const struct eddy_socket_outcome *outcome)
{
	if (!observed)
		return;
	for (const struct eddyi_watch *watch = observed->watches; watch; watch = watch->next)
		if (watch->observer->socket_end)
			watch->observer->socket_end(watch->data, observed->states[watch->at],
						    outcome);
	free(observed);
}

/* ---- annotations ---- */

static size_t count_fields(const struct eddy_field *fields)
{
	size_t count = 0;

	while (fields && fields[count].name)
		count++;
	return count;
}

static size_t count_locals(const struct eddy_local *locals)
{
	size_t count = 0;

	while (locals && locals[count].key)
		count++;
	return count;
}

/* Concatenate two lists. Return: NULL on allocation failure. */
static void *join(struct eddy_req *req, const void *a, size_t a_size, const void *b, size_t b_size)
{
	char *joined = eddyi_arena_alloc(&req->arena, a_size + b_size);

	if (!joined)
		return NULL;
	if (a_size)
		memcpy(joined, a, a_size);
	memcpy(joined + a_size, b, b_size);
	return joined;
}

int eddy_req_annotate(struct eddy_req *req, const struct eddy_field *fields,
		      const struct eddy_local *locals)
{
	struct eddyi_observed *observed = req->observed;
	bool has_fields = observed->fields || fields, has_locals = observed->locals || locals;

	/* A list on the caller's stack does not live as long as the request. */
	if (fields && (observed->fields || eddyi_task_owns(fields)))
		fields = join(req, observed->fields,
			      count_fields(observed->fields) * sizeof(*fields), fields,
			      (count_fields(fields) + 1) * sizeof(*fields));
	else if (!fields)
		fields = observed->fields;
	if (locals && (observed->locals || eddyi_task_owns(locals)))
		locals = join(req, observed->locals,
			      count_locals(observed->locals) * sizeof(*locals), locals,
			      (count_locals(locals) + 1) * sizeof(*locals));
	else if (!locals)
		locals = observed->locals;
	if ((has_fields && !fields) || (has_locals && !locals))
		return -ENOMEM;
	observed->fields = fields;
	observed->locals = locals;
	return 0;
}

struct eddy_str eddy_req_pattern(const struct eddy_req *req)
{
	return req->route ? req->route->pattern : eddy_str(NULL, 0);
}

/* ---- the timeline ---- */

#define NAME_SIZE 96

static void append(char name[NAME_SIZE], size_t *len, struct eddy_str str)
{
	size_t fits = str.len < NAME_SIZE - *len ? str.len : NAME_SIZE - *len;

	if (fits)
		memcpy(name + *len, str.ptr, fits);
	*len += fits;
}

void eddyi_probe_span(const struct eddy_req *req, uint64_t began_ns, bool whole)
{
	struct eddy_str pattern = eddy_req_pattern(req);
	char name[NAME_SIZE];
	size_t len = 0;

	append(name, &len, req->head.method_name);
	if (pattern.len) {
		append(name, &len, EDDY_STR(" "));
		append(name, &len, pattern);
	}
	/* Without the query, which may hold private data. */
	eddy_trace_span(eddy_str(name, len), began_ns, eddyi_clock_seen(),
			EDDY_FIELDS(eddy_field_i64("status", req->res.status),
				    eddy_field_bool("whole", whole),
				    eddy_field_i64("fd", req->stream->number),
				    eddy_field_str("path", req->head.target.path)));
}

void eddyi_probe_socket(struct eddy_str pattern, const struct eddy_socket_outcome *outcome)
{
	char name[NAME_SIZE];
	uint64_t now = eddyi_clock_seen();
	size_t len = 0;

	if (eddyi_trace_state != EDDYI_TRACE_ON)
		return;
	append(name, &len, EDDY_STR("WebSocket "));
	append(name, &len, pattern);
	eddy_trace_span(eddy_str(name, len), now - outcome->duration_ns, now,
			EDDY_FIELDS(eddy_field_u64("code", outcome->code),
				    eddy_field_u64("messages received", outcome->messages_received),
				    eddy_field_u64("messages sent", outcome->messages_sent),
				    eddy_field_u64("received", outcome->received),
				    eddy_field_u64("sent", outcome->sent)));
}
