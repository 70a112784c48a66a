/* eddy/process.h: child processes that a task starts, talks to and waits for.
 *
 *     struct eddy_process_output output;
 *     int r = eddy_process_run(&(struct eddy_process_options){
 *                                      .argv = (const char *[]){ "git", "log", "-1", NULL } },
 *                              &output);
 *
 *     if (r == 0 && output.status.code == 0)
 *             puts(output.out);
 *     eddy_process_output_deinit(&output);
 *
 * A child starts with no signal blocked, none ignored, and no descriptor but those that it is given.
 * It ends no later than its eddy_process_close(): no child outlives its owner by accident (but see
 * eddy_process_release()), and none stays behind as a zombie. A deadline is that of the scope around it.
 *
 * The program must leave SIGCHLD alone: where it is ignored, or another part of the program waits for
 * every child, the status of ours is lost (-ECHILD).
 */
#ifndef EDDY_PROCESS_H
#define EDDY_PROCESS_H

#include <eddy/str.h>

EDDY_BEGIN_DECLS

enum eddy_process_stream_kind {
	EDDY_PROCESS_DEFAULT, /* inherit; in eddy_process_run(): see there */
	EDDY_PROCESS_INHERIT, /* this process's own */
	EDDY_PROCESS_NULL,    /* /dev/null */
	EDDY_PROCESS_PIPE,    /* a pipe, whose other end is in struct eddy_process */
	EDDY_PROCESS_FD,      /* `fd`, which stays the caller's */
	EDDY_PROCESS_MERGE,   /* err only: wherever out goes */
};

struct eddy_process_stream {
	enum eddy_process_stream_kind kind;
	int fd;
};

struct eddy_process_options {
	/* The program and its arguments, ending with NULL. One without a slash is looked for in this
	 * process's PATH, as execvp(3) does; a relative path begins at `cwd`. */
	const char *const *argv;
	const char *const
		*env;    /* "NAME=value" and so on, ending with NULL; default: this process's */
	const char *cwd; /* default: this process's */
	struct eddy_process_stream in, out, err;
	const int *fds; /* become the child's 3, 4, …; they stay the caller's; default none */
	size_t fd_count;
	/* The child leads a process group of its own; signals go to the whole group, and closing kills
	 * what is left of it, also when the child itself has ended. Default: the child alone. */
	bool group;
	/* The child is one of this process's parent: for one that takes over from a process which a service manager
	 * watches. Its status goes there: waiting for it returns -ECHILD once it has ended. Not with `group`, and
	 * not in the first process of a namespace (-EINVAL). Default: a child of this process. */
	bool sibling;
	/* How long a child that is closed has between SIGTERM and SIGKILL; default 0: SIGKILL at once. */
	uint64_t grace_ns;

	/* Of eddy_process_run() alone: */
	struct eddy_str input; /* what it reads; default: nothing */
	size_t output_max;     /* bytes of out, and of err; default 1 MiB */
};

/* How a child has ended. */
struct eddy_process_status {
	int code;  /* that it exited with, 0 to 255; -1 when a signal killed it */
	int signo; /* of the signal that killed it, else 0 */
	bool core_dumped;
};

struct eddy_process {
	pid_t pid;
	/* Our ends of its pipes, non-blocking; -1 where there is none. Who closes one, to show the child
	 * the end of its input, sets it to -1. */
	int in, out, err;
	int pidfd;                         /* private from here on; -1 once closed */
	struct eddy_process_status status; /* valid once `ended` */
	uint64_t grace_ns;
	bool group;
	bool sibling;
	bool ended;
	bool reaped;
};

/* Start a child. Suspends: a thread of eddy/offload.h does it, since the program may lie on a slow
 * disk. What the options point to is borrowed until this returns. This process's memory is not
 * copied, however large it is.
 * Return: 0; why the program can't be run: -ENOENT (also for `cwd`), -EACCES, -ENOEXEC, -E2BIG,
 * -ENOTDIR; -EBADF for a descriptor that is not open; -EAGAIN, -EMFILE, -ENFILE, -ENOMEM; -ECANCELED, and
 * nothing was started. */
EDDY_API int eddy_process_start(const struct eddy_process_options *options,
				struct eddy_process *ret_process);

/* Wait until the child has ended. Suspends. Cancelled, it leaves the child running. May be called
 * again, and by several tasks; `ret_status` may be NULL.
 * Return: 0, -ECANCELED; -ECHILD when somebody else has taken the status. */
EDDY_API int eddy_process_wait(struct eddy_process *process,
			       struct eddy_process_status *ret_status);

/* Send a signal to the child, or to its group. Never suspends, and never hits another process that has
 * come to the same number.
 * Return: 0, also for a child that has ended and was not waited for; -ESRCH once a wait has returned its
 * status; -EINVAL, -EPERM. */
EDDY_API int eddy_process_kill(struct eddy_process *process, int signo);

/* Kill the child unless it has ended, wait for that, and close what is open of its pipes. Suspends, and
 * is not cancelled. No other task may be waiting for it or its pipes. Does nothing the second time. */
EDDY_API void eddy_process_close(struct eddy_process *process);

/* Leave the child to itself, for one that takes over from this process, and close what is open of its
 * pipes. Suspends, and is not cancelled. Nobody waits for it any more: should it end before this process
 * does, it stays behind as a zombie for that long. Does nothing to one that has been closed. */
EDDY_API void eddy_process_release(struct eddy_process *process);

/* What a child has written. */
struct eddy_process_output {
	struct eddy_process_status status;
	char *out, *err; /* with a NUL behind; NULL when not collected */
	size_t out_len, err_len;
};

/* Run a child to its end and collect what it writes. Suspends. By default it reads `input`, and out
 * and err are collected; the options may send them elsewhere (err to EDDY_PROCESS_MERGE is collected
 * with out), in may then not be EDDY_PROCESS_PIPE. It ends when the child has ended and whoever else
 * holds its out and err has closed them. On failure the child is gone, and nothing was collected.
 * Return: 0 when it ran, whatever its status; -EMSGSIZE when it wrote more than `output_max`; those of
 * eddy_process_start(); -ECANCELED. */
EDDY_API int eddy_process_run(const struct eddy_process_options *options,
			      struct eddy_process_output *ret_output);

/* Free what was collected. */
EDDY_API void eddy_process_output_deinit(struct eddy_process_output *output);

EDDY_END_DECLS

#endif
