/* switch: what it costs to go from one stack straight to another.
 *
 *     switch eddy|swapcontext STACKS SECONDS
 *
 * STACKS of them hand the processor on in a circle. "eddy" takes tasks as a loop makes them, so that
 * the stacks lie where tasks' stacks lie, and goes from one to the next by the runtime's own switch:
 * the program is built with each of its three kinds. "swapcontext" is glibc's.
 */
#include "core/loop.h"
#include "core/wait.h"
#include "micro.h"

#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define BATCH 10000
#define PLAIN_STACK (64 * 1024)

static unsigned long stacks, left;
static double seconds;

/* ---- eddy ---- */

struct member {
	struct eddyi_ctx *ctx;
	struct eddyi_ctx *next;
	struct eddyi_ctx *home;
};

static int circle(void *arg)
{
	struct eddyi_ctx *ctx = ((struct member *)arg)->ctx, *next = ((struct member *)arg)->next;
	struct eddyi_ctx *home = ((struct member *)arg)->home;

	for (;;) {
		/* The last of a batch goes home instead, and is where the next one begins. */
		while (--left == 0)
			eddyi_ctx_switch_hot(ctx, home);
		eddyi_ctx_switch_hot(ctx, next);
	}
	return 0;
}

static void lap_of_eddy(struct eddyi_ctx *home, struct eddyi_ctx *first, unsigned long count)
{
	left = count;
	eddyi_ctx_switch_hot(home, first);
}

static int eddy(void *arg)
{
	struct eddy_loop *loop = eddy_loop_self();
	struct eddyi_ctx *home = &eddy_task_self()->ctx;
	struct member *members = calloc(stacks, sizeof(*members));
	struct micro micro;

	(void)arg;
	for (unsigned long i = 0; i < stacks; i++) {
		struct eddy_task *task = eddyi_task_take(loop, "circle", circle, &members[i]);

		if (!task)
			micro_die("no stack");
		members[i] = (struct member){ .ctx = &task->ctx, .home = home };
	}
	for (unsigned long i = 0; i < stacks; i++)
		members[i].next = members[(i + 1) % stacks].ctx;
	/* Each is entered once. */
	lap_of_eddy(home, members[0].ctx, stacks);
	micro = micro_begin(seconds);
	do
		lap_of_eddy(home, members[stacks - 1].ctx, BATCH / stacks * stacks + stacks);
	while (micro_goes_on(&micro, BATCH / stacks * stacks + stacks));
	micro_print(&micro);
	/* The tasks are in the middle of it. */
	_exit(0);
}

/* ---- glibc's ---- */

static ucontext_t *contexts, home_context;

static void circle_of_contexts(unsigned number)
{
	ucontext_t *context = &contexts[number], *next = &contexts[(number + 1) % stacks];

	for (;;) {
		while (--left == 0)
			swapcontext(context, &home_context);
		swapcontext(context, next);
	}
}

static void lap_of_contexts(unsigned first, unsigned long count)
{
	left = count;
	swapcontext(&home_context, &contexts[first]);
}

static int plain(void)
{
	char *memory = mmap(NULL, stacks * PLAIN_STACK, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct micro micro;

	contexts = calloc(stacks, sizeof(*contexts));
	if (!contexts || memory == MAP_FAILED)
		micro_die("no stacks");
	madvise(memory, stacks * PLAIN_STACK, MADV_NOHUGEPAGE);
	for (unsigned i = 0; i < stacks; i++) {
		getcontext(&contexts[i]);
		contexts[i].uc_stack.ss_sp = memory + (size_t)i * PLAIN_STACK;
		contexts[i].uc_stack.ss_size = PLAIN_STACK;
		makecontext(&contexts[i], (void (*)(void))circle_of_contexts, 1, i);
	}
	lap_of_contexts(0, stacks);
	micro = micro_begin(seconds);
	do
		lap_of_contexts((unsigned)stacks - 1, BATCH / stacks * stacks + stacks);
	while (micro_goes_on(&micro, BATCH / stacks * stacks + stacks));
	micro_print(&micro);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 4) {
		fputs("usage: switch eddy|swapcontext STACKS SECONDS\n", stderr);
		return 2;
	}
	stacks = strtoul(argv[2], NULL, 10);
	seconds = strtod(argv[3], NULL);
	if (strcmp(argv[1], "eddy") == 0)
		return eddy_run(NULL, eddy, NULL) ? 1 : 0;
	return plain();
}
