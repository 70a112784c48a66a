/* jwk.h: keys of all kinds, and the functions in which the kinds differ. */
#ifndef EDDYI_JWK_H
#define EDDYI_JWK_H

#include "jws.h"

#include <eddy/jwk.h>
#include <eddy/offload.h>
#include <stdatomic.h>

/* The most numbers of a key: RSA's. */
#define EDDYI_JWK_NUMBERS 8
/* The limit of Debian's wolfCrypt (SP_INT_BITS), and of the time on a loop. */
#define EDDYI_RSA_BYTES_MAX 512
/* The most bytes of a coordinate: P-521's. */
#define EDDYI_JWK_COORDINATE_MAX 66

/* Where a function runs. wolfCrypt takes up to 50 KiB of stack, and sometimes milliseconds. */
enum eddyi_place {
	EDDYI_IN_PLACE,
	EDDYI_ON_LOOP_STACK,
	EDDYI_OFFLOADED,
};

/* Run `fn(arg)` there. Suspends if a task offloads it. Return: the result of `fn`; -ECANCELED. */
int eddyi_run_at(enum eddyi_place place, eddy_offload_fn *fn, void *arg);

struct eddyi_jwk_curve {
	const char *name;
	size_t width;         /* bytes of a coordinate, and of the private number */
	size_t signature_len; /* bytes */
	enum eddy_jws_alg alg;
	int id;                     /* wolfCrypt's id, for its kind */
	const unsigned char *order; /* of its group; in the byte order of its signatures */
};

/* One signature to verify (`signature`) or to make (`ret_signature`). */
struct eddyi_jws_use {
	const struct eddy_jwk *key;
	enum eddy_jws_alg alg;
	struct eddy_str text;
	const unsigned char *signature;
	unsigned char *ret_signature;
};

/* A kind of keys. Its functions run at their place; signatures have the right length. */
struct eddyi_jwk_kind {
	const char *kty;
	const char *members[EDDYI_JWK_NUMBERS]; /* numbers of a JWK, public ones first */
	unsigned count, public_count;
	const struct eddyi_jwk_curve *curves;
	unsigned curve_count;
	enum eddyi_place verify_at, sign_at;
	/* Check the public numbers, and set .algs unless there are curves. Runs on the loop's
	 * stack. Return: 0, -EBADMSG, -EKEYREJECTED, -ENOTSUP, -ENOMEM. */
	int (*check)(struct eddy_jwk *key);
	/* Check that private numbers match. Offloaded. NULL: nothing to check. Return: likewise. */
	int (*check_private)(const struct eddy_jwk *key);
	size_t (*signature_len)(const struct eddy_jwk *key, enum eddy_jws_alg alg);
	/* Return: 0, -ENOMEM, -EIO. */
	int (*sign)(const struct eddyi_jws_use *use);
	/* Return: 0, -EKEYREJECTED, -ENOMEM. */
	int (*verify)(const struct eddyi_jws_use *use);
};

extern const struct eddyi_jwk_kind eddyi_jwk_rsa, eddyi_jwk_ec, eddyi_jwk_okp, eddyi_jwk_oct;

struct eddyi_verifier;

/* Invariants of a key:
 * 1. Nothing changes but .refs, and the inside of .verifier, which is thread-safe: any thread may
 *    use the key. wolfCrypt's keys, which are not thread-safe, are made from the numbers for each
 *    use.
 * 2. The numbers are as in RFC 7518 and RFC 8037, have their exact width, and were checked.
 * 3. .ptr of private numbers is NULL in a public key; a private key has all numbers.
 * 4. .algs is not 0.
 * 5. Except for .verifier, which reads a secret in .numbers, the key is one allocation, and is
 *    wiped before it is freed. */
struct eddy_jwk {
	const struct eddyi_jwk_kind *kind;
	const struct eddyi_jwk_curve *curve;
	unsigned algs;
	bool is_private;
	bool can_sign, can_verify;
	atomic_uint refs;
	struct eddyi_verifier *verifier; /* NULL: the kind verifies */
	struct eddy_str kid;
	struct eddy_str numbers[EDDYI_JWK_NUMBERS];
	size_t size;
	char bytes[];
};

/* The parts of a key; all of it is copied. */
struct eddyi_jwk_parts {
	const struct eddyi_jwk_kind *kind;
	const struct eddyi_jwk_curve *curve;        /* if the kind has curves */
	struct eddy_str numbers[EDDYI_JWK_NUMBERS]; /* .ptr NULL: missing */
	struct eddy_str kid;
	unsigned algs; /* 0: all that suit */
	bool no_signing, no_verifying;
};

/* Make and check a key. Suspends in a task if the key is private. Return: 0; -EBADMSG,
 * -EKEYREJECTED, -ENOTSUP; -EINVAL if none of the algorithms suits; -ECANCELED, -ENOMEM. */
int eddyi_jwk_make(const struct eddyi_jwk_parts *parts, struct eddy_jwk **ret_key);

/* Read a key. `only_public` ignores private numbers, and rejects keys that are secret or must not
 * verify. Return: as eddy_jwk_parse(). */
int eddyi_jwk_read(const json_t *json, bool only_public, struct eddy_jwk **ret_key);

const struct eddyi_jwk_curve *eddyi_jwk_curve_find(const struct eddyi_jwk_kind *kind,
						   struct eddy_str name);

/* Compute the public numbers of a private key; to be offloaded. Return: 0; -EKEYREJECTED if it is
 * out of range; -ENOMEM, -EIO. */
int eddyi_ec_public_of(const struct eddyi_jwk_curve *curve, struct eddy_str d, unsigned char *ret_x,
		       unsigned char *ret_y);
int eddyi_okp_public_of(const struct eddyi_jwk_curve *curve, struct eddy_str d,
			unsigned char *ret_x);

static inline const unsigned char *eddyi_bytes(struct eddy_str str)
{
	return (const unsigned char *)str.ptr;
}

#endif
