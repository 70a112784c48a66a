/* Signing of tokens. */
#include "jwt.h"

#include "base64url.h"
#include "json.h"

#include <eddy/internal/text.h>
#include <eddy/loop.h>
#include <errno.h>
#include <stdlib.h>

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
