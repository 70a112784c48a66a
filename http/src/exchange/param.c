/* Names and values of a request: path parameters, query, form, and JSON body. */
#include "exchange.h"
#include "exchange_state.h"
#include "req.h"

#include "text/disposition.h"
#include "text/json.h"
#include "text/pairs.h"
#include "text/syntax.h"

#include <eddy/internal/json.h>
#include <eddy/internal/member.h>
#include <eddy/log.h>
#include <eddy/observer.h>
#include <eddy/offload.h>
#include <errno.h>
#include <stdio.h>

/* Limit of nested arrays and objects in a request's body. */
#define JSON_DEPTH_MAX 128

/* Parse larger bodies on the offload pool: 10 us a KiB, 0.15 us a value would delay the loop. */
#define JSON_HERE_MAX (64 * EDDY_KIB)
#define JSON_VALUES_HERE_MAX 1024
/* Memory of a value in jansson, without its text. Trees of texts up to JSON_SMALL are not
 * counted. */
#define JSON_VALUE_BYTES 272
#define JSON_SMALL 512

/* Record why a parameter is rejected. Return: -EINVAL, -ENOMEM. */
static int refuse(struct eddy_req *req, int status, const char *what, const char *why)
{
	const char *detail = eddyi_arena_printf(&req->arena, "%s %s", what, why).ptr;

	return detail ? eddyi_req_fail(req, -EINVAL, status, detail) : -ENOMEM;
}

/* ---- the path ---- */

static size_t param_count(const struct eddy_req *req)
{
	return req->route ? req->route->param_count : 0;
}

int eddyi_req_path_to(struct eddy_req *req, const struct eddy_to *to, size_t count)
{
	char why[EDDY_WHY_SIZE];

	if (count > param_count(req)) {
		eddy_log(EDDY_LOG_ERROR, "eddy::http",
			 EDDY_FIELDS(eddy_field_str("route", eddy_req_pattern(req))),
			 "the handler of %s reads %zu path parameters, and its pattern has %zu",
			 eddyi_answer_label(req), count, param_count(req));
		return eddyi_req_fail(req, -EDOM, 500, NULL);
	}
	for (size_t i = 0; i < count; i++) {
		const struct eddy_member member = { .type = to[i].type };
		int len;

		if (eddy_to_parse(to[i], req->params[i]) == 0)
			continue;
		len = snprintf(why, sizeof(why), "\"%.*s\" must be ",
			       EDDY_FMT(req->route->param_names[i]));
		if ((size_t)len < sizeof(why))
			eddyi_member_expect(&member, why + len, sizeof(why) - (size_t)len);
		return refuse(req, 400, "the path parameter", why);
	}
	return 0;
}

int eddy_req_param(const struct eddy_req *req, const char *name, struct eddy_str *ret_value)
{
	for (size_t i = 0; i < param_count(req); i++) {
		if (eddy_str_eq_z(req->route->param_names[i], name)) {
			*ret_value = req->params[i];
			return 0;
		}
	}
	return -ENOENT;
}

int eddy_req_path_pairs(struct eddy_req *req, struct eddy_pairs *ret_pairs)
{
	size_t count = param_count(req);
	struct eddy_pair *list = eddyi_arena_alloc(&req->arena, count * sizeof(*list));

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		list[i] = (struct eddy_pair){ req->route->param_names[i], req->params[i] };
	*ret_pairs = (struct eddy_pairs){ list, count };
	return 0;
}

int eddyi_req_beneath(const struct eddy_req *req, bool (*accepts)(struct eddy_str name),
		      struct eddy_str *ret_path, bool *ret_slash)
{
	struct eddy_str path = req->head.target.path, rest = req->params[param_count(req) - 1];

	for (size_t i = 0; i < req->path.count; i++) {
		struct eddy_str name = req->path.segments[i];

		/* Only the rest of a path can contain an empty segment. */
		if (!name.len)
			return -ENOENT;
		/* An escaped slash is not a separator. */
		if (rest.len && name.ptr >= rest.ptr &&
		    (memchr(name.ptr, '/', name.len) || !accepts(name)))
			return -ENOENT;
	}
	*ret_path = rest.len ? rest : EDDY_STR("");
	*ret_slash = !path.len || path.ptr[path.len - 1] == '/';
	return 0;
}

bool eddy_path_is_public(struct eddy_str path)
{
	struct eddy_str name;

	if (!path.len)
		return true;
	while (eddy_str_split(&path, '/', &name))
		if (!eddyi_filename_is_public(name))
			return false;
	return true;
}

int eddy_req_path_beneath(const struct eddy_req *req, struct eddy_str *ret_path, bool *ret_slash)
{
	return param_count(req) ?
		       eddyi_req_beneath(req, eddyi_filename_is_public, ret_path, ret_slash) :
		       -EDOM;
}

/* ---- the query ---- */

int eddy_req_query_pairs(struct eddy_req *req, struct eddy_pairs *ret_pairs)
{
	int r = 0;

	if (!req->query.list)
		r = eddyi_pairs_parse(&req->arena, req->head.target.query, &req->query);
	if (r == -EMSGSIZE)
		eddyi_req_fail(req, r, 400, "the query has too many parameters");
	if (r == 0)
		*ret_pairs = req->query;
	return r;
}

int eddy_req_query_get(struct eddy_req *req, const char *name, struct eddy_str *ret_value)
{
	struct eddy_pairs pairs;
	int r = eddy_req_query_pairs(req, &pairs);

	return r < 0 ? r : eddyi_pairs_find(&pairs, name, ret_value);
}

/* ---- bodies ---- */

struct eddy_str eddyi_req_media_type(const struct eddy_req *req)
{
	struct eddy_str value = eddy_req_header(req, "content-type"), type;

	return eddy_str_split(&value, ';', &type) ? eddy_str_trim(type) : EDDY_STR("");
}

/* Whether a type is application/json, or JSON by its suffix (RFC 6839 section 3.1). */
static bool is_json(struct eddy_str type)
{
	static const char suffix[] = "+json";
	size_t len = sizeof(suffix) - 1;
	struct eddy_str top;

	if (eddy_str_eq_nocase(type, eddy_str_from("application/json")))
		return true;
	return eddy_str_split(&type, '/', &top) && eddyi_syntax_is_token(top) &&
	       eddyi_syntax_is_token(type) && type.len > len &&
	       eddy_str_eq_nocase(eddy_str_skip(type, type.len - len), eddy_str(suffix, len));
}

int eddy_req_form_pairs(struct eddy_req *req, struct eddy_pairs *ret_pairs)
{
	static const char form[] = "application/x-www-form-urlencoded";
	struct eddy_str body;
	int r = 0;

	if (!eddy_str_eq_nocase(eddyi_req_media_type(req), eddy_str(form, sizeof(form) - 1)))
		return eddyi_req_fail(req, -EMEDIUMTYPE, 415,
				      "the body must be application/x-www-form-urlencoded");
	if (!req->form.list) {
		r = eddy_req_body(req, &body);
		if (r < 0)
			return r;
		r = eddyi_pairs_parse(&req->arena, body, &req->form);
		if (r == -EMSGSIZE)
			eddyi_req_fail(req, r, 413, "the form has too many fields");
	}
	if (r == 0)
		*ret_pairs = req->form;
	return r;
}

struct parsing {
	struct eddy_str text;
	size_t values_max;
	json_t **ret_json;
	char why[EDDYI_JSON_WHY_SIZE]; /* with -EBADMSG */
};

static int parse_json(void *arg)
{
	struct parsing *parsing = arg;

	return eddyi_json_parse(parsing->text, JSON_DEPTH_MAX, parsing->values_max,
				parsing->ret_json, parsing->why);
}

/* Estimate the number of values in a text. Counting takes a millisecond for a MiB, so for a large
 * text assume the minimum of two bytes a value. */
static size_t most_values(const struct eddy_req *req, struct eddy_str text)
{
	size_t values = 0, max = req->app->options.json_values_max;

	if (text.len > JSON_HERE_MAX)
		return text.len / 2 < max ? text.len / 2 : max;
	if (text.len > JSON_SMALL)
		eddyi_json_depth(text, &values);
	return values;
}

/* Count the memory that the tree of a large text may take at most. Return: 0, -EBUSY. */
static int take_json_memory(struct eddy_req *req, struct eddy_str text)
{
	size_t values = most_values(req, text);

	req->has_large_json = text.len > JSON_HERE_MAX || values > JSON_VALUES_HERE_MAX;
	/* With too many values no tree is made. */
	if (!values || values > req->app->options.json_values_max)
		return 0;
	return eddyi_req_take_body_memory(req, values * JSON_VALUE_BYTES + text.len);
}

/* Read the body if its type is JSON. Return: as eddy_req_json(). */
static int take_json(struct eddy_req *req, struct eddy_str *ret_text)
{
	if (!is_json(eddyi_req_media_type(req)))
		return eddyi_req_fail(req, -EMEDIUMTYPE, 415, "the body must be application/json");
	return eddy_req_body(req, ret_text);
}

/* Record why a text is rejected by its parser. Return: `error`. */
static int refuse_text(struct eddy_req *req, int error, const char *why)
{
	if (error == -EMSGSIZE)
		eddyi_req_fail(req, error, 413, "the JSON body has too many values");
	if (error == -EBADMSG)
		eddyi_req_fail(
			req, error, 400,
			eddyi_arena_printf(&req->arena, "the body is not valid JSON: %s", why).ptr);
	return error;
}

int eddy_req_json(struct eddy_req *req, json_t **ret_json)
{
	struct parsing parsing = {
		.values_max = req->app->options.json_values_max,
		.ret_json = &req->json,
	};
	int r = take_json(req, &parsing.text);

	if (r == 0 && !req->json) {
		r = take_json_memory(req, parsing.text);
		if (r < 0)
			return r;
		r = req->has_large_json ? eddy_offload(parse_json, &parsing) : parse_json(&parsing);
		if (r < 0)
			return refuse_text(req, r, parsing.why);
	}
	if (r == 0)
		*ret_json = req->json;
	return r;
}

/* ---- into structs ---- */

static int read_pairs(struct eddy_req *req, const char *what, const struct eddy_pairs *pairs,
		      const struct eddy_member *members, size_t count, void *ret_target)
{
	char why[EDDY_WHY_SIZE];
	int r = eddyi_pairs_read(pairs, members, count, ret_target, why);

	if (r == -EDOM)
		return eddyi_req_fail(req, r, 500, NULL);
	return r == -EINVAL ? refuse(req, 400, what, why) : r;
}

int eddyi_req_path_read(struct eddy_req *req, const struct eddy_member *members, size_t count,
			void *ret_target)
{
	struct eddy_pairs pairs;
	int r = eddy_req_path_pairs(req, &pairs);

	return r < 0 ? r :
		       read_pairs(req, "the path parameter", &pairs, members, count, ret_target);
}

int eddyi_req_query_read(struct eddy_req *req, const struct eddy_member *members, size_t count,
			 void *ret_target)
{
	struct eddy_pairs pairs;
	int r = eddy_req_query_pairs(req, &pairs);

	return r < 0 ? r :
		       read_pairs(req, "the query parameter", &pairs, members, count, ret_target);
}

int eddyi_req_form_read(struct eddy_req *req, const struct eddy_member *members, size_t count,
			void *ret_target)
{
	struct eddy_pairs pairs;
	int r = eddy_req_form_pairs(req, &pairs);

	return r < 0 ? r : read_pairs(req, "the form field", &pairs, members, count, ret_target);
}

/* Memory of what is read, which counts as the body's. */
struct memory {
	struct eddy_req *req;
	int error; /* with which the last allocation failed; 0: -ENOMEM */
};

static void *take_memory(void *arg, size_t size)
{
	struct memory *memory = arg;

	memory->error = eddyi_req_take_body_memory(memory->req, size);
	return memory->error < 0 ? NULL : eddyi_arena_alloc(&memory->req->arena, size);
}

static int refuse_json(struct eddy_req *req, const struct eddy_json_reader *reader, bool is_array)
{
	int status = reader->has_unknown ? 422 : 400, r;

	/* The pointer of the whole text is "#". */
	if (reader->faults[0].pointer.len == 1)
		r = eddyi_req_fail(req, -EINVAL, 400,
				   is_array ? "the body must be a JSON array" :
					      "the body must be a JSON object");
	else
		r = refuse(req, status, "the JSON member", reader->why);
	req->faults = reader->faults;
	req->fault_count = reader->fault_count;
	return r;
}

int eddyi_req_json_read(struct eddy_req *req, const struct eddy_member *members,
			size_t member_count, size_t size, void *ret_target, size_t *ret_count)
{
	const struct eddy_shape shape = { members, member_count, size, NULL };
	struct memory memory = { .req = req };
	struct eddy_json_reader reader = {
		.alloc = take_memory,
		.arg = &memory,
		.depth_max = JSON_DEPTH_MAX,
		.values_max = req->app->options.json_values_max,
	};
	struct eddy_str text;
	int r = take_json(req, &text);

	if (r < 0)
		return r;
	r = eddyi_json_text_read(&reader, text, &shape, ret_target, ret_count);
	if (r == -EINVAL)
		return refuse_json(req, &reader, ret_count != NULL);
	if (r == -EDOM)
		return eddyi_req_fail(req, r, 500, NULL);
	if (r == -ENOMEM && memory.error < 0)
		return memory.error;
	return r < 0 ? refuse_text(req, r, reader.why) : 0;
}
