#include <eddy/main.h>

#include <eddy/event.h>
#include <eddy/internal/signal.h>

#include "core/loop.h"
#include "core/op.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

struct program {
	eddy_task_fn *fn;
	void *arg;
	struct eddy_signals signals;
	struct eddy_scope scope; /* of `fn` */
	/* Polls the signals. An internal op instead of a task, so that a program whose tasks wait
	 * for one another is still detected as a deadlock, although Ctrl-C would end it. */
	struct eddy_op watch;
	struct eddy_event unwatched; /* set when `watch` has ended */
	bool started;
	bool ended;
	bool stopped; /* by a signal */
};

static void on_signal(struct eddy_op *op, int result, unsigned flags);

static void arm_watch(struct program *program)
{
	struct io_uring_sqe *sqe = eddy_op_begin(&program->watch, on_signal);

	io_uring_prep_poll_add(sqe, program->signals.fd, POLLIN);
	eddyi_op_start_own(&program->watch, sqe);
}

static void on_signal(struct eddy_op *op, int result, unsigned flags)
{
	struct program *program = eddy_of(op, struct program, watch);

	(void)flags;
	eddyi_loop_unstick(eddyi_loop());
	/* Also after a failure, such as a lack of memory. */
	if (!program->ended && (result < 0 || eddyi_signals_take(&program->signals) < 0)) {
		arm_watch(program);
		return;
	}
	eddy_event_set(&program->unwatched);
	if (program->ended)
		return;
	/* From here on signals have their default effect: a second one ends the program. */
	eddy_signals_close(&program->signals);
	program->stopped = true;
	eddy_scope_cancel(&program->scope);
}

static int run(void *arg)
{
	struct program *program = arg;
	int r;

	program->started = true;
	eddy_event_init(&program->unwatched);
	eddy_scope_begin(&program->scope, NULL);
	arm_watch(program);
	r = program->fn(program->arg);
	eddy_scope_end(&program->scope);
	program->ended = true;
	eddy_op_cancel(&program->watch);
	eddy_event_wait(&program->unwatched);
	return program->stopped && r == -ECANCELED ? 0 : r;
}

int eddy_main(eddy_task_fn *fn, void *arg)
{
	struct program program = { .fn = fn, .arg = arg };
	int r = eddy_signals_open((int[]){ SIGINT, SIGTERM, 0 }, &program.signals);

	if (r == 0) {
		r = eddyi_run(NULL, run, &program);
		eddy_signals_close(&program.signals);
	}
	if (r >= 0)
		return r;
	fprintf(stderr, "%s: %s%s\n", program_invocation_short_name,
		program.started ? "" : "can't start: ",
		program.started ? strerror(-r) : eddy_ring_advice(r));
	return 1;
}
