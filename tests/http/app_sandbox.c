/* Tests of http/src/server/app_sandbox.c. Each app runs in a child process, which nothing gets out of its sandbox again. */
#include "app/app.h"
#include "config/config.h"
#include "said.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/app_sandbox.h>
#include <eddy/http.h>
#include <eddy/layer.h>
#include <eddy/runtime.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../folder.h"
#include "../on_tsan.h"
#include "../on_valgrind.h"

static bool has_landlock(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, 1) > 0;
}

/* Return: its exit status, or minus its signal. */
static int child(int (*fn)(void))
{
	int status;
	pid_t pid = fork();

	cr_assert(pid >= 0);
	if (pid == 0) {
		alarm(60);
		_exit(fn());
	}
	cr_assert(eq(int, waitpid(pid, &status, 0), pid));
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void expect_child(int (*fn)(void))
{
	need_threads_in_a_child();
	if (RUNNING_ON_VALGRIND)
		cr_skip_test("valgrind knows neither Landlock nor its signals");
	cr_expect(eq(int, child(fn), 0));
}

/* ---- who is in it ---- */

static bool opens(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool is_held(void)
{
	return eddy_sandbox_is_entered() && opens(folder) &&
	       (!has_landlock() || !opens("/etc/passwd"));
}

static int held_in_pool(void *arg)
{
	(void)arg;
	return is_held();
}

struct look {
	struct eddy_app *app;
	int held; /* of two looks */
};

/* Beside the requests, from its first line. */
static int look(void *arg)
{
	struct look *look = arg;

	look->held = is_held() + eddy_offload(held_in_pool, NULL);
	eddy_app_shutdown(look->app);
	return 0;
}

static int use_pool_before(struct eddy_app *app, void *data)
{
	(void)app;
	(void)data;
	return eddy_offload(held_in_pool, NULL) != 0 ? -EEXIST : 0;
}

static int run_sandboxed(unsigned workers)
{
	const struct eddy_server_options options = { .workers = workers };
	struct look result = { .app = eddy_app_new() };
	int r;

	eddy_app_bind(result.app, "127.0.0.1:0");
	eddy_app_with_server(result.app, &options);
	eddy_app_map_files(result.app, "/files/{path...}", folder, NULL);
	eddy_app_at_start(result.app, use_pool_before, NULL);
	eddy_app_add_task(result.app, "look", look, &result);
	eddy_app_sandbox(result.app, NULL);
	r = eddy_app_run_blocking(result.app);
	return r == 0 && result.held == 2 ? 0 : 1;
}

static int run_one(void)
{
	return run_sandboxed(1);
}

static int run_three(void)
{
	return run_sandboxed(3);
}

/* What it serves is readable without being named. */
Test(app_sandbox, holds_what_runs_beside_the_requests_from_the_start)
{
	make_folder();
	expect_child(run_one);
	expect_child(run_three);
	remove_folder();
}

/* ---- what it refuses to run in ---- */

static int run_here(void *arg)
{
	return eddy_app_run(arg);
}

static int run_unconfined(void)
{
	struct eddy_app *app = eddy_app_new();
	int r;

	eddy_app_bind(app, "127.0.0.1:0");
	eddy_app_sandbox(app, NULL);
	said_begin();
	r = eddy_run(NULL, run_here, app);
	said_end();
	eddy_app_free(app);
	return r == -EPERM && strstr(said, "the loop \"main\" was made without .confined") &&
			       !strstr(said, "can't start") ?
		       0 :
		       1;
}

static int run_confined(void)
{
	struct look result = { .app = eddy_app_new() };
	int r;

	eddy_app_bind(result.app, "127.0.0.1:0");
	eddy_app_add_task(result.app, "look", look, &result);
	eddy_app_sandbox(result.app, NULL);
	r = eddy_run(&(struct eddy_loop_options){ .confined = true }, run_here, result.app);
	eddy_app_free(result.app);
	return r == 0 && eddy_sandbox_is_entered() ? 0 : 1;
}

Test(app_sandbox, wants_a_loop_that_is_confined)
{
	expect_child(run_unconfined);
	expect_child(run_confined);
}

static int run_with_a_lost_folder(void)
{
	const char *const lost[] = { "/nowhere", NULL };
	struct eddy_app *app = eddy_app_new();
	int r;

	eddy_app_bind(app, "127.0.0.1:0");
	eddy_app_with_server(app, &(struct eddy_server_options){ .workers = 3 });
	eddy_app_sandbox(app, &(struct eddy_sandbox_options){ .readable = lost });
	said_begin();
	r = eddy_app_run_blocking(app);
	said_end();
	return r == -ENOENT && strstr(said, "can't allow \"/nowhere\"") ? 0 : 1;
}

/* Workers that wait for it end. */
Test(app_sandbox, fails_the_start)
{
	if (!has_landlock())
		cr_skip_test("needs Landlock");
	expect_child(run_with_a_lost_folder);
}

/* ---- options ---- */

Test(app_sandbox, copies_its_options)
{
	struct eddy_app *app = eddy_app_new();
	char path[] = "/srv";
	const char *list[] = { path, NULL };

	eddy_app_sandbox(app, &(struct eddy_sandbox_options){ .readable = list });
	path[1] = 'x';
	list[0] = NULL;
	cr_expect(eq(str, (char *)app->sandbox->readable[0], "/srv"));
	cr_expect(eq(ptr, (void *)app->sandbox->readable[1], NULL));
	eddy_app_sandbox(app, NULL);
	cr_expect(eq(ptr, (void *)app->sandbox->readable, NULL));
	eddy_app_free(app);
}

#ifndef EDDY_NO_CONFIG
Test(app_sandbox, is_configured)
{
	static const char *const program[] = { "/srv/a", NULL };
	struct eddy_app *app = eddy_app_new();

	eddy_app_with_config(app, "a.toml");
	eddy_app_sandbox(app, &(struct eddy_sandbox_options){ .readable = program });
	cr_expect(eq(int,
		     eddyi_config_read_text(app, eddy_str_from("[sandbox]\n"
							       "writable = ['/srv/b', 'c']\n"
							       "connects = true\n")),
		     0));
	cr_expect(eq(str, (char *)app->sandbox->readable[0], "/srv/a"));
	cr_expect(eq(str, (char *)app->sandbox->writable[1], "c"));
	cr_expect(app->sandbox->connects);
	eddy_app_free(app);
}
#endif
