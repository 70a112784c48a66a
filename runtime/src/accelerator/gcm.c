#include "gcm.h"

#include <eddy/accelerator.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SCHEDULES_MAX 64
#define KEY_MAX 32
#define IV_LEN 12
#define TAG_LEN 16

/* Invariant: while a connection has it, the connection's pointer and `owner` point at each other. */
struct eddyi_schedule {
	EVP_CIPHER_CTX *context;
	struct eddyi_schedule **owner; /* NULL: nobody has it */
	unsigned key_len;
	unsigned char key[KEY_MAX];
	bool is_recent; /* used since the hand passed */
};

struct schedules {
	struct eddyi_schedule all[SCHEDULES_MAX];
	struct eddyi_schedule once; /* for those that are no connection's */
	unsigned hand;              /* who is asked next to give way */
};

static EVP_CIPHER *aes_128, *aes_256;
static pthread_key_t at_exit;
static _Thread_local struct schedules *schedules;
static _Thread_local struct eddy_schedules *current;

/* ---- a thread's schedules ---- */

static void wipe(struct eddyi_schedule *schedule)
{
	if (schedule->context)
		EVP_CIPHER_CTX_reset(schedule->context);
	OPENSSL_cleanse(schedule->key, sizeof(schedule->key));
	schedule->key_len = 0;
	if (schedule->owner)
		*schedule->owner = NULL;
	schedule->owner = NULL;
}

static void free_schedules(void *arg)
{
	struct schedules *mine = arg;

	for (unsigned i = 0; i < SCHEDULES_MAX; i++) {
		wipe(&mine->all[i]);
		EVP_CIPHER_CTX_free(mine->all[i].context);
	}
	wipe(&mine->once);
	EVP_CIPHER_CTX_free(mine->once.context);
	free(mine);
	schedules = NULL;
}

bool eddyi_gcm_open(void)
{
	aes_128 = EVP_CIPHER_fetch(NULL, "AES-128-GCM", NULL);
	aes_256 = EVP_CIPHER_fetch(NULL, "AES-256-GCM", NULL);
	return aes_128 && aes_256 && pthread_key_create(&at_exit, free_schedules) == 0;
}

/* Return: NULL when memory is out. */
static struct schedules *schedules_here(void)
{
	if (!schedules) {
		schedules = calloc(1, sizeof(*schedules));
		if (schedules && pthread_setspecific(at_exit, schedules) != 0) {
			free(schedules);
			schedules = NULL;
		}
	}
	return schedules;
}

/* One that nobody has, or that nobody has used for longest, by and large. */
static struct eddyi_schedule *take(struct schedules *mine)
{
	struct eddyi_schedule *schedule;

	for (;;) {
		schedule = &mine->all[mine->hand++ % SCHEDULES_MAX];
		if (!schedule->owner || !schedule->is_recent)
			break;
		schedule->is_recent = false;
	}
	wipe(schedule);
	return schedule;
}

/* ---- keys ---- */

static bool has_key(const struct eddyi_schedule *schedule, const Aes *aes)
{
	return schedule->key_len == (unsigned)aes->keylen &&
	       CRYPTO_memcmp(schedule->key, aes->devKey, schedule->key_len) == 0;
}

/* Return: false when memory is out. */
static bool set_key(struct eddyi_schedule *schedule, const Aes *aes, bool seals)
{
	const EVP_CIPHER *cipher = aes->keylen == 16 ? aes_128 : aes_256;
	const unsigned char *key = (const unsigned char *)aes->devKey;

	if (!schedule->context)
		schedule->context = EVP_CIPHER_CTX_new();
	if (!schedule->context ||
	    !EVP_CipherInit_ex(schedule->context, cipher, NULL, key, NULL, seals))
		return false;
	memcpy(schedule->key, key, (size_t)aes->keylen);
	schedule->key_len = (unsigned)aes->keylen;
	return true;
}

/* The connection's schedule of a direction, with the key that the session has now. Return: NULL when memory is out. */
static struct eddyi_schedule *find(struct schedules *mine, const Aes *aes, bool seals)
{
	struct eddyi_schedule **owner = current ? &current->of[seals] : NULL, *schedule;

	schedule = owner ? *owner : &mine->once;
	if (!schedule) {
		schedule = take(mine);
		schedule->owner = owner;
		*owner = schedule;
	}
	schedule->is_recent = true;
	if (has_key(schedule, aes) || set_key(schedule, aes, seals))
		return schedule;
	wipe(schedule);
	return NULL;
}

/* ---- records ---- */

static bool seal(EVP_CIPHER_CTX *context, const wc_CryptoInfo *info)
{
	const unsigned char *aad = info->cipher.aesgcm_enc.authIn;
	int len;

	return EVP_CipherInit_ex(context, NULL, NULL, NULL, info->cipher.aesgcm_enc.iv, 1) &&
	       EVP_CipherUpdate(context, NULL, &len, aad, (int)info->cipher.aesgcm_enc.authInSz) &&
	       EVP_CipherUpdate(context, info->cipher.aesgcm_enc.out, &len,
				info->cipher.aesgcm_enc.in, (int)info->cipher.aesgcm_enc.sz) &&
	       EVP_CipherFinal_ex(context, info->cipher.aesgcm_enc.out + len, &len) &&
	       EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, TAG_LEN,
				   info->cipher.aesgcm_enc.authTag);
}

static bool open(EVP_CIPHER_CTX *context, const wc_CryptoInfo *info)
{
	const unsigned char *aad = info->cipher.aesgcm_dec.authIn;
	int len;

	return EVP_CipherInit_ex(context, NULL, NULL, NULL, info->cipher.aesgcm_dec.iv, 0) &&
	       EVP_CipherUpdate(context, NULL, &len, aad, (int)info->cipher.aesgcm_dec.authInSz) &&
	       EVP_CipherUpdate(context, info->cipher.aesgcm_dec.out, &len,
				info->cipher.aesgcm_dec.in, (int)info->cipher.aesgcm_dec.sz) &&
	       EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, TAG_LEN,
				   (void *)info->cipher.aesgcm_dec.authTag) &&
	       EVP_CipherFinal_ex(context, info->cipher.aesgcm_dec.out + len, &len);
}

/* What could not be sealed has been overwritten in part; what could not be opened says nothing. */
static int fail(const wc_CryptoInfo *info, bool seals)
{
	ERR_clear_error();
	if (seals)
		return WC_HW_E;
	OPENSSL_cleanse(info->cipher.aesgcm_dec.out, info->cipher.aesgcm_dec.sz);
	return AES_GCM_AUTH_E;
}

int eddyi_gcm(const wc_CryptoInfo *info)
{
	bool seals = info->cipher.enc, ok;
	const Aes *aes = seals ? info->cipher.aesgcm_enc.aes : info->cipher.aesgcm_dec.aes;
	word32 iv_len = seals ? info->cipher.aesgcm_enc.ivSz : info->cipher.aesgcm_dec.ivSz;
	word32 tag_len = seals ? info->cipher.aesgcm_enc.authTagSz :
				 info->cipher.aesgcm_dec.authTagSz;
	struct schedules *mine = schedules_here();
	struct eddyi_schedule *schedule;

	if (!mine || iv_len != IV_LEN || tag_len != TAG_LEN ||
	    (aes->keylen != 16 && aes->keylen != 32))
		return CRYPTOCB_UNAVAILABLE;
	schedule = find(mine, aes, seals);
	if (!schedule)
		return CRYPTOCB_UNAVAILABLE;
	ok = seals ? seal(schedule->context, info) : open(schedule->context, info);
	if (schedule == &mine->once)
		wipe(schedule);
	return ok ? 0 : fail(info, seals);
}

/* ---- who it is for ---- */

void eddy_accelerator_enter(struct eddy_schedules *mine)
{
	current = mine;
}

void eddy_accelerator_forget(struct eddy_schedules *mine)
{
	for (int i = 0; i < 2; i++)
		if (mine->of[i])
			wipe(mine->of[i]);
	if (current == mine)
		current = NULL;
}
