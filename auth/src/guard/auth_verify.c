/* Verification of a token with the keys of its app, and the cache of valid tokens. */
#include "auth.h"
#include "verified.h"

#include <eddy/internal/outside.h>
#include <errno.h>
#include <time.h>

struct keys {
	struct eddy_keyset *set;
	unsigned version;
};

static int get_newer_keys(struct eddyi_auth *auth, struct keys *keys)
{
	struct keys newer;
	int r = auth->source->get_newer(auth->source_self, keys->version, &newer.set,
					&newer.version);

	if (r < 0)
		return r;
	eddy_keyset_unref(keys->set);
	*keys = newer;
	return 0;
}

static int verify_by(struct eddyi_auth *auth, struct eddy_str text, const struct keys *keys,
		     struct eddy_jwt **ret_token)
{
	struct eddy_jwt *token;
	int r = eddy_jwt_parse(text, auth->algs, &token);

	if (r != 0)
		return r;
	r = eddy_jwt_verify(token, keys->set, &auth->checks);
	if (r == 0)
		*ret_token = token;
	else
		eddy_jwt_unref(token);
	return r;
}

/* Reject a malformed token before keys are fetched. Return: 0, a fault, -ENOMEM. */
static int check_form(const struct eddyi_auth *auth, struct eddy_str text)
{
	struct eddy_jwt *token;
	int r = eddy_jwt_parse(text, auth->algs, &token);

	if (r == 0)
		eddy_jwt_unref(token);
	return r;
}

/* No parsed token is kept while this waits for keys: an untrusted one may take sixty times its
 * length, and every connection may wait.
 * Return: as eddyi_auth_verify(); `ret_version` is that of the keys used. */
static int verify(struct eddyi_auth *auth, struct eddy_str text, struct eddy_jwt **ret_token,
		  unsigned *ret_version)
{
	struct keys keys;
	int r = auth->source->is_ready(auth->source_self) ? 0 : check_form(auth, text), newer;

	if (r == 0)
		r = auth->source->get(auth->source_self, &keys.set, &keys.version);
	if (r != 0)
		return r;
	r = verify_by(auth, text, &keys, ret_token);
	if (r == EDDY_JWT_KEY) {
		newer = get_newer_keys(auth, &keys);
		if (newer != -ENOKEY)
			r = newer < 0 ? newer : verify_by(auth, text, &keys, ret_token);
	}
	*ret_version = keys.version;
	eddy_keyset_unref(keys.set);
	return r;
}

/* Find a cached token that has not expired and whose keys are current. Return: NULL if none. */
static struct eddy_jwt *find(const struct eddyi_auth *auth, struct eddyi_verified *verified,
			     struct eddy_str text)
{
	unsigned version;
	struct eddy_jwt *token =
		eddyi_verified_find(verified, text, eddyi_clock(CLOCK_REALTIME), &version);

	if (!token || auth->source->is_current(auth->source_self, version))
		return token;
	eddy_jwt_unref(token);
	return NULL;
}

/* Return: NULL without a cache. Call it again after suspending: other apps may have evicted it. */
static struct eddyi_verified *verified_of(const struct eddyi_auth *auth, unsigned number)
{
	return auth->options.no_cache ? NULL : eddyi_verified_here(number, auth->options.cache_max);
}

int eddyi_auth_verify(struct eddyi_auth *auth, struct eddy_str text, struct eddy_jwt **ret_token,
		      bool *ret_is_known)
{
	unsigned version, number = auth->number;
	struct eddyi_verified *verified = text.len <= EDDY_JWT_MAX ? verified_of(auth, number) :
								     NULL;
	struct eddy_jwt *token = verified ? find(auth, verified, text) : NULL;
	int r;

	*ret_is_known = token;
	if (token) {
		*ret_token = token;
		return 0;
	}
	r = verify(auth, text, ret_token, &version);
	if (r == 0 && verified)
		verified = verified_of(auth, number);
	if (r == 0 && verified)
		eddyi_verified_put(verified, *ret_token, eddyi_clock(CLOCK_REALTIME), version);
	return r;
}
