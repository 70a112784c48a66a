/* Tests of writing by eddy/json_text.h. */
#include <eddy/json_text.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum kind { SMALL, LARGE };
static const char *const kind_names[] = { "small", "large", NULL };

struct point {
	int8_t x;
	uint16_t y;
};

static const struct eddy_member point_members[] = {
	EDDY_MEMBER(struct point, x),
	EDDY_MEMBER(struct point, y),
};

struct all {
	struct eddy_str text, note, gone;
	int16_t i16;
	int32_t i32;
	int64_t i64;
	uint8_t u8;
	uint32_t u32;
	uint64_t u64;
	double real;
	bool flag, has_price;
	double price;
	enum kind kind;
	struct eddy_time at;
	struct point point;
	struct point *points;
	size_t point_count;
	struct eddy_str *texts;
	size_t text_count;
};

static const struct eddy_member all_members[] = {
	EDDY_MEMBER(struct all, text),
	EDDY_MEMBER(struct all, note, .optional = true),
	EDDY_MEMBER(struct all, gone, .optional = true, .null = true),
	EDDY_MEMBER(struct all, i16),
	EDDY_MEMBER(struct all, i32),
	EDDY_MEMBER(struct all, i64),
	EDDY_MEMBER(struct all, u8),
	EDDY_MEMBER(struct all, u32),
	EDDY_MEMBER(struct all, u64),
	EDDY_MEMBER(struct all, real, .as = "re\"al"),
	EDDY_MEMBER(struct all, flag),
	EDDY_MEMBER(struct all, price, .present = EDDY_PRESENT(struct all, has_price)),
	EDDY_MEMBER(struct all, kind, .names = kind_names),
	EDDY_MEMBER(struct all, at),
	EDDY_OBJECT(struct all, point, .of = EDDY_SHAPE(struct point, point_members)),
	EDDY_ARRAY(struct all, points, point_count, .of = EDDY_SHAPE(struct point, point_members)),
	EDDY_ARRAY(struct all, texts, text_count),
};

static struct all all = {
	.text = { "a\"\\\n\x01\xc3\xa4\xff/", 9 },
	.i16 = -32768,
	.i32 = -5,
	.i64 = INT64_MIN,
	.u8 = 255,
	.u32 = UINT32_MAX,
	.u64 = UINT64_MAX,
	.real = 0.1,
	.flag = true,
	.kind = LARGE,
	.at = { 1769860800500000000 },
	.point = { -128, 65535 },
	.points = (struct point[]){ { 1, 2 }, { 3, 4 } },
	.point_count = 2,
	.texts = (struct eddy_str[]){ { "x", 1 }, { "", 0 } },
	.text_count = 2,
};

static const char want[] =
	"{\"text\":\"a\\\"\\\\\\n\\u0001\xc3\xa4\\ufffd/\",\"gone\":null,\"i16\":-32768,\"i32\":-5,"
	"\"i64\":-9223372036854775808,\"u8\":255,\"u32\":4294967295,\"u64\":18446744073709551615,"
	"\"re\\\"al\":0.1,\"flag\":true,\"kind\":\"large\",\"at\":\"2026-01-31T12:00:00.500Z\","
	"\"point\":{\"x\":-128,\"y\":65535},\"points\":[{\"x\":1,\"y\":2},{\"x\":3,\"y\":4}],"
	"\"texts\":[\"x\",\"\"]}";

static void expect_text(const struct eddy_json_writer *writer, const char *text)
{
	cr_expect(eddy_str_eq_z(writer->text, text), "%.*s", EDDY_FMT(writer->text));
}

Test(json_write, all_types)
{
	struct eddy_json_writer writer = { 0 };

	cr_assert(eq(int, eddy_json_write(&writer, all_members, &all), 0));
	expect_text(&writer, want);
	free((void *)writer.text.ptr);
}

Test(json_write, present_and_not_finite)
{
	struct eddy_json_writer writer = { 0 };
	struct all some = all;

	some.has_price = true;
	some.price = INFINITY;
	some.real = NAN;
	some.point_count = some.text_count = 0;
	cr_assert(eq(int, eddy_json_write(&writer, all_members, &some), 0));
	cr_expect(memmem(writer.text.ptr, writer.text.len, "\"price\":null,", 13) != NULL);
	cr_expect(memmem(writer.text.ptr, writer.text.len, "\"re\\\"al\":null,", 14) != NULL);
	cr_expect(memmem(writer.text.ptr, writer.text.len, "\"points\":[],\"texts\":[]}", 23) !=
		  NULL);
	free((void *)writer.text.ptr);
}

Test(json_write, arrays_are_appended)
{
	struct eddy_json_writer writer = { 0 };

	cr_assert(eq(int, eddy_json_write_array(&writer, point_members, all.points, 2), 0));
	cr_assert(eq(int, eddy_json_write_array(&writer, point_members, all.points, 0), 0));
	expect_text(&writer, "[{\"x\":1,\"y\":2},{\"x\":3,\"y\":4}][]");
	free((void *)writer.text.ptr);
}

/* ---- memory ---- */

/* Grow to exactly what is asked for, in new memory: a byte too far is seen. */
static void *grow_exactly(void *arg, struct eddy_str text, size_t size)
{
	size_t *left = arg;
	char *bytes = *left ? malloc(size) : NULL;

	*left -= *left > 0;
	if (bytes && text.len)
		memcpy(bytes, text.ptr, text.len);
	if (bytes)
		free((void *)text.ptr);
	return bytes;
}

Test(json_write, memory)
{
	for (size_t first = 0; first < 5; first++) {
		size_t left = first;
		struct eddy_json_writer writer = { .grow = grow_exactly, .arg = &left };
		int r = eddy_json_write(&writer, all_members, &all);

		cr_expect(eq(int, r, left ? 0 : r));
		if (r == 0)
			expect_text(&writer, want);
		else
			cr_expect(r == -ENOMEM && writer.text.len == 0);
		free((void *)writer.text.ptr);
	}
}

/* Texts of any length and place in the buffer. */
Test(json_write, every_length)
{
	char *long_text = malloc(2000);

	for (size_t len = 0; len < 2000; len += 1 + len / 16) {
		size_t left = SIZE_MAX;
		struct eddy_json_writer writer = { .grow = grow_exactly, .arg = &left };
		struct eddy_str texts[] = { eddy_str(long_text, len), eddy_str("\x01", 1),
					    eddy_str(long_text, len) };
		struct all some = all;

		memset(long_text, len % 2 ? 'a' : '\x02', 2000);
		some.texts = texts;
		some.text_count = 3;
		cr_assert(eq(int, eddy_json_write(&writer, all_members, &some), 0));
		cr_expect(writer.text.ptr[writer.text.len - 1] == '}');
		cr_expect(writer.text.len > 2 * len * (len % 2 ? 1 : 6));
		free((void *)writer.text.ptr);
	}
	free(long_text);
}

/* ---- wrong values ---- */

struct tree {
	struct tree *trees;
	size_t count;
};
static const struct eddy_shape tree_shape;
static const struct eddy_member tree_members[] = {
	EDDY_ARRAY(struct tree, trees, count, .of = &tree_shape),
};
static const struct eddy_shape tree_shape = { tree_members, 1, sizeof(struct tree),
					      "tree_members" };

static const struct eddy_member no_shape[] = { EDDY_ARRAY(struct tree, trees, count) };

Test(json_write, wrong_values)
{
	struct eddy_json_writer writer = { 0 };
	struct all some = all;
	struct tree loop = { &loop, 1 };

	some.kind = (enum kind)2;
	cr_expect(eq(int, eddy_json_write(&writer, all_members, &some), -EDOM));
	some.kind = (enum kind) - 1;
	cr_expect(eq(int, eddy_json_write(&writer, all_members, &some), -EDOM));
	cr_expect(eq(int, eddy_json_write(&writer, tree_members, &loop), -EDOM));
	cr_expect(eq(int, eddy_json_write(&writer, no_shape, &loop), -EDOM));
	cr_expect(eq(sz, writer.text.len, 0));
	free((void *)writer.text.ptr);
}
