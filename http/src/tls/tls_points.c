#include "wolfssl.h"

#include "tls_points.h"

#include "accelerated.h"

#include <eddy/internal/outside.h>

#include <wolfssl/error-ssl.h>
#include <wolfssl/wolfcrypt/cryptocb.h>
#include <wolfssl/wolfcrypt/ecc.h>
#include <wolfssl/wolfcrypt/error-crypt.h>

/* The library passes the points only to a device. */
#ifndef WOLF_CRYPTO_CB
#error "this wolfSSL has no crypto callbacks: build it with --enable-cryptocb"
#endif

/* The device's number, which no other user of the library in the process may take. */
#define DEVICE 0x45444459

#define X25519_LEN 32

/* The points of order 8, which give the secret 0. The library rejects lower orders and 0 itself. */
static const unsigned char weak[][X25519_LEN] = {
	{ 0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3,
	  0xfa, 0xf1, 0x9f, 0xc4, 0x6a, 0xda, 0x09, 0x8d, 0xeb, 0x9c, 0x32,
	  0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16, 0x5f, 0x49, 0xb8, 0x00 },
	{ 0x5f, 0x9c, 0x95, 0xbc, 0xa3, 0x50, 0x8c, 0x24, 0xb1, 0xd0, 0xb1,
	  0x55, 0x9c, 0x83, 0xef, 0x5b, 0x04, 0x44, 0x5c, 0xc4, 0x58, 0x1c,
	  0x8e, 0x86, 0xd8, 0x22, 0x4e, 0xdd, 0xd0, 0x9f, 0x11, 0x57 },
};

/* Draw random numbers for a request to the device. Return: false for other requests. */
static bool draw_recorded(struct wc_CryptoInfo *info)
{
	switch (info->algo_type) {
	case WC_ALGO_TYPE_SEED:
		return eddyi_random(info->seed.seed, info->seed.sz, 0) == 0;
	case WC_ALGO_TYPE_RNG:
		return eddyi_random(info->rng.out, info->rng.sz, 0) == 0;
	}
	return false;
}

static int draw_bytes(unsigned char *bytes, int len)
{
	return eddyi_random(bytes, (size_t)len, 0) == 0;
}

/* The accelerator checks points as well. These curves have a prime order, so a point is valid if it
 * is on the curve and not at infinity, which the library can't read. */
static int check(int device, wc_CryptoInfo *info, void *arg)
{
	int r;

	(void)device;
	(void)arg;
	if (EDDYI_HAS_TRACK && draw_recorded(info))
		return 0;
	r = eddyi_accelerator_answer(info);
	if (r == CRYPTOCB_UNAVAILABLE && info->algo_type == WC_ALGO_TYPE_PK &&
	    info->pk.type == WC_PK_TYPE_ECDH) {
		ecc_key *key = info->pk.ecdh.public_key;
		int fault = wc_ecc_point_is_on_curve(&key->pubkey, key->idx);

		return fault ? fault : r;
	}
	return r;
}

bool eddyi_tls_points_init(void)
{
	/* Opens the accelerator. */
	eddyi_accelerator_name();
	if (EDDYI_HAS_TRACK)
		eddyi_accelerator_draw_by(draw_bytes);
	return wc_CryptoCb_RegisterDevice(DEVICE, check, NULL) == 0;
}

bool eddyi_tls_points_limit(struct WOLFSSL_CTX *context)
{
	return wolfSSL_CTX_SetDevId(context, DEVICE) == WOLFSSL_SUCCESS &&
	       wolfSSL_CTX_set1_curves_list(context, "P-256:X25519:P-384:P-521") == WOLFSSL_SUCCESS;
}

bool eddyi_tls_points_has_weak(const unsigned char *message, size_t len)
{
	for (size_t i = 0; i < sizeof(weak) / sizeof(weak[0]); i++)
		if (memmem(message, len, weak[i], X25519_LEN))
			return true;
	return false;
}

bool eddyi_tls_points_is_fault(int error)
{
	return error == ECC_PEERKEY_ERROR || error == IS_POINT_E || error == ECC_INF_E ||
	       error == ECC_OUT_OF_RANGE_E;
}
