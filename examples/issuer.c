/* issuer: a small OAuth 2.0 authorization server, to try protected routes. It issues tokens for
 * client credentials (RFC 6749 section 4.4), and publishes keys and metadata documents.
 *
 *     issuer --keys DIR --clients FILE [--bind ADDR] [--issuer URL] [--audience AUD]
 *            [--lifetime SECS] [--kid-by-name]
 *
 *     $ mkdir keys && openssl genpkey -algorithm ed25519 -out keys/1.pem
 *     $ (umask 077; echo shop a-secret-of-16-bytes read,write admin >clients)
 *     $ issuer --keys keys --clients clients &
 *     $ curl -u shop:a-secret-of-16-bytes -d grant_type=client_credentials localhost:7879/token
 *     {"access_token":"eyJhbGciOiJFZERTQSIs…","token_type":"Bearer","expires_in":600,"scope":"read write"}
 *
 * A line of the clients file has an id, a secret, scopes and roles; the last two are
 * comma-separated, or "-" for none. Id and secret are form-encoded (RFC 6749 section 2.3.1): for
 * curl -u write % as %25 and + as %2B.
 *
 * All keys are published, and the last by name signs ("2.pem" is before "10.pem"). Key rotation,
 * with a SIGHUP after each step: add the new key as "0.pem"; when all services have fetched it
 * (those on eddy do within 15 minutes) rename it to be the last; when the tokens of the old key
 * have expired, remove it. In an emergency add the new key as the last, or remove the old one: its
 * tokens are rejected as soon as services fetch the keys again.
 */
#include "issuer.h"

#include <eddy/layer.h>
#include <eddy/rate_limit.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define FORM_MAX ((uint64_t)(16 * EDDY_KIB))

/* GET /jwks */
static int jwks(struct eddy_req *req, struct eddy_res *res)
{
	const struct issuer *issuer = eddy_req_context(req);
	struct eddy_str set = eddy_str_from(issuer->files->keys.set);
	char *copy = eddy_req_alloc(req, set.len);

	if (!copy)
		return -ENOMEM;
	eddy_res_set_z(res, "cache-control", "no-cache");
	return eddy_res_bytes(res, "application/jwk-set+json",
			      eddy_str(memcpy(copy, set.ptr, set.len), set.len));
}

/* Without an authorization endpoint there is no response type. RFC 8414 requires some (section 2),
 * and forbids an empty list (section 3.2). Some clients use the OpenID path only (section 5). */
static void publish(struct eddy_app *app, const char *url)
{
	char token[1024], keys[1024];

	snprintf(token, sizeof(token), "%s/token", url);
	snprintf(keys, sizeof(keys), "%s/jwks", url);
	eddy_app_with_oauth_server_metadata(
		app, &(struct eddy_oauth_server){
			     .issuer = url,
			     .token_endpoint = token,
			     .jwks_uri = keys,
			     .response_types = EDDY_LIST(NULL),
			     .grant_types = EDDY_LIST("client_credentials"),
			     .more = (const struct eddy_oauth_field[]){
				     { "token_endpoint_auth_methods_supported",
				       "[\"client_secret_basic\", \"client_secret_post\"]" },
				     { 0 } } });
	eddy_app_use_oauth_server_metadata(app);
	eddy_app_use_oidc_metadata(app);
}

static int begin(struct eddy_app *app, void *data)
{
	struct issuer *issuer = data;

	(void)app;
	eddy_warn("issuer",
		  "%s is for trials and tests: it has no users and no consent, grants "
		  "client_credentials alone, speaks plain HTTP, and keeps no record of "
		  "what it grants",
		  issuer->settings.url);
	return issuer_load(issuer);
}

int main(int argc, char **argv)
{
	struct issuer issuer = { .settings = { .bind = "localhost:7879", .lifetime = 600 } };
	struct eddy_route *route;
	struct eddy_app *app;
	int r;

	eddy_log_text_subscribe();
	issuer_settings_parse(&issuer.settings, argc, argv);
	r = eddy_signals_open((int[]){ SIGHUP, 0 }, &issuer.hangups);
	if (r < 0) {
		eddy_error("issuer", "can't wait for SIGHUP: %s", strerror(-r));
		return 1;
	}
	app = eddy_app_new();
	eddy_app_bind(app, issuer.settings.bind);
	/* SIGHUP replaces the files without a lock. */
	eddy_app_with_server(app, &(struct eddy_server_options){ .workers_max = 1 });
	eddy_app_set_context(app, &issuer);
	publish(app, issuer.settings.url);
	eddy_app_map_get(app, "/jwks", jwks);
	route = eddy_app_map_post(app, "/token", issuer_token);
	eddy_route_with(route, &(struct eddy_route_options){ .body_max = FORM_MAX });
	/* Prevent brute-force guessing of secrets (RFC 6749 section 2.3.1). */
	eddy_app_use_rate_limit(route,
				&(struct eddy_rate_limit_options){ .count = 20, .burst = 100 });
	eddy_app_at_start(app, begin, &issuer);
	eddy_app_add_task(app, "hangups", issuer_watch, &issuer);
	r = eddy_app_run_blocking(app);
	eddy_signals_close(&issuer.hangups);
	issuer_files_unref(issuer.files);
	return r < 0 ? 1 : 0;
}
