/* Issuer options of an app: defaults and the section [oauth.client]. */
#include "oauth.h"

#include "auth.h"
#include "issuer/identifier.h"
#include "issuer/issuer.h"

#include <eddy/config.h>
#include <eddy/layer.h>

#define REDIRECTS_MAX 20

#define MEMBER(name) EDDY_CONFIG_AT(struct eddyi_oauth, name)

static const struct eddy_config_key keys[] = {
	{ "issuer", EDDY_CONFIG_STRING, MEMBER(options.issuer),
	  .accepts = eddyi_identifier_is_issuer, .expected = EDDYI_ISSUER_EXPECTED },
	{ "refresh_cooldown_secs", EDDY_CONFIG_SECS, MEMBER(options.refresh_cooldown_ns),
	  .min = 1 },
	{ "max_key_age_secs", EDDY_CONFIG_SECS, MEMBER(options.max_key_age_ns), .min = 1 },
	{ "require_https", EDDY_CONFIG_BOOL, MEMBER(require_https) },
	{ "timeout_secs", EDDY_CONFIG_SECS, MEMBER(options.timeout_ns), .min = 1 },
	{ "max_redirects", EDDY_CONFIG_INTEGER, MEMBER(max_redirects), .max = REDIRECTS_MAX },
	{ "ca_file", EDDY_CONFIG_PATH, MEMBER(options.ca_file), .min = 1 },
	{ 0 },
};

static const struct eddy_config_section section = { .name = "oauth.client", .keys = keys };

/* Start the issuer with the final options; the configuration file has been read. */
static int start(struct eddy_app *app, void *data)
{
	struct eddyi_oauth *oauth = data;
	struct eddyi_auth *auth;

	if (!oauth->issuer)
		return 0;
	auth = eddyi_auth_of(app);
	auth->checks.issuer = oauth->options.issuer;
	eddyi_auth_renew(auth);
	oauth->options.allow_http = !oauth->require_https;
	oauth->options.redirects_max = oauth->max_redirects;
	return eddyi_issuer_start(oauth->issuer, &oauth->options);
}

#define DEFAULT(field, value)                                                                      \
	do {                                                                                       \
		if (!oauth->options.field)                                                         \
			oauth->options.field = (value);                                            \
	} while (0)

static void set_options(struct eddyi_oauth *oauth, struct eddy_app *app,
			const struct eddy_oauth_options *options)
{
	oauth->options = *options;
	eddy_app_keep_strings(app, keys, oauth);
	DEFAULT(refresh_cooldown_ns, 60 * EDDY_SECOND);
	DEFAULT(max_key_age_ns, 15 * 60 * EDDY_SECOND);
	DEFAULT(timeout_ns, 5 * EDDY_SECOND);
	DEFAULT(redirects_max, 3);
	oauth->require_https = !options->allow_http;
	oauth->max_redirects = options->no_redirects ? 0 : oauth->options.redirects_max;
}

static void init(struct eddy_app *app, void *kept)
{
	struct eddyi_oauth *oauth = kept;

	set_options(oauth, app, &(struct eddy_oauth_options){ 0 });
	eddy_app_config_section(app, &section, oauth);
	eddyi_issuer_offer_figures();
}

struct eddyi_oauth *eddyi_oauth_of(struct eddy_app *app)
{
	static const struct eddy_layer layer = { "oauth", sizeof(struct eddyi_oauth), init, NULL };

	return eddy_app_layer(app, &layer);
}

/* Changes apply from the next start on. */
static struct eddyi_oauth *touch(struct eddy_app *app)
{
	struct eddyi_oauth *oauth = eddyi_oauth_of(app);

	eddy_app_at_start(app, start, oauth);
	return oauth;
}

void eddy_app_with_oauth(struct eddy_app *app, const struct eddy_oauth_options *options)
{
	set_options(touch(app), app, options ? options : &(struct eddy_oauth_options){ 0 });
}

/* ---- as a source of keys ---- */

static bool is_ready(const void *self)
{
	return eddyi_issuer_is_ready(self);
}

static int get(void *self, struct eddy_keyset **ret_set, unsigned *ret_version)
{
	return eddyi_issuer_keys(self, ret_set, ret_version);
}

static int get_newer(void *self, unsigned version, struct eddy_keyset **ret_set,
		     unsigned *ret_version)
{
	return eddyi_issuer_newer_keys(self, version, ret_set, ret_version);
}

static bool is_current(const void *self, unsigned version)
{
	return eddyi_issuer_is_current(self, version);
}

static const struct eddyi_key_source source = { is_ready, get, get_newer, is_current };

void eddy_app_use_oauth(struct eddy_app *app)
{
	struct eddyi_oauth *oauth = touch(app);
	struct eddyi_auth *auth = eddyi_auth_touch(app);

	if (oauth->issuer)
		return;
	oauth->issuer = eddyi_issuer_new(app);
	auth->issuer = &source;
	auth->issuer_self = oauth->issuer;
}
