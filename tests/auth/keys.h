/* keys.h: keys for tests. JSON is written with ' for its quotes. */
#ifndef EDDY_TESTS_KEYS_H
#define EDDY_TESTS_KEYS_H

#include "jwt/base64url.h"
#include "jwt/keyset.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

/* Quoted as JSON is, in memory of its own: freed by the caller. */
static inline char *keys_json(const char *text)
{
	char *json = strdup(text);

	for (char *at = json; *at; at++)
		if (*at == '\'')
			*at = '"';
	return json;
}

static inline int keys_read(const char *text, struct eddy_jwk **ret_key)
{
	char *json = keys_json(text);
	int r = eddy_jwk_parse(eddy_str_from(json), ret_key);

	free(json);
	return r;
}

static inline struct eddy_jwk *keys_parse(const char *text)
{
	struct eddy_jwk *key = NULL;

	cr_assert(zero(int, keys_read(text, &key)), "%s", text);
	return key;
}

static inline struct eddy_jwk *keys_pem(const char *pem, unsigned algs)
{
	struct eddy_jwk_options options = { .algs = algs };
	struct eddy_jwk *key = NULL;

	cr_assert(zero(int, eddy_jwk_from_pem(eddy_str_from(pem), &options, &key)), "%s", pem);
	return key;
}

/* What base64url stands for; freed by the caller. */
static inline struct eddy_str keys_decode(const char *text)
{
	struct eddy_str from = eddy_str_from(text);
	char *bytes = malloc(EDDYI_BASE64URL_DECODED(from.len) + 1);
	ssize_t len = eddyi_base64url_decode(from, (unsigned char *)bytes);

	cr_assert(ge(int, (int)len, 0), "%s", text);
	return eddy_str(bytes, (size_t)len);
}

/* Add numbers, the high byte first. Return: whether the sum has room. */
static inline bool keys_add(unsigned char *to, const unsigned char *number, size_t len)
{
	unsigned carry = 0;

	while (len--) {
		carry += to[len] + number[len];
		to[len] = (unsigned char)carry;
		carry >>= 8;
	}
	return !carry;
}

#endif
