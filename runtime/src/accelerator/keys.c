#include "keys.h"

#include <openssl/crypto.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define KEPT_MAX 8

struct kept {
	EVP_PKEY *key;
	size_t len;
	unsigned char id[EDDYI_KEY_ID_MAX];
};

static struct {
	pthread_mutex_t lock;
	struct kept all[KEPT_MAX];
	unsigned next; /* the next to replace */
	atomic_uint generation;
} keys = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Lock held. Return: NULL if there is none. */
static EVP_PKEY *look_up(const unsigned char *id, size_t len)
{
	for (size_t i = 0; i < KEPT_MAX; i++) {
		struct kept *kept = &keys.all[i];

		if (kept->key && kept->len == len && CRYPTO_memcmp(kept->id, id, len) == 0)
			return kept->key;
	}
	return NULL;
}

EVP_PKEY *eddyi_keys_find(const unsigned char *id, size_t len)
{
	EVP_PKEY *key;

	pthread_mutex_lock(&keys.lock);
	key = look_up(id, len);
	if (key)
		EVP_PKEY_up_ref(key);
	pthread_mutex_unlock(&keys.lock);
	return key;
}

unsigned eddyi_keys_generation(void)
{
	return keys.generation;
}

/* Lock held. */
static void drop(struct kept *kept)
{
	EVP_PKEY_free(kept->key);
	OPENSSL_cleanse(kept, sizeof(*kept));
}

void eddyi_keys_keep(EVP_PKEY *key, const unsigned char *id, size_t len, unsigned generation)
{
	struct kept *kept;

	if (len > EDDYI_KEY_ID_MAX)
		return;
	pthread_mutex_lock(&keys.lock);
	/* Another thread may have added the same key meanwhile. */
	if (generation == keys.generation && !look_up(id, len)) {
		kept = &keys.all[keys.next++ % KEPT_MAX];
		drop(kept);
		EVP_PKEY_up_ref(key);
		kept->key = key;
		kept->len = len;
		memcpy(kept->id, id, len);
	}
	pthread_mutex_unlock(&keys.lock);
}

EVP_PKEY *eddyi_keys_make(const char *algorithm, int selection, OSSL_PARAM_BLD *builder)
{
	EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, algorithm, NULL);
	OSSL_PARAM *params = context ? OSSL_PARAM_BLD_to_param(builder) : NULL;
	EVP_PKEY *key = NULL;

	if (params && EVP_PKEY_fromdata_init(context) == 1)
		EVP_PKEY_fromdata(context, &key, selection, params);
	OSSL_PARAM_free(params);
	OSSL_PARAM_BLD_free(builder);
	EVP_PKEY_CTX_free(context);
	return key;
}

void eddyi_keys_forget(void)
{
	pthread_mutex_lock(&keys.lock);
	for (size_t i = 0; i < KEPT_MAX; i++)
		drop(&keys.all[i]);
	keys.generation++;
	pthread_mutex_unlock(&keys.lock);
}
