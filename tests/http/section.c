/* Tests of http/src/config/section.c: sections of a layer above. */
#include "config/config.h"
#include "said.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdlib.h>

enum mode { SLOW, FAST, BOTH };

struct target {
	bool flag;
	unsigned count;
	uint64_t size;
	uint64_t timeout_ns, age_ns;
	const char *name, *path;
	const char *const *names;
	const char *const *tags;
	enum mode mode;
	double share;
	char extras[256];
	unsigned done;
};

static const char *const modes[] = { "slow", "fast", "both", NULL };

static const struct eddy_config_key keys[] = {
	{ "flag", EDDY_CONFIG_BOOL, EDDY_CONFIG_AT(struct target, flag) },
	{ "count", EDDY_CONFIG_INTEGER, EDDY_CONFIG_AT(struct target, count) },
	{ "size", EDDY_CONFIG_INTEGER, EDDY_CONFIG_AT(struct target, size), .min = 10, .max = 20 },
	{ "timeout_ms", EDDY_CONFIG_MS, EDDY_CONFIG_AT(struct target, timeout_ns) },
	{ "age_secs", EDDY_CONFIG_SECS, EDDY_CONFIG_AT(struct target, age_ns), .min = 1 },
	{ "name", EDDY_CONFIG_STRING, EDDY_CONFIG_AT(struct target, name), .min = 2, .max = 4 },
	{ "path", EDDY_CONFIG_PATH, EDDY_CONFIG_AT(struct target, path) },
	{ "names", EDDY_CONFIG_STRINGS, EDDY_CONFIG_AT(struct target, names), .min = 1 },
	{ "tags", EDDY_CONFIG_STRINGS, EDDY_CONFIG_AT(struct target, tags), .min = 2 },
	{ "mode", EDDY_CONFIG_WORD, EDDY_CONFIG_AT(struct target, mode), .words = modes },
	{ "share", EDDY_CONFIG_SHARE, EDDY_CONFIG_AT(struct target, share) },
	{ 0 },
};

static int keep_extra(void *target, const char *name, json_t *value)
{
	struct target *to = target;
	size_t len = strlen(to->extras);
	char *json = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

	snprintf(to->extras + len, sizeof(to->extras) - len, "%s=%s;", name, json);
	free(json);
	return strcmp(name, "refused") == 0 ? -EINVAL : 0;
}

static const char *note_done(void *target)
{
	struct target *to = target;

	to->done++;
	return to->flag && to->mode == SLOW ? "flag and mode \"slow\" exclude each other" : NULL;
}

static const struct eddy_config_section plain = { .name = "layer",
						  .keys = keys,
						  .done = note_done };
static const struct eddy_config_section open_section = { .name = "layer.open",
							 .keys = keys,
							 .extra = keep_extra };

static struct eddy_app *app_new(const char *path, struct target *target)
{
	struct eddy_app *app = eddy_app_new();

	*target = (struct target){ .mode = BOTH };
	eddy_app_config_section(app, &plain, target);
	eddy_app_config_section(app, &open_section, target);
	eddy_app_with_config(app, path);
	return app;
}

static const char *read_text(struct eddy_app *app, const char *text)
{
	said_begin();
	eddyi_config_read_text(app, eddy_str_from(text));
	return said_end();
}

Test(section, sets_members_of_each_type)
{
	struct target target;
	struct eddy_app *app = app_new("etc/a.toml", &target);

	cr_expect(eq(str,
		     (char *)read_text(app, "[layer]\n"
					    "flag = true\n"
					    "count = 4294967295\n"
					    "size = 20\n"
					    "timeout_ms = 0\n"
					    "age_secs = 31536000\n"
					    "name = 'ab'\n"
					    "path = 'cert.pem'\n"
					    "names = ['x', \"yz\"]\n"
					    "tags = []\n"
					    "mode = 'fast'\n"
					    "share = 0.25\n"),
		     ""));
	cr_expect(target.flag);
	cr_expect(eq(uint, target.count, UINT32_MAX));
	cr_expect(eq(u64, target.size, 20));
	cr_expect(eq(u64, target.timeout_ns, 0));
	cr_expect(eq(u64, target.age_ns, 31536000 * EDDY_SECOND));
	cr_expect(eq(str, (char *)target.name, "ab"));
	cr_expect(eq(str, (char *)target.path, "etc/cert.pem"));
	cr_expect(eq(str, (char *)target.names[0], "x"));
	cr_expect(eq(str, (char *)target.names[1], "yz"));
	cr_expect(eq(ptr, (void *)target.names[2], NULL));
	cr_expect(eq(ptr, (void *)target.tags[0], NULL));
	cr_expect(eq(int, target.mode, FAST));
	cr_expect(eq(dbl, target.share, 0.25));
	cr_expect(eq(uint, target.done, 1));
	eddy_app_free(app);
}

static const struct {
	const char *line, *said;
} wrong[] = {
	{ "flag = 1", "flag: expected true or false, not 1" },
	{ "count = 4294967296", "count: expected an integer from 0 to 4294967295, not 4294967296" },
	{ "size = 9", "size: expected an integer from 10 to 20, not 9" },
	{ "size = 21", "size: expected an integer from 10 to 20, not 21" },
	{ "age_secs = 0", "age_secs: expected an integer from 1 to 31536000 (seconds), not 0" },
	{ "name = 'a'", "name: expected a string of 2 to 4 bytes, not the string \"a\"" },
	{ "name = 'abcde'", "name: expected a string of 2 to 4 bytes, not the string \"abcde\"" },
	{ "path = 1.5", "path: expected a path, not the float 1.5" },
	{ "names = 'x'", "names: expected an array of strings that are not empty, not the string "
			 "\"x\"" },
	{ "names = ['x', '']", "names: expected an array of strings that are not empty, not the "
			       "string \"\"" },
	{ "tags = ['a']", "tags: expected an array of strings of at least 2 bytes, not the string "
			  "\"a\"" },
	{ "mode = 'quick'", "mode: expected \"slow\", \"fast\" or \"both\", not the string "
			    "\"quick\"" },
	{ "share = 0", "share: expected a number above 0, 1 at most, not 0" },
	{ "share = 1.01", "share: expected a number above 0, 1 at most, not the float 1.01" },
	{ "share = nan", "share: expected a number above 0, 1 at most, not the float nan" },
	{ "share = '1'", "share: expected a number above 0, 1 at most, not the string \"1\"" },
	{ "mode = 1", "mode: expected \"slow\", \"fast\" or \"both\", not 1" },
	{ "name = '1234567890123456789012345678901234567890123456789012345678901'",
	  "name: expected a string of 2 to 4 bytes, not a string of 61 bytes" },
};

Test(section, says_what_was_expected)
{
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct target target;
		struct eddy_app *app = app_new("a.toml", &target);
		char text[256], expected[256];

		sprintf(text, "[layer]\n%s\n", wrong[i].line);
		sprintf(expected, "a.toml:2: [layer] %s\n", wrong[i].said);
		cr_expect(eq(str, (char *)read_text(app, text), expected));
		cr_expect(eq(uint, target.done, 0));
		eddy_app_free(app);
	}
}

/* An element is named by its own line. */
Test(section, finds_the_line_of_an_element)
{
	struct target target;
	struct eddy_app *app = app_new("a.toml", &target);

	read_text(app, "[layer]\nnames = [\n'x',\n3]\n");
	cr_expect(
		eq(str, said,
		   "a.toml:4: [layer] names: expected an array of strings that are not empty, not "
		   "3\n"));
	eddy_app_free(app);
}

Test(section, hears_what_its_keys_are_together)
{
	struct target target;
	struct eddy_app *app = app_new("a.toml", &target);

	read_text(app, "\n[layer]\nflag = true\nmode = 'slow'\n");
	cr_expect(eq(str, said, "a.toml:2: [layer] flag and mode \"slow\" exclude each other\n"));
	target.done = 0;
	read_text(app, "[server]\n");
	cr_expect(eq(uint, target.done, 0));
	eddy_app_free(app);
}

Test(section, takes_keys_of_its_own_where_it_wants)
{
	struct target target;
	struct eddy_app *app = app_new("a.toml", &target);

	read_text(app, "[layer.open]\ncount = 3\nsome = ['x', 1]\nrefused = 1\n"
		       "[layer.open.deep]\nday = 1979-05-27\n");
	cr_expect(
		eq(str, target.extras, "deep={\"day\":\"1979-05-27\"};refused=1;some=[\"x\",1];"));
	cr_expect(eq(uint, target.count, 3));
	cr_expect(
		eq(str, said, "a.toml:4: [layer.open] refused: the program rejected this value\n"));
	read_text(app, "[layer.open]\nsome = inf\n\"a\\u0000b\" = 1\n");
	cr_expect(eq(str, said,
		     "a.toml:2: [layer.open] some: the program rejected this value\n"
		     "a.toml:3: [layer.open] a: the program rejected this value\n"));
	eddy_app_free(app);
}

/* [a.b] stands in [a], and belongs to itself all the same. */
Test(section, stands_within_another)
{
	struct target outer, inner;
	struct eddy_app *app = eddy_app_new();

	outer = inner = (struct target){ 0 };
	eddy_app_config_section(app, &plain, &outer);
	eddy_app_config_section(app, &open_section, &inner);
	eddy_app_with_config(app, "a.toml");
	read_text(app, "[layer]\ncount = 1\n[layer.open]\ncount = 2\n");
	cr_expect(eq(str, said, ""));
	cr_expect(eq(uint, outer.count, 1));
	cr_expect(eq(uint, inner.count, 2));
	eddy_app_free(app);
}

Test(section, has_one_target)
{
	struct target first, second;
	struct eddy_app *app = app_new("a.toml", &first);

	second = first;
	eddy_app_config_section(app, &plain, &second);
	read_text(app, "[layer]\ncount = 7\n");
	cr_expect(eq(uint, first.count, 0));
	cr_expect(eq(uint, second.count, 7));
	eddy_app_free(app);
}

/* A key whose member has another size would overwrite what stands behind it. */
Test(section, of_a_wrong_size_is_a_mistake)
{
	static const struct eddy_config_key bad[] = {
		{ "flag", EDDY_CONFIG_BOOL, EDDY_CONFIG_AT(struct target, count) },
		{ "age_secs", EDDY_CONFIG_SECS, EDDY_CONFIG_AT(struct target, count) },
		{ "name", EDDY_CONFIG_STRING, EDDY_CONFIG_AT(struct target, flag) },
		{ "mode", EDDY_CONFIG_WORD, EDDY_CONFIG_AT(struct target, mode) },
		{ 0 },
	};
	static const struct eddy_config_section section = { .name = "bad", .keys = bad };
	struct eddy_app *app = eddy_app_new();
	struct target target;

	eddy_app_config_section(app, &section, &target);
	said_begin();
	cr_expect(eddyi_app_report_mistakes(app));
	said_end();
	for (const struct eddy_config_key *key = bad; key->name; key++)
		cr_expect(ne(ptr, strstr(said, key->name), NULL), "%s", key->name);
	eddy_app_free(app);
}
