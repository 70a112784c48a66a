/* listen.h: the listening sockets of a running app, and their distribution to its workers. */
#ifndef EDDYI_LISTEN_H
#define EDDYI_LISTEN_H

#include "activation.h"
#include "app/app.h"

#include <eddy/net.h>

/* A listening socket. */
struct eddyi_door {
	int fd;
	const struct eddyi_address *address; /* borrowed from the app */
};

/* The sockets of one worker. */
struct eddyi_doors {
	struct eddyi_door *all;
	size_t count;
	bool taken; /* the worker has taken them and closes them */
};

/* Invariants:
 * 1. Every worker has a door for each IP address of every address: its own socket, or a descriptor
 *    of one that it shares.
 * 2. `addresses` holds no sockets, only names to announce and files to remove. */
struct eddyi_listening {
	const struct eddy_app *app;
	struct eddyi_doors *workers;
	unsigned worker_count;
	struct eddy_listeners *addresses; /* one for each of the app's */
	uint16_t port;                    /* of the first address with a port */
};

/* Open the sockets of every address, or take those passed to the process. Suspends to resolve
 * names. Return: 0; -errno, and an ERROR log record says why; close it in any case. */
int eddyi_listening_open(struct eddyi_listening *listening, const struct eddy_app *app);

/* Emit two log records for each address. */
void eddyi_listening_announce(const struct eddyi_listening *listening);

/* Duplicate all descriptors for another process. Return: 0, -EMFILE, -ENOMEM. */
int eddyi_listening_copy(const struct eddyi_listening *listening,
			 struct eddyi_passed_list *ret_list);

/* Keep the files of unix sockets at close: another process has taken them over. */
void eddyi_listening_forget_files(struct eddyi_listening *listening);

/* Take one worker's doors. The caller closes the descriptors; the array is borrowed. */
struct eddyi_doors eddyi_listening_take(struct eddyi_listening *listening, unsigned worker);

/* Close the sockets not taken, and remove the files of unix sockets. */
void eddyi_listening_close(struct eddyi_listening *listening);

#endif
