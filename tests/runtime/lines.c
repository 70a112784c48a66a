#include <eddy/lines.h>

#include "expect.h"

#include <eddy/io.h>
#include <fcntl.h>
#include <string.h>

static struct eddy_lines lines;
static struct eddy_str line;
static char buf[16];
static int fds[2];

static void begin(void)
{
	stream_pair(fds);
	eddy_lines_init(&lines, fds[0], buf, sizeof(buf));
}

static void put(const char *text)
{
	EXPECT_EQ(send(fds[1], text, strlen(text), 0), (ssize_t)strlen(text));
}

static void end(void)
{
	close(fds[0]);
	close(fds[1]);
}

static bool next_is(const char *wanted)
{
	return eddy_lines_next(&lines, &line) == 1 && eddy_str_eq_z(line, wanted);
}

TASK_TEST(lines, one_after_another)
{
	begin();
	put("one\ntwo\r\n\n\r\nfi");
	EXPECT(next_is("one"));
	EXPECT(next_is("two"));
	EXPECT(next_is(""));
	EXPECT(next_is(""));
	put("ve\ra\n1\nrest\r");
	shutdown(fds[1], SHUT_WR);
	EXPECT(next_is("five\ra"));
	EXPECT(next_is("1"));
	EXPECT(next_is("rest\r"));
	EXPECT_EQ(eddy_lines_next(&lines, &line), 0);
	EXPECT_EQ(eddy_lines_next(&lines, &line), 0);
	end();
	return 0;
}

TASK_TEST(lines, as_long_as_the_buffer)
{
	begin();
	put("123456789012345\nab\n");
	EXPECT(next_is("123456789012345"));
	EXPECT(next_is("ab"));
	put("1234567890123456\nab\n");
	EXPECT_EQ(eddy_lines_next(&lines, &line), -EMSGSIZE);
	EXPECT_EQ(eddy_lines_next(&lines, &line), -EMSGSIZE);
	end();
	return 0;
}

static int put_slowly(__attribute__((unused)) void *arg)
{
	for (int i = 0; i < 3; i++) {
		put("a");
		expect_turns(2);
	}
	put("\nb");
	expect_turns(2);
	put("\n");
	return 0;
}

TASK_TEST(lines, a_byte_at_a_time)
{
	struct eddy_scope scope;

	begin();
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "writer", put_slowly, NULL);
	EXPECT(next_is("aaa"));
	EXPECT(next_is("b"));
	end();
	return eddy_scope_end(&scope);
}

TASK_TEST(lines, nothing_is_lost_when_cancelled)
{
	struct eddy_scope scope;

	begin();
	put("first\nsec");
	EXPECT(next_is("first"));
	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = EDDY_MS });
	EXPECT_EQ(eddy_lines_next(&lines, &line), -ECANCELED);
	eddy_scope_end(&scope);
	put("ond\n");
	EXPECT(next_is("second"));
	end();
	return 0;
}

TASK_TEST(lines, bytes_behind_a_line)
{
	char body[8] = "";

	begin();
	put("len 5\nab");
	EXPECT(next_is("len 5"));
	EXPECT_EQ(eddy_lines_read(&lines, body, 1), 1);
	EXPECT_EQ(eddy_lines_read(&lines, body + 1, 4), 1);
	put("cde");
	EXPECT_EQ(eddy_lines_read(&lines, body + 2, 3), 3);
	EXPECT_EQ(strcmp(body, "abcde"), 0);
	put("next\nx");
	EXPECT(next_is("next"));
	shutdown(fds[1], SHUT_WR);
	EXPECT(next_is("x"));
	EXPECT_EQ(eddy_lines_read(&lines, body, 1), 0);
	end();
	return 0;
}

/* What was looked through in vain must not hide what bytes behind it hold. */
TASK_TEST(lines, bytes_taken_from_half_a_line)
{
	struct eddy_scope scope;
	char body[8];

	begin();
	put("abcdef");
	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = EDDY_MS });
	EXPECT_EQ(eddy_lines_next(&lines, &line), -ECANCELED);
	eddy_scope_end(&scope);
	EXPECT_EQ(eddy_lines_read(&lines, body, 5), 5);
	put("\ng\n");
	EXPECT(next_is("f"));
	EXPECT(next_is("g"));
	close(fds[1]);
	fds[1] = -1;
	close(fds[0]);
	EXPECT_EQ(eddy_lines_next(&lines, &line), -EBADF);
	return 0;
}
