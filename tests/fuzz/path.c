/* Fuzzes http/src/text/path.h, and the router with what comes out. */
#include "app/router.h"

#include <stdlib.h>

static struct eddyi_router *router_of_tests(void)
{
	static const char *const patterns[] = { "/",          "/a/{x}",   "/a/b/{rest...}",
						"/{x}/b/{y}", "/a/{x}/c", "/%2F" };
	struct eddyi_router *router = eddyi_router_new();
	const char *reason;

	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++)
		if (eddyi_router_add(router, EDDYI_METHOD_GET, eddy_str_from(patterns[i]), router,
				     &reason) < 0)
			abort();
	return router;
}

static void check_path(const struct eddyi_router *router, const struct eddyi_path *path)
{
	struct eddyi_router_match match;

	for (size_t i = 0; i < path->count; i++) {
		struct eddy_str segment = path->segments[i];

		if (segment.len && memchr(segment.ptr, 0, segment.len))
			abort();
		if (i && path->segments[i - 1].ptr + path->segments[i - 1].len + 1 != segment.ptr)
			abort();
	}
	eddyi_router_find(router, EDDYI_METHOD_HEAD, path, &match);
	if (match.nodes_visited > 16)
		abort();
	for (size_t i = 0; match.route && i < match.route->param_count; i++)
		if (match.params[i].len && !match.params[i].ptr)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct eddyi_router *router;
	struct eddy_str text = eddy_str((const char *)data, size);
	struct eddyi_arena arena = { 0 };
	const char *reason = NULL;
	struct eddyi_path path;

	if (!router)
		router = router_of_tests();
	if (eddyi_path_split(&arena, text, &path) == 0)
		check_path(router, &path);
	/* The same bytes as a pattern. */
	{
		struct eddyi_router *own = eddyi_router_new();

		if (eddyi_router_add(own, EDDYI_METHOD_GET, text, own, &reason) < 0 && !reason)
			abort();
		eddyi_router_free(own);
	}
	eddyi_arena_deinit(&arena);
	return 0;
}
