/* tokens.h: tokens out of their parts, as odd as is wanted. */
#ifndef EDDY_TESTS_TOKENS_H
#define EDDY_TESTS_TOKENS_H

#include "jwt/base64url.h"
#include "jwt/jwt.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

/* A literal with all of its NULs. */
#define STR(literal)                                                                               \
	{                                                                                          \
		literal, sizeof(literal) - 1                                                       \
	}

static inline struct eddy_str token_of_strs(struct eddy_str header, struct eddy_str claims,
					    struct eddy_str signature)
{
	char *text =
		malloc(EDDYI_BASE64URL_ENCODED(header.len) + EDDYI_BASE64URL_ENCODED(claims.len) +
		       EDDYI_BASE64URL_ENCODED(signature.len) + 2);
	size_t len = eddyi_base64url_encode(header.ptr, header.len, text);

	text[len++] = '.';
	len += eddyi_base64url_encode(claims.ptr, claims.len, text + len);
	text[len++] = '.';
	len += eddyi_base64url_encode(signature.ptr, signature.len, text + len);
	/* No more memory than that: who reads beyond it is seen. */
	return eddy_str(realloc(text, len), len);
}

/* Make one whose signature is nonsense. Return: its text, whose .ptr is to be freed. */
static inline struct eddy_str token_of(const char *header, const char *claims)
{
	return token_of_strs(eddy_str_from(header), eddy_str_from(claims), eddy_str_from("sig"));
}

/* Parse one of these claims. Return: it, to be let go of. */
static inline struct eddy_jwt *token_with(const char *claims)
{
	struct eddy_str text = token_of("{\"alg\":\"RS256\"}", claims);
	struct eddy_jwt *token = NULL;

	cr_assert_eq(eddy_jwt_parse(text, EDDY_JWS_PUBLIC, &token), 0, "%s", claims);
	free((char *)text.ptr);
	return token;
}

#endif
