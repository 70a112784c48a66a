#include "jwt.h"

#include "base64url.h"
#include "json.h"

#include <errno.h>
#include <stdlib.h>

struct parts {
	struct eddy_str header, claims, signature, signed_text;
};

const char *eddy_jwt_fault_text(enum eddy_jwt_fault fault)
{
	switch (fault) {
	case EDDY_JWT_ALG:
		return "algorithm not accepted";
	case EDDY_JWT_CRITICAL:
		return "critical header not understood";
	case EDDY_JWT_KEY:
		return "unknown key";
	case EDDY_JWT_SIGNATURE:
		return "bad signature";
	case EDDY_JWT_MISSING:
		return "claim missing";
	case EDDY_JWT_EXPIRED:
		return "token expired";
	case EDDY_JWT_NOT_YET:
		return "token not yet valid";
	case EDDY_JWT_ISSUER:
		return "issuer not accepted";
	case EDDY_JWT_AUDIENCE:
		return "audience not accepted";
	case EDDY_JWT_MALFORMED:
		break;
	}
	return "malformed token";
}

/* A fourth part is no base64url, for its dot. */
static bool cut(struct eddy_str text, struct parts *ret_parts)
{
	struct eddy_str rest = text;

	if (text.len > EDDY_JWT_MAX || !eddy_str_split(&rest, '.', &ret_parts->header) ||
	    !eddy_str_split(&rest, '.', &ret_parts->claims) || !rest.ptr)
		return false;
	ret_parts->signature = rest;
	ret_parts->signed_text = eddy_str(text.ptr, text.len - rest.len - 1);
	return true;
}

/* `scratch` has room for what the text stands for. Return: 0, EDDY_JWT_MALFORMED, -ENOMEM. */
static int read_object(struct eddy_str text, unsigned char *scratch, json_t **ret_object)
{
	ssize_t len = eddyi_base64url_decode(text, scratch);
	int r = len < 0 ? -EBADMSG :
			  eddyi_auth_json_parse(eddy_str((char *)scratch, (size_t)len), ret_object);

	return r == -EBADMSG ? EDDY_JWT_MALFORMED : r;
}

/* Return: as read_object(). */
static int fill(struct eddy_jwt *token, struct eddy_str text, const struct parts *parts)
{
	unsigned char *signature = token->bytes + text.len;
	ssize_t len = eddyi_base64url_decode(parts->signature, signature);
	int r = len < 0 ? EDDY_JWT_MALFORMED : 0;

	token->signature = eddy_str((char *)signature, (size_t)len);
	/* Where the text is to be is room for what each of its parts stands for. */
	if (!r)
		r = read_object(parts->header, token->bytes, &token->header);
	if (!r)
		r = read_object(parts->claims, token->bytes, &token->claims);
	memcpy(token->bytes, text.ptr, text.len);
	token->text = eddy_str((char *)token->bytes, text.len);
	token->signed_text = eddy_str((char *)token->bytes, parts->signed_text.len);
	return r;
}

/* RFC 7515 section 4.1.9: "application/" may be left out; RFC 9068 section 2.1. */
static bool is_type(const json_t *typ)
{
	static const struct eddy_str prefix = { "application/", 12 };
	struct eddy_str type;

	if (!typ)
		return true;
	/* Empty when it is something else. */
	type = eddy_str(json_string_value(typ), json_string_length(typ));
	if (type.len > prefix.len && eddy_str_eq_nocase(eddy_str(type.ptr, prefix.len), prefix))
		type = eddy_str_skip(type, prefix.len);
	return eddy_str_eq_nocase(type, eddy_str_from("JWT")) ||
	       eddy_str_eq_nocase(type, eddy_str_from("at+jwt"));
}

/* What else a header has is nothing to us; keys that it brings along (jwk, jku, x5c, x5u) least of all. */
static int check_header(struct eddy_jwt *token, unsigned algs)
{
	const json_t *kid = json_object_get(token->header, "kid");
	const json_t *b64 = json_object_get(token->header, "b64");
	struct eddy_str alg = eddyi_auth_json_str(token->header, "alg");

	if (!alg.ptr || !is_type(json_object_get(token->header, "typ")) ||
	    (kid && !json_is_string(kid)))
		return EDDY_JWT_MALFORMED;
	if (eddy_jws_alg_find(alg, &token->alg) < 0 || !(algs & EDDY_JWS_BIT(token->alg)))
		return EDDY_JWT_ALG;
	if (json_object_get(token->header, "crit"))
		return EDDY_JWT_CRITICAL;
	/* It would have to be named in `crit` (RFC 7797 section 6): who reads it takes the claims otherwise. */
	return b64 && !json_is_true(b64) ? EDDY_JWT_MALFORMED : 0;
}

int eddy_jwt_parse(struct eddy_str text, unsigned algs, struct eddy_jwt **ret_token)
{
	struct eddy_jwt *token;
	struct parts parts;
	size_t size;
	int r;

	if (!cut(text, &parts))
		return EDDY_JWT_MALFORMED;
	size = text.len + EDDYI_BASE64URL_DECODED(parts.signature.len);
	token = calloc(1, sizeof(*token) + size);
	if (!token)
		return -ENOMEM;
	atomic_init(&token->refs, 1);
	token->size = size;
	r = fill(token, text, &parts);
	if (!r)
		r = check_header(token, algs);
	if (r)
		eddy_jwt_unref(token);
	else
		*ret_token = token;
	return r;
}

/* Why there is no key for it: one of its kid is for others, which a newer set would hardly change. */
static int fault_of_key(const struct eddy_jwt *token, const struct eddy_keyset *set)
{
	struct eddy_str kid = eddy_jwt_kid(token);

	for (size_t i = 0; kid.ptr && i < eddy_keyset_count(set); i++) {
		const struct eddy_jwk *key = eddy_keyset_at(set, i);
		struct eddy_str known = eddy_jwk_kid(key);

		if (known.ptr && eddy_str_eq(known, kid) &&
		    !(eddy_jwk_algs(key) & EDDY_JWS_BIT(token->alg)))
			return EDDY_JWT_ALG;
	}
	return EDDY_JWT_KEY;
}

int eddy_jwt_verify(const struct eddy_jwt *token, const struct eddy_keyset *set,
		    const struct eddy_jwt_options *options)
{
	struct eddy_jwk *key = eddy_keyset_find(set, eddy_jwt_kid(token), token->alg);
	int r;

	if (!key)
		return fault_of_key(token, set);
	r = eddy_jwk_verify(key, token->alg, token->signed_text, token->signature);
	if (r == -EKEYREJECTED)
		return EDDY_JWT_SIGNATURE;
	return r < 0 ? r : eddy_jwt_check_claims(token, options);
}

struct eddy_jwt *eddy_jwt_ref(struct eddy_jwt *token)
{
	if (token)
		atomic_fetch_add_explicit(&token->refs, 1, memory_order_relaxed);
	return token;
}

void eddy_jwt_unref(struct eddy_jwt *token)
{
	if (!token || atomic_fetch_sub_explicit(&token->refs, 1, memory_order_acq_rel) > 1)
		return;
	json_decref(token->header);
	json_decref(token->claims);
	explicit_bzero(token->bytes, token->size);
	free(token);
}

struct eddy_str eddy_jwt_text(const struct eddy_jwt *token)
{
	return token->text;
}

enum eddy_jws_alg eddy_jwt_alg(const struct eddy_jwt *token)
{
	return token->alg;
}

struct eddy_str eddy_jwt_kid(const struct eddy_jwt *token)
{
	return eddyi_auth_json_str(token->header, "kid");
}

const json_t *eddy_jwt_claims(const struct eddy_jwt *token)
{
	return token->claims;
}

struct eddy_str eddy_jwt_str(const struct eddy_jwt *token, const char *name)
{
	return eddyi_auth_json_str(token->claims, name);
}
