/* The TLS session and the client's certificate of a request. */
#include "tls/wolfssl.h"

#include "exchange/exchange_state.h"
#include "tls/tls.h"

#include <eddy/loop.h>
#include <eddy/tls.h>
#include <errno.h>

int eddy_req_tls(const struct eddy_req *req, struct eddy_tls_session *ret_session)
{
	const struct eddyi_tls *tls = req->stream->tls;
	int suite;

	if (!tls || !tls->session)
		return -ENOENT;
	suite = wolfSSL_get_current_cipher_suite(tls->session);
	*ret_session = (struct eddy_tls_session){
		.version = eddy_str_from(wolfSSL_get_version(tls->session)),
		.cipher = eddy_str_from(wolfSSL_get_cipher_name_iana_from_suite(
			(unsigned char)(suite >> 8), (unsigned char)suite)),
		.server_name =
			eddy_str_from(tls->hello.server_name[0] ? tls->hello.server_name : NULL),
		.is_resumed = wolfSSL_session_reused(tls->session),
	};
	return 0;
}

/* ---- the client's certificate ---- */

struct call {
	struct eddy_req *req;
	struct eddy_tls_peer peer;
	int result;
};

static int keep(struct call *call, const char *bytes, int len, struct eddy_str *ret_kept)
{
	if (!bytes || len < 0)
		return -ENOMEM;
	*ret_kept = eddyi_arena_dup(&call->req->arena, eddy_str(bytes, (size_t)len));
	return ret_kept->ptr ? 0 : -ENOMEM;
}

static int keep_subject(struct call *call, WOLFSSL_X509 *x509)
{
	WOLFSSL_BIO *bio = wolfSSL_BIO_new(wolfSSL_BIO_s_mem());
	char *text = NULL;
	int r = -ENOMEM, len;

	if (bio && wolfSSL_X509_NAME_print_ex(bio, wolfSSL_X509_get_subject_name(x509), 0,
					      XN_FLAG_RFC2253) == WOLFSSL_SUCCESS) {
		len = wolfSSL_BIO_get_mem_data(bio, &text);
		r = keep(call, text, len, &call->peer.subject);
	}
	wolfSSL_BIO_free(bio);
	return r;
}

static int keep_peer(struct call *call, WOLFSSL_X509 *x509)
{
	int len = -1, r;
	const unsigned char *der = wolfSSL_X509_get_der(x509, &len);

	r = keep(call, (const char *)der, len, &call->peer.der);
	return r < 0 ? r : keep_subject(call, x509);
}

static void get_peer(void *arg)
{
	struct call *call = arg;
	const struct eddyi_tls *tls = call->req->stream->tls;
	WOLFSSL_X509 *x509 = tls && tls->session ? wolfSSL_get_peer_certificate(tls->session) :
						   NULL;

	call->result = x509 ? keep_peer(call, x509) : -ENOENT;
	wolfSSL_X509_free(x509);
	wolfSSL_ERR_clear_error();
}

int eddy_req_tls_peer(struct eddy_req *req, struct eddy_tls_peer *ret_peer)
{
	struct call call = { .req = req };

	eddy_on_loop_stack(get_peer, &call);
	if (call.result == 0)
		*ret_peer = call.peer;
	return call.result;
}
