#include "events.h"

#include "exchange/exchange.h"

#include <eddy/list.h>
#include <eddy/loop.h>
#include <eddy/mutex.h>
#include <eddy/scope.h>
#include <eddy/timer.h>
#include <errno.h>
#include <stdlib.h>

/* Invariant: the timer is armed from the beginning of the stream to its end, unless `comment_ns` is
 * EDDY_NEVER. */
struct eddyi_events {
	struct eddy_res *res;
	struct eddy_mutex sending;
	struct eddy_timer timer; /* fires when a comment may be due */
	uint64_t comment_ns;
	uint64_t sent_ns;
};

/* ---- the format ---- */

static size_t put(char *text, size_t at, struct eddy_str piece)
{
	if (text && piece.len)
		memcpy(text + at, piece.ptr, piece.len);
	return at + piece.len;
}

/* Put each line as a field. CR, LF and CR LF end a line, also a last one, which is empty then. */
static size_t put_lines(char *text, size_t at, const char *name, struct eddy_str lines)
{
	for (;;) {
		size_t len = 0;

		while (len < lines.len && lines.ptr[len] != '\r' && lines.ptr[len] != '\n')
			len++;
		at = put(text, at, eddy_str_from(name));
		at = put(text, at, eddy_str(lines.ptr, len));
		at = put(text, at, EDDY_STR("\n"));
		if (len == lines.len)
			return at;
		lines = eddy_str_skip(lines, len);
		lines = eddy_str_skip(lines, eddy_str_starts(lines, EDDY_STR("\r\n")) ? 2 : 1);
	}
}

size_t eddyi_events_format(const struct eddy_events_message *message, char *text)
{
	uint64_t retry_ms = message->retry_ns / EDDY_MS;
	char ms[EDDY_U64_SIZE];
	const struct {
		const char *name;
		struct eddy_str value;
	} fields[] = {
		{ "id: ", message->id },
		{ "event: ", message->event },
		{ "retry: ",
		  eddy_str(message->retry_ns ? ms : NULL, eddy_u64_format(retry_ms, ms)) },
		{ "data: ", message->data },
		{ ": ", message->comment },
	};
	size_t at = 0;

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (fields[i].value.ptr)
			at = put_lines(text, at, fields[i].name, fields[i].value);
	return put(text, at, EDDY_STR("\n"));
}

static bool is_line(struct eddy_str value)
{
	return !value.len ||
	       (!memchr(value.ptr, '\n', value.len) && !memchr(value.ptr, '\r', value.len) &&
		!memchr(value.ptr, 0, value.len));
}

bool eddyi_events_is_valid(const struct eddy_events_message *message)
{
	return is_line(message->id) && is_line(message->event);
}

/* ---- sending ---- */

int eddyi_events_write(struct eddy_res *res, struct eddy_str text)
{
	struct eddyi_events *events = res->events;
	int r = eddy_mutex_lock(&events->sending);

	if (r == 0) {
		r = eddy_res_write(res, text.ptr, text.len);
		events->sent_ns = eddy_loop_now();
		eddy_mutex_unlock(&events->sending);
	}
	if (r == -EPIPE || (r == -ECANCELED && res->req->client_left))
		return -ECONNRESET;
	return r;
}

/* Task: send a comment. Its failure cancels the handler, since the client has left. */
static int keep_alive(void *arg)
{
	struct eddyi_events *events = arg;

	if (!events->sending.holder &&
	    eddyi_events_write(events->res, EDDY_STR(EDDYI_EVENTS_KEEP_ALIVE)) < 0)
		eddyi_exchange_leave(events->res->req);
	return 0;
}

static void look(struct eddy_timer *timer)
{
	struct eddyi_events *events = eddy_of(timer, struct eddyi_events, timer);
	uint64_t now = eddy_loop_now(), due = events->sent_ns + events->comment_ns;

	if (now >= due) {
		due = now + events->comment_ns;
		/* Without memory, the next one may succeed. */
		if (events->res->req->scope)
			eddy_scope_spawn(events->res->req->scope, "keep-alive", keep_alive, events);
	}
	eddy_timer_arm(timer, due);
}

/* Send no more comments. Suspends while one is being sent. */
static void end(struct eddy_res *res)
{
	struct eddyi_events *events = res->events;

	eddy_timer_disarm(&events->timer);
	if (eddy_mutex_lock(&events->sending) == 0)
		eddy_mutex_unlock(&events->sending);
}

int eddy_res_events(struct eddy_res *res, const struct eddy_events_options *options)
{
	struct eddyi_events *events;
	int r;

	if (res->events || res->head_sent)
		return res->events ? res->failed : -EINVAL;
	events = eddyi_arena_alloc(&res->req->arena, sizeof(*events));
	if (!events)
		return -ENOMEM;
	*events = (struct eddyi_events){
		.res = res,
		.timer.fire = look,
		.comment_ns = options && options->comment_ns ? options->comment_ns :
							       EDDYI_EVENTS_COMMENT_NS,
	};
	eddy_mutex_init(&events->sending);
	r = eddy_res_set_z(res, "content-type", "text/event-stream");
	if (r == 0)
		r = eddy_res_set_z(res, "cache-control", "no-store");
	if (r == 0)
		r = eddy_res_write(res, "", 0);
	if (r < 0)
		return r;
	res->events = events;
	res->end_events = end;
	events->sent_ns = eddy_loop_now();
	if (events->comment_ns != EDDY_NEVER)
		eddy_timer_arm(&events->timer, events->sent_ns + events->comment_ns);
	return 0;
}

int eddy_events_send(struct eddy_res *res, const struct eddy_events_message *message)
{
	char *text;
	int r;

	if (!eddyi_events_is_valid(message))
		return -EINVAL;
	if (!res->events)
		return res->failed ? res->failed : -EPIPE;
	text = malloc(eddyi_events_format(message, NULL));
	if (!text)
		return -ENOMEM;
	r = eddyi_events_write(res, eddy_str(text, eddyi_events_format(message, text)));
	free(text);
	return r;
}

struct eddy_str eddy_events_last_id(const struct eddy_req *req)
{
	return eddy_req_header(req, "last-event-id");
}
