/* eddy/member.h: validation of input into structs: a table names the members and their values. The
 * same table reads pairs of names and values, reads and writes JSON (eddy/json_text.h) and, with
 * http, reads a request's path, query, form, cookies and JSON.
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
 *
 * A JSON text can also have objects and arrays:
 *
 *     struct order {
 *             struct address to;
 *             struct item *items;
 *             size_t item_count;
 *     };
 *
 *     static const struct eddy_member order_members[] = {
 *             EDDY_OBJECT(struct order, to, .of = EDDY_SHAPE(struct address, address_members)),
 *             EDDY_ARRAY(struct order, items, item_count, .range = { 1, 100 },
 *                       .of = EDDY_SHAPE(struct item, item_members)),
 *     };
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

/* Syntaxes of text. */
enum eddy_format {
	EDDY_FORMAT_ANY,
	EDDY_FORMAT_DATE,  /* "2026-01-31" */
	EDDY_FORMAT_EMAIL, /* an address as HTML's email fields accept it */
	EDDY_FORMAT_URI,   /* absolute, by its characters (RFC 3986) */
	EDDY_FORMAT_UUID,  /* RFC 9562 section 4 */
	EDDY_FORMAT_IPV4,
	EDDY_FORMAT_IPV6,
};

/* A POSIX extended regular expression, compiled when it is first used. Without ^ and $ it matches a
 * part of the text. */
struct eddy_pattern {
	const char *text;
	void *compiled;
};

struct eddy_shape;

/* A member: its name in the source and its values. A zero field takes its default. */
struct eddy_member {
	/* Filled in by EDDY_MEMBER(), EDDY_OBJECT() and EDDY_ARRAY(): */
	const char *member;
	enum eddy_type type;
	size_t offset;
	int element;  /* an array's enum eddy_type; -1: objects */
	size_t count; /* offset of the number of its elements */

	const char *as; /* name in the source; default: the member's */
	/* Default: all that the type holds. Of an array: how many elements it may have. */
	struct eddy_bounds range;
	/* Of text, and of an array's elements: */
	enum eddy_format format;
	struct eddy_pattern *pattern; /* EDDY_PATTERN() */
	const struct eddy_shape *of;  /* EDDY_SHAPE() of an object, or of an array's elements */
	/* The allowed values, ended by NULL; default: any. A string gets the value, an integer or
	 * an enum its index. */
	const char *const *names;
	const char *otherwise; /* value if missing, as text; default: missing is an error */
	bool optional;         /* a missing value is zero, and no error */
	size_t present;        /* EDDY_PRESENT(): optional, and a bool tells if it was there */
	bool null;             /* write null in place of a missing value, not nothing */
	/* Reject JSON with a member that the table does not name. One such entry is enough for the
	 * whole table. Default: unknown members are ignored. */
	bool strict;
};

/* The table of a struct. */
struct eddy_shape {
	const struct eddy_member *members;
	size_t count;
	size_t size;      /* of the struct */
	const char *name; /* of the table: "order_members" */
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
				      "double, bool, struct eddy_time or struct eddy_str"),        \
		__VA_ARGS__                                                                        \
	}

/* Describe a member that is a struct: EDDY_OBJECT(type, member, .of = EDDY_SHAPE(…)). */
#define EDDY_OBJECT(type_, ...)                                                                    \
	EDDYI_OBJECT(type_, __VA_ARGS__, .offset = offsetof(type_, EDDYI_FIRST(__VA_ARGS__, )))
#define EDDYI_OBJECT(type_, member_, ...)                                                          \
	{                                                                                          \
		.member = #member_, .type = EDDY_TYPE_OBJECT, __VA_ARGS__                          \
	}

/* Describe an array: `member` points to the first of its elements, and the member `count`, of type
 * size_t, is their number. Give .of if they are structs: EDDY_ARRAY(type, member, count,
 * .of = EDDY_SHAPE(…)). Else they have .names, .format and .pattern like members. */
#define EDDY_ARRAY(type_, member_, ...)                                                            \
	EDDYI_ARRAY(type_, member_, __VA_ARGS__, .offset = offsetof(type_, member_))
#define EDDYI_ARRAY(type_, member_, count_, ...)                                                   \
	{                                                                                          \
		.member = #member_, .type = EDDY_TYPE_ARRAY,                                       \
		.element = EDDYI_TYPE(((type_ *)0)->member_),                                      \
		.count = offsetof(type_, count_) +                                                 \
			 0 * sizeof(struct {                                                       \
				 _Static_assert(_Generic(&((type_ *)0)->count_, size_t * : 1,      \
							 default : 0),                             \
						"EDDY_ARRAY() takes a count that is a size_t");    \
				 char unused;                                                      \
			 }),                                                                       \
		__VA_ARGS__                                                                        \
	}

/* Name the table of a struct, and a regular expression; both outside of functions. */
#define EDDY_SHAPE(type_, members_)                                                                \
	(&(const struct eddy_shape){ (members_), sizeof(members_) / sizeof(*(members_)),           \
				     sizeof(type_), #members_ })
#define EDDY_PATTERN(text_) (&(struct eddy_pattern){ .text = (text_) })

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
 * Return: 0; -EINVAL if a value is missing, malformed or out of range; -EDOM, logged, if the table
 * is wrong: a default that is not a value of its member, or a pattern that can't be compiled;
 * -ENOMEM for a pattern. */
#define eddy_pairs_into(pairs, members, ret_target, ret_why)                                       \
	eddyi_pairs_read((pairs), (members), sizeof(members) / sizeof(*(members)), (ret_target),   \
			 (ret_why))
EDDY_API int eddyi_pairs_read(const struct eddy_pairs *pairs, const struct eddy_member *members,
			      size_t count, void *ret_target, char *ret_why);

EDDY_END_DECLS

#endif
