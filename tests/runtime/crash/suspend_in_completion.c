/* Suspends in a completion function.
 * expect: signal ABRT
 * expect: stderr a call that suspends was made outside of a task
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
