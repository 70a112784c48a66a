/* client.h: requests to other servers, as this layer's files see them. */
#ifndef EDDYI_CLIENT_H
#define EDDYI_CLIENT_H

#include "body.h"
#include "response_head.h"
#include "url.h"
#include "wire.h"

#include <eddy/client.h>
#include <eddy/client_observer.h>
#include <eddy/list.h>
#include <eddy/scope.h>

struct eddyi_client_trust;

#define EDDYI_CLIENT_OBSERVERS_MAX 4

/* Invariants:
 * 1. A connection is kept, in `kept` of its client and limited by its idle clock, or a response's, or in use
 *    by the call that will make one.
 * 2. One that is kept has nothing to read, and owes nothing: each request was sent whole, each response
 *    read whole.
 */
struct eddyi_client_conn {
	struct eddyi_wire wire;
	struct eddy_client *client;
	struct eddy_response *response; /* of the call that uses it; NULL while it is kept */
	struct eddy_node node;
	struct eddy_str origin; /* its bytes lie behind this */
	bool used;              /* it has been kept before */
	bool answered;          /* the server has sent something since the last request */
	bool spoiled;           /* not to be kept */
	bool is_theirs;         /* over TLS: the server has shown that it is the origin's */
};

struct eddy_client {
	struct eddyi_arena arena;           /* of the strings of: */
	struct eddy_client_options options; /* defaults filled in */
	struct eddyi_clocks clocks;
	struct eddy_node kept; /* the longest first */
	unsigned kept_count;
	struct eddyi_client_trust *trust; /* NULL until somebody asks by https */
	bool is_cut_off; /* it has the connections that it has, and makes no others */
	char error[512];
};

struct eddy_response {
	struct eddyi_arena arena;
	struct eddy_client *client;
	struct eddyi_client_conn *conn; /* NULL once there is nothing more to read */
	struct eddy_scope *scope;       /* while a call runs that can be cut short */
	bool stalled;
	struct eddyi_url url;
	struct eddy_str url_text;
	struct eddyi_response_head head;
	struct eddyi_body body;
	uint64_t deadline_ns;
	uint64_t body_max;
	char *whole; /* what eddy_response_body() has read */
	size_t whole_len;
	int error; /* once it has failed it stays failed */
};

/* One who observes a hop of a call, and what he wants sent with it. */
struct eddyi_client_watch {
	const struct eddy_client_observer *observer;
	void *state;
	const struct eddy_header *fields; /* NULL: nothing */
};

/* One call of eddy_client_send(). */
struct eddyi_call {
	struct eddy_client *client;
	struct eddy_response
		*response; /* that it will return; url and head are those of the current hop */
	const struct eddy_client_request *request;
	struct eddyi_client_conn *conn; /* that it uses now */
	const char *method;
	unsigned redirects;
	unsigned interims; /* responses of 1xx, of this hop */
	bool without_body; /* a redirect has dropped it */
	bool foreign;      /* and led to another origin */
	bool pulled;       /* some of the body is gone for good */
	struct eddyi_client_watch watches[EDDYI_CLIENT_OBSERVERS_MAX]; /* of the current hop */
	unsigned watch_count;
};

/* Note what a call fails with. Return: `error`. */
EDDY_PRINTF(3, 4)
int eddyi_client_fail(struct eddy_client *client, int error, const char *format, ...);

/* Run a part of a call, within its time and so that a stall can end it. Suspends.
 * Return: what it returned; -ETIMEDOUT, -ECANCELED. */
ssize_t eddyi_client_run(struct eddy_response *response, ssize_t (*part)(void *arg), void *arg);

/* ---- client_observer.c ---- */

/* Whether the program has given the request a field of that name. */
bool eddyi_client_has_field(const struct eddyi_call *call, const char *name);

/* Tell those who observe that the call goes to the response's URL, and what came of it: a status, -errno. */
void eddyi_client_observe_begin(struct eddyi_call *call);
void eddyi_client_observe_end(struct eddyi_call *call, int result);

/* ---- client_conn.c ---- */

/* Take a connection to the origin of the response's URL that was kept. Never suspends.
 * Return: NULL when there is none. */
struct eddyi_client_conn *eddyi_client_conn_take(struct eddy_response *response,
						 struct eddy_str origin);

/* Make a connection. Suspends. Return: 0, -errno as eddy_client_send(). */
int eddyi_client_conn_open(struct eddy_response *response, struct eddy_str origin,
			   struct eddyi_client_conn **ret_conn);

/* Wrap a socket that is connected, to be used or kept; takes over `fd`, unless it fails.
 * Return: NULL when memory is out. */
struct eddyi_client_conn *eddyi_client_conn_new(struct eddy_client *client, int fd,
						struct eddy_str origin);

/* Keep a connection for later, or close it. Never suspend. */
void eddyi_client_conn_keep(struct eddyi_client_conn *conn);
void eddyi_client_conn_close(struct eddyi_client_conn *conn);

/* ---- client_tls.c, which is only there where eddy is built with TLS ---- */

/* Shake hands, and see that it is the host of the response's URL who answers. Suspends.
 * Return: 0, -errno as eddy_client_send(). */
int eddyi_client_conn_secure(struct eddyi_client_conn *conn);

/* Keep what the next connection to the origin can resume; this one is about to be closed. Never suspends. */
void eddyi_client_conn_remember(struct eddyi_client_conn *conn);

/* NULL is fine. */
void eddyi_client_trust_free(struct eddyi_client_trust *trust);

/* ---- client_exchange.c ---- */

/* Send the request, and read the head of the response. Suspends. Return: 0; -errno, and the connection is of
 * no use any more. */
int eddyi_client_exchange(struct eddyi_call *call, struct eddyi_client_conn *conn);

/* ---- response.c ---- */

/* Return: NULL when memory is out. */
struct eddy_response *eddyi_response_new(struct eddy_client *client);

/* The head is there: the body is to be read from this connection. */
void eddyi_response_begin(struct eddy_response *response, struct eddyi_client_conn *conn);

/* Read what is left of the body, when that is little, or give the connection up. Suspends. */
void eddyi_response_discard(struct eddy_response *response);

#endif
