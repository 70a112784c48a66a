/* eddy/internal/member.h: reads tables of members from any source of values; for eddy's own layers. */
#ifndef EDDY_INTERNAL_MEMBER_H
#define EDDY_INTERNAL_MEMBER_H

#include <eddy/member.h>

EDDY_BEGIN_DECLS

struct eddyi_source {
	/* Read the value of `name` for a member.
	 * Return: 0; -ENOENT if there is none; -EINVAL and -ERANGE as eddy_to_parse(). */
	int (*read)(const void *from, const char *name, const struct eddy_member *member,
		    struct eddy_to to);
	const void *from;
};

/* Read every member into `*ret_target`, or none. Return: as eddy_pairs_into(). */
EDDY_API int eddyi_members_read(const struct eddyi_source *source,
				const struct eddy_member *members, size_t count, void *ret_target,
				char *ret_why);

/* Get a member's name in the source. */
EDDY_API const char *eddyi_member_name(const struct eddy_member *member);

/* Store an integer in a variable. Return: 0; -EINVAL if its type takes none, or none below 0;
 * -ERANGE if the value does not fit. */
EDDY_API int eddyi_to_i64(struct eddy_to to, int64_t value);

/* Parse a member's value. Return: as eddy_to_parse(). */
EDDY_API int eddyi_member_parse(const struct eddy_member *member, struct eddy_str text,
				struct eddy_to to);

/* Describe the valid values of a member: "an integer from 1 to 9". */
EDDY_API void eddyi_member_expect(const struct eddy_member *member, char *buf, size_t size);

EDDY_END_DECLS

#endif
