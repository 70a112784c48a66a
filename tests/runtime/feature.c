#include "base/feature.h"

#include "expect.h"

#include <string.h>

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
