#define OPENSSL_SUPPRESS_DEPRECATED /* RAND_METHOD, which has no successor for a whole process */

#include "wolfcrypt.h"

#include "keys.h"

#include <eddy/internal/accelerator.h>
#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/random.h>

/* Id in wolfSSL's table of devices; no other user of wolfSSL in the process may use it. */
#define DEVICE 0x45444441

static bool is_open;
static int id = INVALID_DEVID;
static char name[64];

/* With --enable-intelasm, wolfSSL up to 5.9.2 makes wrong public keys of X25519 if the upper half of
 * ymm9 is not zero (fe_cmov_table_avx2()). Its ECDSA leaves it so, and its own random numbers, which
 * these replace, clear it. */
static void clear_vectors(void)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx"))
		__asm__ volatile("vzeroupper" ::: "xmm9");
#endif
}

/* wolfSSL would open /dev/urandom for each session and hash its bytes for each number. */
static int draw(unsigned char *bytes, size_t len)
{
	while (len) {
		ssize_t r = getrandom(bytes, len, 0);

		if (r < 0 && errno != EINTR)
			return CRYPTOCB_UNAVAILABLE;
		bytes += r > 0 ? r : 0;
		len -= r > 0 ? (size_t)r : 0;
	}
	clear_vectors();
	return 0;
}

void eddyi_accelerator_draw_by(int (*draw_bytes)(unsigned char *bytes, int len))
{
	static RAND_METHOD method;

	method.bytes = method.pseudorand = draw_bytes;
	RAND_set_rand_method(&method);
}

int eddyi_accelerator_answer(struct wc_CryptoInfo *info)
{
	if (!is_open)
		return CRYPTOCB_UNAVAILABLE;
	switch (info->algo_type) {
	case WC_ALGO_TYPE_CIPHER:
		return info->cipher.type == WC_CIPHER_AES_GCM ? eddyi_gcm(info) :
								CRYPTOCB_UNAVAILABLE;
	case WC_ALGO_TYPE_PK:
		return info->pk.type == WC_PK_TYPE_RSA ? eddyi_rsa(info) : eddyi_ec(info);
	case WC_ALGO_TYPE_SEED:
		return draw(info->seed.seed, info->seed.sz);
	case WC_ALGO_TYPE_RNG:
		return draw(info->rng.out, info->rng.sz);
	default:
		return CRYPTOCB_UNAVAILABLE;
	}
}

static int answer(int device, wc_CryptoInfo *info, void *context)
{
	(void)device;
	(void)context;
	return eddyi_accelerator_answer(info);
}

static void open_device(void)
{
	is_open = eddyi_gcm_open() && eddyi_ec_open();
	if (!is_open)
		return;
	snprintf(name, sizeof(name), "OpenSSL %s", OpenSSL_version(OPENSSL_VERSION_STRING));
	if (wc_CryptoCb_RegisterDevice(DEVICE, answer, NULL) == 0)
		id = DEVICE;
}

static void open_once(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, open_device);
}

int eddyi_accelerator_id(void)
{
	open_once();
	return id;
}

const char *eddyi_accelerator_name(void)
{
	open_once();
	return *name ? name : NULL;
}

void eddyi_accelerator_forget_keys(void)
{
	eddyi_keys_forget();
}
