/* issuer: client authentication by the Authorization field (Basic). */
#include "issuer.h"

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

static int hex_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decode a form value in place. Return: whether its escapes are valid. */
static bool decode_form(char *text, size_t *len)
{
	size_t to = 0;

	for (size_t i = 0; i < *len; i++) {
		int high, low;

		if (text[i] != '%') {
			text[to++] = text[i] == '+' ? ' ' : text[i];
			continue;
		}
		if (*len - i < 3 || (high = hex_of(text[i + 1])) < 0 ||
		    (low = hex_of(text[i + 2])) < 0)
			return false;
		text[to++] = (char)(high << 4 | low);
		i += 2;
	}
	*len = to;
	return true;
}

/* Split and decode "id:secret" in place. */
static int split(char *text, size_t len, struct eddy_str *ret_id, struct eddy_str *ret_secret)
{
	char *colon = memchr(text, ':', len);
	size_t id_len, secret_len;

	if (!colon)
		return -EINVAL;
	id_len = (size_t)(colon - text);
	secret_len = len - id_len - 1;
	if (!decode_form(text, &id_len) || !decode_form(colon + 1, &secret_len))
		return -EINVAL;
	*ret_id = eddy_str(text, id_len);
	*ret_secret = eddy_str(colon + 1, secret_len);
	return 0;
}

int issuer_basic(struct eddy_req *req, struct eddy_str *ret_id, struct eddy_str *ret_secret)
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
	return len < 0 ? (int)len : split(text, (size_t)len, ret_id, ret_secret);
}
