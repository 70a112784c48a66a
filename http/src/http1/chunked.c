#include "chunked.h"

#include "text/syntax.h"

#include <errno.h>

/* Limits a chunk to 2^60 bytes; sixteen digits could overflow. */
#define DIGITS_MAX 15
#define LINE_MAX_LEN 1024
/* Limit of framing in excess of what the data allows. Otherwise a body could consist of extensions,
 * each byte of data costing a thousand to read. */
#define EXCESS_MAX 16384
#define LINE_FREE 16
#define TRAILER_MAX 8192

enum state {
	SIZE, /* in a chunk-size */
	EXT_NAME_FIRST,
	EXT_NAME,
	EXT_NAME_BLANK, /* in blanks after a name */
	EXT_VALUE_FIRST,
	EXT_VALUE,
	EXT_QUOTED,
	EXT_ESCAPED,
	EXT_AFTER_QUOTED,
	EXT_BLANK, /* in blanks after the size or a value; another extension must follow */
	SIZE_LF,   /* after the CR of the line */
	DATA,
	DATA_CR, /* after the data */
	DATA_LF,
	TRAILER_FIRST, /* at the beginning of a trailer line */
	TRAILER_NAME,
	TRAILER_VALUE,
	TRAILER_LF,
	END_LF,
	END,
	BAD,
};

static bool is_value_byte(char c)
{
	unsigned char u = (unsigned char)c;

	return u == '\t' || (u >= ' ' && u != 0x7f);
}

/* Get the state after `c` in a chunk's line, after the size. */
static enum state after_extension_byte(enum state state, char c)
{
	bool is_blank = c == ' ' || c == '\t';

	switch (state) {
	case EXT_NAME_FIRST:
		return eddyi_syntax_is_tchar(c) ? EXT_NAME : is_blank ? EXT_NAME_FIRST : BAD;
	case EXT_NAME_BLANK:
		if (c == '=')
			return EXT_VALUE_FIRST;
		return c == ';' ? EXT_NAME_FIRST : is_blank ? EXT_NAME_BLANK : BAD;
	case EXT_BLANK:
		return c == ';' ? EXT_NAME_FIRST : is_blank ? EXT_BLANK : BAD;
	case EXT_NAME:
		if (is_blank)
			return EXT_NAME_BLANK;
		if (c == '=')
			return EXT_VALUE_FIRST;
		if (eddyi_syntax_is_tchar(c))
			return EXT_NAME;
		break;
	case EXT_VALUE_FIRST:
		if (c == '"')
			return EXT_QUOTED;
		return eddyi_syntax_is_tchar(c) ? EXT_VALUE : is_blank ? EXT_VALUE_FIRST : BAD;
	case EXT_VALUE:
		if (eddyi_syntax_is_tchar(c))
			return EXT_VALUE;
		break;
	case EXT_QUOTED:
		if (c == '"')
			return EXT_AFTER_QUOTED;
		if (c == '\\')
			return EXT_ESCAPED;
		return is_value_byte(c) ? EXT_QUOTED : BAD;
	case EXT_ESCAPED:
		return is_value_byte(c) ? EXT_QUOTED : BAD;
	default:
		break;
	}
	/* An extension is complete: another one or the end of the line follows. */
	return c == ';' ? EXT_NAME_FIRST : c == '\r' ? SIZE_LF : is_blank ? EXT_BLANK : BAD;
}

static enum state after_size_byte(struct eddyi_chunked *chunked, char c)
{
	int digit = eddyi_hex_digit(c);

	if (digit >= 0) {
		if (chunked->digits == DIGITS_MAX)
			return BAD;
		chunked->digits++;
		chunked->left = chunked->left << 4 | (unsigned)digit;
		return SIZE;
	}
	if (!chunked->digits)
		return BAD;
	return c == '\r' ? SIZE_LF : after_extension_byte(EXT_BLANK, c);
}

static enum state after_trailer_byte(struct eddyi_chunked *chunked, enum state state, char c)
{
	if (++chunked->trailer > TRAILER_MAX)
		return BAD;
	switch (state) {
	case TRAILER_FIRST:
		if (c == '\r')
			return END_LF;
		return eddyi_syntax_is_tchar(c) ? TRAILER_NAME : BAD;
	case TRAILER_NAME:
		return c == ':' ? TRAILER_VALUE : eddyi_syntax_is_tchar(c) ? TRAILER_NAME : BAD;
	case TRAILER_VALUE:
		return c == '\r' ? TRAILER_LF : is_value_byte(c) ? TRAILER_VALUE : BAD;
	case TRAILER_LF:
		return c == '\n' ? TRAILER_FIRST : BAD;
	default:
		return c == '\n' ? END : BAD;
	}
}

static enum state after_line_feed(struct eddyi_chunked *chunked, char c)
{
	uint64_t accounted = LINE_FREE + chunked->left;

	if (c != '\n')
		return BAD;
	chunked->excess += chunked->line;
	chunked->excess -= chunked->excess < accounted ? chunked->excess : (uint32_t)accounted;
	if (chunked->excess > EXCESS_MAX)
		return BAD;
	chunked->digits = 0;
	chunked->line = 0;
	return chunked->left ? DATA : TRAILER_FIRST;
}

static enum state after_byte(struct eddyi_chunked *chunked, char c)
{
	enum state state = chunked->state;

	switch (state) {
	case SIZE:
		return ++chunked->line > LINE_MAX_LEN ? BAD : after_size_byte(chunked, c);
	case SIZE_LF:
		return after_line_feed(chunked, c);
	case DATA_CR:
		return c == '\r' ? DATA_LF : BAD;
	case DATA_LF:
		return c == '\n' ? SIZE : BAD;
	case TRAILER_FIRST:
	case TRAILER_NAME:
	case TRAILER_VALUE:
	case TRAILER_LF:
	case END_LF:
		return after_trailer_byte(chunked, state, c);
	default:
		return ++chunked->line > LINE_MAX_LEN ? BAD : after_extension_byte(state, c);
	}
}

int eddyi_chunked_next(struct eddyi_chunked *chunked, struct eddy_str *rest)
{
	for (;;) {
		switch (chunked->state) {
		case DATA:
			if (chunked->left)
				return rest->len ? 1 : 0;
			chunked->state = DATA_CR;
			break;
		case END:
			return -ENODATA;
		case BAD:
			return -EBADMSG;
		}
		if (!rest->len)
			return 0;
		chunked->state = after_byte(chunked, rest->ptr[0]);
		*rest = eddy_str_skip(*rest, 1);
	}
}

bool eddyi_chunked_has_data(const struct eddyi_chunked *chunked)
{
	return chunked->state == DATA && chunked->left;
}

size_t eddyi_chunked_line(uint64_t len, char text[EDDYI_CHUNK_LINE_SIZE])
{
	size_t digits = eddyi_u64_format_hex(len, text);

	memcpy(text + digits, "\r\n", 2);
	return digits + 2;
}
