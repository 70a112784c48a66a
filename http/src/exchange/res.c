#include "res.h"

#include "text/json.h"
#include "text/syntax.h"

#include <eddy/internal/debug.h>
#include <eddy/internal/http.h>
#include <eddy/internal/json.h>
#include <eddy/internal/loop.h>
#include <eddy/internal/outside.h>
#include <eddy/layer.h>
#include <eddy/log.h>
#include <eddy/loop.h>
#include <eddy/observer.h>
#include <eddy/offload.h>
#include <eddy/scope.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define HEADERS_FIRST 8

void eddy_res_status(struct eddy_res *res, int status)
{
	const struct eddy_req *req = res->req;

	if (status < 200 || status > 599) {
		eddy_log(EDDY_LOG_ERROR, "eddy::http",
			 EDDY_FIELDS(eddy_field_str("route", eddy_req_pattern(req))),
			 "%.*s %.*s answers with %d, which is no status: return 0, 200 to 599, or "
			 "-errno",
			 EDDY_FMT(req->head.method_name), EDDY_FMT(req->head.target.path), status);
		status = 500;
	}
	/* The rest of the response must match the status that the client has received. */
	if (!res->head_sent)
		res->status = status;
}

static void remove_header(struct eddy_res *res, struct eddy_str name)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < res->header_count; i++)
		if (res->headers[i].name.len != name.len ||
		    !eddy_str_eq_nocase(res->headers[i].name, name))
			res->headers[kept++] = res->headers[i];
	res->header_count = kept;
}

void eddy_res_remove(struct eddy_res *res, const char *name)
{
	remove_header(res, eddy_str_from(name));
}

bool eddyi_res_may_set(const char *name)
{
	/* Written with the head; a second one would contradict it. */
	static const struct eddy_str own[] = {
		{ "connection", 10 }, { "content-length", 14 },    { "date", 4 },
		{ "server", 6 },      { "transfer-encoding", 17 },
	};
	struct eddy_str field = eddy_str_from(name);

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (eddy_str_eq_nocase(field, own[i]))
			return false;
	return eddyi_syntax_is_token(field);
}

/* Add a valid field that lives as long as the response. Return: 0, -ENOMEM. */
static int append(struct eddy_res *res, struct eddyi_header header)
{
	if (res->header_count == res->header_capacity) {
		unsigned capacity = res->header_capacity ? res->header_capacity * 2 : HEADERS_FIRST;
		struct eddyi_header *headers =
			eddyi_arena_alloc(&res->req->arena, capacity * sizeof(*headers));

		if (!headers)
			return -ENOMEM;
		if (res->header_count)
			memcpy(headers, res->headers, res->header_count * sizeof(*headers));
		res->headers = headers;
		res->header_capacity = capacity;
	}
	res->headers[res->header_count++] = header;
	return 0;
}

/* With EDDY_DEBUG: report a call that does not do what the program may expect. */
static EDDY_PRINTF(2, 3) void suspect(const struct eddy_res *res, const char *format, ...)
{
	char text[256];
	va_list args;

	if (!eddyi_debug_checking())
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	eddy_log(EDDY_LOG_WARN, "eddy::debug",
		 EDDY_FIELDS(eddy_field_str("route", eddy_req_pattern(res->req))), "%.*s %.*s %s",
		 EDDY_FMT(res->req->head.method_name), EDDY_FMT(eddy_req_pattern(res->req)), text);
}

int eddy_res_add(struct eddy_res *res, const char *name, struct eddy_str value)
{
	struct eddyi_arena *arena = &res->req->arena;
	struct eddyi_header header;

	if (!value.ptr)
		return -ENOMEM;
	value = eddy_str_trim(value);
	if (!eddyi_res_may_set(name) || !eddyi_syntax_is_value(value)) {
		suspect(res, "can't set the field \"%s\": %s", name,
			!eddyi_syntax_is_value(value) ? "its value contains a control character" :
			eddyi_syntax_is_token(eddy_str_from(name)) ? "the server sets it" :
								     "this is not a field name");
		return -EINVAL;
	}
	if (res->head_sent)
		suspect(res, "sets the field \"%s\" after its head was sent: it is ignored", name);
	header.name = eddyi_arena_dup(arena, eddy_str_from(name));
	header.value = eddyi_arena_dup(arena, value);
	if (!header.name.ptr || !header.value.ptr)
		return -ENOMEM;
	return append(res, header);
}

void eddyi_res_fields_keep(const struct eddy_res *res, unsigned from,
			   struct eddyi_res_fields *ret_fields)
{
	unsigned count = res->header_count - from;
	size_t size = 0;
	char *at;

	for (unsigned i = from; i < res->header_count; i++)
		size += res->headers[i].name.len + res->headers[i].value.len + 2;
	ret_fields->headers = malloc(count * sizeof(*ret_fields->headers) + size);
	if (!ret_fields->headers)
		return;
	ret_fields->count = count;
	ret_fields->size = size;
	at = (char *)(ret_fields->headers + count);
	for (unsigned i = 0; i < count; i++) {
		struct eddyi_header from_res = res->headers[from + i];

		ret_fields->headers[i] = (struct eddyi_header){
			.name = eddy_str(at, from_res.name.len),
			.value = eddy_str(at + from_res.name.len + 1, from_res.value.len),
		};
		at = mempcpy(at, from_res.name.ptr, from_res.name.len);
		*at++ = 0;
		at = mempcpy(at, from_res.value.ptr, from_res.value.len);
		*at++ = 0;
	}
}

int eddyi_res_fields_add(struct eddy_res *res, const struct eddyi_res_fields *fields)
{
	const char *text = (char *)(fields->headers + fields->count);
	char *copy = eddyi_arena_alloc(&res->req->arena, fields->size);
	int r = copy ? 0 : -ENOMEM;

	if (copy)
		memcpy(copy, text, fields->size);
	for (unsigned i = 0; i < fields->count && r == 0; i++) {
		struct eddyi_header header = fields->headers[i];

		header.name.ptr = copy + (header.name.ptr - text);
		header.value.ptr = copy + (header.value.ptr - text);
		r = append(res, header);
	}
	return r;
}

int eddy_res_set(struct eddy_res *res, const char *name, struct eddy_str value)
{
	unsigned before = res->header_count;
	int r = eddy_res_add(res, name, value);
	struct eddyi_header added;

	if (r < 0)
		return r;
	if (before) {
		added = res->headers[before];
		res->header_count = before;
		remove_header(res, added.name);
		res->headers[res->header_count++] = added;
	}
	return 0;
}

int eddy_res_set_z(struct eddy_res *res, const char *name, const char *value)
{
	return eddy_res_set(res, name, eddy_str_from(value));
}

struct eddy_str eddy_res_header(const struct eddy_res *res, const char *name)
{
	for (unsigned i = 0; i < res->header_count; i++)
		if (eddy_str_eq_nocase(res->headers[i].name, eddy_str_from(name)))
			return res->headers[i].value;
	return eddy_str(NULL, 0);
}

bool eddy_res_has(const struct eddy_res *res, const char *name, const char *member)
{
	for (unsigned i = 0; i < res->header_count; i++)
		if (eddy_str_eq_nocase(res->headers[i].name, eddy_str_from(name)) &&
		    eddyi_syntax_has_member(res->headers[i].value, eddy_str_from(member)))
			return true;
	return false;
}

/* Add members that a list lacks. Return: .ptr NULL on allocation failure. */
static struct eddy_str list_add(struct eddy_res *res, struct eddy_str list, struct eddy_str members)
{
	struct eddy_str member;

	while (list.ptr && eddyi_syntax_take_member(&members, &member))
		if (!eddyi_syntax_has_member(list, member))
			list = eddyi_arena_printf(&res->req->arena, "%.*s%s%.*s", EDDY_FMT(list),
						  list.len ? ", " : "", EDDY_FMT(member));
	return list;
}

int eddy_res_merge(struct eddy_res *res, const char *name, struct eddy_str members)
{
	struct eddy_str field = eddy_str_from(name), all = EDDY_STR("*"), list = EDDY_STR("");

	if (!members.ptr)
		return -ENOMEM;
	if (eddy_str_eq_nocase(field, EDDY_STR("set-cookie")))
		return -EINVAL;
	for (unsigned i = 0; i < res->header_count; i++)
		if (eddy_str_eq_nocase(res->headers[i].name, field))
			list = list_add(res, list, res->headers[i].value);
	list = list_add(res, list, members);
	if (eddy_str_eq_nocase(field, EDDY_STR("vary")) && eddyi_syntax_has_member(list, all))
		list = all;
	return eddy_res_set(res, name, list);
}

void eddyi_outgoing_close(struct eddyi_outgoing *file)
{
	if (file->verbs)
		file->verbs->close(file);
	else if (file->fd >= 0)
		eddyi_close_now(file->fd);
	*file = (struct eddyi_outgoing){ .fd = -1 };
}

void eddyi_res_drop_body(struct eddy_res *res)
{
	eddyi_outgoing_close(&res->file);
	res->ranges = NULL;
	res->kind = EDDYI_RES_EMPTY;
	/* A body that is set after the head was sent is ignored. */
	res->announced &= res->head_sent;
}

static bool describes_body(struct eddy_str name)
{
	static const struct eddy_str describing[] = {
		{ "content-type", 12 },     { "content-disposition", 19 }, { "content-range", 13 },
		{ "content-encoding", 16 }, { "accept-ranges", 13 },       { "etag", 4 },
		{ "last-modified", 13 },    { "cache-control", 13 },       { "repr-digest", 11 },
	};

	for (size_t i = 0; i < sizeof(describing) / sizeof(describing[0]); i++)
		if (name.len == describing[i].len && eddy_str_eq_nocase(name, describing[i]))
			return true;
	return false;
}

int eddyi_res_set_u64(struct eddy_res *res, const char *name, uint64_t value)
{
	char text[EDDY_U64_SIZE];

	return eddy_res_set(res, name, eddy_str(text, eddy_u64_format(value, text)));
}

void eddyi_res_clear_body(struct eddy_res *res)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < res->header_count; i++)
		if (!describes_body(res->headers[i].name))
			res->headers[kept++] = res->headers[i];
	res->header_count = kept;
	eddyi_res_drop_body(res);
}

static int set_body(struct eddy_res *res, struct eddy_str bytes)
{
	if (eddyi_debug_checking()) {
		if (res->head_sent)
			suspect(res, "sets a body after its head was sent: it is ignored");
		if (bytes.len && memmem(bytes.ptr, bytes.len, "\xdd\xdd\xdd\xdd", 4))
			suspect(res, "answers with bytes 0xdd, as in memory of a request that has "
				     "been answered: copy what is needed later");
	}
	eddyi_res_drop_body(res);
	res->kind = EDDYI_RES_BYTES;
	res->bytes = bytes;
	return bytes.ptr ? 0 : -ENOMEM;
}

static int set_bytes(struct eddy_res *res, const char *type, struct eddy_str bytes)
{
	int r = set_body(res, bytes);

	return r == 0 && type ? eddy_res_set_z(res, "content-type", type) : r;
}

int eddy_res_bytes(struct eddy_res *res, const char *type, struct eddy_str bytes)
{
	/* The handler's stack frame is gone when the response is sent. */
	if (bytes.len && eddyi_task_owns(bytes.ptr))
		bytes = eddyi_arena_dup(&res->req->arena, bytes);
	return set_bytes(res, type, bytes);
}

int eddy_res_ok(struct eddy_res *res, const char *format, ...)
{
	static const struct eddyi_header plain = {
		.name = { "content-type", 12 },
		.value = { "text/plain; charset=utf-8", 25 },
	};
	struct eddy_str text;
	va_list args;
	int r;

	va_start(args, format);
	text = eddyi_arena_vprintf(&res->req->arena, format, args);
	va_end(args);
	r = set_body(res, text);
	if (r < 0 || eddy_res_header(res, "content-type").ptr)
		return r;
	return append(res, plain);
}

struct dump {
	struct eddyi_arena *arena;
	const json_t *json;
	struct eddy_str text;
};

static int dump(void *arg)
{
	struct dump *dump = arg;
	size_t flags = JSON_COMPACT | JSON_ENCODE_ANY;
	size_t len = json_dumpb(dump->json, NULL, 0, flags);
	char *text = len ? eddyi_arena_alloc(dump->arena, len) : NULL;

	if (text) {
		json_dumpb(dump->json, text, len, flags);
		len = eddyi_reals_shorten(text, len);
	}
	dump->text = eddy_str(text, len);
	return 0;
}

static void dump_here(void *arg)
{
	dump(arg);
}

static int set_json(struct eddy_res *res, json_t *json)
{
	struct dump job = { .arena = &res->req->arena, .json = json };

	/* json_dumpb() recurses, so don't run it on a task's stack. */
	eddy_on_loop_stack(dump_here, &job);
	json_decref(json);
	return set_bytes(res, "application/json", job.text);
}

/* Serialize the request's own body on the offload pool: nothing else changes it meanwhile. */
static int set_large_json(struct eddy_res *res, json_t *json)
{
	struct dump job = { .arena = &res->req->arena, .json = json };
	int r = eddy_offload(dump, &job);

	json_decref(json);
	return r < 0 ? r : set_bytes(res, "application/json", job.text);
}

int eddy_res_json(struct eddy_res *res, json_t *json)
{
	bool is_own = json && json == res->req->json;

	/* The only reference belongs to the request: the caller has passed a borrowed one. */
	if (is_own && json->refcount == 1)
		json_incref(json);
	if (is_own && res->req->has_large_json)
		return set_large_json(res, json);
	return set_json(res, json);
}

struct growing {
	struct eddyi_arena *arena;
	struct eddy_json_writer writer;
};

static void *grow_text(void *arg, struct eddy_str text, size_t size)
{
	struct growing *growing = arg;
	size_t capacity = growing->writer.size;

	return eddyi_arena_grow(growing->arena, (char *)text.ptr, text.len, &capacity, size);
}

int eddyi_res_json_write(struct eddy_res *res, const struct eddy_member *members,
			 size_t member_count, size_t size, const void *source, size_t count)
{
	const struct eddy_shape shape = { members, member_count, size, NULL };
	struct growing growing = {
		.arena = &res->req->arena,
		.writer = { .grow = grow_text, .arg = &growing },
	};
	int r = eddyi_json_text_write(&growing.writer, &shape, source, count);

	return r < 0 ? r : set_bytes(res, "application/json", growing.writer.text);
}

/* Of a problem without its detail, and of a fault without its texts. */
#define PROBLEM_SIZE 128
#define FAULT_SIZE 40

static void put_faults(struct eddyi_text *json, const struct eddy_req *req)
{
	eddyi_json_open(json, "errors", "[");
	for (size_t i = 0; i < req->fault_count; i++) {
		eddyi_json_begin(json, "{");
		eddyi_json_name(json, "pointer");
		eddyi_json_str(json, req->faults[i].pointer);
		eddyi_json_name(json, "detail");
		eddyi_json_str(json, req->faults[i].why);
		eddyi_json_end(json, '}');
	}
	eddyi_json_end(json, ']');
}

static void put_problem(struct eddyi_text *json, int status, struct eddy_str detail,
			const struct eddy_req *faulty)
{
	eddyi_json_begin(json, "{");
	eddyi_json_plain(json, "type", "about:blank");
	eddyi_json_plain(json, "title", eddyi_status_phrase(status));
	eddyi_json_name(json, "status");
	eddyi_json_u64(json, (unsigned)status);
	eddyi_json_name(json, "detail");
	eddyi_json_str(json, detail);
	if (faulty)
		put_faults(json, faulty);
	eddyi_json_last(json, '}');
}

static int make_problem(struct eddy_res *res, int status, const char *detail)
{
	const struct eddy_req *req = res->req;
	/* A handler may respond with a detail of its own. */
	bool has_faults = req->faults && detail == req->detail;
	struct eddy_str text = eddy_str_from(detail);
	struct eddyi_text json = { 0 };
	char *begin;
	size_t size;

	if (!detail || !eddyi_str_is_utf8(text))
		text = eddy_str_from(eddyi_status_detail(status));
	/* A byte takes six at most. */
	size = PROBLEM_SIZE + 6 * text.len;
	for (size_t i = 0; has_faults && i < req->fault_count; i++)
		size += FAULT_SIZE + 6 * (req->faults[i].pointer.len + req->faults[i].why.len);
	begin = eddyi_arena_alloc(&res->req->arena, size);
	if (begin) {
		json.at = begin;
		json.end = begin + size;
		put_problem(&json, status, text, has_faults ? req : NULL);
	}
	eddyi_res_clear_body(res);
	res->status = status;
	return set_bytes(res, "application/problem+json",
			 eddy_str(begin, (size_t)(json.at - begin)));
}

int eddy_res_no_content(struct eddy_res *res)
{
	eddyi_res_drop_body(res);
	remove_header(res, EDDY_STR("content-type"));
	res->status = 204;
	return 0;
}

/* A URI reference contains no blanks, and no bytes that must be escaped. */
static int set_location(struct eddy_res *res, int status, struct eddy_str location)
{
	int r;

	for (size_t i = 0; i < location.len; i++)
		if (location.ptr[i] <= ' ' || location.ptr[i] >= 0x7f)
			return -EINVAL;
	r = eddy_res_set(res, "location", location);
	if (r == 0)
		res->status = status;
	return r;
}

int eddy_res_created(struct eddy_res *res, struct eddy_str location)
{
	return set_location(res, 201, location);
}

int eddy_res_redirect(struct eddy_res *res, int status, struct eddy_str location)
{
	switch (status) {
	case 301:
	case 302:
	case 303:
	case 307:
	case 308:
		return set_location(res, status, location);
	default:
		return -EINVAL;
	}
}

/* ---- errors ---- */

/* Map a handler's error to a status. */
static int judge_error(struct eddy_req *req, int error)
{
	int status = eddyi_status_of(error);

	if (error == req->verdict_error)
		return req->verdict_status;
	if (error == -ECANCELED && req->client_left)
		return EDDYI_STATUS_CLIENT_LEFT;
	if (error == -ECANCELED && req->stopped)
		return 503;
	/* Only for the body: a handler may return -ECONNRESET of another server. */
	if (error == -ECONNRESET && req->body->error == error) {
		eddyi_req_fail(req, error, 400, "the request body ended too early");
		return 400;
	}
	/* Don't log a timeout or shutdown as a failure. */
	if (status == 500 && error != -ECANCELED)
		eddy_log(EDDY_LOG_ERROR, "eddy::http",
			 EDDY_FIELDS(eddy_field_str("route", eddy_req_pattern(req))),
			 "%.*s %.*s failed: %s%s", EDDY_FMT(req->head.method_name),
			 EDDY_FMT(req->head.target.path), strerror(-error),
			 error == -1 ? " (-1 is -EPERM: return -errno or a status)" : "");
	return status;
}

/* Tell whether the client or the server's shutdown is the cause of an incomplete stream, and not
 * the program. */
static bool is_cut_from_outside(const struct eddy_req *req, int r)
{
	int failed = req->res.failed;

	return (failed && failed != -ENOMEM) || r == -ECANCELED || req->expired ||
	       req->client_left || eddy_is_cancelled() ||
	       (r < 0 && (r == req->body->error || r == req->verdict_error));
}

static void tell_cut(const struct eddy_req *req, int r)
{
	char status[32];

	snprintf(status, sizeof(status), "status %d", r);
	eddy_log(is_cut_from_outside(req, r) ? EDDY_LOG_DEBUG : EDDY_LOG_ERROR, "eddy::http",
		 EDDY_FIELDS(eddy_field_str("route", eddy_req_pattern(req))),
		 "%.*s %.*s failed after its head was sent, so its body is cut short: %s",
		 EDDY_FMT(req->head.method_name), EDDY_FMT(req->head.target.path),
		 r < 0 ? strerror(-r) : status);
}

/* Whether a handler's result leaves the response as it is, apart from its status. */
static bool is_success(int r)
{
	return r == 0 || (r >= 200 && r < 400);
}

/* Finish after the head has been sent. On an error, the client must not take the response for
 * complete. A response without a body is complete with its head, whatever the handler returned. */
static int finish_sent(struct eddy_req *req, int r)
{
	struct eddy_res *res = &req->res;

	if (is_success(r))
		r = res->failed;
	if (r == 0 || eddyi_res_is_silent(res))
		return res->failed;
	if (!res->is_cut)
		tell_cut(req, r);
	res->is_cut = true;
	if (r > 0)
		r = -EIO;
	if (!res->failed)
		res->failed = r;
	return r;
}

int eddyi_render_error(struct eddy_req *req, int status, const char *detail)
{
	struct eddy_res *res = &req->res;
	int r;

	if (res->head_sent)
		return finish_sent(req, status);
	eddyi_res_clear_body(res);
	res->failed = 0;
	res->status = status;
	if (!req->app->render_error)
		return make_problem(res, status, detail);
	r = req->app->render_error(req, res, status, detail);
	if (r == 0 || res->head_sent)
		return finish_sent(req, r);
	return make_problem(res, status, detail);
}

int eddyi_finish_result(struct eddy_req *req, int r)
{
	struct eddy_res *res = &req->res;
	bool has_detail;
	int status;

	if (res->head_sent)
		return finish_sent(req, r);
	/* The head could not be sent, and no other body has been set since. */
	if (res->failed && res->kind == EDDYI_RES_EMPTY && is_success(r))
		r = res->failed;
	res->failed = 0;
	if (r == 0)
		return 0;
	status = r < 0 ? judge_error(req, r) : r;
	/* The program's mistake is not the client's. */
	if (req->verdict_error == -EDOM && status >= 400 && status < 500)
		status = 500;
	if (r > 0) {
		eddy_res_status(res, status);
		status = res->status;
		if (status < 400)
			return 0;
	}
	/* A handler picks either status for invalid values in JSON. */
	has_detail = status == req->verdict_status ||
		     (req->faults && (status == 400 || status == 422));
	return eddyi_render_error(req, status, has_detail ? req->detail : NULL);
}

int eddy_res_error(struct eddy_res *res, int status, const char *detail)
{
	return eddyi_render_error(res->req, status, detail);
}

int eddy_res_problem(struct eddy_res *res, int status, const char *detail, ...)
{
	char *text = NULL;
	va_list args;
	int r;

	if (res->head_sent)
		return finish_sent(res->req, status);
	if (detail) {
		va_start(args, detail);
		r = vasprintf(&text, detail, args);
		va_end(args);
		if (r < 0)
			return -ENOMEM;
	}
	eddy_res_status(res, status);
	r = make_problem(res, res->status, text);
	free(text);
	return r;
}

/* ---- sending ---- */

static void send_head(struct eddy_res *res)
{
	if (!res->head_sent)
		res->req->stream->verbs->send_head(
			res->req, res->announced ? res->announced_length : EDDY_LENGTH_UNKNOWN);
	res->head_sent = true;
}

int eddyi_res_send(struct eddy_res *res, struct eddy_str bytes, bool last)
{
	if (eddyi_res_is_silent(res))
		bytes = EDDY_STR("");
	if (res->head_sent && !bytes.len && !last)
		return 0;
	send_head(res);
	return res->req->stream->verbs->send(res->req, bytes, last);
}

int eddyi_res_send_file(struct eddy_res *res, struct eddy_transfer *file)
{
	if (!file->len || eddyi_res_is_silent(res))
		return eddyi_res_send(res, EDDY_STR(""), false);
	send_head(res);
	return res->req->stream->verbs->file_out(res->req, file, false);
}

int eddy_res_interim(struct eddy_res *res, int status, const struct eddy_header *fields)
{
	bool valid = status >= 102 && status <= 199;

	for (const struct eddy_header *field = fields; field && field->name; field++)
		valid &= eddyi_res_may_set(field->name) &&
			 eddyi_syntax_is_value(eddy_str_from(field->value));
	if (!valid)
		return -EINVAL;
	if (res->head_sent || res->failed)
		return res->failed;
	return res->req->stream->verbs->interim(res->req, status, fields);
}
