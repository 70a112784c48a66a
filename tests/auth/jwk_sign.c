/* Tests of eddy/jwk.h: signatures, wherever they are made and looked at. */
#include "jwt/jwk.h"

#include "keys.h"
#include "lacking.h"
#include "pems.h"
#include "rfc.h"

#include "../runtime/failing.h"

#include <eddy/runtime.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

static const struct {
	enum eddy_jws_alg alg;
	const char *pem; /* NULL: a secret */
	size_t len;
} rows[] = {
	{ EDDY_JWS_HS256, NULL, 32 },
	{ EDDY_JWS_HS384, NULL, 48 },
	{ EDDY_JWS_HS512, NULL, 64 },
	{ EDDY_JWS_RS256, pem_rsa_pkcs8, 256 },
	{ EDDY_JWS_RS384, pem_rsa_pkcs8, 256 },
	{ EDDY_JWS_RS512, pem_rsa_pkcs8, 256 },
	{ EDDY_JWS_PS256, pem_rsa_pkcs8, 256 },
	{ EDDY_JWS_PS384, pem_rsa_pkcs8, 256 },
	{ EDDY_JWS_PS512, pem_rsa_pkcs8, 256 },
	/* Whose content is a byte shorter than its modulus. */
	{ EDDY_JWS_PS256, pem_rsa2049_pkcs8, 257 },
	{ EDDY_JWS_RS256, pem_rsa2049_pkcs8, 257 },
	{ EDDY_JWS_PS512, pem_rsa4096_pkcs8, 512 },
	{ EDDY_JWS_RS512, pem_rsa4096_pkcs8, 512 },
	{ EDDY_JWS_ES256, pem_ec256_pkcs8, 64 },
	{ EDDY_JWS_ES384, pem_ec384_pkcs8, 96 },
	{ EDDY_JWS_ES512, pem_ec521_pkcs8, 132 },
	{ EDDY_JWS_EDDSA, pem_ed25519_pkcs8, 64 },
	{ EDDY_JWS_EDDSA, pem_ed448_pkcs8, 114 },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static const char text_bytes[] = "eyJhbGciOiJub25lIn0.e30";
#define TEXT eddy_str_from(text_bytes)

static struct eddy_jwk *key_of(size_t row)
{
	static const char secret[64] = "a secret";
	struct eddy_jwk *key = NULL;

	if (rows[row].pem)
		return keys_pem(rows[row].pem, 0);
	cr_assert(zero(int, eddy_jwk_from_secret(eddy_str(secret, sizeof(secret)), NULL, &key)));
	return key;
}

/* The half that is public; of a secret the same again. */
static struct eddy_jwk *public_of(struct eddy_jwk *key)
{
	json_t *json = eddy_jwk_public_json(key);
	struct eddy_jwk *public_key = NULL;

	if (!json)
		return eddy_jwk_ref(key);
	cr_assert(zero(int, eddyi_jwk_read(json, false, &public_key)));
	json_decref(json);
	return public_key;
}

static void try_lengths(const struct eddy_jwk *key, enum eddy_jws_alg alg, unsigned char *signature,
			size_t len)
{
	char *bytes = (char *)signature;

	cr_expect(
		eq(int, eddy_jwk_verify(key, alg, TEXT, eddy_str(bytes, len - 1)), -EKEYREJECTED));
	cr_expect(
		eq(int, eddy_jwk_verify(key, alg, TEXT, eddy_str(bytes, len + 1)), -EKEYREJECTED));
	cr_expect(eq(int, eddy_jwk_verify(key, alg, TEXT, eddy_str(NULL, 0)), -EKEYREJECTED));
}

static void try_fills(const struct eddy_jwk *key, enum eddy_jws_alg alg, size_t len)
{
	char bytes[EDDY_JWS_SIGNATURE_MAX];

	for (int fill = 0; fill < 256; fill += 255) {
		memset(bytes, fill, sizeof(bytes));
		cr_expect(eq(int, eddy_jwk_verify(key, alg, TEXT, eddy_str(bytes, len)),
			     -EKEYREJECTED));
	}
}

Test(jwk_sign, verifies_what_was_signed)
{
	for (size_t i = 0; i < ROWS; i++) {
		struct eddy_jwk *key = key_of(i), *public_key = public_of(key);
		unsigned char signature[EDDY_JWS_SIGNATURE_MAX + 1];
		enum eddy_jws_alg alg = rows[i].alg;
		ssize_t len = eddy_jwk_sign(key, alg, TEXT, signature);
		struct eddy_str str = eddy_str((char *)signature, rows[i].len);

		cr_assert(eq(int, (int)len, (int)rows[i].len), "%zu", i);
		cr_expect(zero(int, eddy_jwk_verify(public_key, alg, TEXT, str)), "%zu", i);
		cr_expect(eq(int, eddy_jwk_verify(public_key, alg, eddy_str_skip(TEXT, 1), str),
			     -EKEYREJECTED),
			  "%zu", i);
		for (size_t at = 0; at < str.len; at += str.len / 4) {
			signature[at] ^= 4;
			cr_expect(eq(int, eddy_jwk_verify(public_key, alg, TEXT, str),
				     -EKEYREJECTED),
				  "%zu", i);
			signature[at] ^= 4;
		}
		try_lengths(public_key, alg, signature, rows[i].len);
		try_fills(public_key, alg, rows[i].len);
		eddy_jwk_unref(key);
		eddy_jwk_unref(public_key);
	}
}

/* s becomes the order - s, which fits as well. */
static void negate(const struct eddyi_jwk_curve *curve, unsigned char *s)
{
	int borrow = 0;

	for (size_t i = curve->width; i--;) {
		int digit = curve->order[i] - s[i] - borrow;

		borrow = digit < 0;
		s[i] = (unsigned char)digit;
	}
}

/* Numbers at the borders of what is one, and single bits. Return: false after the last. */
static bool spoil(const struct eddy_jwk *key, size_t how, unsigned char *signature, size_t len)
{
	const struct eddyi_jwk_curve *curve = key->kind == &eddyi_jwk_ec ? key->curve : NULL;
	const unsigned char *border = key->kind == &eddyi_jwk_rsa ? eddyi_bytes(key->numbers[0]) :
				      curve                       ? curve->order :
								    NULL;
	size_t width = curve ? curve->width : len;
	unsigned char *at = signature + (how & 1 ? len - width : 0);

	switch (how / 2) {
	case 0:
		memset(at, 0, width);
		break;
	case 1:
		memset(at, 0, width);
		at[width - 1] = 1;
		break;
	case 2:
	case 3:
	case 4:
		/* One below, itself and one above: all are odd. */
		if (border)
			memcpy(at, border, width);
		at[width - 1] += (unsigned char)(how / 2 - 3);
		break;
	case 5:
		if (curve)
			negate(curve, at);
		break;
	default:
		at = signature + (how - 12) % len;
		*at ^= (unsigned char)(1 << how % 8);
		break;
	}
	return how < 12 + 64;
}

/* Where libcrypto verifies, wolfCrypt would have said the same. */
Test(jwk_sign, both_libraries_agree)
{
	for (size_t i = 0; i < ROWS; i++) {
		struct eddy_jwk *key = key_of(i);
		unsigned char good[EDDY_JWS_SIGNATURE_MAX], signature[EDDY_JWS_SIGNATURE_MAX];
		size_t len = (size_t)eddy_jwk_sign(key, rows[i].alg, TEXT, good), how = 0, fit = 0;
		struct eddyi_jws_use use = {
			.key = key, .alg = rows[i].alg, .text = TEXT, .signature = signature
		};
		bool goes_on;

		do {
			int r;

			memcpy(signature, good, len);
			goes_on = spoil(key, how++, signature, len);
			r = eddy_jwk_verify(key, rows[i].alg, TEXT,
					    eddy_str((char *)signature, len));
			cr_expect(eq(int, r, key->kind->verify(&use)), "%zu %zu", i, how);
			fit += r == 0;
		} while (goes_on);
		/* The other s, and what is not spoilt of those that have no border. */
		cr_expect(key->kind == &eddyi_jwk_rsa ? fit == 2 : fit > 0, "%zu: %zu", i, fit);
		eddy_jwk_unref(key);
	}
}

Test(jwk_sign, nothing_is_a_text_too)
{
	for (size_t i = 0; i < ROWS; i++) {
		struct eddy_jwk *key = key_of(i);
		unsigned char signature[EDDY_JWS_SIGNATURE_MAX];
		ssize_t len = eddy_jwk_sign(key, rows[i].alg, eddy_str(NULL, 0), signature);

		cr_expect(zero(int, eddy_jwk_verify(key, rows[i].alg, eddy_str(NULL, 0),
						    eddy_str((char *)signature, (size_t)len))),
			  "%zu", i);
		eddy_jwk_unref(key);
	}
}

/* A signature is of its algorithm, and a key is for its own only. */
Test(jwk_sign, algorithms_are_kept_apart)
{
	for (size_t i = 0; i < ROWS; i++) {
		struct eddy_jwk *key = key_of(i);
		unsigned char signature[EDDY_JWS_SIGNATURE_MAX], other[EDDY_JWS_SIGNATURE_MAX];
		ssize_t len = eddy_jwk_sign(key, rows[i].alg, TEXT, signature);

		for (unsigned alg = 0; alg <= EDDY_JWS_ALGS; alg++) {
			bool is_its = alg < EDDY_JWS_ALGS && eddy_jwk_algs(key) & EDDY_JWS_BIT(alg);
			int r = eddy_jwk_verify(key, (enum eddy_jws_alg)alg, TEXT,
						eddy_str((char *)signature, (size_t)len));

			if (alg == rows[i].alg)
				continue;
			cr_expect(eq(int, r, is_its ? -EKEYREJECTED : -EINVAL), "%zu %u", i, alg);
			if (!is_its)
				cr_expect(eq(int,
					     (int)eddy_jwk_sign(key, (enum eddy_jws_alg)alg, TEXT,
								other),
					     -EINVAL));
		}
		/* The bits of these would be those of others. */
		for (unsigned alg = 32; alg < 32 + EDDY_JWS_ALGS; alg++)
			cr_expect(eq(int,
				     eddy_jwk_verify(key, (enum eddy_jws_alg)alg, TEXT,
						     eddy_str((char *)signature, (size_t)len)),
				     -EINVAL));
		eddy_jwk_unref(key);
	}
}

Test(jwk_sign, what_may_not_does_not)
{
	unsigned char signature[EDDY_JWS_SIGNATURE_MAX];
	struct eddy_jwk *key = keys_parse("{" RFC_P256_PUBLIC "}");
	ssize_t len;

	cr_expect(eq(int, (int)eddy_jwk_sign(key, EDDY_JWS_ES256, TEXT, signature), -EINVAL));
	eddy_jwk_unref(key);
	key = keys_parse("{" RFC_P256_PRIVATE ",'key_ops':['verify']}");
	cr_expect(eq(int, (int)eddy_jwk_sign(key, EDDY_JWS_ES256, TEXT, signature), -EINVAL));
	eddy_jwk_unref(key);
	/* The public half of a private key verifies whatever its key_ops say; a secret has no such half. */
	key = keys_parse("{" RFC_P256_PRIVATE ",'key_ops':['sign']}");
	len = eddy_jwk_sign(key, EDDY_JWS_ES256, TEXT, signature);
	cr_expect(zero(int, eddy_jwk_verify(key, EDDY_JWS_ES256, TEXT,
					    eddy_str((char *)signature, (size_t)len))));
	eddy_jwk_unref(key);
	key = keys_parse("{" RFC_SECRET ",'key_ops':['sign']}");
	len = eddy_jwk_sign(key, EDDY_JWS_HS256, TEXT, signature);
	cr_expect(eq(int, (int)len, 32));
	cr_expect(eq(int,
		     eddy_jwk_verify(key, EDDY_JWS_HS256, TEXT, eddy_str((char *)signature, 32)),
		     -EINVAL));
	eddy_jwk_unref(key);
	key = keys_parse("{" RFC_SECRET ",'key_ops':['verify']}");
	cr_expect(zero(int, eddy_jwk_verify(key, EDDY_JWS_HS256, TEXT,
					    eddy_str((char *)signature, 32))));
	cr_expect(eq(int, (int)eddy_jwk_sign(key, EDDY_JWS_HS256, TEXT, signature), -EINVAL));
	eddy_jwk_unref(key);
}

Test(jwk_sign, text_has_a_limit)
{
	struct eddy_jwk *key = keys_parse("{" RFC_SECRET "}");
	struct eddy_str text = eddy_str("", EDDY_JWS_TEXT_MAX + 1); /* never read */
	unsigned char signature[EDDY_JWS_SIGNATURE_MAX];

	cr_expect(eq(int, (int)eddy_jwk_sign(key, EDDY_JWS_HS256, text, signature), -EMSGSIZE));
	cr_expect(eq(int,
		     eddy_jwk_verify(key, EDDY_JWS_HS256, text, eddy_str((char *)signature, 32)),
		     -EMSGSIZE));
	eddy_jwk_unref(key);
}

struct shared {
	struct eddy_jwk *keys[ROWS];
	atomic_int wrong;
};

/* Keys are looked at on deep stacks as well. */
static bool reads(const char *pem)
{
	struct eddy_jwk *key = NULL;
	int r = pem ? eddy_jwk_from_pem(eddy_str_from(pem), NULL, &key) : 0;

	eddy_jwk_unref(key);
	return r == 0;
}

static int use_all(void *arg)
{
	struct shared *shared = arg;
	unsigned char signature[EDDY_JWS_SIGNATURE_MAX];

	for (size_t i = 0; i < ROWS; i++) {
		ssize_t len;

		if (rows[i].len == 512)
			continue;
		len = eddy_jwk_sign(shared->keys[i], rows[i].alg, TEXT, signature);
		if (len != (ssize_t)rows[i].len ||
		    eddy_jwk_verify(shared->keys[i], rows[i].alg, TEXT,
				    eddy_str((char *)signature, (size_t)len)) != 0)
			atomic_fetch_add(&shared->wrong, 1);
		if (!reads(rows[i].pem))
			atomic_fetch_add(&shared->wrong, 1);
		signature[0] ^= 1;
		if (eddy_jwk_verify(shared->keys[i], rows[i].alg, TEXT,
				    eddy_str((char *)signature, rows[i].len)) != -EKEYREJECTED)
			atomic_fetch_add(&shared->wrong, 1);
	}
	return 0;
}

static int use_in_tasks(void *arg)
{
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 4; i++)
		eddy_scope_spawn(&scope, "use", use_all, arg);
	eddy_scope_join(&scope);
	return eddy_scope_end(&scope);
}

/* wolfSSL's frames would not fit on these stacks. */
static void *run_loop(void *arg)
{
	struct eddy_loop_options options = { .stack_size = 32 * EDDY_KIB };

	return (void *)(intptr_t)eddy_run(&options, use_in_tasks, arg);
}

static void *run_alone(void *arg)
{
	use_all(arg);
	return NULL;
}

Test(jwk_sign, one_key_serves_threads_and_loops)
{
	void *(*const runs[])(void *arg) = { run_loop, run_loop, run_alone, run_alone };
	pthread_t threads[4];
	struct shared shared = { .wrong = 0 };

	for (size_t i = 0; i < ROWS; i++)
		shared.keys[i] = key_of(i);
	for (int i = 0; i < 4; i++)
		cr_assert(zero(int, pthread_create(&threads[i], NULL, runs[i], &shared)));
	for (int i = 0; i < 4; i++) {
		void *result;

		pthread_join(threads[i], &result);
		cr_expect(zero(ptr, (void *)result));
	}
	cr_expect(zero(int, atomic_load(&shared.wrong)));
	for (size_t i = 0; i < ROWS; i++)
		eddy_jwk_unref(shared.keys[i]);
}

struct cancelled {
	struct eddy_jwk *key;
	enum eddy_jws_alg alg;
	unsigned char signature[EDDY_JWS_SIGNATURE_MAX];
	size_t len;
	int signs, verifies, parses;
};

static int use_cancelled(void *arg)
{
	struct cancelled *use = arg;
	unsigned char signature[EDDY_JWS_SIGNATURE_MAX];
	struct eddy_jwk_options options = { 0 };
	struct eddy_scope scope;
	struct eddy_jwk *key = NULL;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_cancel(&scope);
	use->signs = (int)eddy_jwk_sign(use->key, use->alg, TEXT, signature);
	use->verifies = eddy_jwk_verify(use->key, use->alg, TEXT,
					eddy_str((char *)use->signature, use->len));
	use->parses = eddy_jwk_from_pem(eddy_str_from(pem_ec256_pkcs8), &options, &key);
	eddy_jwk_unref(key);
	eddy_scope_end(&scope);
	return 0;
}

/* What the offload pool does is not begun; what is done at once has its result. */
Test(jwk_sign, cancelled)
{
	static const struct {
		size_t row;
		bool sign_suspends, verify_suspends;
	} how[] = {
		{ 0, false, false }, { 3, true, false }, { 14, true, true }, { 16, true, false }
	};

	for (size_t i = 0; i < sizeof(how) / sizeof(how[0]); i++) {
		struct cancelled use = { .key = key_of(how[i].row), .alg = rows[how[i].row].alg };

		use.len = (size_t)eddy_jwk_sign(use.key, use.alg, TEXT, use.signature);
		cr_assert(zero(int, eddy_run(NULL, use_cancelled, &use)));
		cr_expect(eq(int, use.signs, how[i].sign_suspends ? -ECANCELED : (int)use.len));
		cr_expect(eq(int, use.verifies, how[i].verify_suspends ? -ECANCELED : 0));
		cr_expect(eq(int, use.parses, -ECANCELED));
		eddy_jwk_unref(use.key);
	}
}

/* A good signature is never called bad for a lack of memory. */
Test(jwk_sign, survives_a_lack_of_memory)
{
	lacking_in_libraries();
	for (size_t i = 0; i < ROWS; i++) {
		struct eddy_jwk *key = key_of(i);
		unsigned char signature[EDDY_JWS_SIGNATURE_MAX], again[EDDY_JWS_SIGNATURE_MAX];
		ssize_t len = eddy_jwk_sign(key, rows[i].alg, TEXT, signature);
		struct eddy_str str = eddy_str((char *)signature, (size_t)len);

		for (int at = 1, was = 0; was == 0; at++) {
			int r;

			failing_at = at;
			r = eddy_jwk_verify(key, rows[i].alg, TEXT, str);
			was = failing_at;
			failing_at = 0;
			cr_expect(was ? r == 0 : r == 0 || r == -ENOMEM, "%zu %d: %d", i, at, r);
		}
		for (int at = 1, was = 0; was == 0; at++) {
			ssize_t r;

			failing_at = at;
			r = eddy_jwk_sign(key, rows[i].alg, TEXT, again);
			was = failing_at;
			failing_at = 0;
			cr_expect(was ? r == len : r == len || r == -ENOMEM, "%zu %d: %zd", i, at,
				  r);
		}
		eddy_jwk_unref(key);
	}
}
