/* Tests of runtime/src/report/checks.c. */
#include "debug.h"
#include "expect.h"

#include <eddy/file.h>
#include <eddy/io.h>
#include <eddy/net.h>
#include <eddy/process.h>
#include <eddy/scope.h>
#include <eddy/signal.h>
#include <sys/un.h>

#define CHECKS_TEST(name)                                                                          \
	static int checks_##name(void *arg);                                                       \
	Test(checks, name)                                                                         \
	{                                                                                          \
		debug_begin();                                                                     \
		expect_run(NULL, checks_##name, NULL);                                             \
		eddy_log_unsubscribe();                                                            \
	}                                                                                          \
	static int checks_##name(__attribute__((unused)) void *arg)

static void end(const char *label)
{
	eddyi_task_set_label(label);
	eddyi_opened_end();
	eddyi_task_set_label(NULL);
}

static int open_null(void)
{
	int fd = eddy_openat(AT_FDCWD, "/dev/null", O_RDONLY, 0);

	EXPECT(fd > 0);
	return fd;
}

CHECKS_TEST(nothing_is_noted_without_being_asked_for)
{
	int fd = open_null();

	end("nobody");
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
CHECKS_TEST(what_is_left_is_told)
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
	end("GET /x");
	snprintf(
		line, sizeof(line),
		"eddy::debug: GET /x seems to have left 2 of the descriptors that it opened: %d (/dev/null), "
		"%d (/dev/null); close them on every path",
		fds[2], child);
	EXPECT(strstr(warned, line));
	if (!strstr(warned, line))
		fprintf(stderr, "not %s\nbut %s\n", line, warned);
	warned[0] = '\0';
	eddyi_opened_begin();
	end("GET /x");
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
	end("POST /beside");
	return 0;
}

/* Neither another's number, nor what is kept on purpose. */
CHECKS_TEST(others_are_not_blamed)
{
	struct eddy_scope scope;
	int first, kept;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "beside", beside, NULL);
	eddy_sleep(EDDY_MS);
	/* The one beside notes what its own task opens, not what the task opens that spawned it. */
	first = open_null();
	eddyi_opened_begin();
	kept = open_null();
	eddyi_opened_forget(kept);
	end("GET /this");
	eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	EXPECT(warned[0] == '\0');
	eddy_close(first);
	return eddy_close(kept);
}

/* Its number was noted for one request, and closed by a call that is not eddy's, then given to another one. */
CHECKS_TEST(the_last_who_opened_a_number_has_it)
{
	int fd, again;

	eddyi_opened_begin();
	fd = open_null();
	close(fd);
	end("GET /first");
	EXPECT(warned[0] == '\0');
	eddyi_opened_begin();
	again = open_null();
	EXPECT_EQ(again, fd);
	end("GET /second");
	EXPECT(strstr(warned, "GET /second seems to have left 1 of"));
	return eddy_close(again);
}

CHECKS_TEST(processes_and_signals_close_theirs)
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
	end("GET /run");
	EXPECT(warned[0] == '\0');
	eddyi_opened_begin();
	EXPECT_EQ(eddy_process_start(&options, &process), 0);
	end("GET /run");
	EXPECT(strstr(warned, "GET /run seems to have left 2 of"));
	eddy_process_close(&process);
	return 0;
}

CHECKS_TEST(connections_are_noted)
{
	struct eddy_listeners listeners;
	char line[100];
	int fd;

	EXPECT_EQ(eddy_listen("127.0.0.1:0", NULL, &listeners), 0);
	eddyi_opened_begin();
	eddy_close(eddy_dial(listeners.name, NULL));
	fd = eddy_dial(listeners.name, NULL);
	EXPECT(fd >= 0);
	end("GET /dial");
	snprintf(line, sizeof(line),
		 "GET /dial seems to have left 1 of the descriptors that it opened: "
		 "%d (tcp ",
		 fd);
	EXPECT(strstr(warned, line));
	eddy_listeners_close(&listeners);
	return eddy_close(fd);
}

/* Their names are longer than the room for all. */
CHECKS_TEST(a_list_begins_with_its_first)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fds[8], first = 0;

	/* Other programs may run this test at the same time. */
	snprintf(addr.sun_path + 2, sizeof(addr.sun_path) - 2, "%0*d",
		 (int)sizeof(addr.sun_path) - 3, getpid());
	eddyi_opened_begin();
	for (int i = 0; i < 8; i += 2) {
		addr.sun_path[1] = (char)('0' + i);
		fds[i] = eddy_socket(AF_UNIX, SOCK_STREAM, 0);
		fds[i + 1] = eddy_socket(AF_UNIX, SOCK_STREAM, 0);
		EXPECT_EQ(bind(fds[i], (struct sockaddr *)&addr, sizeof(addr)), 0);
		EXPECT_EQ(listen(fds[i], 1), 0);
		addr.sun_path[1] = (char)('1' + i);
		EXPECT_EQ(bind(fds[i + 1], (struct sockaddr *)&addr, sizeof(addr)), 0);
		addr.sun_path[1] = (char)('0' + i);
		EXPECT_EQ(eddy_connect(fds[i + 1], (struct sockaddr *)&addr, sizeof(addr)), 0);
	}
	end("GET /unix");
	EXPECT(sscanf(warned,
		      "eddy::debug: GET /unix seems to have left 8 of the descriptors that it "
		      "opened: %d (unix socket",
		      &first) == 1);
	EXPECT_EQ(first, fds[0]);
	EXPECT(strstr(warned, " more; close them"));
	for (int i = 0; i < 8; i++)
		eddy_close(fds[i]);
	return 0;
}

/* A list is short, whatever there is. */
CHECKS_TEST(many_are_counted)
{
	int fds[30];

	eddyi_opened_begin();
	for (int i = 0; i < 30; i++)
		fds[i] = open_null();
	end(NULL);
	EXPECT(strstr(warned, "a request seems to have left 30 of"));
	EXPECT(strstr(warned, " and 22 more; "));
	for (int i = 0; i < 30; i++)
		eddy_close(fds[i]);
	return 0;
}
