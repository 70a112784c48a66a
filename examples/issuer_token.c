/* issuer: the token endpoint (RFC 6749 sections 3.2 and 4.4) and its errors (section 5.2). */
#include "issuer.h"

#include <eddy/peer.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define JTI_BYTES 16

/* A token request; everything in it lives as long as the request. */
struct asked {
	struct eddy_req *req;
	struct eddy_res *res;
	const struct issuer *issuer;
	const struct issuer_files *files;
	const struct issuer_client *client;
	struct eddy_str grant_type, scope, id, secret;
	char *granted; /* scopes, separated by blanks; NULL: none */
};

static int refuse(struct asked *asked, int status, const char *error, const char *description)
{
	eddy_res_status(asked->res, status);
	return eddy_res_json(asked->res, json_pack("{s:s, s:s}", "error", error,
						   "error_description", description));
}

static int refuse_client(struct asked *asked, const char *why)
{
	int r = eddy_res_set_z(asked->res, "www-authenticate", "Basic realm=\"issuer\"");

	return r < 0 ? r : refuse(asked, 401, "invalid_client", why);
}

/* ---- the request ---- */

/* Find a parameter; an empty one counts as missing. Return: whether it occurs at most once. */
static bool find(const struct eddy_pairs *form, const char *name, struct eddy_str *ret_value)
{
	size_t count = 0;

	*ret_value = EDDY_STR("");
	for (size_t i = 0; i < form->count; i++) {
		if (!eddy_str_eq_z(form->list[i].name, name))
			continue;
		*ret_value = form->list[i].value;
		count++;
	}
	return count <= 1;
}

/* Return: 0; 1 if the request was rejected; -errno. */
static int read_form(struct asked *asked)
{
	struct eddy_pairs form;
	int r = eddy_req_form_pairs(asked->req, &form);

	if (r == -EMEDIUMTYPE) {
		r = refuse(asked, 400, "invalid_request",
			   "the body must be application/x-www-form-urlencoded");
		return r < 0 ? r : 1;
	}
	if (r < 0)
		return r;
	if (find(&form, "grant_type", &asked->grant_type) && find(&form, "scope", &asked->scope) &&
	    find(&form, "client_id", &asked->id) && find(&form, "client_secret", &asked->secret))
		return 0;
	r = refuse(asked, 400, "invalid_request", "a parameter is repeated");
	return r < 0 ? r : 1;
}

/* Authenticate the client by Basic or by the form, not by both (section 2.3).
 * Return: 0; 1 if the request was rejected; -errno. */
static int authenticate(struct asked *asked)
{
	struct eddy_str id, secret;
	int r = issuer_basic(asked->req, &id, &secret);

	if (r == 0 && (asked->secret.len || (asked->id.len && !eddy_str_eq(asked->id, id)))) {
		r = refuse(asked, 400, "invalid_request",
			   "the client must authenticate once, by Basic or in the form");
		return r < 0 ? r : 1;
	}
	if (r == 0) {
		asked->id = id;
		asked->secret = secret;
	} else if (r == -EINVAL) {
		r = refuse_client(asked, "expected one Authorization field with Basic credentials");
		return r < 0 ? r : 1;
	} else if (r != -ENOENT) {
		return r;
	}
	r = issuer_clients_find(&asked->files->clients, asked->id, asked->secret, &asked->client);
	if (r == -EACCES) {
		r = refuse_client(asked, "the client id or secret is wrong");
		return r < 0 ? r : 1;
	}
	return r;
}

/* ---- scopes ---- */

static bool has(struct eddy_str list, char separator, struct eddy_str name)
{
	struct eddy_str one;

	while (eddy_str_split(&list, separator, &one))
		if (eddy_str_eq(one, name))
			return true;
	return false;
}

/* Whether the client may have all requested scopes. */
static bool may_have(const struct asked *asked)
{
	struct eddy_str rest = asked->scope, one;

	if (!rest.len)
		return true;
	while (eddy_str_split(&rest, ' ', &one))
		if (!one.len || !has(asked->client->scopes, ',', one))
			return false;
	return true;
}

/* Grant the requested scopes, or all if none is requested (section 3.3). Return: 0, -ENOMEM. */
static int grant(struct asked *asked)
{
	struct eddy_str rest = asked->client->scopes, one;
	char *at;

	if (!rest.len)
		return 0;
	asked->granted = at = eddy_req_alloc(asked->req, rest.len + 1);
	if (!at)
		return -ENOMEM;
	while (eddy_str_split(&rest, ',', &one)) {
		if (asked->scope.len && !has(asked->scope, ' ', one))
			continue;
		if (at != asked->granted)
			*at++ = ' ';
		at = mempcpy(at, one.ptr, one.len);
	}
	*at = '\0';
	return 0;
}

/* ---- the token ---- */

/* Return: NULL if there are none, and on allocation failure. */
static json_t *roles_of(const struct issuer_client *client)
{
	struct eddy_str rest = client->roles, one;
	json_t *roles = rest.len ? json_array() : NULL;

	while (rest.len && eddy_str_split(&rest, ',', &one))
		json_array_append_new(roles, json_stringn(one.ptr, one.len));
	return roles;
}

static bool make_jti(char text[2 * JTI_BYTES + 1])
{
	unsigned char bytes[JTI_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return false;
	for (size_t i = 0; i < sizeof(bytes); i++)
		sprintf(text + 2 * i, "%02x", bytes[i]);
	return true;
}

/* Claims of RFC 9068 section 2.2, which requires --audience. Return: NULL on allocation failure. */
static json_t *make_claims(const struct asked *asked)
{
	const struct issuer_settings *settings = &asked->issuer->settings;
	struct eddy_str id = asked->client->id;
	json_int_t now = (json_int_t)time(NULL);
	char jti[2 * JTI_BYTES + 1];

	if (!make_jti(jti))
		return NULL;
	return json_pack("{s:s, s:s%, s:s%, s:I, s:I, s:s, s:s*, s:s*, s:o*}", "iss", settings->url,
			 "sub", id.ptr, id.len, "client_id", id.ptr, id.len, "iat", now, "exp",
			 now + settings->lifetime, "jti", jti, "aud", settings->audience, "scope",
			 asked->granted, "roles", roles_of(asked->client));
}

/* Sign with the last key, by the first algorithm that it supports. Suspends. */
static int sign(const struct asked *asked, char **ret_token)
{
	const struct issuer_keys *keys = &asked->files->keys;
	const struct eddy_jwk *key = keys->list[keys->count - 1];
	enum eddy_jws_alg alg = (enum eddy_jws_alg)__builtin_ctz(eddy_jwk_algs(key));
	json_t *claims = make_claims(asked);
	int r = claims ? eddy_jwt_sign(key, alg, "at+jwt", claims, ret_token) : -ENOMEM;

	json_decref(claims);
	return r;
}

static int hand_out(struct asked *asked)
{
	unsigned lifetime = asked->issuer->settings.lifetime;
	char *token;
	int r = sign(asked, &token);

	if (r < 0)
		return r;
	r = eddy_res_json(asked->res, json_pack("{s:s, s:s, s:i, s:s*}", "access_token", token,
						"token_type", "Bearer", "expires_in", (int)lifetime,
						"scope", asked->granted));
	explicit_bzero(token, strlen(token));
	free(token);
	return r;
}

/* Whether others could read the secret and the token in transit (section 3.2). */
static bool is_overheard(const struct eddy_req *req)
{
	return !eddy_req_is_secure(req) && !eddy_peer_is_local(eddy_req_peer(req));
}

static int answer(struct asked *asked)
{
	int r;

	if (is_overheard(asked->req))
		return refuse(asked, 400, "invalid_request", "HTTPS required");
	r = read_form(asked);
	if (r == 0)
		r = authenticate(asked);
	if (r != 0)
		return r < 0 ? r : 0;
	if (!asked->grant_type.len)
		return refuse(asked, 400, "invalid_request", "grant_type is missing");
	if (!eddy_str_eq_z(asked->grant_type, "client_credentials"))
		return refuse(asked, 400, "unsupported_grant_type",
			      "grant_type must be client_credentials");
	if (!may_have(asked))
		return refuse(asked, 400, "invalid_scope",
			      "the client may not have all requested scopes");
	r = grant(asked);
	return r < 0 ? r : hand_out(asked);
}

int issuer_token(struct eddy_req *req, struct eddy_res *res)
{
	const struct issuer *issuer = eddy_req_context(req);
	struct issuer_files *files = issuer_files_ref(issuer->files);
	struct asked asked = { .req = req, .res = res, .issuer = issuer, .files = files };
	int r = eddy_res_set_z(res, "cache-control", "no-store");

	if (r == 0)
		r = answer(&asked);
	issuer_files_unref(files);
	return r;
}
