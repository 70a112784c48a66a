/* eddy/res.h: a response, as its handler makes it.
 *
 * A response starts as 200 without a body. A call that sets a body replaces the one before. It is
 * sent when the handler has returned, except for a stream, which is sent as it is written.
 */
#ifndef EDDY_RES_H
#define EDDY_RES_H

#include <eddy/app.h>
#include <eddy/header.h>
#include <eddy/json_text.h>
#include <jansson.h>

EDDY_BEGIN_DECLS

/* Set the status, 200 to 599; any other becomes 500, with an ERROR log record. Ignored once the
 * head has been sent. */
EDDY_API void eddy_res_status(struct eddy_res *res, int status);

/* Set a field, replacing all of that name. Copied.
 * Return: 0; -EINVAL for a field that the server sets (connection, content-length, date, server,
 * transfer-encoding), a malformed name, or a control byte in the value; -ENOMEM, also for a value
 * whose .ptr is NULL, as failed allocations return. */
EDDY_API int eddy_res_set(struct eddy_res *res, const char *name, struct eddy_str value);
EDDY_API int eddy_res_set_z(struct eddy_res *res, const char *name, const char *value);

/* Add a field besides those of that name. Otherwise as eddy_res_set(). */
EDDY_API int eddy_res_add(struct eddy_res *res, const char *name, struct eddy_str value);

/* Add members to a list field (vary, cache-control, allow, …), in one line, without duplicates
 * (case-insensitive); a `*` in vary covers all. Copied.
 * Return: as eddy_res_set(); -EINVAL also for set-cookie, which is not a list. */
EDDY_API int eddy_res_merge(struct eddy_res *res, const char *name, struct eddy_str members);

/* Remove all fields of that name. */
EDDY_API void eddy_res_remove(struct eddy_res *res, const char *name);

/* Get a field that was set; .ptr is NULL if there is none. */
EDDY_API struct eddy_str eddy_res_header(const struct eddy_res *res, const char *name);

/* Tell whether a list field has this member (case-insensitive). */
EDDY_API bool eddy_res_has(const struct eddy_res *res, const char *name, const char *member);

/* Answer with formatted text, as text/plain unless a content-type is set. Return: 0, -ENOMEM. */
EDDY_PRINTF(2, 3) EDDY_API int eddy_res_ok(struct eddy_res *res, const char *format, ...);

/* Answer with bytes of a media type; `type` NULL: the content-type that is set. The bytes are
 * borrowed until the response has been sent: static, or from eddy_req_alloc(). Bytes on the stack
 * of the calling task are copied.
 * Return: 0; -EINVAL for a type with a control byte; -ENOMEM, also for bytes whose .ptr is NULL. */
EDDY_API int eddy_res_bytes(struct eddy_res *res, const char *type, struct eddy_str bytes);

/* Answer with JSON. Takes ownership of the reference: json_incref() a borrowed value first, except
 * the result of eddy_req_json(), where it is optional. Serializing blocks the loop, about 10 ms per
 * MiB, except for a result of eddy_req_json() that was parsed on the offload pool. May suspend.
 * Return: 0; -ENOMEM, also for NULL; -ECANCELED. */
EDDY_API int eddy_res_json(struct eddy_res *res, json_t *json);

/* Answer with a struct as a JSON object, by its table (eddy/json_text.h); or with an array of
 * `count` structs. Serializing blocks the loop, about 3 ms a MiB.
 * Return: 0; -ENOMEM; -EDOM as eddy_json_write(). */
#define eddy_res_json_from(res, members, source)                                                   \
	eddyi_res_json_write((res), (members), sizeof(members) / sizeof(*(members)),               \
			     sizeof(*(source)), (source), EDDYI_JSON_OBJECT)
#define eddy_res_json_array(res, members, array, count)                                            \
	eddyi_res_json_write((res), (members), sizeof(members) / sizeof(*(members)),               \
			     sizeof(*(array)), (array), (count))
EDDY_API int eddyi_res_json_write(struct eddy_res *res, const struct eddy_member *members,
				  size_t member_count, size_t size, const void *source,
				  size_t count);

/* Answer 204, without a body (RFC 9110 section 15.3.5). Return: 0. */
EDDY_API int eddy_res_no_content(struct eddy_res *res);

/* Answer 201 for a resource created at `location`, a URI reference (RFC 9110 section 15.3.2). A
 * body is optional.
 * Return: 0; -EINVAL if it is not a URI reference (blanks and bytes over 0x7e must be escaped);
 * -ENOMEM. */
EDDY_API int eddy_res_created(struct eddy_res *res, struct eddy_str location);

/* Redirect the client by 301 or 308 (permanent), 302 or 307 (temporary), or 303, a GET after a
 * POST; 307 and 308 repeat the method and the body (RFC 9110 section 15.4).
 * Return: as eddy_res_created(); -EINVAL for another status. */
EDDY_API int eddy_res_redirect(struct eddy_res *res, int status, struct eddy_str location);

/* Answer with an error as problem+json (RFC 9457). `detail` explains it to the client; if it is
 * NULL or not UTF-8, a general text is sent. Copied. The status is set as by eddy_res_status(), and
 * fields that describe a body are removed. Once the head has been sent, a status of 400 and more
 * cuts the response short instead, as if the handler returned it (eddy/route.h).
 * Return: 0; -ENOMEM; another -errno if the response is cut short. */
EDDY_PRINTF(3, 4)
EDDY_API int eddy_res_problem(struct eddy_res *res, int status, const char *detail, ...);

/* Answer with the regular file at the path `name` beneath the folder open as `dir`, as an
 * attachment of the name at its end, observing conditions and ranges. It may stay open for later
 * requests (eddy/open_files.h). If the request has Want-Repr-Digest (RFC 9530), the response has
 * the file's SHA-256 or SHA-512 as repr-digest: files up to 16 MiB are hashed, of larger ones it is
 * sent if an upload has left it (eddy/upload.h), and with -Dtls=disabled never. Suspends.
 * Return: 0; -ENOENT if there is no such regular file, or it is outside the folder; -ENOTDIR,
 * -EACCES, -EMFILE, -ENOMEM. */
EDDY_API int eddy_res_file_at(struct eddy_res *res, int dir, struct eddy_str name);

/* How a file is sent. A zero field takes its default. Strings are copied. */
struct eddy_file_options {
	const char *type;          /* content-type; default: by the name */
	const char *coding;        /* content-encoding of its bytes; default: none */
	const char *cache_control; /* default: no such field */
	bool no_disposition;       /* for browsers to show; default: an attachment, to save */
};

/* Answer with an open regular file called `name`. Takes ownership of `fd`, also on failure.
 * `options` may be NULL. A failed condition or range of the request gives 412 or 416, on which they
 * have no effect. May suspend: the function of eddy_app_map_err() renders these two, and a digest
 * that is wanted is computed, as by eddy_res_file_at().
 * Return: 0; -ENOENT if it is not a regular file; -EINVAL for an option with a control byte;
 * -ENOMEM. */
EDDY_API int eddy_res_file(struct eddy_res *res, struct eddy_str name, int fd,
			   const struct eddy_file_options *options);

/* Send an interim response (RFC 9110 section 15.2), such as 103 Early Hints, before the response.
 * `fields` are its own, and a name of NULL ends them; NULL: none. Does nothing if the client speaks
 * HTTP/1.0, or once the head has been sent. Suspends.
 * Return: 0; -EINVAL for a status that is not 102 to 199, a field that the server sets, a malformed
 * name or a control byte in a value; otherwise as eddy_res_write(). */
EDDY_API int eddy_res_interim(struct eddy_res *res, int status, const struct eddy_header *fields);

/* Append all `len` bytes to a streamed response; the first call also sends the head. A slow client
 * applies backpressure: the call returns when there is room. Return its error from the handler.
 * Suspends.
 * Return: 0; -EPIPE or -ECONNRESET if the client left; -ECANCELED if it stalled; -ENOMEM; -EPIPE
 * after the head of a response without a body (HEAD, 204, 304), which is then complete; -EOVERFLOW
 * beyond the length of eddy_res_announce(), and none of these bytes is sent. After an error all
 * further calls return it again. If the head could not be sent, the error becomes the response,
 * even if the handler returns 0 or a status below 400, unless it sets another body. */
EDDY_API int eddy_res_write(struct eddy_res *res, const void *buf, size_t len);

/* Append `len` bytes of the regular file `fd` from `offset` on, without copying them through the
 * program where the connection allows it, as eddy_res_file() does. Otherwise like eddy_res_write().
 * Suspends; `fd` stays open meanwhile, and is not closed.
 * Return: as eddy_res_write(); -ENODATA if the file is too short, after its bytes; -EIO. */
EDDY_API int eddy_res_write_file(struct eddy_res *res, int fd, uint64_t offset, uint64_t len);

/* Announce the length of a stream before its first byte, so that it is sent with content-length and
 * without chunks, also to HEAD. The handler must then write exactly `length` bytes: if it writes
 * less or more, an ERROR record says so and the connection is cut, or 500 is sent if the head has
 * not been sent. A content coding (eddy/compression.h) removes the length. A later call that sets a
 * body cancels the announcement.
 * Return: 0; -EINVAL after the head was sent. */
EDDY_API int eddy_res_announce(struct eddy_res *res, uint64_t length);

EDDY_END_DECLS

#endif
