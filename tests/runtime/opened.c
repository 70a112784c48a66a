/* Tests of runtime/src/report/opened.c. */
#include "debug.h"
#include "expect.h"

#include <eddy/file.h>
#include <eddy/io.h>
#include <eddy/process.h>
#include <eddy/scope.h>
#include <eddy/signal.h>

#define OPENED_TEST(name)                                                                          \
	static int opened_##name(void *arg);                                                       \
	Test(opened, name)                                                                         \
	{                                                                                          \
		debug_begin();                                                                     \
		expect_run(NULL, opened_##name, NULL);                                             \
		eddy_log_unsubscribe();                                                            \
	}                                                                                          \
	static int opened_##name(__attribute__((unused)) void *arg)

static int open_null(void)
{
	int fd = eddy_openat(AT_FDCWD, "/dev/null", O_RDONLY, 0);

	EXPECT(fd > 0);
	return fd;
}

OPENED_TEST(nothing_is_noted_without_being_asked_for)
{
	int fd = open_null();

	eddyi_opened_end("nobody");
	EXPECT(warned[0] == '\0');
	return eddy_close(fd);
}

static int open_later(void *arg)
{
	eddy_sleep(EDDY_MS);
	*(int *)arg = open_null();
	return 0;
}

/* By the task, and by tasks of its scopes; what is closed by other calls as well. */
OPENED_TEST(what_is_left_is_told)
{
	int fds[3], child = -1, pair[2];
	struct eddy_scope scope;
	char line[200];

	eddyi_opened_begin();
	for (int i = 0; i < 3; i++)
		fds[i] = open_null();
	EXPECT_EQ(eddy_pipe(pair, 0), 0);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "child", open_later, &child);
	eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	eddy_close(fds[0]);
	close(fds[1]);
	eddy_close(pair[0]);
	close(pair[1]);
	/* Its number is another file's by now. */
	EXPECT_EQ(open("/dev/zero", O_RDONLY | O_CLOEXEC), fds[0] < fds[1] ? fds[0] : fds[1]);
	eddyi_opened_end("GET /x");
	snprintf(line, sizeof(line),
		 "eddy::debug: GET /x left 2 of the descriptors that it opened: %d (/dev/null), "
		 "%d (/dev/null); close them on every path",
		 fds[2], child);
	EXPECT(strstr(warned, line));
	if (!strstr(warned, line))
		fprintf(stderr, "not %s\nbut %s\n", line, warned);
	warned[0] = '\0';
	eddyi_opened_begin();
	eddyi_opened_end("GET /x");
	EXPECT(warned[0] == '\0');
	close(fds[2]);
	close(child);
	return 0;
}

static int beside(void *arg)
{
	(void)arg;
	eddyi_opened_begin();
	eddy_sleep(20 * EDDY_MS);
	eddyi_opened_end("POST /beside");
	return 0;
}

/* Neither another's number, nor what is kept on purpose. */
OPENED_TEST(others_are_not_blamed)
{
	struct eddy_scope scope;
	int first, kept;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "beside", beside, NULL);
	eddy_sleep(EDDY_MS);
	/* The one beside is no task of this one's scopes: it began before. */
	first = open_null();
	eddyi_opened_begin();
	kept = open_null();
	eddyi_opened_forget(kept);
	eddyi_opened_end("GET /this");
	eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	EXPECT(warned[0] == '\0');
	eddy_close(first);
	return eddy_close(kept);
}

/* Its number was noted for one request, and closed by a call that is not eddy's, then given to another one. */
OPENED_TEST(the_last_who_opened_a_number_has_it)
{
	int fd, again;

	eddyi_opened_begin();
	fd = open_null();
	close(fd);
	eddyi_opened_end("GET /first");
	EXPECT(warned[0] == '\0');
	eddyi_opened_begin();
	again = open_null();
	EXPECT_EQ(again, fd);
	eddyi_opened_end("GET /second");
	EXPECT(strstr(warned, "GET /second left 1 of"));
	return eddy_close(again);
}

OPENED_TEST(processes_and_signals_close_theirs)
{
	struct eddy_process_options options = {
		.argv = (const char *[]){ "true", NULL },
		.out = { .kind = EDDY_PROCESS_PIPE },
	};
	struct eddy_process process;
	struct eddy_signals signals;

	eddyi_opened_begin();
	EXPECT_EQ(eddy_process_start(&options, &process), 0);
	EXPECT_EQ(eddy_signals_open((int[]){ SIGUSR1, 0 }, &signals), 0);
	eddy_process_close(&process);
	eddy_signals_close(&signals);
	eddyi_opened_end("GET /run");
	EXPECT(warned[0] == '\0');
	eddyi_opened_begin();
	EXPECT_EQ(eddy_process_start(&options, &process), 0);
	eddyi_opened_end("GET /run");
	EXPECT(strstr(warned, "GET /run left 2 of"));
	eddy_process_close(&process);
	return 0;
}

/* A list is short, whatever there is. */
OPENED_TEST(many_are_counted)
{
	int fds[30];

	eddyi_opened_begin();
	for (int i = 0; i < 30; i++)
		fds[i] = open_null();
	eddyi_opened_end(NULL);
	EXPECT(strstr(warned, "a request left 30 of"));
	EXPECT(strstr(warned, " and 22 more; "));
	for (int i = 0; i < 30; i++)
		eddy_close(fds[i]);
	return 0;
}
