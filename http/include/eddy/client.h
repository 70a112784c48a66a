/* eddy/client.h: an HTTP client with a connection pool, for tasks.
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
 * Any number of tasks of one loop may use a client at once; a client and its responses belong to
 * that loop. Handlers use eddy_req_client(). Connections are reused. TLS sessions of the last 8
 * origins are kept for resumption (40 KiB each), and resumed once. Responses are parsed as strictly
 * as the server parses requests. Proxy variables of the environment are ignored, bodies are not
 * decoded, cookies are not kept.
 *
 * Calls that fail return an error of eddy_dial(), or:
 *   -EINVAL           the URL, the method, a field or .ca_file is malformed, or the body's length
 *                     differs from the announced one
 *   -EPROTONOSUPPORT  the scheme is not http or https, or eddy is built without TLS
 *   -EPERM            not allowed: http with .require_https; the host name "unix", which
 *                     eddy_dial() takes for a unix socket; some redirects, see below
 *   -ELOOP            more redirects than .redirects_max
 *   -EBADMSG          the response is not HTTP/1.1, or not TLS; or a redirect's URL is malformed
 *   -ENOKEY           no trusted authority has signed the server's certificate
 *   -EKEYREJECTED     the certificate is for another host or purpose, out of date, or weak: signed
 *                     with MD5 or SHA-1, or an RSA key of less than 2048 bits, here or in its chain
 *   -EMSGSIZE         a head or a body exceeds its limit
 *   -ECONNRESET       the server closed the connection too early; -EPIPE likewise
 *   -ETIMEDOUT        .timeout_ns, .connect_timeout_ns or .stall_timeout_ns has passed
 *   -ECANCELED, -ENOMEM
 * eddy_client_error() says more.
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

/* Check a redirect before it is followed; `to` is the absolute URL.
 * Return: 0 to follow it; -errno, which the call then returns. */
typedef int eddy_client_redirect_fn(void *data, struct eddy_str from, struct eddy_str to);

/* How a client works. A zero field takes its default. Strings are copied. */
struct eddy_client_options {
	/* PEM file of certificates to trust besides the system's; default: none. */
	const char *ca_file;
	bool ca_file_only;  /* trust only those; default: the system's as well */
	bool require_https; /* reject http, even by a redirect; default: http is allowed */
	/* Connect to this address of eddy_dial(), such as "unix:/run/app.sock". A redirect to
	 * another origin is then -EPERM. Default: the URL's host. */
	const char *connect;
	const char *user_agent; /* default "eddy"; a control byte in it makes requests fail */

	/* Redirects followed; beyond: -ELOOP. Default 0: a redirect is returned as the response. */
	unsigned redirects_max;
	eddy_client_redirect_fn *redirect; /* checks each; default: all are allowed */
	void *redirect_data;

	uint64_t timeout_ns;          /* of a call and its body; default 60 s; EDDY_NEVER: none */
	uint64_t connect_timeout_ns;  /* default 10 s */
	uint64_t stall_timeout_ns;    /* without a byte in the awaited direction; default 30 s */
	uint64_t idle_timeout_ns;     /* after which an idle connection is closed; default 30 s */
	unsigned idle_max;            /* idle connections kept; default 16 */
	unsigned idle_per_origin_max; /* of those to one origin; default 4 */

	size_t head_max;           /* bytes of a response's head; default 64 KiB */
	unsigned header_count_max; /* header fields of a response; default 100 */
	uint64_t body_max;         /* bytes of a body read into memory; default 8 MiB */
};

/* Produce the next bytes of a request's body. May suspend.
 * Return: bytes, at most `len`; 0 at the end; -errno, with which the call fails. */
typedef ssize_t eddy_client_pull_fn(void *data, void *buf, size_t len);

/* A range of an open regular file. */
struct eddy_client_file {
	int fd; /* borrowed */
	uint64_t offset;
	uint64_t len;
};

/* How often a request or a transfer is tried again. A zero field takes its default. */
struct eddy_client_retry {
	bool none; /* fail at once; default: try again */
	/* Retries in a row, which 64 KiB of a transfer end; default 10. */
	unsigned max;
	/* Retries begin within this time after the first failure in a row; a longer retry-after
	 * field ends them. Default 5 min. */
	uint64_t time_max_ns;
	/* Delay before the first retry, which doubles with each and is shortened at random by up to
	 * half; default 250 ms, at most 30 s. A longer retry-after field is followed. */
	uint64_t delay_ns;
};

/* A request. A zero field takes its default. Borrowed until the call returns. */
struct eddy_client_request {
	const char *method; /* a token; default "GET" */
	/* See eddy/header.h; default: none. Fields that the client sets itself fail with -EINVAL:
	 * host, content-length, transfer-encoding, connection, keep-alive, proxy-connection,
	 * expect, upgrade, te, trailer. */
	const struct eddy_header *headers;
	/* The body: this, or .file, or .pull; default: none. */
	struct eddy_str body;
	const struct eddy_client_file *file;
	/* Read once: after its first call, the request is not sent again on a new connection, and
	 * a redirect that repeats the body fails with -EPERM. */
	eddy_client_pull_fn *pull;
	void *pull_data;
	uint64_t pull_len; /* bytes that `pull` gives; default: unknown, sent chunked */

	bool expect_continue; /* wait for a 100 before the body, up to 1 s; default: no */
	uint64_t timeout_ns;  /* of each try; default: the client's */
	uint64_t body_max;    /* default: the client's */

	/* Send the request again if the server can't be reached, breaks the connection or times
	 * out, and on 408, 429, 500, 502, 503 and 504. The server may then execute it more than
	 * once. The last result is returned; eddy_client_error() then describes a status of 400 or
	 * more, too. Not with .pull (-EINVAL). Default: do not. */
	const struct eddy_client_retry *retry;
};

/* Create a client. `options` may be NULL. Return: NULL on allocation failure. */
EDDY_API struct eddy_client *eddy_client_new(const struct eddy_client_options *options);

/* Close a client's connections and free it, in a task of its loop. Free all of its responses first.
 * NULL is accepted. */
EDDY_API void eddy_client_free(struct eddy_client *client);

/* Send a request, and read the head of the response. `request` NULL is a plain GET. Suspends.
 *
 * If a kept connection turns out to be closed, the request is sent once more on a new one, provided
 * that the method is idempotent (RFC 9110 section 9.2.2) and the body can be sent again.
 *
 * Redirects follow RFC 9110 section 15.4: a 303, and a 301 or 302 of a POST, is followed by a GET.
 * Another origin gets no authorization and no cookie. A redirect from https to http, or to another
 * scheme, fails with -EPERM; one to a URL with a user name with -EBADMSG.
 * Return: 0, and a response of any status, which the caller frees; -errno, as above. */
EDDY_API int eddy_client_send(struct eddy_client *client, const char *url,
			      const struct eddy_client_request *request,
			      struct eddy_response **ret_response);

/* Send a GET without options. Suspends. Otherwise as eddy_client_send(). */
EDDY_API int eddy_client_get(struct eddy_client *client, const char *url,
			     struct eddy_response **ret_response);

/* Describe the last failed call of a client or of one of its responses, for people. Read it before
 * the task suspends. */
EDDY_API const char *eddy_client_error(const struct eddy_client *client);

/* ---- responses: valid until freed, with all that is read from them ---- */

/* Free a response, and close its connection if the body is not at its end. NULL is accepted. */
EDDY_API void eddy_response_free(struct eddy_response *response);

/* Get the status, such as 200; never an interim one (1xx). */
EDDY_API int eddy_response_status(const struct eddy_response *response);

/* Get the URL that answered, after all redirects, without a fragment. */
EDDY_API struct eddy_str eddy_response_url(const struct eddy_response *response);

/* Get the first field of this name, trimmed; .ptr is NULL if there is none. */
EDDY_API struct eddy_str eddy_response_header(const struct eddy_response *response,
					      const char *name);

/* Count the fields, or get one of them in the order of arrival (`at` below the count). */
EDDY_API size_t eddy_response_header_count(const struct eddy_response *response);
EDDY_API void eddy_response_header_at(const struct eddy_response *response, size_t at,
				      struct eddy_str *ret_name, struct eddy_str *ret_value);

/* Get the delay in the retry-after field (RFC 9110 section 10.2.3), seconds or a date; a past date
 * is 0. Return: 0; -ENOENT if there is none, or it is malformed. */
EDDY_API int eddy_response_retry_after(const struct eddy_response *response, uint64_t *ret_ns);

/* Get the announced length of the body, even for HEAD; UINT64_MAX if none was announced. */
EDDY_API uint64_t eddy_response_length(const struct eddy_response *response);

/* Read some of the body. Suspends. Return: bytes; 0 at the end; -errno as above. */
EDDY_API ssize_t eddy_response_read(struct eddy_response *response, void *buf, size_t len);

/* Read the rest of the body into memory, with a NUL after it that does not count. A later call
 * returns the same. Suspends. Return: 0; -EMSGSIZE beyond .body_max; -errno as above. */
EDDY_API int eddy_response_body(struct eddy_response *response, struct eddy_str *ret_body);

/* ---- the clients of an app, for its handlers ---- */

/* Set the options of the clients of handlers. Copied. `options` may be NULL. */
EDDY_API void eddy_app_with_client(struct eddy_app *app, const struct eddy_client_options *options);

/* Get the client of the loop that runs this request, made at the first call. It keeps its
 * connections until the app ends. Free its responses before the handler returns.
 * Return: NULL on allocation failure; the calls above accept it and return -ENOMEM. */
EDDY_API struct eddy_client *eddy_req_client(const struct eddy_req *req);

EDDY_END_DECLS

#endif
