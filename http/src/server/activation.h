/* activation.h: descriptors that this process was started with: by a service manager (sd_listen_fds(3)),
 * or by the process that it takes over from (restart.c).
 *
 * Both set LISTEN_FDS, the number of descriptors from 3 on, and LISTEN_FDNAMES, their names with ':'
 * between them. LISTEN_PID says whom they are for; a process that starts its successor can't know that
 * number, and says with EDDY_RESTART=PARENT who it is itself. Its names are escaped
 * (passed.h).
 *
 * The variables are read when the first address asks for passed sockets, and removed: no child takes the
 * descriptors for its own. Any thread.
 */
#ifndef EDDYI_ACTIVATION_H
#define EDDYI_ACTIVATION_H

#include "passed.h"

#include <eddy/base.h>
#include <sys/types.h>

/* The name of the variable that stands for LISTEN_PID between a process and its successor. */
#define EDDYI_RESTART_VARIABLE "EDDY_RESTART"

#define EDDYI_PROBLEM_MAX 256

/* Whether this process takes over from another one. */
bool eddyi_activation_is_restart(void);

/* Whether the address stands for every socket that a service manager has passed: others take theirs first. */
bool eddyi_activation_is_all(const struct eddyi_address *address);

/* Take the listening sockets that were passed for an address: for "systemd" all, for "systemd:NAME"
 * those of that name, and for any address those that the process before had for the same one, which may have
 * spoken something else there, with TLS or without, with PROXY headers or without. The sockets become the caller's,
 * the array is allocated.
 * Return: how many; 0 when none are meant and the address has to be opened; -EINVAL, and `ret_problem`
 * says why. */
ssize_t eddyi_activation_take(const struct eddyi_address *address, int **ret_fds,
			      char ret_problem[EDDYI_PROBLEM_MAX]);

/* Take the file of a unix socket, or the keys of session tickets, that the process before had. Return: -1 for none. */
int eddyi_activation_take_file(const char *address);
int eddyi_activation_take_tickets(const char *address);

/* Tell the process before that this one serves. */
void eddyi_activation_ready(void);

/* Close what the process before has passed and nobody has taken. */
void eddyi_activation_drop(void);

#endif
