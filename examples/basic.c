#include "basic.h"

#include <errno.h>
#include <string.h>

/* Return: 0 to 63; -1 if `c` is not base64. */
static int value_of(char c)
{
	static const char alphabet[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c ? strchr(alphabet, c) : NULL;

	return at ? (int)(at - alphabet) : -1;
}

/* Decode canonical base64 with padding (RFC 4648 section 4). `to` has room for `text.len` bytes.
 * Return: bytes, -EINVAL. */
static ssize_t decode_base64(struct eddy_str text, char *to)
{
	unsigned bits = 0, have = 0;
	size_t len = 0, padding = 0;

	if (text.len % 4)
		return -EINVAL;
	while (padding < 2 && padding < text.len && text.ptr[text.len - 1 - padding] == '=')
		padding++;
	for (size_t i = 0; i < text.len - padding; i++) {
		int value = value_of(text.ptr[i]);

		if (value < 0)
			return -EINVAL;
		bits = (bits << 6 | (unsigned)value) & 0xffff;
		have += 6;
		if (have >= 8) {
			have -= 8;
			to[len++] = (char)(bits >> have);
		}
	}
	return bits & ((1u << have) - 1) ? -EINVAL : (ssize_t)len;
}

int basic_credentials(struct eddy_req *req, struct eddy_str *ret_text)
{
	/* Several fields are joined by commas, which are not base64. */
	struct eddy_str field = eddy_req_header_joined(req, "authorization");
	char *text;
	ssize_t len;

	if (!field.ptr)
		return eddy_req_header(req, "authorization").ptr ? -ENOMEM : -ENOENT;
	if (field.len < 6 || !eddy_str_eq_nocase(eddy_str(field.ptr, 6), EDDY_STR("basic ")))
		return -EINVAL;
	field = eddy_str_trim(eddy_str_skip(field, 6));
	text = eddy_req_alloc(req, field.len + 1);
	if (!text)
		return -ENOMEM;
	len = decode_base64(field, text);
	if (len < 0)
		return (int)len;
	*ret_text = eddy_str(text, (size_t)len);
	return 0;
}
