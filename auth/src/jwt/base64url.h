/* base64url.h: the base64url of tokens and keys, without padding (RFC 7515 section 2). */
#ifndef EDDYI_BASE64URL_H
#define EDDYI_BASE64URL_H

#include <eddy/str.h>
#include <sys/types.h>

/* What `len` bytes become, and what `len` characters become at most. */
#define EDDYI_BASE64URL_ENCODED(len) (((len)*4 + 2) / 3)
#define EDDYI_BASE64URL_DECODED(len) ((len) / 4 * 3 + ((len) % 4 ? (len) % 4 - 1 : 0))

/* Decode the one form that a text of these bytes has: no padding, no other character, unused bits zero.
 * `ret_bytes` has room for EDDYI_BASE64URL_DECODED() and may be the text's own memory.
 * Return: bytes, -EBADMSG. */
ssize_t eddyi_base64url_decode(struct eddy_str text, unsigned char *ret_bytes);

/* Encode into EDDYI_BASE64URL_ENCODED() characters; there is no NUL. Return: how many. */
size_t eddyi_base64url_encode(const void *bytes, size_t len, char *ret_text);

#endif
