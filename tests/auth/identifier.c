/* Tests of auth/src/issuer/identifier.h. */
#include "issuer/identifier.h"

#include <criterion/criterion.h>
#include <stdlib.h>

Test(identifier, is_a_clean_url)
{
	static const struct {
		const char *text;
		bool is_resource, is_issuer;
	} rows[] = {
		{ "https://a.example", true, true },
		{ "https://a.example/", true, true },
		{ "HTTPS://a.example/x", true, true },
		{ "http://localhost:7878/x/y/", true, true },
		{ "http://127.0.0.1:1", true, true },
		{ "https://[::1]:443/a%20b", true, true },
		{ "https://a.example/%7Bx%7D", true, true },
		{ "https://a.example?x=1", true, false },
		{ "https://a.example/p?x=/y", true, false },
		{ "https://a.example?", true, false },
		{ "https://a.example#", false, false },
		{ "https://a.example/p#x", false, false },
		{ "https://a.example?x#y", false, false },
		{ "https://u@a.example", false, false },
		{ "https://u:p@a.example/", false, false },
		{ "https://a.example/{x}", false, false },
		{ "https://a.example/a b", false, false },
		{ "https://a.example/%zz", false, false },
		{ "https://a.example/\n", false, false },
		{ "https://a.example:0", false, false },
		{ "https://a.example:99999", false, false },
		{ "https://", false, false },
		{ "https:a.example", false, false },
		{ "https:/a.example", false, false },
		{ "httpsx://a.example", false, false },
		{ "//a.example", false, false },
		{ "/path", false, false },
		{ "ftp://a.example", false, false },
		{ "urn:example:a", false, false },
		{ "a.example", false, false },
		{ " https://a.example", false, false },
		{ "h", false, false },
		{ "", false, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cr_expect_eq(eddyi_identifier_is_resource(rows[i].text), rows[i].is_resource, "%s",
			     rows[i].text);
		cr_expect_eq(eddyi_identifier_is_issuer(rows[i].text), rows[i].is_issuer, "%s",
			     rows[i].text);
	}
}

/* RFC 9728 section 3.1, RFC 8414 section 3.1, OpenID Connect Discovery 1.0 section 4.1. */
Test(identifier, says_where_its_document_is)
{
#define RESOURCE "/.well-known/oauth-protected-resource"
#define SERVER "/.well-known/oauth-authorization-server"
#define OPENID "/.well-known/openid-configuration"
	static const struct {
		enum eddyi_document document;
		const char *identifier, *url;
	} rows[] = {
		{ EDDYI_DOCUMENT_RESOURCE, "https://a", "https://a" RESOURCE },
		{ EDDYI_DOCUMENT_RESOURCE, "https://a/", "https://a" RESOURCE },
		{ EDDYI_DOCUMENT_RESOURCE, "https://a:1/r1", "https://a:1" RESOURCE "/r1" },
		{ EDDYI_DOCUMENT_RESOURCE, "https://a/r/s/", "https://a" RESOURCE "/r/s/" },
		{ EDDYI_DOCUMENT_RESOURCE, "https://a?k=v", "https://a" RESOURCE "?k=v" },
		{ EDDYI_DOCUMENT_RESOURCE, "https://a/?k=/v/", "https://a" RESOURCE "?k=/v/" },
		{ EDDYI_DOCUMENT_RESOURCE, "https://a/r?k=/v", "https://a" RESOURCE "/r?k=/v" },
		{ EDDYI_DOCUMENT_RESOURCE, "https://a//", "https://a" RESOURCE "//" },
		{ EDDYI_DOCUMENT_SERVER, "http://[::1]:80", "http://[::1]:80" SERVER },
		{ EDDYI_DOCUMENT_SERVER, "https://a/", "https://a" SERVER },
		{ EDDYI_DOCUMENT_SERVER, "https://a/issuer1", "https://a" SERVER "/issuer1" },
		{ EDDYI_DOCUMENT_SERVER, "https://a/i/j/", "https://a" SERVER "/i/j" },
		{ EDDYI_DOCUMENT_OPENID, "https://a", "https://a" OPENID },
		{ EDDYI_DOCUMENT_OPENID, "https://a/", "https://a" OPENID },
		{ EDDYI_DOCUMENT_OPENID, "https://a/issuer1", "https://a/issuer1" OPENID },
		{ EDDYI_DOCUMENT_OPENID, "https://a/i/j/", "https://a/i/j" OPENID },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *url = eddyi_document_url(rows[i].document, rows[i].identifier);

		cr_expect_str_eq(url, rows[i].url);
		free(url);
	}
}

Test(identifier, has_a_path)
{
	cr_expect_str_eq(eddyi_identifier_path("https://a"), "");
	cr_expect_str_eq(eddyi_identifier_path("https://a?x"), "?x");
	cr_expect_str_eq(eddyi_identifier_path("https://a:1/b://c?d"), "/b://c?d");
}
