#include "base/feature.h"

#include "expect.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

Test(feature, each_is_there_since_its_kernel)
{
	for (int i = 0; i < EDDYI_FEATURES; i++) {
		const struct eddyi_feature_info *info = eddyi_feature_info(i);

		cr_assert(info->name && info->without && *info->without);
		cr_expect_eq(eddyi_feature_is_there(i), kernel_is(info->since), "%s", info->name);
	}
}

static int ask(__attribute__((unused)) void *arg)
{
	int found = 0;

	for (int i = 0; i < EDDYI_FEATURES; i++)
		found |= eddyi_feature_is_there(i) << i;
	return found;
}

Test(feature, loop_finds_the_same)
{
	/* The loop's ring is the process's first. */
	int by_loop = eddy_run(NULL, ask, NULL);

	cr_expect_eq(by_loop, ask(NULL));
	cr_expect_gt(by_loop, 0);
	cr_expect(!eddyi_feature_set(EDDYI_FEATURE_PIPE, true) ||
		  by_loop >> EDDYI_FEATURE_PIPE & 1);
	cr_expect(eddyi_feature_set(EDDYI_FEATURE_PIPE, false));
	cr_expect(!eddyi_feature_is_there(EDDYI_FEATURE_PIPE));
}

/* From here on, this is the result of io_uring_setup(2). Of two results the severer one counts. */
static void forbid_rings(unsigned result)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, result),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = 4, .filter = filter };

	cr_assert_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	cr_assert_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

/* Requests ask for features: a process whose rings are refused must not make a system call for each. */
Test(feature, refused_ring_is_asked_for_once)
{
	int found;

	forbid_rings(SECCOMP_RET_ERRNO | EPERM);
	found = ask(NULL);
	cr_expect_eq(found & ~(1 << EDDYI_FEATURE_GUARD_INSTALL), 0);
	cr_expect_eq(found >> EDDYI_FEATURE_GUARD_INSTALL, kernel_is("6.13"));
	/* A second call kills this process. */
	forbid_rings(SECCOMP_RET_KILL_PROCESS);
	cr_expect_eq(ask(NULL), found);
	setenv("EDDY_EXECUTOR", "poll", 1);
	cr_expect_eq(eddy_run(NULL, ask, NULL), found);
}
