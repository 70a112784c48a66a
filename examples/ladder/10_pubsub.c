/* 10_pubsub: publish and subscribe: the publisher never waits for a slow subscriber.
 *
 *     $ 10_pubsub
 *     alice reads 1 2 3 4 5 6 7 8 9 and has missed 0
 *     bob reads 1 2 3 and has missed 6
 */
#include <eddy/runtime.h>
#include <stdio.h>

struct subscriber {
	const char *name;
	struct eddy_event *wakes_up; /* set before it reads the first item */
	struct eddy_chan news;
	unsigned missed;
	char read[64];
};

static int subscribe(void *arg)
{
	struct subscriber *me = arg;
	int item, at = 0;

	eddy_event_wait(me->wakes_up);
	while (eddy_chan_recv(&me->news, &item) == 0)
		at += sprintf(me->read + at, "%d ", item);
	return 0;
}

/* Never waits for a slow subscriber: if its channel is full, it misses the item. */
static void publish(struct subscriber *all, size_t count, int item)
{
	for (size_t i = 0; i < count; i++)
		if (eddy_chan_try_send(&all[i].news, &item) < 0)
			all[i].missed++;
}

static int run(void *arg)
{
	struct eddy_event early, late;
	struct subscriber all[] = { { .name = "alice", .wakes_up = &early },
				    { .name = "bob", .wakes_up = &late } };
	struct eddy_scope scope;

	eddy_event_init(&early);
	eddy_event_init(&late);
	for (size_t i = 0; i < 2; i++)
		if (eddy_chan_init(&all[i].news, sizeof(int), 3) < 0)
			return 1;
	eddy_scope_begin(&scope, NULL);
	for (size_t i = 0; i < 2; i++)
		eddy_scope_spawn(&scope, all[i].name, subscribe, &all[i]);
	eddy_event_set(&early);
	for (int item = 1; item <= 9; item++) {
		publish(all, 2, item);
		eddy_yield();
	}
	eddy_event_set(&late);
	for (size_t i = 0; i < 2; i++)
		eddy_chan_close(&all[i].news);
	eddy_scope_join(&scope);
	for (size_t i = 0; i < 2; i++) {
		printf("%s reads %sand has missed %u\n", all[i].name, all[i].read, all[i].missed);
		eddy_chan_deinit(&all[i].news);
	}
	return eddy_scope_end(&scope);
}

int main(void)
{
	return eddy_main(run, NULL);
}
