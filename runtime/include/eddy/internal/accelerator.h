/* eddy/accelerator.h: run wolfSSL's ciphers and keys in libcrypto, which uses the processor's
 * instructions for them.
 *
 *     wolfSSL_CTX_SetDevId(context, eddyi_accelerator_id());
 *
 * This is a wolfSSL device ("crypto callback"). It seals and opens AES-GCM records, runs RSA and
 * ECDSA with private keys and ECDH on P-256, P-384 and P-521, and draws random numbers by
 * getrandom(2). wolfSSL handles all other cipher suites and keys itself.
 *
 * Making a key's schedule takes longer than sealing a record of some hundred bytes, so a thread
 * keeps 64 of them. A thread with many connections says which one it works for, so that the keys of
 * a connection that has ended can be wiped.
 */
#ifndef EDDY_ACCELERATOR_H
#define EDDY_ACCELERATOR_H

#include <eddy/base.h>

EDDY_BEGIN_DECLS

/* Key schedules of a connection, for sealing and for opening. Zero them before the first use. Only
 * the thread that used them first may use them. */
struct eddyi_schedules {
	struct eddyi_schedule *of[2]; /* private */
};

/* Get the device's number for wolfSSL_CTX_SetDevId() and calls like wc_InitRsaKey_ex(), after
 * wolfSSL_Init(). Any thread may call it.
 * Return: the number; -2 (INVALID_DEVID: no device) if libcrypto or wolfSSL lacks what it needs. */
EDDY_API int eddyi_accelerator_id(void);

struct wc_CryptoInfo;

/* Handle a request to a wolfSSL device, for a registered device of the program that passes it on.
 * Return: 0; CRYPTOCB_UNAVAILABLE if wolfSSL is to handle it itself; an error of wolfSSL. */
EDDY_API int eddyi_accelerator_answer(struct wc_CryptoInfo *info);

/* Have all random numbers of libcrypto drawn by `draw`, which returns 1, as RAND_bytes(3), or 0. For
 * a recording, before other threads use libcrypto. */
EDDY_API void eddyi_accelerator_draw_by(int (*draw)(unsigned char *bytes, int len));

/* Get the name and version of libcrypto, such as "OpenSSL 3.0.19". Return: static memory; NULL if
 * there is no device. */
EDDY_API const char *eddyi_accelerator_name(void);

/* Select the connection that this thread's wolfSSL calls are for; NULL: none, and each record has
 * its schedule made and wiped. Never suspends. */
EDDY_API void eddyi_accelerator_enter(struct eddyi_schedules *schedules);

/* Wipe the schedules of a connection, on its thread. They are made again if it goes on.
 * Never suspends. */
EDDY_API void eddyi_accelerator_forget(struct eddyi_schedules *schedules);

/* Wipe the private keys that are kept, after one has been replaced. Keys in use are made again. Any
 * thread may call it. */
EDDY_API void eddyi_accelerator_forget_keys(void);

EDDY_END_DECLS

#endif
