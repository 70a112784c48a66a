#include <eddy/json_text.h>

#include <eddy/internal/json.h>
#include <eddy/internal/member.h>
#include <eddy/log.h>
#include <errno.h>
#include <stdlib.h>

#define DEPTH_MAX 32
#define SIZE_FIRST 256

struct out {
	struct eddyi_text text;
	struct eddy_json_writer *to;
	unsigned depth;
};

/* ---- room ---- */

static int grow(struct out *out, size_t need)
{
	struct eddy_json_writer *to = out->to;
	size_t size = to->size ? to->size : SIZE_FIRST, len;
	char *bytes;

	len = to->text.ptr ? (size_t)(out->text.at - to->text.ptr) : 0;
	to->text.len = len;
	while (size - len < need)
		if (__builtin_mul_overflow(size, 2, &size))
			return -ENOMEM;
	bytes = to->grow ? to->grow(to->arg, to->text, size) : realloc((void *)to->text.ptr, size);
	if (!bytes)
		return -ENOMEM;
	to->text.ptr = bytes;
	to->size = size;
	out->text.at = bytes + len;
	out->text.end = bytes + size;
	return 0;
}

static inline int reserve(struct out *out, size_t need)
{
	return (size_t)(out->text.end - out->text.at) >= need ? 0 : grow(out, need);
}

/* ---- values ---- */

/* A string without escapes fits at once. A cut one is written again, with more room. */
static int put_str(struct out *out, struct eddy_str str)
{
	/* With quotes, a comma, and the "…" of a cut string. */
	for (size_t need = 8 + str.len;; need *= 2) {
		int r = reserve(out, need);
		char *before = out->text.at;

		if (r < 0)
			return r;
		eddyi_json_str(&out->text, str);
		if (!out->text.full)
			return 0;
		out->text.at = before;
		out->text.full = false;
	}
}

static int put_name(struct out *out, const struct eddy_member *member, int64_t index)
{
	for (int64_t i = 0; member->names[i]; i++)
		if (i == index)
			return put_str(out, eddy_str_from(member->names[i]));
	eddy_error("eddy::data", "the member \"%s\" has no name for its value %lld", member->member,
		   (long long)index);
	return -EDOM;
}

/* Write a value that is neither an object nor an array. */
static int put_scalar(struct out *out, const struct eddy_member *member, enum eddy_type type,
		      const void *at)
{
	char text[EDDY_TIME_SIZE];
	int r;

	if (type == EDDY_TYPE_STR)
		return put_str(out, *(const struct eddy_str *)at);
	if (type >= EDDY_TYPE_I8 && type <= EDDY_TYPE_U64 && member->names)
		return put_name(out, member, eddyi_integer_at(type, at));
	r = reserve(out, EDDYI_F64_SIZE + 1);
	if (r < 0)
		return r;
	if (type == EDDY_TYPE_DOUBLE)
		eddyi_json_f64(&out->text, *(const double *)at);
	else if (type == EDDY_TYPE_BOOL)
		eddyi_json_bool(&out->text, *(const bool *)at);
	else if (type == EDDY_TYPE_TIME)
		eddyi_json_str(&out->text,
			       eddy_str(text,
					eddy_time_format(*(const struct eddy_time *)at, text)));
	else if (type == EDDY_TYPE_U64)
		eddyi_json_u64(&out->text, *(const uint64_t *)at);
	else
		eddyi_json_i64(&out->text, eddyi_integer_at(type, at));
	return 0;
}

static bool is_absent(const struct eddy_member *member, const char *base)
{
	if (member->present)
		return !*(const bool *)(base + member->present - 1);
	return member->optional && member->type == EDDY_TYPE_STR &&
	       !((const struct eddy_str *)(base + member->offset))->ptr;
}

static int put_object(struct out *out, const struct eddy_shape *shape, const char *base);

static int put_array(struct out *out, const struct eddy_member *member,
		     const struct eddy_shape *shape, const char *first, size_t count)
{
	size_t size = shape ? shape->size : eddyi_type_size((enum eddy_type)member->element);
	int r = reserve(out, 3);

	if (r == 0)
		eddyi_json_begin(&out->text, "[");
	for (size_t i = 0; r == 0 && i < count; i++)
		r = shape ? put_object(out, shape, first + i * size) :
			    put_scalar(out, member, (enum eddy_type)member->element,
				       first + i * size);
	if (r == 0)
		r = reserve(out, 2);
	if (r == 0)
		eddyi_json_end(&out->text, ']');
	return r;
}

static int put_member(struct out *out, const struct eddy_member *member, const char *base)
{
	const char *at = base + member->offset;
	bool absent = is_absent(member, base);
	int r;

	if (absent && !member->null)
		return 0;
	r = eddyi_member_check_shape(member);
	if (r < 0)
		return r;
	r = put_str(out, eddy_str_from(eddyi_member_name(member)));
	if (r < 0)
		return r;
	out->text.at[-1] = ':';
	if (absent) {
		r = reserve(out, 5);
		if (r == 0)
			eddyi_text(&out->text, "null,");
		return r;
	}
	if (member->type == EDDY_TYPE_OBJECT)
		return put_object(out, member->of, at);
	if (member->type == EDDY_TYPE_ARRAY)
		return put_array(out, member, member->of, *(const char *const *)at,
				 *(const size_t *)(base + member->count));
	return put_scalar(out, member, member->type, at);
}

static int put_object(struct out *out, const struct eddy_shape *shape, const char *base)
{
	int r = reserve(out, 3);

	if (++out->depth > DEPTH_MAX) {
		eddy_error("eddy::data", "a struct is nested more than %d deep", DEPTH_MAX);
		return -EDOM;
	}
	if (r == 0)
		eddyi_json_begin(&out->text, "{");
	for (size_t i = 0; r == 0 && i < shape->count; i++)
		r = put_member(out, &shape->members[i], base);
	if (r == 0)
		r = reserve(out, 2);
	if (r == 0)
		eddyi_json_end(&out->text, '}');
	out->depth--;
	return r;
}

int eddyi_json_text_write(struct eddy_json_writer *writer, const struct eddy_shape *shape,
			  const void *source, size_t count)
{
	struct out out = { .to = writer };
	size_t before = writer->text.len;
	int r;

	if (writer->text.ptr) {
		out.text.at = (char *)writer->text.ptr + writer->text.len;
		out.text.end = (char *)writer->text.ptr + writer->size;
	}
	r = count == EDDYI_JSON_OBJECT ? put_object(&out, shape, source) :
					 put_array(&out, NULL, shape, source, count);

	/* Without the comma behind it. */
	writer->text.len = r == 0 ? (size_t)(out.text.at - writer->text.ptr) - 1 : before;
	return r;
}
