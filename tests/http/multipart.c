/* Tests of http/src/message/multipart.h. */
#include "outcome.h"

#include <stdio.h>

TestSuite(multipart, .fini = teardown);

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
			struct outcome got = read_body(EDDY_STR("bb"), eddy_str(body, body_len),
						       size == 9 ? SIZE_MAX : size, NULL);

			if (got.err || strcmp(got.text, want) != 0)
				cr_fatal("%s gave %s, error %d", body, got.text, got.err);
			free(got.text);
		}
		teardown();
	}
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
	got = read_body(EDDY_STR("b"), eddy_str_from(body), SIZE_MAX, NULL);
	cr_expect(eq(int, got.err, 0));
	free(got.text);
	strcpy(strstr(body, "--b--"), "--b\r\n" PART "\r\n--b--");
	got = read_body(EDDY_STR("b"), eddy_str_from(body), SIZE_MAX, NULL);
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
		eddyi_multipart_init(&multipart, &arena, EDDY_STR("bound"), NULL);
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
	eddyi_multipart_init(&multipart, &arena, EDDY_STR("b"), NULL);
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
