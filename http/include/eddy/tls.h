/* eddy/tls.h: TLS termination: TLS 1.2 and 1.3 for an app.
 *
 *     eddy_app_use_tls(app, &(struct eddy_tls_options){ .cert = "cert.pem", .key = "key.pem" });
 *
 * Files are read when the app starts, before it listens. SIGHUP reloads them for new connections;
 * if one is unusable, all stay as they are, with an ERROR log record. Sessions are resumed by
 * tickets, on any worker. A connection takes about 60 KiB more than a plain one once its
 * ClientHello is complete, and up to 250 KiB more while it sends and receives.
 *
 * If eddy-http was built with -Dtls=disabled, calling these functions is a compile error.
 */
#ifndef EDDY_TLS_H
#define EDDY_TLS_H

#include <eddy/req.h>

#ifdef EDDY_NO_TLS
#define EDDY_TLS_API __attribute__((error("eddy-http was built without TLS (-Dtls=disabled)")))
#else
#define EDDY_TLS_API EDDY_API
#endif

EDDY_BEGIN_DECLS

enum eddy_tls_version {
	EDDY_TLS_1_2,
	EDDY_TLS_1_3,
};

/* Whether clients are asked for a certificate (mutual TLS). */
enum eddy_tls_client_certs {
	EDDY_TLS_CLIENT_CERTS_NONE,
	EDDY_TLS_CLIENT_CERTS_OPTIONAL, /* a certificate, if sent, must be valid */
	EDDY_TLS_CLIENT_CERTS_REQUIRED,
};

/* Certificates and TLS settings. A zero field takes its default. Files are PEM, at most 1 MiB. */
struct eddy_tls_options {
	const char *cert; /* the server's certificate, then its issuers' without the root */
	const char *key;  /* its unencrypted private key; default: in `cert` */
	enum eddy_tls_version min_version;       /* default TLS 1.2 */
	enum eddy_tls_client_certs client_certs; /* default _NONE; else no session is resumed */
	/* The authorities trusted for clients' certificates; required unless client_certs is _NONE.
	 * TLS 1.2 sends clients the authorities' names, unless these exceed 8 KiB. MD5 and SHA-1
	 * signatures and RSA keys of less than 2048 bits are rejected. */
	const char *client_ca;
	uint64_t handshake_timeout_ns; /* default .head_timeout_ns; beyond: close */
	bool no_ktls; /* encrypt in the program even if the kernel can; see docs/http.md */
};

/* Use TLS, and nothing else, at all addresses that are not .plain (eddy/app.h). Copied. The [tls]
 * section of a configuration file takes precedence; if it sets `cert`, `options` may be NULL. */
EDDY_TLS_API void eddy_app_use_tls(struct eddy_app *app, const struct eddy_tls_options *options);

/* Accept the [tls] section of a configuration file without using TLS: it is only validated. */
EDDY_TLS_API void eddy_tls_config(struct eddy_app *app);

/* Add a certificate for other host names, or with another kind of key for the same ones (RSA
 * besides ECDSA). `key` NULL: it is in `cert`. A client gets the first certificate, beginning with
 * that of eddy_app_use_tls(), that matches the requested host name (SNI) and has a key that the
 * client can verify; else the first that matches the name, else the first with such a key. */
EDDY_TLS_API void eddy_app_add_tls_cert(struct eddy_app *app, const char *cert, const char *key);

/* The TLS session of a connection. Strings live as long as the request. */
struct eddy_tls_session {
	struct eddy_str version; /* "TLSv1.2" or "TLSv1.3" */
	struct eddy_str cipher;  /* the cipher suite's IANA name */
	/* The host name of the handshake (SNI), in lower case; .ptr is NULL if there is none. The
	 * request may name another: eddy_req_host(). */
	struct eddy_str server_name;
	bool is_resumed;
};

/* Describe the TLS session of a request's connection. Return: 0; -ENOENT without TLS. */
EDDY_TLS_API int eddy_req_tls(const struct eddy_req *req, struct eddy_tls_session *ret_session);

/* A client's verified certificate. Strings live as long as the request. */
struct eddy_tls_peer {
	struct eddy_str subject; /* in the form of RFC 4514: "CN=jo, O=example" */
	struct eddy_str der;
};

/* Get the client's verified certificate. Return: 0; -ENOENT if it sent none; -ENOMEM. */
EDDY_TLS_API int eddy_req_tls_peer(struct eddy_req *req, struct eddy_tls_peer *ret_peer);

EDDY_END_DECLS

#endif
