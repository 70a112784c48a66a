#include "wolfssl.h"

#include "ktls.h"

#include <eddy/internal/outside.h>
#include <errno.h>
#include <linux/tls.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef SOL_TLS
#define SOL_TLS 282
#endif
#ifndef TCP_ULP
#define TCP_ULP 31
#endif

#define ALERT 21
#define SALT_LEN 4
#define IV_LEN 8

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool there;

static int attach(int fd)
{
	return eddyi_setsockopt_now(fd, IPPROTO_TCP, TCP_ULP, "tls", sizeof("tls")) < 0 ? -errno :
											  0;
}

/* The kernel rejects an unconnected socket only after it has found the module. */
static void probe(void)
{
	int fd = eddyi_socket_now(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return;
	there = attach(fd) == -ENOTCONN;
	eddyi_close_now(fd);
}

bool eddyi_ktls_is_there(void)
{
	pthread_once(&once, probe);
	return there;
}

/* Write the number of the next record, which continues those of the session. */
static bool put_number(struct WOLFSSL *session, unsigned char number[8])
{
	word64 next;

	if (wolfSSL_GetSequenceNumber(session, &next) < 0)
		return false;
	for (int i = 7; i >= 0; i--, next >>= 8)
		number[i] = (unsigned char)next;
	return true;
}

/* In TLS 1.3 the nonce uses a whole IV. In 1.2 its second half is sent with each record; the record
 * number serves, since the library begins at a random one. */
static void put_iv(struct WOLFSSL *session, bool is_1_3, const unsigned char *number,
		   unsigned char *salt, unsigned char *iv)
{
	const unsigned char *secret = wolfSSL_GetServerWriteIV(session);

	memcpy(salt, secret, SALT_LEN);
	memcpy(iv, is_1_3 ? secret + SALT_LEN : number, IV_LEN);
}

bool eddyi_ktls_begin(struct WOLFSSL *session, int fd)
{
	union {
		struct tls_crypto_info info;
		struct tls12_crypto_info_aes_gcm_128 gcm128;
		struct tls12_crypto_info_aes_gcm_256 gcm256;
	} crypto = { 0 };
	bool is_1_3 = wolfSSL_version(session) == TLS1_3_VERSION;
	const unsigned char *key = wolfSSL_GetServerWriteKey(session);
	int key_len = wolfSSL_GetKeySize(session);
	socklen_t len;
	bool sends;

	if (!eddyi_ktls_is_there() || wolfSSL_GetBulkCipher(session) != wolfssl_aes_gcm)
		return false;
	crypto.info.version = is_1_3 ? TLS_1_3_VERSION : TLS_1_2_VERSION;
	if (key_len == TLS_CIPHER_AES_GCM_128_KEY_SIZE) {
		crypto.info.cipher_type = TLS_CIPHER_AES_GCM_128;
		len = sizeof(crypto.gcm128);
		if (!put_number(session, crypto.gcm128.rec_seq))
			return false;
		memcpy(crypto.gcm128.key, key, (size_t)key_len);
		put_iv(session, is_1_3, crypto.gcm128.rec_seq, crypto.gcm128.salt,
		       crypto.gcm128.iv);
	} else {
		crypto.info.cipher_type = TLS_CIPHER_AES_GCM_256;
		len = sizeof(crypto.gcm256);
		if (!put_number(session, crypto.gcm256.rec_seq))
			return false;
		memcpy(crypto.gcm256.key, key, (size_t)key_len);
		put_iv(session, is_1_3, crypto.gcm256.rec_seq, crypto.gcm256.salt,
		       crypto.gcm256.iv);
	}
	sends = attach(fd) == 0 && eddyi_setsockopt_now(fd, SOL_TLS, TLS_TX, &crypto, len) == 0;
	explicit_bzero(&crypto, sizeof(crypto));
	return sends;
}

void eddyi_ktls_alert(int fd, unsigned char level, unsigned char description)
{
	unsigned char alert[] = { level, description };
	union {
		char space[CMSG_SPACE(1)];
		struct cmsghdr align;
	} control = { 0 };
	struct msghdr msg = {
		.msg_iov = &(struct iovec){ alert, sizeof(alert) },
		.msg_iovlen = 1,
		.msg_control = control.space,
		.msg_controllen = sizeof(control.space),
	};
	struct cmsghdr *header = CMSG_FIRSTHDR(&msg);

	header->cmsg_level = SOL_TLS;
	header->cmsg_type = TLS_SET_RECORD_TYPE;
	header->cmsg_len = CMSG_LEN(1);
	*CMSG_DATA(header) = ALERT;
	if (eddyi_sendmsg_now(fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return; /* the peer does not read; it misses the alert */
}
