/* eddy/member.h: tables that say which members of a struct are read by name, and what they may hold.
 * The same table reads path parameters, a query, a form, and a JSON object.
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
 *     if (eddy_req_query_into(req, search_members, &search) < 0)
 *             return 400;
 *
 * Other members of the source are ignored, unless it is JSON and a member of the table says .strict. Of several
 * values of one name the first counts.
 */
#ifndef EDDY_MEMBER_H
#define EDDY_MEMBER_H

#include <eddy/pairs.h>
#include <eddy/to.h>

EDDY_BEGIN_DECLS

/* The smallest and the largest value, or length of a string in bytes; {0, 0} is any. */
struct eddy_bounds {
	long double min;
	long double max;
};

struct eddy_member {
	/* Filled in by EDDY_MEMBER(): */
	const char *member;
	enum eddy_type type;
	size_t offset;

	/* Every field: 0 or NULL means its default. */
	const char *as;           /* the name in the source; default: that of the member */
	struct eddy_bounds range; /* default: all that the type holds */
	/* The only values, NULL behind the last. A string is one of them; an integer or an enum gets
	 * the index of one. Default: any. */
	const char *const *names;
	const char *otherwise; /* the value, as text, when the source has none; default: an error */
	bool optional;         /* zero when the source has none, and no error */
	size_t present;        /* EDDY_PRESENT(): optional, and a bool tells whether it was there */
	/* Refuse JSON that has a member which no entry of the table names. It holds for the whole table,
	 * whichever entry says it; default: such members are ignored. */
	bool strict;
};

#ifndef __cplusplus
/* Describe a member: EDDY_MEMBER(type, member) or EDDY_MEMBER(type, member, .field = …). Its type picks the
 * parser, as with EDDY_TO(). C alone has these two. */
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

/* Name the bool that tells whether an optional member was there. */
#define EDDY_PRESENT(type_, flag_)                                                                 \
	(offsetof(type_, flag_) + 1 +                                                              \
	 0 * sizeof(struct {                                                                       \
		 _Static_assert(_Generic(&((type_ *)0)->flag_, bool * : 1, default : 0),           \
				"EDDY_PRESENT() takes a member that is a bool");                   \
		 char unused;                                                                      \
	 }))
#endif

/* The longest text that says why something could not be read, its NUL included. */
#define EDDY_WHY_SIZE 256

/* Read the members of `*ret_target` from pairs; strings in it are borrowed from them. On an error nothing
 * is written but `ret_why`, EDDY_WHY_SIZE bytes or NULL: `"page" must be an integer from 1 to 1000`.
 * Return: 0; -EINVAL when something is missing, is no such value or out of range; -EDOM when the table
 * is wrong: its default is no value of the member. */
#define eddy_pairs_into(pairs, members, ret_target, ret_why)                                       \
	eddy_pairs_read((pairs), (members), sizeof(members) / sizeof(*(members)), (ret_target),    \
			(ret_why))
EDDY_API int eddy_pairs_read(const struct eddy_pairs *pairs, const struct eddy_member *members,
			     size_t count, void *ret_target, char *ret_why);

EDDY_END_DECLS

#endif
