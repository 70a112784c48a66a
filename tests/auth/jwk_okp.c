/* Tests of jwk_okp.c: the numbers of a signature. */
#include "jwt/jwk.h"
#include "keys.h"
#include "pems.h"

#include <errno.h>

/* Add the order of the group to S, the low byte first. */
static void add_order(unsigned char *s, const struct eddyi_jwk_curve *curve)
{
	unsigned carry = 0;

	for (size_t i = 0; i < curve->width; i++) {
		carry += s[i] + curve->order[i];
		s[i] = (unsigned char)carry;
		carry >>= 8;
	}
}

/* S + L is S to who computes modulo L. wolfCrypt 5.5 takes it where its high byte is L's, which one in 16 has. */
Test(jwk_okp, s_is_below_the_order)
{
	static const char *const pems[] = { pem_ed25519_pkcs8, pem_ed448_pkcs8 };

	for (size_t i = 0; i < sizeof(pems) / sizeof(pems[0]); i++) {
		struct eddy_jwk *key = keys_pem(pems[i], 0);
		size_t width = key->curve->width, len = key->curve->signature_len;
		int alike = 0;

		for (unsigned char n = 0; n < 100; n++) {
			struct eddy_str text = eddy_str((char *)&n, 1);
			unsigned char signature[EDDY_JWS_SIGNATURE_MAX];
			struct eddy_str str = eddy_str((char *)signature, len);

			cr_assert(eq(int, (int)eddy_jwk_sign(key, EDDY_JWS_EDDSA, text, signature),
				     (int)len));
			cr_assert(zero(int, eddy_jwk_verify(key, EDDY_JWS_EDDSA, text, str)));
			add_order(signature + width, key->curve);
			cr_expect(eq(int, eddy_jwk_verify(key, EDDY_JWS_EDDSA, text, str),
				     -EKEYREJECTED),
				  "%s %d", key->curve->name, n);
			alike += signature[len - 1] == key->curve->order[width - 1];
		}
		cr_expect(gt(int, alike, 0));
		eddy_jwk_unref(key);
	}
}
