/* exchange_state.h: the state of a request and its response. */
#ifndef EDDYI_EXCHANGE_STATE_H
#define EDDYI_EXCHANGE_STATE_H

#include "app/app.h"
#include "message/body.h"
#include "message/head.h"
#include "message/range.h"
#include "stream.h"
#include "text/path.h"

#include <eddy/coder.h>
#include <eddy/req.h>
#include <eddy/res.h>
#include <eddy/transfer.h>
#include <jansson.h>

struct eddyi_events;
struct eddyi_outgoing;

/* How its owner treats a file to send. */
struct eddyi_outgoing_verbs {
	/* Close the file, or release a reference to it. Never suspends. */
	void (*close)(struct eddyi_outgoing *file);
	/* Have all bytes of a small file in memory, if they can be read; NULL: they are not kept.
	 * Suspends. */
	void (*load)(struct eddyi_outgoing *file);
};

/* A file to send. */
struct eddyi_outgoing {
	int fd;                                   /* -1: none */
	uint64_t device;                          /* st_dev; 0: unknown */
	struct eddy_warmth *warmth;               /* NULL: unknown */
	struct eddyi_window *window;              /* NULL: its owner does not keep one */
	const char *bytes;                        /* all of the file, if it is in memory */
	const struct eddyi_outgoing_verbs *verbs; /* NULL: close(2) closes it */
	void *owner;                              /* for `verbs` */
};

/* A function of eddy_res_on_head(). */
struct eddyi_res_look {
	struct eddyi_res_look *next;
	eddy_res_head_fn *fn;
	void *data;
};

/* The encoding of a body. */
struct eddyi_coded {
	const struct eddy_coder *coder; /* NULL: none */
	void *state;
	char *out; /* encoded and not yet sent; NULL before the first step */
	size_t out_len;
	size_t out_size;
	bool has_begun, has_ended;
	bool has_turn;
	uint64_t taken; /* bytes encoded; LARGE from the start if the body is known to be large */
};

enum eddyi_res_kind {
	EDDYI_RES_EMPTY,
	EDDYI_RES_BYTES,
	EDDYI_RES_FILE,   /* `ranges` of `file`, else `range` */
	EDDYI_RES_STREAM, /* written by the handler in pieces */
};

struct eddy_res {
	struct eddy_req *req;
	int status;
	enum eddyi_res_kind kind;
	struct eddyi_header *headers;
	unsigned header_count;
	unsigned header_capacity;
	struct eddy_str bytes;
	struct eddyi_outgoing file; /* owned; .fd is -1 if there is none */
	uint64_t file_size;
	struct eddyi_ranges *ranges; /* several; NULL for one */
	struct eddyi_range range;    /* the one range; unused for an empty file */
	struct eddy_str part_type;   /* content-type of each part, with several ranges */
	struct eddy_str boundary;
	struct eddyi_res_look *looks; /* functions of eddy_res_on_head() */
	struct eddyi_coded coded;     /* the encoding of the body */
	bool unsized;                 /* the length of the body is not known before its end */
	bool announced;               /* the length of the stream, by the handler */
	uint64_t announced_length;
	uint64_t written;            /* bytes of the stream */
	struct eddyi_events *events; /* of the stream; NULL: it has none */
	/* Called when the handler has returned. A pointer, so that programs without events don't
	 * link them. */
	void (*end_events)(struct eddy_res *res);
	bool goes_on; /* the stream, when the exchange has ended */
	bool head_sent;
	int failed;  /* the error that stopped the response as it was sent */
	bool is_cut; /* by an error of the handler or a filter, which has been logged */
};

struct eddyi_asker;
struct eddyi_req_kept;
struct eddyi_observed;
struct eddyi_decoded;
struct eddyi_ws_served;

struct eddy_req {
	struct eddyi_arena arena;
	const struct eddy_app *app;
	struct eddyi_stream *stream;
	struct eddy_node in_progress; /* in a list of its protocol's requests */
	struct eddy_scope *scope;     /* set during a phase that can be cancelled */
	bool expired;                 /* the phase has timed out */
	bool cut;                     /* the connection is to be closed without a response */
	bool answered;                /* there is a response, to be sent */
	bool client_left;             /* the client disconnected before there was one */
	bool stopped;                 /* cancelled by the shutdown */
	struct eddyi_head head;
	struct eddyi_path path;
	const struct eddyi_route *route;     /* NULL if none matches */
	const struct eddyi_filters *filters; /* the innermost filters around the handler */
	struct eddy_str *params;             /* route->param_count values */
	struct eddyi_asker *asker;           /* NULL until it is first needed */
	unsigned methods;                    /* allowed methods of the path, if no route matches */
	struct eddyi_body *body;             /* of the stream */
	uint64_t body_memory;                /* bytes of the body counted for the app */
	struct eddyi_observed *observed;     /* NULL: no observers */
	struct eddyi_req_kept *kept;         /* memory of layers, the latest first */
	struct eddyi_decoded *decoded;       /* NULL: the body is not decoded */
	struct eddyi_ws_served *socket;      /* that a response of 101 begins; owned; NULL: none */
	void (*free_socket)(struct eddyi_ws_served *socket);
	/* Results of reading, kept for the next call; NULL before the first: */
	struct eddy_str text;
	struct eddy_pairs query;
	struct eddy_pairs form;
	struct eddy_pairs cookies;
	json_t *json;
	bool has_large_json; /* parsed on the offload pool */
	int refused;         /* the status that rejects the head; 0: it is accepted */
	/* From the last call that failed: its error, the status for it if the error alone says
	 * less, and the detail of that status. */
	int verdict_error;
	int verdict_status;
	const char *detail;                   /* in the arena or static */
	const struct eddy_json_fault *faults; /* behind `detail`; NULL: none */
	size_t fault_count;
	struct eddy_res res;
};

/* Get the number of bytes that the body still has; 0 if it is unknown. */
static inline uint64_t eddyi_req_body_left(const struct eddy_req *req)
{
	return req->head.length == EDDY_LENGTH_UNKNOWN ? 0 : req->head.length - req->body->took;
}

/* Record a call's error for the response; `detail` may be NULL. Return: `error`. */
static inline int eddyi_req_fail(struct eddy_req *req, int error, int status, const char *detail)
{
	req->verdict_error = error;
	req->verdict_status = status;
	req->detail = detail;
	req->faults = NULL;
	return error;
}

#endif
