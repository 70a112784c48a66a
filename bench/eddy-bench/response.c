#include "response.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

/* Framing between two pieces of data: a size, extensions, trailers. */
#define EXTRA_MAX 16384

static bool is_named(const char *line, size_t len, const char *name, size_t name_len)
{
	return len > name_len && line[name_len] == ':' && strncasecmp(line, name, name_len) == 0;
}

#define IS_NAMED(line, len, name) is_named(line, len, name, sizeof(name) - 1)

static void trim(const char **at, size_t *len)
{
	while (*len && (**at == ' ' || **at == '\t')) {
		(*at)++;
		(*len)--;
	}
	while (*len && ((*at)[*len - 1] == ' ' || (*at)[*len - 1] == '\t'))
		(*len)--;
}

static bool is_word(const char *at, size_t len, const char *word)
{
	return len == strlen(word) && strncasecmp(at, word, len) == 0;
}

/* A number of at most 18 digits: nothing is that long. */
static bool parse_length(const char *at, size_t len, uint64_t *ret_length)
{
	uint64_t length = 0;

	if (!len || len > 18)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (at[i] < '0' || at[i] > '9')
			return false;
		length = length * 10 + (uint64_t)(at[i] - '0');
	}
	*ret_length = length;
	return true;
}

static void take_connection(const char *at, size_t len, struct response *response)
{
	while (len) {
		const char *comma = memchr(at, ',', len);
		size_t item_len = comma ? (size_t)(comma - at) : len;
		const char *item = at;

		at += item_len + (comma != NULL);
		len -= item_len + (comma != NULL);
		trim(&item, &item_len);
		if (is_word(item, item_len, "close"))
			response->keeps = false;
		else if (is_word(item, item_len, "keep-alive"))
			response->keeps = true;
	}
}

/* Return: what is wrong with a field, NULL for nothing. */
static const char *take_field(const char *line, size_t len, struct response *response)
{
	const char *value = memchr(line, ':', len);
	uint64_t length;
	size_t value_len;

	if (!value || value == line)
		return "a line of the head is not a header field";
	value++;
	value_len = len - (size_t)(value - line);
	trim(&value, &value_len);
	if (IS_NAMED(line, len, "content-length")) {
		if (!parse_length(value, value_len, &length))
			return "the content-length is not a number";
		if (response->length != RESPONSE_LENGTH_NONE && response->length != length)
			return "the response has two content-lengths";
		response->length = length;
	} else if (IS_NAMED(line, len, "transfer-encoding")) {
		if (response->chunked || !is_word(value, value_len, "chunked"))
			return "the transfer-encoding is not \"chunked\"";
		response->chunked = true;
	} else if (IS_NAMED(line, len, "connection")) {
		take_connection(value, value_len, response);
	}
	return NULL;
}

/* "HTTP/1.1 200 OK" */
static bool take_status(const char *line, size_t len, struct response *response)
{
	if (len < 12 || memcmp(line, "HTTP/1.", 7) != 0 || (line[7] != '0' && line[7] != '1') ||
	    line[8] != ' ' || (len > 12 && line[12] != ' '))
		return false;
	response->keeps = line[7] == '1';
	for (size_t i = 9; i < 12; i++) {
		if (line[i] < '0' || line[i] > '9')
			return false;
		response->status = response->status * 10 + line[i] - '0';
	}
	return response->status >= 100;
}

ssize_t response_parse(const char *bytes, size_t len, struct response *ret_response,
		       const char **ret_wrong)
{
	struct response response = { .length = RESPONSE_LENGTH_NONE };
	const char *at = bytes, *end;

	*ret_wrong = NULL;
	for (; (end = memchr(at, '\n', len - (size_t)(at - bytes))); at = end + 1) {
		size_t line_len = (size_t)(end - at);

		if (line_len && at[line_len - 1] == '\r')
			line_len--;
		if (at == bytes) {
			if (!take_status(at, line_len, &response))
				*ret_wrong = "the response is not HTTP/1.1";
		} else if (line_len) {
			/* Only these first letters are of any interest here. */
			if ((*at | 32) == 'c' || (*at | 32) == 't')
				*ret_wrong = take_field(at, line_len, &response);
		} else {
			if (response.chunked && response.length != RESPONSE_LENGTH_NONE)
				*ret_wrong = "the response is chunked and has a content-length";
			*ret_response = response;
			return *ret_wrong ? -EBADMSG : end + 1 - bytes;
		}
		if (*ret_wrong)
			return -EBADMSG;
	}
	/* Garbage need not have lines. */
	if (memcmp(bytes, "HTTP/1.1", len < 7 ? len : 7) != 0) {
		*ret_wrong = "the response is not HTTP/1.1";
		return -EBADMSG;
	}
	return 0;
}

enum { SIZE, EXTENSION, DATA_END, DATA_LF, TRAILER_BEGIN, TRAILER, LAST_LF };

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 32;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The line of a chunk's size is over. Return: false where it has none. */
static bool begin_data(struct chunked *chunked)
{
	if (!chunked->has_digit)
		return false;
	chunked->has_digit = false;
	chunked->left = chunked->size;
	chunked->size = 0;
	chunked->state = chunked->left ? DATA_END : TRAILER_BEGIN;
	if (chunked->left)
		chunked->extra = 0;
	return true;
}

/* Return: false when `c` is out of place. */
static bool take_byte(struct chunked *chunked, char c)
{
	switch (chunked->state) {
	case SIZE:
		if (digit(c) >= 0) {
			if (chunked->size >> 56)
				return false;
			chunked->size = chunked->size << 4 | (unsigned)digit(c);
			chunked->has_digit = true;
			return true;
		}
		if (c == '\n')
			return begin_data(chunked);
		chunked->state = EXTENSION;
		return c == ';' || c == '\r' || c == ' ' || c == '\t';
	case EXTENSION:
		return c != '\n' || begin_data(chunked);
	case DATA_END:
		chunked->state = c == '\r' ? DATA_LF : SIZE;
		return c == '\r' || c == '\n';
	case DATA_LF:
		chunked->state = SIZE;
		return c == '\n';
	case TRAILER_BEGIN:
		chunked->ended = c == '\n';
		chunked->state = c == '\r' ? LAST_LF : TRAILER;
		return true;
	case TRAILER:
		if (c == '\n')
			chunked->state = TRAILER_BEGIN;
		return true;
	default:
		chunked->ended = true;
		return c == '\n';
	}
}

ssize_t chunked_take(struct chunked *chunked, const char *bytes, size_t len)
{
	size_t at = 0;

	while (at < len && !chunked->ended && !chunked->left) {
		if (++chunked->extra > EXTRA_MAX || !take_byte(chunked, bytes[at]))
			return -EBADMSG;
		at++;
	}
	return (ssize_t)at;
}
