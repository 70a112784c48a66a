#include "req.h"

#include "coded.h"
#include "peer.h"
#include "text/base64.h"

#include <eddy/internal/outside.h>
#include <eddy/internal/text.h>
#include <eddy/layer.h>
#include <eddy/log.h>
#include <errno.h>

struct eddy_str eddy_req_method(const struct eddy_req *req)
{
	return req->head.method_name;
}

enum eddy_http_version eddy_req_version(const struct eddy_req *req)
{
	return req->head.version;
}

struct eddy_str eddy_req_target_path(const struct eddy_req *req)
{
	return req->head.target.path;
}

struct eddy_str eddy_req_query(const struct eddy_req *req)
{
	return req->head.target.query;
}

struct eddy_str eddy_req_host(const struct eddy_req *req)
{
	struct eddy_str host = { NULL, 0 };

	if (req->app->options.forwarded_host)
		host = eddyi_asker_of(req)->host;
	return host.len ? host : req->head.host;
}

bool eddy_req_client_left(const struct eddy_req *req)
{
	return req->client_left;
}

struct eddy_str eddy_req_header(const struct eddy_req *req, const char *name)
{
	return eddyi_head_find(&req->head, eddy_str_from(name));
}

struct eddy_str eddy_req_header_joined(struct eddy_req *req, const char *name)
{
	return eddyi_head_join(&req->head, name);
}

bool eddyi_req_comes_from_elsewhere(const struct eddy_req *req)
{
	struct eddy_str origin = eddy_req_header(req, "origin");
	struct eddy_str site = eddy_req_header(req, "sec-fetch-site");

	if (site.ptr && eddy_str_eq_z(site, "cross-site"))
		return true;
	if (!origin.ptr)
		return false;
	for (size_t at = 0; at + 3 <= origin.len; at++)
		if (memcmp(origin.ptr + at, "://", 3) == 0)
			return !eddy_str_eq_nocase(eddy_str_skip(origin, at + 3),
						   eddy_req_host(req));
	return true;
}

int eddy_req_basic(struct eddy_req *req, struct eddy_str *ret_credentials)
{
	/* Several fields are joined by commas, which are not base64. */
	struct eddy_str field = eddy_req_header_joined(req, "authorization");
	unsigned char *bytes;
	char *again, *end;
	ssize_t len;

	if (!field.ptr)
		return eddy_req_header(req, "authorization").ptr ? -ENOMEM : -ENOENT;
	if (field.len < 6 || !eddy_str_eq_nocase(eddy_str(field.ptr, 6), EDDY_STR("basic ")))
		return -EINVAL;
	field = eddy_str_trim(eddy_str_skip(field, 6));
	bytes = eddyi_arena_alloc(&req->arena, EDDYI_BASE64_DECODED(field.len) + 1);
	again = eddyi_arena_alloc(&req->arena, field.len + 4);
	if (!bytes || !again)
		return -ENOMEM;
	len = eddyi_base64_decode(field, bytes);
	if (len < 0)
		return -EINVAL;
	/* Each credentials have only one text (RFC 4648 section 3.5). */
	end = eddyi_base64_encode(bytes, (size_t)len, again);
	if (!eddy_str_eq(field, eddy_str(again, (size_t)(end - again))))
		return -EINVAL;
	*ret_credentials = eddy_str((char *)bytes, (size_t)len);
	return 0;
}

size_t eddy_req_header_count(const struct eddy_req *req)
{
	return req->head.header_count;
}

void eddy_req_header_at(const struct eddy_req *req, size_t at, struct eddy_str *ret_name,
			struct eddy_str *ret_value)
{
	*ret_name = req->head.headers[at].name;
	*ret_value = req->head.headers[at].value;
}

/* ---- the route ---- */

static const struct eddy_route *route_of(const struct eddy_req *req)
{
	return req->route ? req->route->value : NULL;
}

static uint64_t body_max_of(const struct eddy_req *req)
{
	const struct eddy_route *route = route_of(req);

	return route && route->options.body_max ? route->options.body_max :
						  req->app->options.body_max;
}

uint64_t eddyi_req_file_max(const struct eddy_req *req)
{
	const struct eddy_route *route = route_of(req);

	return route && route->options.file_max ? route->options.file_max :
						  req->app->options.file_max;
}

static uint64_t rate_min(uint64_t of_route, uint64_t of_app)
{
	if (of_route == EDDY_NEVER)
		return 0;
	return of_route ? of_route : of_app;
}

uint64_t eddyi_req_body_rate_min(const struct eddy_req *req)
{
	const struct eddy_route *route = route_of(req);

	if (req->res.events)
		return 0;
	return rate_min(route ? route->options.body_rate_min : 0, req->app->options.body_rate_min);
}

uint64_t eddyi_req_body_counted(const struct eddy_req *req, const struct eddyi_body *body,
				uint64_t arriving)
{
	uint64_t bytes = body->took + arriving;

	/* Don't subtract framing of a decoded body: it is counted in decoded bytes. */
	if (req->decoded || body->trimmings > bytes)
		return bytes;
	return bytes - body->trimmings;
}

uint64_t eddyi_req_write_rate_min(const struct eddy_req *req)
{
	const struct eddy_route *route = route_of(req);

	if (req->res.events)
		return 0;
	return rate_min(route ? route->options.write_rate_min : 0,
			req->app->options.write_rate_min);
}

void *eddy_req_route_data(const struct eddy_req *req)
{
	const struct eddy_route *route = route_of(req);

	return route ? route->options.data : NULL;
}

/* ---- the body ---- */

uint64_t eddy_req_length(const struct eddy_req *req)
{
	return req->decoded ? EDDY_LENGTH_UNKNOWN : req->head.length;
}

ssize_t eddy_req_read(struct eddy_req *req, void *buf, size_t len)
{
	if (req->decoded)
		return eddyi_decoded_read(req, buf, len);
	return req->stream->verbs->read(req, buf, len);
}

/* Whether the app's limit, or the share of the address, is exceeded. The taker's own bytes don't
 * count for the share: one body may take all memory. */
static bool exceeds_body_memory(const struct eddy_app *app, const struct eddyi_holding *holding,
				uint64_t own, uint64_t taken)
{
	uint64_t max = app->options.body_memory_max;

	/* An app that is only tested has no limit. */
	if (!max)
		return false;
	if (taken > max)
		return true;
	/* Each loop counts for itself. */
	return holding && holding->body_memory - own > (max - taken) / app->options.workers;
}

bool eddyi_take_body_memory(const struct eddy_app *app, struct eddyi_party *party, uint64_t *taken,
			    size_t bytes)
{
	/* Settings don't change while the app runs, but counters do. */
	struct eddy_app *counts = (struct eddy_app *)app;
	struct eddyi_holding *holding = party ? party->holding : NULL;
	uint64_t all = bytes + atomic_fetch_add(&counts->body_memory, bytes);

	*taken += bytes;
	if (holding)
		holding->body_memory += bytes;
	if (!exceeds_body_memory(app, holding, *taken, all))
		return true;
	atomic_fetch_add(&counts->refused_bodies, 1);
	return false;
}

void eddyi_give_back_body_memory(const struct eddy_app *app, struct eddyi_party *party,
				 uint64_t *taken, uint64_t bytes)
{
	atomic_fetch_sub(&((struct eddy_app *)app)->body_memory, bytes);
	if (party && party->holding)
		party->holding->body_memory -= bytes;
	*taken -= bytes;
}

int eddyi_req_take_body_memory(struct eddy_req *req, size_t bytes)
{
	if (eddyi_take_body_memory(req->app, req->stream->party, &req->body_memory, bytes))
		return 0;
	eddy_debug("eddy::http", "the body of %.*s %.*s is rejected: body_memory_max is reached",
		   EDDY_FMT(req->head.method_name), EDDY_FMT(req->head.target.path));
	return eddyi_req_fail(req, -EBUSY, 503, "the server has no memory left for request bodies");
}

void eddyi_req_free_body_memory(struct eddy_req *req)
{
	eddyi_give_back_body_memory(req->app, req->stream->party, &req->body_memory,
				    req->body_memory);
}

/* Read a piece of a body that stays in memory. Return: as eddy_req_read(), -EBUSY. */
static ssize_t read_kept(struct eddy_req *req, char *buf, size_t len)
{
	ssize_t r = eddy_req_read(req, buf, len);
	int counted = r > 0 ? eddyi_req_take_body_memory(req, (size_t)r) : 0;

	return counted < 0 ? counted : r;
}

/* Read until the end into `buf` of `size` bytes. Return: the length, -EMSGSIZE. */
static ssize_t read_all(struct eddy_req *req, char *buf, size_t size)
{
	size_t len = 0;
	char over;

	for (;;) {
		ssize_t r = len < size ? read_kept(req, buf + len, size - len) :
					 eddy_req_read(req, &over, 1);

		if (r < 0)
			return r;
		if (r == 0)
			return (ssize_t)len;
		if (len == size)
			return -EMSGSIZE;
		len += (size_t)r;
	}
}

/* Read a body of unknown length into buffers that double. */
static int read_unknown(struct eddy_req *req, uint64_t max, struct eddy_str *ret_body)
{
	size_t size = 4 * EDDY_KIB, len = 0;
	char *buf = NULL;

	for (;;) {
		char *larger;
		ssize_t r;

		if (size > max)
			size = (size_t)max;
		larger = eddyi_arena_alloc(&req->arena, size + 1);
		if (!larger)
			return -ENOMEM;
		if (len)
			memcpy(larger, buf, len);
		buf = larger;
		while (len < size) {
			r = read_kept(req, buf + len, size - len);
			if (r < 0)
				return (int)r;
			if (r == 0) {
				*ret_body = eddy_str(buf, len);
				return 0;
			}
			len += (size_t)r;
		}
		if (size == max) {
			r = read_all(req, buf + len, 0);
			if (r < 0)
				return (int)r;
			*ret_body = eddy_str(buf, len);
			return 0;
		}
		size *= 2;
	}
}

static int read_known(struct eddy_req *req, uint64_t length, uint64_t max,
		      struct eddy_str *ret_body)
{
	char *buf;
	ssize_t r;

	if (length > max)
		return -EMSGSIZE;
	buf = eddyi_arena_alloc(&req->arena, (size_t)length + 1);
	if (!buf)
		return -ENOMEM;
	r = read_all(req, buf, (size_t)length);
	if (r < 0)
		return (int)r;
	*ret_body = eddy_str(buf, (size_t)r);
	return 0;
}

int eddy_req_body(struct eddy_req *req, struct eddy_str *ret_body)
{
	uint64_t max = body_max_of(req), length = eddy_req_length(req);
	int r = 0;

	if (!req->text.ptr)
		r = length == EDDY_LENGTH_UNKNOWN ? read_unknown(req, max, &req->text) :
						    read_known(req, length, max, &req->text);
	if (r == 0)
		*ret_body = req->text;
	return r;
}

/* ---- the app ---- */

/* A handler may shut its app down; the settings don't change. */
struct eddy_app *eddy_req_app(const struct eddy_req *req)
{
	return (struct eddy_app *)req->app;
}

void *eddy_req_context(const struct eddy_req *req)
{
	return req->app->context;
}

struct eddy_str eddy_req_bound(const struct eddy_req *req)
{
	return eddy_str_from(req->stream->bound);
}

struct eddy_event *eddy_req_stopping(const struct eddy_req *req)
{
	return &req->stream->service->stop;
}

void *eddy_req_alloc(struct eddy_req *req, size_t size)
{
	return eddyi_arena_alloc(&req->arena, size);
}

char *eddy_req_strdup(struct eddy_req *req, struct eddy_str str)
{
	return str.ptr ? (char *)eddyi_arena_dup(&req->arena, str).ptr : NULL;
}

struct eddy_str eddy_req_escape(struct eddy_req *req, struct eddy_str segment)
{
	char *text = segment.len < SIZE_MAX / 3 ? eddy_req_alloc(req, 3 * segment.len + 1) : NULL;

	if (!text)
		return eddy_str(NULL, 0);
	*eddyi_percent_encode(text, segment, "-._~") = 0;
	return eddy_str_from(text);
}

int eddy_req_refusal(const struct eddy_req *req, const char **ret_detail)
{
	if (req->refused)
		*ret_detail = req->head.problem;
	return req->refused;
}

/* ---- memory of layers ---- */

struct eddyi_req_kept {
	struct eddyi_req_kept *next;
	const struct eddy_req_layer *layer;
	_Alignas(max_align_t) char memory[];
};

void *eddy_req_find_layer(const struct eddy_req *req, const struct eddy_req_layer *layer)
{
	struct eddyi_req_kept *kept = req->kept;

	while (kept && kept->layer != layer)
		kept = kept->next;
	return kept ? kept->memory : NULL;
}

void *eddy_req_layer(struct eddy_req *req, const struct eddy_req_layer *layer)
{
	void *memory = eddy_req_find_layer(req, layer);
	struct eddyi_req_kept *kept;

	if (memory)
		return memory;
	kept = eddyi_arena_alloc(&req->arena, sizeof(*kept) + layer->size);
	if (!kept)
		return NULL;
	kept->next = req->kept;
	kept->layer = layer;
	req->kept = kept;
	return memset(kept->memory, 0, layer->size);
}

void eddyi_req_layers_deinit(struct eddy_req *req)
{
	for (; req->kept; req->kept = req->kept->next)
		if (req->kept->layer->deinit)
			req->kept->layer->deinit(req->kept->memory);
}
