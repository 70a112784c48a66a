/* every_thread.h: runs a function on all threads of the process. */
#ifndef EDDYI_EVERY_THREAD_H
#define EDDYI_EVERY_THREAD_H

/* Call `fn(arg)` on all threads of the process, including those of other libraries: directly on
 * this one, in a signal handler on the others. Threads created meanwhile by a thread that was not
 * called yet are called too; others may be. `fn` may change errno. Kernel threads (io-wq) are left
 * out.
 * Return: 0; the first failure; -ETIMEDOUT if a thread does not handle the signal; -ENOMEM,
 * -errno. */
int eddyi_every_thread(int (*fn)(void *arg), void *arg);

#endif
