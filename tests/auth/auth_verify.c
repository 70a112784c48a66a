/* Tests of auth/src/auth.h: tokens of an issuer, at the door of an app. */
#include "issuer_rig.h"

#include <eddy/auth.h>
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
	eddy_route_authorize(eddy_app_map_get(rig->app, "/guarded", answer), NULL);
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

/* Ask with a token of this key, which has `seconds` left. */
static int ask_signed(struct rig *rig, const char *private, const char *issuer, int seconds)
{
	struct eddy_jwk *key = NULL;
	json_t *claims = json_pack("{s:s,s:I}", "iss", issuer ? issuer : rig->url, "exp",
				   (json_int_t)time(NULL) + seconds);
	char *token = NULL;
	int r = eddy_jwk_parse(eddy_str_from(private), &key);

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

	EXPECT_NOTED(&rig, come_in,
		     "401#0 malformed token 200#1 200#1 401#1 token expired "
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
