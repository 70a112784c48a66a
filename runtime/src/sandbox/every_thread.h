/* every_thread.h: runs a function on all threads of the process. */
#ifndef EDDYI_EVERY_THREAD_H
#define EDDYI_EVERY_THREAD_H

/* Call `fn(arg)` on all threads of the process, including those of other libraries: directly on
 * this one, in a signal handler on others. Threads created meanwhile by one that was not called yet
 * are called too; others may be. Kernel threads (io-wq) are left out. `fn` may change errno.
 * Return: 0; the first failure; -ETIMEDOUT if a thread does not react; -ENOMEM, -errno. */
int eddyi_every_thread(int (*fn)(void *arg), void *arg);

#endif
