#include "validator.h"

#include <eddy/internal/outside.h>
#include <eddy/internal/text.h>
#include <endian.h>

void eddyi_validator_init(struct eddyi_validator *validator, const struct stat *st)
{
	uint32_t ns = htobe32((uint32_t)st->st_mtim.tv_nsec);
	char *at = validator->etag;

	*at++ = '"';
	at += eddyi_u64_format_hex((uint64_t)st->st_ino, at);
	*at++ = '-';
	at += eddyi_u64_format_hex((uint64_t)st->st_mtim.tv_sec, at);
	at = eddyi_hex_format(&ns, sizeof(ns), at);
	*at++ = '-';
	at += eddyi_u64_format_hex((uint64_t)st->st_size, at);
	*at++ = '"';
	validator->state = (struct eddyi_cond_state){
		.etag = eddy_str(validator->etag, (size_t)(at - validator->etag)),
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
