#include <eddy/json_text.h>

#include "json_scan.h"

#include <eddy/internal/json.h>
#include <eddy/internal/member.h>
#include <eddy/log.h>
#include <errno.h>
#include <stdio.h>

#define DEPTH_DEFAULT 128
#define VALUES_DEFAULT 16384
#define TABLE_DEPTH_MAX 32
#define MEMBERS_MAX 256
#define FAULTS_MAX 32
/* What a pointer shows of names that come from the peer. */
#define NAME_SHOWN 64
/* Larger structs are saved in allocated memory. */
#define SMALL_STRUCT 512

struct read {
	struct eddyi_json_scan scan;
	struct eddy_json_reader *to;
};

/* Where a value is: a member of the object, or an element of the array, that is at `up`. */
struct place {
	const struct place *up;
	const struct eddy_member *member; /* NULL: an element */
	struct eddy_str name;             /* if `member` is NULL; .ptr NULL: `index` */
	size_t index;
};

/* ---- errors ---- */

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

/* ---- values of members ---- */

/* Decode a string that was taken, if it has escapes. */
static int decode_str(struct read *read, struct eddy_str raw, bool is_escaped,
		      struct eddy_str *ret_str)
{
	char *bytes;

	if (!is_escaped) {
		*ret_str = raw;
		return 0;
	}
	bytes = allocate(read, raw.len);
	if (!bytes)
		return -ENOMEM;
	*ret_str = eddy_str(bytes, eddyi_json_scan_unescape(&read->scan, raw, bytes));
	return 0;
}

/* Skip a value that is not one of its member's. */
static int skip_wrong(struct read *read, const struct eddy_member *member,
		      const struct place *place)
{
	int r = eddyi_json_scan_skip(&read->scan);

	return r < 0 ? r : unexpected(read, member, place, false);
}

static int read_object(struct read *read, const struct eddy_shape *shape, void *target,
		       const struct place *place, unsigned level);

/* Read a string into a member of text, of a time, or with names. */
static int read_text(struct read *read, const struct eddy_member *member, void *at,
		     const struct place *place)
{
	struct eddy_str str;
	bool is_escaped;
	int r = eddyi_json_scan_count(&read->scan);

	if (r == 0)
		r = eddyi_json_scan_str(&read->scan, &str, &is_escaped);
	if (r == 0)
		r = decode_str(read, str, is_escaped, &str);
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
	struct eddyi_json_number number;
	int r = eddyi_json_scan_count(&read->scan);

	if (r == 0)
		r = eddyi_json_scan_number(&read->scan, &number);
	if (r < 0)
		return r;
	if (member->type == EDDY_TYPE_DOUBLE)
		r = eddyi_json_scan_double(&number, at);
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
	char c = eddyi_json_scan_next(&read->scan);

	if (c == '"' && is_text(member))
		return read_text(read, member, at, place);
	if ((c == '-' || (c >= '0' && c <= '9')) && !is_text(member) &&
	    member->type != EDDY_TYPE_BOOL)
		return read_number(read, member, at, place);
	if ((c == 't' || c == 'f') && member->type == EDDY_TYPE_BOOL && !member->names) {
		*(bool *)at = c == 't';
		return eddyi_json_scan_skip(&read->scan);
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
	if (eddyi_json_scan_next(&read->scan) != '{')
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
	int r = eddyi_json_scan_enter(&read->scan);

	if (r < 0)
		return r;
	while (eddyi_json_scan_next(&read->scan) != ']' || count) {
		struct place here = { .up = place, .index = count };

		r = grow(read, &array, count, &room, size);
		if (r < 0)
			return r;
		memset(array + count * size, 0, size);
		r = read_single(read, &element, array + count * size, &here, level);
		if (r < 0)
			return r;
		count++;
		if (eddyi_json_scan_next(&read->scan) == ']')
			break;
		if (eddyi_json_scan_next(&read->scan) != ',')
			return eddyi_json_malformed(&read->scan, "',' or ']' is expected");
		read->scan.at++;
	}
	eddyi_json_scan_leave(&read->scan);
	*(char **)(base + member->offset) = array;
	*(size_t *)(base + member->count) = count;
	r = eddyi_member_check_count(member, count);
	return r < 0 ? unexpected(read, member, place, false) : 0;
}

static int read_value(struct read *read, const struct eddy_member *member, char *base,
		      const struct place *place, unsigned level)
{
	char c = eddyi_json_scan_next(&read->scan);
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
	int r = eddyi_json_scan_skip(&read->scan);

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
	bool is_escaped;
	size_t index;
	int r;

	eddyi_json_scan_space(&read->scan);
	before = read->scan.at;
	r = eddyi_json_scan_name(&read->scan, &name, &is_escaped);
	if (r == 0)
		r = decode_str(read, name, is_escaped, &name);
	if (r < 0)
		return r;
	here.member = find(shape, name, hint);
	if (!here.member)
		return read_unknown(read, shape, name, place);
	index = (size_t)(here.member - shape->members);
	if (seen[index / 64] >> (index % 64) & 1)
		return eddyi_json_malformed_at(&read->scan, before, "the member name is repeated");
	seen[index / 64] |= 1ULL << (index % 64);
	if (eddyi_json_scan_next(&read->scan) == 'n' && takes_null(here.member)) {
		r = eddyi_json_scan_skip(&read->scan);
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
	int r = eddyi_json_scan_enter(&read->scan);

	if (shape->count > MEMBERS_MAX) {
		eddy_error("eddy::data", "a table has more than %d members", MEMBERS_MAX);
		return -EDOM;
	}
	if (level == TABLE_DEPTH_MAX)
		return eddyi_json_malformed(&read->scan,
					    "objects of a table are nested more than 32 deep");
	while (r == 0 && (eddyi_json_scan_next(&read->scan) != '}' || !is_first)) {
		is_first = false;
		r = read_member(read, shape, target, place, level + 1, &hint, seen);
		if (r < 0 || eddyi_json_scan_next(&read->scan) == '}')
			break;
		if (eddyi_json_scan_next(&read->scan) != ',')
			return eddyi_json_malformed(&read->scan, "',' or '}' is expected");
		read->scan.at++;
	}
	if (r < 0)
		return r;
	eddyi_json_scan_leave(&read->scan);
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
	eddyi_json_scan_space(&read->scan);
	if (read->scan.at < read->scan.end)
		return eddyi_json_malformed(&read->scan, "the end of the text is expected");
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
	unsigned depth_max = reader->depth_max ? reader->depth_max : DEPTH_DEFAULT;
	struct read read = {
		.scan = {
			.begin = text.ptr,
			.at = text.ptr,
			.end = text.ptr + text.len,
			.values_left = reader->values_max ? reader->values_max : VALUES_DEFAULT,
			.depth_max = depth_max < EDDYI_JSON_DEPTH_MOST ? depth_max :
									 EDDYI_JSON_DEPTH_MOST,
			.why = reader->why,
		},
		.to = reader,
	};

	reader->faults = NULL;
	reader->fault_count = 0;
	reader->has_unknown = false;
	reader->why[0] = 0;
	return ret_count ? read_whole_array(&read, shape, ret_target, ret_count) :
			   read_whole_object(&read, shape, ret_target);
}
