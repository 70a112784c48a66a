#include "exchange/req.h"
#include "incoming.h"
#include "open_files.h"
#include "text/syntax.h"

#include <eddy/internal/outside.h>
#include <eddy/accept.h>
#include <eddy/tree.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct eddyi_tree {
	struct eddyi_folder *folder; /* its .dir is owned by the tree */
	const char *index;           /* empty: none */
	const char *cache_control;
	bool dot_files;
	bool no_siblings;
};

/* Best compression first: they are made ahead of time. */
static const struct {
	enum eddy_coding coding;
	const char *suffix;
} siblings[] = {
	{ EDDY_CODING_BR, ".br" },
	{ EDDY_CODING_ZSTD, ".zst" },
	{ EDDY_CODING_GZIP, ".gz" },
};

#define SIBLING_COUNT (sizeof(siblings) / sizeof(siblings[0]))

/* ---- finding the file ---- */

static bool is_visible(struct eddy_str name)
{
	return name.ptr[0] != '.';
}

static bool is_ours(struct eddy_str name)
{
	return !eddy_str_eq_z(name, ".") && !eddy_str_eq_z(name, "..") &&
	       !eddy_str_starts(name, eddy_str_from(EDDYI_HIDDEN_PREFIX));
}

/* ---- responses ---- */

/* Redirect to the same path with a slash at its end. The location is relative, so that it can't
 * lead to another host, whatever the path is. */
static int redirect(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str name = req->head.target.path, query = req->head.target.query;
	const char *slash = memrchr(name.ptr, '/', name.len);
	int r;

	name = eddy_str_skip(name, (size_t)(slash + 1 - name.ptr));
	r = eddy_res_set(res, "location",
			 eddyi_arena_printf(&req->arena, "./%.*s/%s%.*s", EDDY_FMT(name),
					    query.ptr ? "?" : "", EDDY_FMT(query)));
	return r < 0 ? r : 308;
}

/* Open the precompressed file that the client prefers.
 * Return: its coding; EDDY_CODING_IDENTITY if the file itself is to be sent. */
static enum eddy_coding open_sibling(const struct eddyi_tree *tree, struct eddy_req *req,
				     struct eddy_str path, struct eddyi_found *ret_found)
{
	struct eddy_accept accept = eddy_req_accept(req);
	enum eddy_coding order[SIBLING_COUNT], coding;
	const char *suffix[EDDY_CODING_COUNT];
	size_t count = SIBLING_COUNT;

	for (size_t i = 0; i < count; i++) {
		order[i] = siblings[i].coding;
		suffix[order[i]] = siblings[i].suffix;
	}
	while (count && eddy_accept_choose(&accept, order, count, &coding) == 0 &&
	       coding != EDDY_CODING_IDENTITY) {
		struct eddy_str name =
			eddyi_arena_printf(&req->arena, "%.*s%s", EDDY_FMT(path), suffix[coding]);
		size_t kept = 0;

		if (name.ptr && eddyi_folder_find(tree->folder, req->stream->party, name, coding,
						  ret_found) == 0)
			return coding;
		for (size_t i = 0; i < count; i++)
			if (order[i] != coding)
				order[kept++] = order[i];
		count = kept;
	}
	return EDDY_CODING_IDENTITY;
}

/* Takes ownership of `found`. */
static int answer(const struct eddyi_tree *tree, struct eddy_res *res, struct eddy_str path,
		  struct eddyi_found *found)
{
	struct eddy_file_options options = {
		.cache_control = tree->cache_control,
		.no_disposition = true,
	};
	struct eddyi_found sibling;
	enum eddy_coding coding;
	int r;

	if (tree->no_siblings)
		return eddyi_res_found(res, path, found, &options);
	coding = open_sibling(tree, res->req, path, &sibling);
	if (coding != EDDY_CODING_IDENTITY) {
		eddyi_outgoing_close(&found->file);
		found = &sibling;
		options.coding = eddy_coding_name(coding);
	}
	r = eddyi_res_found(res, path, found, &options);
	return r < 0 ? r : eddy_res_add(res, "vary", EDDY_STR("accept-encoding"));
}

/* Respond with the folder's index, or redirect to it. */
static int answer_folder(const struct eddyi_tree *tree, struct eddy_res *res, struct eddy_str path,
			 bool slash)
{
	struct eddy_req *req = res->req;
	struct eddyi_found found;
	int r;

	if (!tree->index[0])
		return -ENOENT;
	path = eddyi_arena_printf(&req->arena, "%.*s%s%s", EDDY_FMT(path), path.len ? "/" : "",
				  tree->index);
	if (!path.ptr)
		return -ENOMEM;
	r = eddyi_folder_find(tree->folder, req->stream->party, path, EDDY_CODING_IDENTITY, &found);
	if (r < 0)
		return r == -EISDIR ? -ENOENT : r;
	if (slash)
		return answer(tree, res, path, &found);
	eddyi_outgoing_close(&found.file);
	return redirect(req, res);
}

static int serve(struct eddy_req *req, struct eddy_res *res)
{
	const struct eddy_route *route = req->route->value;
	const struct eddyi_tree *tree = route->tree;
	struct eddyi_found found;
	struct eddy_str path;
	bool slash;
	int r = eddyi_req_beneath(req, tree->dot_files ? is_ours : is_visible, &path, &slash);

	if (r < 0)
		return r;
	if (!path.len || slash)
		return answer_folder(tree, res, path, slash);
	path = eddyi_arena_dup(&req->arena, path);
	if (!path.ptr)
		return -ENOMEM;
	r = eddyi_folder_find(tree->folder, req->stream->party, path, EDDY_CODING_IDENTITY, &found);
	if (r == -EISDIR)
		return answer_folder(tree, res, path, slash);
	return r < 0 ? r : answer(tree, res, path, &found);
}

/* ---- mapping ---- */

static const char *copy(struct eddy_app *app, const char *text)
{
	return eddyi_app_printf(app, "%s", text).ptr;
}

static void close_folder(void *data)
{
	const struct eddyi_tree *tree = data;

	if (tree->folder->dir >= 0)
		eddyi_close_now(tree->folder->dir);
}

static struct eddyi_tree *make_tree(struct eddy_app *app, const struct eddy_tree_options *options)
{
	struct eddyi_tree *tree = eddy_app_alloc(app, sizeof(*tree));

	*tree = (struct eddyi_tree){
		.folder = eddyi_folder_new(app, -1),
		.index = copy(app, options->index ? options->index : "index.html"),
		.dot_files = options->dot_files,
		.no_siblings = options->no_siblings,
	};
	if (options->cache_control)
		tree->cache_control = copy(app, options->cache_control);
	eddy_app_at_free(app, close_folder, tree);
	return tree;
}

/* Return: what is wrong with the mapping; NULL: nothing. */
static const char *find_mistake(const char *pattern, const struct eddyi_tree *tree)
{
	size_t len = strlen(pattern);

	if (len < 5 || strcmp(pattern + len - 4, "...}"))
		return "the pattern does not end in {name...}";
	if (strchr(tree->index, '/'))
		return "the index must be a file name";
	if (tree->cache_control && !eddyi_syntax_is_value(eddy_str_from(tree->cache_control)))
		return "cache-control contains a control character";
	return NULL;
}

struct eddy_route *eddy_app_map_files(union eddy_router router, const char *pattern,
				      const char *dir, const struct eddy_tree_options *options)
{
	static const struct eddy_tree_options defaults;
	struct eddy_app *app = router.group->owner.app;
	struct eddyi_tree *tree = make_tree(app, options ? options : &defaults);
	struct eddy_route *route = eddy_app_map_get(router, pattern, serve);
	const char *mistake = find_mistake(pattern, tree);

	route->tree = tree;
	tree->folder->dir = eddyi_open_now(dir, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
	if (tree->folder->dir < 0)
		eddy_app_mistake(app, "can't serve the folder \"%s\" at \"%s\": %s", dir, pattern,
				 strerror(errno));
	if (mistake)
		eddy_app_mistake(app, "can't serve a folder at \"%s\": %s", pattern, mistake);
	return route;
}
