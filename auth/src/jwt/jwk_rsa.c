/* RSA: PKCS #1 v1.5 and PSS with SHA-2 (RFC 7518 sections 3.3 and 3.5, RFC 8017). */
#include "jwk.h"

#include <errno.h>
#include <wolfssl/wolfcrypt/rsa.h>

enum { N, E, D, P, Q, DP, DQ, QI };

#define BITS_MIN 2048
#define BITS_MAX (8 * EDDYI_RSA_BYTES_MAX)
/* A longer exponent would let the key's author make verification slow. */
#define EXPONENT_BYTES_MAX 8

/* Detect ROCA keys (CVE-2017-15361), which can be factored: their primes have the form k * M +
 * 65537^a mod M, with M the product of the first primes. Modulo each of these, n is a power of
 * 65537. Of other keys one in 10^8 matches. */
static const unsigned char small_primes[] = {
	3,  5,  7,  11, 13, 17,  19,  23,  29,  31,  37,  41,  43,  47,  53,  59,  61,  67,  71,
	73, 79, 83, 89, 97, 101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167,
};

static unsigned remainder_of(struct eddy_str n, unsigned p)
{
	unsigned r = 0;

	/* Three bytes and the remainder fit in 32 bits. */
	for (size_t i = 0; i < n.len; i++) {
		r = r << 8 | eddyi_bytes(n)[i];
		if ((n.len - i) % 3 == 1)
			r %= p;
	}
	return r;
}

static bool is_power_of_65537(unsigned r, unsigned p)
{
	unsigned power = 1;

	do {
		if (power == r)
			return true;
		power = power * (65537 % p) % p;
	} while (power != 1);
	return false;
}

/* Whether n is divisible by a small prime, or a ROCA key. */
static bool is_factored(struct eddy_str n)
{
	bool all = true;

	for (size_t i = 0; i < sizeof(small_primes); i++) {
		unsigned r = remainder_of(n, small_primes[i]);

		if (!r)
			return true;
		all &= is_power_of_65537(r, small_primes[i]);
	}
	return all;
}

static bool is_odd(struct eddy_str number)
{
	return number.ptr[number.len - 1] & 1;
}

static size_t bits_of(struct eddy_str number)
{
	return number.len * 8 - (size_t)(__builtin_clz(eddyi_bytes(number)[0]) - 24);
}

static int check(struct eddy_jwk *key)
{
	struct eddy_str n = key->numbers[N], e = key->numbers[E];

	for (unsigned i = 0; i < EDDYI_JWK_NUMBERS; i++)
		if (key->numbers[i].ptr && (!key->numbers[i].len || !key->numbers[i].ptr[0]))
			return -EBADMSG;
	if (bits_of(n) < BITS_MIN || !is_odd(n) || !is_odd(e) || bits_of(e) < 2)
		return -EKEYREJECTED;
	if (bits_of(n) > BITS_MAX || e.len > EXPONENT_BYTES_MAX)
		return -ENOTSUP;
	if (is_factored(n))
		return -EKEYREJECTED;
	for (unsigned alg = EDDY_JWS_RS256; alg <= EDDY_JWS_PS512; alg++)
		key->algs |= EDDY_JWS_BIT(alg);
	return 0;
}

static size_t signature_len(const struct eddy_jwk *key, enum eddy_jws_alg alg)
{
	(void)alg;
	return key->numbers[N].len;
}

static int load(mp_int *to, struct eddy_str number)
{
	return mp_read_unsigned_bin(to, eddyi_bytes(number), (word32)number.len);
}

static int load_public(const struct eddy_jwk *key, RsaKey *rsa)
{
	struct eddy_str n = key->numbers[N], e = key->numbers[E];
	int r = wc_InitRsaKey_ex(rsa, NULL, INVALID_DEVID);

	if (r == 0)
		r = wc_RsaPublicKeyDecodeRaw(eddyi_bytes(n), (word32)n.len, eddyi_bytes(e),
					     (word32)e.len, rsa);
	return r;
}

static int load_private(const struct eddy_jwk *key, RsaKey *rsa)
{
	mp_int *const to[] = { &rsa->n, &rsa->e,  &rsa->d,  &rsa->p,
			       &rsa->q, &rsa->dP, &rsa->dQ, &rsa->u };
	int r = wc_InitRsaKey_ex(rsa, NULL, INVALID_DEVID);

	rsa->type = RSA_PRIVATE;
	for (unsigned i = 0; r == 0 && i < EDDYI_JWK_NUMBERS; i++)
		r = load(to[i], key->numbers[i]);
	return r;
}

/* Write EMSA-PKCS1-v1_5 (RFC 8017 section 9.2), the only valid content of a signature. */
static void encode(const struct eddyi_digest *digest, const unsigned char *hash, unsigned char *to,
		   size_t len)
{
	const unsigned char info[] = {
		0x30,
		(unsigned char)(17 + digest->len),
		0x30,
		13,
		6,
		9,
		0x60,
		0x86,
		0x48,
		1,
		0x65,
		3,
		4,
		2,
		digest->oid_end,
		5,
		0,
		4,
		(unsigned char)digest->len,
	};
	size_t padding = len - 3 - sizeof(info) - digest->len;

	*to++ = 0;
	*to++ = 1;
	memset(to, 0xff, padding);
	to += padding;
	*to++ = 0;
	memcpy(to, info, sizeof(info));
	memcpy(to + sizeof(info), hash, digest->len);
}

static int verify_v15(const struct eddyi_digest *digest, const unsigned char *hash,
		      const unsigned char *signature, size_t len, RsaKey *rsa)
{
	unsigned char expected[EDDYI_RSA_BYTES_MAX], content[EDDYI_RSA_BYTES_MAX];
	word32 room = sizeof(content);
	int r = wc_RsaDirect((byte *)signature, (word32)len, content, &room, rsa,
			     RSA_PUBLIC_DECRYPT, NULL);

	if (r < 0)
		return r;
	encode(digest, hash, expected, len);
	/* Only the result has the length. */
	return (size_t)r == len && !memcmp(content, expected, len) ? 0 : SIG_VERIFY_E;
}

/* The salt must be as long as the digest. */
static int verify_pss(const struct eddyi_digest *digest, const unsigned char *hash,
		      const unsigned char *signature, size_t len, RsaKey *rsa)
{
	unsigned char content[EDDYI_RSA_BYTES_MAX];
	int r = wc_RsaPSS_Verify_ex((byte *)signature, (word32)len, content, sizeof(content),
				    digest->type, digest->mgf, (int)digest->len, rsa);

	if (r < 0)
		return r;
	return wc_RsaPSS_CheckPadding_ex(hash, digest->len, content, (word32)r, digest->type,
					 (int)digest->len, mp_count_bits(&rsa->n));
}

static bool is_pss(enum eddy_jws_alg alg)
{
	return alg >= EDDY_JWS_PS256;
}

static int verify(const struct eddyi_jws_use *use)
{
	const struct eddyi_digest *digest = eddyi_jws_digest(use->alg);
	struct eddy_str n = use->key->numbers[N];
	unsigned char hash[EDDYI_DIGEST_MAX];
	RsaKey rsa;
	int r;

	/* wolfCrypt reduces signatures modulo n, which would give a text a second one. */
	if (memcmp(use->signature, n.ptr, n.len) >= 0)
		return -EKEYREJECTED;
	r = wc_Hash(digest->type, eddyi_bytes(use->text), (word32)use->text.len, hash, digest->len);
	if (r < 0)
		return eddyi_wolfcrypt_error(r, -EKEYREJECTED);
	r = load_public(use->key, &rsa);
	if (r == 0)
		r = (is_pss(use->alg) ? verify_pss : verify_v15)(digest, hash, use->signature,
								 n.len, &rsa);
	wc_FreeRsaKey(&rsa);
	return eddyi_wolfcrypt_error(r, -EKEYREJECTED);
}

static int sign_with(const struct eddyi_jws_use *use, RsaKey *rsa, WC_RNG *rng)
{
	const struct eddyi_digest *digest = eddyi_jws_digest(use->alg);
	word32 len = (word32)use->key->numbers[N].len, room = len;
	unsigned char hash[EDDYI_DIGEST_MAX], content[EDDYI_RSA_BYTES_MAX];
	int r = wc_Hash(digest->type, eddyi_bytes(use->text), (word32)use->text.len, hash,
			digest->len);

	if (r == 0)
		r = wc_RsaSetRNG(rsa, rng);
	if (r < 0)
		return r;
	if (is_pss(use->alg)) {
		r = wc_RsaPSS_Sign_ex(hash, digest->len, use->ret_signature, len, digest->type,
				      digest->mgf, (int)digest->len, rsa, rng);
	} else {
		encode(digest, hash, content, len);
		r = wc_RsaDirect(content, len, use->ret_signature, &room, rsa, RSA_PRIVATE_ENCRYPT,
				 rng);
	}
	if (r < 0)
		return r;
	return (word32)r == len ? 0 : RSA_PAD_E;
}

static int sign(const struct eddyi_jws_use *use)
{
	struct eddyi_jws_use again = *use;
	RsaKey rsa;
	WC_RNG rng;
	int r = wc_InitRng_ex(&rng, NULL, INVALID_DEVID);

	if (r < 0)
		return eddyi_wolfcrypt_error(r, -EIO);
	r = load_private(use->key, &rsa);
	if (r == 0)
		r = sign_with(use, &rsa, &rng);
	wc_FreeRsaKey(&rsa);
	wc_FreeRng(&rng);
	if (r < 0)
		return eddyi_wolfcrypt_error(r, -EIO);
	/* A faulty signature modulo one prime would reveal both primes. */
	again.signature = use->ret_signature;
	r = verify(&again);
	return r == -EKEYREJECTED ? -EIO : r;
}

/* Check that `d` modulo (prime - 1) is `expected`. */
static int has_remainder(mp_int *d, mp_int *prime, mp_int *expected)
{
	mp_int less, remainder;
	int r = mp_init_multi(&less, &remainder, NULL, NULL, NULL, NULL);

	if (r == 0)
		r = mp_sub_d(prime, 1, &less);
	if (r == 0)
		r = mp_mod(d, &less, &remainder);
	if (r == 0 && mp_cmp(&remainder, expected) != MP_EQ)
		r = BAD_STATE_E;
	mp_forcezero(&less);
	mp_forcezero(&remainder);
	return r;
}

static int check_numbers(const struct eddy_jwk *key)
{
	mp_int product;
	RsaKey rsa;
	int r = load_private(key, &rsa);

	if (r == 0)
		r = mp_init(&product);
	if (r == 0)
		r = mp_mul(&rsa.p, &rsa.q, &product);
	if (r == 0 && mp_cmp(&product, &rsa.n) != MP_EQ)
		r = BAD_STATE_E;
	if (r == 0)
		r = has_remainder(&rsa.d, &rsa.p, &rsa.dP);
	if (r == 0)
		r = has_remainder(&rsa.d, &rsa.q, &rsa.dQ);
	wc_FreeRsaKey(&rsa);
	return eddyi_wolfcrypt_error(r, -EKEYREJECTED);
}

/* A test signature checks the rest: that e, d and qi match. */
static int check_private(const struct eddy_jwk *key)
{
	unsigned char signature[EDDYI_RSA_BYTES_MAX];
	struct eddyi_jws_use use = {
		.key = key,
		.alg = EDDY_JWS_RS256,
		.text = EDDY_STR("eddy"),
		.ret_signature = signature,
	};
	int r;

	for (unsigned i = D; i < EDDYI_JWK_NUMBERS; i++)
		if (key->numbers[i].len > key->numbers[N].len)
			return -EKEYREJECTED;
	r = check_numbers(key);
	if (r == 0)
		r = sign(&use);
	return r == -EIO ? -EKEYREJECTED : r;
}

const struct eddyi_jwk_kind eddyi_jwk_rsa = {
	.kty = "RSA",
	.members = { "n", "e", "d", "p", "q", "dp", "dq", "qi" },
	.count = EDDYI_JWK_NUMBERS,
	.public_count = 2,
	.verify_at = EDDYI_ON_LOOP_STACK,
	.sign_at = EDDYI_OFFLOADED,
	.check = check,
	.check_private = check_private,
	.signature_len = signature_len,
	.sign = sign,
	.verify = verify,
};
