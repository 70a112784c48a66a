/* Tests of compress/src/settings.h: options, the section [compression], and what is said about both. */
#include "settings.h"

#include "../http/said.h"
#include "config/config.h"
#include "served.h"

static const char *apply(const struct eddy_compression_options *options)
{
	struct eddy_app *app = eddy_app_new();
	struct eddyi_settings *settings = eddyi_settings_of(app);
	const char *reason;

	settings->options = *options;
	reason = eddyi_settings_apply(settings);
	eddy_app_free(app);
	return reason;
}

Test(settings, defaults)
{
	static const enum eddy_coding order[] = { EDDY_CODING_ZSTD, EDDY_CODING_BR,
						  EDDY_CODING_GZIP, EDDY_CODING_DEFLATE };
	struct eddy_app *app = eddy_app_new();
	struct eddyi_settings *settings = eddyi_settings_of(app);

	cr_assert_eq(settings->count, 4);
	for (size_t i = 0; i < 4; i++) {
		cr_expect_eq(settings->order[i], order[i]);
		cr_expect_str_eq(eddy_codec_name(settings->codecs[i]), eddy_coding_name(order[i]));
		cr_expect_eq(settings->levels[i], 0);
	}
	cr_expect_str_eq(settings->names, "zstd, br, gzip, deflate");
	cr_expect_eq(settings->cache.size_max, 64 * EDDY_MIB);
	cr_expect_eq(eddyi_settings_of(app), settings);
	eddy_app_free(app);
}

Test(settings, mistakes)
{
	static const char *const nonsense[] = { "gzip", "lzma", NULL }, *const empty[] = { NULL };
	static const char *const twice[] = { "gzip", "br", "x-gzip", NULL }, *const identity[] = {
		"identity", NULL
	};
	static const struct {
		struct eddy_compression_options options;
		const char *reason;
	} rows[] = {
		{ { .zstd_level = 20 }, "zstd_level must be from 1 to 19" },
		{ { .zstd_level = 19 }, NULL },
		{ { .br_level = 12 }, "br_level must be from 1 to 11" },
		{ { .br_level = 11 }, NULL },
		{ { .gzip_level = 10 }, "gzip_level and deflate_level must be from 1 to 9" },
		{ { .deflate_level = 10 }, "gzip_level and deflate_level must be from 1 to 9" },
		{ { .gzip_level = 9, .deflate_level = 9 }, NULL },
		{ { .zstd_level = UINT32_MAX }, "zstd_level must be from 1 to 19" },
		{ { .order = nonsense }, "order may only have zstd, br, gzip and deflate" },
		{ { .order = identity }, "order may only have zstd, br, gzip and deflate" },
		{ { .order = twice }, "order names a coding twice" },
		{ { .order = empty }, "order is empty" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *reason = apply(&rows[i].options);

		cr_assert_eq(!reason, !rows[i].reason, "%zu: %s", i, reason);
		if (reason)
			cr_expect_str_eq(reason, rows[i].reason);
	}
}

/* Return: what is said of the app when it is asked for the first time. */
static const char *report(struct eddy_app *app)
{
	struct eddy_response *response;

	said_begin();
	cr_expect_eq(eddy_app_test(app, "GET /", NULL, &response), -EINVAL);
	eddy_app_free(app);
	return said_end();
}

Test(settings, mistakes_are_those_of_the_app)
{
	static const char *const nonsense[] = { "lzma", NULL };
	struct eddy_compression_options wrong = { .order = nonsense };
	struct eddy_app *app = eddy_app_new();

	eddy_app_with_compression(app, &wrong);
	cr_expect(strstr(report(app),
			 "eddy_app_with_compression(): order may only have zstd, br, gzip and "
			 "deflate") != NULL,
		  "%s", said);
	app = eddy_app_new();
	eddy_app_use_compression(eddy_app_group(app, "/a"), &wrong);
	cr_expect(strstr(report(app), "order may only have zstd, br, gzip and deflate") != NULL,
		  "%s", said);
	app = served_app();
	eddy_app_use_compression(app, NULL);
	eddy_app_with_compression(app, NULL);
	cr_expect_str_eq(served_coding(app, "GET /text/5", "gzip"), "gzip");
	eddy_app_free(app);
}

static struct eddy_app *app_new(void)
{
	struct eddy_app *app = eddy_app_new();

	eddy_compress_config(app);
	eddy_app_with_config(app, "a.toml");
	return app;
}

static const char *read_text(struct eddy_app *app, const char *text)
{
	said_begin();
	eddyi_config_read_text(app, eddy_str_from(text));
	return said_end();
}

Test(settings, each_key_of_the_section)
{
	struct eddy_app *app = app_new();
	const struct eddyi_settings *settings = eddyi_settings_of(app);
	const struct eddy_compression_options *options = &settings->options;

	cr_expect_str_eq(read_text(app, "[compression]\n"
					"order = ['gzip', 'br']\n"
					"zstd_level = 19\n"
					"br_level = 11\n"
					"gzip_level = 1\n"
					"deflate_level = 9\n"
					"size_min = 1000\n"
					"leave_types = ['text/x-*']\n"
					"cache_max = 12345\n"),
			 "");
	cr_assert_eq(settings->count, 2);
	cr_expect_eq(settings->order[0], EDDY_CODING_GZIP);
	cr_expect_eq(settings->levels[0], 1);
	cr_expect_eq(settings->order[1], EDDY_CODING_BR);
	cr_expect_eq(settings->levels[1], 11);
	cr_expect_eq(options->zstd_level, 19);
	cr_expect_eq(options->deflate_level, 9);
	cr_expect_eq(options->size_min, 1000);
	cr_expect_str_eq(options->leave_types[0], "text/x-*");
	cr_expect_null(options->leave_types[1]);
	cr_expect_eq(settings->cache.size_max, 12345);
	cr_expect_str_eq(read_text(app, "[compression]\nno_cache = true\n"), "");
	cr_expect_eq(settings->cache.size_max, 0);
	eddy_app_free(app);
}

Test(settings, the_file_wins)
{
	struct eddy_app *app = app_new();
	const struct eddyi_settings *settings = eddyi_settings_of(app);

	eddy_app_with_compression(app, &(struct eddy_compression_options){ .gzip_level = 2,
									   .br_level = 3 });
	cr_expect_str_eq(read_text(app, "[compression]\ngzip_level = 7\n"), "");
	cr_expect_eq(settings->levels[2], 7);
	cr_expect_eq(settings->levels[1], 3);
	eddy_app_free(app);
}

Test(settings, mistakes_of_the_file)
{
	static const struct {
		const char *text, *said;
	} rows[] = {
		{ "zstd_level = 0", "a.toml:3: [compression] zstd_level" },
		{ "zstd_level = 20", "a.toml:3: [compression] zstd_level" },
		{ "br_level = 12", "a.toml:3: [compression] br_level" },
		{ "gzip_level = 10", "a.toml:3: [compression] gzip_level" },
		{ "deflate_level = 10", "a.toml:3: [compression] deflate_level" },
		{ "size_min = -1", "a.toml:3: [compression] size_min" },
		{ "cache_max = 0", "a.toml:3: [compression] cache_max" },
		{ "no_cache = 1", "a.toml:3: [compression] no_cache" },
		{ "leave_types = 'a'", "a.toml:3: [compression] leave_types" },
		{ "order = 'gzip'", "a.toml:3: [compression] order" },
		{ "levels = 1", "a.toml:3: [compression] unknown key \"levels\"" },
		{ "order = ['lzma']",
		  "[compression] order may only have zstd, br, gzip and deflate" },
		{ "order = ['br', 'br']", "[compression] order names a coding twice" },
		{ "order = []", "[compression] order is empty" },
	};
	char text[128];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct eddy_app *app = app_new();

		snprintf(text, sizeof(text), "[compression]\n\n%s\n", rows[i].text);
		read_text(app, text);
		cr_expect(strstr(said, rows[i].said) != NULL, "%s: %s", rows[i].text, said);
		cr_expect(strstr(said, "a.toml:") != NULL, "%s", said);
		eddy_app_free(app);
	}
}

Test(settings, the_list_of_all)
{
	char names[48];

	eddyi_settings_list(names, sizeof(names));
	cr_expect_str_eq(names, "zstd, br, gzip, deflate");
}
