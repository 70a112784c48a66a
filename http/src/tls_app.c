/* TLS, as an app is told of it. */
#include "app.h"
#include "tls_setup.h"

#include <eddy/tls.h>
#include <errno.h>

static const char *keep(struct eddy_app *app, const char *text)
{
	return text ? eddyi_app_join(app, eddy_str_from(text), eddy_str("", 0)).ptr : NULL;
}

static const char *mistake_in(const struct eddy_app *app, const struct eddy_tls_options *options)
{
	bool asks = options->client_certs != EDDY_TLS_CLIENT_CERTS_NONE;

	if (app->tls)
		return "it was called before; eddy_app_add_tls_cert() adds certificates";
	if (!options->cert)
		return "`cert` names no file";
	if ((unsigned)options->min_version > EDDY_TLS_1_3)
		return "`min_version` is none that there is";
	if ((unsigned)options->client_certs > EDDY_TLS_CLIENT_CERTS_REQUIRED)
		return "`client_certs` is none of its values";
	if (asks && !options->client_ca)
		return "`client_certs` needs `client_ca`, to verify them";
	if (!asks && options->client_ca)
		return "`client_ca` is of no use while `client_certs` asks for none";
	return NULL;
}

void eddy_app_use_tls(struct eddy_app *app, const struct eddy_tls_options *options)
{
	static const struct eddy_tls_options none;
	const char *mistake = mistake_in(app, options ? options : &none);
	struct eddy_tls_options kept;

	if (mistake) {
		eddyi_app_mistake(app, "eddy_app_use_tls(): %s", mistake);
		return;
	}
	kept = *options;
	kept.cert = keep(app, kept.cert);
	kept.key = keep(app, kept.key);
	kept.client_ca = keep(app, kept.client_ca);
	app->tls = eddyi_tls_setup_new(&kept);
	if (!app->tls)
		eddyi_app_mistake(app, "eddy_app_use_tls(): out of memory");
}

void eddy_app_add_tls_cert(struct eddy_app *app, const char *cert, const char *key)
{
	if (!app->tls)
		eddyi_app_mistake(app,
				  "eddy_app_add_tls_cert() needs eddy_app_use_tls() before it");
	else if (!cert)
		eddyi_app_mistake(app, "eddy_app_add_tls_cert(): `cert` names no file");
	else if (eddyi_tls_setup_add(app->tls, keep(app, cert), keep(app, key)) < 0)
		eddyi_app_mistake(app, "eddy_app_add_tls_cert(): out of memory");
}

int eddy_app_reload_tls(struct eddy_app *app)
{
	return app->tls ? eddyi_tls_setup_load(app->tls) : -EINVAL;
}
