/* base64url.h: base64url without padding, as in tokens and keys (RFC 7515 section 2). */
#ifndef EDDYI_BASE64URL_H
#define EDDYI_BASE64URL_H

#include <eddy/str.h>
#include <sys/types.h>

/* Sizes: of `len` encoded bytes, and at most of `len` decoded characters. */
#define EDDYI_BASE64URL_ENCODED(len) (((len)*4 + 2) / 3)
#define EDDYI_BASE64URL_DECODED(len) ((len) / 4 * 3 + ((len) % 4 ? (len) % 4 - 1 : 0))

/* Decode strictly: no padding, no other character, unused bits zero. `ret_bytes` has
 * EDDYI_BASE64URL_DECODED() bytes and may be the text's memory. Return: bytes; -EBADMSG. */
ssize_t eddyi_base64url_decode(struct eddy_str text, unsigned char *ret_bytes);

/* Encode into EDDYI_BASE64URL_ENCODED() characters, without a NUL. Return: their number. */
size_t eddyi_base64url_encode(const void *bytes, size_t len, char *ret_text);

#endif
