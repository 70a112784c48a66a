/* Fuzzes bench/eddy-bench/response.h: a head in one piece, and piece by piece, to the same end; what is behind it as a
 * chunked body, whole and byte by byte. */
#include "response.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Copied, so that a sanitizer sees what is read behind it. */
static ssize_t parse(const char *text, size_t len, struct response *ret_response)
{
	char *copy = malloc(len + 1);
	const char *wrong;
	ssize_t r;

	memcpy(copy + 1, text, len);
	r = response_parse(copy + 1, len, ret_response, &wrong);
	free(copy);
	if (r != (r < 0 ? -EBADMSG : r) || r > (ssize_t)len || (r < 0) != (wrong != NULL))
		abort();
	return r;
}

/* No part of a head is one, nor is more of it needed to see that it is wrong than all. */
static void check_parts(const char *text, size_t len, ssize_t whole)
{
	size_t end = whole > 0 ? (size_t)whole : len;
	bool was_wrong = false;
	struct response part;

	for (size_t i = 0; i < end; i += 1 + i / 8) {
		ssize_t r = parse(text, i, &part);

		if (r > 0 || (r < 0 && whole >= 0) || (r == 0 && was_wrong))
			abort();
		was_wrong = r < 0;
	}
}

/* Return: the bytes of the body and its framing; -EBADMSG. */
static ssize_t take(const char *text, size_t len, size_t step, struct chunked *chunked)
{
	size_t at = 0;

	*chunked = (struct chunked){ 0 };
	while (at < len && !chunked->ended) {
		size_t more = len - at < step ? len - at : step;

		if (chunked->left) {
			more = chunked->left < more ? chunked->left : more;
			chunked->left -= more;
		} else {
			ssize_t r = chunked_take(chunked, text + at, more);

			if (r < 0)
				return r;
			if (r > (ssize_t)more ||
			    (r < (ssize_t)more && !chunked->left && !chunked->ended))
				abort();
			more = (size_t)r;
		}
		at += more;
	}
	return (ssize_t)at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct response response;
	struct chunked whole, slow;
	ssize_t r = parse(text, size, &response), slow_r;

	check_parts(text, size, r);
	if (r > 0 && (response.status < 100 || response.status > 999 ||
		      (response.chunked && response.length != RESPONSE_LENGTH_NONE)))
		abort();
	if (r > 0) {
		text += r;
		size -= (size_t)r;
	}
	r = take(text, size, size, &whole);
	slow_r = take(text, size, 1, &slow);
	if (r != slow_r || whole.ended != slow.ended || whole.left != slow.left)
		abort();
	return 0;
}
