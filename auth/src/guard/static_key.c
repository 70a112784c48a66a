/* The static key of an app, in place of an issuer. */
#include "auth.h"

#include <eddy/internal/outside.h>
#include <eddy/file.h>
#include <eddy/layer.h>
#include <errno.h>
#include <stdlib.h>

#define FILE_MAX ((size_t)(64 * EDDY_KIB))

/* The option that names the key, and its value, for messages. */
struct source {
	const char *option, *of;
};

unsigned eddyi_static_key_count(const struct eddy_bearer_options *options)
{
	return !!options->secret.ptr + !!options->secret_file + !!options->secret_env +
	       !!options->key_file + !!options->key_env;
}

/* ---- as a source of keys, which never changes ---- */

static bool is_ready(const void *self)
{
	(void)self;
	return true;
}

static int get(void *self, struct eddy_keyset **ret_set, unsigned *ret_version)
{
	struct eddyi_auth *auth = self;

	*ret_set = eddy_keyset_ref(auth->own_keys);
	*ret_version = 1;
	return 0;
}

static int get_newer(void *self, unsigned version, struct eddy_keyset **ret_set,
		     unsigned *ret_version)
{
	(void)self;
	(void)version;
	(void)ret_set;
	(void)ret_version;
	return -ENOKEY;
}

static bool is_current(const void *self, unsigned version)
{
	(void)self;
	(void)version;
	return true;
}

static const struct eddyi_key_source source = { is_ready, get, get_newer, is_current };

/* ---- loading ---- */

static int wrong(struct eddyi_auth *auth, const struct source *source, const char *why)
{
	eddy_app_mistake(auth->app, "bearer tokens: can't use the key from %s \"%s\": %s",
			 source->option, source->of, why);
	return -EINVAL;
}

static const char *reason_of(ssize_t error)
{
	if (error == -EISDIR)
		return "it is not a file";
	if (error == -EFBIG)
		return "it is larger than 64 KiB";
	return strerror((int)-error);
}

/* Detect a public key given as a secret: with it anyone could sign tokens. */
static bool is_public(struct eddy_str bytes)
{
	static const char *const marks[] = { "-----BEGIN PUBLIC KEY", "-----BEGIN RSA PUBLIC KEY",
					     "-----BEGIN CERTIFICATE" };

	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		if (bytes.len && memmem(bytes.ptr, bytes.len, marks[i], strlen(marks[i])))
			return true;
	return false;
}

static int take_secret(struct eddyi_auth *auth, const struct source *source, struct eddy_str bytes,
		       struct eddy_jwk **ret_key)
{
	if (is_public(bytes))
		return wrong(auth, source,
			     "it is a public key, not a secret: use key_file or key_env");
	if (eddy_jwk_from_secret(bytes, NULL, ret_key) < 0)
		return wrong(
			auth, source,
			"a secret must have at least 32 bytes, as printed by \"openssl rand -hex "
			"32\"");
	return 0;
}

/* A text that begins with `{` is a JWK, anything else PEM. */
static int take_key(struct eddyi_auth *auth, const struct source *source, struct eddy_str bytes,
		    struct eddy_jwk **ret_key)
{
	struct eddy_str text = bytes;
	int r;

	while (text.len && strchr(" \t\r\n", text.ptr[0]))
		text = eddy_str_skip(text, 1);
	r = text.len && text.ptr[0] == '{' ? eddy_jwk_parse(text, ret_key) :
					     eddy_jwk_from_pem(text, NULL, ret_key);
	if (r == -EKEYREJECTED)
		return wrong(auth, source,
			     "it is too weak: RSA keys need at least 2048 bits, secrets 32 bytes");
	if (r < 0)
		return wrong(auth, source,
			     "it is not a supported key: expected a public key in PEM (-----BEGIN "
			     "PUBLIC KEY-----), or a JWK");
	return 0;
}

typedef int take_fn(struct eddyi_auth *auth, const struct source *source, struct eddy_str bytes,
		    struct eddy_jwk **ret_key);

static int from_file(struct eddyi_auth *auth, const struct source *source, take_fn *take,
		     struct eddy_jwk **ret_key)
{
	char *bytes;
	ssize_t len = eddy_file_load(source->of, FILE_MAX, &bytes);
	int r;

	if (len < 0)
		return wrong(auth, source, reason_of(len));
	r = take(auth, source, eddy_str(bytes, (size_t)len), ret_key);
	explicit_bzero(bytes, (size_t)len);
	free(bytes);
	return r;
}

static int from_environment(struct eddyi_auth *auth, const struct source *source, take_fn *take,
			    struct eddy_jwk **ret_key)
{
	const char *value = eddyi_getenv_now(source->of);

	if (!value)
		return wrong(auth, source, "the environment variable is not set");
	return take(auth, source, eddy_str_from(value), ret_key);
}

static int find(struct eddyi_auth *auth, struct eddy_jwk **ret_key)
{
	const struct eddy_bearer_options *options = &auth->options;

	if (options->secret.ptr)
		return take_secret(auth, &(struct source){ "secret", "" }, options->secret,
				   ret_key);
	if (options->secret_file)
		return from_file(auth, &(struct source){ "secret_file", options->secret_file },
				 take_secret, ret_key);
	if (options->secret_env)
		return from_environment(auth, &(struct source){ "secret_env", options->secret_env },
					take_secret, ret_key);
	if (options->key_file)
		return from_file(auth, &(struct source){ "key_file", options->key_file }, take_key,
				 ret_key);
	return from_environment(auth, &(struct source){ "key_env", options->key_env }, take_key,
				ret_key);
}

int eddyi_static_key_load(struct eddyi_auth *auth)
{
	struct eddy_jwk *key;

	auth->algs = 0;
	/* The mistake has been noted. */
	if (find(auth, &key) < 0)
		return 0;
	eddy_keyset_unref(auth->own_keys);
	auth->own_keys = eddy_keyset_of(key);
	auth->algs = eddy_jwk_algs(key);
	auth->source = &source;
	auth->source_self = auth;
	eddy_jwk_unref(key);
	return auth->own_keys ? 0 : -ENOMEM;
}
