/* Tests of http/src/multipart.h. */
#include "disposition.h"
#include "multipart.h"
#include "vectors.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

static struct eddyi_arena arena;

static void teardown(void)
{
	eddyi_arena_deinit(&arena);
	eddyi_arena_trim();
}

TestSuite(multipart, .fini = teardown);

/* An assertion is a message to whoever runs the tests, even one that holds: where there are a million, only those are
 * made that do not. */
#define EXPECT_QUIETLY(condition)                                                                  \
	do {                                                                                       \
		if (!(condition))                                                                  \
			cr_fail("%s", #condition);                                                 \
	} while (0)

/* What a body gave: text of all events, "{name|filename|type}data" for each part, "." behind a
 * whole part, "!" behind the form, and the error. */
struct outcome {
	char *text;
	size_t len, room;
	size_t largest; /* DATA event */
	int err;
};

static void put(struct outcome *outcome, const char *bytes, size_t len)
{
	if (outcome->len + len + 1 > outcome->room) {
		outcome->room = 2 * (outcome->len + len + 1);
		outcome->text = realloc(outcome->text, outcome->room);
	}
	memcpy(outcome->text + outcome->len, bytes, len);
	outcome->len += len;
	outcome->text[outcome->len] = 0;
}

static void put_event(struct outcome *outcome, const struct eddyi_multipart_event *event)
{
	const struct eddyi_multipart_part *part = &event->part;

	switch (event->kind) {
	case EDDYI_MULTIPART_MORE:
		break;
	case EDDYI_MULTIPART_PART:
		put(outcome, "{", 1);
		put(outcome, part->name.ptr, part->name.len);
		put(outcome, "|", 1);
		if (part->filename.ptr)
			put(outcome, part->filename.ptr, part->filename.len);
		else
			put(outcome, "-", 1);
		put(outcome, "|", 1);
		if (part->content_type.ptr)
			put(outcome, part->content_type.ptr, part->content_type.len);
		put(outcome, "}", 1);
		break;
	case EDDYI_MULTIPART_DATA:
		EXPECT_QUIETLY(event->data.len > 0);
		put(outcome, event->data.ptr, event->data.len);
		if (event->data.len > outcome->largest)
			outcome->largest = event->data.len;
		break;
	case EDDYI_MULTIPART_PART_END:
		put(outcome, ".", 1);
		break;
	case EDDYI_MULTIPART_END:
		put(outcome, "!", 1);
		break;
	}
}

/* Read a body in pieces of `size` bytes, each of them in memory of its own. */
static struct outcome read_body(struct eddy_str boundary, struct eddy_str body, size_t size,
				const struct eddyi_multipart_options *options)
{
	struct eddyi_multipart_event event;
	struct eddyi_multipart multipart;
	struct outcome outcome = { 0 };

	put(&outcome, "", 0);
	eddyi_multipart_init(&multipart, &arena, boundary, options);
	while (body.len && !outcome.err) {
		size_t len = body.len < size ? body.len : size;
		char *exact = malloc(len);
		struct eddy_str piece = eddy_str(memcpy(exact, body.ptr, len), len);

		body = eddy_str_skip(body, len);
		do {
			outcome.err = eddyi_multipart_next(&multipart, &piece, &event);
			if (!outcome.err)
				put_event(&outcome, &event);
		} while (!outcome.err && event.kind != EDDYI_MULTIPART_MORE);
		EXPECT_QUIETLY(outcome.err || piece.len == 0);
		free(exact);
	}
	if (outcome.err) {
		struct eddy_str none = eddy_str("", 0);

		cr_expect(eq(int, eddyi_multipart_next(&multipart, &none, &event), outcome.err));
		cr_expect(eq(int, eddyi_multipart_finish(&multipart), outcome.err));
	} else {
		outcome.err = eddyi_multipart_finish(&multipart);
	}
	return outcome;
}

static const size_t sizes[] = { 1, 2, 3, 7, 64, SIZE_MAX };
#define SIZES (sizeof(sizes) / sizeof(*sizes))

/* Read a body in pieces of all sizes; the outcome must always be the same. With an error, what came
 * before it may be less or more, but never different. */
static struct outcome read_all_sizes(const char *boundary, struct eddy_str body,
				     const struct eddyi_multipart_options *options)
{
	struct outcome whole = read_body(eddy_str_from(boundary), body, SIZE_MAX, options);

	for (size_t i = 0; i < SIZES; i++) {
		struct outcome got = read_body(eddy_str_from(boundary), body, sizes[i], options);
		size_t len = got.len < whole.len ? got.len : whole.len;

		cr_expect(eq(int, got.err, whole.err), "pieces of %zu: %.200s", sizes[i], body.ptr);
		if (!whole.err)
			cr_expect(eq(sz, got.len, whole.len), "pieces of %zu: %.200s", sizes[i],
				  body.ptr);
		cr_expect(zero(int, memcmp(got.text, whole.text, len)), "pieces of %zu: %.200s",
			  sizes[i], body.ptr);
		free(got.text);
	}
	return whole;
}

#define PART "Content-Disposition: form-data; name=\"a\"\r\n\r\n"
#define BAD "EBADMSG"

Test(multipart, bodies)
{
	/* clang-format off */
	static const struct {
		const char *body, *want;
	} cases[] = {
		{ "--b\r\n" PART "1\r\n--b--\r\n", "{a|-|}1.!" },
		{ "--b\r\n" PART "1\r\n--b--", "{a|-|}1.!" },
		{ "--b\r\n" PART "\r\n--b--", "{a|-|}.!" },
		{ "--b\r\n" PART "\r\n\r\n--b--", "{a|-|}\r\n.!" },
		{ "--b\r\n" PART "1\r\n\r\n--b--", "{a|-|}1\r\n.!" },
		{ "--b\r\n" PART "1\r\n--b\r\n" PART "2\r\n--b--", "{a|-|}1.{a|-|}2.!" },
		{ "--b--", "!" },
		{ "--b--\r\n", "!" },
		{ "\r\n--b--", "!" },
		/* Before and after. */
		{ "\r\n--b\r\n" PART "1\r\n--b--", "{a|-|}1.!" },
		{ "hello\r\n--b\r\n" PART "1\r\n--b--", "{a|-|}1.!" },
		{ "--hello\r\n--b\r\n" PART "1\r\n--b--", "{a|-|}1.!" },
		{ "-", BAD },
		{ "--b\r\n" PART "1\r\n--b--\r\nepilogue\r\n--b\r\nno part", "{a|-|}1.!" },
		{ "--b\r\n" PART "1\r\n--b--epilogue", "{a|-|}1.!" },
		{ "hello\r\n--b--", BAD },
		{ "hello --b\r\n" PART "1\r\n--b--", BAD },
		{ "hello\n--b\r\n" PART "1\r\n--b--", BAD },
		{ "A--b\r\n" PART "1\r\n--b--", BAD },
		/* Padding. */
		{ "--b \t \r\n" PART "1\r\n--b\t\r\n" PART "2\r\n--b-- \r\n", "{a|-|}1.{a|-|}2.!" },
		{ "--b                                \r\n" PART "1\r\n--b--", "{a|-|}1.!" },
		{ "--b                                 \r\n" PART "1\r\n--b--", BAD },
		/* What only looks like a delimiter is data. */
		{ "--b\r\n" PART "\r\r\n\n\r\n-\r\n--\r\n--c--\r\n--b--", "{a|-|}\r\r\n\n\r\n-\r\n--\r\n--c--.!" },
		{ "--b\r\n" PART "--b\r--b\n--b-- --b\r\n--b--", "{a|-|}--b\r--b\n--b-- --b.!" },
		{ "--b\r\n" PART "1\r\n--bb\r\n--b-\r\n--b--", "{a|-|}1\r\n--bb\r\n--b-.!" },
		{ "--b\r\n" PART "1\r\n--b-b\r\n--b--", "{a|-|}1\r\n--b-b.!" },
		{ "--b\r\n" PART "1\r\n--b x\r\n--b--", "{a|-|}1\r\n--b x.!" },
		{ "--b\r\n" PART "1\r\n--b\r\r\n--b--", "{a|-|}1\r\n--b\r.!" },
		{ "--b\r\n" PART "1\r\n--b \r\r\n--b \r\r\n--b--", "{a|-|}1\r\n--b \r\r\n--b \r.!" },
		{ "--b\r\n" PART "1\r\n--b\n\r\n--b--", "{a|-|}1\r\n--b\n.!" },
		{ "--b\r\n" PART "1\r\n\r\n--B--\r\n--b--", "{a|-|}1\r\n\r\n--B--.!" },
		{ "--b\r\n" PART "\r\n\r\n\r\n\r\n\r\r\r\n--b--", "{a|-|}\r\n\r\n\r\n\r\n\r\r.!" },
		/* A part that ends with its headers, and data that only begin so. */
		{ "--b\r\n" PART "--b--", "{a|-|}.!" },
		{ "--b\r\n" PART "--b\r\n" PART "2\r\n--b--", "{a|-|}.{a|-|}2.!" },
		{ "--b\r\n" PART "--c\r\n--b--", "{a|-|}--c.!" },
		{ "--b\r\n" PART "-\r\n--b--", "{a|-|}-.!" },
		{ "--b\r\n" PART "-", BAD },
		/* Headers. */
		{ "--b\r\ncontent-disposition:form-data;name=a\r\n\r\n1\r\n--b--", "{a|-|}1.!" },
		{ "--b\r\nX: y\r\nCONTENT-TYPE: text/plain \r\n" PART "1\r\n--b--", "{a|-|text/plain}1.!" },
		{ "--b\r\nContent-Type:\r\n" PART "1\r\n--b--", "{a|-|}1.!" },
		{ "--b\r\nX:\r\n" PART "1\r\n--b--", "{a|-|}1.!" },
		{ "--b\r\nContent-Disposition: form-data; name=a; filename=\"b\"\r\n\r\n1\r\n--b--", "{a|b|}1.!" },
		{ "--b\r\nContent-Disposition: form-data; name=a; filename=\"\"\r\n\r\n1\r\n--b--", "{a||}1.!" },
		{ "--b\r\nContent-Disposition: FORM-DATA; name=\"\"\r\n\r\n1\r\n--b--", "{|-|}1.!" },
		{ "--b\r\nContent-Disposition:\r\n form-data;\r\n\tname=a\r\n\r\n1\r\n--b--", "{a|-|}1.!" },
		{ "--b\r\nContent-Type:\r\n text/plain;\r\n  x=y\r\n" PART "1\r\n--b--", "{a|-|text/plain;    x=y}1.!" },
		{ "--b\r\n\r\n1\r\n--b--", BAD },
		{ "--b\r\n \r\n" PART "1\r\n--b--", BAD },
		{ "--b\r\n X: y\r\n" PART "1\r\n--b--", BAD },
		{ "--b\r\nX: y\r\n\r\n1\r\n--b--", BAD },
		{ "--b\r\nContent-Disposition: form-data\r\n\r\n1\r\n--b--", BAD },
		{ "--b\r\nContent-Disposition: form-data; filename=x\r\n\r\n1\r\n--b--", BAD },
		{ "--b\r\nContent-Disposition: attachment; name=a\r\n\r\n1\r\n--b--", BAD },
		{ "--b\r\nContent-Disposition: form-data; name=\"a\r\n\r\n1\r\n--b--", BAD },
		{ "--b\r\nContent-Disposition: form-data; name=b\r\n" PART "1\r\n--b--", BAD },
		{ "--b\r\nContent-Type: a/b\r\nContent-Type: a/b\r\n" PART "1\r\n--b--", BAD },
		{ "--b\r\nContent-Disposition : form-data; name=a\r\n\r\n1\r\n--b--", BAD },
		{ "--b\r\nno colon\r\n" PART "1\r\n--b--", BAD },
		{ "--b\r\n: x\r\n" PART "1\r\n--b--", BAD },
		{ "--b\r\nX\x01: y\r\n" PART "1\r\n--b--", BAD },
		{ "--b\r\nX: \x01\r\n" PART "1\r\n--b--", BAD },
		{ "--b\r\nX: a\rb\r\n" PART "1\r\n--b--", BAD },
		{ "--b\r\nX: a\nb: c\r\n" PART "1\r\n--b--", BAD },
		{ "--b\r\nX: a\x7f\r\n" PART "1\r\n--b--", BAD },
		{ "--b\nContent-Disposition: form-data; name=\"a\"\n\n1\n--b--\n", BAD },
		{ "--b\r\nContent-Disposition: form-data; name=\"a\"\n\n1\r\n--b--", BAD },
		{ "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\n1\r\n--b--", BAD },
		{ "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r1\r\n--b--", BAD },
		/* Cut short. */
		{ "", BAD },
		{ "--", BAD },
		{ "--b", BAD },
		{ "--b-", BAD },
		{ "--b\r", BAD },
		{ "--b\r\n", BAD },
		{ "--b\r\nContent-Disp", BAD },
		{ "--b\r\n" PART, BAD },
		{ "--b\r\n" PART "1", BAD },
		{ "--b\r\n" PART "1\r\n--b", BAD },
		{ "--b\r\n" PART "1\r\n--b-", BAD },
		{ "--b\r\n" PART "1\r\n--b\r\n", BAD },
		{ "--c\r\n" PART "1\r\n--c--", BAD },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct outcome got = read_all_sizes("b", eddy_str_from(cases[i].body), NULL);
		bool bad = !strcmp(cases[i].want, BAD);

		cr_expect(eq(int, got.err, bad ? -EBADMSG : 0), "%s", cases[i].body);
		if (!bad)
			cr_expect_str_eq(got.text, cases[i].want, "%s", cases[i].body);
		free(got.text);
	}
}

/* Any data between two delimiters comes out as it went in: all short strings over the bytes that
 * delimiters are made of, in pieces of every size. */
Test(multipart, data_is_data)
{
	static const char alphabet[] = "\r\n-b ";
	enum { LEN = 7 };
	size_t count = 1;

	for (int i = 0; i < LEN; i++)
		count *= sizeof(alphabet) - 1;
	for (size_t n = 0; n < count; n++) {
		char body[256], data[LEN + 1], want[64];
		int len = sprintf(body, "--bb\r\n" PART);
		size_t rest = n;
		int body_len;

		for (int i = 0; i < LEN; i++, rest /= sizeof(alphabet) - 1)
			data[i] = alphabet[rest % (sizeof(alphabet) - 1)];
		data[LEN] = 0;
		body_len = len + sprintf(body + len, "%s\r\n--bb--", data);
		/* Two bytes of boundary can't fit into the data with all that belongs to it. */
		if (!strncmp(data, "--bb", 4) || strstr(data, "\r\n--bb"))
			continue;
		sprintf(want, "{a|-|}%s.!", data);
		for (size_t size = 1; size <= 9; size += 2) {
			struct outcome got = read_body(eddy_str("bb", 2), eddy_str(body, body_len),
						       size == 9 ? SIZE_MAX : size, NULL);

			if (got.err || strcmp(got.text, want) != 0)
				cr_fatal("%s gave %s, error %d", body, got.text, got.err);
			free(got.text);
		}
	}
	teardown();
}

Test(multipart, boundaries)
{
#define SEVENTY "1234567890123456789012345678901234567890123456789012345678901234567890"
	/* clang-format off */
	static const struct {
		const char *type, *want;
	} cases[] = {
		{ "multipart/form-data; boundary=abc", "abc" },
		{ "Multipart/Form-Data;BOUNDARY=abc", "abc" },
		{ " multipart/form-data ; boundary=\"a b:c\" ", "a b:c" },
		{ "multipart/form-data; boundary=----=_Part/1:2?(x)'+,.", "----=_Part/1:2?(x)'+,." },
		{ "multipart/form-data; charset=utf-8; boundary=abc; x=\"y;boundary=z\"", "abc" },
		{ "multipart/form-data;; boundary=abc;", "abc" },
		{ "multipart/form-data; boundary=" SEVENTY, SEVENTY },
		{ "multipart/form-data; boundary=x" SEVENTY, BAD },
		{ "multipart/form-data", BAD },
		{ "multipart/form-data;", BAD },
		{ "multipart/form-data; boundary", BAD },
		{ "multipart/form-data; boundary=", BAD },
		{ "multipart/form-data; boundary=\"\"", BAD },
		{ "multipart/form-data; boundary=\"a", BAD },
		{ "multipart/form-data; boundary=\"a \"", BAD },
		{ "multipart/form-data; boundary=\" \"", BAD },
		{ "multipart/form-data; boundary=a b", BAD },
		{ "multipart/form-data; boundary=\"a\"b", BAD },
		{ "multipart/form-data; boundary=\"a\\\"b\"", BAD },
		{ "multipart/form-data; boundary=\"a\tb\"", BAD },
		{ "multipart/form-data; boundary=a*b", BAD },
		{ "multipart/form-data; boundary=\\/\\/", BAD },
		{ "multipart/form-data; boundary=\xc3\xa9", BAD },
		{ "multipart/form-data; boundary=a; boundary=a", BAD },
		{ "multipart/form-data; boundary =a", BAD },
		{ "multipart/form-data; boundary= a", BAD },
		{ "multipart/form-data, boundary=a", "type" },
		{ "multipart/form-data boundary=a", BAD },
		{ "multipart/form-datax; boundary=a", "type" },
		{ "multipart/mixed; boundary=a", "type" },
		{ "text/plain", "type" },
		{ "", "type" },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size_t len = strlen(cases[i].type);
		char *exact = malloc(len + !len);
		struct eddy_str got;
		int want = !strcmp(cases[i].want, BAD)    ? -EBADMSG :
			   !strcmp(cases[i].want, "type") ? -EOPNOTSUPP :
							    0;

		memcpy(exact, cases[i].type, len);
		cr_expect(eq(int, eddyi_multipart_boundary(eddy_str(exact, len), &got), want), "%s",
			  cases[i].type);
		if (!want)
			cr_expect(eddy_str_eq_z(got, cases[i].want), "%s", cases[i].type);
		free(exact);
	}
}

Test(multipart, limits)
{
	struct eddyi_multipart_options options = { .parts_max = 2, .headers_max = 100 };
	char body[2048];
	struct outcome got;

	got = read_all_sizes("b", eddy_str_from("--b\r\n" PART "\r\n--b\r\n" PART "\r\n--b--"),
			     &options);
	cr_expect(eq(int, got.err, 0));
	free(got.text);
	got = read_all_sizes("b",
			     eddy_str_from("--b\r\n" PART "\r\n--b\r\n" PART "\r\n--b\r\n" PART
					   "\r\n--b--"),
			     &options);
	cr_expect(eq(int, got.err, -EMSGSIZE));
	free(got.text);
	for (int extra = -1; extra <= 1; extra++) {
		/* A header block of 100 bytes and `extra`. */
		sprintf(body, "--b\r\nX: %0*d\r\n" PART "1\r\n--b--",
			(int)(100 - 5 - (sizeof(PART) - 1) + extra), 0);
		got = read_all_sizes("b", eddy_str_from(body), &options);
		cr_expect(eq(int, got.err, extra > 0 ? -EBADMSG : 0), "%d", extra);
		free(got.text);
	}
	memset(body, 'x', sizeof(body));
	memcpy(body, "--b\r\n", 5);
	got = read_all_sizes("b", eddy_str(body, sizeof(body)), &options);
	cr_expect(eq(int, got.err, -EBADMSG));
	free(got.text);
}

/* The defaults: 64 parts, 8 KiB. */
Test(multipart, default_limits)
{
	char body[16384] = "";
	struct outcome got;

	for (int i = 0; i < 64; i++)
		strcat(body, "--b\r\n" PART "\r\n");
	strcat(body, "--b--");
	got = read_body(eddy_str("b", 1), eddy_str_from(body), SIZE_MAX, NULL);
	cr_expect(eq(int, got.err, 0));
	free(got.text);
	strcpy(strstr(body, "--b--"), "--b\r\n" PART "\r\n--b--");
	got = read_body(eddy_str("b", 1), eddy_str_from(body), SIZE_MAX, NULL);
	cr_expect(eq(int, got.err, -EMSGSIZE));
	free(got.text);
	for (int extra = 0; extra <= 1; extra++) {
		sprintf(body, "--b\r\nX: %0*d\r\n" PART "1\r\n--b--",
			(int)(8192 - 5 - (sizeof(PART) - 1)) + extra, 0);
		got = read_all_sizes("b", eddy_str_from(body), NULL);
		cr_expect(eq(int, got.err, extra ? -EBADMSG : 0));
		free(got.text);
	}
}

/* A candidate at the edge of two pieces costs one small event, whatever follows it. */
Test(multipart, few_events_for_dense_data)
{
	static const char *const units[] = { "\r", "\r\n", "\r\n-", "\r\n--b", "--b", "\n\r" };
	enum { SIZE = 4096 };
	char *data = malloc(SIZE);

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		struct eddyi_multipart_event event;
		struct eddyi_multipart multipart;
		struct eddy_str piece = eddy_str_from("--bound\r\n" PART);
		size_t events = 0, got = 0, unit = strlen(units[i]);

		for (size_t j = 0; j < SIZE; j++)
			data[j] = units[i][j % unit];
		eddyi_multipart_init(&multipart, &arena, eddy_str("bound", 5), NULL);
		cr_assert(eq(int, eddyi_multipart_next(&multipart, &piece, &event), 0));
		for (int round = 0; round < 4; round++) {
			piece = eddy_str(data, SIZE);
			do {
				cr_assert(eq(int, eddyi_multipart_next(&multipart, &piece, &event),
					     0));
				if (event.kind != EDDYI_MULTIPART_DATA)
					continue;
				events++;
				got += event.data.len;
			} while (event.kind != EDDYI_MULTIPART_MORE);
		}
		cr_expect(le(sz, events, 8), "unit %zu", i);
		cr_expect(ge(sz, got, 4 * SIZE - 8), "unit %zu", i);
	}
	free(data);
}

/* Bulk data is handed out where it lies, in one span a piece. */
Test(multipart, bulk_is_not_copied)
{
	enum { SIZE = 1 << 20 };
	struct eddyi_multipart_event event;
	struct eddyi_multipart multipart;
	struct eddy_str piece;
	char *bulk = malloc(SIZE);

	memset(bulk, 'x', SIZE);
	eddyi_multipart_init(&multipart, &arena, eddy_str("b", 1), NULL);
	piece = eddy_str_from("--b\r\n" PART);
	cr_assert(eq(int, eddyi_multipart_next(&multipart, &piece, &event), 0));
	cr_assert(eq(int, event.kind, EDDYI_MULTIPART_PART));
	for (int i = 0; i < 3; i++) {
		piece = eddy_str(bulk, SIZE);
		cr_assert(eq(int, eddyi_multipart_next(&multipart, &piece, &event), 0));
		cr_expect(eq(int, event.kind, EDDYI_MULTIPART_DATA));
		cr_expect(event.data.ptr == bulk);
		cr_expect(eq(sz, event.data.len, SIZE));
		cr_expect(zero(sz, piece.len));
	}
	free(bulk);
}

static size_t base64(const char *text, char *out)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	unsigned bits = 0, count = 0;
	size_t len = 0;

	for (; *text && *text != '='; text++) {
		bits = bits << 6 | (unsigned)(strchr(digits, *text) - digits);
		count += 6;
		if (count >= 8)
			out[len++] = (char)(bits >> (count -= 8));
	}
	return len;
}

static void put_json(struct outcome *want, const json_t *string)
{
	put(want, json_string_value(string), json_string_length(string));
}

static void put_base64(struct outcome *want, const char *text)
{
	char *bytes = malloc(strlen(text) + 1);

	put(want, bytes, base64(text, bytes));
	free(bytes);
}

/* Write what busboy or python-multipart expect as an outcome, the types left out. */
static struct outcome expected(json_t *list)
{
	struct outcome want = { 0 };
	json_t *item;
	size_t i;

	put(&want, "", 0);
	if (json_is_object(list))
		want.err = -EBADMSG;
	json_array_foreach(list, i, item)
	{
		json_t *info = json_object_get(item, "info"), *name;
		json_t *data = json_object_get(item, "data");

		if (!json_object_get(item, "type") || json_object_get(item, "err")) {
			want.err = -EBADMSG;
			continue;
		}
		put(&want, "{", 1);
		put_json(&want, json_object_get(item, "name"));
		put(&want, "|", 1);
		name = json_object_get(info ? info : item, info ? "filename" : "file_name");
		if (name)
			put_json(&want, name);
		else
			put(&want, "-", 1);
		put(&want, "|}", 2);
		if (json_object_get(item, "val"))
			put_json(&want, json_object_get(item, "val"));
		else if (json_object_get(item, "data_b64"))
			put_base64(&want, json_string_value(json_object_get(item, "data_b64")));
		else
			put_base64(&want, json_string_value(json_object_get(data, "b64")));
		put(&want, ".", 1);
	}
	return want;
}

/* Leave the types out of our own, as the expectations do; clean file names, as busboy does. */
static struct outcome comparable(struct eddy_str boundary, struct eddy_str body)
{
	struct outcome got = { 0 };
	struct eddyi_multipart multipart;
	struct eddyi_multipart_event event;

	put(&got, "", 0);
	eddyi_multipart_init(&multipart, &arena, boundary, NULL);
	do {
		got.err = eddyi_multipart_next(&multipart, &body, &event);
		if (got.err || event.kind == EDDYI_MULTIPART_END)
			continue;
		event.part.content_type = eddy_str(NULL, 0);
		if (event.kind == EDDYI_MULTIPART_PART && event.part.filename.ptr)
			eddyi_filename_clean(event.part.filename, &event.part.filename);
		put_event(&got, &event);
	} while (!got.err && event.kind != EDDYI_MULTIPART_MORE);
	if (!got.err)
		got.err = eddyi_multipart_finish(&multipart);
	return got;
}

/* Where we say something else than the case expects, or the case expects nothing, on purpose. */
/* clang-format off */
static const struct deviation {
	const char *name;
	int err;
	const char *want; /* NULL with err 0: anything, as long as it is read alike in all pieces */
} deviations[] = {
	/* busboy: its own limits and options, which are not ours. */
	{ "Fields and files (limits)", 0, NULL },
	{ "Fields and files (limits: 0 files)", 0, NULL },
	{ "Fields and (ignored) files", 0, NULL },
	{ "Paths to be preserved through the preservePath option", 0, NULL },
	{ "Skip field parts if no listener", 0, NULL },
	{ "Parts limit", 0, NULL },
	{ "Fields limit", 0, NULL },
	{ "Files limit", 0, NULL },
	/* Header blocks of 8.2 KiB; ours end at 8. */
	{ "Header size limit should be per part", -EBADMSG, NULL },
	/* RFC 7578 4.2: each part has a Content-Disposition, form-data, with a name. */
	{ "Empty content-type and empty content-disposition", -EBADMSG, NULL },
	{ "No Content-Disposition", -EBADMSG, NULL },
	{ "content_type_and_no_disposition", -EBADMSG, NULL },
	{ "filename_and_modification_param", -EBADMSG, NULL },
	{ "filename_and_no_name", -EBADMSG, NULL },
	{ "filename_with_encoded_words", -EBADMSG, NULL },
	{ "filename_with_escaped_quotes_and_modification_param", -EBADMSG, NULL },
	{ "filename_with_null_byte", -EBADMSG, NULL },
	{ "filename_with_single_quote", -EBADMSG, NULL },
	/* RFC 7578 4.7: nothing is decoded. */
	{ "base64_encoding", 0, "{file|test.txt|}VGVzdCAxMjM=." },
	{ "mixed_case_headers", 0, "{field1|-|}VGVzdCAxMjM=.{field2|-|}VGVzdCAxMjM=.{Field3|-|}VGVzdCAxMjM=." },
	{ "mixed_plain_and_base64_encoding", 0, "{field1|-|}VGVzdCAxMjM=.{field2|-|}This is a test..{field3|-|}VGVzdCBzdHJpbmcuCg==.{field4|-|}This is also a test.." },
	{ "quoted_printable_encoding", 0, "{file|test.txt|}foo=3Dbar." },
	/* The boundary of the case is not that of its body. */
	{ "single_field_blocks", -EBADMSG, NULL },
	/* Without a last delimiter nobody knows that all has come. */
	{ "misc/empty-multipart.http", -EBADMSG, NULL },
	{ "workarounds/missing-hyphens1.http", -EBADMSG, NULL },
	{ "workarounds/missing-hyphens2.http", -EBADMSG, NULL },
	/* Bare LF. */
	{ "special-chars-in-filename/line-separator.http", -EBADMSG, NULL },
	{ "fail_16384_nofile", -EBADMSG, NULL },
	/* A quote within a quoted string, of browsers long gone. */
	{ "special-chars-in-filename/osx-firefox-3.6.http", -EBADMSG, NULL },
	{ "special-chars-in-filename/xp-ie-7.http", -EBADMSG, NULL },
	{ "special-chars-in-filename/xp-ie-8.http", -EBADMSG, NULL },
	{ "filename_with_unescaped_quotes", -EBADMSG, NULL },
	/* A field that is continued without a blank, and no last delimiter. */
	{ "unity3d_wwwform", -EBADMSG, NULL },
	/* Something before the first delimiter, and no part. */
	{ "preceding_boundary", -EBADMSG, NULL },
	/* A percent escape in a name is not decoded: browsers write '"' as %22, nobody says so. */
	{ "filename_with_percent_escaped_quotes", 0, "{files|escape %22quotes|}contents." },
	/* Rack's expectations are programs; these of its bodies are known to say something. */
	{ "filename_multi", 0, "{files|bar|}contents." },
	{ "filename_with_escaped_quotes", 0, "{files|escape \"quotes|}contents." },
	{ "filename_with_plus", 0, "{files|foo+bar|}contents." },
	{ "filename_with_unescaped_percentages", 0, "{document[attachment]|100% of a photo.jpeg|}contents." },
	{ "ie", 0, "{files|file1.txt|}contents." },
	{ "none", 0, "{submit-name|-|}Larry.{files||}." },
	{ "semicolon", 0, "{files|fi;le1.txt|}contents." },
	{ "end_boundary_first", 0, "" },
	{ "robust_field_separation", 0, "{text|-|}contents." },
	{ "content_type_and_unknown_charset", 0, "{text|-|}contents." },
};
/* clang-format on */

static void check_case(const char *source, const json_t *test)
{
	const char *name = json_string_value(json_object_get(test, "name"));
	const char *encoded = json_string_value(json_object_get(test, "body_b64"));
	bool silent = !strcmp(source, "rack") || !strcmp(source, "formidable");
	char *bytes = malloc(strlen(encoded) + 1), boundary_z[128];
	struct eddy_str body = eddy_str(bytes, base64(encoded, bytes)), boundary;
	struct outcome want = { 0 }, got, pieces;
	bool any = silent;

	/* Boundaries of backslashes, and bodies that are no forms. */
	if (eddyi_multipart_boundary(
		    eddy_str_from(json_string_value(json_object_get(test, "content_type"))),
		    &boundary) < 0) {
		cr_expect(strncmp(name, "encoding/", 9) == 0 || strncmp(name, "misc/", 5) == 0,
			  "%s", name);
		free(bytes);
		return;
	}
	if (!silent)
		want = expected(json_object_get(test, "expected"));
	for (size_t i = 0; i < sizeof(deviations) / sizeof(*deviations); i++) {
		if (strcmp(deviations[i].name, name))
			continue;
		free(want.text);
		want = (struct outcome){ .err = deviations[i].err };
		any = !deviations[i].want;
		put(&want, any ? "" : deviations[i].want, any ? 0 : strlen(deviations[i].want));
	}
	got = comparable(boundary, body);
	cr_expect(eq(int, got.err, want.err), "%s: %s", source, name);
	if (!got.err && !any)
		cr_expect(got.len == want.len && !memcmp(got.text, want.text, got.len), "%s: %s",
			  source, name);
	snprintf(boundary_z, sizeof(boundary_z), "%.*s", EDDY_FMT(boundary));
	pieces = read_all_sizes(boundary_z, body, NULL);
	cr_expect(eq(int, pieces.err, got.err), "%s: %s", source, name);
	free(pieces.text);
	free(got.text);
	free(want.text);
	free(bytes);
}

Test(multipart, vectors)
{
	json_t *root = vectors_load("multipart/multipart_cases.json"), *test;
	size_t i;

	json_array_foreach(json_object_get(root, "cases"), i, test)
		check_case(json_string_value(json_object_get(test, "src")), test);
	json_decref(root);
}
