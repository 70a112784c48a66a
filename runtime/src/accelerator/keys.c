#include "keys.h"

#include <openssl/crypto.h>
#include <pthread.h>
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
	unsigned next; /* to be replaced */
} keys = { .lock = PTHREAD_MUTEX_INITIALIZER };

EVP_PKEY *eddyi_keys_find(const unsigned char *id, size_t len)
{
	EVP_PKEY *key = NULL;

	pthread_mutex_lock(&keys.lock);
	for (size_t i = 0; i < KEPT_MAX && !key; i++) {
		struct kept *kept = &keys.all[i];

		if (kept->key && kept->len == len && CRYPTO_memcmp(kept->id, id, len) == 0)
			key = kept->key;
	}
	if (key)
		EVP_PKEY_up_ref(key);
	pthread_mutex_unlock(&keys.lock);
	return key;
}

/* Lock held. */
static void drop(struct kept *kept)
{
	EVP_PKEY_free(kept->key);
	OPENSSL_cleanse(kept, sizeof(*kept));
}

void eddyi_keys_keep(EVP_PKEY *key, const unsigned char *id, size_t len)
{
	struct kept *kept;

	if (len > EDDYI_KEY_ID_MAX)
		return;
	pthread_mutex_lock(&keys.lock);
	kept = &keys.all[keys.next++ % KEPT_MAX];
	drop(kept);
	EVP_PKEY_up_ref(key);
	kept->key = key;
	kept->len = len;
	memcpy(kept->id, id, len);
	pthread_mutex_unlock(&keys.lock);
}

void eddyi_keys_forget(void)
{
	pthread_mutex_lock(&keys.lock);
	for (size_t i = 0; i < KEPT_MAX; i++)
		drop(&keys.all[i]);
	pthread_mutex_unlock(&keys.lock);
}
