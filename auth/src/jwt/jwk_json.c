/* Keys as JSON: reading, writing, and thumbprints. */
#include "jwk.h"

#include "base64url.h"
#include "json.h"

#include <errno.h>
#include <stdlib.h>

static const struct eddyi_jwk_kind *const kinds[] = { &eddyi_jwk_rsa, &eddyi_jwk_ec, &eddyi_jwk_okp,
						      &eddyi_jwk_oct };

static const struct eddyi_jwk_kind *find_kind(struct eddy_str kty)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (eddy_str_eq_z(kty, kinds[i]->kty))
			return kinds[i];
	return NULL;
}

const struct eddyi_jwk_curve *eddyi_jwk_curve_find(const struct eddyi_jwk_kind *kind,
						   struct eddy_str name)
{
	for (unsigned i = 0; i < kind->curve_count; i++)
		if (eddy_str_eq_z(name, kind->curves[i].name))
			return &kind->curves[i];
	return NULL;
}

/* Get an optional string member. Return: 0, -EBADMSG. */
static int get(const json_t *json, const char *name, struct eddy_str *ret_text)
{
	const json_t *value = json_object_get(json, name);

	*ret_text = eddyi_auth_json_str(json, name);
	return value && !ret_text->ptr ? -EBADMSG : 0;
}

static int read_kind(const json_t *json, struct eddyi_jwk_parts *parts)
{
	struct eddy_str kty = eddyi_auth_json_str(json, "kty");
	struct eddy_str crv = eddyi_auth_json_str(json, "crv");

	if (!kty.ptr)
		return -EBADMSG;
	parts->kind = find_kind(kty);
	if (!parts->kind)
		return -ENOTSUP;
	if (!parts->kind->curves)
		return 0;
	if (!crv.ptr)
		return -EBADMSG;
	parts->curve = eddyi_jwk_curve_find(parts->kind, crv);
	return parts->curve ? 0 : -ENOTSUP;
}

/* Read key_ops (RFC 7517 section 4.3). Return: 0, -EBADMSG. */
static int read_ops(const json_t *ops, bool *ret_sign, bool *ret_verify)
{
	size_t i;
	const json_t *op;

	*ret_sign = *ret_verify = !ops;
	if (!ops)
		return 0;
	if (!json_is_array(ops))
		return -EBADMSG;
	json_array_foreach(ops, i, op)
	{
		if (!json_is_string(op))
			return -EBADMSG;
		*ret_sign |= !strcmp(json_string_value(op), "sign");
		*ret_verify |= !strcmp(json_string_value(op), "verify");
	}
	return 0;
}

/* Read the key's permitted uses and its id. */
static int read_purpose(const json_t *json, bool only_public, struct eddyi_jwk_parts *parts)
{
	struct eddy_str use, alg;
	enum eddy_jws_alg found;
	bool sign, verify;

	if (get(json, "kid", &parts->kid) < 0 || get(json, "use", &use) < 0 ||
	    get(json, "alg", &alg) < 0 ||
	    read_ops(json_object_get(json, "key_ops"), &sign, &verify) < 0)
		return -EBADMSG;
	if (use.ptr && !eddy_str_eq_z(use, "sig"))
		return -ENOTSUP;
	if (!json_object_get(json, parts->kind->members[parts->kind->public_count]))
		sign = false;
	if (!verify && (!sign || only_public))
		return -ENOTSUP;
	parts->no_signing = !sign;
	parts->no_verifying = !verify;
	if (!alg.ptr)
		return 0;
	if (eddyi_jws_alg_find(alg, &found) < 0)
		return -ENOTSUP;
	parts->algs = EDDY_JWS_BIT(found);
	return 0;
}

struct wiped {
	unsigned char *bytes;
	size_t size;
};

static void wipe(struct wiped *wiped)
{
	if (wiped->bytes)
		explicit_bzero(wiped->bytes, wiped->size);
	free(wiped->bytes);
}

int eddyi_jwk_read(const json_t *json, bool only_public, struct eddy_jwk **ret_key)
{
	EDDY_AUTO(wipe) struct wiped decoded = { NULL, 0 };
	struct eddy_str texts[EDDYI_JWK_NUMBERS];
	struct eddyi_jwk_parts parts = { 0 };
	unsigned char *to;
	unsigned count;
	int r;

	r = read_kind(json, &parts);
	if (r == 0)
		r = read_purpose(json, only_public, &parts);
	if (r < 0)
		return r;
	count = only_public ? parts.kind->public_count : parts.kind->count;
	for (unsigned i = 0; i < count; i++) {
		if (get(json, parts.kind->members[i], &texts[i]) < 0)
			return -EBADMSG;
		decoded.size += EDDYI_BASE64URL_DECODED(texts[i].len);
	}
	/* One byte more, so that empty numbers have an address. */
	to = decoded.bytes = malloc(++decoded.size);
	if (!to)
		return -ENOMEM;
	for (unsigned i = 0; i < count; i++) {
		ssize_t len = texts[i].ptr ? eddyi_base64url_decode(texts[i], to) : 0;

		if (len < 0)
			return -EBADMSG;
		parts.numbers[i] = eddy_str(texts[i].ptr ? (char *)to : NULL, (size_t)len);
		to += len;
	}
	/* wolfCrypt supports no more than two primes (RFC 7518 section 6.3.2.7). */
	if (!only_public && json_object_get(json, "oth"))
		return -ENOTSUP;
	r = eddyi_jwk_make(&parts, ret_key);
	return r == -EINVAL ? -EBADMSG : r;
}

/* Wipe the secrets before they are freed. Copies made by jansson's parser are out of reach. */
static void wipe_json(json_t *json)
{
	static const char *const secrets[] = { "d", "p", "q", "dp", "dq", "qi", "k" };

	for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++) {
		struct eddy_str text = eddyi_auth_json_str(json, secrets[i]);

		if (text.len)
			explicit_bzero((char *)text.ptr, text.len);
	}
	json_decref(json);
}

int eddy_jwk_parse(struct eddy_str text, struct eddy_jwk **ret_key)
{
	json_t *json;
	int r = eddyi_auth_json_parse(text, &json);

	if (r < 0)
		return r;
	r = eddyi_jwk_read(json, false, ret_key);
	wipe_json(json);
	return r;
}

static int set_number(json_t *json, const char *name, struct eddy_str number)
{
	char text[EDDYI_BASE64URL_ENCODED(EDDYI_RSA_BYTES_MAX)];
	size_t len = eddyi_base64url_encode(number.ptr, number.len, text);

	return json_object_set_new(json, name, json_stringn(text, len));
}

json_t *eddy_jwk_public_json(const struct eddy_jwk *key)
{
	const struct eddyi_jwk_kind *kind = key->kind;
	enum eddy_jws_alg alg = (enum eddy_jws_alg)__builtin_ctz(key->algs);
	json_t *json;
	int r;

	if (!kind->public_count)
		return NULL;
	json = json_pack("{s:s, s:s}", "kty", kind->kty, "use", "sig");
	if (!json)
		return NULL;
	r = key->kid.ptr ?
		    json_object_set_new(json, "kid", json_stringn(key->kid.ptr, key->kid.len)) :
		    0;
	if (r == 0 && key->algs == EDDY_JWS_BIT(alg))
		r = json_object_set_new(json, "alg", json_string(eddy_jws_alg_name(alg)));
	if (r == 0 && key->curve)
		r = json_object_set_new(json, "crv", json_string(key->curve->name));
	for (unsigned i = 0; r == 0 && i < kind->public_count; i++)
		r = set_number(json, kind->members[i], key->numbers[i]);
	if (r == 0)
		return json;
	json_decref(json);
	return NULL;
}

static void add(wc_Sha256 *sha, const void *bytes, size_t len)
{
	wc_Sha256Update(sha, bytes, (word32)len);
}

/* Hash in pieces, as a secret may be long; pieces of three bytes leave no bits over. */
static void add_number(wc_Sha256 *sha, struct eddy_str number)
{
	char text[EDDYI_BASE64URL_ENCODED(48)];

	while (number.len) {
		size_t piece = number.len < 48 ? number.len : 48;

		add(sha, text, eddyi_base64url_encode(number.ptr, piece, text));
		number = eddy_str_skip(number, piece);
	}
	explicit_bzero(text, sizeof(text));
}

static void add_member(wc_Sha256 *sha, const struct eddy_jwk *key, const char *name)
{
	const struct eddyi_jwk_kind *kind = key->kind;
	unsigned required = kind->public_count ? kind->public_count : kind->count;

	if (!strcmp(name, "kty"))
		add(sha, kind->kty, strlen(kind->kty));
	else if (!strcmp(name, "crv"))
		add(sha, key->curve->name, strlen(key->curve->name));
	for (unsigned i = 0; i < required; i++)
		if (!strcmp(name, kind->members[i]))
			add_number(sha, key->numbers[i]);
}

static bool is_required(const struct eddy_jwk *key, const char *name)
{
	const struct eddyi_jwk_kind *kind = key->kind;
	unsigned required = kind->public_count ? kind->public_count : kind->count;

	for (unsigned i = 0; i < required; i++)
		if (!strcmp(name, kind->members[i]))
			return true;
	return !strcmp(name, "kty") || (key->curve && !strcmp(name, "crv"));
}

void eddy_jwk_thumbprint(const struct eddy_jwk *key, char ret_text[EDDY_JWK_THUMBPRINT_SIZE])
{
	/* Required members of all kinds, in alphabetical order (RFC 7638 section 3.3). */
	static const char *const names[] = { "crv", "e", "k", "kty", "n", "x", "y" };
	unsigned char digest[WC_SHA256_DIGEST_SIZE];
	const char *before = "{\"";
	wc_Sha256 sha;

	wc_InitSha256(&sha);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!is_required(key, names[i]))
			continue;
		add(&sha, before, strlen(before));
		add(&sha, names[i], strlen(names[i]));
		add(&sha, "\":\"", 3);
		add_member(&sha, key, names[i]);
		before = "\",\"";
	}
	add(&sha, "\"}", 2);
	wc_Sha256Final(&sha, digest);
	wc_Sha256Free(&sha);
	explicit_bzero(&sha, sizeof(sha));
	ret_text[eddyi_base64url_encode(digest, sizeof(digest), ret_text)] = 0;
}
