/* Tests of http/src/text/path.h. */
#include "text/path.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static struct eddyi_arena arena;

static void teardown(void)
{
	eddyi_arena_deinit(&arena);
	eddyi_arena_trim();
}

TestSuite(path, .fini = teardown);

/* The segments as "[a][b]", or the name of the error. The path is given without a NUL behind it. */
static const char *split(const char *text)
{
	static char out[8192];
	size_t len = strlen(text);
	char *exact = malloc(len ? len : 1);
	struct eddyi_path path;
	char *at = out;
	int err;

	memcpy(exact, text, len);
	err = eddyi_path_split(&arena, eddy_str(exact, len), &path);
	if (err < 0) {
		free(exact);
		return err == -EINVAL ? "EINVAL" : "?";
	}
	*at = 0;
	for (size_t i = 0; i < path.count; i++) {
		at += sprintf(at, "[%.*s]", EDDY_FMT(path.segments[i]));
		/* One run of bytes. */
		if (i) {
			cr_expect(path.segments[i - 1].ptr + path.segments[i - 1].len + 1 ==
					  path.segments[i].ptr,
				  "%s", text);
			cr_expect(eq(chr, path.segments[i].ptr[-1], '/'), "%s", text);
		}
	}
	free(exact);
	return out;
}

Test(path, splits)
{
	static const struct {
		const char *path, *want;
	} cases[] = {
		{ "", "" },
		{ "/", "" },
		{ "//", "[]" },
		{ "///", "[][]" },
		{ "/a", "[a]" },
		{ "/a/", "[a]" },
		{ "/a//", "[a][]" },
		{ "/a//b", "[a][][b]" },
		{ "//a", "[][a]" },
		{ "/a/b/c", "[a][b][c]" },
		{ "/%68ello", "[hello]" },
		{ "/a%2Fb/c", "[a/b][c]" },
		{ "/a%2f", "[a/]" },
		{ "/%2525", "[%25]" },
		{ "/a+b", "[a+b]" },
		{ "/%20/x", "[ ][x]" },
		{ "/.", "[.]" },
		{ "/../a/./b", "[..][a][.][b]" },
		{ "/%2e%2E/a", "[..][a]" },
		{ "/a;v=1", "[a;v=1]" },
		{ "/a\\b", "[a\\b]" },
		{ "/%5c", "[\\]" },
		{ "/%ff", "[\xff]" },
		{ "/%0d%0a", "EINVAL" },
		{ "/a%0D%0Ab/c", "EINVAL" },
		{ "/a%0A", "[a\n]" },
		{ "/x%0dy/%0a%0d", "[x\ry][\n\r]" },
		{ "/x%0d/%0ay", "[x\r][\ny]" },
		{ "/%01%09%1f%7f", "[\x01\t\x1f\x7f]" },
		{ "a", "EINVAL" },
		{ "*", "EINVAL" },
		{ "/%", "EINVAL" },
		{ "/%4", "EINVAL" },
		{ "/%4/1", "EINVAL" },
		{ "/%zz", "EINVAL" },
		{ "/%4g", "EINVAL" },
		{ "/% 41", "EINVAL" },
		{ "/%+1", "EINVAL" },
		{ "/%u0041", "EINVAL" },
		{ "/%00", "EINVAL" },
		{ "/a%00b", "EINVAL" },
		{ "/a/b%00", "EINVAL" },
		{ "/ok/%", "EINVAL" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cr_expect_str_eq(split(cases[i].path), cases[i].want, "%s", cases[i].path);
}

/* What is left of the path, "above" in front if it led above the root. */
static const char *remove_dots(const char *text)
{
	static char out[256];
	size_t len = strlen(text);
	char *exact = malloc(len ? len : 1);
	struct eddy_str path;
	bool stays;

	memcpy(exact, text, len);
	path = eddy_str(exact, len);
	stays = eddyi_path_remove_dots(&path);
	snprintf(out, sizeof(out), "%s%.*s", stays ? "" : "above ", EDDY_FMT(path));
	free(exact);
	return out;
}

/* The examples of RFC 3986, section 5.2.4, are the first two. */
Test(path, removes_dot_segments)
{
	static const struct {
		const char *path, *want;
	} cases[] = {
		{ "/a/b/c/./../../g", "/a/g" },
		{ "/mid/content=5/../6", "/mid/6" },
		{ "", "" },
		{ "*", "*" },
		{ "/", "/" },
		{ "/.", "/" },
		{ "/./", "/" },
		{ "/./a", "/a" },
		{ "/a/.", "/a/" },
		{ "/a/./", "/a/" },
		{ "/a/..", "/" },
		{ "/a/../", "/" },
		{ "/a/b/..", "/a/" },
		{ "/a/../b/./c/../d", "/b/d" },
		{ "/a//..", "/a/" },
		{ "/a//../..", "/" },
		{ "//..", "/" },
		{ "//../a", "/a" },
		{ "/a/%2e/b", "/a/b" },
		{ "/a/%2e%2E/b", "/b" },
		{ "/a/.%2e/b/%2E./c", "/c" },
		{ "/..", "above /" },
		{ "/../a", "above /a" },
		{ "/%2e%2e", "above /" },
		{ "/a/../../b", "above /b" },
		{ "/a/../../b/c", "above /b/c" },
		{ "/./..", "above /" },
		/* No dot segments. */
		{ "/...", "/..." },
		{ "/a/.b", "/a/.b" },
		{ "/a/..b/b..", "/a/..b/b.." },
		{ "/a/..;/b", "/a/..;/b" },
		{ "/a/%2e%2e%2fb", "/a/%2e%2e%2fb" },
		{ "/a/%252e%252e/b", "/a/%252e%252e/b" },
		{ "/a/%2e%2", "/a/%2e%2" },
		{ "/a/%", "/a/%" },
		{ "/%2e%2e%2e", "/%2e%2e%2e" },
		{ "/%41/b", "/%41/b" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cr_expect_str_eq(remove_dots(cases[i].path), cases[i].want, "%s", cases[i].path);
}

Test(path, nul_byte_is_refused)
{
	struct eddyi_path path;

	cr_expect(eq(int, eddyi_path_split(&arena, EDDY_STR("/a\0b"), &path), -EINVAL));
}

Test(path, many_segments)
{
	enum { COUNT = 20000 };
	char *text = malloc(4 * COUNT);
	struct eddyi_path path;

	memset(text, '/', 4 * COUNT);
	cr_assert(eq(int, eddyi_path_split(&arena, eddy_str(text, 4 * COUNT), &path), 0));
	cr_expect(eq(sz, path.count, 4 * COUNT - 1));
	for (int i = 0; i < COUNT; i++)
		memcpy(text + 4 * i, "/%41", 4);
	cr_assert(eq(int, eddyi_path_split(&arena, eddy_str(text, 4 * COUNT), &path), 0));
	cr_expect(eq(sz, path.count, COUNT));
	cr_expect(eddy_str_eq_z(path.segments[COUNT - 1], "A"));
	free(text);
}

/* The pairs as "name=value;". */
static const char *pairs(const char *text)
{
	static char out[1024];
	struct eddy_str name, value, rest;
	size_t len = strlen(text);
	char *exact = malloc(len ? len : 1);
	char *at = out;

	memcpy(exact, text, len);
	rest = eddy_str(exact, len);
	*at = 0;
	while (eddyi_path_next_pair(&arena, &rest, &name, &value) == 1)
		at += sprintf(at, "%.*s=%.*s;", EDDY_FMT(name), EDDY_FMT(value));
	free(exact);
	return out;
}

Test(path, pairs)
{
	static const struct {
		const char *query, *want;
	} cases[] = {
		{ "", "" },
		{ "&", "" },
		{ "&&", "" },
		{ "a=1", "a=1;" },
		{ "a=1&b=2", "a=1;b=2;" },
		{ "a=1&&b=2&", "a=1;b=2;" },
		{ "a", "a=;" },
		{ "a&b", "a=;b=;" },
		{ "a=", "a=;" },
		{ "=a", "=a;" },
		{ "=", "=;" },
		{ "a=b=c", "a=b=c;" },
		{ "a==", "a==;" },
		{ "a+b=c+d", "a b=c d;" },
		{ "a%2Bb=%2b", "a+b=+;" },
		{ "%61=%3D%26", "a==&;" },
		{ "a=%", "a=%;" },
		{ "a=%4", "a=%4;" },
		{ "a=%zz%41", "a=%zzA;" },
		{ "a=%%41", "a=%A;" },
		{ "a=100%&b=%4&c=1", "a=100%;b=%4;c=1;" },
		{ "a;b=1", "a;b=1;" },
		{ "a=%C3%A9", "a=\xc3\xa9;" },
		{ "a=1&a=2", "a=1;a=2;" },
	};
	struct eddy_str rest = { NULL, 0 }, name, value;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cr_expect_str_eq(pairs(cases[i].query), cases[i].want, "%s", cases[i].query);
	cr_expect(eq(int, eddyi_path_next_pair(&arena, &rest, &name, &value), 0));
}

Test(path, pair_may_hold_nul)
{
	struct eddy_str rest = eddy_str_from("a=x%00y"), name, value;

	cr_assert(eq(int, eddyi_path_next_pair(&arena, &rest, &name, &value), 1));
	cr_expect(eq(sz, value.len, 3));
	cr_expect(memcmp(value.ptr, "x\0y", 3) == 0);
}

static void split_lines(const char *dir, const char *file)
{
	char name[4096], line[4096];
	FILE *lines;

	snprintf(name, sizeof(name), "%s/paths/%s", dir, file);
	lines = fopen(name, "re");
	if (!lines)
		cr_skip_test("%s is not there", name);
	line[0] = '/';
	while (fgets(line + 1, sizeof(line) - 1, lines)) {
		struct eddyi_path path;

		line[strcspn(line, "\r\n")] = 0;
		if (eddyi_path_split(&arena, eddy_str_from(line), &path) < 0)
			continue;
		/* Nothing decodes twice, and no segment was invented. */
		for (size_t i = 0; i < path.count; i++)
			cr_expect(le(sz, path.segments[i].len, strlen(line)));
		cr_expect(le(sz, path.count, strlen(line)));
	}
	fclose(lines);
}

/* Nothing to compare with, but the sanitizers watch. */
Test(path, vectors)
{
	const char *dir = getenv("EDDY_VECTORS");

	if (!dir)
		cr_skip_test("EDDY_VECTORS is not set");
	split_lines(dir, "fuzzdb_traversals_exotic_encoding.txt");
	split_lines(dir, "patt_deep_traversal.txt");
	split_lines(dir, "patt_directory_traversal.txt");
	split_lines(dir, "fuzzdb_invalid_filenames_microsoft.txt");
	split_lines(dir, "blns.json");
}
