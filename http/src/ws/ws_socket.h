/* ws_socket.h: a WebSocket between its connection and its handler.
 *
 * Bytes that arrive are parsed on the loop's stack, into messages that the handler takes; control
 * frames are answered there. Frames to send go to the kernel at once; the rest is queued, and an op
 * sends it. The connection below is a link: http1/ has that of a server, client/ that of a
 * client. */
#ifndef EDDYI_WS_SOCKET_H
#define EDDYI_WS_SOCKET_H

#include "ws_deflate.h"
#include "ws_input.h"
#include "ws_output.h"
#include "text/utf8.h"

#include <eddy/event.h>
#include <eddy/mutex.h>
#include <eddy/timer.h>

struct eddyi_ws_item;

/* The connection below. None of these functions suspends. */
struct eddyi_ws_link {
	/* Receive by the op of the socket, which is not started: eddyi_ws_received() gets the
	 * results. */
	void (*receive)(struct eddy_ws *ws);
	/* Messages have come for a socket that has no task. Return: false if no task can be
	 * started. Of a server. */
	bool (*start)(struct eddy_ws *ws);
	/* Close the connection, and free the socket. Nothing uses them any more, except the task
	 * that frees a client's. */
	void (*finish)(struct eddy_ws *ws);
};

enum eddyi_ws_state {
	EDDYI_WS_OPEN,
	EDDYI_WS_CLOSING,     /* a close frame is sent; that of the peer is awaited */
	EDDYI_WS_CLOSED,      /* both are; queued frames are still sent */
	EDDYI_WS_HALF_CLOSED, /* all are sent */
	EDDYI_WS_OVER,        /* the connection is of no use */
};

/* Invariants:
 * 1. `receiving` is started until the socket is OVER, unless enough waits for the handler, the peer
 *    has broken a rule, or a task receives directly.
 * 2. The socket is finished once it is OVER, and has no task, no senders and no op. */
struct eddy_ws {
	const struct eddyi_ws_link *link; /* NULL: it has not begun */
	struct eddy_op *receiving;        /* of the link */
	const struct eddy_ws_options *options;
	const struct eddy_app *app; /* NULL: it is a client's */
	struct eddyi_party *party;  /* NULL: not counted */
	void *data;
	struct eddyi_ws_member *rooms; /* that it is in */
	struct eddy_str protocol;

	struct eddyi_ws_input input;
	struct eddyi_ws_buffer message; /* in progress, an item at its begin */
	struct eddy_node items;
	struct eddyi_ws_item *given; /* that the handler has */
	size_t waiting;              /* bytes of the items, and of `message` */
	uint64_t counted;            /* bytes of messages that count as body memory */
	struct eddyi_ws_buffer
		rest;   /* received behind many items, which expands once there is room */
	size_t rest_at; /* bytes of `rest` before have expanded */

	struct eddyi_ws_output output;
	struct eddy_event changed; /* an item, room in the queue, or another state */
	struct eddy_mutex sending; /* held from the first to the last piece of a message */

	struct eddyi_ws_deflate inflate, deflate; /* if `input.may_compress` */
	struct eddy_timer timer;
	uint64_t heard_ns;  /* when the last bytes came */
	uint64_t pinged_ns; /* when a ping was sent since then; 0: none was */
	unsigned senders;   /* tasks that send, or wait for that */
	/* Of eddy_ws_recv() once it is CLOSED. Before, of a peer that has broken a rule, of which
	 * the handler is told behind the messages that it has not answered. */
	int result;
	const struct eddy_socket_notes *notes; /* of the handler; NULL: none */
	struct eddyi_utf8 utf8;                /* of the message */
	uint16_t peer_code;
	uint8_t state;
	bool has_task;
	bool is_awaited; /* the task waits for a message */
	bool is_direct;  /* what follows has arrived, and nothing else receives it */
	bool packs;      /* the message being sent is compressed */
	bool left;       /* the handler has returned for good */
	bool stops;      /* the server does */
	bool flushes;    /* messages to its rooms are being sent */
};

/* Fill in the defaults of zero fields, and register the metrics of sockets. */
void eddyi_ws_options_fill(struct eddy_ws_options *options);

/* Begin with a zeroed socket whose `options` and, of a server, `app` and `party` are set. Until the
 * connection is there, what is sent is queued. */
void eddyi_ws_init(struct eddy_ws *ws);

/* Compress messages, as the handshake has agreed for those that it sends and those that it
 * receives. */
void eddyi_ws_compress(struct eddy_ws *ws, struct eddyi_ws_side sends,
		       struct eddyi_ws_side receives);

/* Free what it owns, if it has not begun. */
void eddyi_ws_deinit(struct eddy_ws *ws);

/* Go on with a connection whose handshake is complete, and handle what has arrived. */
void eddyi_ws_begin(struct eddy_ws *ws, const struct eddyi_ws_link *link, struct eddy_op *receiving,
		    struct eddyi_wire *wire);

/* Handle the result of a receive: bytes, or `error`: 0 at the end of the stream, -errno. */
void eddyi_ws_received(struct eddy_ws *ws, struct eddy_str bytes, int error);

/* Run the handler on the current task, until it returns. Suspends. */
void eddyi_ws_run(struct eddy_ws *ws, eddy_ws_fn *handler, void *data);

/* The task has no more use for it: close it with this code, and finish it in time. */
void eddyi_ws_release(struct eddy_ws *ws, unsigned code);

/* The server stops: close it with 1001. */
void eddyi_ws_stop(struct eddy_ws *ws);

/* End it at once, without a closing handshake. */
void eddyi_ws_abort(struct eddy_ws *ws, int error);

void eddyi_ws_leave_rooms(struct eddy_ws *ws);

/* Let messages to its rooms precede what is sent next. */
void eddyi_ws_flush_rooms(struct eddy_ws *ws);

/* Whether messages for several sockets may be sent to this one compressed. */
static inline bool eddyi_ws_shares_deflate(const struct eddy_ws *ws)
{
	return ws->input.may_compress && !ws->deflate.side.keeps &&
	       ws->deflate.side.bits == EDDYI_WS_WINDOW_MAX;
}

#endif
