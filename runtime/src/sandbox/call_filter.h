/* call_filter.h: the seccomp(2) filter of the sandbox. */
#ifndef EDDYI_CALL_FILTER_H
#define EDDYI_CALL_FILTER_H

#include <stdbool.h>

/* Refuse them to every thread, from now on. `connects`: IP sockets can be made. Call it on one that has no_new_privs.
 * Return: 0; -ENOSYS on a machine whose calls we have no list of; -errno. */
int eddyi_call_filter_enter(bool connects);

#endif
