/* h2.h: a connection that speaks HTTP/2 (RFC 9113), and its requests. libnghttp2 does the framing,
 * the compression of fields and the flow control.
 *
 * The session runs on the loop's own stack: bytes that arrive are fed to it, and what it sends goes
 * into one buffer, from which the sender empties it. A stream whose head is complete is a request
 * on a task of its own, which waits for the session by events. */
#ifndef EDDYI_H2_H
#define EDDYI_H2_H

#include "http1/http1.h"
#include "h2_inbox.h"
#include "message/rules.h"
#include "wire/sender.h"

#include <eddy/internal/gather.h>
#include <nghttp2/nghttp2.h>

/* Settings of the server. Windows grow to their maximum as handlers take the bytes.
 *
 * The window of a stream is given back as its handler reads, that of the connection as bytes
 * arrive: a body that is not read does not hold up others. Unread bodies of a connection take at
 * most EDDYI_H2_STREAMS_MAX windows of streams, and of all connections .body_memory_max. */
#define EDDYI_H2_STREAMS_MAX 100
#define EDDYI_H2_STREAM_WINDOW (256 * EDDY_KIB)
#define EDDYI_H2_STREAM_WINDOW_MAX EDDY_MIB
#define EDDYI_H2_WINDOW EDDY_MIB
#define EDDYI_H2_WINDOW_MAX (16 * EDDY_MIB)
#define EDDYI_H2_FRAME_MAX EDDY_MIB
#define EDDYI_H2_FRAME_HEAD 9
/* The largest head of a response, as HPACK can make it. */
#define EDDYI_H2_HEAD_MAX (512 * EDDY_KIB)

/* Invariants:
 * 1. It is in `streams` of its connection from its HEADERS frame until it is freed: by its task, or
 *    when it is closed without one.
 * 2. `source` is read by the session, within the calls of h2_output.h, until it is empty. Then the
 *    session defers the stream until there is more, or ends it with `last`.
 * 3. The session knows it, as user data, from its HEADERS frame until `closed`. */
struct eddyi_h2_stream {
	struct eddy_req req;
	struct eddyi_stream stream;
	struct eddyi_h2 *h2;
	struct eddy_node node;
	int32_t id;
	bool has_task;
	bool closed; /* no frame of it is sent or received any more */
	bool lost;   /* no more of its body arrives, though it is not complete */

	/* The request. Sizes are those of the same head in HTTP/1.1. */
	struct eddyi_line line;
	size_t line_size;
	size_t fields_size;
	unsigned fields; /* with :authority, which is the field Host there */
	size_t heard;    /* sizes of all fields, also those that are not kept */
	bool expects;    /* a 100 Continue before its body */
	struct eddyi_body body;
	struct eddyi_h2_inbox inbox;
	struct eddy_event arrived; /* set if a read need not wait */

	/* The response. */
	uint64_t length; /* of its body; EDDY_LENGTH_UNKNOWN: the head does not tell */
	bool head_due;
	bool deferred;              /* the session waits for the source */
	bool last;                  /* nothing follows the source */
	bool has_ended;             /* its end is in the output */
	bool cold;                  /* the next bytes of `file` have to be read by the task */
	struct eddy_str bytes;      /* the source: these, and then */
	struct eddy_transfer *file; /* a part of this file; NULL: none */
	struct eddy_event flowed;   /* set if its task has something to do for the source */
	uint64_t copied_until;      /* in `file`: what is before is not looked for in its window */
	struct eddy_warmth warmth;  /* of `file` and its window, unless they are kept open */
	struct eddyi_window window;

	struct eddyi_pace pace;
	bool is_slow;                /* at its last check */
	struct eddy_timeout timeout; /* of a wait for the client */
	unsigned looks;              /* consecutive checks without progress */
	uint64_t looked;             /* `sent` at the last check */
	uint64_t acked; /* bytes of the connection but for `chatter`, at the last check */
	uint64_t sent;  /* bytes of the response, when they are in the output */
};

/* Invariants:
 * 1. `output` does not move while it has bytes.
 * 2. It is freed when `over` is set, no stream has a task, and the sender is not busy. */
struct eddyi_h2 {
	struct eddyi_conn *conn;
	nghttp2_session *session;
	struct eddy_node streams;
	unsigned tasks;        /* of streams */
	unsigned slow_streams; /* of those */
	bool is_slow;          /* the socket, at its last check */
	struct eddyi_pace pace;

	struct eddyi_sender sender;
	char *output; /* frames, of which the first `output_at` bytes have been sent */
	size_t output_at, output_len, output_size;
	struct eddy_str large;       /* the session's next frame, if the output has no room */
	bool is_bulk;                /* there was more than the output had room for */
	size_t turn_left;            /* bytes that it may still send in this turn of the loop */
	struct eddyi_gather *gather; /* while frames may be gathered for one send; otherwise NULL */
	struct eddyi_file_part found; /* what the next frame has, if it is gathered */
	struct eddy_timer flush;      /* sends what tasks of this turn have put into the output */

	bool is_quick;     /* a large part of a body has just arrived */
	uint64_t received; /* bytes of bodies */
	uint64_t took;     /* of them, those that have been read */

	bool ended;         /* the client sends no more */
	bool stopping;      /* the server shuts down: the first GOAWAY is queued */
	bool notified;      /* the client has acknowledged the PING behind it */
	bool leaving;       /* the last GOAWAY is queued */
	bool failed;        /* the session can't go on */
	bool over;          /* nothing is received or sent any more */
	bool cut;           /* it was aborted: bytes may not have been sent */
	bool condemned;     /* GOAWAY with the verdict is queued */
	uint32_t verdict;   /* the error code with which it is to end; 0: none */
	uint64_t reset_ns;  /* when it last reset a stream; 0: it never did */
	unsigned idle_work; /* frames that led to nothing since then; h2_calm.h */
	uint64_t idle_since_ns;
	uint8_t frame_head[EDDYI_H2_FRAME_HEAD]; /* of the frame that arrives */
	unsigned frame_head_len;                 /* bytes of that */
	size_t frame_left;                       /* of its payload; at first, of the preface */
	uint64_t chatter;                        /* bytes of PING and SETTINGS that were sent */
	int64_t updates; /* of windows and priorities, less those that DATA allows */
};

static inline struct eddyi_h2_stream *eddyi_h2_stream_of(const struct eddy_req *req)
{
	return eddy_of(req, struct eddyi_h2_stream, req);
}

/* ---- the connection ---- */

/* Close it, once nothing is left to do. It may be gone after that. */
void eddyi_h2_settle(struct eddyi_h2 *h2);

/* End it without further frames: the peer or the session has failed. */
void eddyi_h2_abort(struct eddyi_h2 *h2);

/* ---- the session ---- */

/* Make the session, and queue its settings. Return: 0, -ENOMEM. */
int eddyi_h2_session_begin(struct eddyi_h2 *h2);

/* Feed it bytes. Return: 0; -EPROTO if it is at its end, after a last frame. */
int eddyi_h2_session_feed(struct eddyi_h2 *h2, const char *bytes, size_t len);

/* End the connection if a call of the session has failed for want of memory. */
void eddyi_h2_session_check(struct eddyi_h2 *h2, int error);

/* Give the window of a stream back for `len` bytes of its body that have been taken. */
void eddyi_h2_session_took(struct eddyi_h2_stream *stream, size_t len);

/* ---- streams ---- */

/* Return: NULL on allocation failure. */
struct eddyi_h2_stream *eddyi_h2_stream_new(struct eddyi_h2 *h2, int32_t id);

/* Free one without a task. */
void eddyi_h2_stream_free(struct eddyi_h2_stream *stream);

/* Handle the request, whose head is complete, on a new task. Return: 0, -ENOMEM. */
int eddyi_h2_stream_start(struct eddyi_h2_stream *stream);

/* Nothing more is sent or received. With `lost`, the client does not get the response. The stream
 * may be gone after that. */
void eddyi_h2_stream_close(struct eddyi_h2_stream *stream, bool lost);

/* The client sends no more, on any stream. */
void eddyi_h2_stream_end_input(struct eddyi_h2_stream *stream);

/* Keep bytes of its body until they are read.
 * Return: false if they are dropped: there is no memory, or bodies take as much as they may. */
bool eddyi_h2_stream_receive(struct eddyi_h2_stream *stream, struct eddy_str bytes);

/* Whether its source has more than the session has taken. */
static inline bool eddyi_h2_stream_has_more(const struct eddyi_h2_stream *stream)
{
	return stream->bytes.len || stream->file;
}

/* Get the next bytes of its response into `room`, at most `len`. Never suspends.
 * Return: bytes; -EAGAIN if there are none for now; -errno. */
ssize_t eddyi_h2_stream_take(struct eddyi_h2_stream *stream, char *room, size_t len);

/* Whether its next bytes may be sent without a copy: they are of a file, and not encrypted. */
bool eddyi_h2_stream_may_gather(const struct eddyi_h2_stream *stream);

/* Find the next `len` bytes of its file, or what is left of it, for eddyi_gather_add_found(); with
 * `may_move`, bytes that were found before are gone. Never suspends. */
struct eddyi_file_part eddyi_h2_stream_find(struct eddyi_h2_stream *stream, size_t len,
					    bool may_move);

/* Take at most `len` bytes that were found. Return: bytes. */
size_t eddyi_h2_stream_skip(struct eddyi_h2_stream *stream, size_t len);

/* Whether the client lets it send nothing. */
bool eddyi_h2_stream_is_shut(const struct eddyi_h2_stream *stream);

/* ---- minimum rates ---- */

void eddyi_h2_pace_begin(struct eddyi_h2 *h2);
void eddyi_h2_pace_end(struct eddyi_h2 *h2);
void eddyi_h2_pace_begin_stream(struct eddyi_h2_stream *stream);
void eddyi_h2_pace_end_stream(struct eddyi_h2_stream *stream);

/* Whether all its requests have waited for the client for a while. */
bool eddyi_h2_pace_has_paused(const struct eddyi_h2 *h2);

/* ---- heads ---- */

/* Add a field, or a pseudo-header field, to a request. Return: 0, -ENOMEM. */
int eddyi_h2_head_add(struct eddyi_h2_stream *stream, struct eddy_str name, struct eddy_str value);

/* Judge a complete head. */
void eddyi_h2_head_end(struct eddyi_h2_stream *stream, bool has_body);

/* Submit the head of the response, or an interim one, to the session. Return: 0, -ENOMEM. */
int eddyi_h2_head_submit(struct eddyi_h2_stream *stream, bool ends);
int eddyi_h2_head_interim(struct eddyi_h2_stream *stream, int status,
			  const struct eddy_header *fields);

#endif
