/* client.h: a client, its connections, calls and responses. */
#ifndef EDDYI_CLIENT_H
#define EDDYI_CLIENT_H

#include "http1/framed.h"
#include "http1/response_head.h"
#include "text/url.h"
#include "wire/wire.h"

#include <eddy/client.h>
#include <eddy/client_observer.h>
#include <eddy/list.h>
#include <eddy/scope.h>
#include <eddy/transfer.h>

struct eddyi_call;
struct eddyi_client_trust;

#define EDDYI_CLIENT_OBSERVERS_MAX 4

/* Invariants:
 * 1. A connection is in `kept` of its client with its idle timeout armed, or belongs to a response,
 *    or to the call that will make one.
 * 2. A kept connection has nothing to read: each request and each response is complete. */
struct eddyi_client_conn {
	struct eddyi_wire wire;
	struct eddy_client *client;
	struct eddy_response *response; /* of the call that uses it; NULL while it is kept */
	struct eddy_node node;
	struct eddy_str origin; /* its bytes follow this structure */
	bool answered;          /* the server has sent bytes since the last request */
	bool spoiled;           /* must not be kept */
	bool is_theirs;         /* over TLS: the certificate is the origin's */
};

struct eddy_client {
	struct eddyi_arena arena;           /* holds the strings of: */
	struct eddy_client_options options; /* with defaults filled in */
	struct eddyi_clocks clocks;
	struct eddy_node kept; /* the oldest first */
	unsigned kept_count;
	struct eddyi_client_trust *trust; /* NULL until the first https request */
	/* Takes the place of connections in tests: sends a request, and receives the response with
	 * its body. NULL: there are connections. Return: 0, -errno. */
	int (*exchange)(struct eddyi_call *call);
	void *exchange_data;
	char error[512];
};

struct eddy_response {
	struct eddyi_arena arena;
	struct eddyi_arena head_arena; /* of the head, in a call that takes interim ones */
	struct eddy_client *client;
	struct eddyi_client_conn *conn; /* NULL once there is nothing more to read */
	struct eddy_scope *scope;       /* set during a call that can be cancelled */
	bool stalled;
	struct eddyi_url url;
	struct eddy_str url_text;
	struct eddyi_response_head head;
	struct eddyi_framed_body body;
	uint64_t deadline_ns;
	uint64_t body_max;
	char *whole; /* read by eddy_response_body() */
	size_t whole_len;
	int error; /* the first error, which all further calls return */
};

/* An observer of a hop, and the fields that it adds. */
struct eddyi_client_watch {
	const struct eddy_client_observer *observer;
	void *state;
	const struct eddy_header *fields; /* NULL: none */
};

/* A look at a call in progress, and more of its request. */
struct eddyi_client_hooks {
	/* Take an interim response, of which status and fields can be read. Must not suspend.
	 * Return: 0; -errno, with which the call fails. */
	int (*interim)(void *data, struct eddy_response *interim);
	void *data;
	const struct eddy_header *headers; /* after those of the request; NULL: none */
	bool upgrades;                     /* a 101 is the response; redirects are not followed */
	bool foreign;   /* the URL is of another origin: no credentials are sent */
	bool continues; /* fields of the request that describe the whole body are left out */
	const uint64_t *moving; /* bytes that are being sent of a file; NULL: none */
	uint64_t moved;         /* that were sent before */
};

struct eddyi_call {
	struct eddy_client *client;
	struct eddyi_client_hooks *hooks; /* NULL: none */
	uint64_t began_ns;                /* of a call with hooks */
	/* The result; url and head are those of the current hop. */
	struct eddy_response *response;
	const struct eddy_client_request *request;
	struct eddyi_client_conn *conn;
	const char *method;
	unsigned redirects;
	unsigned interims; /* 1xx responses of this hop */
	bool without_body; /* a redirect has dropped the body */
	bool foreign;      /* a redirect has led to another origin */
	bool pulled;       /* some of the body has been consumed */
	struct eddyi_client_watch watches[EDDYI_CLIENT_OBSERVERS_MAX]; /* of the current hop */
	unsigned watch_count;
};

/* ---- errors and timeouts of calls ---- */

/* As eddy_client_send(), with hooks, or NULL. */
int eddyi_client_send(struct eddy_client *client, const char *url,
		      const struct eddy_client_request *request, struct eddyi_client_hooks *hooks,
		      struct eddy_response **ret_response);

/* Record a call's error and its description. Return: `error`. */
EDDY_PRINTF(3, 4)
int eddyi_client_fail(struct eddy_client *client, int error, const char *format, ...);

/* Run a part of a call until its deadline, or until a stall. Suspends.
 * Return: its result; -ETIMEDOUT, -ECANCELED. */
ssize_t eddyi_client_run(struct eddy_response *response, ssize_t (*part)(void *arg), void *arg);

/* ---- connections and their pool ---- */

/* Take a kept connection to the origin of the response's URL. Never suspends.
 * Return: NULL if there is none. */
struct eddyi_client_conn *eddyi_client_conn_take(struct eddy_response *response,
						 struct eddy_str origin);

/* Open a connection. Suspends. Return: 0, -errno as eddy_client_send(). */
int eddyi_client_conn_open(struct eddy_response *response, struct eddy_str origin,
			   struct eddyi_client_conn **ret_conn);

/* Make a connection from a connected socket. Takes ownership of `fd`, but not on failure.
 * Return: NULL on allocation failure. */
struct eddyi_client_conn *eddyi_client_conn_new(struct eddy_client *client, int fd,
						struct eddy_str origin);

/* Keep a connection for later requests, or close it. Never suspend. */
void eddyi_client_conn_keep(struct eddyi_client_conn *conn);
void eddyi_client_conn_close(struct eddyi_client_conn *conn);

/* ---- TLS connections; only in builds with TLS ---- */

/* Do the handshake, and verify that the server is the host of the response's URL. Suspends.
 * Return: 0, -errno as eddy_client_send(). */
int eddyi_client_conn_secure(struct eddyi_client_conn *conn);

/* Keep the session of a connection to be closed for the next one to its origin. Never suspends. */
void eddyi_client_conn_remember(struct eddyi_client_conn *conn);

void eddyi_client_trust_free(struct eddyi_client_trust *trust);

/* ---- one request, with the observers' fields, and the head of its response ---- */

/* Call the observers before a hop to the response's URL, and with its status or -errno. */
void eddyi_client_observe_begin(struct eddyi_call *call);
void eddyi_client_observe_end(struct eddyi_call *call, int result);

/* Write the head of the current hop to the response's arena.
 * Return: .ptr NULL on allocation failure. */
struct eddy_str eddyi_client_make_head(const struct eddyi_call *call);

/* Take a piece of a pulled body. May suspend. Return: 0, -errno. */
typedef int eddyi_client_give_fn(void *arg, struct eddy_str piece);

/* Pull the body of the request to its end, and pass on each piece; one of unknown length ends with
 * an empty piece. Suspends. Return: 0; -EINVAL if its length differs from the announced one; the
 * error of .pull or of `give`; -ENOMEM. */
int eddyi_client_pull(struct eddyi_call *call, eddyi_client_give_fn *give, void *arg);

/* Begin the head of a response. */
void eddyi_client_begin_head(struct eddyi_call *call);

/* Parse bytes of it, and describe an error. Return: as eddyi_response_head_feed(). */
int eddyi_client_feed_head(struct eddyi_call *call, struct eddy_str bytes, size_t *ret_used);

/* Send the request, and read the head of the response. Suspends.
 * Return: 0; -errno, and the connection is unusable. */
int eddyi_client_exchange(struct eddyi_call *call, struct eddyi_client_conn *conn);

/* Describe an error: the file of the request's body is too short (-EINVAL). Return: it. */
int eddyi_client_fail_short(const struct eddyi_call *call);

/* The same: the server has closed the connection, before or after bytes of its response. */
int eddyi_client_fail_gone(const struct eddyi_call *call, int error, bool answered);

/* ---- responses ---- */

/* Return: NULL on allocation failure. */
struct eddy_response *eddyi_response_new(struct eddy_client *client);

/* Begin to read the body from this connection, after the head. */
void eddyi_response_begin(struct eddy_response *response, struct eddyi_client_conn *conn);

/* Receive some of the body into a file: at most `file->len` bytes at `file->offset`; `file->moved`
 * is how many. Suspends.
 * Return: 1; 0 at the end; -EAGAIN if the next bytes must be read into memory; -errno, after which
 * `file->moved` bytes were written. */
int eddyi_response_file(struct eddy_response *response, struct eddy_transfer *file);

/* Discard the rest of the body to keep the connection, or close it if that is long. Suspends. */
void eddyi_response_discard(struct eddy_response *response);

/* Fail a response whose body exceeds .body_max. Return: -EMSGSIZE. */
int eddyi_response_fail_too_large(struct eddy_response *response);

#endif
