/* eddy/req.h: a request, as its handler reads it.
 *
 * All that is read from a request is in request memory, freed when its response has been sent. The
 * body is received only when it is read (backpressure). If a call that reads input fails, return
 * its error from the handler, or the status noted with it: the client then gets it with the reason.
 */
#ifndef EDDY_REQ_H
#define EDDY_REQ_H

#include <eddy/app.h>
#include <eddy/json.h>
#include <eddy/json_text.h>
#include <eddy/member.h>
#include <eddy/pairs.h>
#include <eddy/to.h>
#include <sys/socket.h>

EDDY_BEGIN_DECLS

struct eddy_event;

/* Get the method's name, as sent. */
EDDY_API struct eddy_str eddy_req_method(const struct eddy_req *req);

enum eddy_http_version { EDDY_HTTP_1_0, EDDY_HTTP_1_1, EDDY_HTTP_2 };

/* Get the version of HTTP that the request came by. */
EDDY_API enum eddy_http_version eddy_req_version(const struct eddy_req *req);

/* Get the target's path, not decoded, without dot segments (RFC 3986 section 5.2.4). */
EDDY_API struct eddy_str eddy_req_target_path(const struct eddy_req *req);

/* Get the target's query, not decoded, without the '?'; .ptr is NULL if there is none. */
EDDY_API struct eddy_str eddy_req_query(const struct eddy_req *req);

/* Read the route's path parameters, in order, into variables. Their types pick the parsers: an
 * integer of any width, double, bool, or struct eddy_str.
 *
 *     if (eddy_req_path(req, EDDY_TO(&id), EDDY_TO(&name)) < 0)
 *             return 400;
 *
 * Return: 0; -EINVAL (400, which names it) if a parameter is malformed or out of range; -EDOM, with
 * a log record, if the route has fewer parameters; -ENOMEM. */
#define eddy_req_path(req, ...)                                                                    \
	(EDDYI_EXPECT_TO(__VA_ARGS__, 0),                                                          \
	 eddyi_req_path_to((req), (const struct eddy_to[]){ __VA_ARGS__ },                         \
			   sizeof((const struct eddy_to[]){ __VA_ARGS__ }) /                       \
				   sizeof(struct eddy_to)))
#ifndef __cplusplus
/* A compile error unless the first argument is a struct eddy_to; a compound literal other than
 * EDDY_TO() needs parentheses. */
#define EDDYI_EXPECT_TO(first, ...)                                                                \
	(void)__extension__({                                                                      \
		_Static_assert(_Generic((first), struct eddy_to : 1, default : 0),                 \
			       "eddy_req_path() takes EDDY_TO(&variable) for each parameter");     \
		0;                                                                                 \
	})
#else
#define EDDYI_EXPECT_TO(...) (void)0
#endif
EDDY_CHECKED EDDY_API int eddyi_req_path_to(struct eddy_req *req, const struct eddy_to *to,
					    size_t count);

/* Read the path parameters into a struct by their names (eddy/member.h):
 *
 *     if (eddy_req_path_into(req, post_members, &post) < 0)
 *             return 400;
 *
 * Return: 0; -EINVAL (400, which names it and the expected value) if one is missing, malformed or
 * out of range; -ENOMEM; -EDOM as eddy_pairs_into(). */
#define eddy_req_path_into(req, members, ret_target)                                               \
	EDDYI_INTO(eddyi_req_path_read, req, members, ret_target)
#define EDDYI_INTO(read, from, members, ret_target)                                                \
	read((from), (members), sizeof(members) / sizeof(*(members)), (ret_target))
EDDY_CHECKED EDDY_API int eddyi_req_path_read(struct eddy_req *req,
					      const struct eddy_member *members, size_t count,
					      void *ret_target);

/* Get a path parameter by its name, decoded.
 * Return: 0; -ENOENT if the route has none of this name. */
EDDY_API int eddy_req_param(const struct eddy_req *req, const char *name,
			    struct eddy_str *ret_value);

/* Get all path parameters. Return: 0, -ENOMEM. */
EDDY_API int eddy_req_path_pairs(struct eddy_req *req, struct eddy_pairs *ret_pairs);

/* Get the value of the route's `{name...}` as the path of an entry beneath a folder, decoded;
 * `*ret_slash` tells whether the target's path ends with a slash, which the value does not. Open it
 * with RESOLVE_BENEATH (openat2(2)), since symbolic links may lead out of the folder.
 * Return: 0; -ENOENT (404) if a name in it is not as eddy_path_is_public() wants it, or contains a
 * slash (%2F); -EDOM if the route has no parameter. */
EDDY_API int eddy_req_path_beneath(const struct eddy_req *req, struct eddy_str *ret_path,
				   bool *ret_slash);

/* Whether each name in a path beneath a folder is that of an entry which may be seen: UTF-8 of 1 to
 * 255 bytes, without control characters, and no dot at its begin. The empty path, the folder
 * itself, is. */
EDDY_API bool eddy_path_is_public(struct eddy_str path);

/* Get all parameters of the query, at most 4096. `+` is a space; an invalid escape stays as it is.
 * Return: 0; -EMSGSIZE (400) if there are more; -ENOMEM. */
EDDY_API int eddy_req_query_pairs(struct eddy_req *req, struct eddy_pairs *ret_pairs);

/* Get the query's first value of this name. Return: 0; -ENOENT; otherwise as
 * eddy_req_query_pairs(). */
EDDY_API int eddy_req_query_get(struct eddy_req *req, const char *name, struct eddy_str *ret_value);

/* Read the query into a struct (eddy/member.h). Return: as eddy_req_path_into() and
 * eddy_req_query_pairs(). */
#define eddy_req_query_into(req, members, ret_target)                                              \
	EDDYI_INTO(eddyi_req_query_read, req, members, ret_target)
EDDY_CHECKED EDDY_API int eddyi_req_query_read(struct eddy_req *req,
					       const struct eddy_member *members, size_t count,
					       void *ret_target);

/* Get the request's host, with its port if it has one, from the target or the Host field; with
 * .forwarded_host, the host that the client sent to a trusted proxy (eddy/peer.h). */
EDDY_API struct eddy_str eddy_req_host(const struct eddy_req *req);

/* Get the first field of this name, trimmed; .ptr is NULL if there is none. */
EDDY_API struct eddy_str eddy_req_header(const struct eddy_req *req, const char *name);

/* Get all fields of this name as one value, joined by commas (RFC 9110 section 5.3), in request
 * memory.
 * Return: .ptr NULL if there is none, or on allocation failure. */
EDDY_API struct eddy_str eddy_req_header_joined(struct eddy_req *req, const char *name);

/* Get the credentials of the Basic scheme (RFC 7617), NAME:PASSWORD, decoded, in request memory.
 * Compare secrets in constant time.
 * Return: 0; -ENOENT if there is no field authorization; -EINVAL if it is malformed or of another
 * scheme; -ENOMEM. */
EDDY_API int eddy_req_basic(struct eddy_req *req, struct eddy_str *ret_credentials);

/* Count the fields, or get one of them in the order of arrival (`at` below the count). */
EDDY_API size_t eddy_req_header_count(const struct eddy_req *req);
EDDY_API void eddy_req_header_at(const struct eddy_req *req, size_t at, struct eddy_str *ret_name,
				 struct eddy_str *ret_value);

/* Get the announced length of the body, 0 for none; EDDY_LENGTH_UNKNOWN if it is chunked, or
 * decoded by a filter (eddy/decompression.h). */
#define EDDY_LENGTH_UNKNOWN UINT64_MAX
EDDY_API uint64_t eddy_req_length(const struct eddy_req *req);

/* Read some of the body. Suspends.
 * Return: bytes; 0 at the end; -EBADMSG if it is malformed; -ECONNRESET if the client left;
 * -ECANCELED if it stalled; -EFBIG or -EMSGSIZE (413) beyond the limit of eddy/body_limit.h or
 * eddy/decompression.h; -ENOMEM. After an error all further calls return it again. */
EDDY_API ssize_t eddy_req_read(struct eddy_req *req, void *buf, size_t len);

/* Read the rest of the body into memory; a second call returns the same. Suspends.
 * Return: 0; -EMSGSIZE (413) beyond .body_max of the route or the app; -EBUSY (503) beyond
 * .body_memory_max; -ENOMEM; and what eddy_req_read() returns. */
EDDY_API int eddy_req_body(struct eddy_req *req, struct eddy_str *ret_body);

/* Read an application/x-www-form-urlencoded body, by the rules of eddy_req_query_pairs(). Suspends.
 * Return: 0; -EMEDIUMTYPE (415) if the body is of another type; -EMSGSIZE (413) if it has too many
 * fields; and what eddy_req_body() returns. */
EDDY_API int eddy_req_form_pairs(struct eddy_req *req, struct eddy_pairs *ret_pairs);

/* Read a urlencoded form into a struct (eddy/member.h). Suspends.
 * Return: as eddy_req_path_into() and eddy_req_form_pairs(). */
#define eddy_req_form_into(req, members, ret_target)                                               \
	EDDYI_INTO(eddyi_req_form_read, req, members, ret_target)
EDDY_CHECKED EDDY_API int eddyi_req_form_read(struct eddy_req *req,
					      const struct eddy_member *members, size_t count,
					      void *ret_target);

/* Read the body as JSON, at most 128 levels deep (eddy/json.h). `*ret_json` is borrowed from the
 * request: do not json_decref() it. Over 64 KiB or 1,024 values it is parsed on the offload pool
 * (worker threads for blocking calls). Suspends.
 * Return: 0; -EMEDIUMTYPE (415) if its type is neither application/json nor ends in +json; -EBADMSG
 * (400, which says where, and what was expected) if it is not JSON; -EMSGSIZE (413) beyond
 * .json_values_max of the app; and what eddy_req_body() returns. */
EDDY_API int eddy_req_json(struct eddy_req *req, json_t **ret_json);

/* Read a JSON object into a struct (eddy/json_text.h), without a tree. Suspends for the body; reading
 * blocks the loop, about 3 ms a MiB. Strings and arrays are request memory. A response of 400 or 422
 * lists all faults in its member "errors", with a JSON pointer each.
 * Return: as eddy_req_path_into() and eddy_req_json(); -EINVAL (422) if an entry of `members` is
 * .strict and the object has another member. */
#define eddy_req_json_into(req, members, ret_target)                                               \
	eddyi_req_json_read((req), (members), sizeof(members) / sizeof(*(members)),                \
			    sizeof(*(ret_target)), (ret_target), NULL)

/* Read a JSON array of objects: `*ret_array` gets the first of `*ret_count` structs. Otherwise like
 * eddy_req_json_into(). */
#define eddy_req_json_array_into(req, members, ret_array, ret_count)                               \
	eddyi_req_json_read((req), (members), sizeof(members) / sizeof(*(members)),                \
			    sizeof(**(ret_array)), (ret_array), (ret_count))
EDDY_CHECKED EDDY_API int eddyi_req_json_read(struct eddy_req *req,
					      const struct eddy_member *members,
					      size_t member_count, size_t size, void *ret_target,
					      size_t *ret_count);

/* Get the app of the request. */
EDDY_API struct eddy_app *eddy_req_app(const struct eddy_req *req);

/* Get the pointer of eddy_app_set_context(). */
EDDY_API void *eddy_req_context(const struct eddy_req *req);

/* Get the route's .data (eddy/route.h); NULL if no route answers. */
EDDY_API void *eddy_req_route_data(const struct eddy_req *req);

/* Get the app's address that the client connected to, as configured. */
EDDY_API struct eddy_str eddy_req_bound(const struct eddy_req *req);

/* Tell whether calls return -ECANCELED because the client has left (see eddy/route.h). */
EDDY_API bool eddy_req_client_left(const struct eddy_req *req);

/* Get the event that is set when graceful shutdown begins. A handler that runs until its client
 * leaves, such as an event stream, must select on it (eddy/select.h) and return; else shutdown
 * waits for the handler until .drain_timeout_ns has passed. */
EDDY_API struct eddy_event *eddy_req_stopping(const struct eddy_req *req);

/* Allocate request memory, freed once the response is sent. Return: NULL on allocation failure. */
EDDY_API void *eddy_req_alloc(struct eddy_req *req, size_t size);

/* Copy a string into request memory, with a NUL after it, for calls that take a C string. A NUL
 * inside the string is copied; to such calls the string ends there.
 * Return: NULL if `str.ptr` is NULL, or on allocation failure. */
EDDY_API char *eddy_req_strdup(struct eddy_req *req, struct eddy_str str);

/* Percent-encode a string as one segment of a path (RFC 3986 section 3.3), in request memory.
 * Return: .ptr NULL on allocation failure. */
EDDY_API struct eddy_str eddy_req_escape(struct eddy_req *req, struct eddy_str segment);

EDDY_END_DECLS

#endif
