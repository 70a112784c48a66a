/* Tests of [runtime], and of the options that it replaces: the loops that are made for an app. */
#include "config/config.h"

#include "said.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/client.h>
#include <eddy/http.h>
#include <eddy/layer.h>
#include <eddy/loops.h>
#include <eddy/runtime.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

static char path[] = "/tmp/eddy-runtime-XXXXXX";

static void make_file(void)
{
	cr_assert(ge(int, mkstemp(path), 0));
}

static void remove_file(void)
{
	unlink(path);
}

static void write_file(const char *text)
{
	FILE *file = fopen(path, "we");

	cr_assert(ne(ptr, file, NULL));
	cr_assert(ge(int, fputs(text, file), 0));
	cr_assert(zero(int, fclose(file)));
}

/* ---- keys ---- */

Test(config_runtime, replaces_what_the_builder_said)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_with_config(app, "a.toml");
	eddy_app_with_server(app, &(struct eddy_server_options){ .stack_size = 3 * EDDY_MIB,
								 .stall_ns = 7 * EDDY_MS });
	cr_expect(zero(int, eddyi_config_read_text(app, EDDY_STR("[runtime]\n"))));
	cr_expect(eq(sz, app->options.stack_size, 3 * EDDY_MIB));
	cr_expect(eq(u64, app->options.stall_ns, 7 * EDDY_MS));
	cr_expect(zero(int, eddyi_config_read_text(app, EDDY_STR("[runtime]\n"
								 "stack_size = 65536\n"
								 "stall_ms = 0\n"
								 "offload_threads = 5\n"
								 "offload_queue_max = 6\n"))));
	cr_expect(eq(sz, app->options.stack_size, 65536));
	cr_expect(zero(u64, app->options.stall_ns));
	cr_expect(eq(uint, app->offload.threads, 5));
	cr_expect(eq(uint, app->offload.queue_max, 6));
	eddy_app_free(app);
}

static const struct {
	const char *line, *said;
} wrong[] = {
	{ "stack_size = 65535",
	  "stack_size: expected an integer from 65536 to 1073741824, not 65535" },
	{ "stack_size = 1_073_741_825",
	  "stack_size: expected an integer from 65536 to 1073741824, not 1073741825" },
	{ "stack_size = -1", "stack_size: expected an integer from 65536 to 1073741824, not -1" },
	{ "stack_size = '1M'",
	  "stack_size: expected an integer from 65536 to 1073741824, not the string \"1M\"" },
	{ "stall_ms = 31536000001",
	  "stall_ms: expected an integer from 0 to 31536000000 (milliseconds), not 31536000001" },
	{ "stall_ms = -1",
	  "stall_ms: expected an integer from 0 to 31536000000 (milliseconds), not -1" },
	{ "offload_threads = 0", "offload_threads: expected an integer from 1 to 1024, not 0" },
	{ "offload_threads = 1025",
	  "offload_threads: expected an integer from 1 to 1024, not 1025" },
	{ "offload_queue_max = 1048577",
	  "offload_queue_max: expected an integer from 1 to 1048576, not 1048577" },
	{ "workers = 2", "unknown key \"workers\"; expected one of: stack_size, stall_ms, "
			 "offload_threads, offload_queue_max" },
};

Test(config_runtime, says_what_is_wrong)
{
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct eddy_app *app = eddy_app_new();
		char text[100], want[300];

		eddy_app_with_config(app, "a.toml");
		snprintf(text, sizeof(text), "[runtime]\n%s\n", wrong[i].line);
		snprintf(want, sizeof(want), "a.toml:2: [runtime] %s\n", wrong[i].said);
		said_begin();
		cr_expect(eq(int, eddyi_config_read_text(app, eddy_str_from(text)), -EINVAL));
		cr_expect(eq(str, (char *)said_end(), want));
		eddy_app_free(app);
	}
}

Test(config_runtime, has_every_key_in_its_document)
{
	static const char *const defaults[] = { "262144", "0",
						"number of processors, at least 2, at most 4",
						"1024" };
	struct eddy_app *app = eddy_app_new();
	static char document[64 * 1024];
	FILE *file = fopen(EDDY_DOCS "/config.md", "re");

	cr_assert(ne(ptr, file, NULL));
	cr_assert(gt(sz, fread(document, 1, sizeof(document) - 1, file), 0));
	fclose(file);
	for (size_t i = 0; eddyi_config_runtime.keys[i].name; i++) {
		const struct eddy_config_key *key = &eddyi_config_runtime.keys[i];
		char expected[EDDYI_EXPECTED_SIZE], row[512];

		sprintf(row, "\n| `%s` | %s | %s | ", key->name,
			eddyi_config_key_expected(key, app, expected), defaults[i]);
		cr_expect(ne(ptr, strstr(document, row), NULL), "docs/config.md lacks:%s", row);
	}
	eddy_app_free(app);
}

/* ---- the program ---- */

Test(config_runtime, holds_the_program_to_the_same_limits)
{
	static const struct {
		size_t size;
		const char *said;
	} rows[] = {
		{ 65535, ".stack_size is 65535 bytes: expected 65536 to 1073741824\n" },
		{ SIZE_MAX,
		  ".stack_size is 18446744073709551615 bytes: expected 65536 to 1073741824\n" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct eddy_app *app = eddy_app_new();

		eddy_app_with_server(app,
				     &(struct eddy_server_options){ .stack_size = rows[i].size });
		said_begin();
		cr_expect(eq(int, eddy_app_run_blocking(app), -EINVAL));
		cr_expect(eq(str, (char *)said_end(), (char *)rows[i].said));
	}
}

/* ---- loops ---- */

#define ASKED 16

static struct {
	struct eddy_app *app;
	size_t deep;        /* bytes that a handler puts on its stack */
	size_t worker_deep; /* and one of a further worker */
	bool spins;
	atomic_uint served[2], stalls[2]; /* by the index of the loop */
	unsigned answered;
} rig;

static void note_stall(const struct eddy_record *record, void *arg)
{
	bool is_worker;

	(void)arg;
	if (strcmp(record->target, "eddy::stall") != 0)
		return;
	is_worker = memmem(record->message.ptr, record->message.len, "loop \"worker\"", 13);
	rig.stalls[is_worker]++;
}

static __attribute__((noinline)) unsigned dig(size_t left)
{
	volatile char room[4096];

	memset((char *)room, (int)left, sizeof(room));
	return left > sizeof(room) ? dig(left - sizeof(room)) + room[0] : (unsigned)room[1];
}

/* Answers when both loops have a request. */
static int handle(struct eddy_req *req, struct eddy_res *res)
{
	atomic_uint *stalls = &rig.stalls[eddy_loops_index()];
	uint64_t until = eddy_now() + 10 * EDDY_SECOND;
	unsigned before = *stalls;

	(void)req;
	rig.served[eddy_loops_index()]++;
	if (rig.deep)
		dig(rig.deep);
	if (rig.worker_deep && eddy_loops_index())
		dig(rig.worker_deep);
	while (rig.spins && *stalls == before && eddy_now() < until)
		;
	while ((!rig.served[0] || !rig.served[1]) && eddy_now() < until)
		if (eddy_sleep(EDDY_MS) < 0)
			return -ECANCELED;
	return eddy_res_ok(res, "done");
}

static int ask(void *arg)
{
	struct eddy_client *client = eddy_client_new(NULL);
	struct eddy_response *response = NULL;
	char url[64];

	(void)arg;
	while (!eddy_app_port(rig.app) && eddy_sleep(EDDY_MS) == 0)
		;
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/", eddy_app_port(rig.app));
	if (eddy_client_get(client, url, &response) == 0 && eddy_response_status(response) == 200)
		rig.answered++;
	eddy_response_free(response);
	eddy_client_free(client);
	return 0;
}

static int ask_all(void *arg)
{
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < ASKED; i++)
		eddy_scope_spawn(&scope, "ask", ask, arg);
	eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	eddy_app_shutdown(rig.app);
	return 0;
}

static void *client_main(void *arg)
{
	cr_expect(zero(int, eddy_run(NULL, ask_all, arg)));
	return NULL;
}

/* An app of two workers is asked by another thread, and run by `run`, which frees it. */
static void check(const struct eddy_server_options *options, const char *file,
		  int (*run)(struct eddy_app *app))
{
	pthread_t thread;

	rig.app = eddy_app_new();
	eddy_app_bind(rig.app, "127.0.0.1:0");
	eddy_app_with_server(rig.app, options);
	if (file) {
		write_file(file);
		eddy_app_with_config(rig.app, path);
	}
	eddy_app_map_get(rig.app, "/", handle);
	cr_assert(zero(int, pthread_create(&thread, NULL, client_main, NULL)));
	cr_expect(zero(int, run(rig.app)));
	pthread_join(thread, NULL);
	cr_expect(eq(uint, rig.answered, ASKED));
	cr_expect(ne(uint, rig.served[0], 0));
	cr_expect(ne(uint, rig.served[1], 0));
}

Test(config_runtime, the_file_gives_all_loops_their_stacks, .init = make_file, .fini = remove_file,
     .timeout = 60)
{
	const struct eddy_server_options options = { .workers = 2, .stack_size = 128 * EDDY_KIB };

	rig.deep = 2 * EDDY_MIB;
	check(&options, "[runtime]\nstack_size = 4_194_304\n", eddy_app_run_blocking);
}

Test(config_runtime, so_do_the_options)
{
	const struct eddy_server_options options = { .workers = 2, .stack_size = 4 * EDDY_MIB };

	rig.deep = 2 * EDDY_MIB;
	check(&options, NULL, eddy_app_run_blocking);
}

static int run_it(void *arg)
{
	return eddy_app_run(arg);
}

/* Its loop is the program's own: others are like it. */
static int run_on_own_loop(struct eddy_app *app)
{
	int r = eddy_run(&(struct eddy_loop_options){ .stack_size = 4 * EDDY_MIB,
						      .stall_ns = 10 * EDDY_MS },
			 run_it, app);

	eddy_app_free(app);
	return r;
}

Test(config_runtime, further_loops_are_as_the_one_of_the_program)
{
	rig.deep = 2 * EDDY_MIB;
	rig.spins = true;
	cr_assert(zero(int, eddy_log_subscribe(note_stall, NULL)));
	check(&(struct eddy_server_options){ .workers = 2 }, NULL, run_on_own_loop);
	eddy_log_unsubscribe();
	cr_expect(ne(uint, rig.stalls[1], 0));
}

/* Unless the options say otherwise. */
Test(config_runtime, further_loops_are_as_the_options_say)
{
	rig.worker_deep = 6 * EDDY_MIB;
	check(&(struct eddy_server_options){ .workers = 2, .stack_size = 8 * EDDY_MIB }, NULL,
	      run_on_own_loop);
}

Test(config_runtime, the_least_stack_has_room_for_a_handler)
{
	rig.deep = 16 * EDDY_KIB;
	check(&(struct eddy_server_options){ .workers = 2, .stack_size = EDDYI_STACK_MIN }, NULL,
	      eddy_app_run_blocking);
}

Test(config_runtime, the_file_has_stalls_told_of_all_loops, .init = make_file, .fini = remove_file,
     .timeout = 60)
{
	rig.spins = true;
	cr_assert(zero(int, eddy_log_subscribe(note_stall, NULL)));
	check(&(struct eddy_server_options){ .workers = 2 }, "[runtime]\nstall_ms = 10\n",
	      eddy_app_run_blocking);
	eddy_log_unsubscribe();
	cr_expect(ne(uint, rig.stalls[0], 0));
	cr_expect(ne(uint, rig.stalls[1], 0));
}

/* ---- the pool ---- */

static atomic_uint busy, most;

static int job(void *arg)
{
	unsigned now = ++busy;

	(void)arg;
	if (now > most)
		most = now;
	usleep(2000);
	busy--;
	return 0;
}

static int offload_one(void *arg)
{
	return eddy_offload(job, arg);
}

static int offload_many(struct eddy_app *app, void *data)
{
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 20; i++)
		eddy_scope_spawn(&scope, "job", offload_one, data);
	eddy_scope_join(&scope);
	eddy_scope_end(&scope);
	eddy_app_shutdown(app);
	return 0;
}

Test(config_runtime, the_file_bounds_the_pool, .init = make_file, .fini = remove_file)
{
	struct eddy_app *app = eddy_app_new();

	write_file("[runtime]\noffload_threads = 1\n");
	eddy_app_bind(app, "127.0.0.1:0");
	eddy_app_with_config(app, path);
	eddy_app_at_start(app, offload_many, NULL);
	cr_expect(zero(int, eddy_app_run_blocking(app)));
	cr_expect(eq(uint, most, 1));
}

/* ---- when it is read ---- */

static unsigned begun;

static void count_begin(void *target)
{
	(void)target;
	begun++;
}

static const struct eddy_config_key no_keys[] = { { 0 } };
static const struct eddy_config_section counted = { .name = "counted",
						    .keys = no_keys,
						    .begin = count_begin };

static int end_at_once(struct eddy_app *app, void *data)
{
	(void)data;
	eddy_app_shutdown(app);
	return 0;
}

/* Once by a start, so that what the loops were made with and what the app knows is of one file. */
Test(config_runtime, the_file_is_read_once, .init = make_file, .fini = remove_file)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_bind(app, "127.0.0.1:0");
	eddy_app_with_config(app, path);
	eddy_app_config_section(app, &counted, app);
	eddy_app_at_start(app, end_at_once, NULL);
	cr_expect(zero(int, eddy_app_run_blocking(app)));
	cr_expect(eq(uint, begun, 1));
}

/* And told once what is wrong with it, with what is wrong with the program. */
Test(config_runtime, is_told_once_with_the_mistakes_of_the_builder, .init = make_file,
     .fini = remove_file)
{
	struct eddy_app *app = eddy_app_new();
	char want[200];

	write_file("[runtime]\nstack_size = 1\n");
	eddy_app_with_config(app, path);
	eddy_app_map_get(app, "no slash", handle);
	snprintf(
		want, sizeof(want),
		"%s:2: [runtime] stack_size: expected an integer from 65536 to 1073741824, not 1\n",
		path);
	said_begin();
	cr_expect(eq(int, eddy_app_run_blocking(app), -EINVAL));
	said_end();
	cr_expect(zero(int, strncmp(said, want, strlen(want))), "%s", said);
	cr_expect(ne(ptr, strstr(said, "no slash"), NULL));
	cr_expect(zero(ptr, strstr(said + strlen(want), "[runtime]")));
}
