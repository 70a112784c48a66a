/* eddy/req.h: a request, as its handler reads it.
 *
 * Everything reached from a request lives until its response has been sent. A body is pulled: what
 * nobody reads stays with the client.
 */
#ifndef EDDY_REQ_H
#define EDDY_REQ_H

#include <eddy/app.h>
#include <eddy/json.h>
#include <eddy/member.h>
#include <eddy/pairs.h>
#include <eddy/to.h>
#include <sys/socket.h>

EDDY_BEGIN_DECLS

struct eddy_event;

/* The method's name, as sent. */
EDDY_API struct eddy_str eddy_req_method(const struct eddy_req *req);

/* The version of HTTP/1 that the client speaks: 0 or 1. */
EDDY_API unsigned eddy_req_minor(const struct eddy_req *req);

/* The target's path, not decoded, without dot segments (RFC 3986 section 5.2.4). */
EDDY_API struct eddy_str eddy_req_target_path(const struct eddy_req *req);

/* The target's query, not decoded, without the '?'; .ptr is NULL when there is none. */
EDDY_API struct eddy_str eddy_req_query(const struct eddy_req *req);

/* Read the route's path parameters in their order, each into a variable whose type says how it is
 * parsed: an integer of any width, double, bool, or struct eddy_str.
 *
 *     if (eddy_req_path(req, EDDY_TO(&id), EDDY_TO(&name)) < 0)
 *             return 400;
 *
 * Return: 0; -EINVAL when a parameter does not parse or is out of its type's range (the 400 that the
 * handler then returns names it); -EDOM when the route has fewer, with a record that says so; -ENOMEM. */
#define eddy_req_path(req, ...)                                                                    \
	eddy_req_path_to((req), (const struct eddy_to[]){ __VA_ARGS__ },                           \
			 sizeof((const struct eddy_to[]){ __VA_ARGS__ }) / sizeof(struct eddy_to))
EDDY_API int eddy_req_path_to(struct eddy_req *req, const struct eddy_to *to, size_t count);

/* Read the path parameters into a struct by their names (member.h):
 *
 *     if (eddy_req_path_into(req, post_members, &post) < 0)
 *             return 400;
 *
 * Return: 0; -EINVAL when one is missing, does not parse or is out of range (the 400 that the handler
 * then returns names it and says what it must be); -ENOMEM; -EDOM as eddy_pairs_into(). */
#define eddy_req_path_into(req, members, ret_target)                                               \
	EDDYI_INTO(eddy_req_path_read, req, members, ret_target)
#define EDDYI_INTO(read, from, members, ret_target)                                                \
	read((from), (members), sizeof(members) / sizeof(*(members)), (ret_target))
EDDY_API int eddy_req_path_read(struct eddy_req *req, const struct eddy_member *members,
				size_t count, void *ret_target);

/* Read one path parameter by its name, decoded.
 * Return: 0, -ENOENT when the route has none of this name. */
EDDY_API int eddy_req_param(const struct eddy_req *req, const char *name,
			    struct eddy_str *ret_value);

/* All path parameters. Return: 0, -ENOMEM. */
EDDY_API int eddy_req_path_pairs(struct eddy_req *req, struct eddy_pairs *ret_pairs);

/* All parameters of the query, at most 4096: `+` is a space, and a bad escape stays as it is.
 * Return: 0, -EMSGSIZE for more, -ENOMEM. */
EDDY_API int eddy_req_query_pairs(struct eddy_req *req, struct eddy_pairs *ret_pairs);

/* The first value that the query has for a name. Return: 0, -ENOENT, and as eddy_req_query_pairs(). */
EDDY_API int eddy_req_query_get(struct eddy_req *req, const char *name, struct eddy_str *ret_value);

/* Read the query into a struct. Return: as eddy_req_path_into() and eddy_req_query_pairs(). */
#define eddy_req_query_into(req, members, ret_target)                                              \
	EDDYI_INTO(eddy_req_query_read, req, members, ret_target)
EDDY_API int eddy_req_query_read(struct eddy_req *req, const struct eddy_member *members,
				 size_t count, void *ret_target);

/* The host that was asked: of the target's authority or the Host field; with .forwarded_host that which a
 * trusted proxy was asked for, if it says so (peer.h). Port included. */
EDDY_API struct eddy_str eddy_req_host(const struct eddy_req *req);

/* Whether that host is an IP address, or a name that means this machine to everybody: what a server
 * on a developer's machine should insist on (DNS rebinding). */
EDDY_API bool eddy_req_host_is_local_or_ip(const struct eddy_req *req);

/* The first field of this name, blanks trimmed; .ptr is NULL when there is none. */
EDDY_API struct eddy_str eddy_req_header(const struct eddy_req *req, const char *name);

/* All fields of this name as one value, joined by commas (RFC 9110 section 5.3). Lives as long as the request.
 * Return: .ptr NULL when there is none, or memory is out. */
EDDY_API struct eddy_str eddy_req_header_joined(struct eddy_req *req, const char *name);

/* The number of fields, and one of them in the order of arrival (`at` below the number). */
EDDY_API size_t eddy_req_header_count(const struct eddy_req *req);
EDDY_API void eddy_req_header_at(const struct eddy_req *req, size_t at, struct eddy_str *ret_name,
				 struct eddy_str *ret_value);

/* The length that the client announced for the body, 0 for none; EDDY_LENGTH_UNKNOWN when it is chunked, or
 * is decoded on its way in (compress). */
#define EDDY_LENGTH_UNKNOWN UINT64_MAX
EDDY_API uint64_t eddy_req_length(const struct eddy_req *req);

/* Read some of the body. Suspends.
 * Return: bytes; 0 at its end; -EBADMSG when it is malformed, -ECONNRESET when the client left,
 * -ECANCELED when it stalled; -EFBIG or -EMSGSIZE when a filter allows no more (body_limit.h, or of what
 * is decoded), each of which becomes a 413; -ENOMEM. After an error each further call is the same. */
EDDY_API ssize_t eddy_req_read(struct eddy_req *req, void *buf, size_t len);

/* Read what nobody has read of the body into memory; a second call gives the same. Suspends.
 * Return: 0; -EMSGSIZE over the limit (body_max of the route or the app), which becomes a 413; -EBUSY past
 * .body_memory_max, which becomes a 503; -ENOMEM, and what eddy_req_read() returns. */
EDDY_API int eddy_req_body(struct eddy_req *req, struct eddy_str *ret_body);

/* Read the body as application/x-www-form-urlencoded, otherwise like a query. Suspends.
 * Return: 0; -EMEDIUMTYPE when it is of another type (which becomes a 415), -EMSGSIZE for too many
 * fields, and what eddy_req_body() returns. */
EDDY_API int eddy_req_form_pairs(struct eddy_req *req, struct eddy_pairs *ret_pairs);

/* Read such a form into a struct; a handler returns what this returns. Suspends.
 * Return: as eddy_req_path_into() and eddy_req_form_pairs(). */
#define eddy_req_form_into(req, members, ret_target)                                               \
	EDDYI_INTO(eddy_req_form_read, req, members, ret_target)
EDDY_API int eddy_req_form_read(struct eddy_req *req, const struct eddy_member *members,
				size_t count, void *ret_target);

/* Read the body as JSON, at most 128 arrays and objects deep (json.h); the request keeps the reference.
 * A large one, over 64 KiB or 1,024 values, is parsed on the offload pool. Suspends.
 * Return: 0; -EMEDIUMTYPE when the type is neither application/json nor ends in +json (which becomes a 415),
 * -EBADMSG when it is not JSON, -EMSGSIZE for more values than json_values_max of the app, and what
 * eddy_req_body() returns. */
EDDY_API int eddy_req_json(struct eddy_req *req, json_t **ret_json);

/* Read a JSON object into a struct; a handler returns what this returns. A member that a .strict table does
 * not name becomes a 422. Suspends.
 * Return: as eddy_req_path_into() and eddy_req_json(). */
#define eddy_req_json_into(req, members, ret_target)                                               \
	EDDYI_INTO(eddy_req_json_read, req, members, ret_target)
EDDY_API int eddy_req_json_read(struct eddy_req *req, const struct eddy_member *members,
				size_t count, void *ret_target);

/* The app that the request came to: to ask for its port, or to end it. */
EDDY_API struct eddy_app *eddy_req_app(const struct eddy_req *req);

/* What was given to eddy_app_set_context(). */
EDDY_API void *eddy_req_context(const struct eddy_req *req);

/* What was given to eddy_route_set_data(); NULL when no route answers. */
EDDY_API void *eddy_req_route_data(const struct eddy_req *req);

/* The address of the app's that the client has connected to, as it was typed. */
EDDY_API struct eddy_str eddy_req_bound(const struct eddy_req *req);

/* Whether the client has left, which cancels the request's scope: a call returned -ECANCELED for that (see
 * eddy_route_set_cancel_on()). */
EDDY_API bool eddy_req_client_left(const struct eddy_req *req);

/* An event that is set when the app begins to end. A handler that would go on for as long as its client stays, such
 * as a stream of events, selects on it (eddy/select.h) and returns: else the end waits for it until
 * .drain_timeout_ns is over. */
EDDY_API struct eddy_event *eddy_req_stopping(const struct eddy_req *req);

/* Memory that lives as long as the request. Return: NULL when memory is out. */
EDDY_API void *eddy_req_alloc(struct eddy_req *req, size_t size);

EDDY_END_DECLS

#endif
