/* A process with tasks in every state, for gdb.py to look at: it stops in stop_here(), and ends well when it is let go
 * on. `tasks abort` aborts there; `tasks mprotect` has guards of stacks that gdb's generate-core-file gets along
 * with: it gives a mapping up at the first page that can not be read, as those of MADV_GUARD_INSTALL are.
 */
#include <eddy/internal/debug.h>
#include <eddy/runtime.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HOUR (3600 * EDDY_SECOND)
#define NOINLINE __attribute__((noinline))

static struct eddy_event never, second_may_end;
static struct eddy_loop *second_loop;
static sem_t second_sleeps;
static int pair[2];
static bool aborts, old_guards;

/* In place of the C library's. */
int madvise(void *address, size_t len, int advice)
{
	if (old_guards && advice == 102) {
		errno = EINVAL;
		return -1;
	}
	return (int)syscall(SYS_madvise, address, len, advice);
}

/* Arguments that are used after the switch, and so are kept in registers that only the task's saved ones tell. */
#define KEPT(value) __asm__ volatile("" : : "r"(value))

NOINLINE static int inner(int depth, double weight, const char *label)
{
	int r = eddy_sleep(HOUR);

	return printf("%d %.1f %s\n", depth, weight, label) < 0 ? -1 : r;
}

NOINLINE static int middle(int depth, long token)
{
	int r = depth ? middle(depth - 1, token + 1) : inner(77, 2.5, "a label");

	KEPT(depth);
	KEPT(token);
	return r;
}

static int sleeper(void *arg)
{
	return middle(2, *(const long *)arg);
}

static int reader(void *arg)
{
	char byte;

	eddyi_task_set_label("GET /read/{name}");
	return (int)eddy_recv(*(const int *)arg, &byte, 1, 0);
}

static int waiter(void *arg)
{
	return eddy_event_wait(arg);
}

static int late(void *arg)
{
	(void)arg;
	return 0;
}

static int nester(void *arg)
{
	struct eddy_scope scope;
	int r;

	eddy_scope_begin(&scope,
			 &(struct eddy_scope_options){ .fail_fast = true, .timeout_ns = HOUR });
	eddy_scope_spawn(&scope, "child", waiter, arg);
	r = eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	return r;
}

NOINLINE static void stop_here(int answer)
{
	if (aborts)
		abort();
	printf("went on with %d\n", answer);
}

static void let_end(struct eddy_message *message)
{
	(void)message;
	eddy_event_set(&second_may_end);
}

static int runner(void *arg)
{
	static struct eddy_message message = { .deliver = let_end };
	struct eddy_scope *scope = arg;

	eddy_scope_spawn(scope, "late", late, NULL);
	stop_here(42);
	eddy_loop_post(second_loop, &message);
	eddy_scope_cancel(scope);
	return 0;
}

static int second_main(void *arg)
{
	struct eddy_scope scope;

	(void)arg;
	second_loop = eddy_loop_self();
	eddy_event_init(&second_may_end);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "far", waiter, &second_may_end);
	eddy_yield();
	sem_post(&second_sleeps);
	eddy_scope_join(&scope);
	return eddy_scope_end(&scope);
}

static void *second(void *arg)
{
	(void)arg;
	return (void *)(intptr_t)eddy_run(&(struct eddy_loop_options){ .name = "second" },
					  second_main, NULL);
}

static int main_task(void *arg)
{
	struct eddy_scope scope;
	long token = 1000;

	(void)arg;
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "sleeper", sleeper, &token);
	eddy_scope_spawn(&scope, "reader", reader, &pair[0]);
	eddy_scope_spawn(&scope, "waiter", waiter, &never);
	eddy_scope_spawn(&scope, "nester", nester, &never);
	/* Behind the child that nester spawns. */
	eddy_yield();
	eddy_scope_spawn(&scope, "runner", runner, &scope);
	eddy_scope_join(&scope);
	return eddy_scope_end(&scope) == -ECANCELED ? 0 : -1;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	void *result;
	int r;

	aborts = argc > 1 && strcmp(argv[1], "abort") == 0;
	old_guards = argc > 1 && strcmp(argv[1], "mprotect") == 0;
	eddy_event_init(&never);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) < 0 ||
	    sem_init(&second_sleeps, 0, 0) < 0 || pthread_create(&thread, NULL, second, NULL) != 0)
		return 1;
	sem_wait(&second_sleeps);
	r = eddy_run(NULL, main_task, NULL);
	pthread_join(thread, &result);
	printf("ended with %d and %d\n", r, (int)(intptr_t)result);
	return r || result;
}
