/* Tests of jwk_ec.c: the halves of a signature. */
#include "jwk.h"
#include "keys.h"
#include "pems.h"

#include <errno.h>

static const struct eddy_str text = { "text", 4 };

/* Any of these for r, s or both: 0 and n fit nothing, and r + n is r to who computes modulo n. */
static int try_others(const struct eddy_jwk *key, const unsigned char *good)
{
	const struct eddyi_jwk_curve *curve = key->curve;
	unsigned char changed[EDDY_JWS_SIGNATURE_MAX];
	struct eddy_str signature = eddy_str((char *)changed, curve->signature_len);
	int tried = 0;

	for (unsigned halves = 1; halves < 4; halves++) {
		for (unsigned what = 0; what < 3; what++) {
			bool has_room = true;

			memcpy(changed, good, curve->signature_len);
			for (unsigned half = 0; half < 2; half++) {
				unsigned char *at = changed + half * curve->width;

				if (!(halves & 1u << half))
					continue;
				if (what < 2)
					memset(at, 0, curve->width);
				if (what > 0)
					has_room &= keys_add(at, curve->order, curve->width);
			}
			if (!has_room)
				continue;
			cr_expect(eq(int, eddy_jwk_verify(key, curve->alg, text, signature),
				     -EKEYREJECTED),
				  "%s %u %u", curve->name, halves, what);
			tried++;
		}
	}
	return tried;
}

Test(jwk_ec, halves_are_from_1_to_the_order)
{
	static const char *const pems[] = { pem_ec256_pkcs8, pem_ec384_pkcs8, pem_ec521_pkcs8 };

	for (size_t i = 0; i < sizeof(pems) / sizeof(pems[0]); i++) {
		struct eddy_jwk *key = keys_pem(pems[i], 0);
		unsigned char signature[EDDY_JWS_SIGNATURE_MAX];

		cr_assert(gt(int, (int)eddy_jwk_sign(key, key->curve->alg, text, signature), 0));
		/* 521 bits leave room for r + n in 66 bytes. */
		cr_expect(ge(int, try_others(key, signature), i == 2 ? 9 : 6));
		eddy_jwk_unref(key);
	}
}
