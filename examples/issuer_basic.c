/* issuer: client authentication by the Authorization field (Basic). */
#include "issuer.h"

#include <errno.h>
#include <string.h>

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
	struct eddy_str text;
	int r = eddy_req_basic(req, &text);

	return r < 0 ? r : split((char *)text.ptr, text.len, ret_id, ret_secret);
}
