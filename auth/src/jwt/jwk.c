#include "jwk.h"

#include <eddy/loop.h>
#include <eddy/offload.h>
#include <eddy/task.h>
#include <errno.h>
#include <stdlib.h>

/* Verification by libcrypto; without the accelerator keys have no verifier. */
#if EDDYI_ACCELERATOR
#include <eddy/internal/verifier.h>
#else
#define eddyi_verifier_of_rsa(n, e) ((void)(n), (void)(e), NULL)
#define eddyi_verifier_of_p256(x, y) ((void)(x), (void)(y), NULL)
#define eddyi_verifier_of_secret(secret) ((void)(secret), NULL)
#define eddyi_verifier_free(verifier) ((void)(verifier))
#define eddyi_verifier_check(verifier, bits, is_pss, text, signature)                              \
	((void)(is_pss), -EKEYREJECTED)
#endif

struct call {
	eddy_offload_fn *fn;
	void *arg;
	int result;
};

static void call(void *arg)
{
	struct call *call = arg;

	call->result = call->fn(call->arg);
}

/* Off the loop, run inline: plain threads have deep stacks and block no task. */
int eddyi_run_at(enum eddyi_place place, eddy_offload_fn *fn, void *arg)
{
	struct call job = { .fn = fn, .arg = arg };

	if (place == EDDYI_OFFLOADED && eddy_task_self())
		return eddy_offload(fn, arg);
	if (place == EDDYI_IN_PLACE)
		return fn(arg);
	eddy_on_loop_stack(call, &job);
	return job.result;
}

static int check(void *key_)
{
	struct eddy_jwk *key = key_;

	return key->kind->check(key);
}

static int check_private(void *key_)
{
	const struct eddy_jwk *key = key_;

	return key->kind->check_private(key);
}

/* Only where libcrypto is faster: wolfCrypt verifies other kinds and curves at least as fast. It
 * also verifies keys that libcrypto rejects. */
static int make_verifier(void *key_)
{
	struct eddy_jwk *key = key_;
	const struct eddy_str *numbers = key->numbers;

	if (key->kind == &eddyi_jwk_rsa)
		key->verifier = eddyi_verifier_of_rsa(numbers[0], numbers[1]);
	else if (key->algs & EDDY_JWS_BIT(EDDY_JWS_ES256))
		key->verifier = eddyi_verifier_of_p256(numbers[0], numbers[1]);
	else if (key->kind == &eddyi_jwk_oct)
		key->verifier = eddyi_verifier_of_secret(numbers[0]);
	return 0;
}

static void destroy(struct eddy_jwk *key)
{
	eddyi_verifier_free(key->verifier);
	explicit_bzero(key, key->size);
	free(key);
}

static void destroy_it(struct eddy_jwk **key)
{
	if (*key)
		destroy(*key);
}

static struct eddy_str copy(char **to, struct eddy_str from)
{
	struct eddy_str str = eddy_str(*to, from.len);

	if (!from.ptr)
		return eddy_str(NULL, 0);
	if (from.len)
		memcpy(*to, from.ptr, from.len);
	*to += from.len;
	return str;
}

static struct eddy_jwk *new_key(const struct eddyi_jwk_parts *parts)
{
	const struct eddyi_jwk_kind *kind = parts->kind;
	size_t size = sizeof(struct eddy_jwk) + parts->kid.len;
	struct eddy_jwk *key;
	char *to;

	for (unsigned i = 0; i < kind->count; i++)
		size += parts->numbers[i].len;
	key = calloc(1, size);
	if (!key)
		return NULL;
	to = key->bytes;
	key->kind = kind;
	key->curve = parts->curve;
	atomic_init(&key->refs, 1);
	key->size = size;
	key->kid = copy(&to, parts->kid);
	for (unsigned i = 0; i < kind->count; i++)
		key->numbers[i] = copy(&to, parts->numbers[i]);
	key->is_private = parts->numbers[kind->public_count].ptr;
	key->can_sign = key->is_private && !parts->no_signing;
	key->can_verify = kind->public_count || !parts->no_verifying;
	return key;
}

/* Check that all public numbers exist, all or no private ones, and their width on a curve. */
static int check_members(const struct eddyi_jwk_parts *parts)
{
	const struct eddyi_jwk_kind *kind = parts->kind;
	bool is_private = parts->numbers[kind->public_count].ptr;

	for (unsigned i = 0; i < kind->count; i++) {
		bool is_there = parts->numbers[i].ptr;

		if (is_there != (i < kind->public_count || is_private))
			return -EBADMSG;
		if (is_there && parts->curve && parts->numbers[i].len != parts->curve->width)
			return -EBADMSG;
	}
	return kind->public_count || is_private ? 0 : -EBADMSG;
}

static int choose_algs(struct eddy_jwk *key, unsigned wanted)
{
	if (key->curve)
		key->algs = EDDY_JWS_BIT(key->curve->alg);
	if (!wanted)
		return 0;
	key->algs &= wanted;
	if (key->algs)
		return 0;
	/* A secret may be too short for the algorithm. */
	return key->kind == &eddyi_jwk_oct && wanted & EDDY_JWS_SECRET ? -EKEYREJECTED : -EINVAL;
}

int eddyi_jwk_make(const struct eddyi_jwk_parts *parts, struct eddy_jwk **ret_key)
{
	EDDY_AUTO(destroy_it) struct eddy_jwk *key = NULL;
	int r = check_members(parts);

	if (r < 0)
		return r;
	key = new_key(parts);
	if (!key)
		return -ENOMEM;
	r = eddyi_run_at(EDDYI_ON_LOOP_STACK, check, key);
	if (r == 0)
		r = choose_algs(key, parts->algs);
	if (r == 0 && key->is_private && key->kind->check_private)
		r = eddyi_run_at(EDDYI_OFFLOADED, check_private, key);
	if (r < 0)
		return r;
	eddyi_run_at(EDDYI_ON_LOOP_STACK, make_verifier, key);
	*ret_key = key;
	key = NULL;
	return 0;
}

int eddy_jwk_from_secret(struct eddy_str secret, const struct eddy_jwk_options *options,
			 struct eddy_jwk **ret_key)
{
	struct eddyi_jwk_parts parts = { .kind = &eddyi_jwk_oct };

	parts.numbers[0] = secret.ptr ? secret : EDDY_STR("");
	if (options && options->kid)
		parts.kid = eddy_str_from(options->kid);
	if (options)
		parts.algs = options->algs;
	return eddyi_jwk_make(&parts, ret_key);
}

struct eddy_jwk *eddy_jwk_ref(struct eddy_jwk *key)
{
	if (key)
		atomic_fetch_add_explicit(&key->refs, 1, memory_order_relaxed);
	return key;
}

void eddy_jwk_unref(struct eddy_jwk *key)
{
	if (key && atomic_fetch_sub_explicit(&key->refs, 1, memory_order_acq_rel) == 1)
		destroy(key);
}

struct eddy_str eddy_jwk_kid(const struct eddy_jwk *key)
{
	return key->kid;
}

unsigned eddy_jwk_algs(const struct eddy_jwk *key)
{
	return key->algs;
}

bool eddy_jwk_is_private(const struct eddy_jwk *key)
{
	return key->can_sign;
}

static bool is_for(const struct eddy_jwk *key, enum eddy_jws_alg alg)
{
	return (unsigned)alg < EDDY_JWS_ALGS && key->algs & EDDY_JWS_BIT(alg);
}

static int sign(void *arg)
{
	const struct eddyi_jws_use *use = arg;

	return use->key->kind->sign(use);
}

static int verify(void *arg)
{
	const struct eddyi_jws_use *use = arg;
	const struct eddy_jwk *key = use->key;
	bool is_pss = use->alg >= EDDY_JWS_PS256 && use->alg <= EDDY_JWS_PS512;

	if (!key->verifier)
		return key->kind->verify(use);
	return eddyi_verifier_check(
		key->verifier, 8 * eddyi_jws_digest(use->alg)->len, is_pss, use->text,
		eddy_str((const char *)use->signature, key->kind->signature_len(key, use->alg)));
}

/* wolfCrypt requires a pointer even to an empty text. */
static struct eddy_str with_address(struct eddy_str text)
{
	return text.ptr ? text : EDDY_STR("");
}

/* wolfCrypt counts in 32 bits. */
static bool is_too_long(struct eddy_str text)
{
	return text.len > EDDY_JWS_TEXT_MAX;
}

ssize_t eddy_jwk_sign(const struct eddy_jwk *key, enum eddy_jws_alg alg, struct eddy_str text,
		      unsigned char ret_signature[EDDY_JWS_SIGNATURE_MAX])
{
	struct eddyi_jws_use use = {
		.key = key, .alg = alg, .text = with_address(text), .ret_signature = ret_signature
	};
	int r;

	if (!is_for(key, alg) || !key->can_sign)
		return -EINVAL;
	if (is_too_long(text))
		return -EMSGSIZE;
	r = eddyi_run_at(key->kind->sign_at, sign, &use);
	return r < 0 ? r : (ssize_t)key->kind->signature_len(key, alg);
}

int eddy_jwk_verify(const struct eddy_jwk *key, enum eddy_jws_alg alg, struct eddy_str text,
		    struct eddy_str signature)
{
	struct eddyi_jws_use use = { .key = key,
				     .alg = alg,
				     .text = with_address(text),
				     .signature = eddyi_bytes(signature) };

	if (!is_for(key, alg) || !key->can_verify)
		return -EINVAL;
	if (signature.len != key->kind->signature_len(key, alg))
		return -EKEYREJECTED;
	if (is_too_long(text))
		return -EMSGSIZE;
	/* libcrypto takes less than 0.1 ms for common keys. */
	return eddyi_run_at(key->verifier ? EDDYI_ON_LOOP_STACK : key->kind->verify_at, verify,
			    &use);
}
