/* call_filter.h: the seccomp(2) filter of the sandbox. */
#ifndef EDDYI_CALL_FILTER_H
#define EDDYI_CALL_FILTER_H

#include <stdbool.h>

/* Filter the system calls of all threads from now on. `connects` allows IP sockets. The calling
 * thread must have no_new_privs.
 * Return: 0; -ENOSYS on a machine without a list of calls; -errno. */
int eddyi_call_filter_enter(bool connects);

#endif
