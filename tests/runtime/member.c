/* Tests of eddy/member.h and eddy/pairs.h. */
#include <eddy/internal/member.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdio.h>

#include "../on_valgrind.h"

enum order { OLDEST, NEWEST, CHEAPEST };
static const char *const order_names[] = { "oldest", "newest", "cheapest", NULL };

struct search {
	bool has_price; /* at offset 0 */
	struct eddy_str text;
	unsigned page;
	enum order order;
	struct eddy_str kind;
	double price;
	bool exact;
	int8_t small;
	uint64_t large;
	long long deep;
};

static const struct eddy_member members[] = {
	EDDY_MEMBER(struct search, text, .as = "q", .range = { 1, 10 }),
	EDDY_MEMBER(struct search, page, .range = { 1, 1000 }, .otherwise = "1"),
	EDDY_MEMBER(struct search, order, .names = order_names, .otherwise = "newest"),
	EDDY_MEMBER(struct search, kind, .names = order_names, .optional = true),
	EDDY_MEMBER(struct search, price, .present = EDDY_PRESENT(struct search, has_price),
		    .range = { -0.5, 2.5 }),
	EDDY_MEMBER(struct search, exact, .optional = true),
	EDDY_MEMBER(struct search, small, .range = { -1000, 5 }, .optional = true),
	EDDY_MEMBER(struct search, large, .optional = true),
	EDDY_MEMBER(struct search, deep, .optional = true),
};

static char why[EDDY_WHY_SIZE];

static struct eddy_pairs pairs_of(const char *text)
{
	static struct eddy_pair list[16];
	struct eddy_str rest = eddy_str_from(text);
	size_t count = 0;

	while (rest.len && eddy_str_split(&rest, '&', &list[count].value)) {
		eddy_str_split(&list[count].value, '=', &list[count].name);
		count++;
	}
	return (struct eddy_pairs){ list, count };
}

static int from(const char *query, struct search *search)
{
	struct eddy_pairs pairs = pairs_of(query);

	strcpy(why, "-");
	return eddy_pairs_into(&pairs, members, search, why);
}

Test(member, first_of_a_name)
{
	struct eddy_pairs pairs = pairs_of("a=1&b=&a=2&A=3");

	cr_expect(eddy_str_eq_z(eddy_pairs_get(&pairs, "a"), "1"));
	cr_expect(eddy_pairs_get(&pairs, "b").ptr != NULL);
	cr_expect(eq(sz, eddy_pairs_get(&pairs, "b").len, 0));
	cr_expect(eddy_pairs_get(&pairs, "c").ptr == NULL);
}

Test(member, reads)
{
	struct search search;

	memset(&search, 0xaa, sizeof(search));
	cr_assert(
		eq(int,
		   from("q=a b&q=second&page=1000&order=cheapest&kind=oldest&price=-0.5&exact=true"
			"&small=-128&large=18446744073709551615&deep=-9223372036854775808&x=y",
			&search),
		   0));
	cr_expect(eddy_str_eq_z(search.text, "a b"));
	cr_expect(eq(uint, search.page, 1000));
	cr_expect(eq(int, (int)search.order, CHEAPEST));
	cr_expect(eddy_str_eq_z(search.kind, "oldest"));
	cr_expect(search.has_price);
	cr_expect(search.price == -0.5);
	cr_expect(search.exact);
	cr_expect(eq(i8, search.small, -128));
	cr_expect(eq(u64, search.large, UINT64_MAX));
	cr_expect(eq(i64, search.deep, INT64_MIN));
}

/* What is missing has its default, or is zero, whatever was there before. */
Test(member, defaults)
{
	struct search search;

	memset(&search, 0xaa, sizeof(search));
	cr_assert(eq(int, from("q=x", &search), 0));
	cr_expect(eq(uint, search.page, 1));
	cr_expect(eq(int, (int)search.order, NEWEST));
	cr_expect(search.kind.ptr == NULL && search.kind.len == 0);
	cr_expect(not(search.has_price));
	cr_expect(search.price == 0);
	cr_expect(not(search.exact));
	cr_expect(eq(i8, search.small, 0));
	cr_expect(eq(u64, search.large, 0));
}

Test(member, refuses)
{
	static const struct {
		const char *query, *why;
	} cases[] = {
		{ "", "\"q\" is missing: it must be text of 1 to 10 bytes" },
		{ "text=x", "\"q\" is missing: it must be text of 1 to 10 bytes" },
		{ "q=", "\"q\" must be text of 1 to 10 bytes" },
		{ "q=12345678901", "\"q\" must be text of 1 to 10 bytes" },
		{ "q=x&page=0", "\"page\" must be an integer from 1 to 1000" },
		{ "q=x&page=1001", "\"page\" must be an integer from 1 to 1000" },
		{ "q=x&page=", "\"page\" must be an integer from 1 to 1000" },
		{ "q=x&page=one", "\"page\" must be an integer from 1 to 1000" },
		{ "q=x&order=Newest", "\"order\" must be one of oldest, newest, cheapest" },
		{ "q=x&order=1", "\"order\" must be one of oldest, newest, cheapest" },
		{ "q=x&kind=", "\"kind\" must be one of oldest, newest, cheapest" },
		{ "q=x&price=2.6", "\"price\" must be a number from -0.5 to 2.5" },
		{ "q=x&price=x", "\"price\" must be a number from -0.5 to 2.5" },
		{ "q=x&exact=1", "\"exact\" must be true or false" },
		{ "q=x&small=6", "\"small\" must be an integer from -128 to 5" },
		{ "q=x&small=-129", "\"small\" must be an integer from -128 to 5" },
		{ "q=x&large=-1", "\"large\" must be an integer from 0 to 18446744073709551615" },
		{ "q=x&deep=9223372036854775808",
		  "\"deep\" must be an integer from -9223372036854775808 to 9223372036854775807" },
		/* The last in the table fails, and the first is not written all the same. */
		{ "q=x&price=1&deep=x",
		  "\"deep\" must be an integer from -9223372036854775808 to 9223372036854775807" },
	};

	if (RUNNING_ON_VALGRIND)
		cr_skip_test("valgrind rounds what is said of the limits");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct search search, before;

		memset(&search, 0xaa, sizeof(search));
		memset(&before, 0xaa, sizeof(before));
		cr_expect(eq(int, from(cases[i].query, &search), -EINVAL), "%s", cases[i].query);
		cr_expect_str_eq(why, cases[i].why, "%s: %s", cases[i].query, why);
		cr_expect(memcmp(&search, &before, sizeof(search)) == 0, "%s", cases[i].query);
	}
}

Test(member, nobody_asks_why)
{
	const struct eddy_pairs none = { NULL, 0 };
	struct search search;

	cr_expect(eq(int, eddy_pairs_into(&none, members, &search, NULL), -EINVAL));
}

/* A table whose default is none of the member's values is the program's mistake. */
Test(member, wrong_default)
{
	static const struct eddy_member bad[][1] = {
		{ EDDY_MEMBER(struct search, page, .otherwise = "-1") },
		{ EDDY_MEMBER(struct search, page, .otherwise = "0", .range = { 1, 2 }) },
		{ EDDY_MEMBER(struct search, order, .otherwise = "none", .names = order_names) },
	};
	const struct eddy_pairs none = { NULL, 0 };
	struct search search;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect(eq(int, eddy_pairs_into(&none, bad[i], &search, why), -EDOM), "%zu", i);
}

/* However long a name or a list of names is, the text ends. */
Test(member, long_texts)
{
	static const char *names[200];
	static const struct eddy_member bad[] = {
		EDDY_MEMBER(struct search, page,
			    .as = "a name of more than sixty-four bytes, which is longer than "
				  "anybody needs",
			    .names = (const char *const *)names),
	};
	const struct eddy_pairs none = { NULL, 0 };
	struct search search;

	for (size_t i = 0; i < 199; i++)
		names[i] = "name";
	cr_expect(eq(int, eddy_pairs_into(&none, bad, &search, why), -EINVAL));
	cr_expect(lt(sz, strlen(why), sizeof(why)));
	cr_expect(gt(sz, strlen(why), 150));
}
