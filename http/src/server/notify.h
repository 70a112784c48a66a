/* notify.h: what a service manager wants to hear (sd_notify(3)), without its library: datagrams to the
 * socket that NOTIFY_SOCKET names. */
#ifndef EDDYI_NOTIFY_H
#define EDDYI_NOTIFY_H

#include <eddy/base.h>
#include <eddy/event.h>

/* Says how one app is doing. Belongs to one loop. */
struct eddyi_notifier {
	const char *address; /* the first that the app listens on; borrowed */
	bool heir;           /* the process before says READY=1, when it has handed over */
	bool silent;         /* another process has taken over the conversation, or nobody may */
	bool brief;          /* READY=1 is all, unless there is a watchdog */
	int fd;              /* connected to the service manager; -1 for not */
	struct eddy_event stopping; /* set when the app begins to end */
};

void eddyi_notifier_init(struct eddyi_notifier *notifier);

/* Connect to NOTIFY_SOCKET now; a process in a sandbox cannot do so later. */
void eddyi_notifier_open(struct eddyi_notifier *notifier);
void eddyi_notifier_close(struct eddyi_notifier *notifier);

/* Send "NAME=value" lines, if anybody wants them. Suspends, for 5 s at most. The first failure emits a
 * WARN record. */
EDDY_PRINTF(2, 3) void eddyi_notify(struct eddyi_notifier *notifier, const char *format, ...);

/* Whether there is anybody to be told. */
bool eddyi_notifier_is_wanted(void);

/* A task: say that the app serves, and later that it stops, and in between at the intervals of
 * WATCHDOG_USEC that this loop turns. Return: -ECANCELED; 0 when nothing is left to be said. */
int eddyi_notifier_run(void *notifier);

#endif
