/* eddy/tls.h: TLS 1.2 and 1.3 for an app.
 *
 *     eddy_app_use_tls(app, &(struct eddy_tls_options){ .cert = "cert.pem", .key = "key.pem" });
 *
 * Files are read when the app starts, before it listens, and again at SIGHUP: then new connections get
 * the new certificates, and when one of the files is unusable all stay as they are, with an ERROR record.
 * Sessions are resumed by tickets, on any worker. A connection takes about 60 KiB more than a plain one
 * from its first complete message on, and up to 250 KiB more while it sends and receives.
 *
 * Where eddy-http was built with -Dtls=disabled, calls of these functions do not compile.
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

/* What clients are asked for. */
enum eddy_tls_client_certs {
	EDDY_TLS_CLIENT_CERTS_NONE,
	EDDY_TLS_CLIENT_CERTS_OPTIONAL, /* a certificate that is sent must be good */
	EDDY_TLS_CLIENT_CERTS_REQUIRED,
};

/* Files are in PEM, 1 MiB at most. */
struct eddy_tls_options {
	const char *cert; /* the server's certificate, then those of its issuers, without the root */
	const char *key;  /* its private key, not encrypted; default: it stands in `cert` */
	enum eddy_tls_version min_version;       /* default TLS 1.2 */
	enum eddy_tls_client_certs client_certs; /* with them no session is resumed */
	/* Whom to believe clients' certificates; needed to ask for them. TLS 1.2 names them to the clients, where
	 * the names have no more than 8 KiB. Signatures by MD5 or SHA-1 and RSA keys of less than 2048 bits are
	 * refused. */
	const char *client_ca;
	uint64_t handshake_timeout_ns; /* for all of it; default: head_timeout_ns; past it close */
	bool no_ktls; /* encrypt in the program also where the kernel could; see docs/http.md */
};

/* Speak TLS, and nothing else, wherever the app listens, except at addresses that are .plain (app.h).
 * Strings are copied. What the options do not say the [tls] section of a configuration file may: then they may
 * be NULL. */
EDDY_TLS_API void eddy_app_use_tls(struct eddy_app *app, const struct eddy_tls_options *options);

/* Make the section [tls] known to the app without speaking TLS: what it holds is checked, and not used. */
EDDY_TLS_API void eddy_tls_config(struct eddy_app *app);

/* Add a certificate, for other names, or with a key of another kind for the same (RSA beside ECDSA). A client
 * gets the first one that has the name it asks for (SNI) and a key whose signatures it verifies; that of
 * eddy_app_use_tls() comes first. The name counts more; where none has it only the key does. `key` may be NULL,
 * as above. */
EDDY_TLS_API void eddy_app_add_tls_cert(struct eddy_app *app, const char *cert, const char *key);

/* Read the files of a running app again, as SIGHUP does. Any thread; blocks for as long as files take.
 * Return: 0; -EINVAL when one is unusable, and everything stays as it was (records say why). */
EDDY_TLS_API int eddy_app_reload_tls(struct eddy_app *app);

/* Of the request's connection: "TLSv1.2" or "TLSv1.3"; .ptr is NULL when it is a plain one. */
EDDY_TLS_API struct eddy_str eddy_req_tls_version(const struct eddy_req *req);

/* The cipher suite, by the name that IANA registered; .ptr is NULL when the connection is a plain one. */
EDDY_TLS_API struct eddy_str eddy_req_tls_cipher(const struct eddy_req *req);

/* The host name that the client asked for in the handshake, in lower case; .ptr is NULL for none. The
 * request may well ask for another: eddy_req_host(). */
EDDY_TLS_API struct eddy_str eddy_req_tls_server_name(const struct eddy_req *req);

/* Whether the session was resumed. */
EDDY_TLS_API bool eddy_req_tls_is_resumed(const struct eddy_req *req);

/* The subject of the client's certificate, which has been verified, as RFC 4514 writes it:
 * "CN=jo, O=example". Return: 0, -ENOENT when it sent none, -ENOMEM. */
EDDY_TLS_API int eddy_req_tls_peer_subject(struct eddy_req *req, struct eddy_str *ret_subject);

/* The client's certificate, which has been verified, in DER. Return: as above. */
EDDY_TLS_API int eddy_req_tls_peer_der(struct eddy_req *req, struct eddy_str *ret_der);

EDDY_END_DECLS

#endif
