#include "jwt.h"

#include "base64url.h"
#include "json.h"
#include "jws.h"
#include "keyset.h"

#include <eddy/internal/outside.h>
#include <eddy/internal/text.h>
#include <eddy/loop.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#define LEEWAY_NS (60 * EDDY_SECOND)

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

/* ---- parsing ---- */

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

/* ---- validation of claims: times, issuer and audience (RFC 7519 section 4) ---- */

/* Convert to ns. A time out of range is EDDY_NEVER, one before 1970 is 0. */
static uint64_t to_ns(struct eddyi_value seconds)
{
	double real = seconds.number;
	uint64_t whole;

	if (!(real > 0))
		return 0;
	if (real >= (double)(EDDY_NEVER / EDDY_SECOND))
		return EDDY_NEVER;
	whole = (uint64_t)real;
	return whole * EDDY_SECOND + (uint64_t)((real - (double)whole) * (double)EDDY_SECOND);
}

static bool is_audience(const struct eddyi_object *claims, struct eddyi_value aud)
{
	struct eddyi_value one;

	while (eddyi_object_next(claims, &aud, &one))
		if (one.type != EDDYI_STRING)
			return false;
	return aud.type == EDDYI_STRING || aud.type == EDDYI_ARRAY;
}

/* RFC 7519 section 4.1. */
static bool has_right_types(const struct eddyi_object *claims)
{
	static const struct {
		const char *name;
		enum eddyi_value_type type;
	} rows[] = {
		{ "exp", EDDYI_NUMBER }, { "nbf", EDDYI_NUMBER }, { "iat", EDDYI_NUMBER },
		{ "iss", EDDYI_STRING }, { "sub", EDDYI_STRING }, { "jti", EDDYI_STRING },
	};
	struct eddyi_value aud = eddyi_object_get(claims, "aud");

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		enum eddyi_value_type type = eddyi_object_get(claims, rows[i].name).type;

		if (type && type != rows[i].type)
			return false;
	}
	return !aud.type || is_audience(claims, aud);
}

static int check_times(const struct eddyi_object *claims, uint64_t now, uint64_t leeway)
{
	struct eddyi_value exp = eddyi_object_get(claims, "exp");
	uint64_t at = to_ns(exp);

	if (!exp.type)
		return EDDY_JWT_MISSING;
	if (at <= now && now - at >= leeway)
		return EDDY_JWT_EXPIRED;
	at = to_ns(eddyi_object_get(claims, "nbf"));
	return at > now && at - now > leeway ? EDDY_JWT_NOT_YET : 0;
}

static int check_issuer(const struct eddyi_object *claims, const char *issuer)
{
	struct eddy_str iss = eddyi_object_get(claims, "iss").text;

	if (!issuer)
		return 0;
	if (!iss.ptr)
		return EDDY_JWT_MISSING;
	return eddy_str_eq_z(iss, issuer) ? 0 : EDDY_JWT_ISSUER;
}

static bool is_meant_for(const struct eddyi_object *claims, struct eddyi_value aud,
			 const char *audience)
{
	struct eddyi_value one;

	if (aud.type == EDDYI_STRING)
		return eddy_str_eq_z(aud.text, audience);
	while (eddyi_object_next(claims, &aud, &one))
		if (eddy_str_eq_z(one.text, audience))
			return true;
	return false;
}

static int check_audience(const struct eddyi_object *claims, const char *const *audiences)
{
	struct eddyi_value aud = eddyi_object_get(claims, "aud");

	if (!audiences)
		return aud.type ? EDDY_JWT_AUDIENCE : 0;
	if (!aud.type)
		return EDDY_JWT_MISSING;
	for (; *audiences; audiences++)
		if (is_meant_for(claims, aud, *audiences))
			return 0;
	return EDDY_JWT_AUDIENCE;
}

int eddyi_jwt_check_claims(const struct eddy_jwt *token, const struct eddy_jwt_options *options)
{
	static const struct eddy_jwt_options defaults;
	const struct eddy_jwt_options *with = options ? options : &defaults;
	uint64_t leeway = with->leeway_ns ? with->leeway_ns : LEEWAY_NS;
	int r;

	if (!has_right_types(&token->claims))
		return EDDY_JWT_MALFORMED;
	r = check_times(&token->claims, with->now_ns ? with->now_ns : eddyi_clock(CLOCK_REALTIME),
			leeway == EDDY_JWT_NO_LEEWAY ? 0 : leeway);
	if (!r)
		r = check_issuer(&token->claims, with->issuer);
	return r ? r : check_audience(&token->claims, with->audiences);
}

/* ---- verification ---- */

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

/* ---- claims ---- */

const json_t *eddy_jwt_claims(const struct eddy_jwt *token)
{
	return eddyi_object_tree((struct eddyi_object *)&token->claims);
}

struct eddy_str eddy_jwt_str(const struct eddy_jwt *token, const char *name)
{
	return eddyi_object_get(&token->claims, name).text;
}

uint64_t eddyi_jwt_expires(const struct eddy_jwt *token)
{
	return to_ns(eddyi_object_get(&token->claims, "exp"));
}

static bool has_word(struct eddy_str words, struct eddy_str text)
{
	struct eddy_str word;

	while (eddy_str_split(&words, ' ', &word))
		if (eddy_str_eq(word, text))
			return true;
	return false;
}

bool eddy_jwt_has(const struct eddy_jwt *token, const char *name, struct eddy_str text)
{
	struct eddyi_value value = eddyi_object_get(&token->claims, name), one;

	if (!text.len)
		return false;
	if (value.type == EDDYI_STRING)
		return has_word(value.text, text);
	while (eddyi_object_next(&token->claims, &value, &one))
		if (one.type == EDDYI_STRING && eddy_str_eq(one.text, text))
			return true;
	return false;
}

/* ---- signing ---- */

/* Work for the loop's stack: jansson needs stack for each level. */
struct job {
	const json_t *header, *claims;
	char *text; /* EDDY_JWT_MAX bytes and a NUL */
	size_t len;
	int r;
};

/* The limit also ends cycles. */
static bool is_within(json_t *json, unsigned levels)
{
	const char *name;
	json_t *one;
	size_t i;

	if (!json_is_object(json) && !json_is_array(json))
		return true;
	if (!levels)
		return false;
	json_array_foreach(json, i, one) if (!is_within(one, levels - 1)) return false;
	json_object_foreach(json, name, one) if (!is_within(one, levels - 1)) return false;
	return true;
}

static int append(struct job *job, const void *bytes, size_t len)
{
	size_t dot = job->len ? 1 : 0;

	if (len > EDDY_JWT_MAX || EDDYI_BASE64URL_ENCODED(len) + dot > EDDY_JWT_MAX - job->len)
		return -EMSGSIZE;
	if (dot)
		job->text[job->len++] = '.';
	job->len += eddyi_base64url_encode(bytes, len, job->text + job->len);
	return 0;
}

static int append_json(struct job *job, const json_t *json)
{
	size_t len = json_dumpb(json, NULL, 0, JSON_COMPACT);
	char *bytes;
	int r;

	if (len > EDDY_JWT_MAX)
		return -EMSGSIZE;
	bytes = len ? malloc(len) : NULL;
	if (!bytes)
		return -ENOMEM;
	r = json_dumpb(json, bytes, len, JSON_COMPACT) == len ? append(job, bytes, len) : -ENOMEM;
	free(bytes);
	return r;
}

static void append_both(void *arg)
{
	struct job *job = arg;

	job->r = append_json(job, job->header);
	if (!job->r)
		job->r = append_json(job, job->claims);
}

static json_t *header_of(enum eddy_jws_alg alg, const char *type, struct eddy_str kid)
{
	json_t *header = json_object();
	int r = json_object_set_new(header, "alg", json_string(eddy_jws_alg_name(alg)));

	r |= json_object_set_new(header, "typ", json_string(type));
	if (kid.ptr)
		r |= json_object_set_new(header, "kid", json_stringn(kid.ptr, kid.len));
	if (!r)
		return header;
	json_decref(header);
	return NULL;
}

static int sign(struct job *job, const struct eddy_jwk *key, enum eddy_jws_alg alg)
{
	unsigned char signature[EDDY_JWS_SIGNATURE_MAX];
	ssize_t len;
	int r;

	eddy_on_loop_stack(append_both, job);
	if (job->r)
		return job->r;
	len = eddy_jwk_sign(key, alg, eddy_str(job->text, job->len), signature);
	if (len < 0)
		return (int)len;
	r = append(job, signature, (size_t)len);
	explicit_bzero(signature, sizeof(signature));
	return r;
}

int eddy_jwt_sign(const struct eddy_jwk *key, enum eddy_jws_alg alg, const char *type,
		  const json_t *claims, char **ret_text)
{
	struct eddy_str kid = eddy_jwk_kid(key);
	struct job job = { .claims = claims };
	json_t *header;
	int r = -ENOMEM;

	if (!type)
		type = "JWT";
	/* The key itself checks whether it can sign with `alg`. */
	if ((unsigned)alg >= EDDY_JWS_ALGS || !json_is_object(claims) ||
	    !is_within((json_t *)claims, EDDYI_JSON_DEPTH_MAX) ||
	    !eddyi_str_is_utf8(eddy_str_from(type)) || !eddyi_str_is_utf8(kid))
		return -EINVAL;
	header = header_of(alg, type, kid);
	job.header = header;
	job.text = malloc(EDDY_JWT_MAX + 1);
	if (header && job.text)
		r = sign(&job, key, alg);
	json_decref(header);
	if (r < 0) {
		free(job.text);
		return r;
	}
	job.text[job.len] = 0;
	*ret_text = job.text;
	return 0;
}
