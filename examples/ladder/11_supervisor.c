/* 11_supervisor: restart failed tasks after growing pauses; give up after four attempts.
 *
 *     $ 11_supervisor
 *     flaky: Connection reset by peer
 *     flaky: Connection reset by peer
 *     flaky: done at attempt 3
 *     stuck: Connection timed out
 *     stuck: done at attempt 2
 *     broken: Input/output error
 *     broken: Input/output error
 *     broken: Input/output error
 *     broken: given up
 *
 * The three run concurrently, so their lines are interleaved.
 */
#include <eddy/runtime.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

struct child {
	const char *name;
	int (*run)(int attempt);
};

static int flaky(int attempt)
{
	return attempt < 3 ? -ECONNRESET : 0;
}

static int stuck(int attempt)
{
	return attempt < 2 ? eddy_sleep(3600 * EDDY_SECOND) : 0;
}

static int broken(int attempt)
{
	return -EIO;
}

/* Each attempt has a scope: its tasks end with it, and it times out if it hangs. */
static int try(const struct child *child, int attempt)
{
	struct eddy_scope scope;
	int r, ended;

	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = 50 * EDDY_MS });
	r = child->run(attempt);
	ended = eddy_scope_end(&scope);
	return ended < 0 ? ended : r;
}

static int supervise(void *arg)
{
	const struct child *child = arg;
	uint64_t pause_ns = EDDY_MS;
	int attempt = 1, r;

	while ((r = try(child, attempt)) < 0 && attempt++ < 4) {
		printf("%s: %s\n", child->name, strerror(-r));
		if (eddy_sleep(pause_ns *= 2) < 0)
			return -ECANCELED;
	}
	printf(r < 0 ? "%s: given up\n" : "%s: done at attempt %d\n", child->name, attempt);
	return r;
}

static int run(void *arg)
{
	struct child children[] = { { "flaky", flaky }, { "stuck", stuck }, { "broken", broken } };
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	for (size_t i = 0; i < 3; i++)
		eddy_scope_spawn(&scope, children[i].name, supervise, &children[i]);
	eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	return 0;
}

int main(void)
{
	return eddy_main(run, NULL);
}
