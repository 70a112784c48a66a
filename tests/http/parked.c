/* Tests of http/src/parked/parked.h: a kind of its own, which counts what is asked of it. */
#include "parked/parked.h"

#include "app/app.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/http.h>
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

struct waiter {
	struct eddyi_parked parked;
	struct eddy_timeout timeout;
	struct eddy_timeout_queue *queue;
	char got[64];
	size_t len;
	int result; /* of the last end of a receive */
	unsigned resumed, evicted;
};

static struct {
	struct eddyi_conns conns;
	struct eddy_timeout_queue queue, soon;
	struct eddy_event gone, resumed;
	unsigned evictable, freed;
} rig;

static struct waiter *waiter_of(const struct eddyi_parked *parked)
{
	return eddy_of(parked, struct waiter, parked);
}

static void resume(struct eddyi_parked *parked, struct eddy_str bytes, int result, bool last)
{
	struct waiter *waiter = waiter_of(parked);

	if (bytes.len)
		memcpy(waiter->got + waiter->len, bytes.ptr, bytes.len);
	waiter->len += bytes.len;
	waiter->result = result;
	waiter->resumed++;
	if (bytes.len)
		eddy_event_set(&rig.resumed);
	if (!last)
		return;
	if (result == 0 || parked->evicted || parked->expired)
		eddyi_parked_close(parked);
	else
		eddyi_parked_wait(parked, EDDYI_STANDING_IDLE, waiter->queue, 0);
}

static void evict(struct eddyi_parked *parked)
{
	waiter_of(parked)->evicted++;
}

static bool is_waiting(const struct eddyi_parked *parked)
{
	(void)parked;
	return true;
}

static void describe(const struct eddyi_parked *parked, char text[EDDYI_PARKED_TEXT_SIZE])
{
	(void)parked;
	strcpy(text, "a waiter");
}

static void free_waiter(struct eddyi_parked *parked)
{
	(void)parked;
	rig.freed++;
}

static const struct eddyi_parked_verbs verbs = {
	.resume = resume,
	.evict = evict,
	.is_waiting = is_waiting,
	.describe = describe,
	.free = free_waiter,
};

static void time_is_up(struct eddy_timeout *timeout)
{
	eddyi_parked_expire(&eddy_of(timeout, struct waiter, timeout)->parked);
}

static void evictable(struct eddyi_conns *conns)
{
	(void)conns;
	rig.evictable++;
}

static void gone(struct eddyi_conns *conns)
{
	if (!conns->count)
		eddy_event_set(&rig.gone);
}

/* Return: the other end. */
static int begin(struct waiter *waiter)
{
	int fds[2];

	cr_assert(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
	*waiter = (struct waiter){ .parked = { .verbs = &verbs, .timeout = &waiter->timeout },
				   .timeout.expire = time_is_up,
				   .queue = &rig.queue };
	cr_assert(eq(int, eddyi_parked_begin(&waiter->parked, &rig.conns, fds[0]), 0));
	return fds[1];
}

static void wait_idle(struct waiter *waiter)
{
	eddyi_parked_wait(&waiter->parked, EDDYI_STANDING_IDLE, waiter->queue, 0);
}

static void await(struct eddy_event *event)
{
	cr_assert(eq(int, eddy_event_wait(event), 0));
	eddy_event_clear(event);
}

static int with_rig(void (*go)(void))
{
	struct eddy_app *app = eddy_app_new();
	int r = eddy_buffers_prepare();

	rig.conns = (struct eddyi_conns){ .app = app, .evictable = evictable, .gone = gone };
	eddyi_conns_init(&rig.conns);
	cr_assert(eq(int, eddyi_holders_open(&rig.conns.holders, 16), 0));
	eddy_timeout_queue_init(&rig.queue, 1000 * EDDY_SECOND);
	eddy_timeout_queue_init(&rig.soon, 10 * EDDY_MS);
	eddy_event_init(&rig.gone);
	eddy_event_init(&rig.resumed);
	if (r == 0)
		go();
	cr_expect(eq(uint, rig.conns.count, 0));
	eddy_timeout_queue_deinit(&rig.queue);
	eddy_timeout_queue_deinit(&rig.soon);
	eddyi_conns_deinit(&rig.conns);
	eddy_app_free(app);
	return r;
}

static int root(void *arg)
{
	return with_rig(*(void (**)(void))arg);
}

static void run(void (*go)(void))
{
	cr_assert(eq(int, eddy_run(NULL, root, &go), 0));
}

static void be_resumed(void)
{
	struct waiter waiter;
	int fd = begin(&waiter);

	cr_expect(eq(uint, rig.conns.count, 1));
	wait_idle(&waiter);
	cr_expect(eq(uint, rig.evictable, 0));
	/* The server wants to know only while a client waits for a place. */
	rig.conns.crowded = true;
	eddyi_parked_leave(&waiter.parked);
	wait_idle(&waiter);
	cr_expect(eq(uint, rig.evictable, 1));
	cr_assert(eq(sz, (size_t)write(fd, "one", 3), 3));
	while (waiter.len < 3)
		await(&rig.resumed);
	cr_expect(waiter.len == 3 && memcmp(waiter.got, "one", 3) == 0);
	/* The end. */
	close(fd);
	await(&rig.gone);
	cr_expect(eq(int, waiter.result, 0));
	cr_expect(eq(uint, rig.freed, 1));
}

Test(parked, is_resumed_by_what_arrives)
{
	run(be_resumed);
}

static void expire(void)
{
	struct waiter waiter;
	int fd = begin(&waiter);

	waiter.queue = &rig.soon;
	wait_idle(&waiter);
	await(&rig.gone);
	cr_expect(waiter.parked.expired && waiter.result < 0);
	close(fd);
}

Test(parked, is_resumed_as_its_time_is_up)
{
	run(expire);
}

static void make_room(void)
{
	struct waiter idle, busy;
	int fds[2] = { begin(&idle), begin(&busy) };
	uint64_t until;

	cr_expect(eq(int, eddyi_conns_evict(&rig.conns, &until), -ENOENT));
	wait_idle(&idle);
	cr_expect(eq(int, eddyi_conns_evict(&rig.conns, &until), 0));
	cr_expect(idle.parked.evicted && idle.parked.last && !busy.parked.evicted);
	cr_expect(eq(uint, rig.conns.leaving, 1));
	while (rig.conns.count > 1)
		eddy_yield();
	cr_expect(eq(uint, rig.conns.leaving, 0));
	/* A busy one is asked to end, and closes as its task does. */
	eddyi_parked_evict(&busy.parked);
	cr_expect(eq(uint, busy.evicted, 1));
	eddyi_parked_close(&busy.parked);
	await(&rig.gone);
	close(fds[0]);
	close(fds[1]);
}

Test(parked, makes_room)
{
	run(make_room);
}

static void stop(void)
{
	struct waiter idle, partial, busy;
	int fds[3] = { begin(&idle), begin(&partial), begin(&busy) };

	wait_idle(&idle);
	wait_idle(&partial);
	partial.parked.partial = true;
	eddyi_conns_stop(&rig.conns, true);
	cr_expect(idle.parked.last && partial.parked.last && busy.parked.last);
	cr_expect(not(idle.parked.evicted));
	cr_expect(rig.conns.service.stop.is_set);
	eddyi_conns_stop(&rig.conns, false);
	cr_expect(idle.parked.evicted && !partial.parked.evicted && !busy.parked.evicted);
	eddyi_conns_evict_idle(&rig.conns);
	cr_expect(partial.parked.evicted && !busy.parked.evicted);
	eddyi_parked_close(&busy.parked);
	await(&rig.gone);
	for (int i = 0; i < 3; i++)
		close(fds[i]);
}

Test(parked, ends_with_the_server)
{
	run(stop);
}
