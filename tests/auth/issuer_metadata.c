/* Tests of auth/src/issuer/issuer_metadata.h: what is taken of what an issuer says of itself. */
#include "issuer/issuer_metadata.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define ISSUER "https://i"
#define NAMED "{\"issuer\":\"" ISSUER "\",\"jwks_uri\":"

static struct eddyi_issuer_metadata read_text(struct eddy_str text, bool allow_http, int want)
{
	struct eddyi_issuer_metadata metadata = {
		.issuer = ISSUER,
		.allow_http = allow_http,
		.text = text,
	};

	cr_expect_eq(eddyi_issuer_metadata_read(&metadata), want, "%.*s", EDDY_FMT(text));
	return metadata;
}

Test(issuer_metadata, names_keys)
{
	static const struct {
		const char *text, *uri;
		bool is_plain;
	} rows[] = {
		{ NAMED "\"https://i/keys\"}", "https://i/keys", false },
		{ " " NAMED "\"HTTPS:\\/\\/elsewhere\",\"more\":[{}]}\n", "HTTPS://elsewhere",
		  false },
		{ NAMED "\"http://[::1]:80/a?b\"}", "http://[::1]:80/a?b", true },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (int allow_http = rows[i].is_plain; allow_http < 2; allow_http++) {
			struct eddyi_issuer_metadata metadata =
				read_text(eddy_str_from(rows[i].text), allow_http, 0);

			cr_expect_str_eq(metadata.jwks_uri, rows[i].uri);
			cr_expect_null(metadata.fault);
			free(metadata.jwks_uri);
		}
}

/* A NUL would end what is compared, or asked, before its end. */
Test(issuer_metadata, has_faults)
{
	static const char other[] =
		"is the metadata of another issuer; configure the one that tokens have in iss:";
	static const char uri[] = "has a jwks_uri that can't be used:";
	static const char no_json[] = "is not a JSON metadata document";
	static const struct {
		const char *text, *fault, *shown;
	} rows[] = {
		{ "", no_json, "" },
		{ "7", no_json, "" },
		{ "[" NAMED "\"https://i/\"}]", no_json, "" },
		{ NAMED "\"https://i/\"} {}", no_json, "" },
		{ NAMED "\"https://i/\",\"jwks_uri\":\"https://j/\"}", no_json, "" },
		{ NAMED "\"https://i/\\u0000\"}", no_json, "" },
		{ "{\"issuer\":\"" ISSUER "\\u0000\",\"jwks_uri\":\"https://i/\"}", no_json, "" },
		{ NAMED "[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]}", no_json, "" },
		{ "{\"jwks_uri\":\"https://i/\"}", other, "" },
		{ "{\"issuer\":[\"" ISSUER "\"],\"jwks_uri\":\"https://i/\"}", other, "" },
		{ "{\"issuer\":\"https://I\",\"jwks_uri\":\"https://i/\"}", other, "https://I" },
		{ "{\"issuer\":\"https://i/\",\"jwks_uri\":\"https://i/\"}", other, "https://i/" },
		{ NAMED "null}", "has no jwks_uri", "" },
		{ NAMED "[\"https://i/\"]}", "has no jwks_uri", "" },
		{ NAMED "\"\"}", uri, "" },
		{ NAMED "\"http://i/\"}", uri, "http://i/" },
		{ NAMED "\"//i/keys\"}", uri, "//i/keys" },
		{ NAMED "\"https://u:p@i/\"}", uri, "https://u:p@i/" },
		{ NAMED "\"https://i/\\r\\nhost: j\"}", uri, "https://i/\r\nhost: j" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct eddyi_issuer_metadata metadata =
			read_text(eddy_str_from(rows[i].text), false, -EBADMSG);

		cr_expect_null(metadata.jwks_uri);
		cr_expect_str_eq(metadata.fault, rows[i].fault, "%s", rows[i].text);
		cr_expect_str_eq(metadata.shown, rows[i].shown);
		cr_expect_eq(metadata.reason != NULL, rows[i].fault == uri);
	}
}

/* However much it says, little of it is shown. */
Test(issuer_metadata, is_not_shown_for_ever)
{
	char text[1024];
	int len = snprintf(text, sizeof(text), "{\"issuer\":\"%0500d\"}", 7);
	struct eddyi_issuer_metadata metadata =
		read_text(eddy_str(text, (size_t)len), false, -EBADMSG);

	cr_expect_eq(strlen(metadata.shown), EDDYI_ISSUER_SHOWN_MAX);
}
