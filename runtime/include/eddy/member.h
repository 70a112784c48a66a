/* eddy/member.h: validation of input into structs: a table names the members and their values. The
 * same table reads pairs of names and values and, with http, a request's path, query, form, cookies
 * and JSON.
 *
 *     struct search {
 *             struct eddy_str text;
 *             unsigned page;
 *             enum order order;
 *             double price;
 *             bool has_price;
 *     };
 *
 *     static const struct eddy_member search_members[] = {
 *             EDDY_MEMBER(struct search, text, .as = "q", .range = { 1, 100 }),
 *             EDDY_MEMBER(struct search, page, .range = { 1, 1000 }, .otherwise = "1"),
 *             EDDY_MEMBER(struct search, order, .names = order_names, .otherwise = "newest"),
 *             EDDY_MEMBER(struct search, price, .present = EDDY_PRESENT(struct search, has_price)),
 *     };
 *
 *     if (eddy_pairs_into(&pairs, search_members, &search, why) < 0)
 *             fprintf(stderr, "%s\n", why);
 *
 * The first of several values of one name counts. Names that are not in the table are ignored,
 * unless the source is JSON and an entry of the table is .strict.
 */
#ifndef EDDY_MEMBER_H
#define EDDY_MEMBER_H

#include <eddy/pairs.h>
#include <eddy/to.h>

EDDY_BEGIN_DECLS

/* The smallest and largest value, or length of a string in bytes; {0, 0} allows any. */
struct eddy_bounds {
	long double min;
	long double max;
};

/* A member: its name in the source and its values. A zero field takes its default. */
struct eddy_member {
	/* Filled in by EDDY_MEMBER(): */
	const char *member;
	enum eddy_type type;
	size_t offset;

	const char *as;           /* name in the source; default: the member's */
	struct eddy_bounds range; /* default: all that the type holds */
	/* The allowed values, ended by NULL; default: any. A string gets the value, an integer or
	 * an enum its index. */
	const char *const *names;
	const char *otherwise; /* value if missing, as text; default: missing is an error */
	bool optional;         /* a missing value is zero, and no error */
	size_t present;        /* EDDY_PRESENT(): optional, and a bool tells if it was there */
	/* Reject JSON with a member that the table does not name. One such entry is enough for the
	 * whole table. Default: unknown members are ignored. */
	bool strict;
};

#ifndef __cplusplus
/* Describe a member: EDDY_MEMBER(type, member) or EDDY_MEMBER(type, member, .field = …). The
 * member's type picks the parser, as in EDDY_TO(). This macro and EDDY_PRESENT() are for C only. */
#define EDDY_MEMBER(type_, ...)                                                                    \
	EDDYI_MEMBER(type_, __VA_ARGS__, .offset = offsetof(type_, EDDYI_FIRST(__VA_ARGS__, )))
#define EDDYI_FIRST(first, ...) first
#define EDDYI_MEMBER(type_, member_, ...)                                                          \
	{                                                                                          \
		.member = #member_,                                                                \
		.type = EDDYI_TYPE_OF(&((type_ *)0)->member_,                                      \
				      "EDDY_MEMBER() takes members that are integers, enums, "     \
				      "double, bool or struct eddy_str"),                          \
		__VA_ARGS__                                                                        \
	}

/* Name the bool that tells whether an optional member was present. */
#define EDDY_PRESENT(type_, flag_)                                                                 \
	(offsetof(type_, flag_) + 1 +                                                              \
	 0 * sizeof(struct {                                                                       \
		 _Static_assert(_Generic(&((type_ *)0)->flag_, bool * : 1, default : 0),           \
				"EDDY_PRESENT() takes a member that is a bool");                   \
		 char unused;                                                                      \
	 }))
#endif

/* The longest text that says why input was rejected, its NUL included. */
#define EDDY_WHY_SIZE 256

/* Read pairs into `*ret_target`, all members or none. Strings are borrowed from the pairs. On an
 * error, `ret_why` (EDDY_WHY_SIZE bytes, or NULL) gets the reason: `"page" must be an integer from
 * 1 to 1000`.
 * Return: 0; -EINVAL if a value is missing, malformed or out of range; -EDOM if the table is wrong:
 * a default that is not a value of its member. */
#define eddy_pairs_into(pairs, members, ret_target, ret_why)                                       \
	eddyi_pairs_read((pairs), (members), sizeof(members) / sizeof(*(members)), (ret_target),   \
			 (ret_why))
EDDY_API int eddyi_pairs_read(const struct eddy_pairs *pairs, const struct eddy_member *members,
			      size_t count, void *ret_target, char *ret_why);

EDDY_END_DECLS

#endif
