/* POST /api/move: give a file or folder another name, maybe in another folder. */
#include "files.h"

#include <eddy/file.h>
#include <eddy/json.h>
#include <errno.h>
#include <linux/fs.h>

struct move {
	struct eddy_str from, to;
	bool replace;
};

static const struct eddy_member members[] = {
	EDDY_MEMBER(struct move, from),
	EDDY_MEMBER(struct move, to),
	EDDY_MEMBER(struct move, replace, .otherwise = "false"),
};

/* Only a file takes the place of a file: without RENAME_NOREPLACE a folder would take that of an
 * empty one. */
static int rename_to(const struct files_place *from, const struct files_place *to, bool replace)
{
	struct files_kind kind, there;
	int r = files_place_look(from, &kind);

	if (r < 0)
		return r;
	if (replace && files_place_look(to, &there) == 0 && there.is_folder)
		return -EISDIR;
	return eddy_renameat(from->dir, from->name, to->dir, to->name,
			     replace && !kind.is_folder ? 0 : RENAME_NOREPLACE);
}

static int answer(struct eddy_res *res, const struct move *move, int r)
{
	switch (r) {
	case 0:
		return eddy_res_json(res,
				     json_pack("{s:s%, s:s%}", "from", move->from.ptr,
					       move->from.len, "to", move->to.ptr, move->to.len));
	case -EEXIST:
		return eddy_res_problem(res, 409, "there is something of that name");
	case -EISDIR:
		return eddy_res_problem(res, 409, "there is a folder of that name");
	case -EINVAL:
		return eddy_res_problem(res, 409, "a folder can't be moved into itself");
	case -EXDEV:
		return eddy_res_problem(res, 409, "the new place is on another file system");
	case -ENAMETOOLONG:
		return eddy_res_problem(res, 400, "the new name is too long");
	default:
		return files_refused(res, r);
	}
}

int files_move(struct eddy_req *req, struct eddy_res *res)
{
	EDDY_AUTO(files_place_close) struct files_place from = { 0 };
	EDDY_AUTO(files_place_close) struct files_place to = { 0 };
	const struct files *files = eddy_req_context(req);
	struct move move;
	char *paths[2];
	int r = eddy_req_json_into(req, members, &move);

	if (r < 0)
		return r;
	if (!move.from.len || !eddy_path_is_public(move.from))
		return 404;
	if (!move.to.len || !eddy_path_is_public(move.to))
		return eddy_res_problem(res, 400, "\"to\" is not the path of a public name");
	paths[0] = eddy_req_strdup(req, move.from);
	paths[1] = eddy_req_strdup(req, move.to);
	r = paths[0] && paths[1] ? files_place_open(files, paths[0], &from) : -ENOMEM;
	if (r == 0)
		r = files_place_open(files, paths[1], &to);
	if (r == 0)
		r = rename_to(&from, &to, move.replace);
	return answer(res, &move, r);
}
