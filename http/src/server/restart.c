#include "app/app.h"
#include "run.h"
#include "tls/tls_setup.h"

#include <eddy/internal/outside.h>
#include <eddy/io.h>
#include <eddy/log.h>
#include <eddy/process.h>
#include <eddy/sandbox.h>
#include <eddy/scope.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READY_TIMEOUT_NS (60 * EDDY_SECOND)
/* Time for a new process that failed to start to clean up. */
#define GRACE_NS EDDY_SECOND

/* A list terminated by NULL, as execve(2) requires. */
struct strings {
	char **all;
	size_t count;
};

static int add(struct strings *strings, char *string)
{
	char **all = realloc(strings->all, (strings->count + 2) * sizeof(*all));

	if (!all)
		return -ENOMEM;
	strings->all = all;
	all[strings->count++] = string;
	all[strings->count] = NULL;
	return 0;
}

/* Whether the new process must be a child of the service manager: systemd waits for no other. */
static bool is_watched(void)
{
	return eddyi_notifier_is_wanted() && eddyi_getpid_now() != 1;
}

/* ---- arguments ---- */

static int read_all(int fd, char **ret_bytes, size_t *ret_len)
{
	size_t len = 0, size = 0;
	char *bytes = NULL;
	ssize_t r;

	do {
		if (len == size) {
			char *larger = realloc(bytes, size ? 2 * size : 4096);

			if (!larger) {
				free(bytes);
				return -ENOMEM;
			}
			bytes = larger;
			size = size ? 2 * size : 4096;
		}
		r = eddyi_read_now(fd, bytes + len, size - len);
		len += r > 0 ? (size_t)r : 0;
	} while (r > 0);
	if (r < 0) {
		r = -errno;
		free(bytes);
		return (int)r;
	}
	*ret_bytes = bytes;
	*ret_len = len;
	return 0;
}

/* Each argument ends with a NUL. `ret_bytes` holds them. */
static int read_arguments(struct strings *argv, char **ret_bytes)
{
	int fd = eddyi_open_now("/proc/self/cmdline", O_RDONLY | O_CLOEXEC, 0), r;
	size_t len = 0;

	if (fd < 0)
		return -errno;
	r = read_all(fd, ret_bytes, &len);
	eddyi_close_now(fd);
	if (r < 0)
		return r;
	for (size_t at = 0; at < len && r == 0; at += strlen(*ret_bytes + at) + 1) {
		/* Some programs overwrite their arguments. */
		if (!memchr(*ret_bytes + at, 0, len - at))
			return -EINVAL;
		r = add(argv, *ret_bytes + at);
	}
	return r < 0 ? r : argv->count ? 0 : -EINVAL;
}

/* ---- environment ---- */

static bool is_variable(const char *entry, const char *name)
{
	size_t len = strlen(name);

	return strncmp(entry, name, len) == 0 && entry[len] == '=';
}

/* Copy the environment without variables that concern only this process. */
static int copy_environment(struct strings *env)
{
	static const char *const dropped[] = { "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES",
					       "WATCHDOG_PID", EDDYI_RESTART_VARIABLE };
	int r = 0;

	for (char **entry = environ; *entry && r == 0; entry++) {
		bool is_dropped = false;

		for (size_t i = 0; i < sizeof(dropped) / sizeof(dropped[0]); i++)
			is_dropped |= is_variable(*entry, dropped[i]);
		if (!is_dropped)
			r = add(env, *entry);
	}
	return r;
}

struct variables {
	char parent[64];
	char count[64];
	char *names;
};

static int make_environment(const struct eddyi_passed_list *list, struct variables *variables,
			    struct strings *env)
{
	char *names = eddyi_passed_list_names(list);
	int r = copy_environment(env);

	if (!names || asprintf(&variables->names, "LISTEN_FDNAMES=%s", names) < 0) {
		variables->names = NULL;
		r = -ENOMEM;
	}
	free(names);
	snprintf(variables->parent, sizeof(variables->parent), EDDYI_RESTART_VARIABLE "=%d",
		 (int)(is_watched() ? eddyi_getppid_now() : eddyi_getpid_now()));
	snprintf(variables->count, sizeof(variables->count), "LISTEN_FDS=%zu", list->count);
	if (r == 0)
		r = add(env, variables->parent);
	if (r == 0)
		r = add(env, variables->count);
	return r < 0 ? r : add(env, variables->names);
}

/* ---- starting ---- */

static int start(const struct strings *argv, const struct strings *env,
		 const struct eddyi_passed_list *list, struct eddy_process *process)
{
	int *fds = malloc(list->count * sizeof(*fds)), r;

	if (!fds)
		return -ENOMEM;
	for (size_t i = 0; i < list->count; i++)
		fds[i] = list->all[i].fd;
	r = eddy_process_start(
		&(struct eddy_process_options){
			.argv = (const char *const *)argv->all,
			.env = (const char *const *)env->all,
			.fds = fds,
			.fd_count = list->count,
			.sibling = is_watched(),
			.grace_ns = GRACE_NS,
		},
		process);
	free(fds);
	return r;
}

static int start_again(const struct eddyi_passed_list *list, struct eddy_process *process)
{
	struct strings argv = { 0 }, env = { 0 };
	struct variables variables = { .names = NULL };
	char *arguments = NULL;
	int r = read_arguments(&argv, &arguments);

	if (r == 0)
		r = make_environment(list, &variables, &env);
	if (r == 0)
		r = start(&argv, &env, list, process);
	free(variables.names);
	free(arguments);
	free(argv.all);
	free(env.all);
	return r;
}

/* Wait for a byte of the new process. Its end closes when it exits, unless it has children. */
static int wait_until_ready(int fd)
{
	struct eddy_scope scope;
	ssize_t r;
	char byte;
	int why;

	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = READY_TIMEOUT_NS });
	r = eddy_read(fd, &byte, 1, EDDY_OFFSET_NONE);
	why = eddy_scope_end(&scope);
	if (r == 1)
		return 0;
	return r == 0 ? -ECHILD : r == -ECANCELED && why < 0 ? why : (int)r;
}

/* Start a new process with the descriptors, which are consumed, and wait until it serves.
 * Return: 0, and the caller owns the process; -errno, and there is none: -ETIMEDOUT, -ECHILD. */
static int start_and_wait(struct eddyi_passed_list *list, struct eddy_process *ret_process)
{
	struct eddy_process process;
	int fds[2], r;

	if (eddyi_pipe2_now(fds, O_CLOEXEC) < 0) {
		r = -errno;
		eddyi_passed_list_deinit(list);
		return r;
	}
	r = eddyi_passed_list_add(list, fds[1], EDDYI_PASSED_READY, "");
	if (r == 0)
		r = start_again(list, &process);
	/* Close our copy of the write end, so that its close by the new process is seen. */
	eddyi_passed_list_deinit(list);
	if (r == 0) {
		r = wait_until_ready(fds[0]);
		if (r < 0)
			eddy_process_close(&process);
		else
			*ret_process = process;
	}
	eddy_close(fds[0]);
	return r;
}

/* ---- handover ---- */

/* Pass the keys of session tickets. Without them clients make full handshakes. */
static int add_tickets(struct eddy_app *app, struct eddyi_passed_list *list)
{
	int fd;

	if (!EDDYI_TLS || !app->tls)
		return 0;
	fd = eddyi_tls_setup_save_tickets(app->tls);
	if (fd >= 0)
		return eddyi_passed_list_add(list, fd, EDDYI_PASSED_TICKETS,
					     app->addresses[0].text);
	eddy_warn("eddy::tls",
		  "can't pass the TLS ticket keys to the new process (%s): clients make full "
		  "handshakes",
		  strerror(-fd));
	return 0;
}

/* Copy the sockets under the lock, so that none is closed meanwhile.
 * Return: 0; -ECANCELED during shutdown. */
static int copy_sockets(struct eddyi_run *run, struct eddyi_passed_list *ret_list)
{
	int r;

	pthread_mutex_lock(&eddyi_run_lock);
	r = run->stops ? -ECANCELED : eddyi_listening_copy(&run->listening, ret_list);
	pthread_mutex_unlock(&eddyi_run_lock);
	return r;
}

/* Shut down, since the new process serves.
 * Return: false if shutdown had begun: then both must end. */
static bool hand_over(struct eddyi_run *run)
{
	bool wanted;

	pthread_mutex_lock(&eddyi_run_lock);
	wanted = !run->stops;
	if (wanted) {
		run->handed_over = true;
		run->notifier.silent = true;
		eddyi_listening_forget_files(&run->listening);
		eddyi_run_stop(run);
	}
	pthread_mutex_unlock(&eddyi_run_lock);
	return wanted;
}

static const char *reason_of(int error)
{
	if (error == -ECHILD)
		return "the new process has exited; see its log records";
	if (error == -EPERM && eddy_sandbox_is_entered())
		return "a process in a sandbox can't start another one; stop it, and start it "
		       "again";
	return strerror(-error);
}

/* A task of worker 0. */
static int restart(void *arg)
{
	struct eddyi_run *run = arg;
	struct eddyi_passed_list list;
	struct eddy_process process;
	int r = eddy_sandbox_is_entered() ? -EPERM : copy_sockets(run, &list);

	if (r == 0) {
		r = add_tickets(run->app, &list);
		if (r < 0)
			eddyi_passed_list_deinit(&list);
	}
	if (r == 0) {
		eddyi_notify(&run->notifier,
			     "RELOADING=1\nMONOTONIC_USEC=%ju\nSTATUS=starting a new process",
			     (uintmax_t)(eddy_now() / EDDY_US));
		r = start_and_wait(&list, &process);
	}
	if (r == 0 && hand_over(run)) {
		eddy_info("eddy::app", "Process %d has taken over", (int)process.pid);
		eddyi_notify(&run->notifier, "MAINPID=%d\nREADY=1\nSTATUS=listening on %s",
			     (int)process.pid, run->notifier.address);
		eddy_process_release(&process);
	} else if (r == 0) {
		eddy_process_close(&process);
	} else if (r != -ECANCELED) {
		eddy_error("eddy::app", "can't restart, the old process continues: %s",
			   reason_of(r));
		eddyi_notify(&run->notifier, "READY=1\nSTATUS=listening on %s",
			     run->notifier.address);
	}
	pthread_mutex_lock(&eddyi_run_lock);
	run->restarting = false;
	pthread_mutex_unlock(&eddyi_run_lock);
	return 0;
}

void eddyi_run_deliver_restart(struct eddy_message *message)
{
	struct eddyi_run *run = eddy_of(message, struct eddyi_run, restart);

	if (eddy_scope_spawn(&run->tasks, "restart", restart, run) == 0)
		return;
	pthread_mutex_lock(&eddyi_run_lock);
	run->restarting = false;
	pthread_mutex_unlock(&eddyi_run_lock);
}

void eddyi_app_restart(struct eddy_app *app)
{
	struct eddyi_run *run = app->run;

	if (!run || !run->workers[0].loop || run->stops || run->restarting)
		return;
	run->restarting = true;
	eddy_loop_post(run->workers[0].loop, &run->restart);
}

void eddy_app_restart(struct eddy_app *app)
{
	pthread_mutex_lock(&eddyi_run_lock);
	eddyi_app_restart(app);
	pthread_mutex_unlock(&eddyi_run_lock);
}
