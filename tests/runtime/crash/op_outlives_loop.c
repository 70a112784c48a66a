/* Returns from the root task while an op is with the kernel.
 * expect: signal ABRT
 * expect: stderr 1 ops of eddy_op_start\(\) are still pending at the end of the loop "forgetful"
 */
#include <eddy/op.h>
#include <eddy/task.h>
#include <liburing.h>
#include <poll.h>
#include <unistd.h>

static struct eddy_op op;

static void done(struct eddy_op *finished, int result, unsigned flags)
{
	(void)finished;
	(void)result;
	(void)flags;
}

static int root(void *arg)
{
	struct io_uring_sqe *sqe = eddy_op_begin(&op, done);

	io_uring_prep_poll_add(sqe, *(int *)arg, POLLIN);
	eddy_op_start(&op, sqe);
	return 0;
}

int main(void)
{
	int fds[2];

	return pipe(fds) ? 1 :
			   eddy_run(&(struct eddy_loop_options){ .name = "forgetful" }, root, fds);
}
