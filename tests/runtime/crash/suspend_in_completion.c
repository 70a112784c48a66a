/* Suspends in a completion function.
 * expect: signal ABRT
 * expect: stderr ^eddy: eddy_sleep\(\): this call suspends or needs a task, but is made outside a task, such as in a completion function: set an event there, or spawn a task by eddy_scope_spawn\(\)
 */
#include <eddy/op.h>
#include <eddy/task.h>
#include <liburing.h>

static struct eddy_op op;

static void done(struct eddy_op *finished, int result, unsigned flags)
{
	(void)finished;
	(void)result;
	(void)flags;
	eddy_sleep(1);
}

static int root(void *arg)
{
	struct io_uring_sqe *sqe = eddy_op_begin(&op, done);

	(void)arg;
	io_uring_prep_nop(sqe);
	eddy_op_start(&op, sqe);
	return eddy_sleep(EDDY_SECOND);
}

int main(void)
{
	return eddy_run(NULL, root, NULL);
}
