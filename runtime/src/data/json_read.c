#include <eddy/json_text.h>

#include <eddy/internal/json.h>
#include <eddy/internal/member.h>
#include <eddy/log.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>

#define DEPTH_DEFAULT 128
#define DEPTH_MOST 1024
#define VALUES_DEFAULT 16384
#define TABLE_DEPTH_MAX 32
#define MEMBERS_MAX 256
#define FAULTS_MAX 32
/* What a pointer shows of names that come from the peer. */
#define NAME_SHOWN 64
/* Longer real numbers are rejected. */
#define NUMBER_MAX 512
/* Larger structs are saved in allocated memory. */
#define SMALL_STRUCT 512

struct read {
	struct eddy_json_reader *to;
	const char *begin, *at, *end;
	size_t values_left;
	unsigned depth, depth_max;
};

/* Where a value is: a member of the object, or an element of the array, that is at `up`. */
struct place {
	const struct place *up;
	const struct eddy_member *member; /* NULL: an element */
	struct eddy_str name;             /* if `member` is NULL; .ptr NULL: `index` */
	size_t index;
};

/* ---- errors ---- */

/* Report that the text is not JSON, by the character at `at`. Return: -EBADMSG. */
static int malformed_at(struct read *read, const char *at, const char *reason)
{
	size_t line = 1, column = 1;

	for (const char *c = read->begin; c < at; c++) {
		if (*c == '\n') {
			line++;
			column = 1;
		} else {
			column += (*c & 0xc0) != 0x80;
		}
	}
	snprintf(read->to->why, EDDY_WHY_SIZE, "line %zu, column %zu: %s", line, column, reason);
	return -EBADMSG;
}

static int malformed(struct read *read, const char *reason)
{
	return malformed_at(read, read->at, read->at < read->end ? reason : "the text ends early");
}

static void *allocate(struct read *read, size_t size)
{
	return read->to->alloc ? read->to->alloc(read->to->arg, size) : NULL;
}

#define PATH_SIZE 256

/* Truncate a name that comes from the peer between two characters. */
static struct eddy_str shown(struct eddy_str name)
{
	size_t len = name.len;

	if (len > NAME_SHOWN)
		for (len = NAME_SHOWN; len && (name.ptr[len] & 0xc0) == 0x80;)
			len--;
	return eddy_str(name.ptr, len);
}

/* Write a name as a JSON pointer has it: '~' and '/' have escapes of their own, and a fragment has
 * percent escapes (RFC 6901 sections 3 and 6). */
static void put_escaped(struct eddyi_text *path, struct eddy_str name)
{
	char escape[3];

	for (size_t i = 0; i < name.len; i++) {
		char c = name.ptr[i], *end;

		if (c == '~' || c == '/') {
			eddyi_text(path, c == '~' ? "~0" : "~1");
			continue;
		}
		end = eddyi_percent_encode(escape, eddy_str(&c, 1), "-._");
		eddyi_text_put(path, escape, (size_t)(end - escape));
	}
}

/* Write the names from the root to a place, each behind a slash. */
static void put_place(struct eddyi_text *path, const struct place *place, bool escaped)
{
	struct eddy_str name;

	if (!place->up)
		return;
	put_place(path, place->up, escaped);
	eddyi_text(path, "/");
	name = place->member ? eddy_str_from(eddyi_member_name(place->member)) : place->name;
	if (!name.ptr)
		eddyi_text_u64(path, place->index);
	else if (escaped)
		put_escaped(path, shown(name));
	else
		eddyi_text_put(path, name.ptr, shown(name).len);
}

static void explain_first(struct read *read, const struct place *place, const char *why)
{
	char path[PATH_SIZE];
	struct eddyi_text text = { .at = path, .end = path + sizeof(path) };

	put_place(&text, place, false);
	if (text.at == path)
		snprintf(read->to->why, EDDY_WHY_SIZE, "it %s", why);
	else
		snprintf(read->to->why, EDDY_WHY_SIZE, "\"%.*s\" %s", (int)(text.at - path) - 1,
			 path + 1, why);
}

static struct eddy_str copy(struct read *read, const char *text, size_t len)
{
	char *copy = allocate(read, len + 1);

	if (!copy)
		return eddy_str(NULL, 0);
	memcpy(copy, text, len);
	copy[len] = 0;
	return eddy_str(copy, len);
}

/* Record a fault. The text is checked to its end all the same. Return: 0, -ENOMEM. */
static int fault(struct read *read, const struct place *place, const char *why)
{
	struct eddy_json_reader *to = read->to;
	char pointer[PATH_SIZE] = "#";
	struct eddyi_text text = { .at = pointer + 1, .end = pointer + sizeof(pointer) };
	struct eddy_json_fault *fault;

	if (to->fault_count == FAULTS_MAX)
		return 0;
	put_place(&text, place, true);
	if (!to->fault_count) {
		explain_first(read, place, why);
		to->faults = allocate(read, FAULTS_MAX * sizeof(*to->faults));
		if (!to->faults)
			return -ENOMEM;
	}
	fault = &to->faults[to->fault_count];
	fault->pointer = copy(read, pointer, (size_t)(text.at - pointer));
	fault->why = copy(read, why, strlen(why));
	if (!fault->pointer.ptr || !fault->why.ptr)
		return -ENOMEM;
	to->fault_count++;
	return 0;
}

static int unexpected(struct read *read, const struct eddy_member *member,
		      const struct place *place, bool is_missing)
{
	char expected[EDDY_WHY_SIZE / 2], why[EDDY_WHY_SIZE];

	/* Elements may lack many members each. */
	if (read->to->fault_count == FAULTS_MAX)
		return 0;
	eddyi_member_expect(member, expected, sizeof(expected));
	snprintf(why, sizeof(why), "%smust be %s", is_missing ? "is missing: it " : "", expected);
	return fault(read, place, why);
}

/* ---- tokens ---- */

static inline void skip_space(struct read *read)
{
	while (read->at < read->end &&
	       (*read->at == ' ' || *read->at == '\n' || *read->at == '\r' || *read->at == '\t'))
		read->at++;
}

/* Get the next character after blanks; 0 at the end. */
static inline char next(struct read *read)
{
	skip_space(read);
	return read->at < read->end ? *read->at : 0;
}

static int hex4(struct read *read, const char *at, unsigned *ret_code)
{
	unsigned code = 0;

	if (read->end - at < 4)
		return malformed_at(read, at, "four hexadecimal digits are expected");
	for (int i = 0; i < 4; i++) {
		int digit = eddyi_hex_digit(at[i]);

		if (digit < 0)
			return malformed_at(read, at, "four hexadecimal digits are expected");
		code = 16 * code + (unsigned)digit;
	}
	*ret_code = code;
	return 0;
}

/* Decode the escape of which `at` is the backslash. Return: its length; -EBADMSG. */
static int decode_escape(struct read *read, const char *at, unsigned *ret_code)
{
	static const char named[] = "\"\\/bfnrt", codes[] = "\"\\/\b\f\n\r\t";
	const char *found;
	unsigned low;
	int r;

	if (read->end - at < 2)
		return malformed_at(read, at, "the text ends early");
	if (at[1] != 'u') {
		found = at[1] ? strchr(named, at[1]) : NULL;
		if (!found)
			return malformed_at(read, at, "the escape is unknown");
		*ret_code = (unsigned char)codes[found - named];
		return 2;
	}
	r = hex4(read, at + 2, ret_code);
	if (r < 0)
		return r;
	if (!*ret_code)
		return malformed_at(read, at, "\\u0000 is not allowed");
	if (*ret_code < 0xd800 || *ret_code > 0xdfff)
		return 6;
	if (*ret_code > 0xdbff || read->end - at < 12 || at[6] != '\\' || at[7] != 'u' ||
	    hex4(read, at + 8, &low) < 0 || low < 0xdc00 || low > 0xdfff)
		return malformed_at(read, at, "half of a surrogate pair is missing");
	*ret_code = 0x10000 + ((*ret_code - 0xd800) << 10) + (low - 0xdc00);
	return 12;
}

static char *put_utf8(char *to, unsigned code)
{
	if (code < 0x80) {
		*to++ = (char)code;
		return to;
	}
	if (code < 0x800) {
		*to++ = (char)(0xc0 | code >> 6);
	} else {
		if (code < 0x10000) {
			*to++ = (char)(0xe0 | code >> 12);
		} else {
			*to++ = (char)(0xf0 | code >> 18);
			*to++ = (char)(0x80 | (code >> 12 & 0x3f));
		}
		*to++ = (char)(0x80 | (code >> 6 & 0x3f));
	}
	*to++ = (char)(0x80 | (code & 0x3f));
	return to;
}

/* Scan a string; `at` is its opening quote. `*ret_raw` still has its escapes. */
static int scan_str(struct read *read, struct eddy_str *ret_raw, bool *ret_escaped)
{
	const char *at = read->at + 1, *end = read->end;
	bool is_escaped = false;

	for (;;) {
		size_t len;
		unsigned code;
		int r;

		at += eddyi_str_plain_len(eddy_str(at, (size_t)(end - at)));
		if (at == end)
			return malformed_at(read, read->at, "the string has no end");
		if (*at == '"')
			break;
		if (*at == '\\') {
			r = decode_escape(read, at, &code);
			if (r < 0)
				return r;
			is_escaped = true;
			at += r;
			continue;
		}
		if ((unsigned char)*at < ' ')
			return malformed_at(read, at, "a control character must have an escape");
		len = eddyi_str_utf8_len(eddy_str(at, (size_t)(end - at)));
		if (!len)
			return malformed_at(read, at, "the text is not UTF-8");
		at += len;
	}
	*ret_raw = eddy_str(read->at + 1, (size_t)(at - read->at) - 1);
	*ret_escaped = is_escaped;
	read->at = at + 1;
	return 0;
}

/* Decode the escapes of a string that has been scanned. `to` has room for `raw`. */
static size_t decode(struct read *read, struct eddy_str raw, char *to)
{
	const char *at = raw.ptr, *end = raw.ptr + raw.len;
	char *begin = to;

	while (at < end) {
		const char *escape = memchr(at, '\\', (size_t)(end - at));
		size_t len = (size_t)((escape ? escape : end) - at);
		unsigned code = 0;

		to = mempcpy(to, at, len);
		if (!escape)
			break;
		at = escape + decode_escape(read, escape, &code);
		to = put_utf8(to, code);
	}
	return (size_t)(to - begin);
}

static int read_str(struct read *read, struct eddy_str *ret_str)
{
	struct eddy_str raw;
	bool is_escaped;
	char *bytes;
	int r = scan_str(read, &raw, &is_escaped);

	if (r < 0 || !is_escaped) {
		*ret_str = raw;
		return r;
	}
	bytes = allocate(read, raw.len);
	if (!bytes)
		return -ENOMEM;
	*ret_str = eddy_str(bytes, decode(read, raw, bytes));
	return 0;
}

struct number {
	struct eddy_str text;
	uint64_t digits; /* without the point */
	int exponent;    /* of `digits` */
	bool is_negative;
	bool is_real;
	bool is_long; /* `digits` has overflowed */
};

static inline bool is_digit(const struct read *read, const char *at)
{
	return at < read->end && *at >= '0' && *at <= '9';
}

static const char *scan_digits(struct read *read, const char *at, struct number *number)
{
	for (; is_digit(read, at); at++) {
		unsigned digit = (unsigned)(*at - '0');

		number->is_long |= __builtin_mul_overflow(number->digits, 10, &number->digits) ||
				   __builtin_add_overflow(number->digits, digit, &number->digits);
	}
	return at;
}

static int scan_exponent(struct read *read, const char **at, struct number *number)
{
	bool is_negative = **at == '-';
	int exponent = 0;

	if (*at < read->end && (**at == '-' || **at == '+'))
		++*at;
	if (!is_digit(read, *at))
		return malformed_at(read, *at, "a digit is expected");
	for (; is_digit(read, *at); ++*at)
		if (exponent < 100000)
			exponent = 10 * exponent + (**at - '0');
	number->exponent += is_negative ? -exponent : exponent;
	return 0;
}

static int scan_number(struct read *read, struct number *ret_number)
{
	const char *at = read->at, *point;
	struct number number = { .is_negative = *at == '-' };
	int r = 0;

	at += number.is_negative;
	if (!is_digit(read, at))
		return malformed_at(read, at, "a digit is expected");
	if (*at == '0')
		at++;
	else
		at = scan_digits(read, at, &number);
	if (at < read->end && *at == '.') {
		number.is_real = true;
		point = ++at;
		if (!is_digit(read, at))
			return malformed_at(read, at, "a digit is expected");
		at = scan_digits(read, at, &number);
		number.exponent = (int)(point - at);
	}
	if (at < read->end && (*at == 'e' || *at == 'E')) {
		number.is_real = true;
		at++;
		if (at == read->end)
			return malformed_at(read, at, "the text ends early");
		r = scan_exponent(read, &at, &number);
	}
	number.text = eddy_str(read->at, (size_t)(at - read->at));
	read->at = at;
	*ret_number = number;
	return r;
}

/* Return: 0; -ERANGE if it is infinite or too long. */
static int to_double(const struct number *number, double *ret_value)
{
	char text[NUMBER_MAX + 1];
	double value;

	if (!number->is_long && eddyi_f64_scale(number->digits, number->exponent, &value)) {
		*ret_value = number->is_negative ? -value : value;
		return 0;
	}
	if (number->text.len > NUMBER_MAX)
		return -ERANGE;
	memcpy(text, number->text.ptr, number->text.len);
	text[number->text.len] = 0;
	*ret_value = eddyi_f64_parse(text, NULL);
	return isfinite(*ret_value) ? 0 : -ERANGE;
}

static int scan_word(struct read *read, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(read->end - read->at) < len || memcmp(read->at, word, len) != 0)
		return malformed(read, "a value is expected");
	read->at += len;
	return 0;
}

static int count_value(struct read *read)
{
	return read->values_left-- ? 0 : -EMSGSIZE;
}

/* Begin an array or object, and count it; `at` is its bracket. */
static int enter(struct read *read)
{
	char why[80];
	int r = count_value(read);

	if (r < 0)
		return r;
	if (read->depth == read->depth_max) {
		snprintf(why, sizeof(why), "arrays and objects are nested more than %u deep",
			 read->depth_max);
		return malformed(read, why);
	}
	read->depth++;
	read->at++;
	return 0;
}

static void leave(struct read *read)
{
	read->depth--;
	read->at++;
}

static int begin_name(struct read *read)
{
	return next(read) == '"' ? 0 : malformed(read, "the name of a member is expected");
}

/* Take the colon behind a name. */
static int end_name(struct read *read)
{
	if (next(read) != ':')
		return malformed(read, "':' is expected");
	read->at++;
	return 0;
}

/* ---- values that no member takes ---- */

static int skip_scalar(struct read *read)
{
	struct number number;
	struct eddy_str str;
	bool is_escaped;
	int r = count_value(read);

	if (r < 0)
		return r;
	switch (next(read)) {
	case '"':
		return scan_str(read, &str, &is_escaped);
	case 't':
		return scan_word(read, "true");
	case 'f':
		return scan_word(read, "false");
	case 'n':
		return scan_word(read, "null");
	case '-':
	case '0' ... '9':
		return scan_number(read, &number);
	default:
		return malformed(read, "a value is expected");
	}
}

static int skip_name(struct read *read)
{
	struct eddy_str name;
	bool is_escaped;
	int r = begin_name(read);

	if (r == 0)
		r = scan_str(read, &name, &is_escaped);
	return r < 0 ? r : end_name(read);
}

/* Skip a value, which is checked. It is not recursive: a peer decides how deep it is. */
static int skip_value(struct read *read)
{
	uint64_t objects[DEPTH_MOST / 64 + 1] = { 0 }; /* which levels are objects */
	unsigned outside = read->depth;
	int r;

	for (;;) {
		char c = next(read);

		if (c == '{' || c == '[') {
			uint64_t bit = 1ULL << (read->depth % 64);
			uint64_t *word = &objects[read->depth / 64];

			*word = c == '{' ? *word | bit : *word & ~bit;
			r = enter(read);
			if (r < 0)
				return r;
			if (next(read) != (c == '{' ? '}' : ']')) {
				r = c == '{' ? skip_name(read) : 0;
				if (r < 0)
					return r;
				continue;
			}
			leave(read);
		} else {
			r = skip_scalar(read);
			if (r < 0)
				return r;
		}
		/* A value has ended. */
		while (read->depth > outside) {
			unsigned level = read->depth - 1;
			bool is_object = objects[level / 64] >> (level % 64) & 1;

			c = next(read);
			if (c == ',') {
				read->at++;
				r = is_object ? skip_name(read) : 0;
				if (r < 0)
					return r;
				break;
			}
			if (c != (is_object ? '}' : ']'))
				return malformed(read, is_object ? "',' or '}' is expected" :
								   "',' or ']' is expected");
			leave(read);
		}
		if (read->depth == outside)
			return 0;
	}
}

/* Skip a value that is not one of its member's. */
static int skip_wrong(struct read *read, const struct eddy_member *member,
		      const struct place *place)
{
	int r = skip_value(read);

	return r < 0 ? r : unexpected(read, member, place, false);
}

/* ---- values of members ---- */

static int read_object(struct read *read, const struct eddy_shape *shape, void *target,
		       const struct place *place, unsigned level);

/* Read a string into a member of text, of a time, or with names. */
static int read_text(struct read *read, const struct eddy_member *member, void *at,
		     const struct place *place)
{
	struct eddy_str str;
	int r = count_value(read);

	if (r == 0)
		r = read_str(read, &str);
	if (r < 0)
		return r;
	r = eddyi_member_parse(member, str, (struct eddy_to){ member->type, at });
	if (r == 0)
		r = eddyi_member_check(member, at);
	return r == 0 || r == -EDOM || r == -ENOMEM ? r : unexpected(read, member, place, false);
}

static int read_number(struct read *read, const struct eddy_member *member, void *at,
		       const struct place *place)
{
	struct number number;
	int r = count_value(read);

	if (r == 0)
		r = scan_number(read, &number);
	if (r < 0)
		return r;
	if (member->type == EDDY_TYPE_DOUBLE)
		r = to_double(&number, at);
	else if (number.is_real || number.is_long)
		r = -EINVAL;
	else
		r = eddyi_to_integer((struct eddy_to){ member->type, at },
				     number.is_negative && number.digits, number.digits);
	if (r == 0)
		r = eddyi_member_check(member, at);
	return r == 0 ? 0 : unexpected(read, member, place, false);
}

static bool is_text(const struct eddy_member *member)
{
	return member->names || member->type == EDDY_TYPE_STR || member->type == EDDY_TYPE_TIME;
}

/* Read a value that is neither an object nor an array. */
static int read_scalar(struct read *read, const struct eddy_member *member, void *at,
		       const struct place *place)
{
	char c = next(read);

	if (c == '"' && is_text(member))
		return read_text(read, member, at, place);
	if ((c == '-' || (c >= '0' && c <= '9')) && !is_text(member) &&
	    member->type != EDDY_TYPE_BOOL)
		return read_number(read, member, at, place);
	if ((c == 't' || c == 'f') && member->type == EDDY_TYPE_BOOL && !member->names) {
		*(bool *)at = c == 't';
		return skip_value(read);
	}
	return skip_wrong(read, member, place);
}

/* Make room for one more element. Return: 0, -ENOMEM. */
static int grow(struct read *read, char **array, size_t count, size_t *room, size_t size)
{
	size_t more = *room ? 2 * *room : 4;
	char *bytes;

	if (count < *room)
		return 0;
	bytes = allocate(read, more * size);
	if (!bytes)
		return -ENOMEM;
	if (count)
		memcpy(bytes, *array, count * size);
	*array = bytes;
	*room = more;
	return 0;
}

/* Read a value that is not an array. */
static int read_single(struct read *read, const struct eddy_member *member, char *at,
		       const struct place *place, unsigned level)
{
	if (member->type != EDDY_TYPE_OBJECT)
		return read_scalar(read, member, at, place);
	if (next(read) != '{')
		return skip_wrong(read, member, place);
	return read_object(read, member->of, at, place, level);
}

static int read_array(struct read *read, const struct eddy_member *member, char *base,
		      const struct place *place, unsigned level)
{
	const struct eddy_member element = {
		.type = member->of ? EDDY_TYPE_OBJECT : (enum eddy_type)member->element,
		.names = member->names,
		.format = member->format,
		.pattern = member->pattern,
		.of = member->of,
	};
	size_t size = member->of ? member->of->size : eddyi_type_size(element.type);
	size_t count = 0, room = 0;
	char *array = NULL;
	int r = enter(read);

	if (r < 0)
		return r;
	while (next(read) != ']' || count) {
		struct place here = { .up = place, .index = count };

		r = grow(read, &array, count, &room, size);
		if (r < 0)
			return r;
		memset(array + count * size, 0, size);
		r = read_single(read, &element, array + count * size, &here, level);
		if (r < 0)
			return r;
		count++;
		if (next(read) == ']')
			break;
		if (next(read) != ',')
			return malformed(read, "',' or ']' is expected");
		read->at++;
	}
	leave(read);
	*(char **)(base + member->offset) = array;
	*(size_t *)(base + member->count) = count;
	r = eddyi_member_check_count(member, count);
	return r < 0 ? unexpected(read, member, place, false) : 0;
}

static int read_value(struct read *read, const struct eddy_member *member, char *base,
		      const struct place *place, unsigned level)
{
	char c = next(read);
	int r = member->type < EDDY_TYPE_OBJECT ? 0 : eddyi_member_check_shape(member);

	if (r < 0)
		return r;
	if (member->type == EDDY_TYPE_ARRAY)
		return c == '[' ? read_array(read, member, base, place, level) :
				  skip_wrong(read, member, place);
	return read_single(read, member, base + member->offset, place, level);
}

/* ---- objects ---- */

static inline bool is_named(const struct eddy_member *member, struct eddy_str name)
{
	const char *own = eddyi_member_name(member);

	return strncmp(own, name.ptr, name.len) == 0 && !own[name.len];
}

/* Find a member, first at `*hint`: most texts have the order of the table. NULL: there is none. */
static const struct eddy_member *find(const struct eddy_shape *shape, struct eddy_str name,
				      size_t *hint)
{
	/* A name of a table is not empty, and has no NUL. */
	if (!name.len)
		return NULL;
	for (size_t i = 0; i < shape->count; i++) {
		size_t index = *hint + i < shape->count ? *hint + i : *hint + i - shape->count;

		if (!is_named(&shape->members[index], name))
			continue;
		*hint = index + 1 < shape->count ? index + 1 : 0;
		return &shape->members[index];
	}
	return NULL;
}

static int read_name(struct read *read, struct eddy_str *ret_name)
{
	int r = begin_name(read);

	if (r == 0)
		r = read_str(read, ret_name);
	return r < 0 ? r : end_name(read);
}

static bool is_strict(const struct eddy_shape *shape)
{
	for (size_t i = 0; i < shape->count; i++)
		if (shape->members[i].strict)
			return true;
	return false;
}

static int read_unknown(struct read *read, const struct eddy_shape *shape, struct eddy_str name,
			const struct place *place)
{
	struct place here = { .up = place, .name = name };
	int r = skip_value(read);

	if (r < 0 || !is_strict(shape))
		return r;
	read->to->has_unknown = true;
	return fault(read, &here, "is unknown");
}

static void set_present(const struct eddy_member *member, char *base, bool present)
{
	if (member->present)
		*(bool *)(base + member->present - 1) = present;
}

/* Give a member that the text lacks its default. */
static int read_missing(struct read *read, const struct eddy_member *member, char *base,
			const struct place *place)
{
	struct place here = { .up = place, .member = member };
	int r;

	set_present(member, base, false);
	if (member->type == EDDY_TYPE_OBJECT || member->type == EDDY_TYPE_ARRAY) {
		if (!member->optional && !member->present)
			return unexpected(read, member, &here, true);
		if (member->type == EDDY_TYPE_OBJECT) {
			memset(base + member->offset, 0, member->of->size);
		} else {
			*(void **)(base + member->offset) = NULL;
			*(size_t *)(base + member->count) = 0;
		}
		return 0;
	}
	r = eddyi_member_default(member, base + member->offset);
	return r == -ENOENT ? unexpected(read, member, &here, true) : r;
}

/* Whether a null stands for a missing value. */
static bool takes_null(const struct eddy_member *member)
{
	return member->optional || member->present || member->otherwise;
}

static int read_member(struct read *read, const struct eddy_shape *shape, char *base,
		       const struct place *place, unsigned level, size_t *hint, uint64_t *seen)
{
	struct place here = { .up = place };
	const char *before;
	struct eddy_str name;
	size_t index;
	int r;

	skip_space(read);
	before = read->at;
	r = read_name(read, &name);
	if (r < 0)
		return r;
	here.member = find(shape, name, hint);
	if (!here.member)
		return read_unknown(read, shape, name, place);
	index = (size_t)(here.member - shape->members);
	if (seen[index / 64] >> (index % 64) & 1)
		return malformed_at(read, before, "the member name is repeated");
	seen[index / 64] |= 1ULL << (index % 64);
	if (next(read) == 'n' && takes_null(here.member)) {
		r = skip_value(read);
		return r < 0 ? r : read_missing(read, here.member, base, place);
	}
	set_present(here.member, base, true);
	return read_value(read, here.member, base, &here, level);
}

static int read_object(struct read *read, const struct eddy_shape *shape, void *target,
		       const struct place *place, unsigned level)
{
	uint64_t seen[MEMBERS_MAX / 64] = { 0 };
	size_t hint = 0;
	bool is_first = true;
	int r = enter(read);

	if (shape->count > MEMBERS_MAX) {
		eddy_error("eddy::data", "a table has more than %d members", MEMBERS_MAX);
		return -EDOM;
	}
	if (level == TABLE_DEPTH_MAX)
		return malformed(read, "objects of a table are nested more than 32 deep");
	while (r == 0 && (next(read) != '}' || !is_first)) {
		is_first = false;
		r = read_member(read, shape, target, place, level + 1, &hint, seen);
		if (r < 0 || next(read) == '}')
			break;
		if (next(read) != ',')
			return malformed(read, "',' or '}' is expected");
		read->at++;
	}
	if (r < 0)
		return r;
	leave(read);
	for (size_t i = 0; i < shape->count && r == 0; i++)
		if (!(seen[i / 64] >> (i % 64) & 1))
			r = read_missing(read, &shape->members[i], target, place);
	return r;
}

/* ---- the text ---- */

static int read_whole(struct read *read, const struct eddy_member *whole, void *target)
{
	struct place root = { 0 };
	int r = read_value(read, whole, target, &root, 0);

	if (r < 0)
		return r;
	skip_space(read);
	if (read->at < read->end)
		return malformed(read, "the end of the text is expected");
	return read->to->fault_count ? -EINVAL : 0;
}

static int read_whole_object(struct read *read, const struct eddy_shape *shape, void *ret_target)
{
	const struct eddy_member whole = { .type = EDDY_TYPE_OBJECT, .of = shape };
	char small[SMALL_STRUCT], *before = small;
	int r;

	if (shape->size > SMALL_STRUCT)
		before = allocate(read, shape->size);
	if (!before)
		return -ENOMEM;
	memcpy(before, ret_target, shape->size);
	r = read_whole(read, &whole, ret_target);
	if (r < 0)
		memcpy(ret_target, before, shape->size);
	return r;
}

struct list {
	void *first;
	size_t count;
};

static int read_whole_array(struct read *read, const struct eddy_shape *shape, void *ret_first,
			    size_t *ret_count)
{
	const struct eddy_member whole = {
		.type = EDDY_TYPE_ARRAY,
		.of = shape,
		.count = offsetof(struct list, count),
	};
	struct list list;
	int r = read_whole(read, &whole, &list);

	if (r < 0)
		return r;
	memcpy(ret_first, &list.first, sizeof(list.first));
	*ret_count = list.count;
	return 0;
}

int eddyi_json_text_read(struct eddy_json_reader *reader, struct eddy_str text,
			 const struct eddy_shape *shape, void *ret_target, size_t *ret_count)
{
	struct read read = {
		.to = reader,
		.begin = text.ptr,
		.at = text.ptr,
		.end = text.ptr + text.len,
		.values_left = reader->values_max ? reader->values_max : VALUES_DEFAULT,
		.depth_max = reader->depth_max ? reader->depth_max : DEPTH_DEFAULT,
	};

	reader->faults = NULL;
	reader->fault_count = 0;
	reader->has_unknown = false;
	reader->why[0] = 0;
	if (read.depth_max > DEPTH_MOST)
		read.depth_max = DEPTH_MOST;
	return ret_count ? read_whole_array(&read, shape, ret_target, ret_count) :
			   read_whole_object(&read, shape, ret_target);
}
