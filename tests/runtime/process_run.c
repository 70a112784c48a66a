#include "children.h"

#include <stdlib.h>
#include <string.h>

TestSuite(process_run, .init = skip_under_valgrind);

TASK_TEST(process_run, collects)
{
	struct eddy_process_options options = {
		.argv = SH("cat; echo oops >&2; exit 6"),
		.input = eddy_str_from("some input"),
	};

	EXPECT_EQ(eddy_process_run(&options, &output), 0);
	EXPECT(same(output.out, "some input"));
	EXPECT_EQ(output.out_len, 10);
	EXPECT(same(output.err, "oops\n"));
	EXPECT_EQ(output.status.code, 6);
	eddy_process_output_deinit(&output);
	options.argv = SH("cat; echo one; echo two >&2");
	options.input = eddy_str_from("");
	options.err.kind = EDDY_PROCESS_MERGE;
	EXPECT_EQ(eddy_process_run(&options, &output), 0);
	EXPECT(same(output.out, "one\ntwo\n"));
	EXPECT(!output.err);
	eddy_process_output_deinit(&output);
	return 0;
}

TASK_TEST(process_run, moves_much_both_ways)
{
	size_t len = 3 * EDDY_MIB + 5;
	char *bytes = malloc(len);
	struct eddy_process_options options = {
		.argv = ARGV("cat"),
		.input = { bytes, len },
		.output_max = len,
	};

	for (size_t i = 0; i < len; i++)
		bytes[i] = (char)(i * 31 >> 4);
	EXPECT_EQ(eddy_process_run(&options, &output), 0);
	EXPECT_EQ(output.out_len, len);
	EXPECT_EQ(memcmp(output.out, bytes, len), 0);
	eddy_process_output_deinit(&output);
	options.output_max = len - 1;
	EXPECT_EQ(eddy_process_run(&options, &output), -EMSGSIZE);
	EXPECT(!has_children());
	/* A child that has read enough is no failure. */
	options.argv = ARGV("head", "-c", "3");
	EXPECT_EQ(eddy_process_run(&options, &output), 0);
	EXPECT_EQ(output.out_len, 3);
	EXPECT_EQ(output.status.code, 0);
	eddy_process_output_deinit(&output);
	free(bytes);
	return 0;
}

TASK_TEST(process_run, ends_what_never_stops_writing)
{
	const struct eddy_process_options options = {
		.argv = SH("while :; do echo x; done >&2"),
		.output_max = 10000,
	};

	EXPECT_EQ(eddy_process_run(&options, &output), -EMSGSIZE);
	EXPECT(!has_children());
	return 0;
}
