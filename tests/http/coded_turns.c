/* Tests of bodies that go out through coders beside one another (eddy/coder.h). */
#include "hex.h"

static unsigned begun, begun_most;

static int begin(void *state)
{
	(void)state;
	begun++;
	if (begun > begun_most)
		begun_most = begun;
	return 0;
}

static int fail_to_begin(void *state)
{
	(void)state;
	return -ENOMEM;
}

/* The bytes as they are: no more come out than there is room for. */
static int copy_step(void *state, struct eddy_coder_io *io, enum eddy_coder_op op)
{
	size_t len = io->in_len < 1000 ? io->in_len : 1000;

	(void)state;
	(void)op;
	cr_assert(ge(uint, begun, 1));
	if (len > io->out_len)
		len = io->out_len;
	memcpy(io->out, io->in, len);
	*io = (struct eddy_coder_io){ io->in + len, io->in_len - len, io->out + len,
				      io->out_len - len };
	return io->in_len == 0;
}

static void copy_end(void *state, bool was_whole)
{
	begun--;
	hex_end(state, was_whole);
}

static const struct eddy_coder copy = { .begin = begin, .step = copy_step, .end = copy_end };
static const struct eddy_coder poor = { .begin = fail_to_begin, .step = hex_step, .end = hex_end };

static void at_head(void *data, struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	eddy_res_code(res, data, hex_new(false));
}

/* Through hex, unless the path says otherwise. */
static int encoding(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	const struct eddy_coder *coder = &hex;
	struct eddy_str path = eddy_req_target_path(req);
	int r;

	if (path.ptr[1] == 'c')
		coder = &copy;
	else if (path.ptr[1] == 'p')
		coder = &poor;
	r = eddy_res_on_head(res, at_head, (void *)coder);
	return r < 0 ? r : eddy_next(next, req, res);
}

static int bytes(struct eddy_req *req, struct eddy_res *res)
{
	static const char all[60000];
	uint64_t n;

	if (eddy_req_path(req, EDDY_TO(&n)) < 0 || n > sizeof(all))
		return 400;
	return eddy_res_bytes(res, "text/plain", eddy_str(all, n));
}

static struct eddy_app *make(void)
{
	struct eddy_app *app = hex_app();

	begun = begun_most = 0;
	eddy_app_map_get(app, "/hex/{n}", bytes);
	eddy_app_map_get(app, "/copy/{n}", bytes);
	eddy_app_map_get(app, "/poor/{n}", bytes);
	eddy_app_add_filter(app, encoding, NULL);
	return app;
}

struct crowd {
	struct eddy_app *app;
	struct eddy_scope scope;
	const char *line; /* of those that are large */
	size_t size;      /* that they get */
	unsigned steps_before_small;
	bool failed;
};

static int ask_in_crowd(struct crowd *crowd, const char *line, size_t want)
{
	struct eddy_response *response = NULL;
	struct eddy_str body = { 0 };
	int r = eddy_app_test(crowd->app, line, NULL, &response);

	if (r == 0)
		r = eddy_response_body(response, &body);
	crowd->failed |= r < 0 || body.len != want;
	eddy_response_free(response);
	return 0;
}

static int ask_large(void *arg)
{
	struct crowd *crowd = arg;

	ask_in_crowd(crowd, crowd->line, crowd->size);
	return 0;
}

static int ask_small(void *arg)
{
	struct crowd *crowd = arg;

	ask_in_crowd(crowd, "GET /hex/10", 20);
	crowd->steps_before_small = steps;
	return 0;
}

static int be_a_crowd(void *arg)
{
	struct crowd *crowd = arg;

	eddy_scope_begin(&crowd->scope, NULL);
	for (int i = 0; i < 5; i++)
		eddy_scope_spawn(&crowd->scope, "large", ask_large, crowd);
	eddy_scope_spawn(&crowd->scope, "small", ask_small, crowd);
	eddy_scope_join(&crowd->scope);
	return eddy_scope_end(&crowd->scope);
}

/* Steps of one are not mixed with those of others; who is small is not in the queue. */
Test(coded_turns, large_ones_take_turns)
{
	struct crowd crowd = { .app = make(), .line = "GET /hex/60000", .size = 120000 };

	cr_assert(eq(int, eddy_run(NULL, be_a_crowd, &crowd), 0));
	cr_assert(not(crowd.failed));
	cr_assert(eq(uint, whole, 6));
	/* Each has 1,200 steps; once in a while one waits for its peer. */
	cr_expect(le(uint, switches, 40), "%u", switches);
	cr_expect(le(uint, crowd.steps_before_small, 300), "%u", crowd.steps_before_small);
	eddy_app_free(crowd.app);
}

/* They wait with nothing that only steps need. */
Test(coded_turns, who_waits_has_not_begun)
{
	struct crowd crowd = { .app = make(), .line = "GET /copy/60000", .size = 60000 };

	cr_assert(eq(int, eddy_run(NULL, be_a_crowd, &crowd), 0));
	cr_assert(not(crowd.failed));
	cr_assert(eq(uint, whole, 6));
	cr_expect(eq(uint, begun_most, 1));
	cr_expect(eq(uint, begun, 0));
	eddy_app_free(crowd.app);
}

/* Then nothing is sent: the error that would replace the response passes through such a coder, too. */
Test(coded_turns, who_can_not_begin_ends)
{
	struct eddy_app *app = make();
	struct eddy_response *response = NULL;

	cr_expect(lt(int, eddy_app_test(app, "GET /poor/100", NULL, &response), 0));
	cr_expect(eq(uint, steps, 0));
	cr_expect(eq(uint, alive, 0));
	cr_expect(eq(uint, broken, 2));
	eddy_app_free(app);
}
