/* secure.h and digest.h where this is built without OpenSSL: nobody asks for them, since options_check() has refused https://, and
 * what wants a digest. */
#include "digest.h"
#include "secure.h"

#include <errno.h>

bool secure_is_there(void)
{
	return false;
}

int secure_open(const struct options *options, struct secure **ret_secure,
		char error[OPTIONS_ERROR_SIZE])
{
	(void)options, (void)error;
	*ret_secure = NULL;
	return 0;
}

void secure_close(struct secure *secure)
{
	(void)secure;
}

void secure_remark(const struct plan *plan, struct result *result)
{
	(void)plan, (void)result;
}

int secure_begin(struct conn *conn)
{
	(void)conn;
	return -ENOTSUP;
}

void secure_end(struct conn *conn)
{
	(void)conn;
}

ssize_t secure_receive(struct conn *conn, void *buf, size_t len)
{
	(void)conn, (void)buf, (void)len;
	return -ENOTSUP;
}

bool secure_take_early(struct conn *conn)
{
	(void)conn;
	return true;
}

ssize_t secure_seal(struct conn *conn, const void *bytes, size_t len)
{
	(void)conn, (void)bytes, (void)len;
	return -ENOTSUP;
}

int secure_flush(struct conn *conn)
{
	(void)conn;
	return -ENOTSUP;
}

bool digest_is_there(void)
{
	return false;
}

struct digest *digest_new(void)
{
	return NULL;
}

void digest_free(struct digest *digest)
{
	(void)digest;
}

void digest_begin(struct digest *digest)
{
	(void)digest;
}

void digest_add(struct digest *digest, const void *bytes, size_t len)
{
	(void)digest, (void)bytes, (void)len;
}

void digest_end(struct digest *digest, unsigned char ret_bytes[DIGEST_SIZE])
{
	(void)digest, (void)ret_bytes;
}
