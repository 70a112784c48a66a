/* exchange_state.h: a request and its response, as this layer's files see them. What is done with them has headers of its own. */
#ifndef EDDYI_EXCHANGE_STATE_H
#define EDDYI_EXCHANGE_STATE_H

#include "app/app.h"
#include "message/range.h"
#include "open_files.h"
#include "holding.h"
#include "text/path.h"
#include "wire/body.h"
#include "wire/wire.h"

#include <eddy/coder.h>
#include <eddy/req.h>
#include <eddy/res.h>

/* Somebody who looks at a response before its head is sent. */
struct eddyi_res_look {
	struct eddyi_res_look *next;
	eddy_res_head_fn *fn;
	void *data;
};

/* A body on its way out. */
struct eddyi_coded {
	const struct eddy_coder *coder; /* NULL: none */
	void *state;
	char *out; /* what came out and has not been sent; NULL before the first */
	size_t out_len;
	size_t out_size;
	bool has_begun, has_ended;
	bool has_turn;
	uint64_t taken; /* bytes that went in; of one that is known to be large as if it were so already */
};

enum eddyi_res_kind {
	EDDYI_RES_EMPTY,
	EDDYI_RES_BYTES,
	EDDYI_RES_FILE,   /* `ranges` of `file`, else `range` */
	EDDYI_RES_STREAM, /* written by the handler, chunked */
};

struct eddy_res {
	struct eddy_req *req;
	int status;
	enum eddyi_res_kind kind;
	struct eddyi_header *headers;
	unsigned header_count;
	unsigned header_capacity;
	struct eddy_str bytes;
	struct eddyi_outgoing file; /* owned; .fd is -1 for none */
	uint64_t file_size;
	struct eddyi_ranges *ranges; /* of several; NULL for one */
	struct eddyi_range range;    /* the one; an empty file has file_size 0 and none */
	struct eddy_str part_type;   /* content-type of each part, when there are several */
	struct eddy_str boundary;
	struct eddyi_res_look
		*looks;           /* what eddy_res_on_head() was told; NULL once they have looked */
	struct eddyi_coded coded; /* on its way out */
	bool unsized;             /* sent in chunks, or up to the end of the connection */
	bool head_sent;
	bool chunked; /* what is unsized, for a client that knows chunks */
	int failed;   /* what stopped a stream */
};

struct eddyi_asker;
struct eddyi_req_kept;
struct eddyi_observed;
struct eddyi_decoded;

struct eddy_req {
	struct eddyi_arena arena;
	const struct eddy_app *app;
	struct eddyi_wire *wire;
	struct eddyi_party *party; /* NULL: a test */
	struct eddy_scope *scope;  /* set while a phase runs that can be cut short */
	bool expired;              /* the time of the phase is up */
	bool cut;                  /* the connection is closed without an answer */
	bool answered;             /* what is left is to send it */
	bool client_left;          /* before that */
	bool keep;                 /* another request may follow */
	struct eddyi_head head;
	struct eddyi_path path;
	const struct eddyi_route *route;     /* NULL when none fits */
	const struct eddyi_filters *filters; /* the innermost around what answers */
	struct eddy_str *params;             /* route->param_count values */
	struct eddyi_asker *asker;           /* NULL as long as nobody has wanted to know */
	unsigned methods;                    /* that the path does answer, when no route fits */
	struct eddyi_body body;
	uint64_t body_memory;            /* of the body, as it is counted for the app */
	struct eddyi_pace pace;          /* of the body and the answer */
	struct eddyi_observed *observed; /* NULL: nobody does */
	struct eddyi_req_kept *kept;     /* by layers, the last one first */
	struct eddyi_decoded *decoded;   /* NULL: the body is read as it is sent */
	/* What has been read once is kept; NULL before that: */
	struct eddy_str text; /* the whole body */
	struct eddy_pairs query;
	struct eddy_pairs form;
	struct eddy_pairs cookies;
	json_t *json;
	bool has_large_json; /* it was parsed on the offload pool */
	int refused;         /* the status that the head was refused with; 0: it was not */
	/* What the last call that failed has found: the status that its error stands for, when the
	 * error alone would say less, and the detail of that status. */
	int verdict_error;
	int verdict_status;
	const char *detail; /* in the arena or static */
	struct eddy_res res;
};

/* Note what a call fails with, for the response that is made of it; `detail` may be NULL.
 * Return: `error`. */
static inline int eddyi_req_fail(struct eddy_req *req, int error, int status, const char *detail)
{
	req->verdict_error = error;
	req->verdict_status = status;
	req->detail = detail;
	return error;
}

#endif
