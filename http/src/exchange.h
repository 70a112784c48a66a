/* exchange.h: a request and its response, as this layer's files see them. */
#ifndef EDDYI_EXCHANGE_H
#define EDDYI_EXCHANGE_H

#include "app.h"
#include "body.h"
#include "coded.h"
#include "observer.h"
#include "open_files.h"
#include "path.h"
#include "range.h"
#include "wire.h"

#include <eddy/req.h>
#include <eddy/res.h>

enum eddyi_res_kind {
	EDDYI_RES_EMPTY,
	EDDYI_RES_BYTES,
	EDDYI_RES_FILE,   /* ranges of `file`; one or the whole when range_count is 1 */
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
struct eddyi_decoded;

struct eddy_req {
	struct eddyi_arena arena;
	const struct eddy_app *app;
	struct eddyi_wire *wire;
	struct eddy_scope *scope; /* set while a phase runs that can be cut short */
	bool expired;             /* the time of the phase is up */
	bool answered;            /* what is left is to send it */
	bool keep;                /* another request may follow */
	struct eddyi_head head;
	struct eddyi_path path;
	const struct eddyi_route *route;     /* NULL when none fits */
	const struct eddyi_filters *filters; /* the innermost around what answers */
	struct eddy_str *params;             /* route->param_count values */
	struct eddyi_asker *asker;           /* NULL as long as nobody has wanted to know */
	unsigned methods;                    /* that the path does answer, when no route fits */
	struct eddyi_body body;
	struct eddyi_observed *observed; /* NULL: nobody does */
	struct eddyi_req_kept *kept;     /* by layers, the last one first */
	struct eddyi_decoded *decoded;   /* NULL: the body is read as it is sent */
	/* What has been read once is kept; NULL before that: */
	struct eddy_str text; /* the whole body */
	struct eddy_pairs query;
	struct eddy_pairs form;
	struct eddy_pairs cookies;
	json_t *json;
	int refused; /* the status that the head was refused with; 0: it was not */
	/* What the last call that failed has found: the status that its error stands for, when the
	 * error alone would say less, and the detail of that status. */
	int verdict_error;
	int verdict_status;
	const char *detail; /* in the arena or static */
	struct eddy_res res;
};

/* Return: NULL when memory is out. */
struct eddy_req *eddyi_req_new(const struct eddy_app *app, struct eddyi_wire *wire);

void eddyi_req_free(struct eddy_req *req);

/* Have layers give back what they keep for the request. */
void eddyi_req_layers_deinit(struct eddy_req *req);

/* What becomes of the connection after an exchange. */
enum eddyi_ending {
	EDDYI_ENDING_KEEP,   /* another request may be read from it */
	EDDYI_ENDING_LINGER, /* it ends, but the client still sends */
	EDDYI_ENDING_CLOSE,
	EDDYI_ENDING_CUT, /* it ends in the middle of the answer */
};

/* Answer a request whose head is complete or refused. Suspends. */
enum eddyi_ending eddyi_exchange(struct eddy_req *req);

/* Whether another request can follow, by what is known now. */
bool eddyi_exchange_may_keep(const struct eddy_req *req);

/* The time for what the exchange is doing is up: cut it short. */
void eddyi_exchange_expire(struct eddy_req *req);

/* Run the filters and the handler, and make what they returned a response. Suspends.
 * Return: 0, -errno when the connection must be cut. */
int eddyi_answer(struct eddy_req *req);

/* Make a response of what a handler or a filter returned.
 * Return: 0, -errno when it is too late for that: a part has been sent. */
int eddyi_finish(struct eddy_req *req, int r);

/* The limits of the request's body: of its route, else of the app. */
uint64_t eddyi_req_body_max(const struct eddy_req *req);
uint64_t eddyi_req_file_max(const struct eddy_req *req);

/* Note what a call fails with, for the response that is made of it; `detail` may be NULL.
 * Return: `error`. */
static inline int eddyi_req_fail(struct eddy_req *req, int error, int status, const char *detail)
{
	req->verdict_error = error;
	req->verdict_status = status;
	req->detail = detail;
	return error;
}

/* Answer with an error as the app wants it rendered; `detail` may be NULL. May suspend.
 * Return: 0, -errno. */
int eddyi_render_error(struct eddy_req *req, int status, const char *detail);

/* Make an error response of a status as problem+json; without a `detail`, which is UTF-8, it has that of
 * the status. */
int eddyi_problem(struct eddy_res *res, int status, const char *detail);

/* The status that a handler's -errno stands for. */
int eddyi_status_of(int error);

/* The reason phrase of a status; "Unknown" for one that nobody registered. */
const char *eddyi_status_phrase(int status);

/* What an error's status says to the caller where nobody has more to say. */
const char *eddyi_status_detail(int status);

/* Send the response, all that a handler has not sent itself. Suspends.
 * Return: 0, -errno: the connection must be cut. */
int eddyi_reply(struct eddy_req *req);

/* Whether the response can have a body: not that to a HEAD, nor 204 and 304. */
bool eddyi_reply_has_body(const struct eddy_req *req);

bool eddyi_status_has_body(int status);

/* The handler of a HEAD alone that sets no body has not said how long that of a GET would be: nor does the
 * head (RFC 9110 section 8.6). */
bool eddyi_reply_is_length_unsaid(const struct eddy_req *req);

/* The body is sent in chunks, or up to the end of the connection: before the head is sent. */
void eddyi_reply_unsize(struct eddy_req *req);

/* Send some of an unsized body, the head in front of the first; `last` for the end of it. Nothing but the head
 * to who gets no body. Suspends. Return: 0, -errno. */
int eddyi_reply_chunk(struct eddy_req *req, struct eddy_str bytes, bool last);

/* Make the head, with room for `extra` bytes behind it; `length` is that of the body unless it is unsized.
 * Return: .ptr NULL when memory is out. */
struct eddy_str eddyi_reply_head(struct eddy_req *req, uint64_t length, size_t extra);

/* Whether the next request is here already, so that its answer comes at once or not for a while; the wire
 * sees to the second. */
bool eddyi_reply_is_followed(const struct eddy_req *req);

/* An answer of up to this many bytes leaves in one piece with its head. */
#define EDDYI_REPLY_COPY_MAX ((size_t)(32 * EDDY_KIB))

/* Send the head of a stream, and some of the stream. Suspends. Return: 0, -errno. */
int eddyi_reply_stream(struct eddy_req *req, const void *buf, size_t len);

/* Copy the fields from number `from` on, for other responses. Where memory is out there are none. */
void eddyi_fields_keep(const struct eddy_res *res, unsigned from, struct eddyi_fields *ret_fields);

/* Add fields that were kept; `res` has none of these names. Return: 0, -ENOMEM. */
int eddyi_fields_add(struct eddy_res *res, const struct eddyi_fields *fields);

/* Forget the body and what described it. */
void eddyi_res_clear_body(struct eddy_res *res);

#endif
