/* eddy/tree.h: static files: a folder tree served as it is.
 *
 *     eddy_app_map_files(app, "/static/{path...}", "public", NULL);
 *
 * Files are sent as by eddy_res_file_at(), conditional and range requests included, but for
 * browsers to show, not to save. They stay open for the next request (eddy/open_files.h).
 *
 * Precompressed files: if `name.br`, `name.zst` or `name.gz` exists beside a file and the client
 * accepts its coding, that is sent instead, with the file's content-type and its own etag, date and
 * ranges. Update them together with the file. Responses have `vary: accept-encoding`.
 *
 * A folder's index file answers its path with a final slash; without the slash, 308 redirects
 * there. Folders are never listed. 404: a file with a slash after it, names that begin with a dot,
 * what is not a regular file, links that lead out of the folder.
 */
#ifndef EDDY_TREE_H
#define EDDY_TREE_H

#include <eddy/group.h>

#pragma GCC system_header /* see eddy/target.h */

EDDY_BEGIN_DECLS

/* How a tree is served. A zero field takes its default. Strings are copied. */
struct eddy_tree_options {
	const char *index;         /* a folder's index file; default "index.html"; "": none */
	const char *cache_control; /* its value for every file; default: no such field */
	bool dot_files;            /* also serve names that begin with a dot */
	bool no_siblings;          /* ignore precompressed files */
};

/* Map GET, and so HEAD, of a pattern that ends in `{name...}` to the folder `dir`. It is opened at
 * once; eddy_app_run() reports a failure.
 * Return: the route, as eddy_app_map(). */
EDDY_API struct eddy_route *eddy_app_map_files(union eddy_router router, const char *pattern,
					       const char *dir,
					       const struct eddy_tree_options *options);

EDDY_END_DECLS

#endif
