/* Tests of http/src/server/run.c: the end of an app. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/http.h>
#include <eddy/layer.h>
#include <eddy/runtime.h>
#include <eddy/client.h>
#include <eddy/test.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

struct ending {
	struct eddy_app *app;
	uint64_t gap_ns; /* between two calls that end it */
};

static void *end_twice(void *arg)
{
	const struct ending *ending = arg;
	uint64_t second;

	while (!eddy_app_port(ending->app))
		usleep(10);
	usleep(200);
	eddy_app_shutdown(ending->app);
	second = eddy_now() + ending->gap_ns;
	while (eddy_now() < second)
		;
	eddy_app_shutdown(ending->app);
	return NULL;
}

/* Whatever was on its way to the loop is delivered before what it points to is gone. */
static int run_apps(void *arg)
{
	const struct eddy_server_options options = { .no_signals = true };
	int failed = 0;

	(void)arg;
	for (int i = 0; i < 300; i++) {
		struct ending ending = { eddy_app_new(), (uint64_t)i * 300 };
		pthread_t thread;

		eddy_app_bind(ending.app, "127.0.0.1:0");
		eddy_app_with_server(ending.app, &options);
		if (pthread_create(&thread, NULL, end_twice, &ending) != 0)
			return -1;
		failed += eddy_app_run(ending.app) != 0;
		eddy_yield();
		pthread_join(thread, NULL);
		eddy_app_free(ending.app);
	}
	return failed;
}

Test(run, is_ended_twice)
{
	cr_expect(eq(int, eddy_run(NULL, run_apps, NULL), 0));
}

static int run_ended(void *arg)
{
	struct eddy_app *app = eddy_app_new();
	int r;

	(void)arg;
	eddy_app_bind(app, "127.0.0.1:0");
	eddy_app_shutdown(app);
	r = eddy_app_run(app);
	eddy_app_free(app);
	return r;
}

/* A shutdown is not lost on an app that another thread is about to start. */
Test(run, is_ended_before_it_runs)
{
	cr_expect(eq(int, eddy_run(NULL, run_ended, NULL), 0));
}

static void end_when_it_listens(const struct eddy_record *record, void *arg)
{
	if (eddy_str_starts(record->message, eddy_str_from("Listening on ")))
		eddy_app_shutdown(arg);
}

static int run_listening(void *arg)
{
	return eddy_app_run(arg);
}

/* On its own loop, which does not serve yet. */
Test(run, is_ended_by_who_reads_its_records)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_bind(app, "127.0.0.1:0");
	eddy_log_subscribe(end_when_it_listens, app);
	cr_expect(eq(int, eddy_run(NULL, run_listening, app), 0));
	eddy_log_unsubscribe();
	eddy_app_free(app);
}

/* ---- signals ---- */

struct two {
	struct eddy_app *apps[2];
	size_t listening;
	const int *signos; /* ends with 0 */
	unsigned ignored;  /* records about SIGUSR2 */
};

static void send_when_both_listen(const struct eddy_record *record, void *arg)
{
	struct two *two = arg;

	two->ignored += eddy_str_starts(record->message, eddy_str_from("SIGUSR2 is ignored"));
	two->listening += eddy_str_starts(record->message, eddy_str_from("Listening on "));
	if (two->listening < 2)
		return;
	two->listening = 0;
	for (const int *signo = two->signos; *signo; signo++)
		kill(getpid(), *signo);
}

static int run_two(void *arg)
{
	struct two *two = arg;
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	for (size_t i = 0; i < 2; i++)
		eddy_scope_spawn(&scope, "app", run_listening, two->apps[i]);
	eddy_scope_join(&scope);
	return eddy_scope_end(&scope);
}

static void signal_two(struct two *two)
{
	for (size_t i = 0; i < 2; i++) {
		two->apps[i] = eddy_app_new();
		eddy_app_bind(two->apps[i], "127.0.0.1:0");
	}
	eddy_log_subscribe(send_when_both_listen, two);
	cr_expect(eq(int, eddy_run(NULL, run_two, two), 0));
	eddy_log_unsubscribe();
	for (size_t i = 0; i < 2; i++)
		eddy_app_free(two->apps[i]);
}

/* One signal ends both, whichever of them fetches it. */
Test(run, all_apps_of_a_process_end_at_a_signal)
{
	struct two two = { .signos = (int[]){ SIGTERM, 0 } };

	signal_two(&two);
}

/* SIGUSR2 would end the process, and the unit's ExecReload sends it. */
Test(run, a_restart_that_is_not_allowed_is_logged)
{
	struct two two = { .signos = (int[]){ SIGUSR2, SIGTERM, 0 } };

	signal_two(&two);
	cr_expect(eq(uint, two.ignored, 1));
}

static int run_one_then_signal(void *arg)
{
	struct two *two = arg;
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "app", run_listening, two->apps[1]);
	eddy_app_shutdown(two->apps[0]);
	eddy_app_run(two->apps[0]);
	while (!eddy_app_port(two->apps[1]))
		eddy_sleep(EDDY_MS);
	kill(getpid(), SIGUSR2);
	kill(getpid(), SIGTERM);
	eddy_scope_join(&scope);
	return eddy_scope_end(&scope);
}

/* The last app collects what the first one did. */
Test(run, an_app_that_ends_leaves_signals_to_the_others)
{
	struct two two = { .signos = (int[]){ 0 } };

	for (size_t i = 0; i < 2; i++) {
		two.apps[i] = eddy_app_new();
		eddy_app_bind(two.apps[i], "127.0.0.1:0");
	}
	eddy_log_subscribe(send_when_both_listen, &two);
	cr_expect(eq(int, eddy_run(NULL, run_one_then_signal, &two), 0));
	eddy_log_unsubscribe();
	cr_expect(eq(uint, two.ignored, 1));
	for (size_t i = 0; i < 2; i++)
		eddy_app_free(two.apps[i]);
}

/* `data` is the other app, which handles signals once it listens. */
static int signal_at_start(struct eddy_app *app, void *data)
{
	(void)app;
	while (!eddy_app_port(data) && eddy_sleep(EDDY_MS) == 0)
		;
	kill(getpid(), SIGTERM);
	return eddy_sleep(20 * EDDY_MS);
}

/* The other app has fetched it meanwhile. */
Test(run, an_app_that_starts_ends_at_a_signal)
{
	struct two two = { .signos = (int[]){ 0 } };

	two.apps[0] = eddy_app_new();
	two.apps[1] = eddy_app_new();
	eddy_app_bind(two.apps[0], "127.0.0.1:0");
	eddy_app_bind(two.apps[1], "127.0.0.1:0");
	eddy_app_at_start(two.apps[1], signal_at_start, two.apps[0]);
	cr_expect(eq(int, eddy_run(NULL, run_two, &two), 0));
	for (size_t i = 0; i < 2; i++)
		eddy_app_free(two.apps[i]);
}

static volatile sig_atomic_t handled;

static void handle(int signo)
{
	handled = signo;
}

Test(run, leaves_sigusr2_to_the_program)
{
	struct two two = { .signos = (int[]){ SIGUSR2, SIGTERM, 0 } };

	signal(SIGUSR2, handle);
	signal_two(&two);
	cr_expect(eq(int, handled, SIGUSR2));
	cr_expect(eq(uint, two.ignored, 0));
}

/* ---- a start that fails ---- */

/* Run what does not listen, with stderr in memory. */
static const char *start_badly(const char *bind, int (*start)(struct eddy_app *app))
{
	static char said[1024];
	int fd = memfd_create("stderr", MFD_CLOEXEC), kept = dup(STDERR_FILENO);
	struct eddy_app *app = eddy_app_new();
	ssize_t len;

	eddy_app_bind(app, bind);
	if (!strcmp(bind, "127.0.0.1:0"))
		eddy_app_shutdown(app);
	dup2(fd, STDERR_FILENO);
	start(app);
	dup2(kept, STDERR_FILENO);
	len = pread(fd, said, sizeof(said) - 1, 0);
	said[len > 0 ? len : 0] = '\0';
	close(fd);
	close(kept);
	return said;
}

static int test_mistaken(struct eddy_app *app)
{
	struct eddy_response *response = NULL;

	eddy_app_map_get(app, "no slash", NULL);
	cr_expect(eq(int, eddy_app_test(app, "GET /", NULL, &response), -EINVAL));
	eddy_app_free(app);
	return 0;
}

Test(run, a_test_of_an_app_with_mistakes_says_why_on_stderr)
{
	/* Assertions of Criterion do not nest. */
	const char *said = start_badly("127.0.0.1:1", test_mistaken);

	cr_expect(strstr(said, "no slash") != NULL);
	/* Nothing is left behind. */
	cr_expect(eq(int, eddy_log_text_subscribe(), 0));
}

static void ignore(const struct eddy_record *record, void *arg)
{
	(void)record;
	(void)arg;
}

Test(run, a_start_that_fails_without_a_subscriber_says_why_on_stderr)
{
	const char *said;

	for (int i = 0; i < 2; i++) {
		said = start_badly("127.0.0.1:x", eddy_app_run_blocking);
		cr_expect(strstr(said, "ERROR eddy::app: can't listen on \"127.0.0.1:x\": ") !=
				  NULL,
			  "%s", said);
		cr_expect(strchr(said, '\n') == said + strlen(said) - 1, "%s", said);
	}
	/* A good one says nothing. */
	cr_expect_str_empty(start_badly("127.0.0.1:0", eddy_app_run_blocking));
	/* Nor does one whose program listens; and nobody took its place. */
	cr_assert(eq(int, eddy_log_subscribe(ignore, NULL), 0));
	cr_expect_str_empty(start_badly("127.0.0.1:x", eddy_app_run_blocking));
	eddy_log_unsubscribe();
}

/* ---- records ---- */

static char records[1024];

static void note_record(const struct eddy_record *record, void *arg)
{
	size_t len = strlen(records);

	(void)arg;
	snprintf(records + len, sizeof(records) - len, "%d %s: %.*s\n", record->level,
		 record->target, EDDY_FMT(record->message));
}

static int run_here(void *arg)
{
	return eddy_app_run(arg);
}

/* One that never listened has nothing to shut down. */
Test(run, that_fails_to_begin_tells_of_no_end)
{
	for (unsigned workers = 1; workers <= 3; workers += 2) {
		struct eddy_app *app = eddy_app_new();
		char want[200];

		records[0] = '\0';
		eddy_app_bind(app, "127.0.0.1:0");
		eddy_app_with_server(app, &(struct eddy_server_options){ .workers = workers });
		eddy_app_sandbox(app, NULL);
		cr_assert(zero(int, eddy_log_subscribe(note_record, NULL)));
		cr_expect(eq(int, eddy_run(NULL, run_here, app), -EPERM));
		eddy_log_unsubscribe();
		eddy_app_free(app);
		snprintf(want, sizeof(want),
			 "%d eddy::sandbox: can't enter the sandbox: the loop \"main\" was made "
			 "without .confined\n",
			 EDDY_LOG_ERROR);
		cr_expect_str_eq(records, want);
	}
}

/* ---- a freed app ---- */

/* Run an app that fails to start, or that ends at once. */
static struct eddy_app *run_to_its_end(const char *bind, int want)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_bind(app, bind);
	eddy_app_shutdown(app);
	cr_expect(eq(int, eddy_app_run_blocking(app), want));
	return app;
}

static unsigned refusals;

static void count_refusal(const struct eddy_record *record, void *arg)
{
	(void)arg;
	refusals += eddy_str_eq_z(record->message,
				  "can't start: eddy_app_run_blocking() has freed this app");
}

static int ask_what_is_gone(struct eddy_app *app)
{
	struct eddy_response *response;

	return eddy_app_test(app, "GET /", NULL, &response);
}

static void count_end(void *ends)
{
	(*(unsigned *)ends)++;
}

/* A program may free the app after the run, and need not. Other apps get other addresses. */
Test(run, leaves_an_app_that_may_be_freed)
{
	struct eddy_app *good = run_to_its_end("127.0.0.1:0", 0);
	struct eddy_app *bad = run_to_its_end("127.0.0.1:x", -EINVAL);
	struct eddy_app *kept = run_to_its_end("127.0.0.1:0", 0);
	struct eddy_app *other = eddy_app_new();
	unsigned ends = 0;

	cr_expect(other != good && other != bad && other != kept);
	eddy_app_at_free(other, count_end, &ends);
	/* Late calls, such as another thread's, do no harm. */
	eddy_app_shutdown(good);
	cr_expect(zero(uint, eddy_app_port(good)));
	cr_expect(zero(uint, eddy_app_stats(good).accepted));
	eddy_app_free(bad);
	eddy_app_free(good);
	/* A freed app does not run again. */
	cr_assert(eq(int, eddy_log_subscribe(count_refusal, NULL), 0));
	cr_expect(eq(int, eddy_app_run_blocking(kept), -EINVAL));
	cr_expect(eq(int, ask_what_is_gone(kept), -EINVAL));
	eddy_log_unsubscribe();
	cr_expect(eq(uint, refusals, 2));
	eddy_app_free(kept);
	cr_expect(zero(uint, ends));
	eddy_app_free(other);
	cr_expect(eq(uint, ends, 1));
}

/* ---- tasks beside it ---- */

struct beside {
	struct eddy_app *app;
	unsigned runs, ended;
	int slept, cleaned;
};

static int run_beside(void *arg)
{
	struct beside *beside = arg;
	struct eddy_scope shield;

	beside->runs++;
	if (beside->runs == 1)
		eddy_app_shutdown(beside->app);
	beside->slept = eddy_sleep(100 * EDDY_SECOND);
	eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true });
	beside->cleaned = eddy_sleep(EDDY_MS);
	eddy_scope_end(&shield);
	beside->ended++;
	return -EIO;
}

static int run_beside_app(void *arg)
{
	struct beside *beside = arg;
	int r;

	eddy_app_bind(beside->app, "127.0.0.1:0");
	r = eddy_app_run(beside->app);
	if (r == 0 && beside->ended != beside->runs)
		return -EBUSY;
	return r;
}

/* A task of the app's is there with it, and awaited at its end; what it returns does not count. */
Test(run, has_tasks_beside_it)
{
	struct beside beside = { .app = eddy_app_new() };

	eddy_app_add_task(beside.app, "one", run_beside, &beside);
	eddy_app_add_task(beside.app, "two", run_beside, &beside);
	cr_expect(eq(int, eddy_run(NULL, run_beside_app, &beside), 0));
	cr_expect(eq(uint, beside.runs, 2));
	cr_expect(eq(uint, beside.ended, 2));
	cr_expect(eq(int, beside.slept, -ECANCELED));
	cr_expect(eq(int, beside.cleaned, 0));
	eddy_app_free(beside.app);
}

/* ---- handlers that go on until they are told ---- */

/* GET /: as long as the app does not end. */
static int stay(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_event *stopping = eddy_req_stopping(req);

	if (stopping->is_set || eddy_res_write(res, "begun", 5) < 0)
		return 500;
	eddy_app_shutdown(eddy_req_app(req));
	return eddy_event_wait(stopping) < 0 ? 500 : eddy_res_write(res, ", ended", 7);
}

struct staying {
	struct eddy_app *app;
	char got[32];
};

static int ask_to_stay(void *arg)
{
	struct staying *staying = arg;
	struct eddy_client *client = eddy_client_new(NULL);
	struct eddy_response *response = NULL;
	struct eddy_str body;
	char url[64];

	while (!eddy_app_port(staying->app) && eddy_sleep(EDDY_MS) == 0)
		;
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/", eddy_app_port(staying->app));
	if (eddy_client_get(client, url, &response) == 0 &&
	    eddy_response_body(response, &body) == 0)
		snprintf(staying->got, sizeof(staying->got), "%.*s", EDDY_FMT(body));
	eddy_response_free(response);
	eddy_client_free(client);
	return 0;
}

static int run_staying(void *arg)
{
	struct staying *staying = arg;
	struct eddy_scope scope;
	int r;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "ask", ask_to_stay, staying);
	r = eddy_app_run(staying->app);
	eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	return r;
}

/* They hear of the end when it begins, not when the time to drain is over. */
Test(run, tells_handlers_that_it_stops)
{
	for (unsigned workers = 1; workers <= 3; workers += 2) {
		struct staying staying = { .app = eddy_app_new() };

		eddy_app_bind(staying.app, "127.0.0.1:0");
		eddy_app_with_server(staying.app, &(struct eddy_server_options){
							  .workers = workers,
							  .drain_timeout_ns = 600 * EDDY_SECOND,
						  });
		eddy_app_map_get(staying.app, "/", stay);
		cr_expect(eq(int, eddy_run(NULL, run_staying, &staying), 0));
		cr_expect_str_eq(staying.got, "begun, ended");
		eddy_app_free(staying.app);
	}
}

/* ---- the program cancels its app ---- */

struct cancelled {
	struct eddy_app *app;
	struct eddy_scope scope;
	bool request_is_over, came_first;
	int slept;
};

static int see_it_end(void *arg)
{
	struct cancelled *cancelled = arg;

	cancelled->slept = eddy_sleep(100 * EDDY_SECOND);
	cancelled->came_first = !cancelled->request_is_over;
	return 0;
}

/* A request that takes its time to end. */
static int linger(struct eddy_req *req, struct eddy_res *res)
{
	struct cancelled *cancelled = eddy_req_context(req);
	struct eddy_scope shield;

	(void)res;
	eddy_scope_cancel(&cancelled->scope);
	eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true });
	eddy_sleep(5 * EDDY_MS);
	eddy_scope_end(&shield);
	cancelled->request_is_over = true;
	return -ECANCELED;
}

static int ask_for_it(void *arg)
{
	struct cancelled *cancelled = arg;
	struct eddy_response *response = NULL;
	struct eddy_client *client = eddy_client_new(NULL);
	char url[64];

	while (!eddy_app_port(cancelled->app) && eddy_sleep(EDDY_MS) == 0)
		;
	snprintf(url, sizeof(url), "http://127.0.0.1:%d/", eddy_app_port(cancelled->app));
	eddy_client_get(client, url, &response);
	eddy_response_free(response);
	eddy_client_free(client);
	return 0;
}

static int run_cancelled(void *arg)
{
	struct cancelled *cancelled = arg;
	struct eddy_scope asking;

	eddy_scope_begin(&asking, NULL);
	eddy_scope_spawn(&asking, "ask", ask_for_it, cancelled);
	eddy_scope_begin(&cancelled->scope, NULL);
	eddy_app_run(cancelled->app);
	eddy_scope_end(&cancelled->scope);
	return eddy_scope_end(&asking);
}

/* Its requests are told at once, and what is beside them once they are over. */
Test(run, has_tasks_beside_its_last_request)
{
	struct cancelled cancelled = { .app = eddy_app_new() };

	eddy_app_bind(cancelled.app, "127.0.0.1:0");
	eddy_app_set_context(cancelled.app, &cancelled);
	eddy_app_map_get(cancelled.app, "/", linger);
	eddy_app_add_task(cancelled.app, "beside", see_it_end, &cancelled);
	cr_expect(eq(int, eddy_run(NULL, run_cancelled, &cancelled), 0));
	cr_expect(eq(int, cancelled.request_is_over, true));
	cr_expect(not(cancelled.came_first));
	cr_expect(eq(int, cancelled.slept, -ECANCELED));
	eddy_app_free(cancelled.app);
}
