/* eddy/tree.h: a folder with all that is beneath it, as it lies there.
 *
 *     eddy_app_map_files(app, "/static/{path...}", "public", NULL);
 *
 * Files are sent as eddy_res_file_at() sends them, conditions and ranges included, but for a browser to
 * show and not to save. Where a file has a sibling `name.br`, `name.zst` or `name.gz` and the client
 * accepts that coding, the sibling's bytes are sent instead, with the file's content-type and an
 * etag, a date and ranges of their own; every answer says `vary: accept-encoding`. Who changes a
 * file changes its siblings, too.
 *
 * What was sent stays open for the next request, as eddy/open_files.h says.
 *
 * A folder answers with its index file at the path that ends in a slash, and without one redirects
 * there (308); it is never listed. A file with a slash behind it, a name that begins with a dot, what is
 * no regular file and a link that leads out of the folder are 404.
 */
#ifndef EDDY_TREE_H
#define EDDY_TREE_H

#include <eddy/group.h>

EDDY_BEGIN_DECLS

/* Every field: 0 means its default. The strings are copied. */
struct eddy_tree_options {
	const char *index; /* the file that a folder answers with; default "index.html"; "": none */
	const char *cache_control; /* value of the field of every file; default: no such field */
	bool dot_files;            /* names that begin with a dot are served, too */
	bool no_siblings;          /* files are sent as they are, whatever lies beside them */
};

/* Map GET, and so HEAD, of a pattern that ends in `{name...}` to the folder `dir`, which is opened
 * here and now: one that can't be is a mistake that run reports, like all others.
 * Return: the route, as eddy_app_map(). */
EDDY_API struct eddy_route *eddy_app_map_files(struct eddy_app *app, const char *pattern,
					       const char *dir,
					       const struct eddy_tree_options *options);
EDDY_API struct eddy_route *eddy_group_map_files(struct eddy_group *group, const char *pattern,
						 const char *dir,
						 const struct eddy_tree_options *options);

EDDY_END_DECLS

#endif
