/* An open TLS session whose peer is hostile: the input is what the peer says inside the encryption.
 *
 * The first byte chooses the role and the version. Each record follows: one byte for the type, two for the length of its
 * plaintext, and the plaintext, to which nothing is added; what is left of a short input is the last one. The type 0
 * stands for a KeyUpdate, after which the peer's keys are other ones.
 */
#include "tls/wolfssl.h"

#include "../http/localhost.h"
#include "tls/hello.h"
#include "tls/tls.h"
#include "tls/tls_client.h"
#include "tls/tls_setup.h"

#include <eddy/loop.h>
#include <eddy/tls.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <wolfssl/wolfcrypt/aes.h>

#define CLIENT_BIT 1 /* eddy is the client */
#define TLS_1_2_BIT 2
#define KEY_UPDATE 0
#define HEAD_LEN 5
#define TAG_LEN 16
#define IV_LEN 12
#define SALT_LEN 4
#define PLAINTEXT_MAX ((size_t)(17 * EDDY_KIB))
#define SUITES "TLS13-AES128-GCM-SHA256:ECDHE-ECDSA-AES128-GCM-SHA256"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool ok)
{
	if (!ok)
		abort();
}

/* ---- the peer ---- */

/* Bytes on their way from one end to the other. */
struct bytes {
	unsigned char at[64 * EDDY_KIB];
	size_t len, taken;
};

static void put(struct bytes *bytes, const void *more, size_t len)
{
	if (bytes->taken == bytes->len)
		bytes->taken = bytes->len = 0;
	need(len <= sizeof(bytes->at) - bytes->len);
	memcpy(bytes->at + bytes->len, more, len);
	bytes->len += len;
}

struct peer {
	WOLFSSL *session;
	bool is_client, is_1_2;
	word64 number; /* of its next record */
	struct bytes in, out;
};

static int pull(WOLFSSL *session, char *buf, int len, void *arg)
{
	struct bytes *in = &((struct peer *)arg)->in;
	size_t here = in->len - in->taken;

	(void)session;
	if (!here)
		return WOLFSSL_CBIO_ERR_WANT_READ;
	if (here > (size_t)len)
		here = (size_t)len;
	memcpy(buf, in->at + in->taken, here);
	in->taken += here;
	return (int)here;
}

static int push(WOLFSSL *session, char *buf, int len, void *arg)
{
	(void)session;
	put(&((struct peer *)arg)->out, buf, (size_t)len);
	return len;
}

/* A record of this plaintext. */
static void seal(struct peer *peer, uint8_t type, const uint8_t *text, size_t len)
{
	static unsigned char record[HEAD_LEN + 8 + PLAINTEXT_MAX + TAG_LEN];
	const unsigned char *key = peer->is_client ? wolfSSL_GetClientWriteKey(peer->session) :
						     wolfSSL_GetServerWriteKey(peer->session);
	const unsigned char *secret = peer->is_client ? wolfSSL_GetClientWriteIV(peer->session) :
							wolfSSL_GetServerWriteIV(peer->session);
	unsigned char number[8], iv[IV_LEN], extra[13], *body = record + HEAD_LEN;
	size_t extra_len = HEAD_LEN, sealed = len + TAG_LEN + (peer->is_1_2 ? sizeof(number) : 0);
	Aes aes;

	for (size_t i = 0; i < sizeof(number); i++)
		number[i] = (unsigned char)(peer->number >> (56 - 8 * i));
	peer->number++;
	memcpy(iv, secret, IV_LEN);
	memcpy(record,
	       (unsigned char[]){ type, 3, 3, (unsigned char)(sealed >> 8), (unsigned char)sealed },
	       HEAD_LEN);
	memcpy(extra, record, HEAD_LEN);
	if (peer->is_1_2) {
		memcpy(iv + SALT_LEN, number, sizeof(number));
		memcpy(body, number, sizeof(number));
		body += sizeof(number);
		memcpy(extra, number, sizeof(number));
		memcpy(extra + sizeof(number),
		       (unsigned char[]){ type, 3, 3, (unsigned char)(len >> 8),
					  (unsigned char)len },
		       HEAD_LEN);
		extra_len = sizeof(extra);
	} else {
		for (size_t i = 0; i < sizeof(number); i++)
			iv[SALT_LEN + i] ^= number[i];
	}
	need(wc_AesInit(&aes, NULL, INVALID_DEVID) == 0 && wc_AesGcmSetKey(&aes, key, 16) == 0);
	need(wc_AesGcmEncrypt(&aes, body, text, (word32)len, iv, IV_LEN, body + len, TAG_LEN, extra,
			      (word32)extra_len) == 0);
	wc_AesFree(&aes);
	put(&peer->out, record, (size_t)(body - record) + len + TAG_LEN);
}

static void update_keys(struct peer *peer)
{
	size_t len;

	if (peer->is_1_2)
		return;
	seal(peer, 23, (const uint8_t[]){ 24, 0, 0, 1, 1, 22 }, 6);
	/* The peer's session makes the new keys; the message that it seals has a number of its own. */
	len = peer->out.len;
	need(wolfSSL_update_keys(peer->session) == WOLFSSL_SUCCESS);
	peer->out.len = len;
	peer->number = 0;
}

/* ---- both ends ---- */

static struct eddyi_tls_setup *setup;
static WOLFSSL_CTX *client_context, *peer_contexts[4];

static WOLFSSL_METHOD *peer_method(int how)
{
	if (how & TLS_1_2_BIT)
		return how & CLIENT_BIT ? wolfTLSv1_2_server_method() : wolfTLSv1_2_client_method();
	return how & CLIENT_BIT ? wolfTLSv1_3_server_method() : wolfTLSv1_3_client_method();
}

static void set_up(void)
{
	const unsigned char *pem = (const unsigned char *)localhost_pem;
	static const struct eddyi_tls_client_options trusting = { .trusts_all = true,
								  .ciphers = SUITES };
	static struct eddy_tls_options options;
	static char path[32];
	int fd = memfd_create("pem", MFD_CLOEXEC), len = (int)sizeof(localhost_pem) - 1;

	need(write(fd, localhost_pem, (size_t)len) == len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	options = (struct eddy_tls_options){ .cert = path, .key = path };
	setup = eddyi_tls_setup_new(&options);
	need(setup && eddyi_tls_setup_load(setup) == 0);
	close(fd);
	need(eddyi_tls_client_open(&trusting, &client_context) == 0);
	for (int how = 0; how < 4; how++) {
		WOLFSSL_CTX *context = wolfSSL_CTX_new(peer_method(how));

		need(context && wolfSSL_CTX_set_cipher_list(context, SUITES) == WOLFSSL_SUCCESS);
		wolfSSL_CTX_set_verify(context, WOLFSSL_VERIFY_NONE, NULL);
		wolfSSL_SetIORecv(context, pull);
		wolfSSL_SetIOSend(context, push);
		peer_contexts[how] = context;
		if (!(how & CLIENT_BIT))
			continue;
		need(wolfSSL_CTX_use_certificate_buffer(context, pem, len, WOLFSSL_FILETYPE_PEM) ==
		     WOLFSSL_SUCCESS);
		need(wolfSSL_CTX_use_PrivateKey_buffer(context, pem, len, WOLFSSL_FILETYPE_PEM) ==
		     WOLFSSL_SUCCESS);
	}
}

static void begin_peer(struct peer *peer, int how)
{
	*peer = (struct peer){ .is_client = !(how & CLIENT_BIT), .is_1_2 = how & TLS_1_2_BIT };
	peer->session = wolfSSL_new(peer_contexts[how]);
	need(peer->session != NULL);
	wolfSSL_SetIOReadCtx(peer->session, peer);
	wolfSSL_SetIOWriteCtx(peer->session, peer);
}

/* Hand on what one end has to send. */
static void to_peer(struct eddyi_tls *tls, struct peer *peer)
{
	struct eddy_str unsent = eddyi_tls_buffers_unsent(&tls->buffers);

	put(&peer->in, unsent.ptr, unsent.len);
	if (unsent.len)
		eddyi_tls_buffers_sent(&tls->buffers, unsent.len);
}

static int to_tls(struct eddyi_tls *tls, struct peer *peer)
{
	struct bytes *out = &peer->out;
	size_t len = out->len - out->taken;

	if (len > 8 * EDDY_KIB)
		len = 8 * EDDY_KIB;
	out->taken += len;
	return len ? eddyi_tls_feed(tls, (char *)out->at + out->taken - len, len) : -EAGAIN;
}

static void shake(struct eddyi_tls *tls, struct peer *peer)
{
	int ours = -EAGAIN, theirs = 0;

	while (ours != 0 || theirs != WOLFSSL_SUCCESS) {
		if (tls->setup == NULL && ours != 0)
			ours = eddyi_tls_shake(tls);
		to_peer(tls, peer);
		theirs = wolfSSL_negotiate(peer->session);
		while (to_tls(tls, peer) == 0 && ours != 0)
			if (eddyi_tls_is_due(tls))
				ours = eddyi_tls_shake(tls);
		need(ours == 0 || ours == -EAGAIN);
	}
	to_peer(tls, peer);
	need(wolfSSL_GetSequenceNumber(peer->session, &peer->number) >= 0);
}

/* Read what the peer has sent, and answer. Return: false when the session has ended. */
static bool listen_to(struct eddyi_tls *tls, struct peer *peer)
{
	char buf[4096];
	ssize_t r;

	do {
		while ((r = eddyi_tls_read(tls, buf, sizeof(buf))) > 0)
			need(eddyi_tls_write(tls, buf, r < 64 ? (size_t)r : 64) >= 0);
		peer->in.len = peer->in.taken = 0;
		to_peer(tls, peer);
		if (r != -EAGAIN)
			return false;
	} while (to_tls(tls, peer) == 0);
	return true;
}

struct input {
	const uint8_t *data;
	size_t size;
};

static int session(void *arg)
{
	const struct input *input = arg;
	const uint8_t *data = input->data + 1, *end = input->data + input->size;
	static const struct eddyi_host host = { .kind = EDDYI_HOST_NAME,
						.name = { "localhost", 9 } };
	static struct peer peer;
	struct eddyi_tls *tls;
	bool goes_on = true;

	if (!setup)
		set_up();
	begin_peer(&peer, *input->data & (CLIENT_BIT | TLS_1_2_BIT));
	tls = peer.is_client ? eddyi_tls_new(setup) :
			       eddyi_tls_client_begin(client_context, &host, NULL);
	need(tls != NULL);
	shake(tls, &peer);
	while (goes_on && end - data > 3) {
		uint8_t type = data[0];
		size_t len = (size_t)data[1] << 8 | data[2], left = (size_t)(end - data) - 3;

		data += 3;
		len = len < left ? len : left;
		len = len < PLAINTEXT_MAX ? len : PLAINTEXT_MAX;
		if (type == KEY_UPDATE)
			update_keys(&peer);
		else
			seal(&peer, type, data, len);
		data += type == KEY_UPDATE ? 0 : len;
		goes_on = listen_to(tls, &peer);
	}
	eddyi_tls_end(tls);
	eddyi_tls_free(tls);
	wolfSSL_free(peer.session);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };

	if (size)
		need(eddy_run(NULL, session, &input) == 0);
	return 0;
}
