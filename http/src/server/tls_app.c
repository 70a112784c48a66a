/* An app's TLS options: functions and the section [tls]. */
#include "app/app.h"
#include "exchange/exchange_state.h"
#include "tls/tls.h"
#include "tls/tls_setup.h"
#include "tls/wolfssl.h"

#include <eddy/internal/outside.h>
#include <eddy/config.h>
#include <eddy/loop.h>
#include <eddy/tls.h>
#include <errno.h>
#include <unistd.h>

static const char *keep(struct eddy_app *app, const char *text)
{
	return text ? eddyi_app_printf(app, "%s", text).ptr : NULL;
}

static const char *const versions[] = { "1.2", "1.3", NULL };
static const char *const client_certs[] = { "none", "optional", "required", NULL };

#define MEMBER(name) EDDY_CONFIG_AT(struct eddy_tls_options, name)

static const struct eddy_config_key keys[] = {
	{ "cert", EDDY_CONFIG_PATH, MEMBER(cert) },
	{ "key", EDDY_CONFIG_PATH, MEMBER(key) },
	{ "min_version", EDDY_CONFIG_WORD, MEMBER(min_version), .words = versions },
	{ "client_certs", EDDY_CONFIG_WORD, MEMBER(client_certs), .words = client_certs },
	{ "client_ca", EDDY_CONFIG_PATH, MEMBER(client_ca) },
	{ "handshake_timeout_ms", EDDY_CONFIG_MS, MEMBER(handshake_timeout_ns), .min = 1 },
	{ "no_ktls", EDDY_CONFIG_BOOL, MEMBER(no_ktls) },
	{ 0 },
};

static const struct eddy_config_section section = { .name = "tls", .keys = keys };

void eddy_app_use_tls(struct eddy_app *app, const struct eddy_tls_options *options)
{
	struct eddy_tls_options kept = options ? *options : (struct eddy_tls_options){ 0 };

	if (app->tls) {
		eddy_app_mistake(app, "eddy_app_use_tls() was called twice; add certificates with "
				      "eddy_app_add_tls_cert()");
		return;
	}
	kept.cert = keep(app, kept.cert);
	kept.key = keep(app, kept.key);
	kept.client_ca = keep(app, kept.client_ca);
	app->tls = eddyi_tls_setup_new(&kept);
	if (app->tls)
		eddy_app_config_section(app, &section, eddyi_tls_setup_options(app->tls));
	else
		eddy_app_mistake(app, eddyi_access_now("/dev/urandom", R_OK) == 0 ?
					      "eddy_app_use_tls(): out of memory" :
					      "eddy_app_use_tls(): wolfSSL needs /dev/urandom, "
					      "which can't be read");
}

void eddy_tls_config(struct eddy_app *app)
{
	struct eddy_tls_options *unused;

	if (app->tls)
		return;
	unused = eddy_app_alloc(app, sizeof(*unused));
	*unused = (struct eddy_tls_options){ 0 };
	eddy_app_config_section(app, &section, unused);
}

void eddy_app_add_tls_cert(struct eddy_app *app, const char *cert, const char *key)
{
	if (!app->tls)
		eddy_app_mistake(app, "eddy_app_add_tls_cert(): call eddy_app_use_tls() first");
	else if (!cert)
		eddy_app_mistake(app, "eddy_app_add_tls_cert(): `cert` is not set");
	else if (eddyi_tls_setup_add(app->tls, keep(app, cert), keep(app, key)) < 0)
		eddy_app_mistake(app, "eddy_app_add_tls_cert(): out of memory");
}

/* ---- of requests: the session and the certificate of the client ---- */

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

static int keep_bytes(struct call *call, const char *bytes, int len, struct eddy_str *ret_kept)
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
		r = keep_bytes(call, text, len, &call->peer.subject);
	}
	wolfSSL_BIO_free(bio);
	return r;
}

static int keep_peer(struct call *call, WOLFSSL_X509 *x509)
{
	int len = -1, r;
	const unsigned char *der = wolfSSL_X509_get_der(x509, &len);

	r = keep_bytes(call, (const char *)der, len, &call->peer.der);
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
