/* stall_trace.h: where a loop's thread is in the program, asked from another one. */
#ifndef EDDYI_STALL_TRACE_H
#define EDDYI_STALL_TRACE_H

#include <eddy/base.h>
#include <signal.h>
#include <stdatomic.h>

#define EDDYI_STALL_FRAMES 32

struct eddyi_stall_trace {
	/* ASKED is set by the thread that asks; TAKING and TAKEN by the one that is asked. */
	atomic_int state;
	long system_call; /* that the thread waits in, and would better not be interrupted; else -1 */
	void *interrupted; /* where it was */
	void *frames[EDDYI_STALL_FRAMES];
	int frame_count;
};

/* Find a signal that nobody uses, and set its handler; done once. */
void eddyi_stall_trace_prepare(void);

/* Fill in where the thread is: by a signal to it, unless it waits in a system call that would come back
 * with EINTR; then it is just that call. `trace` is that thread's eddyi_stall_trace_of_this.
 * Return: whether there is anything. */
bool eddyi_stall_trace_take(struct eddyi_stall_trace *trace, pid_t tid);

/* Write the frames as "function+0x1f (module)" or, for what has no name outside, "module+0x1234", which
 * addr2line takes: the innermost first. */
void eddyi_stall_trace_format(const struct eddyi_stall_trace *trace, char *text, size_t size);

/* Of this thread's loop; NULL for none. Read by the handler: it is there as long as the thread is. */
extern _Thread_local struct eddyi_stall_trace *eddyi_stall_trace_of_this
	__attribute__((tls_model("initial-exec")));

/* Whether a signal's handler is the one that takes backtraces. */
bool eddyi_stall_is_handler(const struct sigaction *action);

#endif
