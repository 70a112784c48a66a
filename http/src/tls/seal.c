#include "wolfssl.h"

#include "seal.h"

#include <eddy/internal/outside.h>
#include <errno.h>
#include <string.h>
#include <wolfssl/wolfcrypt/chacha20_poly1305.h>
#include <wolfssl/wolfcrypt/hmac.h>

_Static_assert(EDDYI_SEAL_KEY_LEN == CHACHA20_POLY1305_AEAD_KEYSIZE &&
		       EDDYI_SEAL_TAG_LEN == CHACHA20_POLY1305_AEAD_AUTHTAG_SIZE &&
		       EDDYI_SEAL_MAC_LEN == WC_SHA256_DIGEST_SIZE,
	       "lengths are those of the algorithms");

/* The key and the nonce of one text. */
struct once {
	unsigned char key[CHACHA20_POLY1305_AEAD_KEYSIZE], iv[CHACHA20_POLY1305_AEAD_IV_SIZE];
};

bool eddyi_seal_key_init(struct eddyi_seal_key *key, struct eddy_str secret)
{
	static const char info[] = "eddy cookies 1";

	return wc_HKDF(WC_SHA256, (const byte *)secret.ptr, (word32)secret.len, NULL, 0,
		       (const byte *)info, sizeof(info) - 1, (byte *)key, sizeof(*key)) == 0;
}

static bool make_once(const struct eddyi_seal_key *key, struct eddy_str name,
		      const unsigned char *salt, struct once *ret_once)
{
	return wc_HKDF(WC_SHA256, key->seal, EDDYI_SEAL_KEY_LEN, salt, EDDYI_SEAL_SALT_LEN,
		       (const byte *)name.ptr, (word32)name.len, (byte *)ret_once,
		       sizeof(*ret_once)) == 0;
}

int eddyi_seal(const struct eddyi_seal_key *key, struct eddy_str name, struct eddy_str text,
	       unsigned char *ret_sealed)
{
	unsigned char *bytes = ret_sealed + EDDYI_SEAL_SALT_LEN;
	struct once once;
	bool ok = eddyi_random(ret_sealed, EDDYI_SEAL_SALT_LEN, 0) == 0 &&
		  make_once(key, name, ret_sealed, &once) &&
		  wc_ChaCha20Poly1305_Encrypt(once.key, once.iv, NULL, 0, (const byte *)text.ptr,
					      (word32)text.len, bytes, bytes + text.len) == 0;

	explicit_bzero(&once, sizeof(once));
	return ok ? 0 : -EIO;
}

int eddyi_unseal(const struct eddyi_seal_key *key, struct eddy_str name,
		 const unsigned char *sealed, size_t len, unsigned char *ret_text)
{
	const unsigned char *bytes = sealed + EDDYI_SEAL_SALT_LEN;
	size_t text_len = len - EDDYI_SEALED_LEN(0);
	struct once once;
	bool ok = make_once(key, name, sealed, &once) &&
		  wc_ChaCha20Poly1305_Decrypt(once.key, once.iv, NULL, 0, bytes, (word32)text_len,
					      bytes + text_len, ret_text) == 0;

	explicit_bzero(&once, sizeof(once));
	return ok ? 0 : -EBADMSG;
}

bool eddyi_seal_sign(const struct eddyi_seal_key *key, struct eddy_str name, struct eddy_str text,
		     unsigned char ret_mac[EDDYI_SEAL_MAC_LEN])
{
	const unsigned char len[4] = { (unsigned char)(name.len >> 24),
				       (unsigned char)(name.len >> 16),
				       (unsigned char)(name.len >> 8), (unsigned char)name.len };
	Hmac hmac;
	bool ok;

	if (wc_HmacInit(&hmac, NULL, INVALID_DEVID) != 0)
		return false;
	/* With its length, so that no other pair has the same bytes. */
	ok = wc_HmacSetKey(&hmac, WC_SHA256, key->sign, EDDYI_SEAL_KEY_LEN) == 0 &&
	     wc_HmacUpdate(&hmac, len, sizeof(len)) == 0 &&
	     wc_HmacUpdate(&hmac, (const byte *)name.ptr, (word32)name.len) == 0 &&
	     wc_HmacUpdate(&hmac, (const byte *)text.ptr, (word32)text.len) == 0 &&
	     wc_HmacFinal(&hmac, ret_mac) == 0;
	wc_HmacFree(&hmac);
	return ok;
}

bool eddyi_seal_is_signed(const struct eddyi_seal_key *key, struct eddy_str name,
			  struct eddy_str text, const unsigned char mac[EDDYI_SEAL_MAC_LEN])
{
	unsigned char want[EDDYI_SEAL_MAC_LEN], differs = 0;

	if (!eddyi_seal_sign(key, name, text, want))
		return false;
	for (size_t i = 0; i < sizeof(want); i++)
		differs |= want[i] ^ mac[i];
	return !differs;
}
