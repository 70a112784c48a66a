/* listen.h: the sockets of a running app, of every address, and how its workers share them. */
#ifndef EDDYI_LISTEN_H
#define EDDYI_LISTEN_H

#include "activation.h"
#include "app/app.h"

#include <eddy/net.h>

/* A socket that listens. */
struct eddyi_door {
	int fd;
	const struct eddyi_address *address; /* one of the app's */
};

/* What one worker serves. */
struct eddyi_doors {
	struct eddyi_door *all;
	size_t count;
	bool taken; /* somebody else closes them */
};

/* Invariants:
 * 1. Every worker has a door of every address, and of each of its IP addresses: a socket of its own, or a
 *    descriptor of one that it shares with other workers.
 * 2. `addresses` holds no socket, only what has to be said, and removed at the end.
 */
struct eddyi_listening {
	const struct eddy_app *app;
	struct eddyi_doors *workers;
	unsigned worker_count;
	struct eddy_listeners *addresses; /* one for each of the app's */
	uint16_t port;                    /* of the first that has one */
};

/* Open the sockets of every address, or take those that were passed to the process. Suspends when a name
 * is resolved. Return: 0; -errno, an ERROR record has said why; to be closed all the same. */
int eddyi_listening_open(struct eddyi_listening *listening, const struct eddy_app *app);

/* Emit two records for each address. */
void eddyi_listening_announce(const struct eddyi_listening *listening);

/* Make copies of all descriptors for another process. Return: 0, -EMFILE, -ENOMEM. */
int eddyi_listening_copy(const struct eddyi_listening *listening,
			 struct eddyi_passed_list *ret_list);

/* Leave the files of unix sockets where they are: they are another process's now. */
void eddyi_listening_forget_files(struct eddyi_listening *listening);

/* Take one worker's doors, which the caller closes; the array is borrowed until _close. */
struct eddyi_doors eddyi_listening_take(struct eddyi_listening *listening, unsigned worker);

/* Close what nobody has taken, and remove the files of unix sockets. */
void eddyi_listening_close(struct eddyi_listening *listening);

#endif
