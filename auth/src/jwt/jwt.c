#include "jwt.h"

#include "base64url.h"
#include "jws.h"
#include "keyset.h"

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

/* A fourth part would be invalid base64url because of its dot. */
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

static bool decode(struct eddy_str part, unsigned char **to, struct eddy_str *ret_bytes)
{
	ssize_t len = eddyi_base64url_decode(part, *to);

	if (len < 0)
		return false;
	*ret_bytes = eddy_str((char *)*to, (size_t)len);
	*to += len;
	return true;
}

/* "application/" may be left out (RFC 7515 section 4.1.9); at+jwt: RFC 9068 section 2.1. */
static bool is_type(const struct eddyi_value *typ)
{
	static const struct eddy_str prefix = { "application/", 12 };
	struct eddy_str type = typ->text;

	if (type.len > prefix.len && eddy_str_eq_nocase(eddy_str(type.ptr, prefix.len), prefix))
		type = eddy_str_skip(type, prefix.len);
	return eddy_str_eq_nocase(type, eddy_str_from("JWT")) ||
	       eddy_str_eq_nocase(type, eddy_str_from("at+jwt"));
}

/* Other members are ignored, above all the keys in a header (jwk, jku, x5c, x5u). */
static int check_header(struct eddy_jwt *token, const struct eddyi_object *header, unsigned algs)
{
	struct eddyi_value alg = eddyi_object_get(header, "alg");
	struct eddyi_value typ = eddyi_object_get(header, "typ");
	struct eddyi_value kid = eddyi_object_get(header, "kid");
	struct eddyi_value b64 = eddyi_object_get(header, "b64");

	if (alg.type != EDDYI_STRING || (typ.type && !is_type(&typ)) ||
	    (kid.type && kid.type != EDDYI_STRING))
		return EDDY_JWT_MALFORMED;
	if (eddyi_jws_alg_find(alg.text, &token->alg) < 0 || !(algs & EDDY_JWS_BIT(token->alg)))
		return EDDY_JWT_ALG;
	if (eddyi_object_get(header, "crit").type)
		return EDDY_JWT_CRITICAL;
	/* b64 requires `crit` (RFC 7797 section 6): readers that honour it read other claims. */
	return b64.type && b64.type != EDDYI_TRUE ? EDDY_JWT_MALFORMED : 0;
}

static int read_object(struct eddyi_object *object, struct eddy_str text)
{
	int r = eddyi_object_init(object, text);

	return r == -EBADMSG ? EDDY_JWT_MALFORMED : r;
}

/* Store `kid` over the decoded header, where it fits: unescaping never lengthens a string. */
static void keep_kid(struct eddy_jwt *token, const struct eddyi_object *header)
{
	struct eddy_str kid = eddyi_object_get(header, "kid").text;
	char *to = (char *)header->text.ptr;

	if (!kid.ptr)
		return;
	memmove(to, kid.ptr, kid.len);
	token->kid = eddy_str(to, kid.len);
}

/* Malformed parts are reported first. Return: as eddy_jwt_parse(). */
static int fill(struct eddy_jwt *token, struct eddy_str text, const struct parts *parts,
		unsigned algs)
{
	unsigned char *to = token->bytes + text.len;
	struct eddyi_object header = { 0 };
	struct eddy_str header_text, claims_text;
	int r;

	memcpy(token->bytes, text.ptr, text.len);
	token->text = eddy_str((char *)token->bytes, text.len);
	token->signed_text = eddy_str((char *)token->bytes, parts->signed_text.len);
	if (!decode(parts->signature, &to, &token->signature) ||
	    !decode(parts->header, &to, &header_text) || !decode(parts->claims, &to, &claims_text))
		return EDDY_JWT_MALFORMED;
	r = read_object(&header, header_text);
	if (!r)
		r = read_object(&token->claims, claims_text);
	if (!r)
		r = check_header(token, &header, algs);
	if (!r)
		keep_kid(token, &header);
	eddyi_object_deinit(&header);
	return r;
}

int eddy_jwt_parse(struct eddy_str text, unsigned algs, struct eddy_jwt **ret_token)
{
	struct eddy_jwt *token;
	struct parts parts;
	size_t size;
	int r;

	if (!cut(text, &parts))
		return EDDY_JWT_MALFORMED;
	size = text.len + EDDYI_BASE64URL_DECODED(parts.signature.len) +
	       EDDYI_BASE64URL_DECODED(parts.header.len) +
	       EDDYI_BASE64URL_DECODED(parts.claims.len);
	token = calloc(1, sizeof(*token) + size);
	if (!token)
		return -ENOMEM;
	atomic_init(&token->refs, 1);
	token->size = size;
	r = fill(token, text, &parts, algs);
	if (r)
		eddy_jwt_unref(token);
	else
		*ret_token = token;
	return r;
}

/* If its kid names a key with another algorithm, newer keys would hardly help. */
static int fault_of_key(const struct eddy_jwt *token, const struct eddy_keyset *set)
{
	struct eddy_str kid = token->kid;

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
	struct eddy_jwk *key = eddyi_keyset_find(set, token->kid, token->alg);
	int r;

	if (!key)
		return fault_of_key(token, set);
	r = eddy_jwk_verify(key, token->alg, token->signed_text, token->signature);
	if (r == -EKEYREJECTED)
		return EDDY_JWT_SIGNATURE;
	return r < 0 ? r : eddyi_jwt_check_claims(token, options);
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
	eddyi_object_deinit(&token->claims);
	explicit_bzero(token->bytes, token->size);
	free(token);
}

const json_t *eddy_jwt_claims(const struct eddy_jwt *token)
{
	return eddyi_object_tree((struct eddyi_object *)&token->claims);
}

struct eddy_str eddy_jwt_str(const struct eddy_jwt *token, const char *name)
{
	return eddyi_object_get(&token->claims, name).text;
}
