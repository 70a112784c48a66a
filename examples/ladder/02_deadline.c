/* 02_deadline: a scope with a timeout, which cancels everything inside it.
 *
 *     $ 02_deadline
 *     boil an egg: done
 *     read a book: stopped after page 5
 *     the morning: Connection timed out
 */
#include <eddy/runtime.h>
#include <stdio.h>
#include <string.h>

static int boil(void *arg)
{
	int r = eddy_sleep(30 * EDDY_MS);

	if (r == 0)
		puts("boil an egg: done");
	return r;
}

static int read_book(void *arg)
{
	int page = 0, r;

	/* This code does not know the deadline: the call in progress returns -ECANCELED. */
	do
		r = eddy_sleep(page++ < 5 ? EDDY_MS : 3600 * EDDY_SECOND);
	while (r == 0);
	printf("read a book: stopped after page %d\n", page - 1);
	return r;
}

static int run(void *arg)
{
	struct eddy_scope morning;
	int r;

	eddy_scope_begin(&morning, &(struct eddy_scope_options){ .timeout_ns = 200 * EDDY_MS });
	eddy_scope_spawn(&morning, "boil", boil, NULL);
	eddy_scope_spawn(&morning, "read", read_book, NULL);
	eddy_scope_join(&morning);
	r = eddy_scope_end(&morning);
	printf("the morning: %s\n", r < 0 ? strerror(-r) : "done");
	return 0;
}

int main(void)
{
	return eddy_main(run, NULL);
}
