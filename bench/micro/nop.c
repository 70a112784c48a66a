/* nop: one entry to the kernel and back, which does nothing there.
 *
 *     nop eddy|bare AT_ONCE SECONDS
 *
 * "eddy": a task awaits one NOP after the other; AT_ONCE tasks do. "bare" is liburing without anything
 * around it: AT_ONCE entries, one io_uring_enter(2), AT_ONCE completions, on a ring that is set up in
 * the same way.
 */
#include "micro.h"

#include <eddy/runtime.h>
#include <liburing.h>
#include <string.h>

#define ROUNDS 1000
#define ENTRIES 1024

static unsigned at_once;
static double seconds;
static struct micro micro;
static bool over;

/* ---- eddy ---- */

static int nop(void)
{
	struct eddy_op op;
	struct io_uring_sqe *sqe = eddy_op_begin_await(&op);

	if (!sqe)
		return -1;
	io_uring_prep_nop(sqe);
	return eddy_op_await(&op, sqe);
}

static int others(void *arg)
{
	(void)arg;
	while (!over)
		nop();
	return 0;
}

static int eddy(void *arg)
{
	struct eddy_scope scope;

	(void)arg;
	eddy_scope_begin(&scope, NULL);
	for (unsigned i = 1; i < at_once; i++)
		eddy_scope_spawn(&scope, "nop", others, NULL);
	micro = micro_begin(seconds);
	do
		for (int i = 0; i < ROUNDS; i++)
			nop();
	while (micro_goes_on(&micro, (uint64_t)ROUNDS * at_once));
	over = true;
	micro_print(&micro);
	eddy_scope_join(&scope);
	return eddy_scope_end(&scope);
}

/* ---- bare ---- */

static void round_trip(struct io_uring *ring)
{
	struct io_uring_cqe *cqe;
	unsigned head, count = 0;

	for (unsigned i = 0; i < at_once; i++) {
		struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

		io_uring_prep_nop(sqe);
		io_uring_sqe_set_data64(sqe, i);
	}
	if (io_uring_submit_and_wait(ring, at_once) < 0)
		micro_die("io_uring_submit_and_wait");
	io_uring_for_each_cqe(ring, head, cqe)
		count += cqe->res == 0;
	io_uring_cq_advance(ring, count);
}

static int bare(void)
{
	struct io_uring_params params = {
		.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
			 IORING_SETUP_SUBMIT_ALL | IORING_SETUP_CLAMP | IORING_SETUP_CQSIZE,
		.cq_entries = ENTRIES * 8,
	};
	struct io_uring ring;

	if (io_uring_queue_init_params(ENTRIES, &ring, &params) < 0)
		micro_die("io_uring");
	io_uring_register_ring_fd(&ring);
	micro = micro_begin(seconds);
	do
		for (int i = 0; i < ROUNDS; i++)
			round_trip(&ring);
	while (micro_goes_on(&micro, (uint64_t)ROUNDS * at_once));
	micro_print(&micro);
	io_uring_queue_exit(&ring);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 4) {
		fputs("usage: nop eddy|bare AT_ONCE SECONDS\n", stderr);
		return 2;
	}
	at_once = (unsigned)strtoul(argv[2], NULL, 10);
	seconds = strtod(argv[3], NULL);
	if (strcmp(argv[1], "eddy") == 0)
		return eddy_run(NULL, eddy, NULL) ? 1 : 0;
	return bare();
}
