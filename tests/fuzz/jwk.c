/* Fuzzes eddy/jwk.h: a JSON Web Key. One that is read is published as JSON that is the same key again, and takes no
 * signature of zeros. */
#include "jwt/jwk.h"

#include <errno.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect_same(const struct eddy_jwk *a, const struct eddy_jwk *b)
{
	char thumbprints[2][EDDY_JWK_THUMBPRINT_SIZE];

	eddy_jwk_thumbprint(a, thumbprints[0]);
	eddy_jwk_thumbprint(b, thumbprints[1]);
	if (strcmp(thumbprints[0], thumbprints[1]) != 0)
		abort();
	if (!eddy_str_eq(eddy_jwk_kid(a), eddy_jwk_kid(b)) || eddy_jwk_algs(a) != eddy_jwk_algs(b))
		abort();
}

static void try_signatures(const struct eddy_jwk *key)
{
	static const char zeros[EDDY_JWS_SIGNATURE_MAX];
	static const size_t lens[] = { 0, 32, 48, 64, 96, 114, 132, 256, 384, 512 };

	for (unsigned alg = 0; alg < EDDY_JWS_ALGS; alg++)
		for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
			int r = eddy_jwk_verify(key, (enum eddy_jws_alg)alg, EDDY_STR("text"),
						eddy_str(zeros, lens[i]));

			if (r != -EKEYREJECTED && r != -EINVAL)
				abort();
		}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct eddy_jwk *key, *again;
	json_t *json;

	if (eddy_jwk_parse(eddy_str((const char *)data, size), &key) < 0)
		return 0;
	/* A key has some use. */
	if (!eddy_jwk_algs(key))
		abort();
	json = eddy_jwk_public_json(key);
	if (json) {
		if (eddyi_jwk_read(json, false, &again) < 0 || eddy_jwk_is_private(again))
			abort();
		/* Where several algorithms were chosen from JSON has no word for it; from JSON they never are. */
		expect_same(key, again);
		eddy_jwk_unref(again);
		json_decref(json);
	}
	try_signatures(key);
	eddy_jwk_unref(key);
	return 0;
}
