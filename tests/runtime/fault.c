#include "core/fault.h"

#include "expect.h"

#include <eddy/task.h>
#include <signal.h>

static stack_t current(void)
{
	stack_t stack = { .ss_sp = NULL };

	sigaltstack(NULL, &stack);
	return stack;
}

static char memory[256 * EDDY_KIB];

static int replace(void *arg)
{
	(void)arg;
	return sigaltstack(&(stack_t){ .ss_sp = memory, .ss_size = sizeof(memory) }, NULL);
}

Test(fault, a_loop_takes_back_the_stack_that_it_gave)
{
	stack_t before = current();
	void *given;

	/* A sanitizer gives each thread one, before anybody else can. */
	sigaltstack(&(stack_t){ .ss_flags = SS_DISABLE }, NULL);
	given = eddyi_fault_stack_give();
	cr_assert(given);
	cr_expect_eq(current().ss_sp, given);
	cr_expect(!eddyi_fault_stack_give(), "there is one");
	eddyi_fault_stack_drop(given);
	cr_expect(current().ss_flags & SS_DISABLE);
	sigaltstack(&before, NULL);
}

Test(fault, a_stack_of_the_programs_own_stays)
{
	stack_t before = current();

	sigaltstack(&(stack_t){ .ss_flags = SS_DISABLE }, NULL);
	cr_assert_eq(eddy_run(NULL, replace, NULL), 0);
	cr_expect_eq(current().ss_sp, memory);
	cr_expect_eq(current().ss_flags & SS_DISABLE, 0);
	sigaltstack(&before, NULL);
}
