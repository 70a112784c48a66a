/* Tests of reading by eddy/json_text.h. */
#include <eddy/json_text.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "../on_valgrind.h"

enum kind { SMALL, LARGE };
static const char *const kind_names[] = { "small", "large", NULL };

struct item {
	struct eddy_str name;
	double price;
};

static const struct eddy_member item_members[] = {
	EDDY_MEMBER(struct item, name, .range = { 1, 10 }),
	EDDY_MEMBER(struct item, price, .range = { 0, 1000 }, .otherwise = "1.5"),
};

struct address {
	struct eddy_str city;
	unsigned number;
};

static const struct eddy_member address_members[] = {
	EDDY_MEMBER(struct address, city, .strict = true),
	EDDY_MEMBER(struct address, number, .optional = true),
};

struct order {
	int unlisted;
	int64_t id;
	uint64_t large;
	enum kind kind;
	struct eddy_time at;
	struct eddy_str mail;
	struct eddy_str slug;
	bool paid;
	bool has_to;
	struct address to;
	struct item *items;
	size_t item_count;
	int *numbers;
	size_t number_count;
	enum kind *kinds;
	size_t kind_count;
};

static const struct eddy_member order_members[] = {
	EDDY_MEMBER(struct order, id),
	EDDY_MEMBER(struct order, large, .optional = true),
	EDDY_MEMBER(struct order, kind, .names = kind_names, .otherwise = "large"),
	EDDY_MEMBER(struct order, at, .optional = true),
	EDDY_MEMBER(struct order, mail, .format = EDDY_FORMAT_EMAIL, .optional = true),
	EDDY_MEMBER(struct order, slug, .pattern = EDDY_PATTERN("^[a-z]+$"), .optional = true),
	EDDY_MEMBER(struct order, paid, .optional = true),
	EDDY_OBJECT(struct order, to, .of = EDDY_SHAPE(struct address, address_members),
		    .present = EDDY_PRESENT(struct order, has_to)),
	EDDY_ARRAY(struct order, items, item_count, .range = { 1, 3 }, .optional = true,
		   .of = EDDY_SHAPE(struct item, item_members)),
	EDDY_ARRAY(struct order, numbers, number_count, .optional = true),
	EDDY_ARRAY(struct order, kinds, kind_count, .names = kind_names, .optional = true),
};

/* ---- memory ---- */

static void *allocated[4096];
static size_t allocated_count, allocated_max = 4096;

static void *alloc(void *arg, size_t size)
{
	cr_expect(arg == &allocated);
	if (allocated_count == allocated_max)
		return NULL;
	return allocated[allocated_count++] = malloc(size ? size : 1);
}

static void free_all(void)
{
	while (allocated_count)
		free(allocated[--allocated_count]);
}

static struct eddy_json_reader reader = { .alloc = alloc, .arg = &allocated };
static char *exact;

static void give_back(void)
{
	free_all();
	free(exact);
	exact = NULL;
}

/* Read a copy without a NUL behind it: a byte too far is seen. */
static int take(const char *text, size_t len, struct order *order)
{
	give_back();
	exact = malloc(len ? len : 1);
	memcpy(exact, text, len);
	return eddy_json_read(&reader, eddy_str(exact, len), order_members, order);
}

static int take_z(const char *text, struct order *order)
{
	return take(text, strlen(text), order);
}

/* ---- good texts ---- */

Test(json_read, all_types)
{
	struct order order = { .unlisted = 7 };

	cr_assert(eq(int,
		     take_z("{\"id\":-9223372036854775808,\"large\":18446744073709551615,\r\n"
			    "\t\"kind\":\"small\", \"at\":\"2026-01-31T12:00:00Z\","
			    "\"mail\":\"a@b.c\",\"slug\":\"abc\",\"paid\":true,"
			    "\"to\":{\"city\":\"K\\u00f6ln \\ud83d\\ude00\\n\",\"number\":5},"
			    "\"items\":[{\"name\":\"a\",\"price\":2.25},{\"name\":\"b\"}],"
			    "\"numbers\":[1,-2,3,4,5,6],\"kinds\":[\"large\",\"small\"],"
			    "\"unknown\":[{\"a\":[[],{}]},null,-0.5e-3,\"\\\\\"]} ",
			    &order),
		     0),
		  "%s", reader.why);
	cr_expect(eq(i64, order.id, INT64_MIN));
	cr_expect(eq(u64, order.large, UINT64_MAX));
	cr_expect(eq(int, (int)order.kind, SMALL));
	cr_expect(eq(i64, order.at.ns, 1769860800000000000));
	cr_expect(eddy_str_eq_z(order.mail, "a@b.c") && eddy_str_eq_z(order.slug, "abc"));
	cr_expect(order.paid && order.has_to);
	cr_expect(eddy_str_eq_z(order.to.city, "K\xc3\xb6ln \xf0\x9f\x98\x80\n"));
	cr_expect(eq(uint, order.to.number, 5));
	cr_assert(eq(sz, order.item_count, 2));
	cr_expect(eddy_str_eq_z(order.items[1].name, "b"));
	cr_expect(order.items[0].price == 2.25 && order.items[1].price == 1.5);
	cr_assert(eq(sz, order.number_count, 6));
	cr_expect(eq(int, order.numbers[1], -2));
	cr_expect(eq(int, order.numbers[5], 6));
	cr_assert(eq(sz, order.kind_count, 2));
	cr_expect(order.kinds[0] == LARGE && order.kinds[1] == SMALL);
	cr_expect(eq(int, order.unlisted, 7));
	give_back();
}

Test(json_read, missing_and_null)
{
	static const char *const texts[] = {
		"{\"id\":1}",
		"{\"kind\":null,\"to\":null,\"items\":null,\"mail\":null,\"large\":null,\"id\":1,"
		"\"at\":null,\"slug\":null,\"paid\":null,\"numbers\":null,\"kinds\":null}",
	};

	for (size_t i = 0; i < 2; i++) {
		struct order order;

		memset(&order, 0xaa, sizeof(order));
		cr_assert(eq(int, take_z(texts[i], &order), 0), "%s", reader.why);
		cr_expect(eq(int, (int)order.kind, LARGE));
		cr_expect(order.has_to == false && order.to.city.ptr == NULL);
		cr_expect(order.items == NULL && order.item_count == 0);
		cr_expect(order.mail.ptr == NULL && order.large == 0 && order.at.ns == 0);
		cr_expect(not(order.paid));
	}
	give_back();
}

Test(json_read, doubles)
{
	static const char *const texts[] = { "0",
					     "-0",
					     "0.1",
					     "5e-324",
					     "1e22",
					     "1e23",
					     "9007199254740993",
					     "1.7976931348623157e308",
					     "123456789012345678901",
					     "0.30000000000000004",
					     "2.5E+2",
					     "0e999999999" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		static const struct eddy_member members[] = { EDDY_MEMBER(struct item, price) };
		struct item item;
		char text[64];
		double want = strtod(texts[i], NULL);

		snprintf(text, sizeof(text), "{\"price\":%s}", texts[i]);
		cr_assert(eq(int, eddy_json_read(&reader, eddy_str_from(text), members, &item), 0),
			  "%s", text);
		cr_expect(memcmp(&item.price, &want, sizeof(want)) == 0, "%s: %a", texts[i],
			  item.price);
	}
}

Test(json_read, arrays)
{
	struct item *items = NULL;
	size_t count = 7;

	cr_assert(eq(
		int,
		eddy_json_read_array(&reader,
				     EDDY_STR(" [{\"name\":\"a\"},{\"price\":2,\"name\":\"b\"}]\n"),
				     item_members, &items, &count),
		0));
	cr_assert(eq(sz, count, 2));
	cr_expect(eddy_str_eq_z(items[0].name, "a") && items[0].price == 1.5);
	cr_expect(eddy_str_eq_z(items[1].name, "b") && items[1].price == 2);
	cr_expect(eq(int,
		     eddy_json_read_array(&reader, EDDY_STR("[{\"name\":\"a\"},{}]"), item_members,
					  &items, &count),
		     -EINVAL));
	cr_expect_str_eq(reader.why, "\"1/name\" is missing: it must be text of 1 to 10 bytes");
	cr_expect_str_eq(reader.faults[0].pointer.ptr, "#/1/name");
	cr_expect(eq(int,
		     eddy_json_read_array(&reader, EDDY_STR("{}"), item_members, &items, &count),
		     -EINVAL));
	cr_expect_str_eq(reader.why, "it must be an array");
	cr_expect(eq(int,
		     eddy_json_read_array(&reader, EDDY_STR("[] 1"), item_members, &items, &count),
		     -EBADMSG));
	cr_expect(eq(sz, count, 2), "nothing is changed by an error");
	cr_expect(eq(int,
		     eddy_json_read_array(&reader, EDDY_STR("[]"), item_members, &items, &count),
		     0));
	cr_expect(eq(sz, count, 0));
	give_back();
}

/* ---- texts that are not JSON ---- */

Test(json_read, malformed)
{
	static const char *const bad[] = {
		"",
		" ",
		"{",
		"{\"id\"",
		"{\"id\":",
		"{\"id\":1",
		"{\"id\":1,",
		"{\"id\":1,}",
		"{\"id\":1}}",
		"{\"id\":1} x",
		"{,}",
		"{id:1}",
		"{\"id\" 1}",
		"{\"id\":01}",
		"{\"id\":+1}",
		"{\"id\":-}",
		"{\"id\":1.}",
		"{\"id\":.5}",
		"{\"id\":1e}",
		"{\"id\":1e+}",
		"{\"id\":0x1}",
		"{\"id\":NaN}",
		"{\"id\":tru}",
		"{\"id\":1 \"x\":2}",
		"{\"id\":1,\"id\":1}",
		"{\"id\":1,\"\\u0069d\":1}",
		"{\"id\":1,\"x\":[1,]}",
		"{\"id\":1,\"x\":[1}",
		"{\"id\":1,\"x\":[1 2]}",
		"{\"id\":1,\"x\":{\"a\":1]}",
		"{\"id\":1,\"x\":{\"a\"}}",
		"{\"id\":1,\"x\":{1:1}}",
		"{\"id\":1,\"x\":{\"a\":1,}}",
		"{\"id\":1,\"x\":\"\t\"}",
		"{\"id\":1,\"x\":\"\\x\"}",
		"{\"id\":1,\"x\":\"\\u12\"}",
		"{\"id\":1,\"x\":\"\\u000g\"}",
		"{\"id\":1,\"x\":\"\\u0000\"}",
		"{\"id\":1,\"x\":\"\\ud800\"}",
		"{\"id\":1,\"x\":\"\\ud800\\u0041\"}",
		"{\"id\":1,\"x\":\"\\udc00\"}",
		"{\"id\":1,\"x\":\"\x80\"}",
		"{\"id\":1,\"x\":\"\xc0\x80\"}",
		"{\"id\":1,\"x\":\"\xed\xa0\x80\"}",
		"{\"id\":1,\"x\":\"a",
		"{\"id\":1,\"x\":\"\\",
		"\xef\xbb\xbf{\"id\":1}",
		"{\"items\":[{\"name\":\"a\"},]}",
		"{\"items\":[{\"name\":\"a\"}",
		"{\"numbers\":[1,2",
		"[1,]",
		"nul",
		"1 2",
		"{\"id\":1}\f",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct order order, before;

		memset(&order, 0xaa, sizeof(order));
		memset(&before, 0xaa, sizeof(before));
		cr_expect(eq(int, take_z(bad[i], &order), -EBADMSG), "%s", bad[i]);
		cr_expect(strncmp(reader.why, "line 1, column ", 15) == 0, "%s", reader.why);
		cr_expect(memcmp(&order, &before, sizeof(order)) == 0, "%s", bad[i]);
	}
	cr_expect(eq(int, take("{\"id\":1}\0", 9, &(struct order){ 0 }), -EBADMSG));
	cr_expect(
		eq(int, take_z("{\n\"i\xc3\xa4\":1,\n \"id\":x}", &(struct order){ 0 }), -EBADMSG));
	cr_expect_str_eq(reader.why, "line 3, column 7: a value is expected");
	give_back();
}

/* Each text that ends early is malformed. */
Test(json_read, every_length)
{
	static const char text[] =
		"{\"id\":1,\"to\":{\"city\":\"\\u00e4\"},\"items\":[{\"name\":\"a\","
		"\"price\":1.5e0}],\"x\":[true,null,{\"\":\"\xc3\xa4\"}]}";
	struct order order;

	for (size_t len = 0; len < sizeof(text) - 1; len++)
		cr_expect(eq(int, take(text, len, &order), -EBADMSG), "%zu", len);
	cr_expect(eq(int, take(text, sizeof(text) - 1, &order), 0));
	give_back();
}

#define NAME_31 "abcdefghijklmnopqrstuvwxyz12345"
#define NAME_64 NAME_31 "_-" NAME_31
#define NAME_90 NAME_64 "abcdefghijklmnopqrstuvwxyz"

/* Names are compared as a whole, also those with escapes. */
Test(json_read, long_names)
{
	static const struct eddy_member members[] = {
		EDDY_MEMBER(struct address, number, .as = NAME_64, .optional = true),
		EDDY_MEMBER(struct address, city, .as = NAME_90, .optional = true),
	};
	struct address address;

	cr_expect(eq(int,
		     eddy_json_read(&reader,
				    EDDY_STR("{\"\\u0061" NAME_64 "\":1,\"\\u0061" NAME_90 "\":2}"),
				    members, &address),
		     0));
	cr_expect(eq(uint, address.number, 0));
	cr_expect(eq(int,
		     eddy_json_read(&reader,
				    EDDY_STR("{\"" NAME_31 "\\u005f-" NAME_31 "\":3,\"" NAME_64
					     "\\u0061bcdefghijklmnopqrstuvwxyz\":\"a\"}"),
				    members, &address),
		     0));
	cr_expect(eq(uint, address.number, 3));
	cr_expect(eddy_str_eq_z(address.city, "a"));
	cr_expect(eq(int,
		     eddy_json_read(&reader, EDDY_STR("{\"" NAME_31 "_-" NAME_31 "\\u0061\":1}"),
				    members, &address),
		     0));
	cr_expect(eq(uint, address.number, 0), "a name's beginning is not the name");
	give_back();
}

/* ---- limits ---- */

static char *nested(size_t depth, const char *name)
{
	char *text = malloc(depth * 2 + 64), *at = text;

	at += sprintf(at, "{\"id\":1,\"%s\":", name);
	at = (char *)memset(at, '[', depth) + depth;
	at = (char *)memset(at, ']', depth) + depth;
	strcpy(at, "}");
	return text;
}

Test(json_read, depth)
{
	static const struct {
		const char *name;
		unsigned depth_max;
		size_t depth;
		int result;
	} cases[] = {
		{ "x", 0, 127, 0 },
		{ "x", 0, 128, -EBADMSG },
		{ "x", 3, 2, 0 },
		{ "x", 3, 3, -EBADMSG },
		{ "x", 5000, 1023, 0 },
		{ "x", 5000, 1024, -EBADMSG },
		{ "items", 0, 127, -EINVAL },
		{ "items", 0, 128, -EBADMSG },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *text = nested(cases[i].depth, cases[i].name);

		reader.depth_max = cases[i].depth_max;
		cr_expect(eq(int, take_z(text, &(struct order){ 0 }), cases[i].result), "%zu", i);
		free(text);
	}
	give_back();
}

struct tree {
	struct tree *trees;
	size_t count;
};
static const struct eddy_member tree_members[];
static const struct eddy_shape tree_shape;
static const struct eddy_member tree_members[] = {
	EDDY_ARRAY(struct tree, trees, count, .as = "t", .optional = true, .of = &tree_shape),
};
static const struct eddy_shape tree_shape = { tree_members, 1, sizeof(struct tree),
					      "tree_members" };

/* A table that contains itself. */
Test(json_read, trees)
{
	for (size_t depth = 31; depth <= 32; depth++) {
		char text[400] = "";
		struct tree tree;

		for (size_t i = 0; i < depth; i++)
			strcat(text, "{\"t\":[");
		strcat(text, "{}");
		for (size_t i = 0; i < depth; i++)
			strcat(text, "]}");
		cr_expect(eq(int, eddy_json_read(&reader, eddy_str_from(text), tree_members, &tree),
			     depth == 31 ? 0 : -EBADMSG),
			  "%s", reader.why);
	}
	give_back();
}

Test(json_read, values)
{
	struct order order;

	for (size_t max = 1; max < 10; max++) {
		reader.values_max = max;
		cr_expect(eq(int,
			     take_z("{\"id\":1,\"numbers\":[1,2],\"x\":[1,{\"a\":2}]}", &order),
			     max < 9 ? -EMSGSIZE : 0),
			  "%zu", max);
	}
	reader.values_max = 0;
	give_back();
}

Test(json_read, memory)
{
	static const char text[] =
		"{\"id\":1,\"slug\":\"a\\u0061\",\"numbers\":[1,2,3,4,5],\"x\":1,"
		"\"paid\":5,\"mail\":\"x\"}";
	struct order order;
	size_t needed;

	cr_assert(eq(int, take_z(text, &order), -EINVAL));
	needed = allocated_count;
	for (allocated_max = 0; allocated_max < needed; allocated_max++)
		cr_expect(eq(int, take_z(text, &order), -ENOMEM), "%zu", allocated_max);
	give_back();
}

/* ---- faults ---- */

Test(json_read, all_faults)
{
	static const struct {
		const char *pointer, *why;
	} want[] = {
		{ "#/id", "must be an integer from -9223372036854775808 to 9223372036854775807" },
		{ "#/large", "must be an integer from 0 to 18446744073709551615" },
		{ "#/kind", "must be one of small, large" },
		{ "#/at", "must be a time such as 2026-01-31T12:00:00Z" },
		{ "#/mail", "must be an email address" },
		{ "#/slug", "must be text that matches ^[a-z]+$" },
		{ "#/paid", "must be true or false" },
		{ "#/to/a~1~0%22%C3%A4", "is unknown" },
		{ "#/to/city", "is missing: it must be text" },
		{ "#/items/0/name", "must be text of 1 to 10 bytes" },
		{ "#/items/1", "must be an object" },
		{ "#/items/2/price", "must be a number from 0 to 1000" },
		{ "#/items/2/name", "is missing: it must be text of 1 to 10 bytes" },
		{ "#/items", "must be an array of 1 to 3 values" },
		{ "#/numbers/1", "must be an integer from -2147483648 to 2147483647" },
		{ "#/kinds/0", "must be one of small, large" },
	};
	struct order order, before;

	if (RUNNING_ON_VALGRIND)
		cr_skip_test("valgrind rounds what is said of the limits");
	memset(&order, 0xaa, sizeof(order));
	memset(&before, 0xaa, sizeof(before));
	cr_assert(eq(int,
		     take_z("{\"id\":1.0,\"large\":18446744073709551616,\"kind\":1,\"at\":\"now\","
			    "\"mail\":\"a\",\"slug\":\"A\",\"paid\":\"true\","
			    "\"to\":{\"a/~\\\"\xc3\xa4\":1},"
			    "\"items\":[{\"name\":\"\"},[{}],{\"price\":1001},{\"name\":\"d\"}],"
			    "\"numbers\":[1,2147483648],\"kinds\":[\"mid\"]}",
			    &order),
		     -EINVAL),
		  "%s", reader.why);
	cr_assert(eq(sz, reader.fault_count, sizeof(want) / sizeof(*want)));
	for (size_t i = 0; i < reader.fault_count; i++) {
		cr_expect_str_eq(reader.faults[i].pointer.ptr, want[i].pointer);
		cr_expect_str_eq(reader.faults[i].why.ptr, want[i].why, "%s: %s", want[i].pointer,
				 reader.faults[i].why.ptr);
	}
	cr_expect_str_eq(reader.why, "\"id\" must be an integer from -9223372036854775808 to "
				     "9223372036854775807");
	cr_expect(reader.has_unknown);
	cr_expect(memcmp(&order, &before, sizeof(order)) == 0);
	cr_expect(eq(int, take_z("{\"id\":null,\"items\":[]}", &order), -EINVAL));
	cr_expect(eq(sz, reader.fault_count, 2));
	cr_expect(eq(int, take_z("[1]", &order), -EINVAL));
	cr_expect_str_eq(reader.why, "it must be an object");
	cr_expect_str_eq(reader.faults[0].pointer.ptr, "#");
	give_back();
}

Test(json_read, many_faults)
{
	char text[2000] = "{\"id\":1,\"numbers\":[true";
	struct order order;

	for (int i = 1; i < 100; i++)
		strcat(text, ",true");
	strcat(text, "]}");
	cr_expect(eq(int, take_z(text, &order), -EINVAL));
	cr_expect(eq(sz, reader.fault_count, 32));
	/* The text is checked to its end. */
	text[strlen(text) - 1] = ']';
	cr_expect(eq(int, take_z(text, &order), -EBADMSG));
	give_back();
}

static const struct eddy_member bad[][1] = {
	{ EDDY_OBJECT(struct order, to) },
	{ EDDY_ARRAY(struct order, items, item_count) },
	{ EDDY_MEMBER(struct item, price, .otherwise = "x") },
	{ EDDY_MEMBER(struct item, name, .pattern = EDDY_PATTERN("(")) },
};

Test(json_read, wrong_tables)
{
	struct order order;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		cr_expect(eq(int,
			     eddy_json_read(&reader,
					    EDDY_STR("{\"name\":\"a\",\"to\":{},\"items\":[]}"),
					    bad[i], &order),
			     -EDOM));
	}
	give_back();
}
