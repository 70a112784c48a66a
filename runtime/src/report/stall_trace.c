/* Uses SIGURG, which is ignored by default: a late one, or one for a socket's urgent data, does no
 * harm. If the program uses it, a real-time signal is taken. The handler stays for the life of the
 * process.
 */
#include "stall_trace.h"

#include "base/frame.h"

#include <eddy/internal/proc.h>
#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* Time for the thread to answer the signal. */
#define ANSWER_US 100000
#define ANSWER_STEP_US 200

static int trace_signo; /* 0: none is free */

static void *interrupted_at(const ucontext_t *context)
{
#if defined(__x86_64__)
	return (void *)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	return (void *)context->uc_mcontext.pc;
#else
	(void)context;
	return NULL;
#endif
}

enum { IDLE, ASKED, TAKING, TAKEN };

_Thread_local struct eddyi_stall_trace *eddyi_stall_trace_of_this;

static void interrupted(int signo, siginfo_t *info, void *context)
{
	struct eddyi_stall_trace *trace = eddyi_stall_trace_of_this;
	int saved = errno, asked = ASKED;

	(void)signo;
	(void)info;
	if (!trace || !atomic_compare_exchange_strong(&trace->state, &asked, TAKING))
		return;
	trace->interrupted = interrupted_at(context);
	trace->frame_count = backtrace(trace->frames, EDDYI_STALL_FRAMES);
	atomic_store(&trace->state, TAKEN);
	errno = saved;
}

static bool is_free(int signo)
{
	struct sigaction action;

	return sigaction(signo, NULL, &action) == 0 && !(action.sa_flags & SA_SIGINFO) &&
	       (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN);
}

static void prepare(void)
{
	struct sigaction action = { .sa_sigaction = interrupted,
				    .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART };
	void *frame;
	int signo = SIGURG;

	while (!is_free(signo)) {
		signo = signo == SIGURG ? SIGRTMAX : signo - 1;
		if (signo < SIGRTMIN)
			return;
	}
	/* The first backtrace loads the unwinder, which a handler must not do. */
	backtrace(&frame, 1);
	if (sigaction(signo, &action, NULL) == 0)
		trace_signo = signo;
}

void eddyi_stall_trace_prepare(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, prepare);
}

/* System calls that SA_RESTART continues, without a timeout that would begin anew. */
static bool goes_on(long number)
{
	static const long numbers[] = { SYS_read,      SYS_write,  SYS_pread64, SYS_pwrite64,
					SYS_readv,     SYS_writev, SYS_openat,  SYS_fsync,
					SYS_fdatasync, SYS_wait4,  SYS_flock };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (numbers[i] == number)
			return true;
	return false;
}

/* Find the system call in which a thread sleeps. `ret_number` is -1 if it runs; `ret_at` is the
 * address of the call. Return: false if unknown. */
static bool look_at_thread(pid_t tid, long *ret_number, void **ret_at)
{
	char text[256], *last;

	eddyi_proc_read(text, sizeof(text), "/proc/self/task/%d/syscall", (int)tid);
	*ret_number = -1;
	if (strncmp(text, "running", strlen("running")) == 0)
		return true;
	/* The fields: number, six arguments, stack pointer, address. */
	last = strrchr(text, ' ');
	if (!last)
		return false;
	*ret_number = strtol(text, NULL, 10);
	*ret_at = (void *)strtoul(last + 1, NULL, 16);
	return true;
}

static bool interrupt(struct eddyi_stall_trace *trace, pid_t tid)
{
	int asked = ASKED;

	atomic_store(&trace->state, ASKED);
	if (syscall(SYS_tgkill, getpid(), tid, trace_signo) == 0)
		for (int us = 0; us < ANSWER_US; us += ANSWER_STEP_US) {
			if (atomic_load(&trace->state) == TAKEN)
				return true;
			usleep(ANSWER_STEP_US);
		}
	if (atomic_compare_exchange_strong(&trace->state, &asked, IDLE))
		return false;
	/* The handler has begun, and will finish. */
	while (atomic_load(&trace->state) != TAKEN)
		usleep(ANSWER_STEP_US);
	return true;
}

bool eddyi_stall_trace_take(struct eddyi_stall_trace *trace, pid_t tid)
{
	trace->frame_count = 0;
	trace->system_call = -1;
	if (!trace_signo || !look_at_thread(tid, &trace->system_call, &trace->interrupted))
		return false;
	if (trace->system_call < 0 || goes_on(trace->system_call)) {
		trace->system_call = -1;
		return interrupt(trace, tid);
	}
	trace->frames[0] = trace->interrupted;
	trace->frame_count = 1;
	return true;
}

void eddyi_stall_trace_format(const struct eddyi_stall_trace *trace, char *text, size_t size)
{
	int first = trace->frame_count > 2 ? 2 : 0; /* skip the handler and its caller */
	size_t len = 0;

	text[0] = '\0';
	for (int i = 0; i < trace->frame_count; i++)
		if (trace->frames[i] == trace->interrupted)
			first = i;
	for (int i = first; i < trace->frame_count; i++) {
		/* Outer frames hold return addresses: the call is before them. */
		const char *address = (const char *)trace->frames[i] - (i > first);
		char frame[EDDYI_FRAME_SIZE];

		eddyi_frame_format(frame, sizeof(frame), address);
		if (len + strlen(frame) + 4 > size)
			return;
		len += (size_t)snprintf(text + len, size - len, "%s%s", i > first ? " < " : "",
					frame);
	}
}

bool eddyi_stall_is_handler(const struct sigaction *action)
{
	return action->sa_flags & SA_SIGINFO && action->sa_sigaction == interrupted;
}
