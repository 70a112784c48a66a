/* Tests of auth/src/guard/auth.h: tokens of an issuer, at the door of an app. */
#include "guard/auth.h"
#include "issuer_rig.h"
#include "tokens.h"
#include "guard/verified.h"

#include <eddy/auth.h>
#include <eddy/loop.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* RFC 8037, appendix A.1: the key that KEY_A is the public half of. */
#define PRIVATE_A                                                                                  \
	"{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"kid\":\"a\",\"alg\":\"EdDSA\","                    \
	"\"d\":\"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A\","                                   \
	"\"x\":\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\"}"
#define PRIVATE_B                                                                                  \
	"{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"kid\":\"b\",\"alg\":\"EdDSA\","                    \
	"\"d\":\"TM0Imyj_ltqdtsNG7BFOD1uKMZ81q6Yk2oz27U-4pvs\","                                   \
	"\"x\":\"PUAXw-hDiVqStwqnTRt-vJyYLM8uxJaMwM1V8Sr0Zgw\"}"

#define DOWN ANSWERS({ OAUTH, "HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n", OK })
#define NOTHING 1

static int answer(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_ok(res, "secret");
}

static void build(struct rig *rig)
{
	eddy_app_authorize(eddy_app_map_get(rig->app, "/guarded", answer), NULL);
}

/* Ask with this token, and note "200#1", or also why not: "401#1 unknown key". */
static int ask(struct rig *rig, const char *token)
{
	char value[4096];
	const struct eddy_header headers[] = { { "authorization", value }, { 0 } };
	const struct eddy_client_request request = { .headers = headers };
	struct eddy_response *response;
	struct eddy_str challenge, after;
	const char *description;
	int r;

	snprintf(value, sizeof(value), "Bearer %s", token);
	r = eddy_app_test(rig->app, "GET /guarded", &request, &response);
	if (r < 0)
		return r;
	rig_note(rig, "%d#%u", eddy_response_status(response), rig->looks);
	challenge = eddy_response_header(response, "www-authenticate");
	after = eddy_response_header(response, "retry-after");
	snprintf(value, sizeof(value), "%.*s", EDDY_FMT(challenge));
	description = strstr(value, "description=\"");
	if (description)
		rig_note(rig, "%.*s", (int)strcspn(description + 13, "\""), description + 13);
	else if (challenge.ptr)
		rig_note(rig, "blamed");
	if (after.ptr)
		rig_note(rig, "after %.*s", EDDY_FMT(after));
	eddy_response_free(response);
	return 0;
}

/* Ask with a token of this key, which has `seconds` left; it is the same one each time. */
static int ask_signed(struct rig *rig, const char *private, const char *issuer, int seconds)
{
	static json_int_t now;
	struct eddy_jwk *key = NULL;
	json_t *claims;
	char *token = NULL;
	int r = eddy_jwk_parse(eddy_str_from(private), &key);

	if (!now)
		now = time(NULL);
	claims = json_pack("{s:s,s:I}", "iss", issuer ? issuer : rig->url, "exp", now + seconds);
	if (r == 0)
		r = eddy_jwt_sign(key, EDDY_JWS_EDDSA, NULL, claims, &token);
	if (r == 0)
		r = ask(rig, token);
	free(token);
	eddy_jwk_unref(key);
	json_decref(claims);
	return r;
}

static int come_in(struct rig *rig)
{
	int r = ask(rig, "not.a.token");

	/* {"alg":"HS256"} of {} */
	if (r == 0)
		r = ask(rig, "eyJhbGciOiJIUzI1NiJ9.e30.AAAA");
	if (r == 0)
		r = ask_signed(rig, PRIVATE_A, NULL, 600);
	if (r == 0)
		r = ask_signed(rig, PRIVATE_A, NULL, 600);
	if (r == 0)
		r = ask_signed(rig, PRIVATE_A, NULL, -600);
	if (r == 0)
		r = ask_signed(rig, PRIVATE_A, "https://other", 600);
	return r == 0 ? ask_signed(rig, PRIVATE_B, NULL, 600) : r;
}

/* Whoever has no token that could be one costs no look. */
Test(auth_verify, issued_tokens_come_in)
{
	struct rig rig = { .build = build, .answers = GOOD(KEY_A) };

	EXPECT_NOTED(
		&rig, come_in,
		"401#0 malformed token 401#0 algorithm not accepted 200#1 200#1 401#1 token expired "
		"401#1 issuer not accepted 401#1 unknown key ");
	cr_expect(eddy_oauth_stats().fetched == 1);
	cr_expect(eddy_bearer_stats().cached == 1);
}

static int come_while_it_is_down(struct rig *rig)
{
	int r = ask_signed(rig, PRIVATE_A, NULL, 600);

	if (r == 0)
		r = ask_signed(rig, PRIVATE_A, NULL, -600);
	rig_answer(rig, GOOD(KEY_A));
	return r == 0 ? ask_signed(rig, PRIVATE_A, NULL, 600) : r;
}

/* No token is blamed, not even one that is bad. */
Test(auth_verify, an_issuer_that_is_down_is_to_blame)
{
	struct rig rig = { .build = build, .answers = DOWN };

	EXPECT_NOTED(&rig, come_while_it_is_down, "503#1 after 1 503#2 after 1 200#3 ");
}

static int come_with_new_keys(struct rig *rig)
{
	int r = ask_signed(rig, PRIVATE_A, NULL, 600);

	rig_answer(rig, GOOD(KEY_B));
	if (r == 0)
		r = ask_signed(rig, PRIVATE_B, NULL, 600);
	return r == 0 ? ask_signed(rig, PRIVATE_A, NULL, 600) : r;
}

/* A key that is gone stops whoever has come in by it before. */
Test(auth_verify, keys_come_and_go)
{
	struct rig rig = {
		.build = build,
		.answers = GOOD(KEY_A),
		.options.refresh_cooldown_ns = NOTHING,
	};

	EXPECT_NOTED(&rig, come_with_new_keys, "200#1 200#2 401#3 unknown key ");
}

/* The key of this kid is for EdDSA alone; an unknown one would be looked for. */
static int come_with_another_alg(struct rig *rig)
{
	struct eddy_str text = token_of("{\"alg\":\"ES256\",\"kid\":\"a\"}", "{\"exp\":1}");
	char token[256];
	int r = ask_signed(rig, PRIVATE_A, NULL, 600);

	snprintf(token, sizeof(token), "%.*s", EDDY_FMT(text));
	free((char *)text.ptr);
	if (r == 0)
		r = ask(rig, token);
	return r == 0 ? ask_signed(rig, PRIVATE_B, NULL, 600) : r;
}

Test(auth_verify, a_key_that_is_there_is_not_looked_for)
{
	struct rig rig = {
		.build = build,
		.answers = GOOD(KEY_A),
		.options.refresh_cooldown_ns = NOTHING,
	};

	EXPECT_NOTED(&rig, come_with_another_alg,
		     "200#1 401#1 algorithm not accepted 401#2 unknown key ");
}

static int come_after_a_while(struct rig *rig)
{
	int r = ask_signed(rig, PRIVATE_A, NULL, 600);

	rig_answer(rig, DOWN);
	if (r == 0)
		r = ask_signed(rig, PRIVATE_A, NULL, 600);
	rig_answer(rig, GOOD(KEY_OTHER_A));
	return r == 0 ? ask_signed(rig, PRIVATE_A, NULL, 600) : r;
}

/* A key that is another now is not taken for the one before. */
Test(auth_verify, old_keys_are_looked_at)
{
	struct rig rig = {
		.build = build,
		.answers = GOOD(KEY_A),
		.options = { .max_key_age_ns = NOTHING, .refresh_cooldown_ns = NOTHING },
	};

	EXPECT_NOTED(&rig, come_after_a_while, "200#1 200#2 401#3 bad signature ");
}

/* ---- what is kept of a token while its keys are waited for ---- */

/* Of memory that JSON has. */
static int pieces;

static void *take_piece(size_t size)
{
	void *at = malloc(size);

	pieces += at != NULL;
	return at;
}

static void give_piece(void *at)
{
	pieces -= at != NULL;
	free(at);
}

/* Keys that others come by. */
struct slow {
	struct eddy_keyset *set; /* NULL: none were ever loaded */
	int waited, kept;
};

static int wait_long(struct slow *slow)
{
	slow->waited++;
	slow->kept += pieces;
	return slow->set ? 0 : -EAGAIN;
}

static bool slow_is_ready(const void *self)
{
	(void)self;
	return false;
}

static int slow_get(void *self, struct eddy_keyset **ret_set, unsigned *ret_version)
{
	struct slow *slow = self;

	*ret_set = eddy_keyset_ref(slow->set);
	*ret_version = 1;
	return wait_long(slow);
}

static int slow_get_newer(void *self, unsigned version, struct eddy_keyset **ret_set,
			  unsigned *ret_version)
{
	(void)version;
	(void)ret_set;
	(void)ret_version;
	wait_long(self);
	return -ENOKEY;
}

static int ask_slow(void *arg)
{
	static const struct eddyi_key_source source = { slow_is_ready, slow_get, slow_get_newer,
							NULL };
	struct eddyi_auth auth = { .options.no_cache = true,
				   .algs = EDDY_JWS_PUBLIC,
				   .source = &source,
				   .source_self = arg };
	struct eddy_str text = token_of("{\"alg\":\"EdDSA\",\"kid\":\"a\"}",
					"{\"exp\":1,\"x\":[{},[],{},[],{},[]]}");
	struct eddy_jwt *token;
	bool is_known;
	int r = eddyi_auth_verify(&auth, text, &token, &is_known);

	free((char *)text.ptr);
	return r;
}

/* As many may wait as there are connections, and claims take more room than their text. */
Test(auth_verify, who_waits_for_keys_keeps_no_claims)
{
	struct slow slow = { NULL, 0, 0 };
	struct eddy_jwk *key = NULL;

	json_set_alloc_funcs(take_piece, give_piece);
	cr_expect_eq(eddy_run(NULL, ask_slow, &slow), -EAGAIN);
	cr_expect_eq(slow.waited, 1);
	cr_assert_eq(eddy_jwk_parse(eddy_str_from(PRIVATE_B), &key), 0);
	slow.set = eddy_keyset_of(key);
	cr_expect_eq(eddy_run(NULL, ask_slow, &slow), EDDY_JWT_KEY);
	cr_expect_eq(slow.waited, 3);
	cr_expect_eq(slow.kept, 0, "%d", slow.kept);
	cr_expect_eq(pieces, 0);
	eddy_keyset_unref(slow.set);
	eddy_jwk_unref(key);
}

/* ---- what others do meanwhile ---- */

/* As many others as have room come by while keys are waited for. */
static int get_beside_others(void *self, struct eddy_keyset **ret_set, unsigned *ret_version)
{
	for (unsigned other = 0; other < 4; other++)
		eddyi_verified_here(UINT_MAX - 1 - other, 4);
	*ret_set = eddy_keyset_ref(self);
	*ret_version = 1;
	return 0;
}

static bool is_still_current(const void *self, unsigned version)
{
	return self && version == 1;
}

static int verify_twice(void *arg)
{
	static const struct eddyi_key_source source = { slow_is_ready, get_beside_others,
							slow_get_newer, is_still_current };
	struct eddyi_auth auth = { .options.cache_max = 4,
				   .number = UINT_MAX,
				   .algs = EDDY_JWS_PUBLIC,
				   .source = &source,
				   .source_self = arg };
	json_t *claims = json_pack("{s:I}", "exp", (json_int_t)time(NULL) + 60);
	struct eddy_jwk *key = NULL;
	struct eddy_jwt *token;
	bool is_known = true;
	char *text = NULL;
	int r = eddy_jwk_parse(eddy_str_from(PRIVATE_A), &key);

	if (r == 0)
		r = eddy_jwt_sign(key, EDDY_JWS_EDDSA, NULL, claims, &text);
	for (int i = 0; i < 2 && r == 0; i++) {
		r = eddyi_auth_verify(&auth, eddy_str_from(text), &token, &is_known);
		if (r == 0)
			eddy_jwt_unref(token);
		if (r == 0 && is_known != (i == 1))
			r = -EBADMSG;
	}
	free(text);
	json_decref(claims);
	eddy_jwk_unref(key);
	return r;
}

/* What a loop keeps for the app may be gone by the time that there are keys. */
Test(auth_verify, others_may_take_its_place_meanwhile)
{
	struct eddy_jwk *key = NULL;
	struct eddy_keyset *set;

	cr_assert_eq(eddy_jwk_parse(eddy_str_from(PRIVATE_A), &key), 0);
	set = eddy_keyset_of(key);
	cr_expect_eq(eddy_run(NULL, verify_twice, set), 0);
	eddy_keyset_unref(set);
	eddy_jwk_unref(key);
}
