#include "ws_output.h"

#include <eddy/internal/outside.h>
#include <eddy/list.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

/* A payload that is copied behind its head: one piece of memory takes the kernel less time than
 * two. */
#define SMALL_MAX 256

#define MESSAGES "eddy_websocket_messages_total", "Messages of WebSockets.", "direction"
#define BYTES                                                                                      \
	"eddy_websocket_bytes_total", "Bytes of frames of WebSockets, before TLS.", "direction"

struct eddyi_figure eddyi_ws_figures[4] = {
	{ MESSAGES, .value = "received" },
	{ BYTES, .value = "received" },
	{ MESSAGES, .value = "sent" },
	{ BYTES, .value = "sent" },
};

/* A frame in a queue. */
struct queued {
	struct eddy_node node;
	struct eddyi_ws_shared *shared;
	size_t at; /* bytes before have gone */
};

/* Memory counts as well as bytes: frames may be tiny. */
#define OVERHEAD (sizeof(struct queued) + sizeof(struct eddyi_ws_shared))

static struct eddyi_ws_output *output_of(struct eddyi_sender *sender)
{
	return eddy_of(sender, struct eddyi_ws_output, sender);
}

static void count_sent(struct eddyi_ws_output *output, uint64_t messages, uint64_t bytes)
{
	output->outcome.messages_sent += messages;
	output->outcome.sent += bytes;
	eddyi_figure_add(&eddyi_ws_figures[2], messages);
	eddyi_figure_add(&eddyi_ws_figures[3], bytes);
}

/* ---- frames ---- */

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

struct eddyi_ws_shared *eddyi_ws_shared_new(const struct eddyi_ws_frame *frame, const char *payload)
{
	unsigned char head[EDDYI_WS_HEAD_MAX];
	size_t head_len = eddyi_ws_frame_format(frame, head);
	struct eddyi_ws_shared *shared = malloc(sizeof(*shared) + head_len + frame->len);

	if (!shared)
		return NULL;
	*shared = (struct eddyi_ws_shared){ .refs = 1, .len = head_len + frame->len };
	memcpy(shared->bytes, head, head_len);
	eddyi_ws_mask(shared->bytes + head_len, payload, frame->len, frame->mask, 0);
	return shared;
}

void eddyi_ws_shared_unref(struct eddyi_ws_shared *shared)
{
	if (!shared || __atomic_sub_fetch(&shared->refs, 1, __ATOMIC_ACQ_REL) != 0)
		return;
	eddyi_ws_shared_unref(shared->packed);
	free(shared);
}

/* A client masks each frame by a key of its own. Return: NULL on failure. */
static struct eddyi_ws_shared *ref(const struct eddyi_ws_output *output,
				   struct eddyi_ws_shared *shared)
{
	struct eddyi_ws_frame frame;
	int head_len;

	if (!output->masks) {
		__atomic_add_fetch(&shared->refs, 1, __ATOMIC_RELAXED);
		return shared;
	}
	head_len = eddyi_ws_frame_parse(eddy_str(shared->bytes, shared->len), &frame);
	frame.masked = true;
	if (!make_mask(frame.mask))
		return NULL;
	return eddyi_ws_shared_new(&frame, shared->bytes + head_len);
}

/* ---- the queue ---- */

static void drop(struct eddy_node *node)
{
	struct queued *queued = eddy_of(node, struct queued, node);

	eddyi_ws_shared_unref(queued->shared);
	free(queued);
}

void eddyi_ws_output_init(struct eddyi_ws_output *output, bool masks)
{
	eddy_list_init(&output->queue);
	eddy_list_init(&output->later);
	output->masks = masks;
}

void eddyi_ws_output_deinit(struct eddyi_ws_output *output)
{
	struct eddy_node *node;

	while ((node = eddy_list_shift(&output->queue)) || (node = eddy_list_shift(&output->later)))
		drop(node);
}

struct eddy_str eddyi_ws_output_next(struct eddyi_sender *sender)
{
	const struct eddyi_ws_output *output = output_of(sender);
	const struct queued *first = eddy_of(output->queue.next, struct queued, node);

	if (eddy_list_is_empty(&output->queue))
		return EDDY_STR("");
	return eddy_str(first->shared->bytes + first->at, first->shared->len - first->at);
}

void eddyi_ws_output_take(struct eddyi_sender *sender, size_t len)
{
	struct eddyi_ws_output *output = output_of(sender);
	struct queued *first = eddy_of(output->queue.next, struct queued, node);

	first->at += len;
	output->queued -= len;
	if (first->at < first->shared->len)
		return;
	output->queued -= OVERHEAD;
	drop(eddy_list_shift(&output->queue));
}

/* Takes the reference; NULL: there is no memory. Return: 0, -ENOMEM. */
static int append(struct eddyi_ws_output *output, struct eddy_node *queue,
		  struct eddyi_ws_shared *shared, size_t at)
{
	struct queued *queued = shared ? malloc(sizeof(*queued)) : NULL;

	if (!queued) {
		eddyi_ws_shared_unref(shared);
		/* Nothing may follow a part of a frame. */
		if (at)
			eddyi_shutdown_now(output->sender.wire->fd, SHUT_RDWR);
		return -ENOMEM;
	}
	*queued = (struct queued){ .shared = shared, .at = at };
	eddy_list_append(queue, &queued->node);
	output->queued += shared->len - at + OVERHEAD;
	return 0;
}

/* A pong for the last ping is enough (RFC 6455 section 5.5.3): a peer that does not read gets no
 * others. The first of the queue may be being sent. */
static void drop_pong(struct eddyi_ws_output *output)
{
	struct queued *last = eddy_of(output->queue.prev, struct queued, node);

	if (output->queue.next == output->queue.prev ||
	    (last->shared->bytes[0] & 0xf) != EDDYI_WS_PONG)
		return;
	output->queued -= last->shared->len + OVERHEAD;
	eddy_list_remove(&last->node);
	drop(&last->node);
}

int eddyi_ws_output_put(struct eddyi_ws_output *output, struct eddyi_ws_frame *frame,
			const char *payload)
{
	unsigned char head[EDDYI_WS_HEAD_MAX + SMALL_MAX];
	struct iovec pieces[] = { { head, 0 }, { (void *)payload, frame->len } };
	bool joined = frame->len <= SMALL_MAX;
	struct eddy_node *node;
	size_t gone = 0, len;
	int r = 0;

	frame->masked = output->masks;
	if (frame->masked && !make_mask(frame->mask))
		return -EAGAIN;
	pieces->iov_len = eddyi_ws_frame_format(frame, head);
	len = pieces->iov_len + frame->len;
	if (joined) {
		eddyi_ws_mask(head + pieces->iov_len, payload, frame->len, frame->mask, 0);
		pieces->iov_len = len;
	}
	count_sent(output, frame->fin && !eddyi_ws_is_control(frame->opcode), len);
	if (joined || !frame->masked)
		gone = eddyi_sender_try(&output->sender, pieces, joined ? 1 : 2);
	if (frame->opcode == EDDYI_WS_PONG)
		drop_pong(output);
	if (gone < len)
		r = append(output, &output->queue, eddyi_ws_shared_new(frame, payload), gone);
	if (r == 0 && !eddyi_ws_is_control(frame->opcode))
		output->in_message = !frame->fin;
	while (!output->in_message && (node = eddy_list_shift(&output->later)))
		eddy_list_append(&output->queue, node);
	if (output->queued)
		eddyi_sender_flow(&output->sender);
	return r;
}

int eddyi_ws_output_share(struct eddyi_ws_output *output, struct eddyi_ws_shared *const *shared,
			  size_t count, size_t max)
{
	struct eddy_node *queue = output->in_message ? &output->later : &output->queue;
	struct iovec pieces[EDDYI_WS_SHARED_MAX];
	size_t gone = 0;
	int r = 0;

	for (size_t i = 0; i < count; i++)
		pieces[i] = (struct iovec){ shared[i]->bytes, shared[i]->len };
	if (!output->in_message && !output->masks)
		gone = eddyi_sender_try(&output->sender, pieces, count);
	for (size_t i = 0; i < count; i++) {
		size_t len = shared[i]->len, here = gone < len ? gone : len;

		gone -= here;
		if (!here && output->queued && output->queued + len > max) {
			r = -ENOBUFS;
			continue;
		}
		count_sent(output, 1, len);
		if (here < len && append(output, queue, ref(output, shared[i]), here) < 0)
			r = r < 0 ? r : -ENOMEM;
	}
	if (output->queued)
		eddyi_sender_flow(&output->sender);
	return r;
}
