/* sandbox.h: functions shared by the files of sandbox, and Landlock's version. */
#ifndef EDDYI_SANDBOX_H
#define EDDYI_SANDBOX_H

#include <stdbool.h>

/* Get the kernel's Landlock version. Return: 1 or above; -ENOSYS, -EOPNOTSUPP if it is not built in
 * or not enabled; -EPERM if a seccomp filter forbids it. */
int eddyi_landlock_version(void);

/* Filter the system calls of all threads from now on. `connects` allows IP sockets. The calling
 * thread must have no_new_privs.
 * Return: 0; -ENOSYS on a machine without a list of calls; -errno. */
int eddyi_call_filter_enter(bool connects);

/* Call `fn(arg)` on all threads of the process, including those of other libraries: directly on
 * this one, in a signal handler on others. Threads created meanwhile by one that was not called yet
 * are called too; others may be. Kernel threads (io-wq) are left out. `fn` may change errno.
 * Return: 0; the first failure; -ETIMEDOUT if a thread does not react; -ENOMEM, -errno. */
int eddyi_every_thread(int (*fn)(void *arg), void *arg);

#endif
