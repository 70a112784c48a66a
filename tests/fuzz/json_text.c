/* Fuzzes eddy/json_text.h beside jansson, as an object and as an array: both have the same verdict, but for duplicates of
 * members that the table does not name and numbers beyond 64 bits or a double, which jansson rejects. Values are the same,
 * and both read the written text as the same. */
#include "text/arena.h"
#include "text/json.h"

#include <eddy/json_text.h>
#include <errno.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = { "one", "two", NULL };

struct part {
	struct eddy_str s;
	int64_t n;
	enum { ONE, TWO } e;
};

static const struct eddy_member part_members[] = {
	EDDY_MEMBER(struct part, s, .optional = true, .range = { 1, 8 }, .strict = true),
	EDDY_MEMBER(struct part, n, .optional = true, .range = { -9, 999 }),
	EDDY_MEMBER(struct part, e, .optional = true, .names = names),
};

struct whole {
	struct eddy_str s;
	int64_t n;
	double d;
	bool b, has_d, has_p;
	struct eddy_time t;
	struct part p;
	struct part *l;
	size_t l_count;
	struct eddy_str *m;
	size_t m_count;
};

static const struct eddy_member whole_members[] = {
	EDDY_MEMBER(struct whole, s, .optional = true),
	EDDY_MEMBER(struct whole, n, .optional = true),
	EDDY_MEMBER(struct whole, d, .present = EDDY_PRESENT(struct whole, has_d), .null = true),
	EDDY_MEMBER(struct whole, b, .optional = true),
	EDDY_MEMBER(struct whole, t, .optional = true),
	EDDY_OBJECT(struct whole, p, .of = EDDY_SHAPE(struct part, part_members),
		    .present = EDDY_PRESENT(struct whole, has_p)),
	EDDY_ARRAY(struct whole, l, l_count, .optional = true,
		   .of = EDDY_SHAPE(struct part, part_members)),
	EDDY_ARRAY(struct whole, m, m_count, .optional = true, .format = EDDY_FORMAT_ANY),
};

static void *alloc(void *arg, size_t size)
{
	return eddyi_arena_alloc(arg, size);
}

static void must(bool holds)
{
	if (!holds)
		abort();
}

/* ---- jansson ---- */

static bool only_jansson_rejects(const char *why)
{
	return strstr(why, "repeated") || strstr(why, "too big") || strstr(why, "overflow");
}

static struct eddy_str str_of(const json_t *json)
{
	return eddy_str(json_string_value(json), json_string_length(json));
}

static bool is_missing(const json_t *json)
{
	return !json || json_is_null(json);
}

static bool is_name(const json_t *json)
{
	return json_is_string(json) &&
	       (eddy_str_eq_z(str_of(json), names[ONE]) || eddy_str_eq_z(str_of(json), names[TWO]));
}

static bool is_time(const json_t *json)
{
	struct eddy_time time;

	return json_is_string(json) && eddy_to_parse(EDDY_TO(&time), str_of(json)) == 0;
}

static bool part_fits(const json_t *json)
{
	const json_t *s = json_object_get(json, "s"), *n = json_object_get(json, "n"),
		     *e = json_object_get(json, "e");

	return json_is_object(json) && json_object_size(json) == (size_t) !!s + !!n + !!e &&
	       (is_missing(s) ||
		(json_is_string(s) && json_string_length(s) >= 1 && json_string_length(s) <= 8)) &&
	       (is_missing(n) || (json_is_integer(n) && json_integer_value(n) >= -9 &&
				  json_integer_value(n) <= 999)) &&
	       (is_missing(e) || is_name(e));
}

static bool parts_fit(const json_t *json)
{
	for (size_t i = 0; i < json_array_size(json); i++)
		if (!part_fits(json_array_get(json, i)))
			return false;
	return json_is_array(json);
}

static bool texts_fit(const json_t *json)
{
	for (size_t i = 0; i < json_array_size(json); i++)
		if (!json_is_string(json_array_get(json, i)))
			return false;
	return json_is_array(json);
}

static bool whole_fits(const json_t *json)
{
	const json_t *s = json_object_get(json, "s"), *n = json_object_get(json, "n"),
		     *d = json_object_get(json, "d"), *b = json_object_get(json, "b"),
		     *t = json_object_get(json, "t"), *p = json_object_get(json, "p"),
		     *l = json_object_get(json, "l"), *m = json_object_get(json, "m");

	return json_is_object(json) && (is_missing(s) || json_is_string(s)) &&
	       (is_missing(n) || json_is_integer(n)) && (is_missing(d) || json_is_number(d)) &&
	       (is_missing(b) || json_is_boolean(b)) && (is_missing(t) || is_time(t)) &&
	       (is_missing(p) || part_fits(p)) && (is_missing(l) || parts_fit(l)) &&
	       (is_missing(m) || texts_fit(m));
}

/* ---- values ---- */

static void same_str(struct eddy_str str, const json_t *json)
{
	if (json_is_string(json))
		must(eddy_str_eq(str, str_of(json)));
	else
		must(str.len == 0);
}

static void same_part(const struct part *part, const json_t *json)
{
	const json_t *e = json_object_get(json, "e");

	same_str(part->s, json_object_get(json, "s"));
	must(part->n == json_integer_value(json_object_get(json, "n")));
	must(json_is_string(e) ? eddy_str_eq_z(str_of(e), names[part->e]) : part->e == ONE);
}

static void same_parts(const struct part *parts, size_t count, const json_t *json)
{
	must(count == json_array_size(json));
	for (size_t i = 0; i < count; i++)
		same_part(&parts[i], json_array_get(json, i));
}

/* A table's members have the types that jansson finds, since the text has no faults. */
static void same(const struct whole *whole, const json_t *json)
{
	const json_t *texts = json_object_get(json, "m");

	same_str(whole->s, json_object_get(json, "s"));
	must(whole->n == json_integer_value(json_object_get(json, "n")));
	must(whole->has_d == json_is_number(json_object_get(json, "d")));
	must(whole->d == json_number_value(json_object_get(json, "d")));
	must(whole->b == json_is_true(json_object_get(json, "b")));
	must(whole->has_p == json_is_object(json_object_get(json, "p")));
	same_part(&whole->p, json_object_get(json, "p"));
	same_parts(whole->l, whole->l_count, json_object_get(json, "l"));
	must(whole->m_count == json_array_size(texts));
	for (size_t i = 0; i < whole->m_count; i++)
		same_str(whole->m[i], json_array_get(texts, i));
}

static json_t *parse_written(struct eddy_str text)
{
	char why[EDDYI_JSON_WHY_SIZE];
	json_t *json = NULL;

	must(eddyi_json_parse(text, 128, SIZE_MAX, &json, why) == 0);
	return json;
}

static void read_again(struct eddy_json_reader *reader, const struct whole *whole)
{
	struct eddy_json_writer first = { 0 }, second = { 0 };
	struct whole again = { 0 };
	json_t *json;

	must(eddy_json_write(&first, whole_members, whole) == 0);
	json = parse_written(first.text);
	same(whole, json);
	must(eddy_json_read(reader, first.text, whole_members, &again) == 0);
	must(eddy_json_write(&second, whole_members, &again) == 0);
	must(eddy_str_eq(first.text, second.text));
	json_decref(json);
	free((void *)first.text.ptr);
	free((void *)second.text.ptr);
}

static void read_parts_again(struct eddy_json_reader *reader, const struct part *parts,
			     size_t count)
{
	struct eddy_json_writer first = { 0 }, second = { 0 };
	size_t again_count;
	struct part *again;
	json_t *json;

	must(eddy_json_write_array(&first, part_members, parts, count) == 0);
	json = parse_written(first.text);
	same_parts(parts, count, json);
	must(eddy_json_read_array(reader, first.text, part_members, &again, &again_count) == 0);
	must(eddy_json_write_array(&second, part_members, again, again_count) == 0);
	must(eddy_str_eq(first.text, second.text));
	json_decref(json);
	free((void *)first.text.ptr);
	free((void *)second.text.ptr);
}

/* ---- the input ---- */

/* `json` is NULL where jansson has rejected the text, which `why` explains. */
static void same_verdict(int r, const json_t *json, bool fits, const char *why)
{
	if (json)
		must(r == (fits ? 0 : -EINVAL));
	else
		must(r == -EBADMSG || ((r == 0 || r == -EINVAL) && only_jansson_rejects(why)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct eddyi_arena arena = { 0 };
	struct eddy_json_reader reader = {
		.alloc = alloc,
		.arg = &arena,
		.values_max = SIZE_MAX,
	};
	struct eddy_str text = eddy_str(size ? (const char *)data : "", size);
	char why[EDDYI_JSON_WHY_SIZE];
	struct whole whole = { 0 };
	struct part *parts;
	json_t *json = NULL;
	size_t count;
	int r;

	eddyi_json_parse(text, 128, SIZE_MAX, &json, why);
	r = eddy_json_read(&reader, text, whole_members, &whole);
	same_verdict(r, json, whole_fits(json), why);
	if (r == 0 && json)
		same(&whole, json);
	if (r == 0)
		read_again(&reader, &whole);
	r = eddy_json_read_array(&reader, text, part_members, &parts, &count);
	same_verdict(r, json, parts_fit(json), why);
	if (r == 0 && json)
		same_parts(parts, count, json);
	if (r == 0)
		read_parts_again(&reader, parts, count);
	json_decref(json);
	eddyi_arena_deinit(&arena);
	return 0;
}
