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

/* Get the size of a value of a type that is neither an object nor an array. */
EDDY_API size_t eddyi_type_size(enum eddy_type type);

/* Get an integer; those of 64 bits without a sign are converted. */
EDDY_API int64_t eddyi_integer_at(enum eddy_type type, const void *at);

/* Check that objects have a table. Return: 0; -EDOM, logged. */
EDDY_API int eddyi_member_check_shape(const struct eddy_member *member);

/* Check the range, format and pattern of a member's value, and the number of an array's elements.
 * Return: 0; -ERANGE; -EDOM if the pattern is not valid; -ENOMEM. */
EDDY_API int eddyi_member_check(const struct eddy_member *member, const void *value);
EDDY_API int eddyi_member_check_count(const struct eddy_member *member, size_t count);

/* Give a member without a value its default. Return: 0; -ENOENT if a value is required; -EDOM if
 * the default is not valid. */
EDDY_API int eddyi_member_default(const struct eddy_member *member, void *ret_value);

/* Check the syntax of a text. */
EDDY_API bool eddyi_format_accepts(enum eddy_format format, struct eddy_str text);

/* Parse a time. Return: as eddy_to_parse(). */
EDDY_API int eddyi_time_parse(struct eddy_str text, struct eddy_time *ret_time);

/* Check whether a text is a date of the calendar, "2026-01-31". */
EDDY_API bool eddyi_str_is_date(struct eddy_str text);

/* Name a format: "a date", "an email address". */
EDDY_API const char *eddyi_format_name(enum eddy_format format);

/* Check a text. Return: 1; 0 if it does not match; -EDOM if the pattern is not valid; -ENOMEM. */
EDDY_API int eddyi_pattern_matches(struct eddy_pattern *pattern, struct eddy_str text);

/* Store an integer in a variable, by its sign and magnitude. Return: as eddyi_to_i64(). */
EDDY_API int eddyi_to_integer(struct eddy_to to, bool is_negative, uint64_t magnitude);

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
