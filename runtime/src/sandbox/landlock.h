/* landlock.h: what files, ports and processes a thread may reach, by landlock(7). */
#ifndef EDDYI_LANDLOCK_H
#define EDDYI_LANDLOCK_H

struct eddy_sandbox_options;

/* Ask which version of Landlock the kernel has. Return: 1 or above; -ENOSYS, -EOPNOTSUPP when it is not built in or not
 * switched on, -EPERM when a seccomp filter forbids it. */
int eddyi_landlock_version(void);

/* Put into rules what the options allow; a path that can't be opened has an ERROR record.
 * Return: a descriptor; -errno. */
int eddyi_landlock_open(const struct eddy_sandbox_options *options, int version);

/* Hold this thread, and those that it makes from now on, to the rules of the descriptor that `rules` points to. For signal
 * handlers as well. Return: 0, -errno. */
int eddyi_landlock_enter(void *rules);

#endif
