/* others: figures that are held against nothing.
 *
 *     others sleep0|timer|offload|message SECONDS
 *
 * "sleep0": eddy_sleep(0), a turn of the loop. "timer": one of 1000 armed timers is disarmed and armed
 * for another time. "offload": an empty function on a thread of the pool and back. "message": a posted
 * message to a loop on another thread and one back.
 */
#include "micro.h"

#include <eddy/runtime.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define ROUNDS 100
#define TIMERS 1000

static double seconds;
static struct micro micro;

static int sleeps(void *arg)
{
	(void)arg;
	micro = micro_begin(seconds);
	do
		for (int i = 0; i < ROUNDS; i++)
			eddy_sleep(0);
	while (micro_goes_on(&micro, ROUNDS));
	micro_print(&micro);
	return 0;
}

/* ---- timers ---- */

static void fire(struct eddy_timer *timer)
{
	(void)timer;
}

static int arms(void *arg)
{
	static struct eddy_timer timers[TIMERS];
	uint64_t far = eddy_now() + 3600 * EDDY_SECOND, random = 1;

	(void)arg;
	for (int i = 0; i < TIMERS; i++) {
		timers[i].fire = fire;
		eddy_timer_arm(&timers[i], far + (uint64_t)i);
	}
	micro = micro_begin(seconds);
	do {
		for (int i = 0; i < ROUNDS; i++) {
			struct eddy_timer *timer;

			random = random * 6364136223846793005 + 1442695040888963407;
			timer = &timers[(random >> 33) % TIMERS];
			eddy_timer_disarm(timer);
			eddy_timer_arm(timer, far + (random >> 34));
		}
	} while (micro_goes_on(&micro, ROUNDS));
	micro_print(&micro);
	for (int i = 0; i < TIMERS; i++)
		eddy_timer_disarm(&timers[i]);
	return 0;
}

/* ---- threads ---- */

static int empty(void *arg)
{
	(void)arg;
	return 0;
}

static int offloads(void *arg)
{
	(void)arg;
	micro = micro_begin(seconds);
	do
		for (int i = 0; i < ROUNDS; i++)
			eddy_offload(empty, NULL);
	while (micro_goes_on(&micro, ROUNDS));
	micro_print(&micro);
	return 0;
}

static struct {
	_Atomic(struct eddy_loop *) other;
	struct eddy_loop *mine;
	struct eddy_message there;
	struct eddy_message back;
	struct eddy_message stop;
	struct eddy_event arrived;
	struct eddy_event stopped; /* on the other loop */
} post;

static void come_back(struct eddy_message *message)
{
	(void)message;
	eddy_event_set(&post.arrived);
}

static void turn_round(struct eddy_message *message)
{
	(void)message;
	eddy_loop_post(post.mine, &post.back);
}

static void stop(struct eddy_message *message)
{
	(void)message;
	eddy_event_set(&post.stopped);
}

static int other(void *arg)
{
	(void)arg;
	eddy_event_init(&post.stopped);
	atomic_store(&post.other, eddy_loop_self());
	return eddy_event_wait(&post.stopped);
}

static void *other_thread(void *arg)
{
	eddy_run(NULL, other, arg);
	return NULL;
}

static int messages(void *arg)
{
	pthread_t thread;

	(void)arg;
	post.mine = eddy_loop_self();
	post.there.deliver = turn_round;
	post.back.deliver = come_back;
	post.stop.deliver = stop;
	eddy_event_init(&post.arrived);
	if (pthread_create(&thread, NULL, other_thread, NULL) != 0)
		micro_die("pthread_create");
	while (!atomic_load(&post.other))
		eddy_sleep(EDDY_MS);
	micro = micro_begin(seconds);
	do {
		for (int i = 0; i < ROUNDS; i++) {
			eddy_event_clear(&post.arrived);
			eddy_loop_post(post.other, &post.there);
			eddy_event_wait(&post.arrived);
		}
	} while (micro_goes_on(&micro, ROUNDS));
	micro_print(&micro);
	eddy_loop_post(post.other, &post.stop);
	pthread_join(thread, NULL);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		eddy_task_fn *fn;
	} all[] = {
		{ "sleep0", sleeps },
		{ "timer", arms },
		{ "offload", offloads },
		{ "message", messages },
	};

	for (size_t i = 0; argc == 3 && i < sizeof(all) / sizeof(all[0]); i++) {
		if (strcmp(argv[1], all[i].name) == 0) {
			seconds = strtod(argv[2], NULL);
			return eddy_run(NULL, all[i].fn, NULL) ? 1 : 0;
		}
	}
	fputs("usage: others sleep0|timer|offload|message SECONDS\n", stderr);
	return 2;
}
