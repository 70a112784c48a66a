/* Fuzzes eddy/json_text.h beside jansson: both have the same verdict, but for duplicates of members that the table does not
 * name and numbers beyond 64 bits or a double, which jansson rejects. Values are the same, and what is written is read as
 * the same. */
#include "text/arena.h"
#include "text/json.h"

#include <eddy/json_text.h>
#include <errno.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct part {
	struct eddy_str s;
	int64_t n;
};

static const struct eddy_member part_members[] = {
	EDDY_MEMBER(struct part, s, .optional = true),
	EDDY_MEMBER(struct part, n, .optional = true),
};

struct whole {
	struct eddy_str s;
	int64_t n;
	double d;
	bool b, has_p;
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
	EDDY_MEMBER(struct whole, d, .optional = true),
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

static void same_str(struct eddy_str str, const json_t *json)
{
	if (json_is_string(json))
		must(eddy_str_eq(str, eddy_str(json_string_value(json), json_string_length(json))));
	else
		must(str.len == 0);
}

static void same_part(const struct part *part, const json_t *json)
{
	same_str(part->s, json_object_get(json, "s"));
	must(part->n == json_integer_value(json_object_get(json, "n")));
}

/* A table's members have the types that jansson finds, since the text has no faults. */
static void same(const struct whole *whole, const json_t *json)
{
	const json_t *list = json_object_get(json, "l"), *texts = json_object_get(json, "m");

	same_str(whole->s, json_object_get(json, "s"));
	must(whole->n == json_integer_value(json_object_get(json, "n")));
	must(whole->d == json_number_value(json_object_get(json, "d")));
	must(whole->b == json_is_true(json_object_get(json, "b")));
	must(whole->has_p == json_is_object(json_object_get(json, "p")));
	same_part(&whole->p, json_object_get(json, "p"));
	must(whole->l_count == json_array_size(list));
	for (size_t i = 0; i < whole->l_count; i++)
		same_part(&whole->l[i], json_array_get(list, i));
	must(whole->m_count == json_array_size(texts));
	for (size_t i = 0; i < whole->m_count; i++)
		same_str(whole->m[i], json_array_get(texts, i));
}

static void read_again(struct eddy_json_reader *reader, const struct whole *whole)
{
	struct eddy_json_writer first = { 0 }, second = { 0 };
	struct whole again = { 0 };

	must(eddy_json_write(&first, whole_members, whole) == 0);
	must(eddy_json_read(reader, first.text, whole_members, &again) == 0);
	must(eddy_json_write(&second, whole_members, &again) == 0);
	must(eddy_str_eq(first.text, second.text));
	free((void *)first.text.ptr);
	free((void *)second.text.ptr);
}

static bool only_jansson_rejects(const char *why)
{
	return strstr(why, "repeated") || strstr(why, "too big") || strstr(why, "overflow");
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
	struct whole whole = { 0 };
	char why[EDDYI_JSON_WHY_SIZE];
	json_t *json = NULL;
	int r = eddy_json_read(&reader, text, whole_members, &whole);
	int theirs = eddyi_json_parse(text, 128, SIZE_MAX, &json, why);

	must(r == 0 || r == -EINVAL || r == -EBADMSG);
	must(theirs == 0 || r == -EBADMSG || only_jansson_rejects(why));
	must(theirs != 0 || r != -EBADMSG);
	if (r == 0 && theirs == 0)
		same(&whole, json);
	if (r == 0)
		read_again(&reader, &whole);
	json_decref(json);
	eddyi_arena_deinit(&arena);
	return 0;
}
