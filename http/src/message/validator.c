#include "validator.h"

#include <eddy/internal/outside.h>
#include <stdio.h>

void eddyi_validator_init(struct eddyi_validator *validator, const struct stat *st)
{
	int len = snprintf(validator->etag, sizeof(validator->etag), "\"%llx-%llx%08lx-%llx\"",
			   (unsigned long long)st->st_ino, (unsigned long long)st->st_mtim.tv_sec,
			   (unsigned long)st->st_mtim.tv_nsec, (unsigned long long)st->st_size);

	validator->state = (struct eddyi_cond_state){
		.etag = eddy_str(validator->etag, (size_t)len),
		.has_modified = true,
		.modified = st->st_mtim.tv_sec,
		.now = eddyi_clock_seconds(),
	};
}

struct eddyi_cond_fields eddyi_validator_conditions(struct eddyi_head *head)
{
	return (struct eddyi_cond_fields){
		.if_match = eddyi_head_join(head, "if-match"),
		.if_unmodified_since = eddyi_head_join(head, "if-unmodified-since"),
		.if_none_match = eddyi_head_join(head, "if-none-match"),
		.if_modified_since = eddyi_head_join(head, "if-modified-since"),
		.if_range = eddyi_head_join(head, "if-range"),
	};
}
