/* eddy/accelerator.h: ciphers and keys of wolfSSL, done by libcrypto, which uses the processor's instructions for them.
 *
 *     wolfSSL_CTX_SetDevId(context, eddy_accelerator_id());
 *
 * A device of wolfSSL's ("crypto callback"). It seals and opens records of AES-GCM, does RSA and ECDSA with private keys and
 * ECDH on P-256, P-384 and P-521, and draws random numbers by getrandom(2). wolfSSL does the rest itself: other suites, keys of
 * other kinds.
 *
 * A key's schedule takes longer to make than a record of some hundred bytes takes to seal, so it is kept for the next record: a thread
 * has 64 of them. A thread that has many connections says which one it works for: then the keys of one that has ended
 * can be wiped.
 */
#ifndef EDDY_ACCELERATOR_H
#define EDDY_ACCELERATOR_H

#include <eddy/base.h>

EDDY_BEGIN_DECLS

/* The schedules of a connection's keys, for sealing and for opening; zero them before the first use. They are of the thread that
 * used them first: another thread must not. */
struct eddy_schedules {
	struct eddyi_schedule *of[2]; /* private */
};

/* The device's number for wolfSSL_CTX_SetDevId() and calls like wc_InitRsaKey_ex(), after wolfSSL_Init(). Any thread.
 * Return: the number; -2 (INVALID_DEVID), which means none, where libcrypto or wolfSSL lacks what it takes. */
EDDY_API int eddy_accelerator_id(void);

struct wc_CryptoInfo;

/* Do what wolfSSL asks of a device, for another device that passes the request on, and is the one that is registered.
 * Return: as a device's function: 0; CRYPTOCB_UNAVAILABLE, wolfSSL is to do it itself; an error of wolfSSL's. */
EDDY_API int eddy_accelerator_answer(struct wc_CryptoInfo *info);

/* Name libcrypto and its version, such as "OpenSSL 3.0.19". Return: a static text; NULL where there is no device. */
EDDY_API const char *eddy_accelerator_name(void);

/* From now on this thread's calls of wolfSSL are for the connection that has these; NULL: for none, and each
 * record has its schedule made and wiped. Never suspends. */
EDDY_API void eddy_accelerator_enter(struct eddy_schedules *schedules);

/* Wipe the schedules of a connection, on its thread. It may go on: they are made again. Never suspends. */
EDDY_API void eddy_accelerator_forget(struct eddy_schedules *schedules);

/* Wipe the private keys that are kept: one of them has been replaced. Those that are in use are made again. Any thread. */
EDDY_API void eddy_accelerator_forget_keys(void);

EDDY_END_DECLS

#endif
