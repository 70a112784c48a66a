#include <eddy/internal/member.h>

#include <eddy/log.h>
#include <errno.h>
#include <stdio.h>

/* A value of any type. */
/* Members whose values are kept until all are checked. The others are read again. */
#define KEPT_MAX 16

union any {
	struct eddy_str str;
	int64_t integer;
	double real;
	struct eddy_time time;
};

static const size_t sizes[] = {
	[EDDY_TYPE_STR] = sizeof(struct eddy_str),
	[EDDY_TYPE_I8] = 1,
	[EDDY_TYPE_I16] = 2,
	[EDDY_TYPE_I32] = 4,
	[EDDY_TYPE_I64] = 8,
	[EDDY_TYPE_U8] = 1,
	[EDDY_TYPE_U16] = 2,
	[EDDY_TYPE_U32] = 4,
	[EDDY_TYPE_U64] = 8,
	[EDDY_TYPE_DOUBLE] = sizeof(double),
	[EDDY_TYPE_BOOL] = sizeof(bool),
	[EDDY_TYPE_TIME] = sizeof(struct eddy_time),
};

size_t eddyi_type_size(enum eddy_type type)
{
	return sizes[type];
}

static bool is_integer(enum eddy_type type)
{
	return type >= EDDY_TYPE_I8 && type <= EDDY_TYPE_U64;
}

/* Names are of an array's elements. */
static bool has_bounds(const struct eddy_member *member)
{
	return (member->range.min != 0 || member->range.max != 0) &&
	       (member->type == EDDY_TYPE_ARRAY ||
		(!member->names && member->type != EDDY_TYPE_BOOL &&
		 member->type != EDDY_TYPE_TIME));
}

const char *eddyi_member_name(const struct eddy_member *member)
{
	return member->as ? member->as : member->member;
}

int eddyi_member_check_shape(const struct eddy_member *member)
{
	bool has_objects = member->type == EDDY_TYPE_OBJECT ||
			   (member->type == EDDY_TYPE_ARRAY && member->element < 0);

	if (!has_objects || member->of)
		return 0;
	eddy_error("eddy::data", "the member \"%s\" is a struct, or an array of them: add .of",
		   member->member);
	return -EDOM;
}

/* ---- expected values ---- */

/* Get the bounds of an integer: those of the table within those of the type. */
static struct eddy_bounds integer_bounds(const struct eddy_member *member)
{
	bool is_signed = member->type <= EDDY_TYPE_I64;
	unsigned bits = 8 * (unsigned)sizes[member->type];
	struct eddy_bounds bounds = { 0, (long double)(UINT64_MAX >> (64 - bits + is_signed)) };

	if (is_signed)
		bounds.min = -bounds.max - 1;
	if (!has_bounds(member))
		return bounds;
	if (member->range.min > bounds.min)
		bounds.min = member->range.min;
	if (member->range.max < bounds.max)
		bounds.max = member->range.max;
	return bounds;
}

static void expect_names(const char *const *names, char *buf, size_t size)
{
	size_t len = (size_t)snprintf(buf, size, "one of ");

	for (size_t i = 0; names[i] && len < size; i++)
		len += (size_t)snprintf(buf + len, size - len, i ? ", %s" : "%s", names[i]);
}

static void expect_text(const struct eddy_member *member, char *buf, size_t size)
{
	const char *name = member->format ? eddyi_format_name(member->format) : "text";
	int len = member->pattern ?
			  snprintf(buf, size, "%s that matches %s", name, member->pattern->text) :
			  snprintf(buf, size, "%s", name);

	if (has_bounds(member) && len > 0 && (size_t)len < size)
		snprintf(buf + len, size - (size_t)len, " of %.0Lf to %.0Lf bytes",
			 member->range.min, member->range.max);
}

void eddyi_member_expect(const struct eddy_member *member, char *buf, size_t size)
{
	struct eddy_bounds range = member->range;

	if (member->type == EDDY_TYPE_ARRAY)
		snprintf(buf, size,
			 has_bounds(member) ? "an array of %.0Lf to %.0Lf values" : "an array",
			 range.min, range.max);
	else if (member->type == EDDY_TYPE_OBJECT)
		snprintf(buf, size, "an object");
	else if (member->names)
		expect_names(member->names, buf, size);
	else if (is_integer(member->type)) {
		range = integer_bounds(member);
		snprintf(buf, size, "an integer from %.0Lf to %.0Lf", range.min, range.max);
	} else if (member->type == EDDY_TYPE_BOOL)
		snprintf(buf, size, "true or false");
	else if (member->type == EDDY_TYPE_TIME)
		snprintf(buf, size, "a time such as 2026-01-31T12:00:00Z");
	else if (member->type == EDDY_TYPE_DOUBLE)
		snprintf(buf, size, has_bounds(member) ? "a number from %Lg to %Lg" : "a number",
			 range.min, range.max);
	else
		expect_text(member, buf, size);
}

static void explain(const struct eddy_member *member, int error, char *ret_why)
{
	char expected[EDDY_WHY_SIZE / 2];

	if (!ret_why)
		return;
	eddyi_member_expect(member, expected, sizeof(expected));
	snprintf(ret_why, EDDY_WHY_SIZE,
		 error == -ENOENT ? "\"%.64s\" is missing: it must be %s" : "\"%.64s\" must be %s",
		 eddyi_member_name(member), expected);
}

/* ---- values ---- */

int64_t eddyi_integer_at(enum eddy_type type, const void *at)
{
	switch (type) {
	case EDDY_TYPE_I8:
		return *(const int8_t *)at;
	case EDDY_TYPE_I16:
		return *(const int16_t *)at;
	case EDDY_TYPE_I32:
		return *(const int32_t *)at;
	case EDDY_TYPE_U8:
		return *(const uint8_t *)at;
	case EDDY_TYPE_U16:
		return *(const uint16_t *)at;
	case EDDY_TYPE_U32:
		return *(const uint32_t *)at;
	default:
		return *(const int64_t *)at;
	}
}

static long double measure(enum eddy_type type, const void *at)
{
	switch (type) {
	case EDDY_TYPE_STR:
		return (long double)((const struct eddy_str *)at)->len;
	case EDDY_TYPE_U64:
		return *(const uint64_t *)at;
	case EDDY_TYPE_DOUBLE:
		return *(const double *)at;
	default:
		return eddyi_integer_at(type, at);
	}
}

static bool is_within(const struct eddy_member *member, long double value)
{
	return !has_bounds(member) || (value >= member->range.min && value <= member->range.max);
}

int eddyi_member_check_count(const struct eddy_member *member, size_t count)
{
	return is_within(member, (long double)count) ? 0 : -ERANGE;
}

int eddyi_member_check(const struct eddy_member *member, const void *value)
{
	const struct eddy_str *text = value;
	int r = 1;

	if (has_bounds(member) && !is_within(member, measure(member->type, value)))
		return -ERANGE;
	if (member->type != EDDY_TYPE_STR)
		return 0;
	if (member->format && !eddyi_format_accepts(member->format, *text))
		return -ERANGE;
	if (member->pattern)
		r = eddyi_pattern_matches(member->pattern, *text);
	return r == 0 ? -ERANGE : r < 0 ? r : 0;
}

int eddyi_member_parse(const struct eddy_member *member, struct eddy_str text, struct eddy_to to)
{
	if (!member->names)
		return eddy_to_parse(to, text);
	for (size_t i = 0; member->names[i]; i++) {
		if (!eddy_str_eq_z(text, member->names[i]))
			continue;
		if (to.type == EDDY_TYPE_STR)
			return eddy_to_parse(to, text);
		return eddyi_to_i64(to, (int64_t)i);
	}
	return -EINVAL;
}

static int read_default(const struct eddy_member *member, struct eddy_to to)
{
	int r = eddyi_member_parse(member, eddy_str_from(member->otherwise), to);

	if (r == 0 && eddyi_member_check(member, to.ptr) == 0)
		return 0;
	eddy_error("eddy::data", "the default \"%s\" of the member \"%s\" is not a valid value",
		   member->otherwise, member->member);
	return -EDOM;
}

int eddyi_member_default(const struct eddy_member *member, void *ret_value)
{
	if (member->otherwise)
		return read_default(member, (struct eddy_to){ member->type, ret_value });
	if (!member->optional && !member->present)
		return -ENOENT;
	memset(ret_value, 0, sizes[member->type]);
	return 0;
}

/* Read a value without checking it.
 * Return: 0; -ENOENT if a required value is missing; -EINVAL, -ERANGE, -EDOM. */
static int read_member(const struct eddyi_source *source, const struct eddy_member *member,
		       void *at, bool *ret_present)
{
	struct eddy_to to = { member->type, at };
	int r;

	if (member->type > EDDY_TYPE_TIME) {
		eddy_error("eddy::data", "the member \"%s\" can be read from a JSON text only",
			   member->member);
		return -EDOM;
	}
	r = source->read(source->from, eddyi_member_name(member), member, to);
	*ret_present = r == 0;
	return r == -ENOENT ? eddyi_member_default(member, at) : r;
}

int eddyi_members_read(const struct eddyi_source *source, const struct eddy_member *members,
		       size_t count, void *ret_target, char *ret_why)
{
	char *target = ret_target;
	union any kept[KEPT_MAX], more;
	bool present[KEPT_MAX], is_more;
	int r;

	/* Check all members first, so that the target is unchanged on failure. */
	for (size_t i = 0; i < count; i++) {
		union any *any = i < KEPT_MAX ? &kept[i] : &more;
		bool *is_present = i < KEPT_MAX ? &present[i] : &is_more;

		r = read_member(source, &members[i], any, is_present);
		if (r == 0 && *is_present)
			r = eddyi_member_check(&members[i], any);
		if (r == -EDOM || r == -ENOMEM)
			return r;
		if (r < 0) {
			explain(&members[i], r, ret_why);
			return -EINVAL;
		}
	}
	for (size_t i = 0; i < count; i++) {
		void *at = target + members[i].offset;

		if (i < KEPT_MAX)
			memcpy(at, &kept[i], sizes[members[i].type]);
		else
			read_member(source, &members[i], at, &is_more);
		if (members[i].present)
			*(bool *)(target + members[i].present - 1) = i < KEPT_MAX ? present[i] :
										    is_more;
	}
	return 0;
}

/* ---- pairs ---- */

struct eddy_str eddy_pairs_get(const struct eddy_pairs *pairs, const char *name)
{
	struct eddy_str want = eddy_str_from(name);

	for (size_t i = 0; i < pairs->count; i++)
		if (eddy_str_eq(pairs->list[i].name, want))
			return pairs->list[i].value;
	return eddy_str(NULL, 0);
}

static int read_pair(const void *from, const char *name, const struct eddy_member *member,
		     struct eddy_to to)
{
	struct eddy_str text = eddy_pairs_get(from, name);

	return text.ptr ? eddyi_member_parse(member, text, to) : -ENOENT;
}

int eddyi_pairs_read(const struct eddy_pairs *pairs, const struct eddy_member *members,
		     size_t count, void *ret_target, char *ret_why)
{
	return eddyi_members_read(&(struct eddyi_source){ read_pair, pairs }, members, count,
				  ret_target, ret_why);
}
