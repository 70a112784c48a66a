/* Tests of eddy/tree.h: how it is mapped. What it answers is in tests/e2e/test_tree.py. */
#include "ask.h"

#include <fcntl.h>

#include "../descriptors.h"
#include "../on_valgrind.h"

static bool is_mistake(const char *pattern, const char *dir,
		       const struct eddy_tree_options *options)
{
	struct eddy_app *app = eddy_app_new();
	struct eddy_route *route = eddy_app_map_files(app, pattern, dir, options);
	bool mistake = eddyi_app_report_mistakes(app);

	cr_expect(ne(ptr, route, NULL));
	eddy_app_free(app);
	return mistake;
}

Test(tree, good_ones)
{
	cr_expect(not(is_mistake("/static/{path...}", "/", NULL)));
	cr_expect(not(is_mistake("/{path...}", ".", NULL)));
	cr_expect(not(is_mistake("/{a}/{path...}", "/",
				 &(struct eddy_tree_options){ .index = "", .cache_control = "" })));
}

Test(tree, mistakes)
{
	if (RUNNING_ON_VALGRIND)
		cr_skip_test("valgrind has no openat2()");
	cr_expect(is_mistake("/static/{path...}", "/no/such/folder", NULL));
	cr_expect(is_mistake("/static/{path...}", "/proc/self/exe", NULL));
	cr_expect(is_mistake("/static/{path}", "/", NULL));
	cr_expect(is_mistake("/static", "/", NULL));
	cr_expect(is_mistake("", "/", NULL));
	cr_expect(is_mistake("/{path...}/x", "/", NULL));
	cr_expect(is_mistake("/{path...}", "/", &(struct eddy_tree_options){ .index = "a/b" }));
	cr_expect(is_mistake("/{path...}", "/",
			     &(struct eddy_tree_options){ .cache_control = "a\r\nset-cookie: b" }));
}

Test(tree, app_closes_its_folders)
{
	int before = open_descriptors();
	struct eddy_app *app = eddy_app_new();

	for (int i = 0; i < 8; i++)
		eddy_app_map_files(app, i ? "/x/{path...}" : "/{path...}", "/", NULL);
	cr_expect(eq(int, open_descriptors(), before + 8));
	eddy_app_free(app);
	cr_expect(eq(int, open_descriptors(), before));
}

Test(tree, group)
{
	struct eddy_app *app = eddy_app_new();
	struct asked asked;

	eddy_app_map_files(eddy_app_group(app, "/a"), "/b/{path...}", "/", NULL);
	cr_expect(not(eddyi_app_report_mistakes(app)));
	ask(&asked, app, GET("/a/b/.hidden"));
	cr_expect(eq(int, asked.status, 404));
	ask_end(&asked);
	ask(&asked, app, "POST /a/b/x HTTP/1.1\nHost: h\n\n");
	cr_expect(eq(int, asked.status, 405));
	ask_end(&asked);
	eddy_app_free(app);
}
