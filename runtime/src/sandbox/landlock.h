/* landlock.h: restricts files, ports and processes by landlock(7). */
#ifndef EDDYI_LANDLOCK_H
#define EDDYI_LANDLOCK_H

struct eddy_sandbox_options;

/* Get the kernel's Landlock version. Return: 1 or above; -ENOSYS, -EOPNOTSUPP if it is not built in
 * or not enabled; -EPERM if a seccomp filter forbids it. */
int eddyi_landlock_version(void);

/* Create rules for the options. A path that can't be opened is reported in an ERROR record.
 * Return: a descriptor; -errno. */
int eddyi_landlock_open(const struct eddy_sandbox_options *options, int version);

/* Apply the rules of the descriptor that `rules` points to to this thread, and to threads that it
 * creates from now on. Safe in signal handlers. Return: 0, -errno. */
int eddyi_landlock_enter(void *rules);

#endif
