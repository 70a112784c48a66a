/* Tests of auth/src/jwt/jws.h. */
#include "jwt/jws.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdio.h>

Test(jws, algorithms_are_found_by_their_exact_names)
{
	static const char *const others[] = { "none",   "",       "hs256", "HS25",
					      "HS2566", "EdDSA ", "ES256K" };
	enum eddy_jws_alg found;

	for (unsigned alg = 0; alg < EDDY_JWS_ALGS; alg++) {
		const char *name = eddy_jws_alg_name((enum eddy_jws_alg)alg);

		cr_expect(zero(int, eddyi_jws_alg_find(eddy_str_from(name), &found)), "%s", name);
		cr_expect(eq(uint, found, alg), "%s", name);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		cr_expect(eq(int, eddyi_jws_alg_find(eddy_str_from(others[i]), &found), -ENOENT),
			  "%s", others[i]);
}

/* RFC 7518 section 3.1: the digits of the name are the bits of its digest. */
Test(jws, digests_are_those_of_the_names)
{
	for (unsigned alg = 0; alg < EDDY_JWS_ALGS; alg++) {
		const char *name = eddy_jws_alg_name((enum eddy_jws_alg)alg);
		const struct eddyi_digest *digest = eddyi_jws_digest((enum eddy_jws_alg)alg);
		unsigned bits = 0;

		if (sscanf(name + 2, "%u", &bits) != 1) {
			cr_expect(eq(ptr, (void *)digest, NULL), "%s", name);
			continue;
		}
		cr_assert(ne(ptr, (void *)digest, NULL), "%s", name);
		cr_expect(eq(uint, digest->len * 8, bits), "%s", name);
		cr_expect(le(uint, digest->len, EDDYI_DIGEST_MAX), "%s", name);
	}
}

Test(jws, results_of_wolfcrypt_are_translated)
{
	cr_expect(zero(int, eddyi_wolfcrypt_error(0, -EIO)));
	cr_expect(zero(int, eddyi_wolfcrypt_error(1, -EIO)));
	cr_expect(eq(int, eddyi_wolfcrypt_error(MEMORY_E, -EIO), -ENOMEM));
	cr_expect(eq(int, eddyi_wolfcrypt_error(SIG_VERIFY_E, -EIO), -EIO));
	cr_expect(eq(int, eddyi_wolfcrypt_error(BAD_FUNC_ARG, -EKEYREJECTED), -EKEYREJECTED));
}
