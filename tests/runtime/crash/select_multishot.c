/* Puts an op that completes many times into a select.
 * expect: signal ABRT
 * expect: stderr a multishot op can't be used in a select
 */
#include <eddy/select.h>
#include <eddy/loop.h>
#include <liburing.h>
#include <poll.h>
#include <unistd.h>

static int root(void *arg)
{
	struct eddy_case one = eddy_case_op();

	io_uring_prep_poll_multishot(&one.sqe, *(int *)arg, POLLOUT);
	return eddy_select(&one, 1);
}

int main(void)
{
	int fds[2];

	return pipe(fds) ? 1 : eddy_run(NULL, root, &fds[1]);
}
