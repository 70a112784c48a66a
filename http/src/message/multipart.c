#include "multipart.h"

#include "text/disposition.h"
#include "text/syntax.h"

#include <errno.h>

#define PARTS_MAX_DEFAULT 64
#define HEADERS_MAX_DEFAULT (8 * EDDY_KIB)

void eddyi_multipart_init(struct eddyi_multipart *multipart, struct eddyi_arena *arena,
			  struct eddy_str boundary, const struct eddyi_multipart_options *options)
{
	size_t len = boundary.len;

	if (len > EDDYI_MULTIPART_BOUNDARY_MAX)
		len = EDDYI_MULTIPART_BOUNDARY_MAX;
	*multipart = (struct eddyi_multipart){
		.arena = arena,
		.options = options ? *options : (struct eddyi_multipart_options){ 0 },
		.delimiter = "\r\n--",
		.delimiter_len = 4 + len,
		.at_start = true,
	};
	memcpy(multipart->delimiter + 4, boundary.ptr, len);
	if (!multipart->options.parts_max)
		multipart->options.parts_max = PARTS_MAX_DEFAULT;
	if (!multipart->options.headers_max)
		multipart->options.headers_max = HEADERS_MAX_DEFAULT;
}

enum match {
	MATCH_NONE,
	MATCH_PARTIAL, /* too few bytes to tell */
	MATCH_DELIMITER,
	MATCH_CLOSE,
	MATCH_MALFORMED, /* too much padding */
};

/* Match a delimiter at `at`, which is a CR. */
static enum match match(const struct eddyi_multipart *multipart, const char *at, size_t len,
			size_t *ret_len)
{
	size_t i = multipart->delimiter_len;

	if (memcmp(at, multipart->delimiter, len < i ? len : i) != 0)
		return MATCH_NONE;
	if (len <= i)
		return MATCH_PARTIAL;
	if (at[i] == '-') {
		*ret_len = i + 2;
		if (len < i + 2)
			return MATCH_PARTIAL;
		return at[i + 1] == '-' ? MATCH_CLOSE : MATCH_NONE;
	}
	while (i < len && (at[i] == ' ' || at[i] == '\t'))
		i++;
	if (i - multipart->delimiter_len > EDDYI_MULTIPART_PADDING_MAX)
		return MATCH_MALFORMED;
	if (i == len)
		return MATCH_PARTIAL;
	if (at[i] != '\r')
		return MATCH_NONE;
	if (i + 1 == len)
		return MATCH_PARTIAL;
	*ret_len = i + 2;
	return at[i + 1] == '\n' ? MATCH_DELIMITER : MATCH_NONE;
}

/* Add bytes of `*piece` to the held ones, one at a time, until it is clear what they are. Data goes
 * to `released`; a CR in it may begin the next candidate. */
static enum match match_held(struct eddyi_multipart *multipart, struct eddy_str *piece,
			     struct eddy_str *ret_data)
{
	enum match found = MATCH_PARTIAL;
	size_t released = 0, taken = 0, skip, ignored;
	const char *next;

	while (multipart->held_len && piece->len && !released) {
		multipart->held[multipart->held_len++] = piece->ptr[0];
		*piece = eddy_str_skip(*piece, 1);
		taken++;
		found = match(multipart, multipart->held, multipart->held_len, &ignored);
		while (found == MATCH_NONE) {
			next = memchr(multipart->held + 1, '\r', multipart->held_len - 1);
			skip = next ? (size_t)(next - multipart->held) : multipart->held_len;
			memcpy(multipart->released + released, multipart->held, skip);
			released += skip;
			multipart->held_len -= skip;
			if (multipart->held_len <= taken) {
				/* The rest is in the piece: return to the fast path. */
				*piece = eddy_str(piece->ptr - multipart->held_len,
						  piece->len + multipart->held_len);
				multipart->held_len = 0;
				break;
			}
			memmove(multipart->held, multipart->held + skip, multipart->held_len);
			found = match(multipart, multipart->held, multipart->held_len, &ignored);
		}
		if (found == MATCH_DELIMITER || found == MATCH_CLOSE || found == MATCH_MALFORMED)
			multipart->held_len = multipart->unsent = 0;
	}
	*ret_data = eddy_str(multipart->released, released);
	if (released) { /* longer than `unsent`, since a '-' followed it */
		*ret_data = eddy_str_skip(*ret_data, multipart->unsent);
		multipart->unsent = 0;
	}
	return released ? MATCH_NONE : found;
}

/* Take the data before the next delimiter off the front; without data, the delimiter. */
static enum match match_piece(struct eddyi_multipart *multipart, struct eddy_str *piece,
			      struct eddy_str *ret_data)
{
	const char *from = piece->ptr, *end = piece->ptr + piece->len;
	enum match found = MATCH_NONE;
	const char *at = end;
	size_t len = 0;

	while (from < end && found == MATCH_NONE) {
		if (*from == '\r') /* memchr() is slow in a run of CRs or CRLFs */
			at = from;
		else
			at = memchr(from, '\r', end - from);
		if (!at)
			break;
		from = at + 1;
		if (from < end && *from != '\n')
			continue;
		if (from + 1 < end && from[1] != '-')
			from++;
		else
			found = match(multipart, at, end - at, &len);
	}
	if (found == MATCH_NONE)
		at = end;
	*ret_data = eddy_str(piece->ptr, at - piece->ptr);
	*piece = eddy_str_skip(*piece, ret_data->len);
	if (found == MATCH_PARTIAL) {
		memcpy(multipart->held, at, end - at);
		multipart->held_len = end - at;
		*piece = eddy_str_skip(*piece, end - at);
	} else if (found != MATCH_NONE && !ret_data->len) {
		*piece = eddy_str_skip(*piece, len);
	}
	return ret_data->len ? MATCH_NONE : found;
}

/* Parse content, or the preamble, up to the next event. */
static int next_data(struct eddyi_multipart *multipart, struct eddy_str *piece,
		     struct eddyi_multipart_event *event)
{
	bool in_part = multipart->state == EDDYI_MULTIPART_IN_DATA;

	if (multipart->at_start && piece->len) {
		multipart->at_start = false;
		if (piece->ptr[0] == '-') {
			memcpy(multipart->held, "\r\n", 2);
			multipart->held_len = multipart->unsent = 2;
		}
	}
	while (piece->len) {
		enum match found = multipart->held_len ?
					   match_held(multipart, piece, &event->data) :
					   match_piece(multipart, piece, &event->data);

		switch (found) {
		case MATCH_PARTIAL:
			continue; /* the piece is used up */
		case MATCH_NONE:
			if (in_part) {
				event->kind = EDDYI_MULTIPART_DATA;
				return 0;
			}
			multipart->preamble_len += event->data.len;
			continue;
		case MATCH_MALFORMED:
			return -EBADMSG;
		case MATCH_DELIMITER:
			multipart->state = EDDYI_MULTIPART_IN_HEADERS;
			break;
		case MATCH_CLOSE:
			if (!in_part && multipart->preamble_len)
				return -EBADMSG;
			multipart->state = EDDYI_MULTIPART_AT_END;
			break;
		}
		if (in_part)
			event->kind = EDDYI_MULTIPART_PART_END;
		return 0;
	}
	return 0;
}

static int part_set_field(struct eddyi_multipart *multipart, struct eddy_str name,
			  struct eddy_str value, struct eddyi_disposition *disposition,
			  struct eddyi_multipart_part *part)
{
	if (eddy_str_eq_nocase(name, eddy_str_from("content-disposition"))) {
		if (disposition->type.ptr)
			return -EBADMSG;
		return eddyi_disposition_parse(multipart->arena, value, disposition);
	}
	if (eddy_str_eq_nocase(name, eddy_str_from("content-type"))) {
		if (part->content_type.ptr)
			return -EBADMSG;
		if (value.len)
			part->content_type = value;
	}
	return 0;
}

/* Unfold the fields of a block, and reject control bytes except tabs. */
static int unfold(char *block, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (i + 2 < len && block[i] == '\r' && block[i + 1] == '\n') {
			if (block[i + 2] == ' ' || block[i + 2] == '\t')
				block[i] = block[i + 1] = ' ';
			i++;
		} else if (((unsigned char)block[i] < 0x20 && block[i] != '\t') ||
			   block[i] == 0x7f) {
			return -EBADMSG;
		}
	}
	return 0;
}

/* Parse a header block, which ends after its last field, without its CRLF. */
static int parse_headers(struct eddyi_multipart *multipart, struct eddy_str block,
			 struct eddyi_multipart_part *ret_part)
{
	struct eddy_str text = eddyi_arena_dup(multipart->arena, block), line, name;
	struct eddyi_disposition disposition = { 0 };
	struct eddyi_multipart_part part = { 0 };
	int err;

	if (!text.ptr)
		return -ENOMEM;
	if (unfold((char *)text.ptr, text.len) < 0)
		return -EBADMSG;
	while (eddy_str_split(&text, '\n', &line)) {
		if (text.ptr)
			line.len--; /* the CR, which unfold() has checked */
		if (!eddyi_syntax_take_token(&line, &name) || !eddyi_syntax_take(&line, ':'))
			return -EBADMSG;
		err = part_set_field(multipart, name, eddy_str_trim(line), &disposition, &part);
		if (err < 0)
			return err;
	}
	if (!disposition.type.ptr || !disposition.name.ptr ||
	    !eddy_str_eq_nocase(disposition.type, eddy_str_from("form-data")))
		return -EBADMSG;
	part.name = disposition.name;
	part.filename = disposition.filename;
	*ret_part = part;
	return 0;
}

/* Take a header block off the front of `*piece`, or store what there is of it.
 * Return: 1, and the block without its final two CRLFs; 0 if more is needed; -errno. */
static int take_headers(struct eddyi_multipart *multipart, struct eddy_str *piece,
			struct eddy_str *ret_block)
{
	size_t max = multipart->options.headers_max, old = multipart->headers_len, len, from;
	struct eddy_str text = *piece;
	const char *end;

	if (old) {
		len = piece->len < max - old ? piece->len : max - old;
		memcpy(multipart->headers + old, piece->ptr, len);
		text = eddy_str(multipart->headers, old + len);
	} else if (text.len > max) {
		text.len = max;
	}
	if (text.len >= 2 && memcmp(text.ptr, "\r\n", 2) == 0)
		return -EBADMSG; /* without any field */
	from = old > 3 ? old - 3 : 0;
	end = memmem(text.ptr + from, text.len - from, "\r\n\r\n", 4);
	if (end) {
		*ret_block = eddy_str(text.ptr, end - text.ptr);
		*piece = eddy_str_skip(*piece, ret_block->len + 4 - old);
		multipart->headers_len = 0;
		return 1;
	}
	if (text.len == max)
		return -EBADMSG;
	if (!multipart->headers)
		multipart->headers = eddyi_arena_alloc(multipart->arena, max);
	if (!multipart->headers)
		return -ENOMEM;
	if (!old)
		memcpy(multipart->headers, text.ptr, text.len);
	multipart->headers_len = text.len;
	*piece = eddy_str_skip(*piece, piece->len);
	return 0;
}

static int next_headers(struct eddyi_multipart *multipart, struct eddy_str *piece,
			struct eddyi_multipart_event *event)
{
	struct eddy_str block;
	int got;

	if (multipart->part_count == multipart->options.parts_max)
		return -EMSGSIZE;
	if (!piece->len)
		return 0;
	got = take_headers(multipart, piece, &block);
	if (got <= 0)
		return got;
	got = parse_headers(multipart, block, &event->part);
	if (got < 0)
		return got;
	multipart->part_count++;
	multipart->state = EDDYI_MULTIPART_IN_DATA;
	multipart->at_start = true;
	event->kind = EDDYI_MULTIPART_PART;
	return 0;
}

int eddyi_multipart_next(struct eddyi_multipart *multipart, struct eddy_str *piece,
			 struct eddyi_multipart_event *ret_event)
{
	struct eddyi_multipart_event event = { .kind = EDDYI_MULTIPART_MORE };
	int err = multipart->err;

	while (!err && event.kind == EDDYI_MULTIPART_MORE) {
		enum eddyi_multipart_state state = multipart->state;

		if (state == EDDYI_MULTIPART_IN_HEADERS) {
			err = next_headers(multipart, piece, &event);
		} else if (state == EDDYI_MULTIPART_AT_END) {
			multipart->state = EDDYI_MULTIPART_IN_EPILOGUE;
			event.kind = EDDYI_MULTIPART_END;
		} else if (state == EDDYI_MULTIPART_IN_EPILOGUE) {
			*piece = eddy_str_skip(*piece, piece->len);
		} else {
			err = next_data(multipart, piece, &event);
		}
		if (multipart->state == state && !piece->len)
			break;
	}
	multipart->err = err;
	if (!err)
		*ret_event = event;
	return err;
}

int eddyi_multipart_finish(const struct eddyi_multipart *multipart)
{
	if (multipart->err)
		return multipart->err;
	return multipart->state == EDDYI_MULTIPART_IN_EPILOGUE ? 0 : -EBADMSG;
}

/* ---- the boundary ---- */

static bool is_boundary_char(char c)
{
	return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
	       (c && strchr("'()+_,-./:=?", c));
}

/* RFC 2046 section 5.1.1: a blank must not be the last character. */
static bool is_boundary(struct eddy_str text)
{
	if (!text.len || text.len > EDDYI_MULTIPART_BOUNDARY_MAX || text.ptr[text.len - 1] == ' ')
		return false;
	for (size_t i = 0; i < text.len; i++)
		if (!is_boundary_char(text.ptr[i]) && text.ptr[i] != ' ')
			return false;
	return true;
}

/* Take a parameter's value: a quoted string, or the characters of a boundary, which many clients
 * don't quote even if it is not a token. */
static bool take_value(struct eddy_str *rest, struct eddy_str *ret_value)
{
	size_t len = 0;

	if (eddyi_syntax_take_quoted(rest, ret_value))
		return true;
	while (len < rest->len &&
	       (is_boundary_char(rest->ptr[len]) || eddyi_syntax_is_tchar(rest->ptr[len])))
		len++;
	*ret_value = eddy_str(rest->ptr, len);
	*rest = eddy_str_skip(*rest, len);
	return len > 0;
}

int eddyi_multipart_boundary(struct eddy_str content_type, struct eddy_str *ret_boundary)
{
	static const char type[] = "multipart/form-data";
	struct eddy_str rest = eddy_str_trim(content_type), name, value, boundary = { 0 };

	if (rest.len < sizeof(type) - 1 ||
	    !eddy_str_eq_nocase(eddy_str(rest.ptr, sizeof(type) - 1), eddy_str_from(type)))
		return -EOPNOTSUPP;
	rest = eddy_str_skip(rest, sizeof(type) - 1);
	if (rest.len && !strchr(" \t;", rest.ptr[0]))
		return -EOPNOTSUPP;
	for (;;) {
		eddyi_syntax_skip_blanks(&rest);
		if (!rest.len)
			break;
		if (!eddyi_syntax_take(&rest, ';'))
			return -EBADMSG;
		eddyi_syntax_skip_blanks(&rest);
		if (!rest.len || rest.ptr[0] == ';')
			continue;
		if (!eddyi_syntax_take_token(&rest, &name) || !eddyi_syntax_take(&rest, '=') ||
		    !take_value(&rest, &value))
			return -EBADMSG;
		if (!eddy_str_eq_nocase(name, eddy_str_from("boundary")))
			continue;
		if (boundary.ptr || !is_boundary(value))
			return -EBADMSG;
		boundary = value;
	}
	if (!boundary.ptr)
		return -EBADMSG;
	*ret_boundary = boundary;
	return 0;
}
