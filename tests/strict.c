/* Every public macro as plain C has to take it. Compiled with -std=c11 and newer, -Wall -Wextra -pedantic and
 * -Werror, by gcc and clang; <stdio.h> is first, so that it has decided by then what the system's headers show. */
#include <stdio.h>

#include <eddy/auth.h>
#include <eddy/compress.h>
#include <eddy/config.h>
#include <eddy/http.h>
#include <eddy/list.h>
#include <eddy/runtime.h>
#include <eddy/trace.h>

struct post {
	uint32_t id;
	double price;
	bool has_price, public;
	struct eddy_str slug;
	struct eddy_node node;
	const char *path;
};

struct thread {
	struct post first;
	struct post *posts;
	long *numbers;
	size_t post_count, number_count;
};

enum {
	LOG_BYTES = 64 * EDDY_KIB,
	MIB = EDDY_MIB,
	GIB = EDDY_GIB,
	ALGORITHM = EDDY_JWS_BIT(EDDY_JWS_RS256)
};

static const struct eddy_member post_members[] = {
	EDDY_MEMBER(struct post, id),
	EDDY_MEMBER(struct post, public, .optional = true),
	EDDY_MEMBER(struct post, slug, .as = "name", .names = EDDY_LIST("a", "b")),
	EDDY_MEMBER(struct post, price, .range = { 0, 10 },
		    .present = EDDY_PRESENT(struct post, has_price)),
};

static const struct eddy_member thread_members[] = {
	EDDY_OBJECT(struct thread, first, .of = EDDY_SHAPE(struct post, post_members)),
	EDDY_ARRAY(struct thread, posts, post_count, .of = EDDY_SHAPE(struct post, post_members),
		   .pattern = EDDY_PATTERN("^a")),
	EDDY_ARRAY(struct thread, numbers, number_count),
};

static const struct eddy_config_key keys[] = {
	{ "path", EDDY_CONFIG_PATH, EDDY_CONFIG_AT(struct post, path), .max = 10 },
	{ 0 },
};

static const struct eddy_local_key key = { "key" };

static void forget(FILE **file)
{
	if (*file)
		fclose(*file);
}

static void EDDY_PRINTF(1, 2) note(const char *format, ...)
{
	(void)format;
}

static bool lets_in(const struct eddy_jwt *token, void *data)
{
	(void)data;
	return token != NULL;
}

static int handle(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_pairs pairs = { NULL, 0 };
	char why[EDDY_WHY_SIZE];
	unsigned char byte;
	struct eddy_json_reader reader = { 0 };
	struct eddy_json_writer writer = { 0 };
	struct thread thread;
	struct post post, *posts;
	size_t count;
	long number;

	if (eddy_req_path(req, EDDY_TO(&number), EDDY_TO(&byte), EDDY_TO(&post.slug)) < 0 ||
	    eddy_req_path(req, EDDY_TO(&number)) < 0)
		return 400;
	if (eddy_req_path_into(req, post_members, &post) < 0 ||
	    eddy_req_query_into(req, post_members, &post) < 0 ||
	    eddy_req_form_into(req, post_members, &post) < 0 ||
	    eddy_req_json_into(req, post_members, &post) < 0 ||
	    eddy_req_json_array_into(req, post_members, &posts, &count) < 0 ||
	    eddy_json_read(&reader, post.slug, thread_members, &thread) < 0 ||
	    eddy_json_read_array(&reader, post.slug, post_members, &posts, &count) < 0 ||
	    eddy_json_write(&writer, thread_members, &thread) < 0 ||
	    eddy_json_write_array(&writer, post_members, thread.posts, thread.post_count) < 0 ||
	    eddy_res_json_from(res, thread_members, &thread) < 0 ||
	    eddy_res_json_array(res, post_members, thread.posts, thread.post_count) < 0 ||
	    eddy_req_claims_into(req, post_members, &post, why) < 0 ||
	    eddy_json_into(NULL, post_members, &post, why) < 0 ||
	    eddy_pairs_into(&pairs, post_members, &post, why) < 0)
		return 400;
	eddy_log(EDDY_LOG_INFO, "strict", EDDY_FIELDS(eddy_field_i64("number", number)), "%d", 1);
	if (eddy_str_eq(post.slug, EDDY_STR("none")))
		eddy_log(EDDY_LOG_INFO, "strict", NULL, "plain");
	eddy_error("strict", "plain");
	eddy_warn("strict", "%s", why);
	eddy_info("strict", "plain");
	eddy_debug("strict", "%.*s", EDDY_FMT(post.slug));
	eddy_trace("strict", "plain");
	return eddy_res_ok(res, "%.*s", EDDY_FMT(post.slug));
}

static int task(void *arg)
{
	EDDY_AUTO(forget) FILE *file = fopen("/dev/null", "r");
	struct post *post = eddy_of((struct eddy_node *)arg, struct post, node);
	struct io_uring_sqe sqe = { .opcode = IORING_OP_NOP };
	EDDY_AUTO(eddy_chan_deinit) struct eddy_chan chan = { 0 };
	void (*unlock)(struct eddy_mutex *) = eddy_mutex_unlock;
	struct eddy_mutex mutex;
	struct eddy_scope scope;
	struct eddy_join join;

	eddy_mutex_init(&mutex);
	eddy_mutex_lock(&mutex);
	unlock(&mutex);
	eddy_chan_init(&chan, 1, 1);
	note("%s %p", EDDY_HERE, (void *)file);
	eddy_scope_begin(&scope, &(struct eddy_scope_options){
					 .timeout_ns = 5 * EDDY_SECOND,
					 .locals = EDDY_LOCALS({ &key, post }),
				 });
	eddy_scope_spawn(&scope, "task", task, arg);
	eddy_scope_spawn_join(&scope, &join, "joined", task, &(struct post){ .id = 1 }.node);
	eddy_loops_call(eddy_loops_at(0), "call", task, arg);
	eddy_sleep(EDDY_MS + EDDY_US);
	eddy_op_call(&sqe);
	return eddy_scope_end(&scope);
}

int main(void)
{
	struct eddy_metric_options options = { .labels = EDDY_METRIC_LABELS({ "kind", "book" }) };
	const struct eddy_rule *rules[] = {
		eddy_roles("admin", "editor"),
		eddy_permissions("read"),
		eddy_claim("team", "blue", "red"),
		eddy_scopes("orders:read"),
		eddy_predicate(lets_in, NULL),
		eddy_any_of(eddy_roles("a"), eddy_all_of(eddy_scopes("b"), eddy_scopes("c"))),
	};

	printf("%d %d %d %d\n", LOG_BYTES, MIB, GIB, ALGORITHM);
	if (options.labels && rules[0] && keys[0].name)
		eddy_app_map_get(NULL, "/", handle);
	return task(NULL);
}
