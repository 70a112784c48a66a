#include "ws_socket.h"

#include "wire/tls_wire.h"

#include <eddy/internal/figure.h>
#include <eddy/internal/outside.h>
#include <eddy/io.h>
#include <eddy/list.h>
#include <eddy/loop.h>
#include <eddy/scope.h>
#include <eddy/task.h>
#include <errno.h>
#include <liburing.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>

/* Messages that wait for the handler, in bytes, until receiving pauses: pings are answered as long. */
#define WAITING_MAX ((size_t)(64 * EDDY_KIB))
/* For the peer's close frame. */
#define CLOSE_NS (5 * EDDY_SECOND)
/* Limit of a compressed message that expands to one of `message_max`, for bytes that don't compress. */
#define DEFLATED_MAX(len) ((len) + (len) / 8 + 1024)

#define MESSAGE_MAX (16 * EDDY_MIB)
#define QUEUE_MAX ((size_t)EDDY_MIB)
#define PING_NS (30 * EDDY_SECOND)
#define DEFLATE_MIN 64
/* A payload that is copied behind its head: one piece of memory takes the kernel less time than two. */
#define SMALL_MAX 256

/* A received message, or a piece of one. */
struct eddyi_ws_item {
	struct eddyi_ws_item *next;
	size_t len;
	uint8_t type;
	bool is_last;
	char bytes[];
};

#define ITEM_SIZE offsetof(struct eddyi_ws_item, bytes)

/* Received bytes, from `at` on, that expand once there is room for more messages. */
struct eddyi_ws_rest {
	size_t at, len;
	char bytes[];
};

/* Bytes to send. */
struct eddyi_ws_out {
	struct eddyi_ws_out *next;
	struct eddyi_ws_shared *shared; /* has the bytes; NULL: they are `own` */
	size_t at, len;
	char own[];
};

static void settle(struct eddy_ws *ws);

/* ---- metrics ---- */

#define MESSAGES "eddy_websocket_messages_total", "Messages of WebSockets.", "direction"
#define BYTES                                                                                      \
	"eddy_websocket_bytes_total", "Bytes of frames of WebSockets, before TLS.", "direction"

static struct eddyi_figure figures[] = {
	{ MESSAGES, "received", 0, NULL, 0 },
	{ MESSAGES, "sent", 0, NULL, 0 },
	{ BYTES, "received", 0, NULL, 0 },
	{ BYTES, "sent", 0, NULL, 0 },
};

void eddyi_ws_offer_figures(void)
{
	eddyi_figure_offer(figures, sizeof(figures) / sizeof(*figures));
}

static void count_received(struct eddy_ws *ws, uint64_t messages, uint64_t bytes)
{
	ws->outcome.messages_received += messages;
	ws->outcome.received += bytes;
	eddyi_figure_add(&figures[0], messages);
	eddyi_figure_add(&figures[2], bytes);
}

static void count_sent(struct eddy_ws *ws, uint64_t messages, uint64_t bytes)
{
	ws->outcome.messages_sent += messages;
	ws->outcome.sent += bytes;
	eddyi_figure_add(&figures[1], messages);
	eddyi_figure_add(&figures[3], bytes);
}

/* ---- sending ---- */

static bool seals(const struct eddy_ws *ws)
{
	return EDDYI_TLS && eddyi_tls_wire_seals(ws->wire);
}

static const char *bytes_of(const struct eddyi_ws_out *out)
{
	return (out->shared ? out->shared->bytes : out->own) + out->at;
}

static void free_out(struct eddyi_ws_out *out)
{
	if (out->shared)
		eddyi_ws_shared_unref(out->shared);
	free(out);
}

static void free_outs(struct eddyi_ws_out *first)
{
	while (first) {
		struct eddyi_ws_out *next = first->next;

		free_out(first);
		first = next;
	}
}

static void drop_first(struct eddy_ws *ws)
{
	struct eddyi_ws_out *out = ws->out;

	ws->out = out->next;
	if (!ws->out)
		ws->out_last = &ws->out;
	free_out(out);
}

/* Count bytes of the queue that have gone. */
static void advance(struct eddy_ws *ws, size_t len)
{
	ws->sent_ns = eddy_loop_now();
	ws->queued -= len;
	while (len) {
		struct eddyi_ws_out *out = ws->out;
		size_t here = len < out->len - out->at ? len : out->len - out->at;

		out->at += here;
		len -= here;
		if (out->at == out->len)
			drop_first(ws);
	}
	if (ws->queued <= ws->options->queue_max && !ws->writable.is_set)
		eddy_event_set(&ws->writable);
}

/* Discard the queue, but for bytes that the kernel is sending. */
static void drop_out(struct eddy_ws *ws)
{
	struct eddyi_ws_out **kept = eddy_op_is_started(&ws->out_op) && ws->out ? &ws->out->next :
										  &ws->out;

	free_outs(*kept);
	*kept = NULL;
	ws->out_last = kept;
	ws->queued = ws->out ? ws->out->len - ws->out->at : 0;
	if (!ws->writable.is_set)
		eddy_event_set(&ws->writable);
}

/* Encrypt as much of the queue as fits. Return: 0, -errno. */
static int seal(struct eddy_ws *ws)
{
	while (ws->out) {
		ssize_t taken = EDDYI_TLS ? eddyi_tls_write(ws->wire->tls, bytes_of(ws->out),
							    ws->out->len - ws->out->at) :
					    0;

		if (taken < 0)
			return (int)taken;
		if (!taken)
			return 0;
		advance(ws, (size_t)taken);
	}
	return 0;
}

static void sent(struct eddy_op *op, int result, unsigned flags);
static void put_pong(struct eddy_ws *ws);

/* Send what is queued by an op, unless one does. */
static void flow(struct eddy_ws *ws)
{
	struct io_uring_sqe *sqe;
	struct eddy_str next;

	if (!ws->link)
		return;
	if (ws->pong && ws->queued <= ws->options->queue_max)
		put_pong(ws);
	if (eddy_op_is_started(&ws->out_op) || ws->state == EDDYI_WS_OVER)
		return;
	if (seals(ws)) {
		if (seal(ws) < 0) {
			eddyi_ws_abort(ws, -EIO);
			return;
		}
		next = eddyi_tls_buffers_unsent(&ws->wire->tls->buffers);
		ws->wire->tls->sending = next.len > 0;
	} else {
		next = ws->out ? eddy_str(bytes_of(ws->out), ws->out->len - ws->out->at) :
				 EDDY_STR("");
	}
	if (!next.len)
		return;
	sqe = eddy_op_begin(&ws->out_op, sent);
	io_uring_prep_send(sqe, ws->wire->fd, next.ptr, next.len, MSG_NOSIGNAL);
	eddy_op_start(&ws->out_op, sqe);
}

static void sent(struct eddy_op *op, int result, unsigned flags)
{
	struct eddy_ws *ws = eddy_of(op, struct eddy_ws, out_op);

	(void)flags;
	if (EDDYI_TLS && ws->wire->tls)
		ws->wire->tls->sending = false;
	if (result > 0 && seals(ws)) {
		eddyi_tls_buffers_sent(&ws->wire->tls->buffers, (size_t)result);
		ws->sent_ns = eddy_loop_now();
	} else if (result > 0 && ws->queued) {
		advance(ws, (size_t)result);
	}
	if (ws->state == EDDYI_WS_OVER)
		drop_out(ws);
	else if (result < 0 && result != -EINTR && result != -EAGAIN)
		eddyi_ws_abort(ws, -ECONNRESET);
	flow(ws);
	settle(ws);
}

static void append(struct eddy_ws *ws, struct eddyi_ws_out *out)
{
	out->next = NULL;
	*ws->out_last = out;
	ws->out_last = &out->next;
	ws->queued += out->len - out->at;
	if (ws->queued > ws->options->queue_max)
		eddy_event_clear(&ws->writable);
	flow(ws);
}

/* Give the kernel what it takes without waiting. Return: bytes. */
static size_t send_now(struct eddy_ws *ws, struct iovec *pieces, size_t count)
{
	struct msghdr msg = { .msg_iov = pieces, .msg_iovlen = count };
	int flags = MSG_DONTWAIT | MSG_NOSIGNAL;
	ssize_t r;

	if (!ws->link || ws->out || eddy_op_is_started(&ws->out_op) || seals(ws))
		return 0;
	r = count == 1 ? eddyi_send_now(ws->wire->fd, pieces->iov_base, pieces->iov_len, flags) :
			 eddyi_sendmsg_now(ws->wire->fd, &msg, flags);
	if (r > 0)
		ws->sent_ns = eddy_loop_now();
	return r > 0 ? (size_t)r : 0;
}

/* One call gets random bytes for many frames. */
static bool make_mask(unsigned char mask[4])
{
	static _Thread_local uint32_t random[64];
	static _Thread_local unsigned left;

	if (!left) {
		if (eddyi_random(random, sizeof(random), GRND_NONBLOCK) < 0)
			return false;
		left = sizeof(random) / sizeof(*random);
	}
	memcpy(mask, &random[--left], 4);
	return true;
}

/* Send a frame; a client's payload is masked. Return: 0, -EPIPE, -ENOMEM. */
static int put_frame(struct eddy_ws *ws, struct eddyi_ws_frame *frame, const char *payload)
{
	unsigned char head[EDDYI_WS_HEAD_MAX + SMALL_MAX];
	struct eddyi_ws_out *out;
	size_t head_len, gone = 0, len;

	if (ws->rooms)
		eddyi_ws_flush_rooms(ws);
	if (ws->state == EDDYI_WS_OVER)
		return -EPIPE;
	frame->masked = !ws->is_server;
	if (frame->masked && !make_mask(frame->mask))
		return -EAGAIN;
	head_len = eddyi_ws_frame_format(frame, head);
	len = head_len + frame->len;
	count_sent(ws, frame->fin && !eddyi_ws_is_control(frame->opcode), len);
	if (!frame->masked) {
		struct iovec pieces[] = { { head, head_len }, { (void *)payload, frame->len } };
		bool joined = frame->len <= SMALL_MAX;

		if (joined && frame->len)
			memcpy(head + head_len, payload, frame->len);
		if (joined)
			pieces->iov_len = len;
		gone = send_now(ws, pieces, joined ? 1 : 2);
		if (gone == len)
			return 0;
	}
	out = malloc(sizeof(*out) + len - gone);
	if (!out) {
		/* Nothing may follow half a frame. */
		if (gone)
			eddyi_ws_abort(ws, -ENOMEM);
		return -ENOMEM;
	}
	*out = (struct eddyi_ws_out){ .len = len - gone };
	if (gone < head_len)
		memcpy(out->own, head + gone, head_len - gone);
	len = gone < head_len ? 0 : gone - head_len; /* of the payload */
	if (frame->masked)
		eddyi_ws_mask(out->own + head_len, payload, frame->len, frame->mask, 0);
	else if (frame->len)
		memcpy(out->own + (gone < head_len ? head_len - gone : 0), payload + len,
		       frame->len - len);
	append(ws, out);
	return 0;
}

static int put_control(struct eddy_ws *ws, uint8_t opcode, struct eddy_str payload)
{
	struct eddyi_ws_frame frame = { .fin = true, .opcode = opcode, .len = payload.len };

	return put_frame(ws, &frame, payload.ptr);
}

static void put_pong(struct eddy_ws *ws)
{
	char *payload = ws->pong;

	ws->pong = NULL;
	if (ws->state == EDDYI_WS_OPEN)
		put_control(ws, EDDYI_WS_PONG, eddy_str(payload, ws->pong_len));
	free(payload);
}

/* ---- messages for several sockets ---- */

struct eddyi_ws_shared *eddyi_ws_shared_new(enum eddy_ws_type type, struct eddy_str bytes,
					    bool compressed)
{
	struct eddyi_ws_frame frame = {
		.fin = true, .opcode = type, .compressed = compressed, .len = bytes.len
	};
	unsigned char head[EDDYI_WS_HEAD_MAX];
	size_t head_len = eddyi_ws_frame_format(&frame, head);
	struct eddyi_ws_shared *shared = malloc(sizeof(*shared) + head_len + bytes.len);

	if (!shared)
		return NULL;
	*shared = (struct eddyi_ws_shared){ .refs = 1, .len = head_len + bytes.len };
	memcpy(shared->bytes, head, head_len);
	if (bytes.len)
		memcpy(shared->bytes + head_len, bytes.ptr, bytes.len);
	return shared;
}

void eddyi_ws_shared_unref(struct eddyi_ws_shared *shared)
{
	if (__atomic_sub_fetch(&shared->refs, 1, __ATOMIC_ACQ_REL) == 0)
		free(shared);
}

/* Return: NULL on allocation failure. */
static struct eddyi_ws_out *share(struct eddyi_ws_shared *shared, size_t gone)
{
	struct eddyi_ws_out *out = malloc(sizeof(*out));

	if (!out)
		return NULL;
	__atomic_add_fetch(&shared->refs, 1, __ATOMIC_RELAXED);
	*out = (struct eddyi_ws_out){ .shared = shared, .at = gone, .len = shared->len };
	return out;
}

/* A client masks each frame by a key of its own. Return: NULL on allocation failure. */
static struct eddyi_ws_out *copy_masked(const struct eddyi_ws_shared *shared)
{
	unsigned char head[EDDYI_WS_HEAD_MAX];
	struct eddyi_ws_out *out = malloc(sizeof(*out) + shared->len + sizeof(head));
	struct eddyi_ws_frame frame;
	int skipped = eddyi_ws_frame_parse(eddy_str(shared->bytes, shared->len), &frame);
	size_t head_len;

	frame.masked = true;
	if (!out || !make_mask(frame.mask)) {
		free(out);
		return NULL;
	}
	head_len = eddyi_ws_frame_format(&frame, head);
	*out = (struct eddyi_ws_out){ .len = head_len + frame.len };
	memcpy(out->own, head, head_len);
	eddyi_ws_mask(out->own + head_len, shared->bytes + skipped, frame.len, frame.mask, 0);
	return out;
}

/* Queue a message of which `gone` bytes have been sent. Return: 0, -EPIPE, -ENOBUFS, -ENOMEM. */
static int put_rest(struct eddy_ws *ws, struct eddyi_ws_shared *shared, size_t gone, size_t max)
{
	struct eddyi_ws_out *out;

	if (ws->state != EDDYI_WS_OPEN)
		return -EPIPE;
	if (!gone && ws->queued && ws->queued + shared->len > max)
		return -ENOBUFS;
	count_sent(ws, 1, shared->len);
	if (gone == shared->len)
		return 0;
	out = ws->is_server ? share(shared, gone) : copy_masked(shared);
	if (!out) {
		/* Nothing may follow half a frame. */
		if (gone)
			eddyi_ws_abort(ws, -ENOMEM);
		return -ENOMEM;
	}
	if (!ws->in_message) {
		append(ws, out);
		return 0;
	}
	*ws->later_last = out;
	ws->later_last = &out->next;
	ws->queued += out->len;
	return 0;
}

int eddyi_ws_put_shared(struct eddy_ws *ws, struct eddyi_ws_shared *const *shared, size_t count,
			size_t max)
{
	struct iovec pieces[EDDYI_WS_SHARED_MAX];
	size_t gone = 0;
	int r = 0;

	if (ws->state != EDDYI_WS_OPEN)
		return -EPIPE;
	for (size_t i = 0; i < count; i++)
		pieces[i] = (struct iovec){ shared[i]->bytes, shared[i]->len };
	if (!ws->in_message && ws->is_server)
		gone = send_now(ws, pieces, count);
	for (size_t i = 0; i < count; i++) {
		size_t here = gone < shared[i]->len ? gone : shared[i]->len;
		int one = put_rest(ws, shared[i], here, max);

		gone -= here;
		r = r < 0 ? r : one;
	}
	return r;
}

/* ---- the end ---- */

static void drop_messages(struct eddy_ws *ws)
{
	while (ws->first) {
		struct eddyi_ws_item *next = ws->first->next;

		ws->waiting -= ITEM_SIZE + ws->first->len;
		free(ws->first);
		ws->first = next;
	}
	ws->last = &ws->first;
}

static void free_items(struct eddy_ws *ws)
{
	drop_messages(ws);
	free(ws->rest);
	free(ws->given);
	free(ws->pong);
	eddyi_ws_buffer_deinit(&ws->message);
}

static void set_timer(struct eddy_ws *ws, uint64_t at_ns)
{
	eddy_timer_disarm(&ws->timer);
	eddy_timer_arm(&ws->timer, at_ns);
}

void eddyi_ws_deinit(struct eddy_ws *ws)
{
	eddyi_ws_leave_rooms(ws);
	free_outs(ws->out);
	free_outs(ws->later);
	free_items(ws);
	if (ws->compresses) {
		eddyi_ws_deflate_deinit(&ws->inflate);
		eddyi_ws_deflate_deinit(&ws->deflate);
	}
}

/* Go on with the end: half-close once all frames are sent, so that the peer gets the last of them; finish
 * once nothing uses the socket. */
static void settle(struct eddy_ws *ws)
{
	if (ws->state == EDDYI_WS_CLOSED && !ws->half_closed && !ws->out &&
	    !eddy_op_is_started(&ws->out_op)) {
		ws->half_closed = true;
		/* A client leaves it to the server (RFC 6455 section 7.1.1). */
		if (ws->is_server) {
			eddyi_wire_give_up(ws->wire);
			eddyi_shutdown_now(ws->wire->fd, SHUT_WR);
		}
	}
	if (ws->state != EDDYI_WS_OVER || ws->has_task || ws->receiving ||
	    eddy_op_is_started(&ws->out_op))
		return;
	eddy_timer_disarm(&ws->timer);
	eddyi_ws_deinit(ws);
	ws->link->finish(ws);
}

/* Tell the handler of the end. */
static void end_input(struct eddy_ws *ws, int result)
{
	ws->result = result;
	if (!ws->readable.is_set)
		eddy_event_set(&ws->readable);
	if (!ws->writable.is_set)
		eddy_event_set(&ws->writable);
}

/* No frame follows those that are queued. */
static void become_closed(struct eddy_ws *ws, int result)
{
	if (ws->state < EDDYI_WS_CLOSED)
		end_input(ws, result);
	ws->state = EDDYI_WS_CLOSED;
	set_timer(ws, eddy_loop_now() + CLOSE_NS);
	eddyi_ws_buffer_deinit(&ws->message);
}

void eddyi_ws_abort(struct eddy_ws *ws, int error)
{
	if (ws->state == EDDYI_WS_OVER)
		return;
	if (ws->state < EDDYI_WS_CLOSED)
		end_input(ws, error);
	ws->state = EDDYI_WS_OVER;
	/* At the next turn of the loop, in case that nothing else settles it. */
	set_timer(ws, eddy_loop_now());
	drop_out(ws);
	if (eddy_op_is_started(&ws->out_op))
		eddy_op_cancel(&ws->out_op);
	if (ws->receiving)
		ws->link->cancel(ws);
}

/* The first close frame counts. */
static void note_code(struct eddy_ws *ws, unsigned code)
{
	if (ws->outcome.code == EDDY_WS_ABNORMAL)
		ws->outcome.code = code;
}

static void put_close(struct eddy_ws *ws, unsigned code, struct eddy_str reason)
{
	char payload[EDDYI_WS_CONTROL_MAX] = { (char)(code >> 8), (char)code };
	size_t len = reason.len < sizeof(payload) - 2 ? reason.len : sizeof(payload) - 2;

	note_code(ws, code);
	if (len)
		memcpy(payload + 2, reason.ptr, len);
	if (put_control(ws, EDDYI_WS_CLOSE,
			eddy_str(payload, code == EDDY_WS_NO_CODE ? 0 : len + 2)) < 0)
		eddyi_ws_abort(ws, -ECONNRESET);
}

static void fail(struct eddy_ws *ws, int error)
{
	unsigned code = error == -EMSGSIZE ? EDDY_WS_TOO_LARGE :
			error == -EILSEQ   ? EDDY_WS_NOT_UTF8 :
			error == -ENOMEM   ? EDDY_WS_TRY_LATER :
					     EDDY_WS_PROTOCOL_ERROR;

	if (ws->state == EDDYI_WS_OPEN)
		put_close(ws, code, EDDY_STR(""));
	if (ws->state != EDDYI_WS_OVER)
		become_closed(ws, error);
}

/* The peer has broken a rule. Answers to the messages before it are sent first. */
static void note_violation(struct eddy_ws *ws, int error)
{
	if (!ws->left && (ws->first || ws->given))
		ws->violation = error;
	else
		fail(ws, error);
}

/* The handler has taken all messages. */
static void tell_violation(struct eddy_ws *ws)
{
	if (ws->violation)
		fail(ws, ws->violation);
	ws->violation = 0;
}

void eddy_ws_close(struct eddy_ws *ws, unsigned code, const char *reason)
{
	if (ws->state != EDDYI_WS_OPEN || !ws->link)
		return;
	put_close(ws, code, eddy_str_from(reason));
	if (ws->state != EDDYI_WS_OPEN)
		return;
	ws->state = EDDYI_WS_CLOSING;
	set_timer(ws, eddy_loop_now() + CLOSE_NS);
	if (!ws->writable.is_set)
		eddy_event_set(&ws->writable);
}

void eddyi_ws_stop(struct eddy_ws *ws)
{
	ws->stops = true;
	eddy_ws_close(ws, EDDY_WS_GOING_AWAY, NULL);
}

/* ---- receiving ---- */

/* Enough waits for the handler. */
static bool is_full(const struct eddy_ws *ws)
{
	return ws->waiting > WAITING_MAX && ws->first && ws->state < EDDYI_WS_CLOSED;
}

static void take_rest(struct eddy_ws *ws);

static void want_more(struct eddy_ws *ws)
{
	while (ws->rest && !is_full(ws)) {
		take_rest(ws);
		/* The close frame of the peer may follow many messages that no handler takes. */
		if (ws->left)
			drop_messages(ws);
	}
	if (ws->receiving || ws->violation || ws->state == EDDYI_WS_OVER || is_full(ws))
		return;
	ws->receiving = true;
	ws->link->receive(ws);
}

static void take_close(struct eddy_ws *ws, struct eddy_str payload)
{
	struct eddy_str reason;
	unsigned code;
	int r = eddyi_ws_close_read(payload, &code, &reason);

	if (r < 0) {
		note_violation(ws, r);
		return;
	}
	ws->peer_code = (uint16_t)code;
	note_code(ws, code);
	if (ws->state == EDDYI_WS_OPEN)
		put_close(ws, code, EDDY_STR(""));
	if (ws->state != EDDYI_WS_OVER)
		become_closed(ws, 0);
}

/* A pong for the last ping is enough (RFC 6455 section 5.5.3): a peer that does not read gets no others. */
static void take_ping(struct eddy_ws *ws, struct eddy_str payload)
{
	char *copy = malloc(payload.len + 1);

	if (!copy) {
		eddyi_ws_abort(ws, -ENOMEM);
		return;
	}
	if (payload.len)
		memcpy(copy, payload.ptr, payload.len);
	free(ws->pong);
	ws->pong = copy;
	ws->pong_len = (uint8_t)payload.len;
	flow(ws);
}

static void take_control(struct eddy_ws *ws, const struct eddyi_ws_event *event)
{
	if (event->opcode == EDDYI_WS_CLOSE) {
		take_close(ws, event->bytes);
		return;
	}
	if (event->opcode == EDDYI_WS_PING && ws->state == EDDYI_WS_OPEN)
		take_ping(ws, event->bytes);
}

/* Make an item of what has arrived of the message. */
static int deliver(struct eddy_ws *ws, const struct eddyi_ws_event *event)
{
	struct eddyi_ws_item *item;

	if (!ws->message.len && eddyi_ws_buffer_grow(&ws->message, ITEM_SIZE) < 0)
		return -ENOMEM;
	/* What has expanded may have taken much more than it needs. */
	if (ws->input.is_compressed && ws->message.size > 2 * ws->message.len &&
	    (item = realloc(ws->message.bytes, ws->message.len)))
		ws->message.bytes = (char *)item;
	item = (void *)ws->message.bytes;
	/* One by one: the padding at the end has bytes. */
	item->next = NULL;
	item->len = ws->message.len ? ws->message.len - ITEM_SIZE : 0;
	item->type = event->opcode;
	item->is_last = event->is_last;
	count_received(ws, event->is_last, 0);
	ws->message = (struct eddyi_ws_buffer){ 0 };
	ws->waiting += ITEM_SIZE;
	*ws->last = item;
	ws->last = &item->next;
	if (!ws->readable.is_set)
		eddy_event_set(&ws->readable);
	return 0;
}

/* Append a piece to the message. Return: 0, -EBADMSG, -EMSGSIZE, -ENOMEM. */
static int append_piece(struct eddy_ws *ws, const struct eddyi_ws_event *event)
{
	struct eddyi_ws_buffer *message = &ws->message;
	uint64_t max = ws->options->streams ? EDDY_NEVER - ITEM_SIZE : ws->options->message_max;
	/* A message of one frame gets exactly its memory. */
	size_t more = event->bytes.len, size = ws->input.is_compressed || ws->options->streams ?
						       more :
						       (size_t)ws->input.frame.len;
	char *copy;
	int r;

	if (!message->len) {
		r = eddyi_ws_buffer_grow(message, ITEM_SIZE + size);
		if (r < 0)
			return r;
		message->len = ITEM_SIZE;
	}
	if (!ws->input.is_compressed) {
		if (more > max - (message->len - ITEM_SIZE))
			return -EMSGSIZE;
		r = eddyi_ws_buffer_grow(message, more);
		if (r == 0)
			eddyi_ws_input_copy(&ws->input, event, message->bytes + message->len);
		message->len += r == 0 ? more : 0;
		return r;
	}
	copy = malloc(more + 1);
	if (!copy)
		return -ENOMEM;
	eddyi_ws_input_copy(&ws->input, event, copy);
	r = eddyi_ws_deflate_feed(&ws->inflate, eddy_str(copy, more), event->is_last, message,
				  ITEM_SIZE + max);
	free(copy);
	return r;
}

static int take_piece(struct eddy_ws *ws, const struct eddyi_ws_event *event)
{
	size_t before = ws->message.len ? ws->message.len : ITEM_SIZE;
	struct eddy_str fresh;
	int r = append_piece(ws, event);

	if (r < 0)
		return r == -EBADMSG ? -EPROTO : r;
	fresh = eddy_str(ws->message.bytes + before, ws->message.len - before);
	ws->waiting += fresh.len;
	if (event->opcode == EDDYI_WS_TEXT && (!eddyi_utf8_check(&ws->utf8, fresh) ||
					       (event->is_last && !eddyi_utf8_is_whole(&ws->utf8))))
		return -EILSEQ;
	return event->is_last || (ws->options->streams && fresh.len) ? deliver(ws, event) : 0;
}

/* Handle plain bytes, until the socket is closed. A few compressed bytes may expand to many: no more do than
 * a handler has room for. Return: how many are left. */
static size_t parse(struct eddy_ws *ws, struct eddy_str rest)
{
	struct eddyi_ws_event event;
	int r = 0;

	while (ws->state < EDDYI_WS_CLOSED && !ws->violation) {
		if (ws->compresses && rest.len && is_full(ws))
			return rest.len;
		r = eddyi_ws_input_next(&ws->input, &rest, &event);
		if (r == 0 && event.kind == EDDYI_WS_PIECE)
			r = take_piece(ws, &event);
		if (r < 0)
			note_violation(ws, r);
		else if (event.kind == EDDYI_WS_CONTROL)
			take_control(ws, &event);
		else if (event.kind == EDDYI_WS_NOTHING)
			break;
	}
	return 0;
}

static void take_rest(struct eddy_ws *ws)
{
	struct eddyi_ws_rest *rest = ws->rest;

	rest->at = rest->len - parse(ws, eddy_str(rest->bytes + rest->at, rest->len - rest->at));
	if (rest->at == rest->len) {
		free(rest);
		ws->rest = NULL;
	}
}

static void keep(struct eddy_ws *ws, struct eddy_str bytes)
{
	size_t at = ws->rest ? ws->rest->at : 0, len = ws->rest ? ws->rest->len : 0;
	struct eddyi_ws_rest *rest = realloc(ws->rest, sizeof(*rest) + len + bytes.len);

	if (!rest) {
		eddyi_ws_abort(ws, -ENOMEM);
		return;
	}
	ws->rest = rest;
	rest->at = at;
	rest->len = len + bytes.len;
	memcpy(rest->bytes + len, bytes.ptr, bytes.len);
}

static int take(void *arg, const char *bytes, size_t len)
{
	struct eddy_ws *ws = arg;
	size_t left;

	count_received(ws, 0, len);
	left = ws->rest ? len : parse(ws, eddy_str(bytes, len));
	if (left)
		keep(ws, eddy_str(bytes + len - left, left));
	return 0;
}

void eddyi_ws_take(struct eddy_ws *ws, struct eddy_str bytes)
{
	if (bytes.len)
		take(ws, bytes.ptr, bytes.len);
	if (EDDYI_TLS && ws->wire->tls && eddyi_tls_wire_drain(ws->wire, take, ws) < 0)
		eddyi_ws_abort(ws, -ECONNRESET);
}

static int take_sealed(struct eddy_ws *ws, struct eddy_str bytes)
{
	int r = EDDYI_TLS ? eddyi_tls_feed(ws->wire->tls, bytes.ptr, bytes.len) : 0;

	return EDDYI_TLS && r == 0 ? eddyi_tls_wire_drain(ws->wire, take, ws) : r;
}

void eddyi_ws_received(struct eddy_ws *ws, struct eddy_str bytes, int error, bool last)
{
	int r = error;

	ws->receiving = !last;
	if (bytes.len) {
		ws->heard_ns = eddy_loop_now();
		ws->pinged_ns = 0;
		r = EDDYI_TLS && ws->wire->tls ? take_sealed(ws, bytes) :
						 take(ws, bytes.ptr, bytes.len);
	} else if (error == 0) {
		r = -ECONNRESET;
	}
	if (r < 0 && r != -ENOBUFS && r != -EINTR && r != -ECANCELED)
		eddyi_ws_abort(ws, -ECONNRESET);
	/* On a route with .parks. */
	if (ws->first && !ws->has_task && !ws->left && ws->state != EDDYI_WS_OVER)
		ws->has_task = ws->link->start(ws);
	if (ws->left)
		drop_messages(ws);
	want_more(ws);
	settle(ws);
}

/* ---- time ---- */

static void time_is_up(struct eddy_timer *timer)
{
	struct eddy_ws *ws = eddy_of(timer, struct eddy_ws, timer);
	uint64_t now = eddy_loop_now(), ping_ns = ws->options->ping_ns,
		 pong_ns = ws->options->pong_ns;

	if (ws->state == EDDYI_WS_OVER) {
		settle(ws);
		return;
	}
	/* Not by the time since the last bytes: a loop that was busy has sent no ping. */
	if (ws->state != EDDYI_WS_OPEN || (ws->pinged_ns && now - ws->pinged_ns >= pong_ns) ||
	    (ws->out && now - ws->sent_ns >= ping_ns && now - ws->sent_ns - ping_ns >= pong_ns)) {
		eddyi_ws_abort(ws, -ETIMEDOUT);
		settle(ws);
		return;
	}
	if (now - ws->heard_ns >= ping_ns && !ws->pinged_ns) {
		ws->pinged_ns = now;
		if (put_control(ws, EDDYI_WS_PING, EDDY_STR("")) < 0) {
			eddyi_ws_abort(ws, -ENOMEM);
			settle(ws);
			return;
		}
	}
	set_timer(ws, !ws->pinged_ns        ? ws->heard_ns + ping_ns :
		      pong_ns != EDDY_NEVER ? ws->pinged_ns + pong_ns :
					      now + ping_ns);
}

void eddyi_ws_options_fill(struct eddy_ws_options *options)
{
	options->message_max = options->message_max ? options->message_max : MESSAGE_MAX;
	options->queue_max = options->queue_max ? options->queue_max : QUEUE_MAX;
	options->ping_ns = options->ping_ns ? options->ping_ns : PING_NS;
	options->pong_ns = options->pong_ns ? options->pong_ns : PING_NS;
	options->deflate.level = options->deflate.level ? options->deflate.level : 1;
	options->deflate.min = options->deflate.min ? options->deflate.min : DEFLATE_MIN;
}

void eddyi_ws_init(struct eddy_ws *ws)
{
	ws->last = &ws->first;
	ws->out_last = &ws->out;
	ws->later_last = &ws->later;
	eddy_event_init(&ws->readable);
	eddy_event_init(&ws->writable);
	eddy_event_set(&ws->writable);
	eddy_mutex_init(&ws->sending);
}

void eddyi_ws_begin(struct eddy_ws *ws)
{
	ws->input.is_server = ws->is_server;
	ws->input.may_compress = ws->compresses;
	ws->input.max = ws->options->streams ? EDDY_NEVER : ws->options->message_max;
	if (ws->compresses && !ws->options->streams)
		ws->input.max = DEFLATED_MAX(ws->options->message_max);
	ws->peer_code = EDDY_WS_ABNORMAL;
	ws->heard_ns = ws->sent_ns = eddy_loop_now();
	ws->timer.fire = time_is_up;
	if (ws->options->ping_ns != EDDY_NEVER)
		set_timer(ws, ws->heard_ns + ws->options->ping_ns);
	flow(ws);
	want_more(ws);
}

/* ---- the handler ---- */

/* Call the handler once. Return: what it returns. */
static int call(struct eddy_ws *ws, eddy_ws_fn *handler, void *data)
{
	struct eddy_scope_options options = { 0 };
	struct eddy_scope scope;
	int r;

	if (!ws->notes)
		return handler(ws, data);
	options.log_fields = ws->notes->fields;
	options.locals = ws->notes->locals;
	eddy_scope_begin(&scope, &options);
	r = handler(ws, data);
	eddy_scope_end(&scope);
	return r;
}

/* The task ends. */
static void park(struct eddy_ws *ws)
{
	free(ws->given);
	ws->given = NULL;
	tell_violation(ws);
	ws->has_task = false;
	want_more(ws);
	settle(ws);
}

void eddyi_ws_release(struct eddy_ws *ws, unsigned code)
{
	tell_violation(ws);
	ws->left = true;
	drop_messages(ws);
	eddy_ws_close(ws, code, NULL);
	park(ws);
}

void eddyi_ws_run(struct eddy_ws *ws, eddy_ws_fn *handler, void *data)
{
	int r;

	do {
		r = call(ws, handler, data);
	} while (r == -EAGAIN && ws->first);
	if (r == -EAGAIN && ws->options->parks)
		park(ws);
	else
		eddyi_ws_release(ws, r >= 0                       ? EDDY_WS_NORMAL :
				     ws->stops || r == -ECANCELED ? EDDY_WS_GOING_AWAY :
								    EDDY_WS_FAILED);
}

int eddy_ws_recv(struct eddy_ws *ws, struct eddy_ws_message *ret_message)
{
	struct eddyi_ws_item *item;
	int r = 0;

	free(ws->given);
	ws->given = NULL;
	/* Others are served between messages that take much time for the few bytes that they came in. */
	if (ws->rest)
		r = eddy_yield();
	if (r < 0)
		return r;
	while (!ws->first) {
		tell_violation(ws);
		if (ws->state >= EDDYI_WS_CLOSED)
			return ws->result;
		if (ws->stops)
			return -ESHUTDOWN;
		if (ws->options->parks)
			return -EAGAIN;
		eddy_event_clear(&ws->readable);
		r = eddy_event_wait(&ws->readable);
		if (r < 0)
			return r;
	}
	item = ws->first;
	ws->first = item->next;
	if (!ws->first)
		ws->last = &ws->first;
	ws->waiting -= ITEM_SIZE + item->len;
	ws->given = item;
	want_more(ws);
	*ret_message = (struct eddy_ws_message){ item->type, eddy_str(item->bytes, item->len),
						 item->is_last };
	return 1;
}

/* Wait until there is room in the queue. Return: 0, -EPIPE, -ECANCELED. */
static int await_room(struct eddy_ws *ws)
{
	int r = 0;

	while (r == 0 && ws->state == EDDYI_WS_OPEN && ws->queued > ws->options->queue_max)
		r = eddy_event_wait(&ws->writable);
	return r == 0 && ws->state != EDDYI_WS_OPEN ? -EPIPE : r;
}

/* A piece has been sent: with the last, the messages that have waited follow. */
static void end_piece(struct eddy_ws *ws, bool is_last)
{
	ws->in_message = !is_last;
	if (!is_last || !ws->later || ws->state == EDDYI_WS_OVER)
		return;
	*ws->out_last = ws->later;
	ws->out_last = ws->later_last;
	ws->later = NULL;
	ws->later_last = &ws->later;
	flow(ws);
}

/* Send a piece, of a message that `ws->sender` sends. */
static int put_piece(struct eddy_ws *ws, uint8_t opcode, struct eddy_str bytes, bool is_last)
{
	struct eddyi_ws_frame frame = { .fin = is_last, .opcode = opcode };
	struct eddyi_ws_buffer packed = { 0 };
	int r = await_room(ws);

	if (r == 0 && ws->packs) {
		r = eddyi_ws_deflate_feed(&ws->deflate, bytes, is_last, &packed, EDDY_NEVER);
		bytes = eddy_str(packed.bytes, packed.len);
	}
	frame.compressed = ws->packs && opcode != EDDYI_WS_CONTINUATION;
	frame.len = bytes.len;
	if (r == 0)
		r = put_frame(ws, &frame, bytes.ptr);
	eddyi_ws_buffer_deinit(&packed);
	if (r == 0)
		end_piece(ws, is_last);
	return r;
}

int eddy_ws_send_some(struct eddy_ws *ws, enum eddy_ws_type type, struct eddy_str bytes,
		      bool is_last)
{
	struct eddy_task *self = eddy_task_self();
	bool first = ws->sender != self;
	int r = first ? eddy_mutex_lock(&ws->sending) : 0;

	if (r < 0)
		return r;
	if (first)
		ws->packs = ws->compresses && (!is_last || bytes.len >= ws->options->deflate.min);
	ws->sender = self;
	r = put_piece(ws, first ? type : EDDYI_WS_CONTINUATION, bytes, is_last);
	/* The rest of a message that has begun can't be left out. */
	if (r < 0 && !first)
		eddyi_ws_abort(ws, -ECONNRESET);
	if (r < 0 || is_last) {
		ws->sender = NULL;
		eddy_mutex_unlock(&ws->sending);
	}
	return r;
}

int eddy_ws_send(struct eddy_ws *ws, enum eddy_ws_type type, struct eddy_str bytes)
{
	return eddy_ws_send_some(ws, type, bytes, true);
}

unsigned eddy_ws_peer_code(const struct eddy_ws *ws)
{
	return ws->peer_code;
}

struct eddy_str eddy_ws_protocol(const struct eddy_ws *ws)
{
	return ws->protocol;
}

void *eddy_ws_data(const struct eddy_ws *ws)
{
	return ws->data;
}

void eddy_ws_set_data(struct eddy_ws *ws, void *data)
{
	ws->data = data;
}
