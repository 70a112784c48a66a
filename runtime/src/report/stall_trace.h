/* stall_trace.h: takes a backtrace of a loop's thread from another thread. */
#ifndef EDDYI_STALL_TRACE_H
#define EDDYI_STALL_TRACE_H

#include <eddy/base.h>
#include <signal.h>
#include <stdatomic.h>

#define EDDYI_STALL_FRAMES 32

struct eddyi_stall_trace {
	/* The requesting thread sets ASKED; the traced thread, TAKING and TAKEN. */
	atomic_int state;
	long system_call;  /* call in which it waits and must not be interrupted; else -1 */
	void *interrupted; /* address at the interruption */
	void *frames[EDDYI_STALL_FRAMES];
	int frame_count;
};

/* Choose an unused signal and install its handler, once per process. */
void eddyi_stall_trace_prepare(void);

/* Take a backtrace of a thread by a signal; if it waits in a system call that would fail with
 * EINTR, use the address of that call only. `trace` is the thread's eddyi_stall_trace_of_this.
 * Return: whether there is a trace. */
bool eddyi_stall_trace_take(struct eddyi_stall_trace *trace, pid_t tid);

/* Format the frames, innermost first, as "function+0x1f (module)", or without a public symbol
 * "module+0x1234", for addr2line. */
void eddyi_stall_trace_format(const struct eddyi_stall_trace *trace, char *text, size_t size);

/* The trace of this thread's loop, for the handler; NULL for none. */
extern _Thread_local struct eddyi_stall_trace *eddyi_stall_trace_of_this
	__attribute__((tls_model("initial-exec")));

/* Whether this is the handler that takes backtraces. */
bool eddyi_stall_is_handler(const struct sigaction *action);

#endif
