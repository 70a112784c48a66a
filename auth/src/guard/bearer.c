/* Bearer token options of an app: defaults, the section [bearer], and validation at the start. */
#include "auth.h"
#include "jwt/jws.h"

#include <eddy/config.h>
#include <eddy/internal/figure.h>
#include <eddy/layer.h>
#include <errno.h>
#include <stdatomic.h>

#define CACHE_DEFAULT 1024
#define CACHE_MAX (1u << 20)
#define LEEWAY_DEFAULT_NS (60 * EDDY_SECOND)
#define REALM_MAX 255
#define COOKIE_MAX 255

/* ---- counters ---- */

#define REQUESTS(outcome)                                                                          \
	{                                                                                          \
		.name = "eddy_bearer_requests_total",                                              \
		.help = "Requests to guarded routes, by outcome.", .label = "outcome",             \
		.value = outcome                                                                   \
	}

static struct eddyi_figure figures[EDDYI_BEARER_COUNTED] = {
	[EDDYI_BEARER_LET_IN] = REQUESTS("let_in"),
	[EDDYI_BEARER_REFUSED] = REQUESTS("refused"),
	[EDDYI_BEARER_FORBIDDEN] = REQUESTS("forbidden"),
	[EDDYI_BEARER_UNKNOWN] = REQUESTS("unknown"),
	[EDDYI_BEARER_CACHED] = { .name = "eddy_bearer_tokens_cached_total",
				  .help = "Tokens found valid in the cache, without "
					  "verification." },
};

void eddyi_bearer_count(enum eddyi_bearer_counted what)
{
	eddyi_figure_add(&figures[what], 1);
}

struct eddy_bearer_stats eddy_bearer_stats(void)
{
	return (struct eddy_bearer_stats){
		.let_in = eddyi_figure_read(&figures[EDDYI_BEARER_LET_IN]),
		.refused = eddyi_figure_read(&figures[EDDYI_BEARER_REFUSED]),
		.forbidden = eddyi_figure_read(&figures[EDDYI_BEARER_FORBIDDEN]),
		.unknown = eddyi_figure_read(&figures[EDDYI_BEARER_UNKNOWN]),
		.cached = eddyi_figure_read(&figures[EDDYI_BEARER_CACHED]),
	};
}

/* ---- options ---- */

static bool is_sendable(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return false;
	return true;
}

static bool is_filled(const char *text)
{
	return *text;
}

/* A token (RFC 9110 section 5.6.2). */
static bool is_cookie(const char *text)
{
	const char *c = text;

	while (*c > ' ' && *c < 0x7f && !strchr("\"(),/:;<=>?@[\\]{}", *c))
		c++;
	return c > text && !*c && c - text <= COOKIE_MAX;
}

static bool is_algorithm(const char *text)
{
	enum eddy_jws_alg alg;

	return eddyi_jws_alg_find(eddy_str_from(text), &alg) == 0;
}

#define MEMBER(name) EDDY_CONFIG_AT(struct eddy_bearer_options, name)

static const struct eddy_config_key keys[] = {
	{ "audiences", EDDY_CONFIG_STRINGS, MEMBER(audiences), .count_min = 1, .or_one = true,
	  .accepts = is_filled,
	  .expected = "a string that is not empty, or an array of one or more" },
	{ "algorithms", EDDY_CONFIG_STRINGS, MEMBER(algorithms), .count_min = 1, .or_one = true,
	  .accepts = is_algorithm,
	  .expected = "a string such as HS512, or an array of one or more" },
	{ "issuer", EDDY_CONFIG_STRING, MEMBER(issuer), .min = 1 },
	{ "realm", EDDY_CONFIG_STRING, MEMBER(realm), .min = 1, .max = REALM_MAX,
	  .accepts = is_sendable,
	  .expected = "a string of 1 to 255 bytes, none of them a control byte" },
	{ "leeway_secs", EDDY_CONFIG_SECS, MEMBER(leeway_ns) },
	{ "cookie", EDDY_CONFIG_STRING, MEMBER(cookie), .accepts = is_cookie,
	  .expected = "a string of 1 to 255 bytes that can name a cookie" },
	{ "allow_plain_http", EDDY_CONFIG_BOOL, MEMBER(allow_plain_http) },
	{ "secret_file", EDDY_CONFIG_PATH, MEMBER(secret_file), .min = 1 },
	{ "secret_env", EDDY_CONFIG_STRING, MEMBER(secret_env), .min = 1 },
	{ "key_file", EDDY_CONFIG_PATH, MEMBER(key_file), .min = 1 },
	{ "key_env", EDDY_CONFIG_STRING, MEMBER(key_env), .min = 1 },
	{ "cache_max", EDDY_CONFIG_INTEGER, MEMBER(cache_max), .min = 1, .max = CACHE_MAX },
	{ "no_cache", EDDY_CONFIG_BOOL, MEMBER(no_cache) },
	{ 0 },
};

static const struct eddy_config_section section = { .name = "bearer", .keys = keys };

static bool has_keys(struct eddyi_auth *auth)
{
	unsigned count = eddyi_static_key_count(&auth->options);

	if (count > 1)
		eddy_app_mistake(
			auth->app,
			"bearer tokens: set only one of secret, secret_file, secret_env, key_file "
			"and key_env, not %u",
			count);
	else if (count && auth->issuer)
		eddy_app_mistake(
			auth->app,
			"bearer tokens: a static key and an issuer are configured: remove one of "
			"them");
	else if (!count && !auth->issuer)
		eddy_app_mistake(
			auth->app,
			"bearer tokens: routes are guarded, but no key is configured: configure an "
			"issuer and call eddy_app_use_oauth(), or set a static key in "
			"eddy_bearer_options");
	else
		return true;
	return false;
}

static void set_defaults(struct eddy_bearer_options *options)
{
	if (!options->cache_max)
		options->cache_max = CACHE_DEFAULT;
	if (!options->leeway_ns)
		options->leeway_ns = LEEWAY_DEFAULT_NS;
}

/* The configuration file's values were validated when it was read; the program's are here. */
static void look_at_words(struct eddy_app *app, const struct eddy_bearer_options *options)
{
	const char *const *audience = options->audiences;

	if (options->realm && !is_sendable(options->realm))
		eddy_app_mistake(app, "bearer tokens: the realm contains control characters");
	if (options->realm && strlen(options->realm) > REALM_MAX)
		eddy_app_mistake(app, "bearer tokens: the realm has %zu bytes: at most %d",
				 strlen(options->realm), REALM_MAX);
	if (options->cookie && !is_cookie(options->cookie))
		eddy_app_mistake(
			app,
			"bearer tokens: \"%.40s\" is not a valid cookie name: expected 1 to %d "
			"characters of a token (RFC 9110)",
			options->cookie, COOKIE_MAX);
	while (audience && *audience && is_filled(*audience))
		audience++;
	if (audience && (audience == options->audiences || *audience))
		eddy_app_mistake(
			app,
			"bearer tokens: audiences is empty, or has an empty string: omit it if "
			"tokens have no aud");
	if (options->issuer && !is_filled(options->issuer))
		eddy_app_mistake(app,
				 "bearer tokens: issuer is empty: omit it to accept any issuer");
}

static void narrow_algorithms(struct eddyi_auth *auth)
{
	const char *const *name = auth->options.algorithms;
	unsigned suits = auth->algs;

	if (!name)
		return;
	for (auth->algs = 0; *name; name++) {
		enum eddy_jws_alg alg;

		if (eddyi_jws_alg_find(eddy_str_from(*name), &alg) == 0 &&
		    suits & EDDY_JWS_BIT(alg))
			auth->algs |= EDDY_JWS_BIT(alg);
		else
			eddy_app_mistake(
				auth->app,
				"bearer tokens: the key can't be used with the algorithm \"%s\"",
				*name);
	}
}

/* Validate the options after the configuration file. An issuer sets checks.issuer itself. */
static int start(struct eddy_app *app, void *data)
{
	struct eddyi_auth *auth = data;
	const struct eddy_bearer_options *options = &auth->options;
	int r;

	look_at_words(app, options);
	/* A named key is loaded even if nothing is guarded yet. */
	if (!auth->is_guarded && !eddyi_static_key_count(options))
		return 0;
	if (!has_keys(auth))
		return 0;
	auth->checks.audiences = options->audiences;
	/* Defaults are filled in: 0 is what the file says. */
	auth->checks.leeway_ns = options->leeway_ns ? options->leeway_ns : EDDY_JWT_NO_LEEWAY;
	eddyi_auth_renew(auth);
	if (auth->issuer) {
		auth->source = auth->issuer;
		auth->source_self = auth->issuer_self;
		auth->algs = EDDY_JWS_PUBLIC;
		narrow_algorithms(auth);
		return 0;
	}
	auth->checks.issuer = options->issuer;
	/* An invalid key has been noted as a mistake. */
	r = eddyi_static_key_load(auth);
	if (r == 0 && auth->algs)
		narrow_algorithms(auth);
	return r;
}

void eddyi_auth_renew(struct eddyi_auth *auth)
{
	static atomic_uint number;

	auth->number = atomic_fetch_add(&number, 1);
}

static void init(struct eddy_app *app, void *kept)
{
	struct eddyi_auth *auth = kept;

	auth->app = app;
	set_defaults(&auth->options);
	eddy_app_config_section(app, &section, &auth->options);
	eddyi_figure_offer(figures, EDDYI_BEARER_COUNTED);
}

static void wipe_secret(struct eddyi_auth *auth)
{
	struct eddy_str secret = auth->options.secret;

	if (secret.ptr)
		explicit_bzero((char *)secret.ptr, secret.len);
}

static void deinit(void *kept)
{
	struct eddyi_auth *auth = kept;

	eddy_keyset_unref(auth->own_keys);
	wipe_secret(auth);
}

struct eddyi_auth *eddyi_auth_of(struct eddy_app *app)
{
	static const struct eddy_layer layer = { "auth", sizeof(struct eddyi_auth), init, deinit };

	return eddy_app_layer(app, &layer);
}

struct eddyi_auth *eddyi_auth_touch(struct eddy_app *app)
{
	struct eddyi_auth *auth = eddyi_auth_of(app);

	eddy_app_at_start(app, start, auth);
	return auth;
}

/* Copy the secret into the app's memory. */
static struct eddy_str keep_secret(struct eddy_app *app, struct eddy_str secret)
{
	return secret.ptr ?
		       eddy_str(memcpy(eddy_app_alloc(app, secret.len + 1), secret.ptr, secret.len),
				secret.len) :
		       secret;
}

void eddy_app_with_bearer_auth(struct eddy_app *app, const struct eddy_bearer_options *options)
{
	struct eddyi_auth *auth = eddyi_auth_touch(app);

	wipe_secret(auth);
	auth->options = options ? *options : (struct eddy_bearer_options){ 0 };
	eddy_app_keep_strings(app, keys, &auth->options);
	auth->options.secret = keep_secret(app, auth->options.secret);
	set_defaults(&auth->options);
	if (auth->options.cache_max > CACHE_MAX)
		eddy_app_mistake(app, "eddy_app_with_bearer_auth(): cache_max must be from 1 to %u",
				 CACHE_MAX);
}
