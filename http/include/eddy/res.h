/* eddy/res.h: a response, as a handler makes it.
 *
 * It starts as 200 without a body. Each of the calls that set a body replaces the one before. All of
 * it is sent after the handler has returned, but for a stream, which is sent as it is written.
 */
#ifndef EDDY_RES_H
#define EDDY_RES_H

#include <eddy/app.h>
#include <jansson.h>

EDDY_BEGIN_DECLS

/* Set the status, 200 to 599; anything else becomes 500 and an ERROR record. */
EDDY_API void eddy_res_status(struct eddy_res *res, int status);

/* Whether a field of this name may be set: it is a token, and none of those that the server writes itself,
 * connection, content-length, date, server and transfer-encoding. */
EDDY_API bool eddy_res_may_set(const char *name);

/* Set a field, replacing all of that name. Both strings are copied.
 * Return: 0; -EINVAL when the name may not be set, or the value holds a control byte: it is not sent;
 * -ENOMEM, also for a value whose .ptr is NULL. */
EDDY_API int eddy_res_set(struct eddy_res *res, const char *name, struct eddy_str value);
EDDY_API int eddy_res_set_z(struct eddy_res *res, const char *name, const char *value);

/* Add a field beside those of that name. Otherwise as eddy_res_set(). */
EDDY_API int eddy_res_add(struct eddy_res *res, const char *name, struct eddy_str value);

/* Add members to a field that is a list (vary, cache-control, allow, …) without those that it has, in
 * one line, whatever their letters' case; `*` of a vary stands for all. Both strings are copied.
 * Return: as eddy_res_set(); -EINVAL also for set-cookie, which is no list. */
EDDY_API int eddy_res_merge(struct eddy_res *res, const char *name, struct eddy_str members);

/* Take out all fields of that name. */
EDDY_API void eddy_res_remove(struct eddy_res *res, const char *name);

/* A field that has been set; .ptr is NULL when there is none. */
EDDY_API struct eddy_str eddy_res_header(const struct eddy_res *res, const char *name);

/* Whether a field that is a list has this member, whatever its letters' case. */
EDDY_API bool eddy_res_has(const struct eddy_res *res, const char *name, const char *member);

/* Answer with formatted text, as text/plain unless a content-type is set. Return: 0, -ENOMEM. */
EDDY_PRINTF(2, 3) EDDY_API int eddy_res_ok(struct eddy_res *res, const char *format, ...);

/* Answer with bytes of this media type; of the content-type that is set, where `type` is NULL. They are
 * borrowed until the response has been sent: static, or from eddy_req_alloc().
 * Return: 0; -EINVAL for a type with a control byte; -ENOMEM, also for bytes whose .ptr is NULL. */
EDDY_API int eddy_res_bytes(struct eddy_res *res, const char *type, struct eddy_str bytes);

/* Answer with JSON; takes over the caller's reference, NULL counts as out of memory. May suspend: the request's own
 * body, where it was large enough to be parsed on the offload pool, is written there, too. Other values hold the loop:
 * some 10 ms a MiB. Return: 0, -ENOMEM, -ECANCELED. */
EDDY_API int eddy_res_json(struct eddy_res *res, json_t *json);

/* Answer 204, without a body (RFC 9110 section 15.3.5). Return: 0. */
EDDY_API int eddy_res_no_content(struct eddy_res *res);

/* Answer 201 for what was made and is found at `location`, a URI reference (RFC 9110 section 15.3.2).
 * Set a body beside it, or none. Return: 0, -EINVAL when it is none: blanks and bytes over 0x7e must be
 * escaped; -ENOMEM. */
EDDY_API int eddy_res_created(struct eddy_res *res, struct eddy_str location);

/* Send the client elsewhere, by 301 or 308 for good, 302 or 307 for now, or 303 to see the outcome of a
 * POST by a GET; 307 and 308 repeat the method and the body (RFC 9110 section 15.4).
 * Return: as eddy_res_created(); -EINVAL for another status. */
EDDY_API int eddy_res_redirect(struct eddy_res *res, int status, struct eddy_str location);

/* Answer with an error as problem+json (RFC 9457); `detail` helps the caller and is copied; without one,
 * and where it is not UTF-8, a general word about the status stands there. The status is set as by
 * eddy_res_status(), and fields that describe a body are taken out. Return: 0, -ENOMEM. */
EDDY_PRINTF(3, 4)
EDDY_API int eddy_res_problem(struct eddy_res *res, int status, const char *detail, ...);

/* Answer with the regular file `name` beneath the folder `dir`: conditions and ranges are honoured,
 * it is sent as an attachment, and leaves by splice. Where the app says so it stays open for the next request
 * (eddy/open_files.h). Suspends.
 * Return: 0; -ENOENT when there is no such regular file, or it lies outside of the folder; -ENOTDIR,
 * -EACCES, -EMFILE, -ENOMEM. */
EDDY_API int eddy_res_file_at(struct eddy_res *res, int dir, struct eddy_str name);

/* Answer with an open regular file that is called `name` to the client; takes over `fd`, also when
 * it fails. May suspend where it is an error after all, by what eddy_app_map_err() was given.
 * Return: 0; -ENOENT when it is no regular file; -EINVAL for an option with a control byte; -ENOMEM. */
EDDY_API int eddy_res_file(struct eddy_res *res, struct eddy_str name, int fd);

/* Every field: 0 means its default. The strings are copied. */
struct eddy_file_options {
	const char *type;          /* its content-type; default: by the name */
	const char *coding;        /* the content-encoding of its bytes; default: no such field */
	const char *cache_control; /* default: no such field */
	bool no_disposition;       /* for a browser to show; default: to save, as an attachment */
};

/* The same with options, which count only where the file is sent, and not an error instead. May suspend. */
EDDY_API int eddy_res_file_with(struct eddy_res *res, struct eddy_str name, int fd,
				const struct eddy_file_options *options);

/* Send some of a stream; the first call sends the head. Suspends until the peer has room. A handler
 * returns what this returns: the answer to a HEAD is whole by then.
 * Return: 0; -EPIPE and -ECONNRESET when the peer has left, -ECANCELED when it stalled; -EPIPE also
 * once the head has been sent of what has no body: HEAD, 204 and 304; -ENOMEM. After an error each further
 * call is the same. */
EDDY_API int eddy_res_write(struct eddy_res *res, const void *buf, size_t len);

EDDY_END_DECLS

#endif
