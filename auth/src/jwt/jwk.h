/* jwk.h: what keys of all kinds have in common, and where the kinds differ. */
#ifndef EDDYI_JWK_H
#define EDDYI_JWK_H

#include "jws.h"

#include <eddy/jwk.h>
#include <eddy/offload.h>
#include <stdatomic.h>

/* Of an RSA key, the most of all. */
#define EDDYI_JWK_NUMBERS 8
/* What wolfCrypt holds as Debian has it (SP_INT_BITS), and as much as a loop's time allows. */
#define EDDYI_RSA_BYTES_MAX 512
/* Bytes of a coordinate at most: P-521's. */
#define EDDYI_JWK_COORDINATE_MAX 66

/* Where something is done. wolfCrypt wants up to 50 KiB of stack, and some of it takes milliseconds. */
enum eddyi_place {
	EDDYI_IN_PLACE,
	EDDYI_ON_LOOP_STACK,
	EDDYI_OFFLOADED,
};

/* Run `fn(arg)` there. Suspends when it is offloaded by a task. Return: what `fn` did; -ECANCELED. */
int eddyi_run_at(enum eddyi_place place, eddy_offload_fn *fn, void *arg);

struct eddyi_jwk_curve {
	const char *name;
	size_t width;         /* bytes of a coordinate, and of the private number */
	size_t signature_len; /* bytes */
	enum eddy_jws_alg alg;
	int id;                     /* wolfCrypt's; what it is for is its kind's business */
	const unsigned char *order; /* of its group; in the order of bytes that its signatures have */
};

/* One use of a key: `signature` is looked at, or written to. */
struct eddyi_jws_use {
	const struct eddy_jwk *key;
	enum eddy_jws_alg alg;
	struct eddy_str text;
	const unsigned char *signature;
	unsigned char *ret_signature;
};

/* A kind of keys. The functions are called where their place says; signatures have the right length. */
struct eddyi_jwk_kind {
	const char *kty;
	const char *members[EDDYI_JWK_NUMBERS]; /* of a JWK: the numbers, public ones first */
	unsigned count, public_count;
	const struct eddyi_jwk_curve *curves;
	unsigned curve_count;
	enum eddyi_place verify_at, sign_at;
	/* The public numbers are sound. Sets .algs unless there are curves. On the loop's stack.
	 * Return: 0, -EBADMSG, -EKEYREJECTED, -ENOTSUP, -ENOMEM. */
	int (*check)(struct eddy_jwk *key);
	/* The private ones belong to them. NULL: there is nothing to look at. Offloaded. Return: the same. */
	int (*check_private)(const struct eddy_jwk *key);
	size_t (*signature_len)(const struct eddy_jwk *key, enum eddy_jws_alg alg);
	/* Return: 0, -ENOMEM, -EIO. */
	int (*sign)(const struct eddyi_jws_use *use);
	/* Return: 0, -EKEYREJECTED, -ENOMEM. */
	int (*verify)(const struct eddyi_jws_use *use);
};

extern const struct eddyi_jwk_kind eddyi_jwk_rsa, eddyi_jwk_ec, eddyi_jwk_okp, eddyi_jwk_oct;

struct eddyi_verifier;

/* Once it is made:
 * 1. Nothing changes but .refs and what is inside of .verifier, which takes care of itself: any thread may use the key. wolfCrypt's
 *    own keys, which are not for several threads at once, are made of the numbers for each use.
 * 2. The numbers are as RFC 7518 and RFC 8037 have them, of exactly their width, and checked by their kind.
 * 3. Of a key that is not private .ptr of its private numbers is NULL; of a private one all numbers are there.
 * 4. .algs is not 0.
 * 5. All of it but .verifier, which reads a secret in .numbers, is one allocation, which is wiped before it is freed. */
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

/* What a key is made of; all of it is copied. */
struct eddyi_jwk_parts {
	const struct eddyi_jwk_kind *kind;
	const struct eddyi_jwk_curve *curve;        /* where the kind has some */
	struct eddy_str numbers[EDDYI_JWK_NUMBERS]; /* .ptr NULL: not there */
	struct eddy_str kid;                        /* .ptr NULL: none */
	unsigned algs;                              /* 0: all that suit */
	bool no_signing, no_verifying;
};

/* Make a key of these, and check it. Suspends where a task calls it and the key is private.
 * Return: 0; -EBADMSG, -EKEYREJECTED, -ENOTSUP; -EINVAL when none of the algorithms suits; -ECANCELED,
 * -ENOMEM. */
int eddyi_jwk_make(const struct eddyi_jwk_parts *parts, struct eddy_jwk **ret_key);

/* Read a key; `only_public` leaves private numbers aside, and takes no secret, nor a key that must not verify.
 * Return: as eddy_jwk_parse(). */
int eddyi_jwk_read(const json_t *json, bool only_public, struct eddy_jwk **ret_key);

/* Return: NULL when there is none of this name. */
const struct eddyi_jwk_curve *eddyi_jwk_curve_find(const struct eddyi_jwk_kind *kind,
						   struct eddy_str name);

/* Compute the public numbers of a private one; to be offloaded. Return: 0, -EKEYREJECTED when it is out of range,
 * -ENOMEM, -EIO. */
int eddyi_ec_public_of(const struct eddyi_jwk_curve *curve, struct eddy_str d, unsigned char *ret_x,
		       unsigned char *ret_y);
int eddyi_okp_public_of(const struct eddyi_jwk_curve *curve, struct eddy_str d,
			unsigned char *ret_x);

static inline const unsigned char *eddyi_bytes(struct eddy_str str)
{
	return (const unsigned char *)str.ptr;
}

#endif
