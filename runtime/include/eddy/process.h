/* eddy/process.h: start child processes, communicate with them and wait for them.
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
 * A child starts with no signal blocked or ignored, and with no descriptors but those it is given.
 * It ends no later than its eddy_process_close(): no child outlives its owner by accident (but see
 * eddy_process_release()), and none remains as a zombie. For a deadline use that of a scope.
 *
 * The program must not ignore SIGCHLD or wait for every child: the status of the child would be
 * lost (-ECHILD).
 */
#ifndef EDDY_PROCESS_H
#define EDDY_PROCESS_H

#include <eddy/str.h>

EDDY_BEGIN_DECLS

enum eddy_process_stream_kind {
	EDDY_PROCESS_DEFAULT, /* inherit; for eddy_process_run() see there */
	EDDY_PROCESS_INHERIT, /* this process's own */
	EDDY_PROCESS_NULL,    /* /dev/null */
	EDDY_PROCESS_PIPE,    /* a pipe, whose other end is in struct eddy_process */
	EDDY_PROCESS_FD,      /* `fd`, borrowed */
	EDDY_PROCESS_MERGE,   /* err only: the same as out */
};

struct eddy_process_stream {
	enum eddy_process_stream_kind kind;
	int fd;
};

struct eddy_process_options {
	/* The program and its arguments, ending with NULL. A name without a slash is searched in
	 * this process's PATH, as by execvp(3); a relative path begins at `cwd`. */
	const char *const *argv;
	const char *const *env; /* "NAME=value", …, NULL; default: this process's */
	const char *cwd;        /* default: this process's */
	struct eddy_process_stream in, out, err;
	const int *fds; /* the child's 3, 4, …; borrowed; default none */
	size_t fd_count;
	/* Give the child a process group of its own. Signals go to the whole group, and closing
	 * kills what is left of it, even if the child has ended. Default: only the child. */
	bool group;
	/* Make the child a child of this process's parent, to take over from a process that a
	 * service manager watches. The parent gets its status: waiting returns -ECHILD once it has
	 * ended. Not with `group` (a programming error), nor in the first process of a namespace
	 * (-EINVAL). Default: a child of this process. */
	bool sibling;
	/* Time between SIGTERM and SIGKILL when a child is closed; default 0: SIGKILL at once. */
	uint64_t grace_ns;

	/* For eddy_process_run() only: */
	struct eddy_str input; /* the child's input; default none */
	size_t output_max;     /* bytes of out, and of err; default 1 MiB */
};

/* The exit status of a child. */
struct eddy_process_status {
	int code;  /* exit code, 0 to 255; -1 if a signal killed it */
	int signo; /* the signal that killed it, else 0 */
	bool core_dumped;
};

struct eddy_process {
	pid_t pid;
	/* This process's ends of the pipes, non-blocking; -1 if there is none. To signal the end of
	 * input, close `in` and set it to -1. */
	int in, out, err;
	int pidfd;                         /* private from here on; -1 once closed */
	struct eddy_process_status status; /* valid once `ended` */
	uint64_t grace_ns;
	bool group;
	bool sibling;
	bool ended;
	bool reaped;
};

/* Start a child process. Suspends: the offload pool starts it, because the program may be on a slow
 * disk. The options are borrowed until this returns. The memory of this process is not copied,
 * however large it is.
 * Return: 0; -ENOENT (also for `cwd`), -EACCES, -ENOEXEC, -E2BIG or -ENOTDIR if the program can't
 * be run; -EBADF if a descriptor is not open; -EAGAIN, -EMFILE, -ENFILE, -ENOMEM; -ECANCELED, and
 * nothing was started. */
EDDY_API int eddy_process_start(const struct eddy_process_options *options,
				struct eddy_process *ret_process);

/* Wait until the child has ended. Suspends. Cancellation leaves the child running. May be called
 * again, and by several tasks; `ret_status` may be NULL.
 * Return: 0; -ECANCELED; -ECHILD if other code has taken the status. */
EDDY_API int eddy_process_wait(struct eddy_process *process,
			       struct eddy_process_status *ret_status);

/* Send a signal to the child, or to its group. Never suspends, and never reaches another process
 * with the same number.
 * Return: 0, also if the child has ended and was not waited for; -ESRCH once a wait has returned
 * its status; -EINVAL, -EPERM. */
EDDY_API int eddy_process_kill(struct eddy_process *process, int signo);

/* Kill the child unless it has ended (see .grace_ns), wait for it, and close its pipes. Suspends,
 * even in a cancelled scope. No other task may be waiting for it or its pipes. Does nothing the
 * second time. */
EDDY_API void eddy_process_close(struct eddy_process *process);

/* Release the child, for one that takes over from this process, and close its pipes. Suspends, even
 * in a cancelled scope. If the child ends before this process does, it remains as a zombie until
 * then. Does nothing after eddy_process_close(). */
EDDY_API void eddy_process_release(struct eddy_process *process);

/* The output of a child. */
struct eddy_process_output {
	struct eddy_process_status status;
	char *out, *err; /* NUL-terminated; NULL if not collected */
	size_t out_len, err_len;
};

/* Run a child process to its end and collect its output. Suspends. By default it reads `input`, and
 * out and err are collected. The options may send them elsewhere; err as EDDY_PROCESS_MERGE is
 * collected with out; in may not be EDDY_PROCESS_PIPE. Returns when the child has ended and every
 * other process has closed the child's out and err. On failure no child is left, and no output is
 * returned.
 * Return: 0 if it ran, whatever its status; -EMSGSIZE if it wrote more than `output_max`; the
 * errors of eddy_process_start(); -ECANCELED. */
EDDY_API int eddy_process_run(const struct eddy_process_options *options,
			      struct eddy_process_output *ret_output);

/* Free the collected output. */
EDDY_API void eddy_process_output_deinit(struct eddy_process_output *output);

EDDY_END_DECLS

#endif
