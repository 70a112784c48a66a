/* An app's TLS options: functions and the section [tls]. */
#include "app/app.h"
#include "tls/tls_setup.h"

#include <eddy/internal/outside.h>
#include <eddy/config.h>
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

int eddy_app_reload_tls(struct eddy_app *app)
{
	return app->tls ? eddyi_tls_setup_load(app->tls) : -EINVAL;
}
