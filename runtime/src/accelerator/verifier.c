#include <eddy/internal/verifier.h>

#include "keys.h"

#include <errno.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/rsa.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define SPARES 8
#define COORDINATE_LEN 32
/* A SEQUENCE and two INTEGERs, each with a leading zero. */
#define DER_MAX (2 + 2 * (3 + COORDINATE_LEN))

/* libcrypto's state for one verification at a time, reused for the next. */
struct context {
	unsigned bits;
	bool is_pss;
	EVP_MAC_CTX *mac; /* of a secret; the others are of public keys */
	EVP_MD_CTX *hash;
	EVP_PKEY_CTX *public;
};

/* Immutable except for the spares: a thread removes the one in its slot while it uses it. */
struct eddyi_verifier {
	EVP_PKEY *key; /* NULL: the secret is used */
	struct eddy_str secret;
	bool is_ecdsa;
	_Atomic(struct context *) spares[SPARES];
};

/* ---- what is fetched once ---- */

static const char *const names[] = { "SHA2-256", "SHA2-384", "SHA2-512" };
static EVP_MD *hashes[3];
static EVP_MAC *hmac;

static void fetch(void)
{
	for (int i = 0; i < 3; i++)
		hashes[i] = EVP_MD_fetch(NULL, names[i], NULL);
	/* Older versions lose the key when a MAC is restarted. */
	if (OpenSSL_version_num() >= 0x30000030L)
		hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
	ERR_clear_error();
}

/* Return: false if libcrypto lacks one of them. */
static bool fetch_once(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, fetch);
	return hashes[0] && hashes[1] && hashes[2] && hmac;
}

/* ---- contexts ---- */

static void free_context(struct context *context)
{
	if (!context)
		return;
	EVP_MAC_CTX_free(context->mac);
	EVP_MD_CTX_free(context->hash);
	EVP_PKEY_CTX_free(context->public);
	free(context);
}

static bool set_secret(struct context *context, struct eddy_str secret)
{
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST,
						 (char *)names[context->bits / 128 - 2], 0),
		OSSL_PARAM_construct_end(),
	};

	context->mac = EVP_MAC_CTX_new(hmac);
	return context->mac && EVP_MAC_init(context->mac, (const unsigned char *)secret.ptr,
					    secret.len, params) == 1;
}

static bool set_key(struct context *context, EVP_PKEY *key)
{
	const EVP_MD *hash = hashes[context->bits / 128 - 2];

	context->hash = EVP_MD_CTX_new();
	context->public = EVP_PKEY_CTX_new(key, NULL);
	return context->hash && context->public &&
	       EVP_DigestInit_ex2(context->hash, hash, NULL) == 1 &&
	       EVP_PKEY_verify_init(context->public) == 1 &&
	       EVP_PKEY_CTX_set_signature_md(context->public, hash) == 1 &&
	       (!context->is_pss ||
		(EVP_PKEY_CTX_set_rsa_padding(context->public, RSA_PKCS1_PSS_PADDING) == 1 &&
		 EVP_PKEY_CTX_set_rsa_pss_saltlen(context->public, RSA_PSS_SALTLEN_DIGEST) == 1));
}

/* Return: NULL on allocation failure. */
static struct context *new_context(const struct eddyi_verifier *verifier, unsigned bits,
				   bool is_pss)
{
	struct context *context = calloc(1, sizeof(*context));

	if (!context)
		return NULL;
	context->bits = bits;
	context->is_pss = is_pss;
	if (verifier->key ? set_key(context, verifier->key) : set_secret(context, verifier->secret))
		return context;
	free_context(context);
	return NULL;
}

/* Each thread has its own slot, if there are no more threads than slots. */
static _Atomic(struct context *) *spare_of(struct eddyi_verifier *verifier)
{
	static atomic_uint threads;
	static _Thread_local unsigned slot;

	if (!slot)
		slot = 1 + atomic_fetch_add(&threads, 1) % SPARES;
	return &verifier->spares[slot - 1];
}

/* ---- verifying ---- */

static bool is_mac(struct context *context, struct eddy_str text, struct eddy_str signature)
{
	unsigned char mac[EVP_MAX_MD_SIZE];
	size_t len;
	/* NULL: the previous key (since OpenSSL 3.0.3). */
	bool fits = EVP_MAC_init(context->mac, NULL, 0, NULL) == 1 &&
		    EVP_MAC_update(context->mac, (const unsigned char *)text.ptr, text.len) == 1 &&
		    EVP_MAC_final(context->mac, mac, &len, sizeof(mac)) == 1 &&
		    len == signature.len && CRYPTO_memcmp(mac, signature.ptr, len) == 0;

	OPENSSL_cleanse(mac, sizeof(mac));
	return fits;
}

/* Write a DER INTEGER: no leading zeros, except one that keeps it positive. Return: its end. */
static unsigned char *put_number(unsigned char *to, const unsigned char *bytes, size_t len)
{
	size_t zero;

	for (; len > 1 && !*bytes; len--)
		bytes++;
	zero = *bytes >> 7;
	*to++ = 0x02;
	*to++ = (unsigned char)(zero + len);
	*to = 0;
	memcpy(to + zero, bytes, len);
	return to + zero + len;
}

/* Return: the length. */
static size_t to_der(const unsigned char *halves, unsigned char der[DER_MAX])
{
	unsigned char *end = put_number(der + 2, halves, COORDINATE_LEN);

	end = put_number(end, halves + COORDINATE_LEN, COORDINATE_LEN);
	der[0] = 0x30;
	der[1] = (unsigned char)(end - der - 2);
	return (size_t)(end - der);
}

static bool is_signature(struct context *context, bool is_ecdsa, struct eddy_str text,
			 struct eddy_str signature)
{
	const unsigned char *bytes = (const unsigned char *)signature.ptr;
	unsigned char hash[EVP_MAX_MD_SIZE], der[DER_MAX];
	size_t len = signature.len;
	unsigned hash_len;

	if (is_ecdsa) {
		if (len != 2 * COORDINATE_LEN)
			return false;
		len = to_der(bytes, der);
		bytes = der;
	}
	return EVP_DigestInit_ex2(context->hash, NULL, NULL) == 1 &&
	       EVP_DigestUpdate(context->hash, text.ptr, text.len) == 1 &&
	       EVP_DigestFinal_ex(context->hash, hash, &hash_len) == 1 &&
	       EVP_PKEY_verify(context->public, bytes, len, hash, hash_len) == 1;
}

static int take_error(void)
{
	unsigned long error;
	int r = -EKEYREJECTED;

	while ((error = ERR_get_error()))
		if (ERR_GET_REASON(error) == ERR_R_MALLOC_FAILURE)
			r = -ENOMEM;
	return r;
}

int eddyi_verifier_check(struct eddyi_verifier *verifier, unsigned bits, bool is_pss,
			 struct eddy_str text, struct eddy_str signature)
{
	_Atomic(struct context *) *spare = spare_of(verifier);
	struct context *context = atomic_exchange(spare, NULL);
	bool fits;

	if (bits != 256 && bits != 384 && bits != 512)
		abort();
	if (context && (context->bits != bits || context->is_pss != is_pss)) {
		free_context(context);
		context = NULL;
	}
	if (!context)
		context = new_context(verifier, bits, is_pss);
	if (!context) {
		ERR_clear_error();
		return -ENOMEM;
	}
	fits = verifier->key ? is_signature(context, verifier->is_ecdsa, text, signature) :
			       is_mac(context, text, signature);
	free_context(atomic_exchange(spare, context));
	return fits ? 0 : take_error();
}

/* ---- keys ---- */

void eddyi_verifier_free(struct eddyi_verifier *verifier)
{
	if (!verifier)
		return;
	for (int i = 0; i < SPARES; i++)
		free_context(verifier->spares[i]);
	EVP_PKEY_free(verifier->key);
	free(verifier);
}

/* Make the first context, to see whether libcrypto accepts the key or wolfCrypt must be used. */
static struct eddyi_verifier *begin(struct eddyi_verifier *verifier)
{
	verifier->spares[0] = new_context(verifier, 256, false);
	if (verifier->spares[0])
		return verifier;
	eddyi_verifier_free(verifier);
	ERR_clear_error();
	return NULL;
}

/* Takes ownership of the builder. Return: NULL on allocation failure, or if it holds no key. */
static struct eddyi_verifier *new_verifier(const char *algorithm, OSSL_PARAM_BLD *builder)
{
	struct eddyi_verifier *verifier = fetch_once() ? calloc(1, sizeof(*verifier)) : NULL;

	if (verifier)
		verifier->key = eddyi_keys_make(algorithm, EVP_PKEY_PUBLIC_KEY, builder);
	else
		OSSL_PARAM_BLD_free(builder);
	if (verifier && verifier->key)
		return begin(verifier);
	free(verifier);
	ERR_clear_error();
	return NULL;
}

static BIGNUM *number_of(struct eddy_str bytes)
{
	return BN_bin2bn((const unsigned char *)bytes.ptr, (int)bytes.len, NULL);
}

struct eddyi_verifier *eddyi_verifier_of_rsa(struct eddy_str n, struct eddy_str e)
{
	BIGNUM *numbers[] = { number_of(n), number_of(e) };
	OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
	struct eddyi_verifier *verifier = NULL;

	if (builder && numbers[0] && numbers[1] &&
	    OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, numbers[0]) &&
	    OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, numbers[1])) {
		verifier = new_verifier("RSA", builder);
		builder = NULL;
	}
	OSSL_PARAM_BLD_free(builder);
	BN_free(numbers[0]);
	BN_free(numbers[1]);
	return verifier;
}

struct eddyi_verifier *eddyi_verifier_of_p256(struct eddy_str x, struct eddy_str y)
{
	char point[1 + 2 * COORDINATE_LEN] = { POINT_CONVERSION_UNCOMPRESSED };
	struct eddyi_verifier *verifier = NULL;
	OSSL_PARAM_BLD *builder;

	if (x.len != COORDINATE_LEN || y.len != COORDINATE_LEN)
		return NULL;
	memcpy(point + 1, x.ptr, x.len);
	memcpy(point + 1 + x.len, y.ptr, y.len);
	builder = OSSL_PARAM_BLD_new();
	if (builder &&
	    OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, "P-256", 0) &&
	    OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point,
					     sizeof(point))) {
		verifier = new_verifier("EC", builder);
		builder = NULL;
	}
	OSSL_PARAM_BLD_free(builder);
	if (verifier)
		verifier->is_ecdsa = true;
	return verifier;
}

struct eddyi_verifier *eddyi_verifier_of_secret(struct eddy_str secret)
{
	struct eddyi_verifier *verifier = fetch_once() ? calloc(1, sizeof(*verifier)) : NULL;

	if (!verifier)
		return NULL;
	verifier->secret = secret;
	return begin(verifier);
}
