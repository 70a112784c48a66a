/* base64.h: base64 with padding (RFC 4648 section 4), as in structured fields and tus. */
#ifndef EDDYI_BASE64_H
#define EDDYI_BASE64_H

#include <eddy/str.h>
#include <sys/types.h>

/* Sizes: of `len` encoded bytes, and at most of `len` decoded characters. */
#define EDDYI_BASE64_ENCODED(len) (((len) + 2) / 3 * 4)
#define EDDYI_BASE64_DECODED(len) (((len) + 3) / 4 * 3)

/* Decode; `ret_bytes` has EDDYI_BASE64_DECODED() bytes, or is NULL. The padding may be absent, and
 * unused bits are ignored (RFC 9651 section 4.2.7).
 * Return: bytes; -EBADMSG for another character, incomplete padding, or an incomplete byte. */
ssize_t eddyi_base64_decode(struct eddy_str text, unsigned char *ret_bytes);

/* Encode into EDDYI_BASE64_ENCODED() characters, without a NUL. Return: the end of the text. */
char *eddyi_base64_encode(const void *bytes, size_t len, char *text);

#endif
