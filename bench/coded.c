/* coded: what `./dev bench compress-…` asks.
 *
 *     coded ADDRESS DIR [no_cache=1] [workers=N]
 *
 * Files of DIR and streams leave compressed; nothing is kept as it was coded with no_cache=1. /watch/{ms}
 * tells how long others hold the loop meanwhile.
 */
#include <eddy/compress.h>
#include <eddy/http.h>
#include <eddy/runtime.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>

#define PIECE ((size_t)EDDY_MIB)

static char text[PIECE];

static int hello(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_ok(res, "Hello, World!");
}

/* GET /stream/{n}: pieces of a mebibyte. */
static int stream(struct eddy_req *req, struct eddy_res *res)
{
	uint64_t left;
	int r = 0;

	if (eddy_req_path(req, EDDY_TO(&left)) < 0)
		return 400;
	eddy_res_set_z(res, "content-type", "text/plain");
	for (; left && r == 0; left -= left < PIECE ? left : PIECE)
		r = eddy_res_write(res, text, left < PIECE ? left : PIECE);
	return r;
}

/* GET /held/{n}: so many bytes, 16 KiB at a time, and then nothing for as long as the client is there. */
static int held(struct eddy_req *req, struct eddy_res *res)
{
	uint64_t left;
	int r = 0;

	if (eddy_req_path(req, EDDY_TO(&left)) < 0)
		return 400;
	eddy_res_set_z(res, "content-type", "text/plain");
	for (size_t at = 0; left && r == 0; at = (at + 16384) % PIECE) {
		size_t len = left < 16384 ? left : 16384;

		r = eddy_res_write(res, text + at, len);
		left -= len;
	}
	return r < 0 ? r : eddy_sleep(3600 * EDDY_SECOND);
}

/* GET /file/{name} */
static int file(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str name;
	int r = eddy_req_path(req, EDDY_TO(&name));

	return r < 0 ? 400 : eddy_res_file_at(res, *(int *)eddy_req_context(req), name);
}

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * EDDY_SECOND + (uint64_t)now.tv_nsec;
}

/* GET /watch/{ms}: the processor time in nanoseconds that went by between two turns of this task, a line each,
 * where somebody else has had some. */
static int watch(struct eddy_req *req, struct eddy_res *res)
{
	size_t count = 0, used = 0, most = 200000;
	uint32_t *spans = malloc(most * sizeof(*spans));
	char *out = spans ? malloc(most * 12) : NULL;
	uint64_t until, before, after;
	uint32_t ms;
	int r;

	if (!out || eddy_req_path(req, EDDY_TO(&ms)) < 0) {
		free(spans);
		free(out);
		return 400;
	}
	until = eddy_now() + ms * EDDY_MS;
	do {
		before = cpu_ns();
		r = eddy_yield();
		after = cpu_ns();
		if (after - before > 10 * EDDY_US && count < most)
			spans[count++] = (uint32_t)(after - before);
	} while (r == 0 && eddy_now() < until);
	for (size_t i = 0; i < count; i++)
		used += (size_t)sprintf(out + used, "%u\n", spans[i]);
	if (r == 0)
		r = eddy_res_write(res, out, used);
	free(spans);
	free(out);
	return r;
}

static void make_text(void)
{
	static const char *const words[] = { "the ",   "water ",  "of ",    "a ",
					     "river ", "turns ",  "and ",   "stone ",
					     "in ",    "ring ",   "where ", "leaves ",
					     "to ",    "bridge ", "mill ",  "far\n" };
	uint64_t state = 1;
	size_t at = 0;

	while (at < sizeof(text)) {
		char letter[] = "? ";
		const char *word;

		state = state * 6364136223846793005u + 1442695040888963407u;
		word = words[state >> 60];
		letter[0] = (char)('a' + (state >> 33) % 26);
		if ((state >> 40) % 8 == 0)
			word = letter;
		for (; *word && at < sizeof(text); word++)
			text[at++] = *word;
	}
}

int main(int argc, char **argv)
{
	int dir = argc > 2 ? open(argv[2], O_DIRECTORY | O_CLOEXEC) : -1;
	struct eddy_app *app = eddy_app_new();
	struct eddy_server_options server = { 0 };
	bool no_cache = false;

	if (dir < 0)
		return 2;
	for (int i = 3; i < argc; i++) {
		if (strcmp(argv[i], "no_cache=1") == 0)
			no_cache = true;
		else if (strncmp(argv[i], "workers=", 8) == 0)
			server.workers = (unsigned)atoi(argv[i] + 8);
		else
			return 2;
	}
	eddy_app_with_server(app, &server);
	make_text();
	eddy_app_bind(app, argv[1]);
	eddy_app_set_context(app, &dir);
	eddy_app_with_compression(app, &(struct eddy_compression_options){ .no_cache = no_cache });
	eddy_app_use_compression(app, NULL);
	eddy_app_map_get(app, "/hello", hello);
	eddy_app_map_get(app, "/stream/{n}", stream);
	eddy_app_map_get(app, "/held/{n}", held);
	eddy_app_map_get(app, "/file/{name}", file);
	eddy_app_map_get(app, "/watch/{ms}", watch);
	return eddy_app_run_blocking(app) < 0 ? 1 : 0;
}
