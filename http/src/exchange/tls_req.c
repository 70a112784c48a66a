/* What a handler can know of its connection's TLS session. */
#include "tls/wolfssl.h"

#include "exchange_state.h"
#include "tls/tls.h"

#include <eddy/loop.h>
#include <eddy/tls.h>
#include <errno.h>

static struct WOLFSSL *session_of(const struct eddy_req *req)
{
	return req->wire->tls ? req->wire->tls->session : NULL;
}

struct eddy_str eddy_req_tls_version(const struct eddy_req *req)
{
	struct WOLFSSL *session = session_of(req);

	return eddy_str_from(session ? wolfSSL_get_version(session) : NULL);
}

struct eddy_str eddy_req_tls_cipher(const struct eddy_req *req)
{
	struct WOLFSSL *session = session_of(req);
	int suite = session ? wolfSSL_get_current_cipher_suite(session) : 0;

	return eddy_str_from(session ? wolfSSL_get_cipher_name_iana_from_suite(
					       (unsigned char)(suite >> 8), (unsigned char)suite) :
				       NULL);
}

struct eddy_str eddy_req_tls_server_name(const struct eddy_req *req)
{
	const struct eddyi_tls *tls = req->wire->tls;

	return eddy_str_from(tls && tls->hello.server_name[0] ? tls->hello.server_name : NULL);
}

bool eddy_req_tls_is_resumed(const struct eddy_req *req)
{
	struct WOLFSSL *session = session_of(req);

	return session && wolfSSL_session_reused(session);
}

/* ---- the client's certificate ---- */

struct peer {
	struct eddy_req *req;
	struct eddy_str text;
	int result;
};

static int keep(struct peer *peer, const char *bytes, int len)
{
	if (!bytes || len < 0)
		return -ENOMEM;
	peer->text = eddyi_arena_dup(&peer->req->arena, eddy_str(bytes, (size_t)len));
	return peer->text.ptr ? 0 : -ENOMEM;
}

static int keep_der(struct peer *peer, WOLFSSL_X509 *x509)
{
	int len = -1;
	const unsigned char *der = wolfSSL_X509_get_der(x509, &len);

	return keep(peer, (const char *)der, len);
}

static int keep_subject(struct peer *peer, WOLFSSL_X509 *x509)
{
	WOLFSSL_BIO *bio = wolfSSL_BIO_new(wolfSSL_BIO_s_mem());
	char *text = NULL;
	int r = -ENOMEM, len;

	if (bio && wolfSSL_X509_NAME_print_ex(bio, wolfSSL_X509_get_subject_name(x509), 0,
					      XN_FLAG_RFC2253) == WOLFSSL_SUCCESS) {
		len = wolfSSL_BIO_get_mem_data(bio, &text);
		r = keep(peer, text, len);
	}
	wolfSSL_BIO_free(bio);
	return r;
}

static void get(struct peer *peer, int (*keep_what)(struct peer *peer, WOLFSSL_X509 *x509))
{
	struct WOLFSSL *session = session_of(peer->req);
	WOLFSSL_X509 *x509 = session ? wolfSSL_get_peer_certificate(session) : NULL;

	peer->result = x509 ? keep_what(peer, x509) : -ENOENT;
	wolfSSL_X509_free(x509);
	wolfSSL_ERR_clear_error();
}

static void get_subject(void *arg)
{
	get(arg, keep_subject);
}

static void get_der(void *arg)
{
	get(arg, keep_der);
}

static int ask(struct eddy_req *req, void (*fn)(void *arg), struct eddy_str *ret_text)
{
	struct peer peer = { .req = req };

	eddy_on_loop_stack(fn, &peer);
	if (peer.result == 0)
		*ret_text = peer.text;
	return peer.result;
}

int eddy_req_tls_peer_subject(struct eddy_req *req, struct eddy_str *ret_subject)
{
	return ask(req, get_subject, ret_subject);
}

int eddy_req_tls_peer_der(struct eddy_req *req, struct eddy_str *ret_der)
{
	return ask(req, get_der, ret_der);
}
