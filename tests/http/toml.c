/* Tests of http/src/config/toml.h. */
#include "config/toml.h"

#include "text/arena.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdlib.h>

static int parse(struct eddyi_arena *arena, const char *text, struct eddyi_toml **ret_root)
{
	struct eddyi_toml_error error;

	return eddyi_toml_parse(eddy_str_from(text), arena, ret_root, &error);
}

/* Return: the whole as JSON, which the caller frees. */
static char *json_of(const char *text)
{
	struct eddyi_arena arena = { 0 };
	struct eddyi_toml *root;
	json_t *json = NULL;
	char *dumped;

	cr_assert(eq(int, parse(&arena, text, &root), 0));
	cr_assert(eq(int, eddyi_toml_to_json(root, &json), 0));
	dumped = json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(json);
	eddyi_arena_deinit(&arena);
	return dumped;
}

Test(toml, becomes_json)
{
	static const char *const pairs[][2] = {
		{ "", "{}" },
		{ "a = 1\nb = -9223372036854775808", "{\"a\":1,\"b\":-9223372036854775808}" },
		{ "a = 0.5\nb = true\nc = false", "{\"a\":0.5,\"b\":true,\"c\":false}" },
		{ "a = \"x\\u00e9\\n\"", "{\"a\":\"xé\\n\"}" },
		{ "a = [1, 'b', [], {}]", "{\"a\":[1,\"b\",[],{}]}" },
		{ "[a.b]\nc = {d.e = 1}\n[[a.f]]\n[[a.f]]\ng = 1",
		  "{\"a\":{\"b\":{\"c\":{\"d\":{\"e\":1}}},\"f\":[{},{\"g\":1}]}}" },
		{ "a = 1979-05-27", "{\"a\":\"1979-05-27\"}" },
		{ "a = 07:32:00", "{\"a\":\"07:32:00\"}" },
		{ "a = 07:32:00.5", "{\"a\":\"07:32:00.500000000\"}" },
		{ "a = 1979-05-27 07:32:00", "{\"a\":\"1979-05-27T07:32:00\"}" },
		{ "a = 1979-05-27T07:32:00Z", "{\"a\":\"1979-05-27T07:32:00Z\"}" },
		{ "a = 1979-05-27T07:32:00-07:30", "{\"a\":\"1979-05-27T07:32:00-07:30\"}" },
		{ "a = 1979-05-27T07:32:00+00:45", "{\"a\":\"1979-05-27T07:32:00+00:45\"}" },
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		char *json = json_of(pairs[i][0]);

		cr_expect(eq(str, json, (char *)pairs[i][1]));
		free(json);
	}
}

Test(toml, has_values_that_json_has_not)
{
	static const char *const texts[] = { "a = inf", "a = [nan]", "\"a\\u0000\" = 1" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct eddyi_arena arena = { 0 };
		struct eddyi_toml *root;
		json_t *json;

		cr_assert(eq(int, parse(&arena, texts[i], &root), 0));
		cr_expect(eq(int, eddyi_toml_to_json(root, &json), -EINVAL));
		eddyi_arena_deinit(&arena);
	}
}

Test(toml, knows_its_lines)
{
	struct eddyi_arena arena = { 0 };
	struct eddyi_toml *root, *at;

	cr_assert(eq(int, parse(&arena, "\n[b]\nc = [\n1,\n2]\n[a]\n", &root), 0));
	at = root->first;
	cr_expect(eq(uint, at->line, 6));
	at = at->next;
	cr_expect(eq(uint, at->line, 2));
	at = at->first;
	cr_expect(eq(uint, at->line, 3));
	cr_expect(eq(uint, at->first->line, 4));
	cr_expect(eq(uint, at->first->next->line, 5));
	eddyi_arena_deinit(&arena);
}

static const struct {
	const char *before, *repeated, *behind;
	unsigned most; /* times that are not too deep */
} depths[] = {
	{ "a = ", "[", "", 16 },
	{ "a = ", "{a=", "", 16 },
	{ "a", ".a", "= 1", 15 },
	{ "[a", ".a", "]", 15 },
	{ "[[a", " . a", "]]", 15 },
	{ "a.'", "b", "'.c = 1", 100 },
	{ "a = {x = 1, a", ".a", "= 1}", 15 },
	{ "a = [", "1.5,", "]", 100 },
	{ "a = [", "[1],", "]", 100 },
	{ "a = '", ".[{", "'", 100 },
	{ "a = \"\\\"", ".[{", "\"", 100 },
	{ "a = '''\n'''", "'", "\nb = 1", 2 }, /* three quotes begin another string */
	{ "a = \"\"\"\n\"", ".\n[\\\"", "\"\"\"", 100 },
	{ "# ", "[.", "\n", 100 },
	{ "", "[a]\n", "", 1 },
	/* Strings end where the parser says they do, and what stands behind them counts. */
	{ "a = {b = \"\"\"x\"\"\"\"\", c", ".c", "= 1}", 15 },
	{ "a = {b = '''x'''', c", ".c", "= 1}", 15 },
	{ "a = {b = \"\", c", ".c", "= 1}", 15 },
	{ "a = {b = \"\\\\\", c", ".c", "= 1}", 15 },
	{ "a = {b = '\\', c", ".c", "= 1}", 15 },
};

/* toml++ asserts that no name begins so, and ended the process. */
Test(toml, says_where_its_parser_gets_lost)
{
	static const struct {
		const char *text;
		unsigned line, column;
	} lost[] = {
		{ "[.a]", 1, 2 },
		{ "[.a]\nb = 1\nc = \"", 1, 2 },
		{ "a = 1\n[ .a]\nb = 2", 2, 3 },
		{ "# é\n\n[[.a]]\n", 3, 3 },
		{ "a = 1\r\n[=]", 2, 2 },
		{ "[#]", 1, 2 },
	};

	for (size_t i = 0; i < sizeof(lost) / sizeof(lost[0]); i++) {
		struct eddyi_arena arena = { 0 };
		struct eddyi_toml_error error;
		struct eddyi_toml *root;

		cr_expect(eq(int,
			     eddyi_toml_parse(eddy_str_from(lost[i].text), &arena, &root, &error),
			     -EBADMSG));
		cr_expect(eq(uint, error.line, lost[i].line), "%s", lost[i].text);
		cr_expect(eq(uint, error.column, lost[i].column), "%s", lost[i].text);
		cr_expect(ne(str, error.text, ""));
		eddyi_arena_deinit(&arena);
	}
}

/* A blank is looked for there, and of some letters toml++ says that they can't be. */
Test(toml, is_ascii_but_for_strings_and_comments)
{
	static const struct {
		const char *text;
		unsigned line;
	} texts[] = {
		{ "a = \"é\" # é\nb = 'é\\é' # \\é\n# é", 0 },
		{ "\xef\xbb\xbf\"é\" = \"\"\"é\n\"é\"\\n\"\"\"\nb = '''\n\\é\n'''", 0 },
		{ "é = 1", 1 },
		{ "\n\na = é", 3 },
		{ "a = 1é\n", 1 },
		{ "# é\na = \"x\\é\"", 2 },
		{ "a = \"\"\"\n\n\\\\\\é\"\"\"", 3 },
		{ "\xef\xbb\x91~auth =kh =1o7[aA\r\n", 1 },
		{ "a = 1\nb = [5, {c = 07:32\x1e\"é\" = 1", 2 },
		{ "a = 1\nb = 1979-05-27 \"é\"", 2 },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct eddyi_arena arena = { 0 };
		struct eddyi_toml_error error;
		struct eddyi_toml *root;
		int r = eddyi_toml_parse(eddy_str_from(texts[i].text), &arena, &root, &error);

		cr_expect(eq(int, r, texts[i].line ? -EBADMSG : 0), "%s", texts[i].text);
		cr_expect(eq(uint, error.line, texts[i].line), "%s", texts[i].text);
		eddyi_arena_deinit(&arena);
	}
}

Test(toml, is_of_bounded_depth)
{
	for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
		for (unsigned more = 0; more < 2; more++) {
			char text[2048];

			strcpy(text, depths[i].before);
			for (unsigned n = 0; n < depths[i].most + more; n++)
				strcat(text, depths[i].repeated);
			strcat(text, depths[i].behind);
			if (!more || (depths[i].most != 100 && depths[i].most > 2))
				cr_expect(eq(uint, eddyi_toml_deep_line(eddy_str_from(text)), more),
					  "%s", text);
		}
	}
	cr_expect(eq(uint,
		     eddyi_toml_deep_line(eddy_str_from("\n\na.\n\n''''\n'\n''''\n"
							"[[[[[[[[[[[[[[[[[")),
		     8));
}

/* Half a million tables in one another end a program that frees them. */
Test(toml, is_refused_before_it_is_parsed_when_it_is_deep)
{
	size_t size = EDDY_MIB;
	char *text = malloc(size + 1);
	struct eddyi_arena arena = { 0 };
	struct eddyi_toml_error error;
	struct eddyi_toml *root;

	for (size_t i = 0; i < size; i++)
		text[i] = i % 2 ? '.' : 'a';
	memcpy(text + size - 4, "a=1", 4);
	cr_expect(eq(int, eddyi_toml_parse(eddy_str_from(text), &arena, &root, &error), -EBADMSG));
	cr_expect(eq(uint, error.line, 1));
	eddyi_arena_deinit(&arena);
	free(text);
}
