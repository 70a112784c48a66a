/* seal.h: short texts that clients keep, encrypted or signed with an app's secret.
 *
 * The secret is hashed into two keys. An encrypted text is ChaCha20-Poly1305 (RFC 8439), whose key
 * and nonce are made by HKDF (RFC 5869) from the first key, with 24 random bytes as the salt and the
 * text's name as the info. No nonce is used twice with a key, however many texts there are, and a
 * text of one name does not open under another. A signature is HMAC-SHA-256 with the second key, also of the name.
 */
#ifndef EDDYI_SEAL_H
#define EDDYI_SEAL_H

#include <eddy/str.h>

#define EDDYI_SEAL_KEY_LEN 32
#define EDDYI_SEAL_SALT_LEN 24
#define EDDYI_SEAL_TAG_LEN 16
#define EDDYI_SEAL_MAC_LEN 32

/* A sealed text: salt, encrypted bytes, tag. */
#define EDDYI_SEALED_LEN(len) (EDDYI_SEAL_SALT_LEN + (len) + EDDYI_SEAL_TAG_LEN)

struct eddyi_seal_key {
	unsigned char seal[EDDYI_SEAL_KEY_LEN], sign[EDDYI_SEAL_KEY_LEN];
};

/* Make the keys of a secret. Return: false if the library has failed. */
bool eddyi_seal_key_init(struct eddyi_seal_key *key, struct eddy_str secret);

/* Encrypt `text` into EDDYI_SEALED_LEN() bytes. Return: 0; -EIO if a library or the random number
 * source has failed. */
int eddyi_seal(const struct eddyi_seal_key *key, struct eddy_str name, struct eddy_str text,
	       unsigned char *ret_sealed);

/* Decrypt a sealed text, at least EDDYI_SEALED_LEN(0) bytes, into as many bytes as it has more.
 * Return: 0; -EBADMSG if it was not sealed with this key and name. */
int eddyi_unseal(const struct eddyi_seal_key *key, struct eddy_str name,
		 const unsigned char *sealed, size_t len, unsigned char *ret_text);

/* Sign a text. Return: false if the library has failed. */
bool eddyi_seal_sign(const struct eddyi_seal_key *key, struct eddy_str name, struct eddy_str text,
		     unsigned char ret_mac[EDDYI_SEAL_MAC_LEN]);

/* Check a signature, in constant time. */
bool eddyi_seal_is_signed(const struct eddyi_seal_key *key, struct eddy_str name,
			  struct eddy_str text, const unsigned char mac[EDDYI_SEAL_MAC_LEN]);

#endif
