#include "http2.h"
#include "options.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static char error[OPTIONS_ERROR_SIZE];

/* Parse words with blanks between them. */
static int parse(const char *line, struct options *ret_options)
{
	static char text[2048];
	static char *words[64];
	int count = 0;

	snprintf(text, sizeof(text), "eddy-bench %s", line);
	for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
		words[count++] = word;
	words[count] = NULL;
	*error = 0;
	return options_parse(count, words, ret_options, error);
}

Test(options, have_defaults)
{
	struct options options;

	cr_assert_eq(parse("get http://localhost:1/", &options), 0, "%s", error);
	cr_expect_eq(options.work, WORK_GET);
	cr_expect_eq(options.url_count, 1);
	cr_expect_eq(options.size_count, 0);
	cr_expect_eq(options.connection_count, 1);
	cr_expect_eq(options.connections[0], 1);
	cr_expect_eq(options.depth, 1);
	cr_expect_eq(options.rounds, 7);
	cr_expect_eq(options.seconds, 1);
	cr_expect_eq(options.rate, 0);
	cr_expect_eq(options.timeout_ns, UINT64_C(10000000000));
	options_deinit(&options);
}

Test(options, are_taken)
{
	struct options options;

	cr_assert_eq(parse("get a=http://localhost:1/{size} -H X:y --sizes 4K,1MiB,1000 -c 1,16 "
			   "-t 500ms --warmup 0 -r 3 b=http://localhost:2/ --against b "
			   "--timeout 2s --expect 404 --json out.json -R 2.5 --cycle 100",
			   &options),
		     0, "%s", error);
	cr_expect_eq(options.url_count, 2);
	cr_expect_str_eq(options.urls[1].name, "b");
	cr_expect_eq(options.size_count, 3);
	cr_expect_eq(options.sizes[0], 4096);
	cr_expect_eq(options.sizes[1], 1 << 20);
	cr_expect_eq(options.sizes[2], 1000);
	cr_expect_eq(options.connections[1], 16);
	cr_expect_eq(options.seconds, 0.5);
	cr_expect_eq(options.cycle, 100);
	cr_expect_eq(options.warmup, 0);
	cr_expect_eq(options.rounds, 3);
	cr_expect_eq(options.rate, 2.5);
	cr_expect_eq(options.expect, 404);
	cr_expect_eq(options.timeout_ns, UINT64_C(2000000000));
	cr_expect_str_eq(options.json, "out.json");
	cr_expect_str_eq(options.headers[0], "X:y");
	options_deinit(&options);
}

Test(options, http2)
{
	struct options options;

	if (!http2_is_there())
		cr_skip_test("needs libnghttp2");
	cr_assert_eq(parse("put http://localhost:1/ --sizes 4K --http2 --streams 7 --frame 1m",
			   &options),
		     0, "%s", error);
	cr_expect(options.http2);
	cr_expect_eq(options.depth, 7);
	cr_expect_eq(options.frame, 1 << 20);
	options_deinit(&options);
}

Test(options, mistakes_are_told)
{
	static const struct {
		const char *line, *why;
	} cases[] = {
		{ "", "get, put" },
		{ "got http://localhost:1/", "get, put" },
		{ "get", "no URL" },
		{ "get localhost", "not a URL" },
		{ "get http://localhost:1/ --nonsense", "--nonsense" },
		{ "get http://localhost:1/ -z", "-z" },
		{ "get http://localhost:1/ -c", "missing" },
		{ "get http://localhost:1/ -c 0", "1 to 100000" },
		{ "get http://localhost:1/ -c 1,,2", "1 to 100000" },
		{ "get http://localhost:1/ -c 1,1", "once" },
		{ "get http://localhost:1/ -c 100001", "1 to 100000" },
		{ "get http://localhost:1/ --sizes 4X", "sizes" },
		{ "get http://localhost:1/ --sizes 4K,", "sizes" },
		{ "get http://localhost:1/ --sizes 4096,4K", "once" },
		{ "get http://localhost:1/ --sizes -1", "sizes" },
		{ "get http://localhost:1/ --sizes 99999999999999999999", "sizes" },
		{ "get http://localhost:1/ -t 0", "time" },
		{ "get http://localhost:1/ -t inf", "time" },
		{ "get http://localhost:1/ -t 1h", "time" },
		{ "get http://localhost:1/ -t 0x1", "time" },
		{ "get http://localhost:1/ -R 0", "number" },
		{ "get http://localhost:1/ -R many", "number" },
		{ "get http://localhost:1/ -d 0", "number" },
		{ "get http://localhost:1/ -r 1.5", "number" },
		{ "get http://localhost:1/ --expect 99", "number" },
		{ "get http://localhost:1/ -H novalue", "Name: value" },
		{ "get http://localhost:1/ -H Content-Length:5", "write itself" },
		{ "get http://localhost:1/ -H HOST:x", "write itself" },
		{ "get http://localhost:1/ -R 5 -d 2", "exclude each other" },
		{ "get http://localhost:1/ --cold", "--files" },
		{ "put http://localhost:1/ --sizes 1K --cold --files /x", "for get" },
		{ "get http://localhost:1/ --body-file x", "for put and req" },
		{ "get http://localhost:1/ -X POST", "for req" },
		{ "req http://localhost:1/ --sizes 4K", "get and put" },
		{ "put http://localhost:1/", "needs --sizes" },
		{ "put http://localhost:1/ --sizes 1K -d 2", "get and req" },
		{ "req http://localhost:1/ -X G(T", "method" },
		{ "get http://localhost:1/ http://localhost:1/x", "two targets" },
		{ "get http://localhost:1/ --against x", "no target of this name" },
		{ "get http://localhost:1/ --digest 12", "SHA-256" },
		{ "get http://localhost:1/{i} --verify", "--digest" },
		{ "get http://localhost:1/ --stall get", "for hold" },
		{ "hold http://localhost:1/ --stall x", "get or put" },
		{ "hold http://localhost:1/ --json x", "--json is for get and put and req" },
		{ "hold http://localhost:1/ -R 5", "--rate is for get and put and req" },
		{ "hold http://localhost:1/ -c 1,2", "one number" },
		{ "get http://localhost:1/ --insecure", "of https" },
		{ "get http://localhost:1/ --ca x", "of https" },
		{ "get http://localhost:1/ --ciphers x", "of https" },
		{ "get https://localhost:1/ --ca x --insecure", "exclude each other" },
		{ "get http://localhost:1/ --streams 4", "for --http2" },
		{ "get http://localhost:1/ --frame 32k", "for --http2" },
		{ "get http://localhost:1/ --http2 --frame 16383", "from 16k" },
		{ "get http://localhost:1/ --http2 --frame 16m", "from 16k" },
		{ "get http://localhost:1/ --http2 --streams 0", "number" },
		{ "get http://localhost:1/ --http2 -d 2", "use --streams" },
		{ "get http://localhost:1/ --http2 --streams 2 -R 5", "exclude each other" },
		{ "get http://localhost:1/ --http2 -H Connection:close", "no such field" },
		{ "hold http://localhost:1/ --http2", "--http2 is for get and put and req" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct options options;
		int r = parse(cases[i].line, &options);

		cr_expect_eq(r, -EINVAL, "%s", cases[i].line);
		cr_expect(strstr(error, cases[i].why), "%s: %s", cases[i].line, error);
		if (r == 0)
			options_deinit(&options);
	}
}

Test(options, header_of_two_lines_is_refused)
{
	char *argv[] = { "eddy-bench", "get", "http://localhost:1/", "-H", "X: y\r\nZ: w", NULL };
	struct options options;

	cr_expect_eq(options_parse(5, argv, &options, error), -EINVAL);
}
