/* notify.h: what a service manager wants to hear (sd_notify(3)), without its library: datagrams to the
 * socket that NOTIFY_SOCKET names. */
#ifndef EDDYI_NOTIFY_H
#define EDDYI_NOTIFY_H

#include <eddy/base.h>
#include <eddy/event.h>

/* Send "NAME=value" lines, if anybody wants them. Suspends, for 5 s at most. What goes wrong is a WARN
 * record, once. */
EDDY_PRINTF(1, 2) void eddyi_notify(const char *format, ...);

/* Says how one app is doing. Belongs to one loop. */
struct eddyi_notifier {
	const char *address;        /* the first that the app listens on; borrowed */
	bool heir;                  /* the process before says READY=1, when it has handed over */
	bool silent;                /* another process has taken over the conversation */
	struct eddy_event stopping; /* set when the app begins to end */
};

void eddyi_notifier_init(struct eddyi_notifier *notifier);

/* Whether there is anybody to be told. */
bool eddyi_notifier_is_wanted(void);

/* A task: say that the app serves, and later that it stops, and in between at the intervals of
 * WATCHDOG_USEC that this loop turns. Return: -ECANCELED; 0 when nothing is left to be said. */
int eddyi_notifier_run(void *notifier);

#endif
