/* client_state.h: a client, its connections, calls and responses, as this layer's files see them. */
#ifndef EDDYI_CLIENT_STATE_H
#define EDDYI_CLIENT_STATE_H

#include "message/response_head.h"
#include "text/url.h"
#include "wire/body.h"
#include "wire/wire.h"

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

#endif
