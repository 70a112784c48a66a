/* Tests of auth/src/issuer/issuer.h: issuers that speak TLS. */
#include "issuer_certs.h"
#include "issuer_rig.h"
#include "guard/oauth.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* An app that is an issuer, and what one that asks it is told. */
static struct secure {
	const char *jwks_uri; /* NULL: its own keys */
	const char *redirect; /* from its metadata; NULL: none */
	struct eddy_oauth_options options;
	char origin[64];
} secure;

/* A file of this text. Return: its path. */
static const char *file_of(const char *text, char path[64])
{
	int fd = memfd_create("pem", MFD_CLOEXEC);

	cr_assert(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return path;
}

static int metadata(struct eddy_req *req, struct eddy_res *res)
{
	char text[512];

	(void)req;
	if (secure.redirect)
		return eddy_res_redirect(res, 302, eddy_str_from(secure.redirect));
	snprintf(text, sizeof(text), "{\"issuer\":\"%s\",\"jwks_uri\":\"%s%s\"}", secure.origin,
		 secure.jwks_uri ? secure.jwks_uri : secure.origin, secure.jwks_uri ? "" : "/keys");
	return eddy_res_ok(res, "%s", text);
}

static int keys(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_ok(res, "%s", KEYS(KEY_A));
}

/* ---- the two apps: both within a scenario ---- */

static int run_issuer(void *arg)
{
	return eddy_app_run(arg);
}

static struct eddy_app *make_issuer(void)
{
	struct eddy_app *app = eddy_app_new();
	char path[64];

	eddy_app_bind(app, "127.0.0.1:0");
	eddy_app_with_server(app, &(struct eddy_server_options){ .no_signals = true });
	eddy_app_use_tls(app, &(struct eddy_tls_options){ .cert = file_of(issuer_pem, path) });
	eddy_app_map_get(app, OAUTH, metadata);
	eddy_app_map_get(app, "/keys", keys);
	return app;
}

static int handle(struct eddy_req *req, struct eddy_res *res)
{
	rig_keys(eddy_req_context(req));
	return eddy_res_ok(res, "done");
}

static int ask_issuer(struct rig *rig)
{
	struct eddy_app *app = eddy_app_new();
	struct eddy_oauth_options options = secure.options;
	struct eddy_response *response = NULL;
	int r;

	options.issuer = secure.origin;
	options.timeout_ns = 30 * EDDY_SECOND;
	eddy_app_set_context(app, rig);
	eddy_app_with_oauth(app, &options);
	eddy_app_use_oauth(app);
	eddy_app_map_get(app, "/", handle);
	rig->issuer = eddyi_oauth_of(app)->issuer;
	r = eddy_app_test(app, "GET /", NULL, &response);
	eddy_response_free(response);
	eddy_app_free(app);
	return r;
}

static int ask_securely(struct rig *rig)
{
	struct eddy_app *issuer = make_issuer();
	struct eddy_scope scope;
	int r;

	eddy_scope_begin(&scope, NULL);
	r = eddy_scope_spawn(&scope, "issuer", run_issuer, issuer);
	/* It serves once it has a port. */
	while (r == 0 && !eddy_app_port(issuer))
		r = eddy_sleep(EDDY_MS);
	snprintf(secure.origin, sizeof(secure.origin), "https://127.0.0.1:%u",
		 eddy_app_port(issuer));
	if (r == 0)
		r = ask_issuer(rig);
	eddy_scope_end(&scope);
	eddy_app_free(issuer);
	return r;
}

static void expect_secure(const struct secure *told, const char *noted, const char *why)
{
	struct rig rig = { .answers = GOOD(KEY_B) };

	secure = *told;
	EXPECT_NOTED(&rig, ask_securely, noted);
	cr_expect(strstr(rig.said, why) != NULL, "%s", rig.said);
}

Test(issuer_tls, trusts_a_file_of_certificates)
{
	char path[64], other[64];

	file_of(authority_pem, path);
	expect_secure(&(struct secure){ .options.ca_file = path }, "v1[a]#0 ",
		      "1 keys of https://");
	expect_secure(&(struct secure){ .jwks_uri = NULL }, "EAGAIN#0 ",
		      "(ca_file can name the certificate of a CA to trust)");
	file_of("garbage", other);
	expect_secure(&(struct secure){ .options.ca_file = other }, "EAGAIN#0 ", "(check ca_file)");
}

/* Nothing leads from https to http, also where that is allowed at first. */
Test(issuer_tls, stays_secure)
{
	static const char keys_uri[] = "http://127.0.0.1:1/keys";
	char path[64];

	file_of(authority_pem, path);
	expect_secure(&(struct secure){ .options.ca_file = path, .jwks_uri = keys_uri },
		      "EAGAIN#0 ", "can't be used: http://127.0.0.1:1/keys");
	expect_secure(&(struct secure){ .options.ca_file = path, .redirect = keys_uri },
		      "EAGAIN#0 ", "only https is allowed");
	expect_secure(&(struct secure){ .options = { .ca_file = path, .allow_http = true },
					.redirect = keys_uri },
		      "EAGAIN#0 ", "leads from https to http");
	expect_secure(&(struct secure){ .options.ca_file = path, .redirect = "/keys" }, "EAGAIN#0 ",
		      "is the metadata of another issuer");
}
