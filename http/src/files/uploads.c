#include "uploads.h"

#include "descriptors.h"
#include "digest_file.h"
#include "exchange/req.h"
#include "exchange/res.h"
#include "open_files.h"
#include "upload.h"

#include <eddy/internal/outside.h>
#include <eddy/file.h>
#include <eddy/log.h>
#include <eddy/loop.h>
#include <errno.h>
#include <linux/openat2.h>

#define COUNT_MAX 1000
#define EXPIRE_NS (86400 * EDDY_SECOND)
/* Of a client whose upload another request holds, which may be hashing it. */
#define BUSY_S 5
/* Between two sweeps. */
#define SWEEP_NS (3600 * EDDY_SECOND)

uint64_t eddyi_uploads_max(const struct eddy_uploads *uploads, const struct eddy_req *req)
{
	return uploads->options.max ? uploads->options.max : eddyi_req_file_max(req);
}

/* ---- the target ---- */

/* The folder and the name of a path. */
struct target {
	int dir; /* -1: not open */
	const char *name;
	bool owned; /* the target closes the folder, which is counted for `party` */
	struct eddyi_party *party;
};

static void close_target(struct target *target)
{
	if (!target->owned)
		return;
	eddyi_close_now(target->dir);
	eddyi_descriptors_give_back(target->party, true);
	target->owned = false;
}

/* Open a folder beneath another for the party of a request. Suspends. Return: it, -errno. */
static int open_folder(struct eddyi_party *party, int dir, const char *path)
{
	struct open_how how = { .flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
				.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS };
	int r = eddyi_descriptors_take(party, true);

	if (r < 0)
		return r;
	r = eddy_openat2(dir, path, &how);
	if (eddyi_open_files_make_room(r))
		r = eddy_openat2(dir, path, &how);
	if (r < 0)
		eddyi_descriptors_give_back(party, true);
	return r;
}

/* A link to a folder beneath is listed as one, and not replaced by a file either. Suspends.
 * Return: 0, -EEXIST, -errno. */
static int check_link(struct eddy_uploads *uploads, struct eddy_req *req,
		      const struct target *target, struct eddy_str path)
{
	const char *copy;
	struct stat st;
	int r;

	if (eddyi_fstatat_now(target->dir, target->name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISLNK(st.st_mode))
		return 0;
	copy = eddyi_arena_dup(&req->arena, path).ptr;
	r = copy ? open_folder(req->stream->party, uploads->all.dir, copy) : -ENOMEM;
	if (r < 0)
		return r == -ENOMEM || r == -ECANCELED ? r : 0;
	eddyi_close_now(r);
	eddyi_descriptors_give_back(req->stream->party, true);
	return eddyi_req_fail(req, -EEXIST, 409, "there is a folder of that name");
}

/* Open the folder of a path. Suspends. Return: 0, -EINVAL, -EEXIST, -errno. */
static int open_target(struct eddy_uploads *uploads, struct eddy_req *req, struct eddy_str path,
		       struct target *ret_target)
{
	struct eddy_str copy = eddyi_arena_dup(&req->arena, path);
	char *slash;
	int r;

	*ret_target = (struct target){ .dir = uploads->all.dir };
	if (!copy.ptr)
		return -ENOMEM;
	slash = memrchr(copy.ptr, '/', copy.len);
	ret_target->name = slash ? slash + 1 : copy.ptr;
	r = eddyi_upload_check_name(eddy_str_from(ret_target->name), &eddyi_upload_defaults);
	if (r < 0)
		return eddyi_req_fail(req, r, 400,
				      "a file name must be UTF-8 of at most 255 bytes, without "
				      "control characters, and must not begin with a dot");
	if (!slash)
		return check_link(uploads, req, ret_target, path);
	*slash = 0;
	r = open_folder(req->stream->party, uploads->all.dir, copy.ptr);
	if (r == -ENOENT || r == -ENOTDIR || r == -EXDEV || r == -ELOOP || r == -ENAMETOOLONG)
		return eddyi_req_fail(req, -ENOENT, 404, "there is no such folder");
	if (r < 0)
		return r;
	ret_target->dir = r;
	ret_target->owned = true;
	ret_target->party = req->stream->party;
	return check_link(uploads, req, ret_target, path);
}

static struct eddy_upload describe(const struct eddy_uploads *uploads, struct eddy_str path,
				   uint64_t size)
{
	return (struct eddy_upload){
		.path = path, .size = size, .fd = -1, .data = uploads->options.data
	};
}

/* A function of the program may refuse by eddy_res_problem(), which returns 0. */
static int result_of(const struct eddy_res *res, int r)
{
	return r == 0 && res->status >= 400 ? EDDYI_UPLOADS_ANSWERED : r;
}

/* Return: as a handler. */
static int ask_begin(struct eddy_uploads *uploads, struct eddy_req *req, struct eddy_res *res,
		     struct eddy_str path, uint64_t length)
{
	struct eddy_upload upload = describe(uploads, path, length);

	return uploads->options.begin ? result_of(res, uploads->options.begin(req, res, &upload)) :
					0;
}

/* Return: as a handler. `*path` may change. */
static int ask_complete(struct eddy_uploads *uploads, struct eddy_req *req, struct eddy_res *res,
			struct eddy_str *path, uint64_t size, int fd)
{
	struct eddy_upload upload = describe(uploads, *path, size);
	int r;

	if (!uploads->options.complete)
		return 0;
	upload.fd = fd;
	r = result_of(res, uploads->options.complete(req, res, &upload));
	*path = upload.path;
	return r;
}

/* The response to a completed upload. */
static int respond(struct eddy_res *res, const char *name, uint64_t size, bool replaced)
{
	if (res->kind != EDDYI_RES_EMPTY)
		return 0;
	eddy_res_status(res, replaced ? 200 : 201);
	return eddy_res_json(res, json_pack("{s:s, s:I}", "name", name, "size", (json_int_t)size));
}

/* ---- expiry ---- */

static void tell_expired(void *arg, const json_t *state)
{
	struct eddy_uploads *uploads = arg;
	const json_t *length = json_object_get(state, "length");
	struct eddy_upload upload =
		describe(uploads, eddy_str_from(json_string_value(json_object_get(state, "path"))),
			 length ? (uint64_t)json_integer_value(length) : EDDY_LENGTH_UNKNOWN);

	uploads->options.expired(uploads->app, &upload);
}

static void sweep(struct eddy_uploads *uploads)
{
	int r = eddyi_partials_sweep(&uploads->all, uploads->options.expired ? tell_expired : NULL,
				     uploads);

	if (r < 0 && r != -ECANCELED)
		eddy_warn("eddy::http", "can't look for expired uploads in .eddy-uploads: %s",
			  strerror(-r));
}

/* ---- uploads that can be resumed ---- */

static int begin(struct eddy_uploads *uploads, struct eddy_req *req, struct target *target,
		 json_t *state, struct eddyi_partial *ret_partial)
{
	bool no_replace;
	struct stat st;
	int r = eddyi_upload_check_conditions(req, target->dir, target->name, &no_replace);

	/* Checked again at the end; a refusal now saves the client the upload. */
	if (r == 0 && eddyi_fstatat_now(target->dir, target->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    (S_ISDIR(st.st_mode) || uploads->options.no_replace))
		r = -EEXIST;
	if (r == 0 && no_replace && json_object_set_new(state, "no_replace", json_true()) < 0)
		r = -ENOMEM;
	if (r < 0) {
		json_decref(state);
		return r;
	}
	if (eddyi_partials_want_sweep(&uploads->all))
		sweep(uploads);
	r = eddyi_partial_create(ret_partial, &uploads->all, req->stream->party, target->dir,
				 state);
	if (r == -EDQUOT)
		return eddyi_req_fail(req, r, 507,
				      "there are too many incomplete uploads; try again later");
	if (r == -EXDEV)
		return eddyi_req_fail(req, r, 501,
				      "this folder is on another file system: uploads to it can't "
				      "be resumed");
	return r;
}

/* Keep the digest of the whole that the request announces, if there is one. Return: 0, -EBADMSG,
 * -ENOMEM. */
static int keep_digest(struct eddy_req *req, json_t *state)
{
	struct eddy_str field = eddy_req_header_joined(req, EDDYI_REPR_DIGEST);
	struct eddyi_digests announced;
	int r;

	if (!EDDYI_TLS || !field.ptr)
		return 0;
	r = eddyi_digest_announced(req, EDDYI_REPR_DIGEST, &announced);
	if (r == 0 &&
	    json_object_set_new(state, EDDYI_REPR_DIGEST, json_stringn(field.ptr, field.len)) < 0)
		r = -ENOMEM;
	return r;
}

int eddyi_uploads_begin(struct eddy_uploads *uploads, struct eddy_req *req, struct eddy_res *res,
			struct eddy_str path, uint64_t length, json_t *state,
			struct eddyi_partial *ret_partial)
{
	EDDY_AUTO(close_target) struct target target;
	int r;

	*ret_partial = (struct eddyi_partial){ .all = &uploads->all, .fd = -1 };
	r = open_target(uploads, req, path, &target);
	if (r == 0)
		r = ask_begin(uploads, req, res, path, length);
	if (r == 0)
		r = keep_digest(req, state);
	if (r == 0 &&
	    (json_object_set_new(state, "path", json_stringn(path.ptr, path.len)) < 0 ||
	     (length != EDDY_LENGTH_UNKNOWN &&
	      json_object_set_new(state, "length", json_integer((json_int_t)length)) < 0)))
		r = -ENOMEM;
	if (r != 0) {
		json_decref(state);
		return r;
	}
	return begin(uploads, req, &target, state, ret_partial);
}

int eddyi_uploads_find(struct eddy_uploads *uploads, struct eddy_req *req,
		       struct eddyi_partial *ret_partial)
{
	struct eddy_str id = req->params[req->route->param_count - 1];
	int r = eddyi_partial_find(ret_partial, &uploads->all, req->stream->party, id);

	if (r == -ENOENT)
		return eddyi_req_fail(req, r, 404, "there is no such upload, or it has expired");
	if (r != -EBUSY)
		return r;
	eddyi_res_set_u64(&req->res, "retry-after", BUSY_S);
	return eddyi_req_fail(req, r, 503, "another request for this upload has not ended yet");
}

int eddyi_uploads_append(struct eddyi_partial *partial, struct eddy_req *req, uint64_t max,
			 const char *name, const struct eddyi_digests *announced,
			 void (*tell)(void *arg, uint64_t offset), void *arg)
{
	uint64_t from = partial->offset;
	int r = announced->known ? eddyi_partial_savepoint(partial) : 0;

	if (r == 0)
		r = eddyi_partial_receive(partial, req, max, announced->known ? NULL : tell, arg);
	if (EDDYI_TLS && r == 0)
		r = eddyi_digest_check(req, name, announced, partial->fd, from,
				       partial->offset - from);
	if (r == 0)
		r = eddyi_partial_sync(partial);
	if (r == 0 && announced->known)
		r = eddyi_partial_commit(partial);
	if (r < 0 && announced->known) {
		int rolled = eddyi_partial_roll_back(partial);

		r = rolled < 0 ? rolled : r;
	}
	return r;
}

/* Compare the upload with the digests announced at its begin, and with those of this request. It is
 * discarded if they differ. Return: 0, -EBADMSG, -errno. */
static int check_digests(struct eddy_req *req, struct eddyi_partial *partial,
			 struct eddyi_digests *ret_known)
{
	struct eddy_str first = eddyi_partial_text(partial, EDDYI_REPR_DIGEST);
	struct eddyi_digests announced[2] = { 0 };
	int r;

	ret_known->known = 0;
	if (!EDDYI_TLS)
		return 0;
	r = eddyi_digest_announced(req, EDDYI_REPR_DIGEST, &announced[1]);
	if (r == 0)
		r = eddyi_digest_parse(first, &announced[0]);
	if (r == 0 && (announced[0].known | announced[1].known))
		r = eddyi_digest_of(partial->fd, 0, partial->offset,
				    announced[0].known | announced[1].known, ret_known);
	if (r < 0)
		return r;
	for (int i = 0; i < 2 && r == 0; i++)
		r = eddyi_digest_compare(req, EDDYI_REPR_DIGEST, &announced[i], ret_known);
	if (r < 0)
		eddyi_partial_remove(partial);
	return r;
}

/* Let the program judge the upload, which may choose another target. Return: as a handler. */
static int judge_partial(struct eddy_uploads *uploads, struct eddy_req *req, struct eddy_res *res,
			 struct eddyi_partial *partial, struct eddy_str asked,
			 struct target *target)
{
	struct eddy_str path = asked;
	int r = ask_complete(uploads, req, res, &path, partial->offset, partial->fd);

	/* A request that is cancelled meanwhile has not been judged. */
	if (r != 0 && r != -ECANCELED)
		eddyi_partial_remove(partial);
	if (r != 0)
		return r;
	if (eddy_str_eq(path, asked))
		return json_object_del(partial->state, "target") < 0 ? 0 :
								       eddyi_partial_save(partial);
	close_target(target);
	r = open_target(uploads, req, path, target);
	if (r < 0)
		return r;
	/* Beside "path": a request that completes it after a failure asks again. */
	if (json_object_set_new(partial->state, "target", json_stringn(path.ptr, path.len)) < 0)
		return -ENOMEM;
	return eddyi_partial_save(partial);
}

/* Return: as a handler. */
static int publish(struct eddy_uploads *uploads, struct eddy_req *req, struct eddy_res *res,
		   struct eddyi_partial *partial, const struct target *target)
{
	bool no_replace = json_is_true(json_object_get(partial->state, "no_replace")), replaced;
	int r = eddyi_partial_publish(partial, target->dir, target->name,
				      no_replace || uploads->options.no_replace, &replaced);

	if (r == -EEXIST && no_replace)
		eddyi_req_fail(req, r, 412, NULL);
	if (r == -EEXIST)
		eddyi_partial_remove(partial);
	return r < 0 ? r : respond(res, target->name, partial->offset, replaced);
}

int eddyi_uploads_complete(struct eddy_uploads *uploads, struct eddy_req *req, struct eddy_res *res,
			   struct eddyi_partial *partial)
{
	struct eddy_str path = eddyi_arena_dup(&req->arena, eddyi_partial_text(partial, "path"));
	EDDY_AUTO(close_target) struct target target = { .dir = -1 };
	struct eddyi_digests known = { 0 };
	struct stat st;
	int r = path.ptr ? open_target(uploads, req, path, &target) : -ENOMEM;

	if (r == 0)
		r = check_digests(req, partial, &known);
	if (r == 0 && known.known && eddyi_fstat_now(partial->fd, &st) < 0)
		r = -errno;
	if (r == 0)
		r = judge_partial(uploads, req, res, partial, path, &target);
	if (r == 0)
		r = publish(uploads, req, res, partial, &target);
	if (EDDYI_TLS && r == 0 && known.known)
		eddyi_digest_keep(partial->fd, &st, &known);
	return r;
}

int eddyi_uploads_explain(struct eddy_req *req, const struct eddyi_partial *partial, int error)
{
	if (error == -ECANCELED && partial->hold && eddyi_partial_is_wanted(partial))
		return eddyi_req_fail(req, error, 409, "another request continues this upload");
	return error;
}

/* ---- plain uploads ---- */

struct plain {
	struct eddy_uploads *uploads;
	struct eddy_req *req;
	struct eddy_res *res;
	struct eddy_str path;
	struct target target;
	struct target other; /* that .complete has chosen */
};

/* Once the body has arrived. Return: as a handler. */
static int judge(void *arg, const struct eddyi_incoming *incoming, int *dir, const char **name)
{
	struct plain *plain = arg;
	struct eddy_str asked = plain->path;
	int r = ask_complete(plain->uploads, plain->req, plain->res, &plain->path,
			     incoming->written, incoming->fd);

	if (r != 0 || eddy_str_eq(plain->path, asked))
		return r;
	r = open_target(plain->uploads, plain->req, plain->path, &plain->other);
	*dir = plain->other.dir;
	*name = plain->other.name;
	return r;
}

static int save_plainly(struct plain *plain)
{
	const struct eddy_uploads_options *options = &plain->uploads->options;
	struct eddy_save_options how = {
		.no_replace = options->no_replace,
		.sync = options->sync,
		.max = options->max,
	};
	struct eddy_saved saved;
	int r = open_target(plain->uploads, plain->req, plain->path, &plain->target);

	if (r == 0)
		r = ask_begin(plain->uploads, plain->req, plain->res, plain->path,
			      eddy_req_length(plain->req));
	if (r == 0)
		r = eddyi_upload_save(plain->req, plain->target.dir,
				      eddy_str_from(plain->target.name), &how,
				      options->complete ? judge : NULL, plain, &saved);
	return r ? r : respond(plain->res, saved.name.ptr, saved.size, saved.replaced);
}

int eddy_uploads_receive(struct eddy_uploads *uploads, struct eddy_req *req, struct eddy_res *res,
			 struct eddy_str path)
{
	struct plain plain = { uploads, req, res, path, { .dir = -1 }, { .dir = -1 } };
	int r;

	/* A decoded body has no offsets that the client knows. */
	if (!req->decoded && eddyi_draft_is_asked(req))
		return eddyi_draft_create(uploads, req, res, path);
	r = save_plainly(&plain);
	close_target(&plain.other);
	close_target(&plain.target);
	return eddyi_uploads_result(r);
}

int eddy_uploads_offer(struct eddy_uploads *uploads, struct eddy_req *req, struct eddy_res *res)
{
	int r = eddyi_draft_set_limits(uploads, req, res);

	if (r == 0)
		r = eddy_res_set_z(res, "accept-patch", "application/partial-upload");
	return r < 0 ? r : 204;
}

/* ---- mapping ---- */

/* Before the first request, so that uploads of an earlier run are counted. */
static int start(struct eddy_app *app, void *data)
{
	(void)app;
	sweep(data);
	return 0;
}

/* Task. */
static int sweep_again(void *arg)
{
	struct eddy_uploads *uploads = arg;
	uint64_t pause = uploads->all.expire_ns / 4;

	pause = pause > SWEEP_NS ? SWEEP_NS : pause;
	while (eddy_sleep(pause) == 0)
		sweep(uploads);
	return 0;
}

static void free_uploads(void *data)
{
	struct eddy_uploads *uploads = data;

	eddyi_partials_deinit(&uploads->all);
}

static const char *beneath(const struct eddy_uploads *uploads, const struct eddy_group *group,
			   const char *path)
{
	struct eddy_str whole;

	if (!path)
		return NULL;
	whole = eddyi_app_printf(uploads->app, "%.*s%s", EDDY_FMT(group->prefix), path);
	return whole.ptr;
}

/* Open a folder before the app runs, while standard output and error may still be closed: it does not
 * take their numbers. */
static int open_early(const char *path)
{
	int fd = eddyi_open_now(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0), higher;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	higher = eddyi_fcntl_now(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	eddyi_close_now(fd);
	return higher;
}

struct eddy_uploads *eddy_app_add_uploads(union eddy_router router, const char *dir,
					  const struct eddy_uploads_options *options)
{
	static const struct eddy_uploads_options defaults;
	struct eddy_app *app = router.group->owner.app;
	struct eddy_uploads *uploads = eddy_app_alloc(app, sizeof(*uploads));
	struct eddy_uploads_options *own = &uploads->options;
	int fd = open_early(dir);

	if (fd < 0)
		eddy_app_mistake(app, "can't receive uploads to the folder \"%s\": %s", dir,
				 strerror(errno));
	uploads->app = app;
	*own = options ? *options : defaults;
	own->count_max = own->count_max ? own->count_max : COUNT_MAX;
	own->expire_ns = own->expire_ns ? own->expire_ns : EXPIRE_NS;
	own->at = eddy_app_keep_string(app, own->at ? own->at : "/uploads");
	own->tus = eddy_app_keep_string(app, own->tus);
	uploads->at = beneath(uploads, router.group, own->at);
	uploads->tus = beneath(uploads, router.group, own->tus);
	eddyi_partials_init(&uploads->all, fd, own->count_max, own->expire_ns, own->sync);
	eddy_app_at_free(app, free_uploads, uploads);
	eddy_app_at_start(app, start, uploads);
	eddy_app_add_task(app, "uploads", sweep_again, uploads);
	eddyi_draft_map(uploads, router);
	if (own->tus)
		eddyi_tus_map(uploads, router);
	return uploads;
}

static int receive(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str path;
	bool slash;
	int r = eddy_req_path_beneath(req, &path, &slash);

	if (r == -ENOENT || slash || !path.len)
		return eddyi_req_fail(
			req, -EINVAL, 400,
			"the path must be that of a file, and no name in it may begin "
			"with a dot");
	return r < 0 ? r : eddy_uploads_receive(eddy_req_route_data(req), req, res, path);
}

static int offer(struct eddy_req *req, struct eddy_res *res)
{
	return eddy_uploads_offer(eddy_req_route_data(req), req, res);
}

void eddy_app_map_uploads(union eddy_router router, const char *pattern, const char *dir,
			  const struct eddy_uploads_options *options)
{
	struct eddy_route_options with = { .data = eddy_app_add_uploads(router, dir, options) };

	eddy_route_with(eddy_app_map_put(router, pattern, receive), &with);
	eddy_route_with(eddy_app_map_post(router, pattern, receive), &with);
	eddy_route_with(eddy_app_map_options(router, pattern, offer), &with);
}
