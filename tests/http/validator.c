/* Tests of validator.h. */
#include "message/validator.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

static void expect(struct stat st, const char *etag)
{
	struct eddyi_validator validator;

	eddyi_validator_init(&validator, &st);
	cr_expect(eddy_str_eq_z(validator.state.etag, etag), "%.*s",
		  EDDY_FMT(validator.state.etag));
	cr_expect(validator.state.modified == st.st_mtim.tv_sec);
}

Test(validator, tags_differ_with_inode_time_and_size)
{
	expect((struct stat){ .st_ino = 0x1a2b, .st_mtim = { 0x5f, 0xabc }, .st_size = 0x10 },
	       "\"1a2b-5f00000abc-10\"");
	expect((struct stat){ .st_ino = 1, .st_mtim = { 0, 999999999 }, .st_size = 0 },
	       "\"1-03b9ac9ff-0\"");
	expect((struct stat){ .st_ino = UINT64_MAX, .st_mtim = { -1, 0 }, .st_size = INT64_MAX },
	       "\"ffffffffffffffff-ffffffffffffffff00000000-7fffffffffffffff\"");
}
