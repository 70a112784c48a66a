/* Invariants:
 * 1. A loop's question is in the loop, so that a dump allocates nothing. It is posted while the loop
 *    is registered, and so delivered before the loop ends; not again before that.
 * 2. One question is open at a time. A loop that gets its own when it is no longer open is too late,
 *    and writes nothing.
 * 3. Lock order: asking, registry, desk.
 */
#include <eddy/dump.h>

#include "dump.h"
#include "core/loop.h"
#include "peek.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#define PATIENCE_ONE (100 * EDDY_MS)
#define PATIENCE_ALL EDDY_SECOND

static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER;

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	enum { CLOSED, OPEN, ANSWERING } state;
	const struct eddy_loop *loop; /* the loop that is asked */
	struct eddyi_out *out;
} desk = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.changed = PTHREAD_COND_INITIALIZER,
};

static void answer(struct eddy_message *message)
{
	struct eddy_loop *loop = eddy_of(message, struct eddy_loop, dump.question);
	bool wanted;

	pthread_mutex_lock(&desk.lock);
	loop->dump.is_asked = false;
	wanted = desk.state == OPEN && desk.loop == loop;
	if (wanted)
		desk.state = ANSWERING;
	pthread_mutex_unlock(&desk.lock);
	if (!wanted)
		return;
	eddyi_dump_loop(desk.out, loop);
	pthread_mutex_lock(&desk.lock);
	desk.state = CLOSED;
	pthread_cond_broadcast(&desk.changed);
	pthread_mutex_unlock(&desk.lock);
}

/* Registry locked. */
static void ask(struct eddy_loop *loop, struct eddyi_out *out)
{
	pthread_mutex_lock(&desk.lock);
	desk.state = OPEN;
	desk.loop = loop;
	desk.out = out;
	/* A question of an earlier dump that is still queued answers this one. */
	if (!loop->dump.is_asked) {
		loop->dump.is_asked = true;
		loop->dump.question.deliver = answer;
		eddy_loop_post(loop, &loop->dump.question);
		/* This thread is about to block, so its ring would not send the wake-up. */
		eddyi_loop_wake(loop);
	}
	pthread_mutex_unlock(&desk.lock);
}

/* Return: whether the loop has answered. */
static bool await_answer(uint64_t until_ns)
{
	bool answered;

	pthread_mutex_lock(&desk.lock);
	while (desk.state != CLOSED) {
		uint64_t now = eddy_now(), left = until_ns > now ? until_ns - now : 0;
		struct timespec at;

		/* A loop that writes will finish: its writes end, or block this thread too. */
		if (!left && desk.state == OPEN)
			break;
		clock_gettime(CLOCK_REALTIME, &at);
		left += (uint64_t)at.tv_nsec + EDDY_MS;
		at.tv_sec += (time_t)(left / EDDY_SECOND);
		at.tv_nsec = (long)(left % EDDY_SECOND);
		pthread_cond_timedwait(&desk.changed, &desk.lock, &at);
	}
	answered = desk.state == CLOSED;
	desk.state = CLOSED;
	pthread_mutex_unlock(&desk.lock);
	return answered;
}

/* Registry locked, so that the loop and its stacks stay allocated. */
static void say_busy(struct eddyi_out *out, const struct eddy_loop *loop)
{
	uint64_t now = eddy_now();
	struct eddyi_peeked peeked;

	eddyi_out(out, "eddy: loop %u \"", loop->id);
	eddyi_out_name(out, loop->name);
	eddyi_out(out, "\" (thread %d) does not answer: ", (int)loop->tid);
	if (eddyi_peek(loop, &peeked)) {
		eddyi_out(out, "#%llu \"", (unsigned long long)peeked.id);
		eddyi_out_name(out, peeked.name);
		eddyi_out(out, "\" (");
		eddyi_out(out, "%s", peeked.label[0] ? peeked.label : eddyi_place(peeked.where));
		eddyi_out(out, ") holds it");
	} else {
		eddyi_out(out, "a completion function holds it");
	}
	if (peeked.turn_ns && peeked.turn_ns < now) {
		eddyi_out(out, ", its turn began ");
		eddyi_out_duration(out, now - peeked.turn_ns);
		eddyi_out(out, " ago");
	}
	eddyi_out(out, "\n");
}

/* Return: the first registered loop with an id above `id`, with the registry locked; NULL if there
 * is none, and it is not locked. */
static struct eddy_loop *lock_next(unsigned id)
{
	struct eddy_node *loops = eddyi_registry_lock();

	for (struct eddy_node *node = loops->next; node != loops; node = node->next) {
		struct eddy_loop *loop = eddy_of(node, struct eddy_loop, registered);

		if (loop->id > id)
			return loop;
	}
	eddyi_registry_unlock();
	return NULL;
}

static void dump_other(struct eddyi_out *out, unsigned id, uint64_t until_ns)
{
	uint64_t until_one = eddy_now() + PATIENCE_ONE;
	struct eddy_loop *loop;

	if (await_answer(until_one < until_ns ? until_one : until_ns))
		return;
	loop = lock_next(id - 1);
	if (!loop)
		return;
	if (loop->id == id)
		say_busy(out, loop);
	eddyi_registry_unlock();
}

static void dump_all(void *arg)
{
	struct eddyi_out *out = arg;
	uint64_t until_ns = eddy_now() + PATIENCE_ALL;
	struct eddy_loop *loop;
	unsigned id = 0;

	while ((loop = lock_next(id))) {
		bool is_this = loop == eddy_loop_self();

		id = loop->id;
		if (!is_this)
			ask(loop, out);
		eddyi_registry_unlock();
		if (is_this)
			eddyi_dump_loop(out, loop);
		else
			dump_other(out, id, until_ns);
	}
}

int eddy_dump_all(int fd)
{
	struct eddyi_out out = { .fd = fd };

	pthread_mutex_lock(&asking);
	eddy_on_loop_stack(dump_all, &out);
	eddyi_out_flush(&out);
	pthread_mutex_unlock(&asking);
	return out.error;
}
