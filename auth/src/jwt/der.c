#include "der.h"

static unsigned byte_at(struct eddy_str str, size_t at)
{
	return (unsigned char)str.ptr[at];
}

bool eddyi_der_take(struct eddy_str *rest, unsigned tag, struct eddy_str *ret_content)
{
	size_t head = 2, len, count;

	if (rest->len < 2 || byte_at(*rest, 0) != tag)
		return false;
	len = byte_at(*rest, 1);
	if (len >= 0x80) {
		count = len & 0x7f;
		if (count < 1 || count > 3 || rest->len < 2 + count || !byte_at(*rest, 2))
			return false;
		len = 0;
		while (count--)
			len = len << 8 | byte_at(*rest, head++);
		/* Not the shortest form. */
		if (len < 0x80)
			return false;
	}
	if (len > rest->len - head)
		return false;
	*ret_content = eddy_str(rest->ptr + head, len);
	*rest = eddy_str_skip(*rest, head + len);
	return true;
}

bool eddyi_der_take_if(struct eddy_str *rest, unsigned tag, struct eddy_str *ret_content)
{
	*ret_content = eddy_str(NULL, 0);
	return !rest->len || byte_at(*rest, 0) != tag || eddyi_der_take(rest, tag, ret_content);
}

bool eddyi_der_take_number(struct eddy_str *rest, struct eddy_str *ret_number)
{
	struct eddy_str content;

	if (!eddyi_der_take(rest, EDDYI_DER_INTEGER, &content) || !content.len ||
	    byte_at(content, 0) >= 0x80)
		return false;
	if (content.len > 1 && !byte_at(content, 0)) {
		content = eddy_str_skip(content, 1);
		if (byte_at(content, 0) < 0x80)
			return false;
	}
	*ret_number = content;
	return true;
}

bool eddyi_der_take_bits(struct eddy_str *rest, struct eddy_str *ret_bytes)
{
	struct eddy_str content;

	if (!eddyi_der_take(rest, EDDYI_DER_BITS, &content) || !content.len || byte_at(content, 0))
		return false;
	*ret_bytes = eddy_str_skip(content, 1);
	return true;
}
