/* Tests of jwk_ec.c: the halves of a signature, and what threads keep. */
#include "jwt/jws.h"

#include "jwt/jwk.h"
#include "keys.h"
#include "pems.h"

#include <errno.h>
#include <pthread.h>
#include <wolfssl/wolfcrypt/memory.h>

static const struct eddy_str text = { "text", 4 };

/* Any of these for r, s or both: 0 and n fit nothing, and r + n is r to who computes modulo n. */
static int try_others(const struct eddy_jwk *key, const unsigned char *good)
{
	const struct eddyi_jwk_curve *curve = key->curve;
	unsigned char changed[EDDY_JWS_SIGNATURE_MAX] = { 0 };
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

/* What wolfCrypt holds, in blocks. */
static atomic_int held;

static void *allocate(size_t size)
{
	void *at = malloc(size);

	if (at)
		atomic_fetch_add(&held, 1);
	return at;
}

static void release(void *at)
{
	if (at)
		atomic_fetch_sub(&held, 1);
	free(at);
}

static void *reallocate(void *at, size_t size)
{
	void *to = realloc(at, size);

	if (to && !at)
		atomic_fetch_add(&held, 1);
	return to;
}

struct user {
	const struct eddy_jwk *key;
	struct eddy_str signature;
	int r, held;
};

static void *use(void *arg)
{
	struct user *user = arg;

	for (int i = 0; i < 3; i++)
		user->r |= eddy_jwk_verify(user->key, user->key->curve->alg, text, user->signature);
	user->held = atomic_load(&held);
	return NULL;
}

/* A table is made when a thread uses a point for the second time, and is as large as 12 MB. */
Test(jwk_ec, tables_go_with_their_thread)
{
	unsigned char signature[EDDY_JWS_SIGNATURE_MAX];
	struct eddy_jwk *key = keys_pem(pem_ec256_pkcs8, 0);
	struct user user = { .key = key, .signature = { (char *)signature, 64 } };
	pthread_t thread;

	cr_assert(eq(int, (int)eddy_jwk_sign(key, EDDY_JWS_ES256, text, signature), 64));
	cr_assert(zero(int, wolfSSL_SetAllocators(allocate, release, reallocate)));
	for (int i = 0; i < 2; i++) {
		cr_assert(zero(int, pthread_create(&thread, NULL, use, &user)));
		pthread_join(thread, NULL);
		cr_expect(zero(int, user.r));
#ifdef FP_ECC
		cr_expect(gt(int, user.held, 0));
#endif
		cr_expect(zero(int, atomic_load(&held)));
	}
	eddy_jwk_unref(key);
}
