/* login: login by OpenID Connect: the authorization code flow with PKCE (RFC 7636).
 *
 *     $ head -c 32 /dev/urandom | base64 > keys
 *     $ LOGIN_ISSUER=https://issuer.example LOGIN_CLIENT=shop login localhost:7878 http://localhost:7878 &
 *     2026-11-21T09:00:00.000000Z  INFO eddy::app: Listening on localhost:7878
 *     $ curl -s localhost:7878/ -w '%{http_code} %{redirect_url}\n'
 *     303 http://localhost:7878/login
 *     $ curl -s 'localhost:7878/callback?code=1&state=2' -w '\n'
 *     {"type":"about:blank","title":"Bad Request","status":400,"detail":"this login has ended, or was begun in another browser"}
 */
#include <eddy/auth.h>
#include <eddy/http.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <wolfssl/options.h>
#include <wolfssl/wolfcrypt/hash.h>

#define SECRET_LEN 64 /* of a random text */
#define CHALLENGE_SIZE 44

static struct config {
	const char *base; /* the program's own origin: "https://shop.example" */
	const char *issuer;
	const char *client;
	const char *secret; /* of a confidential client; NULL: a public one */
} config;

/* ---- what begins a login, in an encrypted cookie, until the issuer sends the browser back ---- */

struct attempt {
	char state[SECRET_LEN];
	char nonce[SECRET_LEN];
	char verifier[SECRET_LEN];
};

static int make_attempt(struct attempt *attempt)
{
	unsigned char bytes[sizeof(*attempt) / 2];
	char *text = attempt->state;

	if (getrandom(bytes, sizeof(bytes), GRND_NONBLOCK) != sizeof(bytes))
		return -EIO;
	for (size_t i = 0; i < sizeof(bytes); i++) {
		*text++ = "0123456789abcdef"[bytes[i] >> 4];
		*text++ = "0123456789abcdef"[bytes[i] & 15];
	}
	return 0;
}

static int keep_attempt(struct eddy_res *res, const struct attempt *attempt)
{
	return eddy_res_cookie_sealed(res,
				      &(struct eddy_cookie){
					      .name = "login",
					      .value = eddy_str(attempt->state, sizeof(*attempt)),
					      .path = "/callback",
					      .max_age_s = 600,
				      });
}

/* Take an attempt out of its cookie, which is good for one answer. */
static int take_attempt(struct eddy_req *req, struct eddy_res *res, struct attempt *ret_attempt)
{
	struct eddy_str value;
	int r = eddy_req_cookie_sealed(req, "login", &value);

	if (r < 0 || value.len != sizeof(*ret_attempt))
		return -EBADMSG;
	memcpy(ret_attempt, value.ptr, value.len);
	return eddy_res_cookie(
		res, &(struct eddy_cookie){ .name = "login", .path = "/callback", .forget = true });
}

/* ---- texts ---- */

/* The challenge of a verifier: its SHA-256 in base64url (RFC 7636 section 4.2). */
static void make_challenge(const char *verifier, char *ret_challenge)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	unsigned char hash[WC_SHA256_DIGEST_SIZE + 1] = { 0 };

	wc_Sha256Hash((const unsigned char *)verifier, SECRET_LEN, hash);
	for (size_t bit = 0; bit < 8 * WC_SHA256_DIGEST_SIZE; bit += 6)
		*ret_challenge++ =
			digits[(hash[bit / 8] << 8 | hash[bit / 8 + 1]) >> (10 - bit % 8) & 63];
	*ret_challenge = '\0';
}

/* Percent-encode a value of a form, in request memory. */
static const char *encode(struct eddy_req *req, struct eddy_str text)
{
	char *encoded = eddy_req_alloc(req, 3 * text.len + 1), *at = encoded;

	for (size_t i = 0; encoded && i < text.len; i++)
		at += sprintf(at, "%%%02X", (unsigned char)text.ptr[i]);
	return encoded ? encoded : "";
}

static const char *encode_z(struct eddy_req *req, const char *text)
{
	return encode(req, eddy_str_from(text));
}

static const char *redirect_uri(struct eddy_req *req)
{
	char uri[1024];

	snprintf(uri, sizeof(uri), "%s/callback", config.base);
	return encode_z(req, uri);
}

/* ---- the issuer ---- */

/* Its metadata (OpenID Connect Discovery section 3). */
struct metadata {
	struct eddy_str issuer;
	struct eddy_str authorization_endpoint;
	struct eddy_str token_endpoint;
	struct eddy_str jwks_uri;
};

static const struct eddy_member metadata_members[] = {
	EDDY_MEMBER(struct metadata, issuer),
	EDDY_MEMBER(struct metadata, authorization_endpoint, .format = EDDY_FORMAT_URI),
	EDDY_MEMBER(struct metadata, token_endpoint, .format = EDDY_FORMAT_URI),
	EDDY_MEMBER(struct metadata, jwks_uri, .format = EDDY_FORMAT_URI),
};

struct tokens {
	struct eddy_str id_token;
};

static const struct eddy_member tokens_members[] = { EDDY_MEMBER(struct tokens, id_token) };

static void *alloc(void *req, size_t size)
{
	return eddy_req_alloc(req, size);
}

/* Send a request to the issuer. Return: 0, and the body in request memory; -ECONNREFUSED, which
 * becomes 502, for any failure. */
static int ask(struct eddy_req *req, const char *url, const struct eddy_client_request *request,
	       struct eddy_str *ret_body)
{
	struct eddy_client *client = eddy_req_client(req);
	struct eddy_response *response;
	int r = eddy_client_send(client, url, request, &response);

	if (r < 0) {
		eddy_warn("login", "%s: %s", url, eddy_client_error(client));
		return -ECONNREFUSED;
	}
	r = eddy_response_body(response, ret_body);
	if (r < 0 || eddy_response_status(response) != 200) {
		eddy_warn("login", "%s answered %d", url, eddy_response_status(response));
		r = -ECONNREFUSED;
	} else {
		ret_body->ptr = eddy_req_strdup(req, *ret_body);
		r = ret_body->ptr ? 0 : -ENOMEM;
	}
	eddy_response_free(response);
	return r;
}

/* Each login asks for the metadata and the keys, so that none are out of date. */
static int discover(struct eddy_req *req, struct metadata *ret_metadata)
{
	struct eddy_json_reader reader = { .alloc = alloc, .arg = req };
	struct eddy_str text;
	char url[1024];
	int r;

	snprintf(url, sizeof(url), "%s/.well-known/openid-configuration", config.issuer);
	r = ask(req, url, NULL, &text);
	if (r == 0 && (eddy_json_read(&reader, text, metadata_members, ret_metadata) < 0 ||
		       !eddy_str_eq_z(ret_metadata->issuer, config.issuer))) {
		eddy_warn("login", "%s: %s", url, reader.why[0] ? reader.why : "another issuer");
		r = -ECONNREFUSED;
	}
	return r;
}

/* Exchange a code for an ID token (RFC 6749 section 4.1.3). */
static int exchange(struct eddy_req *req, const struct metadata *metadata, struct eddy_str code,
		    const struct attempt *attempt, struct eddy_str *ret_token)
{
	const struct eddy_header headers[] = {
		{ "content-type", "application/x-www-form-urlencoded" }, { 0 }
	};
	struct eddy_json_reader reader = { .alloc = alloc, .arg = req };
	struct eddy_str text;
	struct tokens tokens;
	char form[8192];
	int len = snprintf(form, sizeof(form),
			   "grant_type=authorization_code&code=%s&redirect_uri=%s&client_id=%s"
			   "&code_verifier=%.*s%s%s",
			   encode(req, code), redirect_uri(req), encode_z(req, config.client),
			   SECRET_LEN, attempt->verifier, config.secret ? "&client_secret=" : "",
			   config.secret ? encode_z(req, config.secret) : "");
	int r;

	if ((size_t)len >= sizeof(form))
		return -EINVAL;
	r = ask(req, eddy_req_strdup(req, metadata->token_endpoint),
		&(struct eddy_client_request){
			.method = "POST", .headers = headers, .body = eddy_str(form, (size_t)len) },
		&text);
	if (r == 0 && eddy_json_read(&reader, text, tokens_members, &tokens) < 0) {
		eddy_warn("login", "the token endpoint's answer: %s", reader.why);
		r = -ECONNREFUSED;
	}
	if (r == 0)
		*ret_token = tokens.id_token;
	return r;
}

/* Verify an ID token (OpenID Connect Core section 3.1.3.7). Return: its subject; .ptr is NULL if it
 * is not valid. */
static struct eddy_str verify(struct eddy_req *req, const struct metadata *metadata,
			      const struct attempt *attempt, struct eddy_str text)
{
	const struct eddy_jwt_options options = { .issuer = config.issuer,
						  .audiences = EDDY_LIST(config.client) };
	struct eddy_str keys, subject = { 0 };
	struct eddy_keyset *set = NULL;
	struct eddy_jwt *token = NULL;
	int r = ask(req, eddy_req_strdup(req, metadata->jwks_uri), NULL, &keys);

	if (r == 0)
		r = eddy_keyset_parse(keys, &set);
	if (r == 0)
		r = eddy_jwt_parse(text, EDDY_JWS_PUBLIC, &token);
	if (r == 0)
		r = eddy_jwt_verify(token, set, &options);
	if (r == 0 && eddy_str_eq(eddy_jwt_str(token, "nonce"),
				  eddy_str(attempt->nonce, sizeof(attempt->nonce))))
		subject = eddy_jwt_str(token, "sub");
	if (subject.ptr)
		subject.ptr = eddy_req_strdup(req, subject);
	else
		eddy_warn("login", "the ID token is not valid: %s",
			  r > 0 ? eddy_jwt_fault_text((enum eddy_jwt_fault)r) : "nonce or keys");
	eddy_jwt_unref(token);
	eddy_keyset_unref(set);
	return subject;
}

/* ---- handlers ---- */

/* GET /login: send the browser to the issuer. */
static int login(struct eddy_req *req, struct eddy_res *res)
{
	struct metadata metadata;
	struct attempt attempt;
	char challenge[CHALLENGE_SIZE], url[4096];
	int r = discover(req, &metadata), len;

	if (r == 0)
		r = make_attempt(&attempt);
	if (r == 0)
		r = keep_attempt(res, &attempt);
	if (r < 0)
		return r;
	make_challenge(attempt.verifier, challenge);
	len = snprintf(url, sizeof(url),
		       "%.*s%cresponse_type=code&scope=openid&client_id=%s&redirect_uri=%s"
		       "&state=%.*s&nonce=%.*s&code_challenge=%s&code_challenge_method=S256",
		       EDDY_FMT(metadata.authorization_endpoint),
		       memchr(metadata.authorization_endpoint.ptr, '?',
			      metadata.authorization_endpoint.len) ?
			       '&' :
			       '?',
		       encode_z(req, config.client), redirect_uri(req), SECRET_LEN, attempt.state,
		       SECRET_LEN, attempt.nonce, challenge);
	if ((size_t)len >= sizeof(url))
		return -EINVAL;
	return eddy_res_redirect(res, 303, eddy_str(url, (size_t)len));
}

struct answer {
	struct eddy_str code;
	struct eddy_str state;
	struct eddy_str error; /* RFC 6749 section 4.1.2.1 */
	bool has_code;
};

static const struct eddy_member answer_members[] = {
	EDDY_MEMBER(struct answer, code, .present = EDDY_PRESENT(struct answer, has_code),
		    .range = { 1, 2048 }),
	EDDY_MEMBER(struct answer, state),
	EDDY_MEMBER(struct answer, error, .optional = true),
};

static int begin_session(struct eddy_req *req, struct eddy_res *res, struct eddy_str subject)
{
	struct eddy_session *session;
	int r = eddy_req_session(req, &session);

	if (r == 0)
		r = eddy_session_renew(session);
	if (r == 0)
		r = eddy_session_set(session, "subject", subject);
	return r < 0 ? r : eddy_res_redirect(res, 303, EDDY_STR("/"));
}

/* GET /callback: the issuer has sent the browser back. */
static int callback(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str token, subject;
	struct metadata metadata;
	struct attempt attempt;
	struct answer answer;
	int r = eddy_req_query_into(req, answer_members, &answer);

	if (r < 0)
		return r;
	/* A page elsewhere can't log a browser in as somebody else: it does not know the state. */
	if (take_attempt(req, res, &attempt) < 0 ||
	    !eddy_str_eq(answer.state, eddy_str(attempt.state, sizeof(attempt.state))))
		return eddy_res_problem(res, 400,
					"this login has ended, or was begun in another browser");
	if (!answer.has_code)
		return eddy_res_problem(res, 403, "the issuer refused the login");
	r = discover(req, &metadata);
	if (r == 0)
		r = exchange(req, &metadata, answer.code, &attempt, &token);
	if (r < 0)
		return r;
	subject = verify(req, &metadata, &attempt, token);
	return subject.ptr ? begin_session(req, res, subject) : 502;
}

/* GET / */
static int home(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_session *session;
	struct eddy_str subject;
	int r = eddy_req_session(req, &session);

	if (r < 0)
		return r;
	subject = eddy_session_get(session, "subject");
	return subject.ptr ? eddy_res_ok(res, "You are %.*s.\n", EDDY_FMT(subject)) :
			     eddy_res_redirect(res, 303, EDDY_STR("/login"));
}

/* POST /logout */
static int logout(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_session *session;
	int r = eddy_req_session(req, &session);

	if (r == 0)
		r = eddy_session_end(session);
	return r < 0 ? r : eddy_res_no_content(res);
}

int main(int argc, char **argv)
{
	struct eddy_app *app = eddy_app_new();

	config = (struct config){ .base = argc > 2 ? argv[2] : "http://localhost:7878",
				  .issuer = getenv("LOGIN_ISSUER"),
				  .client = getenv("LOGIN_CLIENT"),
				  .secret = getenv("LOGIN_SECRET") };
	if (!config.issuer || !config.client) {
		fprintf(stderr, "login: set LOGIN_ISSUER to a URL, and LOGIN_CLIENT to an id\n");
		return 2;
	}
	eddy_log_text_subscribe();
	eddy_app_bind(app, argc > 1 ? argv[1] : "localhost:7878");
	eddy_app_with_cookie_keys(app, &(struct eddy_cookie_keys){ .file = "keys" });
	/* An issuer without TLS is for development. */
	eddy_app_with_client(app, &(struct eddy_client_options){
					  .require_https = strncmp(config.issuer, "https:", 6) == 0,
					  .timeout_ns = 10 * EDDY_SECOND });
	eddy_app_use_same_origin(app, NULL);
	eddy_app_use_sessions(app, NULL);
	eddy_app_map_get(app, "/", home);
	eddy_app_map_get(app, "/login", login);
	eddy_app_map_get(app, "/callback", callback);
	eddy_app_map_post(app, "/logout", logout);
	return eddy_app_run_blocking(app) < 0 ? 1 : 0;
}
