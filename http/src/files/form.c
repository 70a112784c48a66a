/* Saving of a form's files together: all or none. */
#include "upload.h"

#include <eddy/internal/outside.h>
#include <eddy/file.h>
#include <eddy/scope.h>
#include <errno.h>

#define TAKE_BACK_NS (10 * EDDY_SECOND)

/* A file of a form. It stays open and unnamed until all have arrived, at most parts_max. Under a
 * hidden name it could be closed, but would remain if the server is killed. */
struct form_file {
	struct eddyi_incoming incoming;
	struct eddy_str name;
	bool replaced;
	bool published;
};

struct form {
	struct eddy_req *req;
	const struct eddy_save_options *options;
	int dir;
	uint64_t max;
	struct form_file *files;
	size_t count;
};

static bool is_taken(const struct form *form, struct eddy_str name)
{
	for (size_t i = 0; i < form->count; i++)
		if (eddy_str_eq(form->files[i].name, name))
			return true;
	return false;
}

static int receive(struct form *form, struct eddy_part *part)
{
	struct form_file *file = &form->files[form->count];
	/* Check for disk space for all files with the first one. */
	uint64_t expected = form->count ? 0 : eddyi_req_body_left(form->req);
	int r = eddyi_upload_check_name(part->safe_name, form->options);

	if (r < 0 || is_taken(form, part->safe_name))
		return eddyi_req_fail(
			form->req, -EINVAL, 400,
			"a part has an invalid file name, or two parts have the same");
	*file = (struct form_file){ .name = eddyi_arena_dup(&form->req->arena, part->safe_name) };
	if (!file->name.ptr)
		return -ENOMEM;
	form->count++;
	r = eddyi_incoming_open(&file->incoming, form->dir, form->req->stream->party, expected,
				form->max, NULL);
	return r < 0 ? r : eddyi_part_receive(part, &file->incoming);
}

/* Read the whole form. Its files are unnamed in the folder. */
static int receive_all(struct form *form, struct eddy_multipart *multipart)
{
	struct eddy_part *part;
	int r;

	while ((r = eddy_multipart_next(multipart, &part)) > 0) {
		/* A part without a file name is a field, which is ignored; an empty name is a
		 * browser's file input without a file. */
		r = part->filename.len ? receive(form, part) : 0;
		if (r < 0)
			break;
	}
	return r;
}

/* Whether the name is still this file's, and not that of a later upload. */
static bool is_ours(const struct form *form, const struct form_file *file)
{
	struct stat ours, there;

	return eddyi_fstat_now(file->incoming.fd, &ours) == 0 &&
	       eddyi_fstatat_now(form->dir, file->name.ptr, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	       ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

/* Remove the new names. Replaced files can't be restored. */
static void take_back(struct form *form)
{
	struct eddy_scope shield;

	eddy_scope_begin(&shield, &(struct eddy_scope_options){
					  .shielded = true,
					  .timeout_ns = TAKE_BACK_NS,
				  });
	for (size_t i = 0; i < form->count; i++) {
		struct form_file *file = &form->files[i];

		if (file->published && !file->replaced && is_ours(form, file))
			eddy_unlinkat(form->dir, file->name.ptr, 0);
	}
	eddy_scope_end(&shield);
}

static int publish(struct form *form)
{
	bool no_replace = form->options->no_replace;
	int r = 0;

	for (size_t i = 0; i < form->count && r == 0; i++) {
		if (form->options->sync)
			r = eddyi_incoming_sync(&form->files[i].incoming);
		if (r == 0)
			r = eddyi_incoming_hide(&form->files[i].incoming);
	}
	for (size_t i = 0; i < form->count && r == 0; i++) {
		struct form_file *file = &form->files[i];

		r = eddyi_incoming_rename(&file->incoming, file->name.ptr, no_replace,
					  &file->replaced);
		file->published = r == 0;
	}
	if (r == 0 && form->options->sync)
		r = eddy_fsync(form->dir, false);
	if (r < 0)
		take_back(form);
	return r;
}

ssize_t eddy_req_save_all(struct eddy_req *req, int dir, const struct eddy_save_options *options,
			  struct eddy_saved **ret_files)
{
	unsigned parts_max = req->app->options.parts_max;
	struct form form = { .req = req, .dir = dir };
	struct eddy_multipart *multipart;
	struct eddy_saved *saved;
	int r;

	form.options = options ? options : &eddyi_upload_defaults;
	form.max = eddyi_upload_max(req, form.options);
	r = eddy_req_multipart(req, &(struct eddy_multipart_options){ .max = form.max },
			       &multipart);
	if (r < 0)
		return r;
	form.files = eddyi_arena_alloc(&req->arena, parts_max * sizeof(*form.files));
	saved = eddyi_arena_alloc(&req->arena, parts_max * sizeof(*saved));
	if (!form.files || !saved)
		return -ENOMEM;
	r = receive_all(&form, multipart);
	if (r == 0)
		r = publish(&form);
	for (size_t i = 0; i < form.count; i++) {
		struct form_file *file = &form.files[i];

		saved[i] =
			(struct eddy_saved){ file->name, file->incoming.written, file->replaced };
		eddyi_incoming_close(&file->incoming);
	}
	*ret_files = saved;
	return r < 0 ? r : (ssize_t)form.count;
}
