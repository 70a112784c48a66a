/* Tests of http/src/message/multipart.h: what other projects have recorded. */
#include "outcome.h"
#include "text/disposition.h"
#include "vectors.h"

#include <jansson.h>
#include <stdio.h>

TestSuite(multipart_vectors, .fini = teardown);

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

Test(multipart_vectors, vectors)
{
	json_t *root = vectors_load("multipart/multipart_cases.json"), *test;
	size_t i;

	json_array_foreach(json_object_get(root, "cases"), i, test)
		check_case(json_string_value(json_object_get(test, "src")), test);
	json_decref(root);
}
