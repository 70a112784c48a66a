/* eddy/client.h: requests to other servers, from a task.
 *
 *     struct eddy_client *client = eddy_client_new(NULL);
 *     struct eddy_response *response = NULL;
 *     struct eddy_str body;
 *
 *     r = eddy_client_get(client, "http://example.com/", &response);
 *     if (r == 0)
 *             r = eddy_response_body(response, &body);
 *     if (r < 0)
 *             eddy_error("app", "can't ask: %s", eddy_client_error(client));
 *     eddy_response_free(response);
 *     eddy_client_free(client);
 *
 * Any number of tasks may use a client at once. It and its responses belong to one loop's thread: handlers have
 * eddy_req_client(). Connections are kept and used again; of those that were closed, sessions of TLS: the last 8
 * origins' (40 KiB each), each for one connection more. What a server sends is read as strictly as what clients
 * send to eddy's own; a proxy in the environment is ignored, bodies are not decoded, cookies are not kept.
 *
 * Calls that fail return, of those of eddy_dial():
 *   -EINVAL           the URL, the method or a field is malformed, or .ca_file is, or the body has not as
 *                     many bytes as was said
 *   -EPROTONOSUPPORT  the scheme is not http or https, or eddy is built without TLS
 *   -EPERM            not allowed: http with .require_https, a host called unix, whose address would be a
 *                     socket's, or a redirect that may not be followed
 *   -ELOOP            more redirects than .redirects_max
 *   -EBADMSG          the server has sent what is not HTTP/1.1, or no TLS
 *   -ENOKEY           its certificate was signed by nobody who is trusted
 *   -EKEYREJECTED     its certificate is not good: it is for another host or purpose, out of date, or too weak:
 *                     signed with MD5 or SHA-1, or an RSA key of less than 2048 bits, as is one above it
 *   -EMSGSIZE         a head or a body is larger than its limit
 *   -ECONNRESET       the server has ended the connection in the middle; -EPIPE likewise
 *   -ETIMEDOUT        the time for the whole is up, or nothing has moved for too long
 *   -ECANCELED, -ENOMEM
 * and eddy_client_error() says more.
 */
#ifndef EDDY_CLIENT_H
#define EDDY_CLIENT_H

#include <eddy/header.h>
#include <eddy/str.h>

EDDY_BEGIN_DECLS

struct eddy_app;
struct eddy_client;
struct eddy_req;
struct eddy_response;

/* Look at a redirect before it is followed. `to` is the absolute URL.
 * Return: 0 to follow it; -errno, which the call then returns. */
typedef int eddy_client_redirect_fn(void *data, struct eddy_str from, struct eddy_str to);

/* Every field: 0 means its default. Strings are copied. */
struct eddy_client_options {
	const char *ca_file; /* certificates to trust beside the system's, in PEM; default none */
	bool ca_file_only;   /* trust no others; default: the system's as well */
	bool require_https;  /* http is -EPERM, also by a redirect; default: it is allowed */
	const char *connect; /* connect there, whatever host the URL has: "unix:/run/app.sock", as
				 eddy_dial() takes it; no redirect to another origin is followed then */
	const char *user_agent; /* default "eddy"; with a control byte every request is -EINVAL */

	unsigned redirects_max;            /* that are followed; default 0: they are responses */
	eddy_client_redirect_fn *redirect; /* asked about each; default: they are fine */
	void *redirect_data;

	uint64_t timeout_ns;         /* from the call to the last byte of its body; default 60 s;
					EDDY_NEVER: none */
	uint64_t connect_timeout_ns; /* default 10 s */
	uint64_t stall_timeout_ns; /* without a byte in the direction that is awaited; default 30 s */
	uint64_t idle_timeout_ns;     /* for a connection that is kept; default 30 s */
	unsigned idle_max;            /* connections that are kept; default 16 */
	unsigned idle_per_origin_max; /* of those for one origin; default 4 */

	size_t head_max;           /* bytes of a response's head; default 64 KiB */
	unsigned header_count_max; /* its fields; default 100 */
	uint64_t body_max;         /* bytes of a body read into memory; default 8 MiB */
};

/* Give the next bytes of a request's body. May suspend.
 * Return: bytes, at most `len`; 0 at the end; -errno, with which the call fails. */
typedef ssize_t eddy_client_pull_fn(void *data, void *buf, size_t len);

/* A part of an open regular file. */
struct eddy_client_file {
	int fd; /* borrowed */
	uint64_t offset;
	uint64_t len;
};

/* What is asked. Everything is borrowed until the call returns. */
struct eddy_client_request {
	const char *method;                /* a token; default "GET" */
	const struct eddy_header *headers; /* see eddy/header.h; default none. The client writes host,
					      content-length, transfer-encoding, connection, expect and
					      the like itself, see eddy_client_may_set(): -EINVAL */
	/* The body is one of these, or none: */
	struct eddy_str body;
	const struct eddy_client_file *file;
	eddy_client_pull_fn *pull; /* it can't be sent again: by a 307, or on another connection */
	void *pull_data;
	uint64_t pull_len; /* bytes that `pull` gives; default: it is not known, the body is chunked */

	bool expect_continue; /* wait for a 100 before the body, up to 1 s; default: send it at once */
	uint64_t timeout_ns; /* default: the client's, as is: */
	uint64_t body_max;
};

/* Whether a client takes this URL, without asking for it.
 * Return: 0; -EPROTONOSUPPORT when its scheme is not http or https, or eddy is built without TLS; -EINVAL. */
EDDY_API int eddy_client_check_url(const char *url);

/* Whether a request may have a field of this name: it is a token, and none of those that the client writes itself. */
EDDY_API bool eddy_client_may_set(const char *name);

/* Make a client; NULL is all defaults. Return: NULL when memory is out. */
EDDY_API struct eddy_client *eddy_client_new(const struct eddy_client_options *options);

/* Close its connections and free a client that no response is left of; in a task of its loop. NULL is fine. */
EDDY_API void eddy_client_free(struct eddy_client *client);

/* Ask for a URL: send the request, and read the head of the response. `request` NULL is a plain GET. A
 * connection that was kept and turns out to be closed is replaced, once, when the method is idempotent (RFC
 * 9110 section 9.2.2) and the body can be sent again.
 *
 * A redirect is followed as RFC 9110 section 15.4 has it: by GET behind a 303, and where a POST is answered
 * 301 or 302; authorization and cookie are left out for another origin. None leads from https to http, or
 * carries a user's name. Suspends.
 * Return: 0, and a response of any status, which the caller frees; -errno, as above. */
EDDY_API int eddy_client_send(struct eddy_client *client, const char *url,
			      const struct eddy_client_request *request,
			      struct eddy_response **ret_response);

/* The same for the plain cases. `type` is the content-type of the body. Suspend. */
EDDY_API int eddy_client_get(struct eddy_client *client, const char *url,
			     struct eddy_response **ret_response);
EDDY_API int eddy_client_head(struct eddy_client *client, const char *url,
			      struct eddy_response **ret_response);
EDDY_API int eddy_client_post(struct eddy_client *client, const char *url, const char *type,
			      struct eddy_str body, struct eddy_response **ret_response);
EDDY_API int eddy_client_put(struct eddy_client *client, const char *url, const char *type,
			     struct eddy_str body, struct eddy_response **ret_response);

/* What the call that failed last, of the client or of one of its responses, has failed of: a sentence, for
 * people. Read it before the task suspends. */
EDDY_API const char *eddy_client_error(const struct eddy_client *client);

/* ---- responses: valid, with all that is reached from them, until they are freed ---- */

/* Free a response. A body that was not read to its end costs the connection. NULL is fine. */
EDDY_API void eddy_response_free(struct eddy_response *response);

/* Its status, such as 200; never an interim one. */
EDDY_API int eddy_response_status(const struct eddy_response *response);

/* The URL that has answered, behind all redirects, without a fragment. */
EDDY_API struct eddy_str eddy_response_url(const struct eddy_response *response);

/* The first field of this name, blanks trimmed; .ptr is NULL when there is none. */
EDDY_API struct eddy_str eddy_response_header(const struct eddy_response *response,
					      const char *name);

/* The number of fields, and one of them in the order of arrival (`at` below the number). */
EDDY_API size_t eddy_response_header_count(const struct eddy_response *response);
EDDY_API void eddy_response_header_at(const struct eddy_response *response, size_t at,
				      struct eddy_str *ret_name, struct eddy_str *ret_value);

/* How long the server asks to wait before the next request, which it says in seconds or by a date (RFC 9110
 * section 10.2.3); a date that is over is 0. Return: 0, -ENOENT when it says nothing that is understood. */
EDDY_API int eddy_response_retry_after(const struct eddy_response *response, uint64_t *ret_ns);

/* The length that was announced, also by a response to HEAD; UINT64_MAX when none was. */
EDDY_API uint64_t eddy_response_length(const struct eddy_response *response);

/* Read some of the body. Suspends. Return: bytes, 0 at its end, -errno as above. */
EDDY_API ssize_t eddy_response_read(struct eddy_response *response, void *buf, size_t len);

/* Read the rest of the body into memory, with a NUL behind it that does not count; later calls return the
 * same. Suspends. Return: 0, -EMSGSIZE over .body_max, -errno as above. */
EDDY_API int eddy_response_body(struct eddy_response *response, struct eddy_str *ret_body);

/* ---- the clients of an app, for its handlers ---- */

/* Describe them; the options are copied, strings too. NULL is all defaults, as it is without this call. */
EDDY_API void eddy_app_with_client(struct eddy_app *app, const struct eddy_client_options *options);

/* The one of the loop that handles this request, made when it is asked for the first time: it keeps connections
 * from one request to the next, until the app ends. Its responses are freed before the handler returns.
 * Return: NULL when memory is out, with which the calls above are -ENOMEM. */
EDDY_API struct eddy_client *eddy_req_client(const struct eddy_req *req);

EDDY_END_DECLS

#endif
