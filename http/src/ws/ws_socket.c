#include "ws_socket.h"

#include "exchange/req.h"
#include "wire/tls_wire.h"
#include "wire/wire.h"

#include <eddy/internal/outside.h>
#include <eddy/list.h>
#include <eddy/loop.h>
#include <eddy/scope.h>
#include <eddy/task.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>

/* Messages that wait for the handler, in bytes, until receiving pauses: pings are answered as
 * long. */
#define WAITING_MAX ((size_t)(64 * EDDY_KIB))
/* For the peer's close frame. */
#define CLOSE_NS (5 * EDDY_SECOND)
/* Limit of a compressed message that expands to one of `message_max`, for bytes that don't
 * compress. */
#define DEFLATED_MAX(len) ((len) + (len) / 8 + 1024)
/* Compressed bytes that are streamed expand in pieces of so many: to 1 MiB at most. */
#define STREAMED_MAX ((size_t)EDDY_KIB)

#define MESSAGE_MAX (16 * EDDY_MIB)
#define MESSAGE_LIMIT (EDDY_NEVER / 4)
#define QUEUE_MAX ((size_t)EDDY_MIB)
#define PING_NS (30 * EDDY_SECOND)
#define DEFLATE_MIN 64

/* Size of a buffer of the loop; as much of a payload may be received into its place. */
#define DIRECT_MIN ((size_t)(8 * EDDY_KIB))
#define PIECE_MAX ((ssize_t)(16 * EDDY_KIB))

/* A received message, or a piece of one. */
struct eddyi_ws_item {
	struct eddy_node node;
	size_t len;
	uint8_t type;
	bool is_last;
	char bytes[];
};

#define ITEM_SIZE offsetof(struct eddyi_ws_item, bytes)

static void count_received(struct eddy_ws *ws, uint64_t messages, uint64_t bytes)
{
	ws->output.outcome.messages_received += messages;
	ws->output.outcome.received += bytes;
	eddyi_figure_add(&eddyi_ws_figures[0], messages);
	eddyi_figure_add(&eddyi_ws_figures[1], bytes);
}

/* Most messages come while the last one is being handled. */
static void wake(struct eddy_ws *ws)
{
	if (!ws->changed.is_set)
		eddy_event_set(&ws->changed);
}

static int await_change(struct eddy_ws *ws)
{
	eddy_event_clear(&ws->changed);
	return eddy_event_wait(&ws->changed);
}

/* ---- sending ---- */

/* Nothing follows a close frame, which a room may have sent. Return: 0; -EPIPE; as
 * eddyi_ws_output_put(). */
static int put_frame(struct eddy_ws *ws, struct eddyi_ws_frame *frame, const char *payload)
{
	if (ws->rooms)
		eddyi_ws_flush_rooms(ws);
	return ws->state == EDDYI_WS_OPEN ? eddyi_ws_output_put(&ws->output, frame, payload) :
					    -EPIPE;
}

/* Return: whether it is sent. */
static bool put_control(struct eddy_ws *ws, uint8_t opcode, struct eddy_str payload)
{
	struct eddyi_ws_frame frame = { .fin = true, .opcode = opcode, .len = payload.len };
	int r = put_frame(ws, &frame, payload.ptr);

	if (r < 0 && r != -EPIPE)
		eddyi_ws_abort(ws, -ENOMEM);
	return r == 0;
}

static bool has_room(const struct eddy_ws *ws)
{
	return ws->output.queued <= ws->options->queue_max;
}

/* ---- memory ---- */

/* Count what messages take beyond what each connection may. Return: whether the server has memory
 * left. */
static bool count_memory(struct eddy_ws *ws)
{
	size_t all = ws->waiting + (ws->given ? ws->given->len : 0),
	       over = all > WAITING_MAX ? all - WAITING_MAX : 0;

	if (ws->app && over > ws->counted)
		return eddyi_take_body_memory(ws->app, ws->party, &ws->counted, over - ws->counted);
	if (ws->app && over < ws->counted)
		eddyi_give_back_body_memory(ws->app, ws->party, &ws->counted, ws->counted - over);
	return true;
}

static void free_given(struct eddy_ws *ws)
{
	free(ws->given);
	ws->given = NULL;
	count_memory(ws);
}

/* ---- the end ---- */

static void drop_messages(struct eddy_ws *ws)
{
	struct eddy_node *node;

	while ((node = eddy_list_shift(&ws->items))) {
		struct eddyi_ws_item *item = eddy_of(node, struct eddyi_ws_item, node);

		ws->waiting -= ITEM_SIZE + item->len;
		free(item);
	}
	count_memory(ws);
}

void eddyi_ws_deinit(struct eddy_ws *ws)
{
	eddyi_ws_leave_rooms(ws);
	eddyi_ws_output_deinit(&ws->output);
	drop_messages(ws);
	eddyi_ws_buffer_deinit(&ws->message);
	ws->waiting = 0;
	free_given(ws);
	eddyi_ws_buffer_deinit(&ws->rest);
	eddyi_ws_deflate_deinit(&ws->inflate);
	eddyi_ws_deflate_deinit(&ws->deflate);
	ws->state = EDDYI_WS_OVER;
}

/* Go on with the end: half-close once all frames are sent, so that the peer gets the last of them;
 * finish once nothing uses the socket. */
static void settle(struct eddy_ws *ws)
{
	if (!ws->link || eddyi_sender_is_busy(&ws->output.sender))
		return;
	if (ws->state == EDDYI_WS_CLOSED) {
		ws->state = EDDYI_WS_HALF_CLOSED;
		/* A client leaves it to the server (RFC 6455 section 7.1.1). */
		if (ws->app) {
			eddyi_wire_give_up(ws->output.sender.wire);
			eddyi_shutdown_now(ws->output.sender.wire->fd, SHUT_WR);
		}
	}
	if (ws->state != EDDYI_WS_OVER || ws->has_task || ws->senders ||
	    eddy_op_is_started(ws->receiving))
		return;
	eddy_timer_disarm(&ws->timer);
	eddyi_ws_deinit(ws);
	ws->link->finish(ws);
}

static void set_timer(struct eddy_ws *ws, uint64_t at_ns)
{
	eddy_timer_disarm(&ws->timer);
	eddy_timer_arm(&ws->timer, at_ns);
}

/* Go on to a later state, and tell the handler of the end. */
static void enter(struct eddy_ws *ws, enum eddyi_ws_state state, int result)
{
	if (state >= EDDYI_WS_CLOSED && ws->state < EDDYI_WS_CLOSED)
		ws->result = result;
	ws->state = state;
	wake(ws);
	/* At the next turn of the loop, in case that nothing else settles it. */
	if (ws->link)
		set_timer(ws, eddy_loop_now() + (state == EDDYI_WS_OVER ? 0 : CLOSE_NS));
}

void eddyi_ws_abort(struct eddy_ws *ws, int error)
{
	if (ws->state == EDDYI_WS_OVER)
		return;
	enter(ws, EDDYI_WS_OVER, error);
	eddy_op_cancel(&ws->output.sender.op);
	if (ws->receiving)
		eddy_op_cancel(ws->receiving);
}

/* The first close frame counts. */
static void note_code(struct eddy_ws *ws, unsigned code)
{
	if (ws->output.outcome.code == EDDY_WS_ABNORMAL)
		ws->output.outcome.code = code;
}

static void put_close(struct eddy_ws *ws, unsigned code, struct eddy_str reason)
{
	char payload[EDDYI_WS_CONTROL_MAX] = { (char)(code >> 8), (char)code };
	size_t len = reason.len < sizeof(payload) - 2 ? reason.len : sizeof(payload) - 2;

	if (len)
		memcpy(payload + 2, reason.ptr, len);
	len = code == EDDY_WS_NO_CODE ? 0 : len + 2;
	if (put_control(ws, EDDYI_WS_CLOSE, eddy_str(payload, len)))
		note_code(ws, code);
}

/* The closing handshake is over: the peer's close frame has come, or none is awaited. */
static void close_now(struct eddy_ws *ws, unsigned code, int result)
{
	put_close(ws, code, EDDY_STR(""));
	if (ws->state != EDDYI_WS_OVER)
		enter(ws, EDDYI_WS_CLOSED, result);
}

static void fail(struct eddy_ws *ws, int error)
{
	close_now(ws,
		  error == -EMSGSIZE ? EDDY_WS_TOO_LARGE :
		  error == -EILSEQ   ? EDDY_WS_NOT_UTF8 :
		  error == -ENOMEM   ? EDDY_WS_TRY_LATER :
				       EDDY_WS_PROTOCOL_ERROR,
		  error);
}

/* The peer has broken a rule. Answers to the messages before it are sent first. */
static void note_violation(struct eddy_ws *ws, int error)
{
	if (!ws->left && (ws->given || !eddy_list_is_empty(&ws->items)))
		ws->result = error;
	else
		fail(ws, error);
}

/* The handler has taken all messages. */
static void tell_violation(struct eddy_ws *ws)
{
	if (ws->result && ws->state < EDDYI_WS_CLOSED)
		fail(ws, ws->result);
}

void eddy_ws_close(struct eddy_ws *ws, unsigned code, const char *reason)
{
	if (code != EDDY_WS_NO_CODE && !eddyi_ws_is_code(code))
		code = EDDY_WS_FAILED;
	put_close(ws, code, eddy_str_from(reason));
	if (ws->state == EDDYI_WS_OPEN)
		enter(ws, EDDYI_WS_CLOSING, 0);
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
	return ws->waiting > WAITING_MAX && !eddy_list_is_empty(&ws->items) &&
	       ws->state < EDDYI_WS_CLOSED;
}

static void take_rest(struct eddy_ws *ws);

static void want_more(struct eddy_ws *ws)
{
	while (ws->rest.len && !is_full(ws))
		take_rest(ws);
	if (eddy_op_is_started(ws->receiving) || ws->state == EDDYI_WS_OVER ||
	    (ws->state < EDDYI_WS_CLOSED && (ws->result || is_full(ws))))
		return;
	ws->is_direct = false;
	ws->link->receive(ws);
}

static void take_close(struct eddy_ws *ws, struct eddy_str payload)
{
	int r = eddyi_ws_close_read(payload);

	if (r < 0) {
		note_violation(ws, r);
		return;
	}
	ws->peer_code = (uint16_t)r;
	note_code(ws, ws->peer_code);
	close_now(ws, ws->peer_code, 0);
}

/* Make room for more of the message. Return: 0, -ENOMEM. */
static int reserve(struct eddy_ws *ws, size_t more)
{
	size_t before = ws->message.len ? 0 : ITEM_SIZE;
	int r = eddyi_ws_buffer_grow(&ws->message, before + more);

	ws->message.len += r == 0 ? before : 0;
	return r;
}

/* Make an item of what has arrived of the message. */
static int deliver(struct eddy_ws *ws, const struct eddyi_ws_event *event)
{
	struct eddyi_ws_item *item;

	if (reserve(ws, 0) < 0)
		return -ENOMEM;
	/* Expanding may have taken much more memory than the result needs. */
	if (ws->input.is_compressed && ws->message.size > 2 * ws->message.len &&
	    (item = realloc(ws->message.bytes, ws->message.len)))
		ws->message.bytes = (char *)item;
	item = (void *)ws->message.bytes;
	/* One by one: the padding at the end has bytes. */
	item->len = ws->message.len - ITEM_SIZE;
	item->type = event->opcode;
	item->is_last = event->is_last;
	count_received(ws, event->is_last, 0);
	ws->message = (struct eddyi_ws_buffer){ 0 };
	ws->waiting += ITEM_SIZE;
	eddy_list_append(&ws->items, &item->node);
	wake(ws);
	return 0;
}

/* Get how much of the current payload may be received into its place; 0: nothing. */
static size_t direct_len(const struct eddy_ws *ws)
{
	const struct eddyi_ws_input *input = &ws->input;
	bool is_direct = ws->is_direct && input->in_frame && !input->is_compressed &&
			 !ws->rest.len && input->frame.len - input->arrived >= DIRECT_MIN;

	return is_direct ? (size_t)(input->frame.len - input->arrived) : 0;
}

/* Append a piece to the message. Return: 0, -EBADMSG, -EMSGSIZE, -ENOMEM. */
static int append_piece(struct eddy_ws *ws, const struct eddyi_ws_event *event)
{
	struct eddyi_ws_buffer *message = &ws->message;
	bool compressed = ws->input.is_compressed, streams = ws->options->streams;
	uint64_t max = streams ? EDDY_NEVER - ITEM_SIZE : ws->options->message_max;
	size_t more = event->bytes.len;
	/* A message of one frame gets exactly its memory, once it is needed. */
	bool grows = message->len || compressed || streams || direct_len(ws);
	int r = reserve(ws, grows ? more : (size_t)ws->input.frame.len);
	char *copy;

	if (r < 0)
		return r;
	if (!compressed) {
		if (more > max - (message->len - ITEM_SIZE))
			return -EMSGSIZE;
		eddyi_ws_input_copy(&ws->input, event, message->bytes + message->len);
		message->len += more;
		return 0;
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
	int r;

	/* Only the close frame of the peer is of use. */
	if (ws->left)
		return 0;
	r = append_piece(ws, event);
	if (r < 0)
		return r == -EBADMSG ? -EPROTO : r;
	fresh = eddy_str(ws->message.bytes + before, ws->message.len - before);
	ws->waiting += fresh.len;
	if (!count_memory(ws))
		return -ENOMEM;
	if (event->opcode == EDDYI_WS_TEXT && (!eddyi_utf8_check(&ws->utf8, fresh) ||
					       (event->is_last && !eddyi_utf8_is_whole(&ws->utf8))))
		return -EILSEQ;
	return event->is_last || (ws->options->streams && fresh.len) ? deliver(ws, event) : 0;
}

/* Handle plain bytes, until the socket is closed. A few compressed bytes may expand to many: no
 * more do than a handler has room for. Return: how many are left. */
static size_t parse(struct eddy_ws *ws, struct eddy_str rest)
{
	size_t max = ws->input.may_compress && ws->options->streams ? STREAMED_MAX : SIZE_MAX;
	struct eddyi_ws_event event;
	int r = 0;

	while (ws->state < EDDYI_WS_CLOSED && !ws->result) {
		struct eddy_str part = eddy_str(rest.ptr, rest.len < max ? rest.len : max);
		size_t before = part.len;

		if (ws->input.may_compress && rest.len && is_full(ws))
			return rest.len;
		r = eddyi_ws_input_next(&ws->input, &part, &event);
		rest = eddy_str_skip(rest, before - part.len);
		if (r == 0 && event.kind == EDDYI_WS_PIECE)
			r = take_piece(ws, &event);
		if (r < 0)
			note_violation(ws, r);
		else if (event.kind == EDDYI_WS_NOTHING && !rest.len)
			break;
		else if (event.kind == EDDYI_WS_NOTHING)
			continue;
		else if (event.opcode == EDDYI_WS_CLOSE)
			take_close(ws, event.bytes);
		else if (event.opcode == EDDYI_WS_PING)
			put_control(ws, EDDYI_WS_PONG, event.bytes);
	}
	return 0;
}

static void take_rest(struct eddy_ws *ws)
{
	struct eddy_str rest = eddy_str_skip(eddy_str(ws->rest.bytes, ws->rest.len), ws->rest_at);

	ws->rest_at = ws->rest.len - parse(ws, rest);
	if (ws->rest_at < ws->rest.len)
		return;
	eddyi_ws_buffer_deinit(&ws->rest);
	ws->rest_at = 0;
}

static int take(void *arg, const char *bytes, size_t len)
{
	struct eddy_ws *ws = arg;
	size_t left;

	count_received(ws, 0, len);
	left = ws->rest.len ? len : parse(ws, eddy_str(bytes, len));
	if (!left)
		return 0;
	if (eddyi_ws_buffer_grow(&ws->rest, left) < 0) {
		eddyi_ws_abort(ws, -ENOMEM);
		return 0;
	}
	memcpy(ws->rest.bytes + ws->rest.len, bytes + len - left, left);
	ws->rest.len += left;
	return 0;
}

/* Receive the rest of a large payload into its place, without a buffer in between. Pieces are
 * unmasked and checked while the processor's cache has them. */
static void receive_directly(struct eddy_ws *ws)
{
	size_t left = direct_len(ws);
	ssize_t r, here;
	char *at;

	ws->is_direct = false;
	if (!left || reserve(ws, left) < 0)
		return;
	at = ws->message.bytes + ws->message.len;
	/* Errors are those of the next receive, too. */
	r = eddyi_recv_now(ws->output.sender.wire->fd, at, left, MSG_DONTWAIT);
	for (; r > 0; r -= here, at += here) {
		here = r < PIECE_MAX ? r : PIECE_MAX;
		take(ws, at, (size_t)here);
	}
}

void eddyi_ws_received(struct eddy_ws *ws, struct eddy_str bytes, int error)
{
	struct eddyi_wire *wire = ws->output.sender.wire;
	int r = error;

	if (bytes.len) {
		ws->heard_ns = eddy_loop_now();
		ws->pinged_ns = 0;
		/* A full buffer: more has arrived. */
		ws->is_direct = bytes.len >= DIRECT_MIN && !eddy_op_is_started(ws->receiving) &&
				!wire->tls && !ws->options->streams;
		r = eddyi_tls_wire_take(wire, bytes, take, ws);
		/* A task receives the rest, unless it is busy. It uses the memory at once, and that
		 * of another socket next. */
		if (direct_len(ws) && ws->is_awaited && ws->state < EDDYI_WS_CLOSED)
			wake(ws);
		else if (ws->has_task)
			receive_directly(ws);
	} else if (error == 0) {
		r = -ECONNRESET;
	}
	if (r < 0 && r != -ENOBUFS && r != -EINTR && r != -ECANCELED)
		eddyi_ws_abort(ws, -ECONNRESET);
	/* On a route with .parks. */
	if ((direct_len(ws) || !eddy_list_is_empty(&ws->items)) && !ws->has_task && !ws->left &&
	    ws->state != EDDYI_WS_OVER)
		ws->has_task = ws->link->start(ws);
	if (!ws->has_task || !direct_len(ws))
		want_more(ws);
	settle(ws);
}

/* ---- between the ends ---- */

static void sent(struct eddyi_sender *sender, int error)
{
	struct eddy_ws *ws = eddy_of(sender, struct eddy_ws, output.sender);

	if (error < 0)
		eddyi_ws_abort(ws, -ECONNRESET);
	if (ws->state != EDDYI_WS_OVER)
		eddyi_sender_flow(sender);
	if (has_room(ws))
		wake(ws);
	settle(ws);
}

static const struct eddyi_sender_verbs sender_verbs = { eddyi_ws_output_next, eddyi_ws_output_take,
							sent };

static void time_is_up(struct eddy_timer *timer)
{
	struct eddy_ws *ws = eddy_of(timer, struct eddy_ws, timer);
	uint64_t now = eddy_loop_now(), ping_ns = ws->options->ping_ns,
		 pong_ns = ws->options->pong_ns,
		 stalled_ns = eddyi_sender_stalled_ns(&ws->output.sender);

	if (ws->state == EDDYI_WS_OVER) {
		settle(ws);
		return;
	}
	/* Queued frames are still sent, as long as the peer takes some. */
	if (ws->state != EDDYI_WS_OPEN && eddyi_sender_is_busy(&ws->output.sender) &&
	    stalled_ns < CLOSE_NS) {
		set_timer(ws, now + CLOSE_NS - stalled_ns);
		return;
	}
	/* The peer may have sent a pong that is not read, since the handler is busy. */
	if (!eddy_op_is_started(ws->receiving)) {
		ws->heard_ns = now;
		ws->pinged_ns = 0;
	}
	/* Not by the time since the last bytes: a loop that was busy has sent no ping. */
	if (ws->state != EDDYI_WS_OPEN || (ws->pinged_ns && now - ws->pinged_ns >= pong_ns) ||
	    (stalled_ns >= ping_ns && stalled_ns - ping_ns >= pong_ns)) {
		eddyi_ws_abort(ws, -ETIMEDOUT);
		return;
	}
	if (now - ws->heard_ns >= ping_ns && !ws->pinged_ns) {
		ws->pinged_ns = now;
		put_control(ws, EDDYI_WS_PING, EDDY_STR(""));
	}
	if (ws->state == EDDYI_WS_OPEN)
		set_timer(ws, !ws->pinged_ns        ? ws->heard_ns + ping_ns :
			      pong_ns != EDDY_NEVER ? ws->pinged_ns + pong_ns :
						      now + ping_ns);
}

void eddyi_ws_options_fill(struct eddy_ws_options *options)
{
	options->message_max = options->message_max ? options->message_max : MESSAGE_MAX;
	/* So that sums don't overflow. */
	if (options->message_max > MESSAGE_LIMIT)
		options->message_max = MESSAGE_LIMIT;
	options->queue_max = options->queue_max ? options->queue_max : QUEUE_MAX;
	options->ping_ns = options->ping_ns ? options->ping_ns : PING_NS;
	options->pong_ns = options->pong_ns ? options->pong_ns : PING_NS;
	options->deflate.level = options->deflate.level ? options->deflate.level : 1;
	options->deflate.min = options->deflate.min ? options->deflate.min : DEFLATE_MIN;
	eddyi_figure_offer(eddyi_ws_figures, sizeof(eddyi_ws_figures) / sizeof(*eddyi_ws_figures));
}

void eddyi_ws_init(struct eddy_ws *ws)
{
	eddyi_ws_output_init(&ws->output, !ws->app);
	ws->output.sender.verbs = &sender_verbs;
	eddy_list_init(&ws->items);
	eddy_event_init(&ws->changed);
	eddy_mutex_init(&ws->sending);
	ws->timer.fire = time_is_up;
	ws->output.outcome.code = ws->peer_code = EDDY_WS_ABNORMAL;
}

void eddyi_ws_compress(struct eddy_ws *ws, struct eddyi_ws_side sends,
		       struct eddyi_ws_side receives)
{
	ws->input.may_compress = true;
	ws->deflate =
		(struct eddyi_ws_deflate){ .side = sends, .level = ws->options->deflate.level };
	ws->inflate = (struct eddyi_ws_deflate){ .side = receives, .inflates = true };
}

void eddyi_ws_begin(struct eddy_ws *ws, const struct eddyi_ws_link *link, struct eddy_op *receiving,
		    struct eddyi_wire *wire)
{
	struct eddy_str pending = eddyi_wire_pending(wire);

	ws->link = link;
	ws->receiving = receiving;
	ws->output.sender.wire = wire;
	ws->input.is_server = ws->app;
	ws->input.max = ws->options->streams ? EDDY_NEVER : ws->options->message_max;
	if (ws->input.may_compress && !ws->options->streams)
		ws->input.max = DEFLATED_MAX(ws->options->message_max);
	ws->heard_ns = eddy_loop_now();
	/* It may have been closed in .open, or have failed there. */
	if (ws->state != EDDYI_WS_OPEN)
		set_timer(ws, ws->heard_ns + CLOSE_NS);
	else if (ws->options->ping_ns != EDDY_NEVER)
		set_timer(ws, ws->heard_ns + ws->options->ping_ns);
	if (ws->state == EDDYI_WS_OVER)
		eddy_op_cancel(receiving);
	else
		eddyi_sender_flow(&ws->output.sender);
	take(ws, pending.ptr, pending.len);
	eddyi_wire_consume(wire, pending.len);
	if (eddyi_tls_wire_take(wire, EDDY_STR(""), take, ws) < 0)
		eddyi_ws_abort(ws, -ECONNRESET);
	want_more(ws);
}

/* ---- the handler ---- */

/* Call the handler once. Return: what it returns. */
static int call(struct eddy_ws *ws, eddy_ws_fn *handler, void *data)
{
	struct eddy_scope scope;
	int r;

	if (!ws->notes)
		return handler(ws, data);
	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .log_fields = ws->notes->fields,
							       .locals = ws->notes->locals });
	r = handler(ws, data);
	eddy_scope_end(&scope);
	return r;
}

/* The task ends. */
static void park(struct eddy_ws *ws)
{
	free_given(ws);
	tell_violation(ws);
	/* A message that it has begun has no end. */
	if (ws->sending.holder == eddy_task_self()) {
		eddy_ws_close(ws, EDDY_WS_FAILED, NULL);
		eddy_mutex_unlock(&ws->sending);
	}
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
	/* Started for the rest of a message, which may be incomplete still. */
	int r = direct_len(ws) ? -EAGAIN : call(ws, handler, data);

	receive_directly(ws);
	while (r == -EAGAIN && ws->options->parks && !eddy_list_is_empty(&ws->items))
		r = call(ws, handler, data);
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
	int r;

	if (!ws->link)
		return -EINVAL;
	free_given(ws);
	/* Others are served between messages that take much time for the few bytes that they came
	 * in. */
	r = ws->rest.len ? eddy_yield() : 0;
	if (r < 0)
		return r;
	while (eddy_list_is_empty(&ws->items)) {
		tell_violation(ws);
		if (ws->state >= EDDYI_WS_CLOSED)
			return ws->result;
		if (ws->stops)
			return -ESHUTDOWN;
		if (ws->options->parks)
			return -EAGAIN;
		ws->is_awaited = true;
		r = await_change(ws);
		ws->is_awaited = false;
		receive_directly(ws);
		want_more(ws);
		if (r < 0)
			return r;
	}
	item = eddy_of(eddy_list_shift(&ws->items), struct eddyi_ws_item, node);
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

	while (r == 0 && ws->state == EDDYI_WS_OPEN && !has_room(ws))
		r = ws->link ? await_change(ws) : -ENOBUFS;
	return r == 0 && ws->state != EDDYI_WS_OPEN ? -EPIPE : r;
}

/* Send a piece of a message that this task sends, and let others send at its end. */
static int send_piece(struct eddy_ws *ws, uint8_t opcode, struct eddy_str bytes, bool is_last)
{
	struct eddyi_ws_frame frame = { .fin = is_last, .opcode = opcode };
	struct eddyi_ws_buffer packed = { 0 };
	bool first = opcode != EDDYI_WS_CONTINUATION;
	int r = await_room(ws);

	if (first)
		ws->packs = ws->input.may_compress &&
			    (!is_last || bytes.len >= ws->options->deflate.min);
	if (r == 0 && ws->packs) {
		r = eddyi_ws_deflate_feed(&ws->deflate, bytes, is_last, &packed, EDDY_NEVER);
		bytes = eddy_str(packed.bytes, packed.len);
	}
	frame.compressed = ws->packs && first;
	frame.len = bytes.len;
	if (r == 0)
		r = put_frame(ws, &frame, bytes.ptr);
	eddyi_ws_buffer_deinit(&packed);
	/* The rest of a message that has begun can't be left out, and neither can compressed
	 * bytes. */
	if (r < 0 && r != -EPIPE && (!first || (ws->packs && r != -ECANCELED && r != -ENOBUFS)))
		eddyi_ws_abort(ws, -ECONNRESET);
	if (r < 0 || is_last)
		eddy_mutex_unlock(&ws->sending);
	return r;
}

int eddy_ws_send_some(struct eddy_ws *ws, enum eddy_ws_type type, struct eddy_str bytes,
		      bool is_last)
{
	bool first = ws->sending.holder != eddy_task_self();
	int r;

	ws->senders++;
	r = first ? eddy_mutex_lock(&ws->sending) : 0;
	if (r == 0)
		r = send_piece(ws, first ? type : EDDYI_WS_CONTINUATION, bytes, is_last);
	if (!--ws->senders && ws->state == EDDYI_WS_OVER)
		settle(ws);
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
