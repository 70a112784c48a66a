/* Tests of eddy/jwt.h: whose signature is believed. */
#include "jwt/jwk.h"

#include "keys.h"
#include "lacking.h"
#include "rfc.h"
#include "tokens.h"

#include "../runtime/failing.h"

#include <eddy/runtime.h>
#include <errno.h>

#define ALL (EDDY_JWS_SECRET | EDDY_JWS_PUBLIC)
#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))
#define NOW (1300819300 * EDDY_SECOND)

/* The keys of rfc.h by a name each. */
#define KEYS                                                                                       \
	"{'keys':[{" RFC_RSA_PUBLIC ",'kid':'rsa'},{" RFC_P256_PUBLIC ",'kid':'p256'},"            \
	"{" RFC_P521_PUBLIC ",'kid':'p521'},{" RFC_ED25519_PUBLIC ",'kid':'ed'}]}"

static struct eddy_keyset *set_of_json(const char *text)
{
	char *json = keys_json(text);
	struct eddy_keyset *set = NULL;

	cr_assert_eq(eddy_keyset_parse(eddy_str_from(json), &set), 0, "%s", text);
	free(json);
	return set;
}

static struct eddy_keyset *set_of_key(const char *text)
{
	struct eddy_jwk *key = keys_parse(text);
	struct eddy_keyset *set = eddy_keyset_of(key);

	eddy_jwk_unref(key);
	return set;
}

/* `text` is freed. */
static int verify(struct eddy_str text, const struct eddy_keyset *set)
{
	struct eddy_jwt_options options = { .now_ns = NOW };
	struct eddy_jwt *token;
	int r = eddy_jwt_parse(text, ALL, &token);

	if (r == 0) {
		r = eddy_jwt_verify(token, set, &options);
		eddy_jwt_unref(token);
	}
	free((char *)text.ptr);
	return r;
}

/* Sign them as they are; no eddy_jwt_sign() would. */
static struct eddy_str signed_by(const char *key_text, enum eddy_jws_alg alg, const char *header,
				 const char *claims)
{
	struct eddy_jwk *key = keys_parse(key_text);
	unsigned char signature[EDDY_JWS_SIGNATURE_MAX];
	char *header_json = keys_json(header), *claims_json = keys_json(claims);
	struct eddy_str parts[] = { eddy_str_from(header_json), eddy_str_from(claims_json) };
	struct eddy_str text = token_of_strs(parts[0], parts[1], EDDY_STR("")), whole;
	ssize_t len = eddy_jwk_sign(key, alg, eddy_str(text.ptr, text.len - 1), signature);

	cr_assert_gt(len, 0);
	whole = token_of_strs(parts[0], parts[1], eddy_str((char *)signature, (size_t)len));
	free((char *)text.ptr);
	free(header_json);
	free(claims_json);
	eddy_jwk_unref(key);
	return whole;
}

#define CLAIMS "{'exp':1300819380}"

/* RFC 7515 appendix A: those of its examples that are tokens. */
Test(jwt_verify, the_rfcs_own_tokens)
{
	for (size_t i = 0; i < 3; i++) {
		struct eddy_keyset *set = set_of_key(rfc_signatures[i].key);
		char text[1024];
		size_t len = (size_t)sprintf(text, "%s.%s", rfc_signatures[i].text,
					     rfc_signatures[i].signature);
		struct eddy_jwt_options options = { .now_ns = NOW, .issuer = "joe" };
		struct eddy_jwt *token = NULL;

		cr_assert_eq(eddy_jwt_parse(eddy_str(text, len), ALL, &token), 0, "%zu", i);
		cr_expect_str_eq(eddy_jws_alg_name(token->alg), rfc_signatures[i].alg);
		cr_expect_eq(eddy_jwt_verify(token, set, &options), 0, "%zu", i);
		options.now_ns = 1300819440 * EDDY_SECOND;
		cr_expect_eq(eddy_jwt_verify(token, set, &options), EDDY_JWT_EXPIRED, "%zu", i);
		options = (struct eddy_jwt_options){ .now_ns = NOW, .issuer = "jane" };
		cr_expect_eq(eddy_jwt_verify(token, set, &options), EDDY_JWT_ISSUER, "%zu", i);
		cr_expect_eq(eddy_jwt_verify(token, set, NULL), EDDY_JWT_EXPIRED, "%zu", i);
		eddy_jwt_unref(token);
		eddy_keyset_unref(set);
	}
}

/* Any bit of what was signed, and of the signature. */
Test(jwt_verify, a_changed_bit_is_a_bad_signature)
{
	static const char key[] = "{" RFC_SECRET "}";
	struct eddy_keyset *set = set_of_key(key);
	struct eddy_str good = signed_by(key, EDDY_JWS_HS256, "{'alg':'HS256','a':'bcdefgh'}",
					 "{'exp':1300819380,'sub':'joe'}");
	struct eddy_str header, claims, signature, rest = good;
	int bad = 0;

	eddy_str_split(&rest, '.', &header);
	eddy_str_split(&rest, '.', &claims);
	eddy_str_split(&rest, '.', &signature);
	for (size_t at = 0; at < good.len; at++) {
		char *text = malloc(good.len);
		bool is_last = (size_t)(header.ptr + header.len - good.ptr) == at + 1 ||
			       (size_t)(claims.ptr + claims.len - good.ptr) == at + 1 ||
			       good.len == at + 1;
		int r;

		memcpy(text, good.ptr, good.len);
		text[at] = text[at] == 'A' ? 'B' : 'A';
		r = verify(eddy_str(text, good.len), set);
		/* Where it is no JSON any more, or has bits that say nothing, it does not come so far. */
		cr_expect(r == EDDY_JWT_SIGNATURE || r == EDDY_JWT_MALFORMED || r == EDDY_JWT_ALG,
			  "%zu: %d", at, r);
		if (at > (size_t)(signature.ptr - good.ptr) && !is_last)
			cr_expect_eq(r, EDDY_JWT_SIGNATURE, "%zu", at);
		bad += r == EDDY_JWT_SIGNATURE;
	}
	cr_expect_gt(bad, (int)signature.len);
	cr_expect_eq(verify(good, set), 0);
	eddy_keyset_unref(set);
}

Test(jwt_verify, a_signature_of_another_length_is_a_bad_one)
{
	struct eddy_keyset *set = set_of_json(KEYS);
	static const struct {
		const char *alg, *kid;
		size_t len;
	} rows[] = { { "RS256", "rsa", 256 },
		     { "PS256", "rsa", 256 },
		     { "ES256", "p256", 64 },
		     { "ES512", "p521", 132 },
		     { "EdDSA", "ed", 64 } };

	for (size_t i = 0; i < COUNT(rows); i++) {
		const size_t lens[] = { 0, 1, rows[i].len - 1, rows[i].len, rows[i].len + 1, 1000 };

		for (size_t j = 0; j < COUNT(lens); j++) {
			char header[64], *zeros = calloc(1, lens[j] + 1);
			struct eddy_str text;

			sprintf(header, "{\"alg\":\"%s\",\"kid\":\"%s\"}", rows[i].alg,
				rows[i].kid);
			text = token_of_strs(eddy_str_from(header),
					     eddy_str_from("{\"exp\":1300819380}"),
					     eddy_str(zeros, lens[j]));
			cr_expect_eq(verify(text, set), EDDY_JWT_SIGNATURE, "%s %zu", rows[i].alg,
				     lens[j]);
			free(zeros);
		}
	}
	eddy_keyset_unref(set);
}

/* The key is found by what the header says of it, and is for one algorithm. */
Test(jwt_verify, takes_the_key_that_is_named)
{
	static const struct {
		const char *key;
		enum eddy_jws_alg alg;
		const char *header;
		int fault;
	} rows[] = {
		{ "{" RFC_RSA_PRIVATE "}", EDDY_JWS_RS256, "{'alg':'RS256','kid':'rsa'}", 0 },
		{ "{" RFC_RSA_PRIVATE "}", EDDY_JWS_RS256, "{'alg':'RS256'}", 0 },
		{ "{" RFC_RSA_PRIVATE "}", EDDY_JWS_PS512, "{'alg':'PS512','kid':'rsa'}", 0 },
		{ "{" RFC_P256_PRIVATE "}", EDDY_JWS_ES256, "{'alg':'ES256','kid':'p256'}", 0 },
		{ "{" RFC_P521_PRIVATE "}", EDDY_JWS_ES512, "{'alg':'ES512','kid':'p521'}", 0 },
		{ "{" RFC_ED25519_PRIVATE "}", EDDY_JWS_EDDSA, "{'alg':'EdDSA','kid':'ed'}", 0 },
		{ "{" RFC_RSA_PRIVATE "}", EDDY_JWS_RS256, "{'alg':'RS256','kid':''}",
		  EDDY_JWT_KEY },
		{ "{" RFC_RSA_PRIVATE "}", EDDY_JWS_RS256, "{'alg':'RS256','kid':'RSA'}",
		  EDDY_JWT_KEY },
		{ "{" RFC_RSA_PRIVATE "}", EDDY_JWS_RS256, "{'alg':'RS256','kid':'rsa '}",
		  EDDY_JWT_KEY },
		{ "{" RFC_RSA_PRIVATE "}", EDDY_JWS_RS256, "{'alg':'RS256','kid':'p256'}",
		  EDDY_JWT_ALG },
		{ "{" RFC_RSA_PRIVATE "}", EDDY_JWS_RS256, "{'alg':'ES256','kid':'p256'}",
		  EDDY_JWT_SIGNATURE },
		{ "{" RFC_RSA_PRIVATE "}", EDDY_JWS_RS256, "{'alg':'RS384','kid':'rsa'}",
		  EDDY_JWT_SIGNATURE },
		{ "{" RFC_RSA_PRIVATE "}", EDDY_JWS_RS256, "{'alg':'PS256','kid':'rsa'}",
		  EDDY_JWT_SIGNATURE },
		{ "{" RFC_P256_PRIVATE "}", EDDY_JWS_ES256, "{'alg':'ES256','kid':'p521'}",
		  EDDY_JWT_ALG },
		{ "{" RFC_P256_PRIVATE "}", EDDY_JWS_ES256, "{'alg':'ES384','kid':'p256'}",
		  EDDY_JWT_ALG },
		{ "{" RFC_SECRET "}", EDDY_JWS_HS256, "{'alg':'HS256','kid':'rsa'}", EDDY_JWT_ALG },
		{ "{" RFC_SECRET "}", EDDY_JWS_HS256, "{'alg':'HS256'}", EDDY_JWT_KEY },
		/* What a token brings along is not asked. */
		{ "{" RFC_P256_PRIVATE "}", EDDY_JWS_ES256,
		  "{'alg':'ES256','kid':'evil','jwk':{" RFC_P256_PUBLIC ",'kid':'evil'}}",
		  EDDY_JWT_KEY },
		{ "{" RFC_P256_PRIVATE "}", EDDY_JWS_ES256,
		  "{'alg':'ES256','kid':'p521','jwk':{" RFC_P256_PUBLIC "}}", EDDY_JWT_ALG },
		{ "{" RFC_P256_PRIVATE "}", EDDY_JWS_ES256,
		  "{'alg':'ES256','kid':'p256','jku':'https://evil.example/','x5u':1,'x5c':2}", 0 },
	};
	struct eddy_keyset *set = set_of_json(KEYS);

	for (size_t i = 0; i < COUNT(rows); i++)
		cr_expect_eq(verify(signed_by(rows[i].key, rows[i].alg, rows[i].header, CLAIMS),
				    set),
			     rows[i].fault, "%zu %s", i, rows[i].header);
	eddy_keyset_unref(set);
}

Test(jwt_verify, without_a_kid_there_must_be_no_choice)
{
	struct eddy_keyset *set = set_of_json("{'keys':[{" RFC_P256_PUBLIC
					      ",'kid':'a'},{" RFC_P256_PUBLIC ",'kid':'b'}]}");

	cr_expect_eq(verify(signed_by("{" RFC_P256_PRIVATE "}", EDDY_JWS_ES256, "{'alg':'ES256'}",
				      CLAIMS),
			    set),
		     EDDY_JWT_KEY);
	cr_expect_eq(verify(signed_by("{" RFC_P256_PRIVATE "}", EDDY_JWS_ES256,
				      "{'alg':'ES256','kid':'b'}", CLAIMS),
			    set),
		     0);
	eddy_keyset_unref(set);
}

/* The public key is no secret, however it is written down. */
Test(jwt_verify, a_public_key_is_not_taken_for_a_secret)
{
	static const char *const secrets[] = {
		RFC_RSA_N,
		"{\"kty\":\"RSA\",\"n\":\"" RFC_RSA_N "\",\"e\":\"" RFC_RSA_E "\"}",
	};
	struct eddy_keyset *set = set_of_json(KEYS);

	for (size_t i = 0; i < COUNT(secrets); i++) {
		char k[2048], key[2100];
		size_t len = eddyi_base64url_encode(secrets[i], strlen(secrets[i]), k);
		struct eddy_str text;
		struct eddy_jwt *token;

		sprintf(key, "{'kty':'oct','k':'%.*s'}", (int)len, k);
		text = signed_by(key, EDDY_JWS_HS256, "{'alg':'HS256','kid':'rsa'}", CLAIMS);
		cr_expect_eq(eddy_jwt_parse(text, EDDY_JWS_PUBLIC, &token), EDDY_JWT_ALG);
		cr_expect_eq(verify(text, set), EDDY_JWT_ALG);
	}
	eddy_keyset_unref(set);
}

Test(jwt_verify, the_key_comes_first_and_the_claims_last)
{
	static const char key[] = "{" RFC_SECRET ",'kid':'k'}";
	static const struct {
		const char *header, *claims;
		bool is_bad;
		int fault;
	} rows[] = {
		{ "{'alg':'HS256','kid':'x'}", "{'exp':1}", true, EDDY_JWT_KEY },
		{ "{'alg':'HS256','kid':'k'}", "{'exp':1}", true, EDDY_JWT_SIGNATURE },
		{ "{'alg':'HS256','kid':'k'}", "{'exp':[]}", true, EDDY_JWT_SIGNATURE },
		{ "{'alg':'HS256','kid':'k'}", "{}", true, EDDY_JWT_SIGNATURE },
		{ "{'alg':'HS256','kid':'k'}", "{'exp':1}", false, EDDY_JWT_EXPIRED },
		{ "{'alg':'HS256','kid':'k'}", "{'exp':[]}", false, EDDY_JWT_MALFORMED },
		{ "{'alg':'HS256','kid':'k'}", "{}", false, EDDY_JWT_MISSING },
		{ "{'alg':'HS256','kid':'k'}", CLAIMS, false, 0 },
	};
	struct eddy_keyset *set = set_of_key(key);

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct eddy_str text =
			signed_by(key, EDDY_JWS_HS256, rows[i].header, rows[i].claims);
		char *signature = (char *)text.ptr + text.len - 10;

		if (rows[i].is_bad)
			*signature = *signature == 'A' ? 'B' : 'A';
		cr_expect_eq(verify(text, set), rows[i].fault, "%zu", i);
	}
	eddy_keyset_unref(set);
}

/* A token of each kind of signature, by a key of KEYS. */
static const struct {
	const char *key, *header;
	enum eddy_jws_alg alg;
} kinds[] = {
	{ "{" RFC_RSA_PRIVATE "}", "{'alg':'RS256','kid':'rsa'}", EDDY_JWS_RS256 },
	{ "{" RFC_RSA_PRIVATE "}", "{'alg':'PS256','kid':'rsa'}", EDDY_JWS_PS256 },
	{ "{" RFC_P256_PRIVATE "}", "{'alg':'ES256','kid':'p256'}", EDDY_JWS_ES256 },
	{ "{" RFC_ED25519_PRIVATE "}", "{'alg':'EdDSA','kid':'ed'}", EDDY_JWS_EDDSA },
};

static struct eddy_jwt *token_of_kind(size_t i, bool is_good)
{
	struct eddy_str text = signed_by(kinds[i].key, kinds[i].alg, kinds[i].header, CLAIMS);
	char *at = (char *)text.ptr + text.len - 10;
	struct eddy_jwt *token = NULL;

	if (!is_good)
		*at = *at == 'A' ? 'B' : 'A';
	cr_assert_eq(eddy_jwt_parse(text, ALL, &token), 0);
	free((char *)text.ptr);
	return token;
}

/* Neither blamed for it, nor believed. */
Test(jwt_verify, without_memory_nobody_knows)
{
	struct eddy_keyset *set = set_of_json(KEYS);
	struct eddy_jwt_options options = { .now_ns = NOW };
	int lacking = 0;

	lacking_in_libraries();
	for (size_t i = 0; i < 2 * COUNT(kinds); i++) {
		bool is_good = i % 2;
		struct eddy_jwt *token = token_of_kind(i / 2, is_good);

		for (int at = 1, was = 0; was == 0; at++) {
			int r, expected = is_good ? 0 : EDDY_JWT_SIGNATURE;

			failing_at = at;
			r = eddy_jwt_verify(token, set, &options);
			was = failing_at;
			failing_at = 0;
			cr_expect(r == expected || (!was && r == -ENOMEM), "%zu %d: %d", i, at, r);
			lacking += r == -ENOMEM;
		}
		eddy_jwt_unref(token);
	}
	cr_expect_gt(lacking, 0);
	eddy_keyset_unref(set);
}

struct cancelled {
	struct eddy_keyset *set;
	struct eddy_jwt *good, *bad;
	int good_is, bad_is;
};

static int verify_cancelled(void *arg)
{
	struct cancelled *use = arg;
	struct eddy_jwt_options options = { .now_ns = NOW };
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_cancel(&scope);
	use->good_is = eddy_jwt_verify(use->good, use->set, &options);
	use->bad_is = eddy_jwt_verify(use->bad, use->set, &options);
	eddy_scope_end(&scope);
	return 0;
}

/* The offload pool, which would look at it, does not begin. libcrypto verifies ES256 at once. */
Test(jwt_verify, who_is_cancelled_does_not_know)
{
	for (size_t i = 0; i < COUNT(kinds); i++) {
		struct cancelled use = { .set = set_of_json(KEYS),
					 .good = token_of_kind(i, true),
					 .bad = token_of_kind(i, false) };

		bool suspends =
			kinds[i].alg == EDDY_JWS_ES256 &&
			!eddyi_keyset_find(use.set, eddy_str_from("p256"), EDDY_JWS_ES256)->verifier;

		cr_assert_eq(eddy_run(NULL, verify_cancelled, &use), 0);
		cr_expect_eq(use.good_is, suspends ? -ECANCELED : 0, "%zu", i);
		cr_expect_eq(use.bad_is, suspends ? -ECANCELED : EDDY_JWT_SIGNATURE, "%zu", i);
		eddy_jwt_unref(use.good);
		eddy_jwt_unref(use.bad);
		eddy_keyset_unref(use.set);
	}
}
