/* every_thread.h: run a function on every thread of the process. */
#ifndef EDDYI_EVERY_THREAD_H
#define EDDYI_EVERY_THREAD_H

/* Call `fn(arg)` on every thread of the process, those of other libraries included: here, and in a signal handler on the
 * others. One that is made meanwhile by a thread that was not called yet is called too; one that is made by another
 * may be. `fn` may change errno. Threads of the kernel (io-wq) are left out.
 * Return: 0; the first failure; -ETIMEDOUT when a thread does not take the signal; -ENOMEM, -errno. */
int eddyi_every_thread(int (*fn)(void *arg), void *arg);

#endif
