/* through: pipe a request body through a child process, and stream its output back.
 *
 *     $ through localhost:7878 &
 *     2026-11-21T09:00:00.000000Z  INFO eddy::app: Listening on localhost:7878
 *     $ echo 'hello, child' | curl -s -T - localhost:7878/upper
 *     HELLO, CHILD
 *     $ seq 200000 | curl -s -T - localhost:7878/upper | tail -n 1
 *     200000
 */
#include <eddy/http.h>
#include <eddy/runtime.h>
#include <errno.h>

struct feeding {
	struct eddy_req *req;
	struct eddy_process *child;
};

/* A task of its own: a child whose output is not read stops reading input, and both would hang. */
static int feed(void *arg)
{
	struct feeding *feeding = arg;
	char piece[16 * EDDY_KIB];
	ssize_t n;
	int r = 0;

	while (r == 0 && (n = eddy_req_read(feeding->req, piece, sizeof(piece))) != 0)
		r = n < 0 ? (int)n :
			    eddy_write_all(feeding->child->in, piece, (size_t)n, EDDY_OFFSET_NONE);
	eddy_close(feeding->child->in); /* end of the child's input */
	feeding->child->in = -1;
	return r;
}

static int pass_back(struct eddy_res *res, struct eddy_process *child)
{
	char piece[16 * EDDY_KIB];
	ssize_t n;
	int r = 0;

	while (r == 0 && (n = eddy_read(child->out, piece, sizeof(piece), EDDY_OFFSET_NONE)) != 0)
		r = n < 0 ? (int)n : eddy_res_write(res, piece, (size_t)n);
	return r;
}

/* Check the exit status: otherwise the output of a failed child would look complete. */
static int await_success(struct eddy_process *child)
{
	struct eddy_process_status status;
	int r = eddy_process_wait(child, &status);

	return r < 0 ? r : status.code == 0 ? 0 : -EIO;
}

/* PUT /upper */
static int upper(struct eddy_req *req, struct eddy_res *res)
{
	const struct eddy_process_options options = {
		.argv = EDDY_LIST("tr", "a-z", "A-Z"),
		.in.kind = EDDY_PROCESS_PIPE,
		.out.kind = EDDY_PROCESS_PIPE,
	};
	struct eddy_process child;
	struct feeding feeding = { req, &child };
	struct eddy_scope scope;
	int r = eddy_process_start(&options, &child), ended;

	if (r < 0)
		return r;
	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = 60 * EDDY_SECOND });
	eddy_scope_spawn(&scope, "feed", feed, &feeding);
	r = pass_back(res, &child);
	if (r == 0)
		r = await_success(&child);
	ended = eddy_scope_end(&scope);
	eddy_process_close(&child);   /* kills it unless it has ended */
	return ended < 0 ? ended : r; /* a timeout also explains the other errors */
}

int main(int argc, char **argv)
{
	struct eddy_app *app = eddy_app_new();

	eddy_log_text_subscribe();
	eddy_app_bind(app, argc > 1 ? argv[1] : "localhost:7878");
	eddy_app_map_put(app, "/upper", upper);
	return eddy_app_run_blocking(app) < 0 ? 1 : 0;
}
