/* Tests of auth/src/issuer/oauth_metadata.c: what documents are made of, by the program and by its file. */
#include "asked.h"
#include "configured.h"
#include "ran.h"

#include "../http/said.h"
#include "issuer/oauth_metadata.h"

#include <eddy/auth.h>
#include <errno.h>

#define RESOURCE "GET /.well-known/oauth-protected-resource"
#define SERVER "GET /.well-known/oauth-authorization-server"

/* ---- mistakes of the program ---- */

static void expect_mistake(struct eddy_app *app, const char *mistake)
{
	char want[512];

	snprintf(want, sizeof(want), "%s\n", mistake);
	said_begin();
	cr_expect_str_eq(asked(app, "GET /", NULL), "-22", "%s", mistake);
	cr_expect_str_eq(said_end(), want);
	eddy_app_free(app);
}

Test(description, of_a_resource_has_mistakes)
{
	static const char of_url[] =
		"expected an absolute http or https URL without userinfo and fragment, not";
	const struct {
		struct eddy_oauth_resource resource;
		const char *member, *expected, *value;
	} rows[] = {
		{ { .resource = "api" }, "resource", of_url, "api" },
		{ { .resource = "" }, "resource", of_url, "" },
		{ { .resource = "https://a/#x" }, "resource", of_url, "https://a/#x" },
		{ { .resource = "https://u@a/" }, "resource", of_url, "https://u@a/" },
		{ { .resource = "ftp://a" }, "resource", of_url, "ftp://a" },
		{ { .resource = "https://a/{x}" }, "resource", of_url, "https://a/{x}" },
		{ { .authorization_servers = EDDY_LIST("https://i", "https://j?x") },
		  "authorization_servers",
		  "expected an array of absolute http or https URLs without userinfo, query and "
		  "fragment, not",
		  "https://j?x" },
		{ { .scopes = EDDY_LIST("a", "b c") },
		  "scopes_supported",
		  "expected an array of scopes, without blanks, not",
		  "b c" },
		{ { .scopes = EDDY_LIST("") },
		  "scopes_supported",
		  "expected an array of scopes, without blanks, not",
		  "" },
		{ { .bearer_methods = EDDY_LIST("Header") },
		  "bearer_methods_supported",
		  "expected an array of \"header\", \"body\", \"query\", not",
		  "Header" },
		{ { .name = "\xff" },
		  "resource_name",
		  "expected a string that is not empty, not",
		  "\xff" },
		{ { .documentation = "/docs" },
		  "resource_documentation",
		  "expected an absolute http or https URL without userinfo, not",
		  "/docs" },
		{ { .more = (const struct eddy_oauth_field[]){ { "x", "[1" }, { 0 } } },
		  "x",
		  "expected JSON, not",
		  "[1" },
		{ { .more = (const struct eddy_oauth_field[]){ { "x", NULL }, { 0 } } },
		  "x",
		  "expected JSON, not",
		  "" },
		{ { .more = (const struct eddy_oauth_field[]){ { "resource_name", "1" }, { 0 } } },
		  "more",
		  "expected a name that is not used by another member, not",
		  "resource_name" },
		{ { .more = (const struct eddy_oauth_field[]){ { "x", "1" }, { "x", "2" }, { 0 } } },
		  "more",
		  "expected a name that is not used by another member, not",
		  "x" },
		{ { .more = (const struct eddy_oauth_field[]){ { "", "1" }, { 0 } } },
		  "more",
		  "expected a name that is not used by another member, not",
		  "" },
	};
	char text[512];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct eddy_oauth_resource resource = rows[i].resource;
		struct eddy_app *app = eddy_app_new();

		if (!resource.resource)
			resource.resource = "https://a";
		eddy_app_with_oauth_resource_metadata(app, &resource);
		/* Told once, however often the app is told something. */
		eddy_app_use_oauth_resource_metadata(app);
		snprintf(text, sizeof(text), "OAuth resource metadata: %s: %s \"%s\"",
			 rows[i].member, rows[i].expected, rows[i].value);
		expect_mistake(app, text);
	}
}

Test(description, of_a_server_has_mistakes)
{
	static const char of_url[] =
		"expected an absolute http or https URL without userinfo and fragment, not";
	const struct {
		struct eddy_oauth_server server;
		const char *member, *expected, *value;
	} rows[] = {
		{ { .issuer = "https://i?x" },
		  "issuer",
		  "expected an absolute http or https URL without userinfo, query and fragment, not",
		  "https://i?x" },
		{ { .authorization_endpoint = "/a" }, "authorization_endpoint", of_url, "/a" },
		{ { .token_endpoint = "https://i/t#x" }, "token_endpoint", of_url, "https://i/t#x" },
		{ { .jwks_uri = "i/k" }, "jwks_uri", of_url, "i/k" },
		{ { .scopes = EDDY_LIST("a\"b") },
		  "scopes_supported",
		  "expected an array of scopes, without blanks, not",
		  "a\"b" },
		{ { .response_types = EDDY_LIST("") },
		  "response_types_supported",
		  "expected an array of strings that are not empty, not",
		  "" },
		{ { .grant_types = EDDY_LIST("a\xc0") },
		  "grant_types_supported",
		  "expected an array of strings that are not empty, not",
		  "a\xc0" },
		{ { .more = (const struct eddy_oauth_field[]){ { "issuer", "1" }, { 0 } } },
		  "more",
		  "expected a name that is not used by another member, not",
		  "issuer" },
	};
	char text[512];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct eddy_oauth_server server = rows[i].server;
		struct eddy_app *app = eddy_app_new();

		if (!server.issuer)
			server.issuer = "https://i";
		eddy_app_with_oauth_server_metadata(app, &server);
		snprintf(text, sizeof(text), "OAuth server metadata: %s: %s \"%s\"", rows[i].member,
			 rows[i].expected, rows[i].value);
		expect_mistake(app, text);
	}
}

Test(description, needs_an_identifier)
{
	static const char of_resource[] =
		"OAuth resource metadata: resource is missing: call "
		"eddy_app_with_oauth_resource_metadata(), or add [oauth.resource] to the "
		"configuration file";
	static const char of_server[] = "OAuth server metadata: issuer is missing: call "
					"eddy_app_with_oauth_server_metadata(), or add "
					"[oauth.server] to the configuration file";
	struct eddy_app *app = eddy_app_new();

	eddy_app_use_oauth_resource_metadata(app);
	expect_mistake(app, of_resource);
	app = eddy_app_new();
	eddy_app_with_oauth_resource_metadata(app, NULL);
	expect_mistake(app, of_resource);
	app = eddy_app_new();
	eddy_app_set_oauth_server_metadata(app, NULL);
	expect_mistake(app, of_server);
	app = eddy_app_new();
	eddy_app_use_oidc_metadata(app);
	eddy_app_use_oauth_server_metadata(app);
	expect_mistake(app, of_server);
	/* To make a section known says nothing. */
	app = eddy_app_new();
	eddy_auth_config(app);
	cr_expect(strncmp(asked(app, "GET /", NULL), "404 ", 4) == 0);
	eddy_app_free(app);
}

/* ---- the file ---- */

Test(description, is_changed_by_the_file_one_by_one)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_with_oauth_resource_metadata(
		app, &(struct eddy_oauth_resource){
			     .resource = "not even a URL",
			     .scopes = EDDY_LIST("read"),
			     .bearer_methods = EDDY_LIST("header"),
			     .name = "Shop",
			     .more = (const struct eddy_oauth_field[]){ { "x", "1" },
									{ "y", "2" },
									{ 0 } },
		     });
	eddy_app_use_oauth_resource_metadata(app);
	configure(app, "[oauth.resource]\n"
		       "resource = 'https://a.example/r'\n"
		       "scopes_supported = ['write']\n"
		       "bearer_methods_supported = []\n"
		       "y = 'two'\n");
	cr_expect_str_eq(asked(app, RESOURCE "/r", NULL),
			 "200 {\"resource\":\"https://a.example/r\","
			 "\"scopes_supported\":[\"write\"],\"bearer_methods_supported\":[],"
			 "\"resource_name\":\"Shop\",\"x\":1,\"y\":\"two\"}");
	cr_expect_str_eq(eddyi_oauth_metadata_resource_url(app),
			 "https://a.example/.well-known/oauth-protected-resource/r");
	eddy_app_free(app);
}

Test(description, is_in_the_file_alone)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_use_oauth_resource_metadata(app);
	eddy_app_use_oauth_server_metadata(app);
	configure(app, "[oauth]\n"
		       "[oauth.resource]\n"
		       "resource = 'https://a.example'\n"
		       "authorization_servers = ['https://i.example']\n"
		       "scopes_supported = ['read']\n"
		       "bearer_methods_supported = ['header']\n"
		       "resource_name = 'Shop'\n"
		       "resource_documentation = 'https://a.example/docs'\n"
		       "[oauth.server]\n"
		       "issuer = 'https://i.example/t'\n"
		       "authorization_endpoint = 'https://i.example/authorize'\n"
		       "token_endpoint = 'https://i.example/token'\n"
		       "jwks_uri = 'https://i.example/jwks'\n"
		       "scopes_supported = ['read']\n"
		       "response_types_supported = ['none']\n"
		       "grant_types_supported = ['client_credentials']\n"
		       "flag = true\n"
		       "number = -7\n"
		       "real = 0.5\n"
		       "text = \"a\\u0000\\\"ä\"\n"
		       "day = 2001-02-03\n"
		       "list = [[1, 'x'], [], { a = false }]\n"
		       "[oauth.server.table.inner]\n"
		       "'a.b' = 1\n");
	cr_expect_str_eq(
		asked(app, RESOURCE, NULL),
		"200 {\"resource\":\"https://a.example\","
		"\"authorization_servers\":[\"https://i.example\"],"
		"\"scopes_supported\":[\"read\"],\"bearer_methods_supported\":[\"header\"],"
		"\"resource_name\":\"Shop\","
		"\"resource_documentation\":\"https://a.example/docs\"}");
	asked(app, SERVER "/t", NULL);
	cr_expect_str_eq(asked(app, SERVER "/t", NULL),
			 "200 {\"issuer\":\"https://i.example/t\","
			 "\"authorization_endpoint\":\"https://i.example/authorize\","
			 "\"token_endpoint\":\"https://i.example/token\","
			 "\"jwks_uri\":\"https://i.example/jwks\",\"scopes_supported\":[\"read\"],"
			 "\"response_types_supported\":[\"none\"],"
			 "\"grant_types_supported\":[\"client_credentials\"],"
			 "\"day\":\"2001-02-03\",\"flag\":true,"
			 "\"list\":[[1,\"x\"],[],{\"a\":false}],\"number\":-7,\"real\":0.5,"
			 "\"table\":{\"inner\":{\"a.b\":1}},\"text\":\"a\\u0000\\\"ä\"}");
	eddy_app_free(app);
}

/* What is described counts for challenges; what is served is for the program to say. */
Test(description, of_the_file_switches_nothing_on)
{
	struct eddy_app *app = eddy_app_new();

	eddy_auth_config(app);
	configure(app, "[oauth.resource]\nresource = 'https://a.example'\n"
		       "[oauth.server]\nissuer = 'https://i.example'\n");
	cr_expect(strncmp(asked(app, RESOURCE, NULL), "404 ", 4) == 0);
	cr_expect(strncmp(asked(app, SERVER, NULL), "404 ", 4) == 0);
	cr_expect_str_eq(eddyi_oauth_metadata_resource_url(app),
			 "https://a.example/.well-known/oauth-protected-resource");
	eddy_app_free(app);
}

Test(description, of_the_file_has_mistakes)
{
	static const struct {
		const char *text, *said;
	} rows[] = {
		{ "[oauth.resource]\nresource = 'https://a#x'\n",
		  ":2: [oauth.resource] resource: expected an absolute http or https URL without "
		  "userinfo and fragment, not the string \"https://a#x\"\n" },
		{ "[oauth.resource]\nresource = 1\n",
		  ":2: [oauth.resource] resource: expected an" },
		{ "[oauth.resource]\n\nscopes_supported = 'read'\n",
		  ":3: [oauth.resource] scopes_supported: expected an array of scopes, without "
		  "blanks, not the string \"read\"\n" },
		{ "[oauth.resource]\nscopes_supported = ['read',\n'a b']\n",
		  ":3: [oauth.resource] scopes_supported: expected an array of scopes, without "
		  "blanks, not the string \"a b\"\n" },
		{ "[oauth.resource]\nauthorization_servers = ['https://i/?x']\n",
		  ":2: [oauth.resource] authorization_servers: expected an array of absolute" },
		{ "[oauth.resource]\nbearer_methods_supported = ['x']\n",
		  ":2: [oauth.resource] bearer_methods_supported: expected an array of \"header\", "
		  "\"body\", \"query\", not the string \"x\"\n" },
		{ "[oauth.resource]\nresource_name = ''\n",
		  ":2: [oauth.resource] resource_name: expected a string that is not empty" },
		{ "[oauth.resource]\nresource_documentation = 'x'\n",
		  ":2: [oauth.resource] resource_documentation: expected an absolute" },
		{ "[oauth.resource]\nx = nan\n",
		  ":2: [oauth.resource] x: the program rejected this value\n" },
		{ "[oauth.server]\nissuer = 'https://i?x'\n",
		  ":2: [oauth.server] issuer: expected an absolute http or https URL without "
		  "userinfo, query and fragment, not the string \"https://i?x\"\n" },
		{ "[oauth.server]\njwks_uri = 'x'\n", ":2: [oauth.server] jwks_uri: expected an" },
		/* A section that says something has to say of what. */
		{ "[oauth.resource]\nx = 1\n", "OAuth resource metadata: resource is missing" },
		{ "[oauth.server]\n", "OAuth server metadata: issuer is missing" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct eddy_app *app = eddy_app_new();

		eddy_auth_config(app);
		configure(app, rows[i].text);
		said_begin();
		cr_expect_str_eq(asked(app, "GET /", NULL), "-22", "%s", rows[i].text);
		said_end();
		cr_expect(strstr(said, rows[i].said) != NULL, "%s: %s", rows[i].text, said);
		eddy_app_free(app);
	}
}

/* Of either document the section is known once it was spoken of. */
Test(description, makes_its_section_known)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_set_oauth_resource_metadata(app, "https://a.example");
	configure(app, "[oauth.resource]\nx = 1\n[oauth.server]\nissuer = 'https://i.example'\n");
	said_begin();
	cr_expect_str_eq(asked(app, "GET /", NULL), "-22");
	said_end();
	cr_expect(strstr(said, ":3: [oauth.server] requires the program to call "
			       "eddy_app_with_oauth_server_metadata() or eddy_auth_config()\n"),
		  "%s", said);
	eddy_app_free(app);
}

/* ---- one run after the other ---- */

/* Identifiers change, and so do the places that their paths have. What is said no more is gone. */
Test(description, is_of_the_file_of_the_run)
{
	static const char document[] = "/.well-known/oauth-protected-resource";
	static const char of_a[] = "/.well-known/oauth-protected-resource/a";
	static const char of_b[] = "/.well-known/oauth-protected-resource/b";
	struct eddy_app *app = eddy_app_new();
	struct ran run;

	ran_init(&run, app);
	eddy_app_use_oauth_resource_metadata(app);
	configure(app, "[oauth.resource]\nresource = 'https://r.example/a'\nx = 1\n");
	cr_expect_str_eq(ran(&run, of_a), "200 {\"resource\":\"https://r.example/a\",\"x\":1}");
	cr_expect_str_eq(eddyi_oauth_metadata_resource_url(app),
			 "https://r.example/.well-known/oauth-protected-resource/a");
	configure(app, "[oauth.resource]\nresource = 'https://r.example/b'\ny = 2\n");
	cr_expect_str_eq(ran(&run, of_b), "200 {\"resource\":\"https://r.example/b\",\"y\":2}");
	cr_expect_str_eq(ran(&run, document), "200 {\"resource\":\"https://r.example/b\",\"y\":2}");
	cr_expect(strncmp(ran(&run, of_a), "404 ", 4) == 0, "%s", run.answer);
	cr_expect_str_eq(eddyi_oauth_metadata_resource_url(app),
			 "https://r.example/.well-known/oauth-protected-resource/b");
	/* Once more, and as the router sees paths. */
	configure(app, "[oauth.resource]\nresource = 'https://r.example/a/'\n");
	cr_expect_str_eq(ran(&run, of_a), "200 {\"resource\":\"https://r.example/a/\"}");
	cr_expect(strncmp(ran(&run, of_b), "404 ", 4) == 0, "%s", run.answer);
	configure(app, "[oauth.resource]\nresource = 'https://r.example/c/'\n");
	cr_expect(strncmp(ran(&run, of_a), "404 ", 4) == 0, "%s", run.answer);
	configure(app, "[oauth.resource]\nresource = 'https://r.example/c'\n");
	cr_expect(strncmp(ran(&run, of_a), "404 ", 4) == 0, "%s", run.answer);
	configure(app, "[oauth.resource]\nresource = 'https://r.example'\n");
	cr_expect_str_eq(ran(&run, document), "200 {\"resource\":\"https://r.example\"}");
	cr_expect(strncmp(ran(&run, of_a), "404 ", 4) == 0, "%s", run.answer);
	eddy_app_free(app);
}
