/* calls.h: how many system calls a server makes.
 *
 * The kernel's tracepoint raw_syscalls:sys_enter counts them, for all threads of a process; it needs rights (root, or
 * kernel.perf_event_paranoid at most -1). While it counts, each system call of the machine takes longer: so what is
 * measured otherwise is measured without it.
 */
#ifndef EDDY_BENCH_CALLS_H
#define EDDY_BENCH_CALLS_H

#include "server.h"

#include <stddef.h>
#include <stdint.h>

#define CALLS_THREADS_MAX 4096

struct calls {
	int *fds; /* NULL: closed */
	size_t count;
};

/* Find the tracepoint. To be called before any thread or loop is there: where nobody has mounted tracefs, a child
 * does, in a mount namespace of its own. */
void calls_prepare(void);

/* Begin to count. Return: 0; -EACCES, -EPERM; -ENOENT when this kernel has no such tracepoint; -ENOMEM; -errno. */
int calls_open(struct calls *calls, const struct server *server);

/* Return: system calls since calls_open(). */
uint64_t calls_read(const struct calls *calls);

/* Does nothing the second time, nor of one that is all zero. */
void calls_close(struct calls *calls);

#endif
