#include "exchange.h"
#include "peer.h"

#include <errno.h>

struct eddy_str eddy_req_method(const struct eddy_req *req)
{
	return req->head.method_name;
}

struct eddy_str eddy_req_target_path(const struct eddy_req *req)
{
	return req->head.target.path;
}

struct eddy_str eddy_req_query(const struct eddy_req *req)
{
	return req->head.target.query;
}

int eddy_req_path_to(struct eddy_req *req, const struct eddy_to *to, size_t count)
{
	size_t have = req->route ? req->route->param_count : 0;

	for (size_t i = 0; i < count; i++) {
		int r = i < have ? eddy_to_parse(to[i], req->params[i]) : -EINVAL;

		if (r == 0)
			continue;
		if (i < have)
			req->detail =
				eddyi_arena_printf(
					&req->arena,
					r == -ERANGE ?
						"the path parameter \"%.*s\" is out of range" :
						"the path parameter \"%.*s\" is malformed",
					EDDY_FMT(req->route->param_names[i]))
					.ptr;
		return -EINVAL;
	}
	return 0;
}

int eddy_req_param(const struct eddy_req *req, const char *name, struct eddy_str *ret_value)
{
	for (size_t i = 0; req->route && i < req->route->param_count; i++) {
		if (eddy_str_eq_z(req->route->param_names[i], name)) {
			*ret_value = req->params[i];
			return 0;
		}
	}
	return -ENOENT;
}

struct eddy_str eddy_req_host(const struct eddy_req *req)
{
	struct eddy_str host = { NULL, 0 };

	if (req->app->options.forwarded_host)
		host = eddyi_asker_of(req)->host;
	return host.len ? host : req->head.host;
}

bool eddy_req_host_is_local_or_ip(const struct eddy_req *req)
{
	struct eddyi_host host;

	return eddyi_host_parse(eddy_req_host(req), &host) == 0 && eddyi_host_is_local_or_ip(&host);
}

struct eddy_str eddy_req_header(const struct eddy_req *req, const char *name)
{
	return eddyi_head_find(&req->head, eddy_str_from(name));
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

uint64_t eddy_req_length(const struct eddy_req *req)
{
	return req->head.framing == EDDYI_BODY_CHUNKED ? EDDY_LENGTH_UNKNOWN : req->head.length;
}

ssize_t eddy_req_read(struct eddy_req *req, void *buf, size_t len)
{
	return eddyi_body_read(&req->body, req->wire, buf, len);
}

/* Read until the end into `buf`, which holds `size` bytes. Return: the length, -EMSGSIZE. */
static ssize_t read_all(struct eddy_req *req, char *buf, size_t size)
{
	size_t len = 0;
	char over;

	for (;;) {
		ssize_t r = len < size ? eddy_req_read(req, buf + len, size - len) :
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

/* A chunked body says nothing of its length: gather it in pieces that double. */
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
			r = eddy_req_read(req, buf + len, size - len);
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

int eddy_req_body(struct eddy_req *req, struct eddy_str *ret_body)
{
	uint64_t max = eddyi_req_body_max(req), length = eddy_req_length(req);
	char *buf;
	ssize_t r;

	if (length == EDDY_LENGTH_UNKNOWN)
		return read_unknown(req, max, ret_body);
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

void *eddy_req_context(const struct eddy_req *req)
{
	return req->app->context;
}

struct eddy_str eddy_req_bound(const struct eddy_req *req)
{
	return eddy_str_from(req->wire->bound);
}

void *eddy_req_alloc(struct eddy_req *req, size_t size)
{
	return eddyi_arena_alloc(&req->arena, size);
}
