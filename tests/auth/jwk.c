/* Tests of eddy/jwk.h: what is read, and what is refused. */
#include "jwt/jwk.h"

#include "keys.h"
#include "rfc.h"

#include "../runtime/failing.h"
#include "freed.h"
#include "lacking.h"

#include <errno.h>

#define RS_AND_PS                                                                                  \
	(EDDY_JWS_BIT(EDDY_JWS_RS256) | EDDY_JWS_BIT(EDDY_JWS_RS384) |                             \
	 EDDY_JWS_BIT(EDDY_JWS_RS512) | EDDY_JWS_BIT(EDDY_JWS_PS256) |                             \
	 EDDY_JWS_BIT(EDDY_JWS_PS384) | EDDY_JWS_BIT(EDDY_JWS_PS512))

/* 32, 48, 64 and 66 zero bytes. */
#define K32 "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
#define K48 "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
#define K64 K48 "AAAAAAAAAAAAAAAAAAAAAA"
#define K66 K48 "AAAAAAAAAAAAAAAAAAAAAAAA"

Test(jwk, algorithms_have_names)
{
	static const char *const names[] = {
		"HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "PS256",
		"PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
	};
	static const char *const others[] = { "none", "hs256",  "HS2567", "HS25",
					      "",     "ES256K", "RSA1_5" };
	enum eddy_jws_alg alg;

	cr_assert(eq(int, EDDY_JWS_ALGS, sizeof(names) / sizeof(names[0])));
	for (unsigned i = 0; i < EDDY_JWS_ALGS; i++) {
		alg = EDDY_JWS_ALGS;
		cr_expect(
			eq(str, (char *)eddy_jws_alg_name((enum eddy_jws_alg)i), (char *)names[i]));
		cr_expect(zero(int, eddyi_jws_alg_find(eddy_str_from(names[i]), &alg)));
		cr_expect(eq(int, alg, i));
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		cr_expect(eq(int, eddyi_jws_alg_find(eddy_str_from(others[i]), &alg), -ENOENT),
			  "%s", others[i]);
}

static const struct {
	const char *json;
	unsigned algs;
	bool is_private;
} good[] = {
	{ "{" RFC_RSA_PUBLIC "}", RS_AND_PS, false },
	{ "{" RFC_RSA_PRIVATE "}", RS_AND_PS, true },
	{ "{" RFC_RSA_PUBLIC ",'alg':'PS384'}", EDDY_JWS_BIT(EDDY_JWS_PS384), false },
	{ "{" RFC_RSA_PUBLIC ",'use':'sig','key_ops':['verify'],'x5t':'odd'}", RS_AND_PS, false },
	{ "{'kty':'RSA','n':'" RFC_RSA_N "','e':'Aw'}", RS_AND_PS, false },
	{ "{'kty':'RSA','n':'" RFC_RSA_N "','e':'__________8'}", RS_AND_PS, false },
	{ "{" RFC_P256_PUBLIC "}", EDDY_JWS_BIT(EDDY_JWS_ES256), false },
	{ "{" RFC_P256_PRIVATE ",'alg':'ES256'}", EDDY_JWS_BIT(EDDY_JWS_ES256), true },
	{ "{" RFC_P521_PUBLIC "}", EDDY_JWS_BIT(EDDY_JWS_ES512), false },
	{ "{" RFC_P521_PRIVATE "}", EDDY_JWS_BIT(EDDY_JWS_ES512), true },
	{ "{" RFC_ED25519_PUBLIC "}", EDDY_JWS_BIT(EDDY_JWS_EDDSA), false },
	{ "{" RFC_ED25519_PRIVATE "}", EDDY_JWS_BIT(EDDY_JWS_EDDSA), true },
	{ "{'kty':'oct','k':'" K32 "'}", EDDY_JWS_BIT(EDDY_JWS_HS256), true },
	{ "{'kty':'oct','k':'" K48 "'}",
	  EDDY_JWS_BIT(EDDY_JWS_HS256) | EDDY_JWS_BIT(EDDY_JWS_HS384), true },
	{ "{'kty':'oct','k':'" K64 "'}", EDDY_JWS_SECRET, true },
	{ "{'kty':'oct','k':'" K64 "','alg':'HS384'}", EDDY_JWS_BIT(EDDY_JWS_HS384), true },
	/* Who may only verify can't sign. */
	{ "{" RFC_P256_PRIVATE ",'key_ops':['verify']}", EDDY_JWS_BIT(EDDY_JWS_ES256), false },
	{ "{" RFC_P256_PRIVATE ",'key_ops':['sign']}", EDDY_JWS_BIT(EDDY_JWS_ES256), true },
	{ "{'kty':'oct','k':'" K32 "','key_ops':['verify']}", EDDY_JWS_BIT(EDDY_JWS_HS256), false },
	/* A point whose x is small. */
	{ "{'kty':'EC','crv':'P-256','x':'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAU',"
	  "'y':'RZJDuapYGAb-kTvOmYF63hHKUDxk2aPFM0FcCDJI-8w'}",
	  EDDY_JWS_BIT(EDDY_JWS_ES256), false },
	/* And those whose y is 3. */
	{ "{'kty':'OKP','crv':'Ed25519','x':'AwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'}",
	  EDDY_JWS_BIT(EDDY_JWS_EDDSA), false },
	{ "{'kty':'OKP','crv':'Ed448','x':"
	  "'AwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'}",
	  EDDY_JWS_BIT(EDDY_JWS_EDDSA), false },
};

Test(jwk, is_read)
{
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct eddy_jwk *key = keys_parse(good[i].json);

		cr_expect(eq(uint, eddy_jwk_algs(key), good[i].algs), "%s", good[i].json);
		cr_expect(eq(int, eddy_jwk_is_private(key), good[i].is_private), "%s",
			  good[i].json);
		cr_expect(zero(ptr, (void *)eddy_jwk_kid(key).ptr));
		eddy_jwk_unref(key);
	}
}

static const struct {
	int r;
	const char *json;
} bad[] = {
	{ -EBADMSG, "" },
	{ -EBADMSG, "{" },
	{ -EBADMSG, "[]" },
	{ -EBADMSG, "{}" },
	{ -EBADMSG, "{'kty':1}" },
	{ -ENOTSUP, "{'kty':'rsa'}" },
	{ -ENOTSUP, "{'kty':'DSA'}" },
	/* What it is for. */
	{ -ENOTSUP, "{" RFC_RSA_PUBLIC ",'use':'enc'}" },
	{ -EBADMSG, "{" RFC_RSA_PUBLIC ",'use':null}" },
	{ -ENOTSUP, "{" RFC_RSA_PUBLIC ",'key_ops':[]}" },
	{ -ENOTSUP, "{" RFC_RSA_PUBLIC ",'key_ops':['encrypt']}" },
	{ -ENOTSUP, "{" RFC_RSA_PUBLIC ",'key_ops':['sign']}" },
	{ -EBADMSG, "{" RFC_RSA_PUBLIC ",'key_ops':'verify'}" },
	{ -EBADMSG, "{" RFC_RSA_PUBLIC ",'key_ops':['verify',1]}" },
	{ -EBADMSG, "{" RFC_RSA_PUBLIC ",'kid':7}" },
	{ -ENOTSUP, "{" RFC_RSA_PUBLIC ",'alg':'RSA-OAEP'}" },
	{ -ENOTSUP, "{" RFC_RSA_PUBLIC ",'alg':'none'}" },
	{ -EBADMSG, "{" RFC_RSA_PUBLIC ",'alg':'ES256'}" },
	{ -EBADMSG, "{" RFC_RSA_PUBLIC ",'alg':'HS256'}" },
	{ -EBADMSG, "{" RFC_RSA_PUBLIC ",'alg':256}" },
	{ -EBADMSG, "{" RFC_P256_PUBLIC ",'alg':'ES512'}" },
	{ -EBADMSG, "{" RFC_ED25519_PUBLIC ",'alg':'ES256'}" },
	{ -EBADMSG, "{'kty':'oct','k':'" K64 "','alg':'RS256'}" },
	/* RSA. */
	{ -EBADMSG, "{'kty':'RSA','e':'AQAB'}" },
	{ -EBADMSG, "{'kty':'RSA','n':'" RFC_RSA_N "'}" },
	{ -EBADMSG, "{'kty':'RSA','n':'" RFC_RSA_N "','e':65537}" },
	{ -EBADMSG, "{'kty':'RSA','n':'" RFC_RSA_N "','e':''}" },
	{ -EBADMSG, "{'kty':'RSA','n':'','e':'AQAB'}" },
	{ -EBADMSG, "{'kty':'RSA','n':'" RFC_RSA_N "','e':'AAEAAQ'}" },
	{ -EBADMSG, "{'kty':'RSA','n':'" RFC_RSA_N "==','e':'AQAB'}" },
	{ -EBADMSG, "{'kty':'RSA','n':'AAAA" RFC_RSA_N "','e':'AQAB'}" },
	{ -EKEYREJECTED, "{'kty':'RSA','n':'" RFC_RSA_N "','e':'AQ'}" },
	{ -EKEYREJECTED, "{'kty':'RSA','n':'" RFC_RSA_N "','e':'Ag'}" },
	{ -EKEYREJECTED, "{'kty':'RSA','n':'" RFC_RSA_N "','e':'AQAA'}" },
	{ -ENOTSUP, "{'kty':'RSA','n':'" RFC_RSA_N "','e':'AQAAAAAAAAAB'}" },
	{ -EKEYREJECTED,
	  "{'kty':'RSA','n':'wlCX2QOCvxzxEMd2ysOq-xAPmDYSb_4ZcHqPETnbxi7TSmpkuMkn39KdrThL0Bv9mr6qaDkdDFbGBMXI"
	  "9lD9U_RM9EDEi77Y-Tmcsrr05fbLrzy1TO2T9rFaPunmpJ4hA7IdTQ6IDq70ZzHrYdO2WtTdtFpS_KmslcsICrKBAMU',"
	  "'e':'AQAB'}" },
	{ -EBADMSG, "{" RFC_RSA_PUBLIC ",'d':'" RFC_RSA_D "'}" },
	{ -EBADMSG, "{" RFC_RSA_PUBLIC ",'p':'" RFC_RSA_P "'}" },
	{ -ENOTSUP, "{" RFC_RSA_PRIVATE ",'oth':[]}" },
#define RSA_WITH(d, p, q, dp, dq, qi)                                                              \
	"{" RFC_RSA_PUBLIC ",'d':'" d "','p':'" p "','q':'" q "','dp':'" dp "','dq':'" dq          \
	"','qi':'" qi "'}"
	{ -EKEYREJECTED, RSA_WITH("AQ", RFC_RSA_P, RFC_RSA_Q, RFC_RSA_DP, RFC_RSA_DQ, RFC_RSA_QI) },
	{ -EKEYREJECTED, RSA_WITH(RFC_RSA_D, "AQ", RFC_RSA_N, RFC_RSA_DP, RFC_RSA_DQ, RFC_RSA_QI) },
	{ -EKEYREJECTED,
	  RSA_WITH(RFC_RSA_D, RFC_RSA_Q, RFC_RSA_P, RFC_RSA_DQ, RFC_RSA_DP, RFC_RSA_QI) },
	{ -EKEYREJECTED,
	  RSA_WITH(RFC_RSA_D, RFC_RSA_P, RFC_RSA_P, RFC_RSA_DP, RFC_RSA_DP, RFC_RSA_QI) },
	{ -EKEYREJECTED,
	  RSA_WITH(RFC_RSA_D, RFC_RSA_P, RFC_RSA_Q, RFC_RSA_DQ, RFC_RSA_DQ, RFC_RSA_QI) },
	{ -EKEYREJECTED,
	  RSA_WITH(RFC_RSA_D, RFC_RSA_P, RFC_RSA_Q, RFC_RSA_DP, RFC_RSA_DP, RFC_RSA_QI) },
	{ -EKEYREJECTED, RSA_WITH(RFC_RSA_D, RFC_RSA_P, RFC_RSA_Q, RFC_RSA_DP, RFC_RSA_DQ, "AQ") },
	{ -EKEYREJECTED,
	  RSA_WITH("____" RFC_RSA_D, RFC_RSA_P, RFC_RSA_Q, RFC_RSA_DP, RFC_RSA_DQ, RFC_RSA_QI) },
	{ -EBADMSG, RSA_WITH(RFC_RSA_D, RFC_RSA_P, RFC_RSA_Q, RFC_RSA_DP, RFC_RSA_DQ, "") },
	/* d fits only one of dp and dq: it is d + q - 1, and d + p - 1. */
	{ -EKEYREJECTED,
	  RSA_WITH(
		  "Eq5xpGnNCivDflJsRQBXHx1hdR1k6Ulwe2JZD50LpXyWPEAeP88vLNO97IjlA7_GQ5sLKMgvfTeXZx9S"
		  "E-7YwVol2NXOoAJe46sui395IW_GO-pWJ1O0BkTGoVEn2bKVRUCgu-GjBVaYLU6f3l9kJfFNS3E0QbVd"
		  "xzubSu3Mkq2clkK1_xLDMFLIrqxE7ihdvwkl9UjYluPBBTEKfXANOnbFgOT3uGCPaHfkLIYxCduHEk93"
		  "p3rXkwD0tFFpNS_yoTJA7NVMYpU1rc3OukF3CK_ztM9MFMybpuvQ9bRQywXgO4iK-414HNoF2ttmi-nu"
		  "nZNsoAppgjRRy1eBedvNcw",
		  RFC_RSA_P, RFC_RSA_Q, RFC_RSA_DP, RFC_RSA_DQ, RFC_RSA_QI) },
	{ -EKEYREJECTED,
	  RSA_WITH(
		  "Eq5xpGnNCivDflJsRQBXHx1hdR1k6Ulwe2JZD50LpXyWPEAeP88vLNO97IjlA7_GQ5sLKMgvfTeXZx9S"
		  "E-7YwVol2NXOoAJe46sui395IW_GO-pWJ1O0BkTGoVEn2bKVRUCgu-GjBVaYLU6f3l9kJfFNS3E0QbVd"
		  "xzubSu3Mkq3Dr0JI4MWzYrvJyEdb0Uq3AmJdwvWfUdhmcNJdeDck1mU_hMvMTSjlVjKUqwG7H4ettZzA"
		  "ZV-F8GO-H2nJWYvV5JNTE4tiQS5a9VxUWDl_V2b-BS2YGFGmvH49wMh0wWlo86J_X7MZOpxLPlAXDipn"
		  "9xWqmJJuSCbIeQdHq3qM4w",
		  RFC_RSA_P, RFC_RSA_Q, RFC_RSA_DP, RFC_RSA_DQ, RFC_RSA_QI) },
	/* The public exponent is another: only a signature shows that. */
	{ -EKEYREJECTED, "{'kty':'RSA','n':'" RFC_RSA_N "','e':'Aw','d':'" RFC_RSA_D
			 "','p':'" RFC_RSA_P "','q':'" RFC_RSA_Q "','dp':'" RFC_RSA_DP
			 "','dq':'" RFC_RSA_DQ "','qi':'" RFC_RSA_QI "'}" },
	/* EC. */
	{ -EBADMSG, "{'kty':'EC','x':'" K32 "','y':'" K32 "'}" },
	{ -ENOTSUP, "{'kty':'EC','crv':'secp256k1','x':'" K32 "','y':'" K32 "'}" },
	{ -ENOTSUP, "{'kty':'EC','crv':'Ed25519','x':'" K32 "','y':'" K32 "'}" },
	{ -EBADMSG,
	  "{'kty':'EC','crv':'P-256','x':'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU'}" },
	{ -EKEYREJECTED, "{'kty':'EC','crv':'P-256','x':'" K32 "','y':'" K32 "'}" },
	{ -EKEYREJECTED,
	  "{'kty':'EC','crv':'P-256','x':'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',"
	  "'y':'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5bA'}" },
	/* x + p: the same point by another name. */
	{ -EKEYREJECTED,
	  "{'kty':'EC','crv':'P-256','x':'_____wAAAAEAAAAAAAAAAAAAAAEAAAAAAAAAAAAAAAQ',"
	  "'y':'RZJDuapYGAb-kTvOmYF63hHKUDxk2aPFM0FcCDJI-8w'}" },
#define P521(x, y) "{'kty':'EC','crv':'P-521','x':'" x "','y':'" y "'}"
#define P521_X                                                                                     \
	"AekpBQ8ST8a8VcfVOTNl353vSrDCLLJXmPk06wTjxrrjcBpXp5EOnYG_NjFZ6OvLFV1jSfS9tsz4qUxcWceqwQGk"
#define P521_Y                                                                                     \
	"ADSmRA43Z1DSNx_RvcLI87cdL07l6jQyyBXMoxVg_l2Th-x3S1WDhjDly79ajL4Kkd0AZMaZmh9ubmf63e3kyMj2"
	{ -EKEYREJECTED,
	  P521("A-kpBQ8ST8a8VcfVOTNl353vSrDCLLJXmPk06wTjxrrjcBpXp5EOnYG_NjFZ6OvLFV1jSfS9tsz4qUxcWceqwQGj",
	       P521_Y) },
	{ -EKEYREJECTED,
	  P521(P521_X,
	       "AjSmRA43Z1DSNx_RvcLI87cdL07l6jQyyBXMoxVg_l2Th-x3S1WDhjDly79ajL4Kkd0AZMaZmh9ubmf63e3kyMj1") },
	/* What may stand for no point at all. */
	{ -EKEYREJECTED, P521(K66, K66) },
	{ -EKEYREJECTED, "{'kty':'EC','crv':'P-384','x':'" K48 "','y':'" K48 "'}" },
	/* Narrower and wider than the curve. */
	{ -EBADMSG,
	  "{'kty':'EC','crv':'P-256','x':'BQ','y':'RZJDuapYGAb-kTvOmYF63hHKUDxk2aPFM0FcCDJI-8w'}" },
	{ -EBADMSG, "{'kty':'EC','crv':'P-384','x':'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',"
		    "'y':'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0'}" },
	{ -EKEYREJECTED, "{" RFC_P256_PUBLIC ",'d':'" K32 "'}" },
	{ -EKEYREJECTED,
	  "{" RFC_P256_PUBLIC ",'d':'_____wAAAAD__________7zm-q2nF56E87nKwvxjJVE'}" },
	{ -EKEYREJECTED,
	  "{" RFC_P256_PUBLIC ",'d':'jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LA'}" },
	/* The point on the other side: its y is another, its x the same. */
	{ -EKEYREJECTED,
	  "{'kty':'EC','crv':'P-256','x':'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',"
	  "'y':'OA67MeRCZIJ40yASRhFGC0yWopJW9NtSdbnc13p3GlI',"
	  "'d':'jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI'}" },
	{ -EBADMSG, "{" RFC_P256_PUBLIC ",'d':'AQ'}" },
	{ -EBADMSG, "{" RFC_P256_PUBLIC ",'d':7}" },
	/* OKP. */
	{ -EBADMSG, "{'kty':'OKP','crv':'Ed25519'}" },
	{ -ENOTSUP, "{'kty':'OKP','crv':'X25519','x':'" K32 "'}" },
	{ -EBADMSG, "{'kty':'OKP','crv':'Ed25519','x':'" K48 "'}" },
	{ -EBADMSG, "{'kty':'OKP','crv':'Ed448','x':'" K32 "'}" },
	{ -EKEYREJECTED, "{" RFC_ED25519_PUBLIC ",'d':'" K32 "'}" },
#define ED25519(x) "{'kty':'OKP','crv':'Ed25519','x':'" x "'}"
	/* No point has this y. */
	{ -EKEYREJECTED, ED25519("AgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA") },
	/* Of an order of at most 8. */
	{ -EKEYREJECTED, ED25519(K32) },
	{ -EKEYREJECTED, ED25519("AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA") },
	{ -EKEYREJECTED, ED25519("7P_______________________________________38") },
	{ -EKEYREJECTED, ED25519("JuiVj8KyJ7BFw_SJ8u-Y8NXfrAXTxjM5sTgCiG1T_AU") },
	{ -EKEYREJECTED, ED25519("xxdqcD1N2E-6PAt2DRBnDyogU_osOczGTsf9d5KsA3o") },
	{ -EKEYREJECTED, ED25519("xxdqcD1N2E-6PAt2DRBnDyogU_osOczGTsf9d5KsA_o") },
	/* p, p + 1, p + 3: what has another name. */
	{ -EKEYREJECTED, ED25519("7f_______________________________________38") },
	{ -EKEYREJECTED, ED25519("7v_______________________________________38") },
	{ -EKEYREJECTED, ED25519("8P_______________________________________38") },
#define ED448(x) "{'kty':'OKP','crv':'Ed448','x':'" x "'}"
	{ -EKEYREJECTED,
	  ED448("AgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA") },
	{ -EKEYREJECTED,
	  ED448("AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA") },
	{ -EKEYREJECTED,
	  ED448("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA") },
	{ -EKEYREJECTED,
	  ED448("_v____________________________________7___________________________________8A") },
	{ -EKEYREJECTED,
	  ED448("AgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAP____________________________________8A") },
	/* Secrets. */
	{ -EBADMSG, "{'kty':'oct'}" },
	{ -EBADMSG, "{'kty':'oct','k':'" K32 "='}" },
	{ -EBADMSG, "{'kty':'oct','k':'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB'}" },
	{ -EKEYREJECTED, "{'kty':'oct','k':''}" },
	{ -EKEYREJECTED, "{'kty':'oct','k':'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'}" },
	{ -EKEYREJECTED, "{'kty':'oct','k':'" K32 "','alg':'HS384'}" },
	{ -EKEYREJECTED, "{'kty':'oct','k':'" K48 "','alg':'HS512'}" },
	{ -ENOTSUP, "{'kty':'oct','k':'" K32 "','alg':'A256KW'}" },
};

Test(jwk, is_refused)
{
	struct eddy_jwk *key = (struct eddy_jwk *)&bad;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect(eq(int, keys_read(bad[i].json, &key), bad[i].r), "%s", bad[i].json);
	cr_expect(eq(ptr, key, (void *)&bad));
	cr_expect(eq(int, eddyi_jwk_read(NULL, false, &key), -EBADMSG));
}

Test(jwk, secret_is_made_a_key)
{
	char secret[100] = "";
	struct eddy_jwk_options options = { .kid = "it", .algs = EDDY_JWS_BIT(EDDY_JWS_HS512) };
	struct eddy_jwk *key = NULL;

	cr_expect(eq(int, eddy_jwk_from_secret(eddy_str(NULL, 0), NULL, &key), -EKEYREJECTED));
	cr_expect(eq(int, eddy_jwk_from_secret(eddy_str(secret, 31), NULL, &key), -EKEYREJECTED));
	cr_expect(
		eq(int, eddy_jwk_from_secret(eddy_str(secret, 63), &options, &key), -EKEYREJECTED));
	options.algs = EDDY_JWS_PUBLIC;
	cr_expect(eq(int, eddy_jwk_from_secret(eddy_str(secret, 64), &options, &key), -EINVAL));
	options.algs = EDDY_JWS_SECRET;
	cr_assert(zero(int, eddy_jwk_from_secret(eddy_str(secret, 48), &options, &key)));
	cr_expect(eq(uint, eddy_jwk_algs(key),
		     EDDY_JWS_BIT(EDDY_JWS_HS256) | EDDY_JWS_BIT(EDDY_JWS_HS384)));
	cr_expect(eddy_str_eq_z(eddy_jwk_kid(key), "it"));
	cr_expect(eddy_jwk_is_private(key));
	cr_expect(zero(ptr, (void *)eddy_jwk_public_json(key)),
		  "a secret has nothing that is public");
	eddy_jwk_unref(key);
}

/* HMAC counts it in 32 bits. */
Test(jwk, secret_has_a_limit)
{
	char *secret = calloc(1, EDDY_JWS_TEXT_MAX + 1);
	struct eddy_jwk *key = NULL;

	cr_expect(eq(int, eddy_jwk_from_secret(eddy_str(secret, EDDY_JWS_TEXT_MAX + 1), NULL, &key),
		     -ENOTSUP));
	cr_expect(zero(ptr, (void *)key));
	free(secret);
}

static void expect_same(const struct eddy_jwk *a, const struct eddy_jwk *b)
{
	char thumbprints[2][EDDY_JWK_THUMBPRINT_SIZE];

	eddy_jwk_thumbprint(a, thumbprints[0]);
	eddy_jwk_thumbprint(b, thumbprints[1]);
	cr_expect(eq(str, thumbprints[0], thumbprints[1]));
}

Test(jwk, is_published)
{
	static const struct {
		const char *json, *published;
	} rows[] = {
		{ "{" RFC_RSA_PRIVATE ",'kid':'a\\u0022b','key_ops':['sign']}",
		  "{'kty':'RSA','use':'sig','kid':'a\\\"b','n':'" RFC_RSA_N "','e':'AQAB'}" },
		{ "{" RFC_RSA_PUBLIC ",'kid':'','alg':'PS256'}",
		  "{'kty':'RSA','use':'sig','kid':'','alg':'PS256','n':'" RFC_RSA_N
		  "','e':'AQAB'}" },
		{ "{" RFC_P256_PRIVATE ",'x5c':['odd']}",
		  "{'kty':'EC','use':'sig','alg':'ES256','crv':'P-256',"
		  "'x':'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',"
		  "'y':'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0'}" },
		{ "{" RFC_ED25519_PRIVATE "}",
		  "{'kty':'OKP','use':'sig','alg':'EdDSA','crv':'Ed25519',"
		  "'x':'11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'}" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct eddy_jwk *key = keys_parse(rows[i].json), *again = NULL;
		json_t *json = eddy_jwk_public_json(key);
		char *text = json_dumps(json, JSON_COMPACT),
		     *expected = keys_json(rows[i].published);

		cr_expect(eq(str, text, expected));
		cr_assert(zero(int, eddyi_jwk_read(json, false, &again)));
		expect_same(key, again);
		cr_expect(eq(uint, eddy_jwk_algs(key), eddy_jwk_algs(again)));
		cr_expect(not(eddy_jwk_is_private(again)));
		free(text);
		free(expected);
		json_decref(json);
		eddy_jwk_unref(key);
		eddy_jwk_unref(again);
	}
}

/* Another thumbprint for each, also of secrets, of which the pieces matter. */
Test(jwk, thumbprints_tell_keys_apart)
{
	static const char *const keys[] = {
		"{" RFC_RSA_PUBLIC "}",        "{'kty':'RSA','n':'" RFC_RSA_N "','e':'Aw'}",
		"{" RFC_P256_PUBLIC "}",       "{" RFC_P521_PUBLIC "}",
		"{" RFC_ED25519_PUBLIC "}",    "{'kty':'oct','k':'" K32 "'}",
		"{'kty':'oct','k':'" K48 "'}", "{'kty':'oct','k':'" K64 "'}",
	};
	char seen[sizeof(keys) / sizeof(keys[0])][EDDY_JWK_THUMBPRINT_SIZE];

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		struct eddy_jwk *key = keys_parse(keys[i]);

		eddy_jwk_thumbprint(key, seen[i]);
		cr_expect(eq(sz, strlen(seen[i]), EDDY_JWK_THUMBPRINT_SIZE - 1));
		for (size_t j = 0; j < i; j++)
			cr_expect(ne(str, seen[i], seen[j]), "%s", keys[i]);
		eddy_jwk_unref(key);
	}
	/* printf '{"k":"%s","kty":"oct"}' KEY | openssl dgst -sha256 -binary | basenc --base64url */
	cr_expect(eq(str, seen[7], "IxlVes3qOBhi-_A48GJFco-Bzr-j996w5TGQI8bnhoU"));
}

Test(jwk, is_wiped)
{
	struct eddy_str secret = eddy_str_from("a secret that is longer than 32 bytes, by a few");
	struct eddy_jwk *key = NULL;

	cr_assert(zero(int, eddy_jwk_from_secret(secret, NULL, &key)));
	freed_watch(key, secret);
	eddy_jwk_unref(eddy_jwk_ref(key));
	cr_expect(zero(int, freed_count), "somebody still has it");
	eddy_jwk_unref(key);
	cr_expect(eq(int, freed_count, 1));
	cr_expect(not(freed_with_secret));
	eddy_jwk_unref(NULL);
	cr_expect(zero(ptr, (void *)eddy_jwk_ref(NULL)));
}

/* Nor does what a key was read from outlive it: its text in the JSON, and the bytes of that. The name, which is longer,
 * comes where jansson had the text before. */
Test(jwk, is_read_without_a_trace)
{
	static const char k[] = "YSBzZWNyZXQgdGhhdCBpcyBsb25nZXIgdGhhbiAzMiBieXRlcywgYnkgYSBmZXc";
	char *json = keys_json(
		"{'kty':'oct','k':'YSBzZWNyZXQgdGhhdCBpcyBsb25nZXIgdGhhbiAzMiBieXRlcywgYnkgYSBmZXc',"
		"'kid':'0123456789012345678901234567890123456789012345678901234567890123456789'}");
	struct eddy_str bytes = keys_decode(k), secrets[] = { bytes, eddy_str_from(k) };

	lacking_in_libraries();
	for (size_t i = 0; i < 2; i++) {
		struct eddy_jwk *key = NULL;

		freed_watch(NULL, secrets[i]);
		cr_assert(zero(int, eddy_jwk_parse(eddy_str_from(json), &key)));
		eddy_jwk_unref(key);
		cr_expect(gt(int, freed_count, 5), "what jansson frees is seen");
		cr_expect(not(freed_with_secret), "%zu", i);
		freed_watch(NULL, eddy_str(NULL, 0));
	}
	free((char *)bytes.ptr);
	free(json);
}

Test(jwk, survives_a_lack_of_memory)
{
	static const char *const keys[] = { "{" RFC_RSA_PRIVATE "}", "{" RFC_P256_PRIVATE "}",
					    "{" RFC_ED25519_PRIVATE "}",
					    "{'kty':'oct','k':'" K32 "'}" };
	int taken = 0;

	lacking_in_libraries();
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		char *json = keys_json(keys[i]);

		for (int at = 1, was = 0; was == 0; at++) {
			struct eddy_jwk *key = NULL;
			int r;

			failing_at = at;
			r = eddy_jwk_parse(eddy_str_from(json), &key);
			was = failing_at;
			failing_at = 0;
			cr_expect(was ? r == 0 : r == 0 || LACKING(r), "%s %d: %d", keys[i], at, r);
			cr_expect(eq(int, r == 0, key != NULL));
			eddy_jwk_unref(key);
			taken += !was && r == -ENOMEM;
		}
		free(json);
	}
	cr_expect(gt(int, taken, 20));
}

Test(jwk, is_published_or_not_at_all)
{
	static const char *const keys[] = { "{" RFC_RSA_PUBLIC ",'kid':'1'}",
					    "{" RFC_P256_PUBLIC ",'kid':'1'}" };

	lacking_in_libraries();
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		struct eddy_jwk *key = keys_parse(keys[i]);

		for (int at = 1, was = 0; was == 0; at++) {
			json_t *json;

			failing_at = at;
			json = eddy_jwk_public_json(key);
			was = failing_at;
			failing_at = 0;
			cr_expect(was ? json != NULL : !json, "%d", at);
			json_decref(json);
		}
		eddy_jwk_unref(key);
	}
}
