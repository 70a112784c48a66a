/* Tests of http/src/text/disposition.h. */
#include "text/disposition.h"

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

TestSuite(disposition, .fini = teardown);

/* "type name=<…> filename=<…>" or "EBADMSG". The value is given without a NUL behind it. */
static const char *parse(struct eddy_str value)
{
	static char out[4096];
	char *exact = malloc(value.len ? value.len : 1);
	struct eddyi_disposition got;
	char *at = out;
	int err;

	memcpy(exact, value.ptr, value.len);
	err = eddyi_disposition_parse(&arena, eddy_str(exact, value.len), &got);
	if (err < 0) {
		free(exact);
		return err == -EBADMSG ? "EBADMSG" : "?";
	}
	at += sprintf(at, "%.*s", EDDY_FMT(got.type));
	if (got.name.ptr)
		at += sprintf(at, " name=<%.*s>", EDDY_FMT(got.name));
	if (got.filename.ptr)
		at += sprintf(at, " filename=<%.*s>", EDDY_FMT(got.filename));
	free(exact);
	return out;
}

Test(disposition, parses)
{
	/* clang-format off */
	static const struct {
		const char *value, *want;
	} cases[] = {
		{ "form-data; name=\"a\"", "form-data name=<a>" },
		{ "form-data;name=a", "form-data name=<a>" },
		{ "Form-Data ; NAME = a ; FileName=\"b\" ", "Form-Data name=<a> filename=<b>" },
		{ "form-data; name=\"a\"; filename=\"b c.txt\"", "form-data name=<a> filename=<b c.txt>" },
		{ "form-data; filename=\"b;c=d\"; name=\"a\"", "form-data name=<a> filename=<b;c=d>" },
		{ "form-data; name=\"\"; filename=\"\"", "form-data name=<> filename=<>" },
		{ "form-data", "form-data" },
		{ "form-data;", "form-data" },
		{ "form-data;; ;name=a;", "form-data name=<a>" },
		{ "form-data; name=\"a\\\"b\\\\c\"", "form-data name=<a\"b\\c>" },
		{ "form-data; name=\"\\\"\"", "form-data name=<\">" },
		{ "form-data; name=\"C:\\dir\\n.txt\"", "form-data name=<C:\\dir\\n.txt>" },
		{ "form-data; name=\"a%22b\"", "form-data name=<a%22b>" },
		{ "form-data; name=\"\xc3\xa9\"", "form-data name=<\xc3\xa9>" },
		{ "form-data; name=\"a\tb\"", "form-data name=<a\tb>" },
		{ "form-data; x=1; y=\"2\"; name=a; name2=b", "form-data name=<a>" },
		{ "attachment; filename*=UTF-8''%e2%82%AC.txt", "attachment filename=<\xe2\x82\xac.txt>" },
		{ "attachment; filename*=utf-8'en'a", "attachment filename=<a>" },
		{ "attachment; filename*=UTF-8''", "attachment filename=<>" },
		{ "attachment; filename*=iso-8859-1''%A3%82", "attachment filename=<\xc2\xa3\xc2\x82>" },
		{ "attachment; filename=a; filename*=UTF-8''b", "attachment filename=<b>" },
		{ "attachment; filename*=UTF-8''b; filename=a", "attachment filename=<b>" },
		{ "attachment; filename=a; filename*=koi8-r''b", "attachment filename=<a>" },
		{ "attachment; filename*=UTF-8''..%2F..%5Cetc", "attachment filename=<../..\\etc>" },
		{ "attachment; filename*=UTF-8''a%00b", "attachment filename=<a>" }, /* %s stops at the NUL */
		{ "", "EBADMSG" },
		{ " ", "EBADMSG" },
		{ ";", "EBADMSG" },
		{ "; name=a", "EBADMSG" },
		{ "name=a", "EBADMSG" },
		{ "\"form-data\"; name=a", "EBADMSG" },
		{ "form-data name=a", "EBADMSG" },
		{ "form-data, name=a", "EBADMSG" },
		{ "form-data; name", "EBADMSG" },
		{ "form-data; name;", "EBADMSG" },
		{ "form-data; name=", "EBADMSG" },
		{ "form-data; name=; x=y", "EBADMSG" },
		{ "form-data; =a", "EBADMSG" },
		{ "form-data; name=a b", "EBADMSG" },
		{ "form-data; name=\"a\"b", "EBADMSG" },
		{ "form-data; name=a\"b\"", "EBADMSG" },
		{ "form-data; name=\"a", "EBADMSG" },
		{ "form-data; name=\"a\\\"", "EBADMSG" },
		{ "form-data; name=\"a\\", "EBADMSG" },
		{ "form-data; name=\"", "EBADMSG" },
		{ "form-data; name=\"a\x01\"", "EBADMSG" },
		{ "form-data; name=\"a\nb\"", "EBADMSG" },
		{ "form-data; name=\"a\\\nb\"", "EBADMSG" },
		{ "form-data; name=\"a\x7f\"", "EBADMSG" },
		{ "form-data; name=\xc3\xa9", "EBADMSG" },
		{ "form-data; name=a; name=a", "EBADMSG" },
		{ "form-data; name=a; NAME=b", "EBADMSG" },
		{ "form-data; name=a; filename=b; filename=b", "EBADMSG" },
		{ "form-data; filename*=UTF-8''a; filename*=UTF-8''a", "EBADMSG" },
		{ "form-data; name=a/b", "EBADMSG" },
		{ "attachment; filename*=koi8-r''b", "EBADMSG" },
		{ "attachment; filename*=''b", "EBADMSG" },
		{ "attachment; filename*=b", "EBADMSG" },
		{ "attachment; filename*=UTF-8'b", "EBADMSG" },
		{ "attachment; filename*=UTF-8''b'c", "EBADMSG" },
		{ "attachment; filename*=UTF-8''%", "EBADMSG" },
		{ "attachment; filename*=UTF-8''%4", "EBADMSG" },
		{ "attachment; filename*=UTF-8''%zz", "EBADMSG" },
		{ "attachment; filename*=UTF-8''%e4", "EBADMSG" },
		{ "attachment; filename*=UTF-8''%c0%af", "EBADMSG" },
		{ "attachment; filename*=UTF-8''%ed%a0%80", "EBADMSG" },
		{ "attachment; filename=a; filename*=UTF-8''%e4", "EBADMSG" },
		{ "attachment; filename*=\"UTF-8''a\"", "EBADMSG" },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cr_expect_str_eq(parse(eddy_str_from(cases[i].value)), cases[i].want, "%s",
				 cases[i].value);
	cr_expect_str_eq(parse(EDDY_STR("form-data; name=\"a\0b\"")), "EBADMSG");
}

static const char *attachment(const char *name, size_t len)
{
	char *exact = malloc(len ? len : 1);
	struct eddy_str text;

	memcpy(exact, name, len);
	text = eddyi_disposition_attachment(&arena, eddy_str(exact, len));
	free(exact);
	cr_expect(eq(sz, strlen(text.ptr), text.len));
	return text.ptr;
}

Test(disposition, formats)
{
#define VALUE(ascii, ext) "attachment; filename=\"" ascii "\"; filename*=UTF-8''" ext
	/* clang-format off */
	static const struct {
		const char *name, *want;
	} cases[] = {
		{ "a.txt", VALUE("a.txt", "a.txt") },
		{ "", VALUE("", "") },
		{ "a b.txt", VALUE("a b.txt", "a%20b.txt") },
		{ "a\"b", VALUE("a\\\"b", "a%22b") },
		{ "a\\", VALUE("a\\\\", "a%5C") },
		{ "100%.txt", VALUE("100%.txt", "100%25.txt") },
		{ "a;b=c", VALUE("a;b=c", "a%3Bb%3Dc") },
		{ "it's*", VALUE("it's*", "it%27s%2A") },
		{ "!#$&+-.^_`|~", VALUE("!#$&+-.^_`|~", "!#$&+-.^_`|~") },
		{ "\xe2\x82\xac", VALUE("___", "%E2%82%AC") },
		{ "\xf0\x9f\x8c\x80", VALUE("____", "%F0%9F%8C%80") },
		{ "a\xff\xe2\x82", VALUE("a___", "a%EF%BF%BD%EF%BF%BD%EF%BF%BD") },
		{ "\xed\xa0\x80", VALUE("___", "%EF%BF%BD%EF%BF%BD%EF%BF%BD") },
		{ "a\r\nSet-Cookie: x", VALUE("a__Set-Cookie: x", "a%0D%0ASet-Cookie%3A%20x") },
		{ "a\x7f", VALUE("a_", "a%7F") },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cr_expect_str_eq(attachment(cases[i].name, strlen(cases[i].name)), cases[i].want);
	cr_expect_str_eq(attachment("a\0b", 3), VALUE("a_b", "a%00b"));
}

/* What is written can be read, and is the same, for any name in UTF-8. */
Test(disposition, round_trip)
{
	srand(7);
	for (int i = 0; i < 2000; i++) {
		struct eddyi_disposition got;
		struct eddy_str text;
		char name[64];
		size_t len = 0;

		while (len < 60)
			len += (size_t)(rand() % 3 ? sprintf(name + len, "%c", 1 + rand() % 127) :
						     sprintf(name + len, "%s", "\xe2\x82\xac"));
		text = eddyi_disposition_attachment(&arena, eddy_str(name, len));
		cr_assert(eq(int, eddyi_disposition_parse(&arena, text, &got), 0), "%s", text.ptr);
		cr_assert(eddy_str_eq(got.filename, eddy_str(name, len)), "%s", text.ptr);
	}
}

static const char *clean(struct eddy_str name)
{
	static char out[600];
	char *exact = malloc(name.len ? name.len : 1);
	struct eddy_str got;
	int err;

	memcpy(exact, name.ptr, name.len);
	err = eddyi_filename_clean(eddy_str(exact, name.len), &got);
	if (err == 0)
		snprintf(out, sizeof(out), "%.*s", EDDY_FMT(got));
	free(exact);
	return err == 0 ? out : err == -EINVAL ? "EINVAL" : "?";
}

Test(disposition, cleans_names)
{
	/* clang-format off */
	static const struct {
		const char *name, *want;
	} cases[] = {
		{ "a.txt", "a.txt" },
		{ "/etc/passwd", "passwd" },
		{ "../../etc/passwd", "passwd" },
		{ "C:\\Users\\me\\a.txt", "a.txt" },
		{ "a\\b/c\\d", "d" },
		{ "..\\..\\a", "a" },
		{ ".profile", "profile" },
		{ "...a.b", "a.b" },
		{ "dir/.eddy-1", "eddy-1" },
		{ "a.", "a." },
		{ "a..b", "a..b" },
		{ " .a", " .a" },
		{ ". ", " " },
		{ "a b", "a b" },
		{ "a:b|c?", "a:b|c?" },
		{ "%2e%2e%2fa", "%2e%2e%2fa" },
		{ "\xe2\x82\xac.txt", "\xe2\x82\xac.txt" },
		{ "\xff/a", "a" },
		{ "a\nb/c", "c" },
		{ "", "EINVAL" },
		{ ".", "EINVAL" },
		{ "..", "EINVAL" },
		{ "....", "EINVAL" },
		{ "/", "EINVAL" },
		{ "a/", "EINVAL" },
		{ "a\\", "EINVAL" },
		{ "a/..", "EINVAL" },
		{ "a/.", "EINVAL" },
		{ "a\n", "EINVAL" },
		{ "a\tb", "EINVAL" },
		{ "\x1b[2J", "EINVAL" },
		{ "a\x7f", "EINVAL" },
		{ "a\xff", "EINVAL" },
		{ "\xc0\xae\xc0\xae", "EINVAL" },
		{ "\xc0\xaf", "EINVAL" },
		{ "\xed\xa0\x80", "EINVAL" },
		{ "\xf4\x90\x80\x80", "EINVAL" },
		{ "\xe2\x82", "EINVAL" },
	};
	/* clang-format on */
	char name[EDDYI_FILENAME_MAX + 3] = "..";

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cr_expect_str_eq(clean(eddy_str_from(cases[i].name)), cases[i].want, "%s",
				 cases[i].name);
	cr_expect_str_eq(clean(EDDY_STR("a\0b")), "EINVAL");
	memset(name + 2, 'x', sizeof(name) - 2);
	cr_expect(eq(sz, strlen(clean(eddy_str(name, EDDYI_FILENAME_MAX + 2))), 255));
	cr_expect_str_eq(clean(eddy_str(name, EDDYI_FILENAME_MAX + 3)), "EINVAL");
}

/* Nothing that comes out of a list of hostile names leaves its folder. */
Test(disposition, hostile_names)
{
	static const char *const files[] = {
		"fuzzdb_invalid_filenames_linux.txt",    "fuzzdb_invalid_filenames_microsoft.txt",
		"fuzzdb_traversals_exotic_encoding.txt", "patt_deep_traversal.txt",
		"patt_directory_traversal.txt",          "blns.json"
	};
	const char *dir = getenv("EDDY_VECTORS");
	char path[4096], line[4096];

	if (!dir)
		cr_skip_test("EDDY_VECTORS is not set");
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		FILE *lines;

		snprintf(path, sizeof(path), "%s/paths/%s", dir, files[i]);
		lines = fopen(path, "re");
		if (!lines)
			cr_skip_test("%s is not there", path);
		while (fgets(line, sizeof(line), lines)) {
			struct eddy_str got;

			line[strcspn(line, "\r\n")] = 0;
			if (eddyi_filename_clean(eddy_str_from(line), &got) < 0)
				continue;
			cr_expect(memchr(got.ptr, '/', got.len) == NULL, "%s", line);
			cr_expect(memchr(got.ptr, '\\', got.len) == NULL, "%s", line);
			cr_expect(ne(chr, got.ptr[0], '.'), "%s", line);
		}
		fclose(lines);
	}
}

/* The bytes of a JSON string whose characters are Latin-1. */
static struct eddy_str latin1_of(const json_t *string)
{
	const char *utf8 = json_string_value(string);
	size_t len = json_string_length(string), at = 0;
	char *out = eddyi_arena_alloc(&arena, len + 1);

	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)utf8[i] >= 0xc0 && i + 1 < len) {
			out[at++] = (char)((utf8[i] & 0x03) << 6 | (utf8[i + 1] & 0x3f));
			i++;
		} else {
			out[at++] = utf8[i];
		}
	}
	out[at] = 0;
	return eddy_str(out, at);
}

/* The vectors' parser takes whatever it can; these are malformed by RFC 6266, 8187 or 9110, say
 * something twice, or name a file that can't be decoded, and an upload must not guess. */
/* clang-format off */
static const char *const refused[] = {
	"\"attachment\"",
	"attachment; filename@=\"rates.pdf\"",
	"attachment; filename=",
	"attachment; filename=trolly,trains",
	"attachment; filename=total/; foo=bar",
	"attachment; filename=foo; filename=bar",
	"filename=\"plans.pdf\"",
	"; filename=\"plans.pdf\"",
	"attachment; filename*=\"UTF-8''%E2%82%AC%20rates.pdf\"",
	"attachment; filename*=utf8''%E2%82%AC%20rates.pdf",
	"attachment; filename*=UTF-8''%E4%20rates.pdf",
	"attachment; filename*=ISO-8859-1''%A3%2rates.pdf",
	"attachment; filename=\"invoice.pdf\"; filename*=ISO-8859-1''report%2",
	"attachment; filename*=ISO-8859-2''%A4%20rates.pdf",
	"attachment; filename*=UTF-8''first.html; filename*=UTF-8''second.html",
	"attachment; filename*=UTF-8''%E4%20rates.pdf; filename*=UTF-8''second.html",
	"\"inline\"",
	"attachment; filename=foo,bar.html",
	"attachment; filename=foo bar.html",
	"attachment; filename=\"foo.html\"; filename=\"bar.html\"",
	"attachment; filename=foo[1](2).html",
	"attachment; filename=foo-\xe4.html",
	"attachment; filename=foo-\xc3\xa4.html",
	"filename=foo.html",
	"x=y; filename=foo.html",
	"\"foo; filename=bar;baz\"; filename=qux",
	"filename=foo.html, filename=bar.html",
	"; filename=foo.html",
	": inline; attachment; filename=foo.html",
	"inline; attachment; filename=foo.html",
	"attachment; inline; filename=foo.html",
	"attachment; filename=\"foo.html\".txt",
	"attachment; filename=\"bar",
	"attachment; filename=foo\"bar;baz\"qux",
	"attachment; filename=foo.html, attachment; filename=bar.html",
	"attachment; foo=foo filename=bar",
	"attachment; filename=bar foo=foo",
	"attachment filename=bar",
	"filename=foo.html; attachment",
	"attachment; filename*=''foo-%c3%a4-%e2%82%ac.html",
	"attachment; filename *=UTF-8''foo-%c3%a4.html",
	"attachment; filename*=\"UTF-8''foo-%c3%a4.html\"",
	"attachment; filename*=\"foo%20bar.html\"",
	"attachment; filename*=UTF-8'foo-%c3%a4.html",
	"attachment; filename*=UTF-8''foo%",
	"attachment; filename*=UTF-8''f%oo.html",
	"attachment; filename==?ISO-8859-1?Q?foo-=E4.html?=",
};

/* A backslash before another byte than '"' and '\\' is itself. */
static const struct {
	const char *value, *want;
} backslashes[] = {
	{ "attachment; filename=\"f\\oo.html\"", "f\\oo.html" },
	{ "attachment; filename=\"foo-%\\41.html\"", "foo-%\\41.html" },
};
/* clang-format on */

static bool is_refused(struct eddy_str value)
{
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		if (eddy_str_eq_z(value, refused[i]))
			return true;
	return false;
}

Test(disposition, vectors)
{
	json_t *root = vectors_load("multipart/content_disposition.json"), *test;
	size_t i;

	json_array_foreach(json_object_get(root, "cases"), i, test)
	{
		struct eddy_str value = latin1_of(json_object_get(test, "header"));
		json_t *expect = json_object_get(test, "expect");
		json_t *parameters = json_object_get(expect, "parameters");
		json_t *filename = json_object_get(parameters, "filename");
		struct eddyi_disposition got;
		struct eddy_str want;
		int err = eddyi_disposition_parse(&arena, value, &got);

		cr_expect(eq(int, err, is_refused(value) ? -EBADMSG : 0), "%s", value.ptr);
		if (err < 0)
			continue;
		want = eddy_str_from(json_string_value(json_object_get(expect, "type")));
		cr_expect(eddy_str_eq_nocase(got.type, want), "%s", value.ptr);
		cr_expect(eq(int, got.filename.ptr != NULL, filename != NULL), "%s", value.ptr);
		/* Bytes over 0x7f come through as they are; what was decoded is UTF-8. */
		if (json_object_get(parameters, "filename*"))
			want = eddy_str_from(json_string_value(filename));
		else if (filename)
			want = latin1_of(filename);
		for (size_t j = 0; j < sizeof(backslashes) / sizeof(*backslashes); j++)
			if (eddy_str_eq_z(value, backslashes[j].value))
				want = eddy_str_from(backslashes[j].want);
		if (!filename)
			continue;
		/* `filename*` in an unknown charset leaves the plain one. */
		cr_expect(eddy_str_eq(got.filename, want), "%s", value.ptr);
	}
	json_decref(root);
}
