#include "wolfcrypt.h"

#include <eddy/internal/accelerator.h>
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

/* Invariant: the pointer of a connection to its schedule and that one's `owner` match. */
struct eddyi_schedule {
	EVP_CIPHER_CTX *context;
	struct eddyi_schedule **owner; /* NULL: free */
	unsigned key_len;
	unsigned char key[KEY_MAX];
	bool is_recent; /* used since the hand passed */
};

struct schedules {
	struct eddyi_schedule all[SCHEDULES_MAX];
	struct eddyi_schedule once; /* for calls outside of a connection */
	unsigned hand;              /* clock hand: the next candidate for eviction */
};

static EVP_CIPHER *aes_128, *aes_256;
static pthread_key_t at_exit;
static _Thread_local struct schedules *schedules;
static _Thread_local struct eddyi_schedules *current;

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

/* Return: NULL on allocation failure. */
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

/* Take a free schedule, or approximately the least recently used. */
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

/* Return: false on allocation failure. */
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

/* Get the connection's schedule of a direction, with its key; NULL on allocation failure. */
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

/* wolfSSL has a separate structure for each direction. */
struct record {
	Aes *aes;
	const byte *iv, *aad, *in;
	byte *out, *tag; /* for opening, the tag is input */
	word32 iv_len, aad_len, len, tag_len;
};

static struct record to_seal(const wc_CryptoInfo *info)
{
	return (struct record){
		.aes = info->cipher.aesgcm_enc.aes,
		.iv = info->cipher.aesgcm_enc.iv,
		.iv_len = info->cipher.aesgcm_enc.ivSz,
		.aad = info->cipher.aesgcm_enc.authIn,
		.aad_len = info->cipher.aesgcm_enc.authInSz,
		.in = info->cipher.aesgcm_enc.in,
		.out = info->cipher.aesgcm_enc.out,
		.len = info->cipher.aesgcm_enc.sz,
		.tag = info->cipher.aesgcm_enc.authTag,
		.tag_len = info->cipher.aesgcm_enc.authTagSz,
	};
}

static struct record to_open(const wc_CryptoInfo *info)
{
	return (struct record){
		.aes = info->cipher.aesgcm_dec.aes,
		.iv = info->cipher.aesgcm_dec.iv,
		.iv_len = info->cipher.aesgcm_dec.ivSz,
		.aad = info->cipher.aesgcm_dec.authIn,
		.aad_len = info->cipher.aesgcm_dec.authInSz,
		.in = info->cipher.aesgcm_dec.in,
		.out = info->cipher.aesgcm_dec.out,
		.len = info->cipher.aesgcm_dec.sz,
		.tag = (byte *)info->cipher.aesgcm_dec.authTag,
		.tag_len = info->cipher.aesgcm_dec.authTagSz,
	};
}

/* Return: false if libcrypto failed, or the record was modified in transit. */
static bool apply(EVP_CIPHER_CTX *context, const struct record *record, bool seals)
{
	int len;

	return EVP_CipherInit_ex(context, NULL, NULL, NULL, record->iv, seals) &&
	       EVP_CipherUpdate(context, NULL, &len, record->aad, (int)record->aad_len) &&
	       EVP_CipherUpdate(context, record->out, &len, record->in, (int)record->len) &&
	       (seals ||
		EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, TAG_LEN, record->tag)) &&
	       EVP_CipherFinal_ex(context, record->out + len, &len) &&
	       (!seals ||
		EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, TAG_LEN, record->tag));
}

/* A record that could not be sealed is partly overwritten, so wolfSSL must not retry. After a
 * failed open, the output is wiped. */
static int fail(const struct record *record, bool seals)
{
	ERR_clear_error();
	if (seals)
		return WC_HW_E;
	OPENSSL_cleanse(record->out, record->len);
	return AES_GCM_AUTH_E;
}

int eddyi_gcm(const wc_CryptoInfo *info)
{
	bool seals = info->cipher.enc, ok;
	struct record record = seals ? to_seal(info) : to_open(info);
	struct schedules *mine = schedules_here();
	struct eddyi_schedule *schedule;

	if (!mine || record.iv_len != IV_LEN || record.tag_len != TAG_LEN ||
	    (record.aes->keylen != 16 && record.aes->keylen != 32))
		return CRYPTOCB_UNAVAILABLE;
	schedule = find(mine, record.aes, seals);
	if (!schedule)
		return CRYPTOCB_UNAVAILABLE;
	ok = apply(schedule->context, &record, seals);
	if (schedule == &mine->once)
		wipe(schedule);
	return ok ? 0 : fail(&record, seals);
}

/* ---- a connection's schedules ---- */

void eddyi_accelerator_enter(struct eddyi_schedules *mine)
{
	current = mine;
}

void eddyi_accelerator_forget(struct eddyi_schedules *mine)
{
	for (int i = 0; i < 2; i++)
		if (mine->of[i])
			wipe(mine->of[i]);
	if (current == mine)
		current = NULL;
}
