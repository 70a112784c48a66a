/* secure.h: connections of https://, by OpenSSL: TLS 1.2 and 1.3, where bytes are encrypted and decrypted here. So they are
 * copied; a client that were slower than the servers would be what is measured.
 *
 * Each connection makes a full handshake, or with --resume resumes the last session that its server gave. The server's certificate is verified by the
 * authorities that the system trusts, or those of --ca alone; --insecure trusts whoever answers.
 */
#ifndef EDDY_BENCH_SECURE_H
#define EDDY_BENCH_SECURE_H

#include "options.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct conn;
struct plan;
struct result;

/* What the connections to all targets of https:// have in common. */
struct secure;

/* Whether this build can: it has OpenSSL. */
bool secure_is_there(void);

/* Read whom to trust. Suspends. Return: 0, and NULL where no target is of https://; -errno and a sentence. */
int secure_open(const struct options *options, struct secure **ret_secure,
		char error[OPTIONS_ERROR_SIZE]);

/* No connection uses it any more. NULL is fine. */
void secure_close(struct secure *secure);

/* Say in the result what was agreed on with a target, and what that means. Nothing of one that is plain. */
void secure_remark(const struct plan *plan, struct result *result);

/* Shake hands on a connection that has been made, and see that it is the target's host who answers. Suspends.
 * Return: 0; -errno, and conn->wrong says why. */
int secure_begin(struct conn *conn);

/* Say goodbye, if the socket takes it now, and forget the session. Does nothing where there is none. */
void secure_end(struct conn *conn);

/* Receive and decrypt. Suspends. Return: bytes; -ENODATA when the server has said that it is the last; -ECONNABORTED
 * where it ended without that, so that something may be missing; -EBADMSG; -errno. */
ssize_t secure_receive(struct conn *conn, void *buf, size_t len);

/* Take into the connection's buffer what has come, as far as there is room. Never suspends.
 * Return: whether the connection has ended. */
bool secure_take_early(struct conn *conn);

/* Encrypt as many bytes as there is room for, to be sent by secure_flush(). Never suspends.
 * Return: bytes, 0 where there is none; -errno. */
ssize_t secure_seal(struct conn *conn, const void *bytes, size_t len);

/* Send what is encrypted, as far as the socket takes it now. Return: 0 when all has gone; -EAGAIN; -errno. */
int secure_flush(struct conn *conn);

#endif
