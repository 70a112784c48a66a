/* Tests of eddy/oauth_metadata.h: where documents are served, and what they say. */
#include "asked.h"

#include "issuer/oauth_metadata.h"

#include <eddy/auth.h>
#include <eddy/layer.h>
#include <errno.h>
#include <stdlib.h>

#define RESOURCE "/.well-known/oauth-protected-resource"
#define SERVER "/.well-known/oauth-authorization-server"
#define OPENID "/.well-known/openid-configuration"

#define SMALL_RESOURCE "{\"resource\":\"https://a.example\"}"
#define SMALL_SERVER(issuer)                                                                       \
	"{\"issuer\":\"" issuer "\",\"response_types_supported\":[\"code\"],"                      \
	"\"grant_types_supported\":[\"authorization_code\"]}"

/* What the bearer methods of nothing are. */
static const char *const nothing[] = { NULL };

Test(oauth_metadata, says_what_the_resource_is)
{
	const struct eddy_oauth_resource resource = {
		.resource = "https://a.example",
		.authorization_servers = EDDY_LIST("https://i.example", "http://localhost:1/x"),
		.scopes = EDDY_LIST("read", "write:all"),
		.bearer_methods = EDDY_LIST("header", "body"),
		.name = "Ä shop",
		.documentation = "https://a.example/docs?x#top",
		.more =
			(const struct eddy_oauth_field[]){
				{ "x_list", "[\"public\", 1.5, null]" },
				{ "tls_client_certificate_bound_access_tokens", " true " },
				{ 0 },
			},
	};
	struct eddy_app *app = eddy_app_new();

	eddy_app_with_oauth_resource_metadata(app, &resource);
	cr_expect(strncmp(asked(app, "GET " RESOURCE, NULL), "404 ", 4) == 0);
	eddy_app_use_oauth_resource_metadata(app);
	eddy_app_use_oauth_resource_metadata(app);
	cr_expect_str_eq(
		asked(app, "GET " RESOURCE, NULL),
		"200 {\"resource\":\"https://a.example\","
		"\"authorization_servers\":[\"https://i.example\",\"http://localhost:1/x\"],"
		"\"scopes_supported\":[\"read\",\"write:all\"],"
		"\"bearer_methods_supported\":[\"header\",\"body\"],"
		"\"resource_name\":\"Ä shop\","
		"\"resource_documentation\":\"https://a.example/docs?x#top\","
		"\"x_list\":[\"public\",1.5,null],"
		"\"tls_client_certificate_bound_access_tokens\":true}");
	eddy_app_free(app);
}

Test(oauth_metadata, says_what_the_server_is)
{
	const struct eddy_oauth_server server = {
		.issuer = "https://i.example/",
		.authorization_endpoint = "https://i.example/authorize?x=1",
		.token_endpoint = "https://i.example/token",
		.jwks_uri = "https://keys.example/",
		.scopes = EDDY_LIST("openid"),
		.response_types = EDDY_LIST("code", "code id_token"),
		.grant_types = EDDY_LIST("client_credentials"),
		.more =
			(const struct eddy_oauth_field[]){
				{ "subject_types_supported", "[\"public\"]" },
				{ 0 },
			},
	};
	static const char want[] = "200 {\"issuer\":\"https://i.example/\","
				   "\"authorization_endpoint\":\"https://i.example/authorize?x=1\","
				   "\"token_endpoint\":\"https://i.example/token\","
				   "\"jwks_uri\":\"https://keys.example/\","
				   "\"scopes_supported\":[\"openid\"],"
				   "\"response_types_supported\":[\"code\",\"code id_token\"],"
				   "\"grant_types_supported\":[\"client_credentials\"],"
				   "\"subject_types_supported\":[\"public\"]}";
	struct eddy_app *app = eddy_app_new();

	eddy_app_use_oauth_server_metadata(app);
	eddy_app_with_oauth_server_metadata(app, &server);
	cr_expect_str_eq(asked(app, "GET " SERVER, NULL), want);
	cr_expect(strncmp(asked(app, "GET " OPENID, NULL), "404 ", 4) == 0);
	cr_expect(strncmp(asked(app, "GET " RESOURCE, NULL), "404 ", 4) == 0);
	eddy_app_use_oidc_metadata(app);
	cr_expect_str_eq(asked(app, "GET " OPENID, NULL), want);
	cr_expect_str_eq(asked(app, "GET " SERVER, NULL), want);
	eddy_app_free(app);
}

/* RFC 9728 section 3.2, RFC 8414 section 3.2: what has no values is left out; but section 2 of the former. */
Test(oauth_metadata, leaves_out_what_is_empty)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_with_oauth_resource_metadata(
		app, &(struct eddy_oauth_resource){ .resource = "https://a.example",
						    .authorization_servers = nothing,
						    .scopes = nothing,
						    .bearer_methods = nothing });
	eddy_app_use_oauth_resource_metadata(app);
	eddy_app_with_oauth_server_metadata(
		app, &(struct eddy_oauth_server){ .issuer = "https://i.example",
						  .response_types = nothing });
	eddy_app_use_oauth_server_metadata(app);
	cr_expect_str_eq(
		asked(app, "GET " RESOURCE, NULL),
		"200 {\"resource\":\"https://a.example\",\"bearer_methods_supported\":[]}");
	cr_expect_str_eq(asked(app, "GET " SERVER, NULL),
			 "200 {\"issuer\":\"https://i.example\","
			 "\"grant_types_supported\":[\"authorization_code\"]}");
	eddy_app_free(app);
}

static struct eddy_app *make_small(const char *resource, const char *issuer)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_set_oauth_resource_metadata(app, resource);
	eddy_app_use_oauth_resource_metadata(app);
	eddy_app_set_oauth_server_metadata(app, issuer);
	eddy_app_use_oauth_server_metadata(app);
	eddy_app_use_oidc_metadata(app);
	return app;
}

Test(oauth_metadata, is_json_to_be_kept)
{
	struct eddy_app *app = make_small("https://a.example", "https://i.example");

	cr_expect_str_eq(asked(app, "GET " RESOURCE, "content-type"),
			 "200 application/json|" SMALL_RESOURCE);
	cr_expect_str_eq(asked(app, "GET " RESOURCE "?x=y", "cache-control"),
			 "200 public, max-age=3600|" SMALL_RESOURCE);
	cr_expect_str_eq(asked(app, "HEAD " RESOURCE, "content-length"), "200 32|");
	cr_expect_str_eq(asked(app, "HEAD " OPENID, "content-type"), "200 application/json|");
	cr_expect(strncmp(asked(app, "POST " SERVER, "allow"), "405 GET, HEAD, OPTIONS|", 23) == 0);
	cr_expect_str_eq(asked(app, "GET " SERVER, NULL), "200 " SMALL_SERVER("https://i.example"));
	cr_expect_str_eq(asked(app, "GET " OPENID, NULL), "200 " SMALL_SERVER("https://i.example"));
	eddy_app_free(app);
}

Test(oauth_metadata, is_of_what_was_said_then)
{
	static char name[] = "https://a.example", scope[] = "read", extra[] = "x", json[] = "1";
	static const char *scopes[] = { scope, NULL };
	static struct eddy_oauth_field more[] = { { extra, json }, { 0 } };
	struct eddy_app *app = eddy_app_new();

	eddy_app_with_oauth_resource_metadata(app, &(struct eddy_oauth_resource){ .resource = name,
										  .scopes = scopes,
										  .more = more });
	name[8] = scope[0] = extra[0] = json[0] = 'y';
	scopes[0] = more[0].name = NULL;
	eddy_app_use_oauth_resource_metadata(app);
	cr_expect_str_eq(asked(app, "GET " RESOURCE, NULL),
			 "200 {\"resource\":\"https://a.example\","
			 "\"scopes_supported\":[\"read\"],\"x\":1}");
	eddy_app_free(app);
}

static int status(struct eddy_app *app, const char *path)
{
	char line[256];

	snprintf(line, sizeof(line), "GET %s", path);
	return atoi(asked(app, line, NULL));
}

Test(oauth_metadata, is_where_the_identifiers_path_has_it)
{
	static const struct {
		const char *resource, *issuer;
		const char *there[6], *not_there[6];
	} rows[] = {
		{ "https://a/",
		  "https://i/",
		  { RESOURCE, SERVER, OPENID, RESOURCE "/" },
		  { RESOURCE "/x", SERVER "/x", "/x" OPENID } },
		{ "https://a/r/s",
		  "https://i/t/u",
		  { RESOURCE "/r/s", SERVER "/t/u", "/t/u" OPENID, RESOURCE, SERVER, OPENID },
		  { RESOURCE "/r", SERVER "/t", "/t" OPENID, OPENID "/t/u", RESOURCE "/r/s/t",
		    SERVER "/r/s" } },
		{ "https://a/r/?q=/v",
		  "https://i/t/",
		  { RESOURCE "/r/", RESOURCE "/r/?q=/v", SERVER "/t", SERVER "/t/", "/t" OPENID },
		  { "/t/" OPENID } },
		{ "https://a/%7Bx%7D/b",
		  "https://i/%7bx...%7d",
		  { RESOURCE "/%7Bx%7D/b", RESOURCE "/%7bx%7d/b", SERVER "/%7Bx...%7D",
		    "/%7Bx...%7D" OPENID },
		  { RESOURCE "/y/b", SERVER "/y", "/y" OPENID, SERVER "/%7Bx...%7D/y" } },
		{ "https://a//", "https://i//", { RESOURCE, SERVER, OPENID, "/" OPENID }, { 0 } },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct eddy_app *app = make_small(rows[i].resource, rows[i].issuer);

		for (size_t j = 0; j < 6 && rows[i].there[j]; j++)
			cr_expect_eq(status(app, rows[i].there[j]), 200, "%zu: %s: %s", i,
				     rows[i].there[j], asked(app, "GET /", NULL));
		for (size_t j = 0; j < 6 && rows[i].not_there[j]; j++)
			cr_expect_eq(status(app, rows[i].not_there[j]), 404, "%zu: %s", i,
				     rows[i].not_there[j]);
		eddy_app_free(app);
	}
}

/* Of a document that is described, and not served, no place leads anywhere. */
Test(oauth_metadata, is_nowhere_without_being_used)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_set_oauth_resource_metadata(app, "https://a/r");
	eddy_app_set_oauth_server_metadata(app, "https://i/t");
	eddy_app_use_oidc_metadata(app);
	cr_expect_eq(status(app, RESOURCE), 404);
	cr_expect_eq(status(app, RESOURCE "/r"), 404);
	cr_expect_eq(status(app, SERVER "/t"), 404);
	cr_expect_eq(status(app, "/t" OPENID), 200);
	eddy_app_free(app);
}

Test(oauth_metadata, has_one_document_at_each_place)
{
	struct eddy_app *app = make_small("https://a/r", "https://i/t");

	cr_expect_str_eq(asked(app, "GET " RESOURCE "/r", "cache-control"),
			 "200 public, max-age=3600|{\"resource\":\"https://a/r\"}");
	cr_expect_str_eq(asked(app, "GET " SERVER "/t", NULL), "200 " SMALL_SERVER("https://i/t"));
	cr_expect_str_eq(asked(app, "GET /t" OPENID, NULL), "200 " SMALL_SERVER("https://i/t"));
	eddy_app_free(app);
}

/* ---- for guards ---- */

/* Says what a guard would be told. */
static int look(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_app *app = eddy_next_data(next);

	eddy_res_set_z(res, "x-metadata", eddyi_oauth_metadata_is_asked(app, req) ? "yes" : "no");
	return eddy_next(next, req, res);
}

static int hello(struct eddy_req *req, struct eddy_res *res)
{
	return eddy_res_bytes(res, "text/plain",
			      eddy_str_from(eddy_req_route_data(req) ? "data" : "hello"));
}

Test(oauth_metadata, is_told_from_other_answers)
{
	struct eddy_app *app = make_small("https://a/r", "https://i/t"), *other = eddy_app_new();
	int data;

	eddy_app_add_filter(app, look, app);
	eddy_app_map_get(app, "/hello", hello);
	eddy_route_with(eddy_app_map_get(app, "/data", hello),
			&(struct eddy_route_options){ .data = &data });
	cr_expect_str_eq(asked(app, "GET /hello", "x-metadata"), "200 no|hello");
	cr_expect_str_eq(asked(app, "GET /data", "x-metadata"), "200 no|data");
	cr_expect(strncmp(asked(app, "GET /none", "x-metadata"), "404 no|", 7) == 0);
	cr_expect(strncmp(asked(app, "GET " RESOURCE "/r", "x-metadata"), "200 yes|", 8) == 0);
	cr_expect(strncmp(asked(app, "HEAD " SERVER, "x-metadata"), "200 yes|", 8) == 0);
	cr_expect(strncmp(asked(app, "GET /t" OPENID, "x-metadata"), "200 yes|", 8) == 0);
	eddy_app_free(app);
	eddy_app_add_filter(other, look, other);
	cr_expect(strncmp(asked(other, "GET /none", "x-metadata"), "404 no|", 7) == 0);
	eddy_app_free(other);
}

static const char *url_of(const char *resource, bool is_served)
{
	static char url[256];
	struct eddy_app *app = eddy_app_new();

	if (resource)
		eddy_app_set_oauth_resource_metadata(app, resource);
	if (is_served)
		eddy_app_use_oauth_resource_metadata(app);
	cr_expect_null(eddyi_oauth_metadata_resource_url(app));
	asked(app, "GET /", NULL);
	snprintf(url, sizeof(url), "%s",
		 eddyi_oauth_metadata_resource_url(app) ? eddyi_oauth_metadata_resource_url(app) :
							  "none");
	eddy_app_free(app);
	return url;
}

Test(oauth_metadata, has_a_url_for_challenges)
{
	cr_expect_str_eq(url_of("https://a", false), "https://a" RESOURCE);
	cr_expect_str_eq(url_of("https://a", true), "https://a" RESOURCE);
	cr_expect_str_eq(url_of("http://a:80/r/?q", false), "http://a:80" RESOURCE "/r/?q");
	cr_expect_str_eq(url_of(NULL, false), "none");
	cr_expect_str_eq(url_of("nonsense", true), "none");
	cr_expect_str_eq(url_of(NULL, true), "none");
}

/* ---- when memory is out ---- */

static unsigned allocations, fails_at;

static void *allocate(size_t size)
{
	return ++allocations == fails_at ? NULL : malloc(size);
}

Test(oauth_metadata, can_be_tried_again_without_memory)
{
	unsigned failures = 0;

	json_set_alloc_funcs(allocate, free);
	for (bool done = false; !done; failures += !done) {
		struct eddy_app *app = make_small("https://a.example", "https://i.example");
		const char *answer;

		eddy_app_with_oauth_resource_metadata(
			app, &(struct eddy_oauth_resource){ .resource = "https://a.example",
							    .scopes = EDDY_LIST("read") });
		allocations = 0;
		fails_at = failures + 1;
		answer = asked(app, "GET " OPENID, NULL);
		done = allocations < fails_at;
		fails_at = 0;
		if (!done)
			cr_expect_eq(atoi(answer), -ENOMEM, "%u: %s", failures, answer);
		cr_expect_str_eq(asked(app, "GET " OPENID, NULL),
				 "200 " SMALL_SERVER("https://i.example"));
		cr_expect_str_eq(asked(app, "GET " RESOURCE, NULL),
				 "200 {\"resource\":\"https://a.example\","
				 "\"scopes_supported\":[\"read\"]}");
		eddy_app_free(app);
	}
	json_set_alloc_funcs(malloc, free);
	cr_expect_gt(failures, 10);
}
