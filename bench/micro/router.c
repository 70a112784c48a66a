/* router: what it costs to find the route of a path, the path's splitting included.
 *
 *     router static|param|deep|none|turn ROUTES SECONDS
 *
 * A third of the ROUTES is of each shape: "/static7/list", "/things7/{id}", and one of eight segments
 * with three parameters. Sixteen paths of one shape, spread over all routes, are looked up over and
 * over; "none" are paths that nothing answers; "turn" is every static route in turn, so that their
 * nodes are in no small cache.
 */
#include "micro.h"

#include "app/router.h"

#include <stdio.h>
#include <string.h>

#define HOT 16
#define BATCH 64

static const char *const patterns[] = {
	"/static%lu/list",
	"/things%lu/{id}",
	"/api/v1/deep%lu/{tenant}/orders/{order}/lines/{line}",
};

static const char *const shapes[] = { "static", "param", "deep", "none", "turn" };

static const char *const targets[] = {
	"/static%lu/list", "/things%lu/1234567", "/api/v1/deep%lu/acme/orders/1234567/lines/89",
	"/static%lu/lost", "/static%lu/list",
};

static struct eddyi_router *make_router(unsigned long routes)
{
	struct eddyi_router *router = eddyi_router_new();
	const char *reason;
	char text[128];

	if (!router)
		micro_die("router");
	for (unsigned long i = 0; i < routes; i++) {
		snprintf(text, sizeof(text), patterns[i % 3], i);
		if (eddyi_router_add(router, EDDYI_METHOD_GET, eddy_str_from(text), router,
				     &reason) < 0)
			micro_die(reason);
	}
	return router;
}

/* Paths of one shape; of static and none those of the first. Return: how many. */
static size_t make_paths(size_t shape, unsigned long routes, struct eddy_str *paths)
{
	size_t kind = shape < 3 ? shape : 0, of_kind = (routes - kind + 2) / 3;
	size_t count = shape < 4 ? HOT : of_kind;
	char text[128];

	for (size_t i = 0; i < count; i++) {
		/* Far from one another, in an order that nobody can foresee. */
		unsigned long route = 3 * (i * 2654435761u % of_kind) + kind;

		snprintf(text, sizeof(text), targets[shape], route);
		paths[i] = eddy_str_from(strdup(text));
	}
	return count;
}

/* Return: whether it was found. */
static bool look_up(const struct eddyi_router *router, struct eddyi_arena *arena,
		    struct eddy_str text)
{
	struct eddyi_router_match match;
	struct eddyi_path path;

	if (eddyi_path_split(arena, text, &path) < 0)
		micro_die("path");
	eddyi_router_find(router, EDDYI_METHOD_GET, &path, &match);
	return match.route != NULL;
}

static void measure(size_t shape, unsigned long routes, double seconds)
{
	struct eddyi_router *router = make_router(routes);
	struct eddy_str *paths = calloc(routes + HOT, sizeof(*paths));
	size_t count = make_paths(shape, routes, paths), at = 0;
	struct eddyi_arena arena = { 0 };
	bool want = strcmp(shapes[shape], "none") != 0;
	struct micro micro = micro_begin(seconds);

	do {
		for (size_t i = 0; i < BATCH; i++) {
			if (look_up(router, &arena, paths[at]) != want)
				micro_die("not what was to be found");
			if (++at == count)
				at = 0;
		}
		/* As a request ends. */
		eddyi_arena_deinit(&arena);
	} while (micro_goes_on(&micro, BATCH));
	micro_print(&micro);
	for (size_t i = 0; i < count; i++)
		free((char *)paths[i].ptr);
	free(paths);
	eddyi_router_free(router);
}

int main(int argc, char **argv)
{
	unsigned long routes = argc == 4 ? strtoul(argv[2], NULL, 10) : 0;

	for (size_t i = 0; routes >= 3 && i < sizeof(shapes) / sizeof(*shapes); i++) {
		if (strcmp(argv[1], shapes[i]) == 0) {
			measure(i, routes, strtod(argv[3], NULL));
			return 0;
		}
	}
	fputs("usage: router static|param|deep|none|turn ROUTES SECONDS\n", stderr);
	return 2;
}
