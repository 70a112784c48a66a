/* notify.h: sends sd_notify(3) datagrams to the socket in NOTIFY_SOCKET, without the library. */
#ifndef EDDYI_NOTIFY_H
#define EDDYI_NOTIFY_H

#include <eddy/base.h>
#include <eddy/event.h>

/* Reports the state of one app. Belongs to one loop. */
struct eddyi_notifier {
	const char *address;        /* the app's first; borrowed */
	bool heir;                  /* the previous process sends READY=1 after the handover */
	bool silent;                /* don't send: another process reports, or none */
	bool brief;                 /* send only READY=1, unless there is a watchdog */
	int fd;                     /* connected to the service manager; -1: not connected */
	struct eddy_event stopping; /* set when shutdown begins */
};

void eddyi_notifier_init(struct eddyi_notifier *notifier);

/* Connect to NOTIFY_SOCKET now, since a sandboxed process can't do so later. */
void eddyi_notifier_open(struct eddyi_notifier *notifier);
void eddyi_notifier_close(struct eddyi_notifier *notifier);

/* Send "NAME=value" lines if there is a service manager. Suspends, for at most 5 s. The first
 * failure emits a WARN log record. */
EDDY_PRINTF(2, 3) void eddyi_notify(struct eddyi_notifier *notifier, const char *format, ...);

/* Whether NOTIFY_SOCKET is set. */
bool eddyi_notifier_is_wanted(void);

/* Task: report READY=1, later STOPPING=1, and WATCHDOG=1 at intervals of half WATCHDOG_USEC.
 * Return: -ECANCELED; 0 if there is nothing left to report. */
int eddyi_notifier_run(void *notifier);

#endif
