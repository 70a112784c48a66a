/* Tests of eddy_jwk_from_pem(). */
#include "keys.h"
#include "pems.h"

#include "../runtime/failing.h"
#include "freed.h"
#include "lacking.h"

#include <errno.h>

#define RSA (0x3fu << EDDY_JWS_RS256)
#define ES256 EDDY_JWS_BIT(EDDY_JWS_ES256)
#define ES512 EDDY_JWS_BIT(EDDY_JWS_ES512)
#define EDDSA EDDY_JWS_BIT(EDDY_JWS_EDDSA)

/* The forms of one key stand together. */
static const struct {
	int key;
	const char *pem;
	unsigned algs;
	bool is_private;
} forms[] = {
	{ 0, pem_rsa_pkcs8, RSA, true },
	{ 0, pem_rsa_pkcs1, RSA, true },
	{ 0, pem_rsa_spki, RSA, false },
	{ 0, pem_rsa_public, RSA, false },
	{ 0, pem_rsa_certificate, RSA, false },
	{ 1, pem_ec256, ES256, true },
	{ 1, pem_ec256_pkcs8, ES256, true },
	{ 1, pem_ec256_no_public, ES256, true },
	{ 1, pem_ec256_spki, ES256, false },
	{ 1, pem_ec256_certificate, ES256, false },
	{ 2, pem_ec384_pkcs8, EDDY_JWS_BIT(EDDY_JWS_ES384), true },
	{ 2, pem_ec384_spki, EDDY_JWS_BIT(EDDY_JWS_ES384), false },
	{ 3, pem_ec521_pkcs8, ES512, true },
	{ 3, pem_ec521_spki, ES512, false },
	{ 3, pem_ec521_no_public, ES512, true },
	{ 4, pem_ed25519_pkcs8, EDDSA, true },
	{ 4, pem_ed25519_spki, EDDSA, false },
	{ 5, pem_ed448_pkcs8, EDDSA, true },
	{ 5, pem_ed448_spki, EDDSA, false },
};

Test(jwk_pem, every_form_is_read)
{
	char first[EDDY_JWK_THUMBPRINT_SIZE] = "", this[EDDY_JWK_THUMBPRINT_SIZE];
	int last = -1;

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct eddy_jwk *key = keys_pem(forms[i].pem, 0);

		eddy_jwk_thumbprint(key, this);
		if (forms[i].key == last)
			cr_expect(eq(str, this, first), "%zu", i);
		else
			cr_expect(ne(str, this, first), "%zu", i);
		memcpy(first, this, sizeof(first));
		last = forms[i].key;
		cr_expect(eq(uint, eddy_jwk_algs(key), forms[i].algs), "%zu", i);
		cr_expect(eq(int, eddy_jwk_is_private(key), forms[i].is_private), "%zu", i);
		cr_expect(zero(ptr, (void *)eddy_jwk_kid(key).ptr));
		eddy_jwk_unref(key);
	}
}

static int read_pem(const char *pem)
{
	struct eddy_jwk *key = NULL;
	int r = eddy_jwk_from_pem(eddy_str_from(pem), NULL, &key);

	eddy_jwk_unref(key);
	return r;
}

#define BLOCK(label, base64) "-----BEGIN " label "-----\n" base64 "\n-----END " label "-----\n"

#define ED25519 "MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="
#define PUBLIC BLOCK("PUBLIC KEY", ED25519)

Test(jwk_pem, others_are_refused)
{
	static const struct {
		int r;
		const char *pem;
	} rows[] = {
		{ -ENOTSUP, pem_ec256_encrypted },
		{ -ENOTSUP, pem_ec256_old_encrypted },
		{ -ENOTSUP, pem_ec256_compressed },
		{ -ENOTSUP, pem_ec256_explicit },
		{ -ENOTSUP, pem_secp256k1 },
		{ -ENOTSUP, pem_x25519 },
		{ -ENOTSUP, pem_rsa_three_primes },
		{ -EKEYREJECTED, pem_rsa_1024 },
		{ -EBADMSG, "" },
		{ -EBADMSG, "a secret that is no PEM" },
		{ -EBADMSG, "-----BEGIN PUBLIC KEY-----" },
		{ -EBADMSG, "-----BEGIN PUBLIC KEY-----\nMEEC\n-----END CERTIFICATE-----\n" },
		{ -EBADMSG,
		  "-----BEGIN PUBLIC KEY-----\n" ED25519 "\n-----END CERTIFICATE-----\n" },
		{ 0, PUBLIC },
		{ -EBADMSG, BLOCK("PUBLIC KEY", "") },
		{ -EBADMSG, BLOCK("PUBLIC KEY", "MEEC") },
		{ -EBADMSG, BLOCK("PUBLIC KEY", "!!!!") },
		{ -EBADMSG, BLOCK("PRIVATE KEY", "MAA=") },
		{ -EBADMSG, BLOCK("RSA PRIVATE KEY", "MAA=") },
		{ -EBADMSG, BLOCK("RSA PUBLIC KEY", "MAA=") },
		{ -EBADMSG, BLOCK("EC PRIVATE KEY", "MAA=") },
		{ -EBADMSG, BLOCK("CERTIFICATE", "MAA=") },
		{ -EBADMSG, BLOCK("CERTIFICATE REQUEST", "MAA=") },
		{ -ENOTSUP, BLOCK("OPENSSH PRIVATE KEY", "MAA=") },
		/* A key of a kind that is not read is not passed over for the next. */
		{ -ENOTSUP, BLOCK("TRUSTED CERTIFICATE", "MAA=") PUBLIC },
		{ -ENOTSUP, BLOCK("ENCRYPTED PRIVATE KEY", "MAA=") PUBLIC },
		{ -ENOTSUP, BLOCK("DSA PRIVATE KEY", "MAA=") PUBLIC },
		{ -EBADMSG, BLOCK("PUBLIC KEY", "MAA=") PUBLIC },
		{ 0, BLOCK("DSA PARAMETERS", "MAA=") PUBLIC },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect(eq(int, read_pem(rows[i].pem), rows[i].r), "%zu %s", i, rows[i].pem);
	cr_expect(eq(int, eddy_jwk_from_pem(eddy_str(NULL, 0), NULL, NULL), -EBADMSG));
}

/* Whatever byte of a key is another, it is refused, or it is another key; nobody reads outside it. */
Test(jwk_pem, broken_ones_do_no_harm)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i += 3) {
		char *pem = strdup(forms[i].pem);
		size_t len = strlen(pem);
		int refused = 0;

		for (size_t at = 27; at < len - 30; at += 7) {
			char was = pem[at];

			pem[at] = was == 'A' ? 'B' : 'A';
			refused += read_pem(pem) < 0;
			pem[at] = was;
		}
		for (size_t cut = len - 1; cut > 60; cut -= 9) {
			char *exact = strndup(pem, cut);

			refused += read_pem(exact) < 0;
			free(exact);
		}
		cr_expect(gt(int, refused, 10), "%zu", i);
		free(pem);
	}
}

Test(jwk_pem, the_first_key_counts)
{
	char text[4000];
	struct eddy_jwk *key, *expected = keys_pem(pem_ec256_spki, 0);
	char thumbprints[2][EDDY_JWK_THUMBPRINT_SIZE];

	snprintf(text, sizeof(text), "Some words.\r\n%s\n%s%s",
		 BLOCK("EC PARAMETERS", "BggqhkjOPQMBBw=="), pem_ec256_spki, pem_rsa_spki);
	key = keys_pem(text, 0);
	eddy_jwk_thumbprint(key, thumbprints[0]);
	eddy_jwk_thumbprint(expected, thumbprints[1]);
	cr_expect(eq(str, thumbprints[0], thumbprints[1]));
	eddy_jwk_unref(key);
	eddy_jwk_unref(expected);
}

Test(jwk_pem, options_say_what_pem_can_not)
{
	struct eddy_jwk_options options = { .kid = "2026", .algs = EDDY_JWS_PUBLIC };
	struct eddy_jwk *key = NULL;

	cr_assert(zero(int, eddy_jwk_from_pem(eddy_str_from(pem_ec256_spki), &options, &key)));
	cr_expect(eddy_str_eq_z(eddy_jwk_kid(key), "2026"));
	cr_expect(eq(uint, eddy_jwk_algs(key), ES256));
	eddy_jwk_unref(key);
	options.algs = EDDY_JWS_BIT(EDDY_JWS_PS256) | EDDY_JWS_BIT(EDDY_JWS_RS512) | ES256;
	cr_assert(zero(int, eddy_jwk_from_pem(eddy_str_from(pem_rsa_spki), &options, &key)));
	cr_expect(eq(uint, eddy_jwk_algs(key),
		     EDDY_JWS_BIT(EDDY_JWS_PS256) | EDDY_JWS_BIT(EDDY_JWS_RS512)));
	eddy_jwk_unref(key);
	/* A public key is never a secret. */
	options.algs = EDDY_JWS_SECRET;
	cr_expect(eq(int, eddy_jwk_from_pem(eddy_str_from(pem_rsa_spki), &options, &key), -EINVAL));
}

Test(jwk_pem, private_bytes_are_wiped)
{
	struct eddy_jwk *key;
	struct eddy_str d = keys_decode(PEM_ED25519_D);

	freed_watch(NULL, d);
	key = keys_pem(pem_ed25519_pkcs8, 0);
	eddy_jwk_unref(key);
	cr_expect(ge(int, freed_count, 2), "the DER and the key");
	cr_expect(not(freed_with_secret));
	freed_watch(NULL, eddy_str(NULL, 0));
	free((char *)d.ptr);
}

Test(jwk_pem, survives_a_lack_of_memory)
{
	lacking_in_libraries();
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		int taken = 0;

		for (int at = 1, was = 0; was == 0; at++) {
			int r;

			failing_at = at;
			r = read_pem(forms[i].pem);
			was = failing_at;
			failing_at = 0;
			cr_expect(was ? r == 0 : r == 0 || r == -ENOMEM, "%zu %d: %d", i, at, r);
			taken += r == -ENOMEM;
		}
		cr_expect(ge(int, taken, 2), "%zu", i);
	}
}
