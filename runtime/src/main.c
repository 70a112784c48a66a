#include <eddy/main.h>

#include <eddy/scope.h>
#include <eddy/signal.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

struct program {
	eddy_task_fn *fn;
	void *arg;
	struct eddy_signals signals;
	struct eddy_scope scope; /* that `fn` runs in */
	bool started;
	bool stopped; /* by a signal */
};

/* A task beside the program's. */
static int watch_signals(void *arg)
{
	struct program *program = arg;

	if (eddy_signals_next(&program->signals) < 0)
		return 0;
	/* From here on they have their usual effect: a program that does not end can be ended. */
	eddy_signals_close(&program->signals);
	program->stopped = true;
	eddy_scope_cancel(&program->scope);
	return 0;
}

static int run(void *arg)
{
	struct program *program = arg;
	struct eddy_scope outer;
	int r;

	program->started = true;
	eddy_scope_begin(&outer, NULL);
	eddy_scope_begin(&program->scope, NULL);
	r = eddy_scope_spawn(&outer, "signals", watch_signals, program);
	if (r == 0)
		r = program->fn(program->arg);
	eddy_scope_end(&program->scope);
	eddy_scope_cancel(&outer);
	eddy_scope_end(&outer);
	return program->stopped && r == -ECANCELED ? 0 : r;
}

int eddy_main(eddy_task_fn *fn, void *arg)
{
	struct program program = { .fn = fn, .arg = arg };
	int r = eddy_signals_open((int[]){ SIGINT, SIGTERM, 0 }, &program.signals);

	if (r == 0) {
		r = eddy_run(NULL, run, &program);
		eddy_signals_close(&program.signals);
	}
	if (r >= 0)
		return r;
	fprintf(stderr, "%s: %s%s\n", program_invocation_short_name,
		program.started ? "" : "can't start: ",
		program.started ? strerror(-r) : eddy_ring_advice(r));
	return 1;
}
