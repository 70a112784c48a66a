#include <eddy/upload.h>

#include "disposition.h"
#include "exchange.h"
#include "incoming.h"
#include "multipart.h"
#include "syntax.h"
#include "validator.h"

#include <eddy/file.h>
#include <eddy/io.h>
#include <eddy/scope.h>
#include <dirent.h>
#include <errno.h>
#include <sys/file.h>
#include <unistd.h>

#define TAKE_BACK_NS (10 * EDDY_SECOND)

static const struct eddy_save_options defaults;

static uint64_t limit_of(const struct eddy_req *req, const struct eddy_save_options *options)
{
	return options->max ? options->max : eddyi_req_file_max(req);
}

/* A name that creates an entry of the folder itself, and nothing hidden. */
static int check_name(struct eddy_str name, const struct eddy_save_options *options)
{
	if (!name.len || name.len > EDDYI_FILENAME_MAX || name.ptr[0] == '.' ||
	    memchr(name.ptr, '/', name.len) || !eddyi_syntax_is_utf8(name))
		return -EINVAL;
	for (size_t i = 0; i < name.len; i++)
		if ((unsigned char)name.ptr[i] < ' ' || name.ptr[i] == 0x7f)
			return -EINVAL;
	return options->accept && !options->accept(name) ? -EINVAL : 0;
}

/* What the request asks of the file that is there now (RFC 9110 section 13). That there be none is
 * also seen to when the new one is published.
 * Return: 0, -EEXIST when the request must not be carried out: 412. */
static int check_conditions(struct eddy_req *req, int dir, const char *name, bool *ret_no_replace)
{
	struct eddyi_cond_fields fields = eddyi_validator_conditions(req);
	struct eddyi_validator validator;
	struct stat st;
	bool exists;

	*ret_no_replace = fields.if_none_match.ptr && eddy_str_eq_z(fields.if_none_match, "*");
	if (!fields.if_match.ptr && !fields.if_none_match.ptr && !fields.if_unmodified_since.ptr)
		return 0;
	exists = fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
	if (exists) {
		eddyi_validator_init(&validator, &st);
		req->precondition_failed =
			eddyi_cond_evaluate(&fields, &validator.state, EDDYI_METHOD_PUT) !=
			EDDYI_COND_PROCEED;
	} else {
		req->precondition_failed = fields.if_match.ptr != NULL;
	}
	return req->precondition_failed ? -EEXIST : 0;
}

static uint64_t expected_length(const struct eddy_req *req)
{
	uint64_t length = eddy_req_length(req);

	return length == EDDY_LENGTH_UNKNOWN ? 0 : length;
}

static int sync_dir(int dir, const struct eddy_save_options *options)
{
	return options->sync ? eddy_fsync(dir, false) : 0;
}

static int receive(struct eddy_req *req, struct eddyi_incoming *incoming,
		   const struct eddy_save_options *options)
{
	int r = eddyi_incoming_open(incoming, incoming->dir, expected_length(req),
				    limit_of(req, options));

	if (r == 0)
		r = eddyi_incoming_receive_body(incoming, req->wire, &req->body);
	if (r == 0 && options->sync)
		r = eddyi_incoming_sync(incoming);
	return r;
}

int eddy_req_save_at(struct eddy_req *req, int dir, struct eddy_str name,
		     const struct eddy_save_options *options, struct eddy_saved *ret_saved)
{
	struct eddy_str copy = eddyi_arena_dup(&req->arena, name);
	EDDY_AUTO(eddyi_incoming_close) struct eddyi_incoming incoming = { .dir = dir, .fd = -1 };
	bool replaced, asked_for_none;
	int r;

	options = options ? options : &defaults;
	if (!copy.ptr)
		return -ENOMEM;
	/* A piece must not be taken for the whole (RFC 9110 section 14.5). */
	if (eddy_req_header(req, "content-range").ptr) {
		req->detail = "a file can't be sent in pieces";
		return -EINVAL;
	}
	r = check_name(copy, options);
	if (r == 0)
		r = check_conditions(req, dir, copy.ptr, &asked_for_none);
	if (r == 0)
		r = receive(req, &incoming, options);
	if (r == 0) {
		r = eddyi_incoming_publish(&incoming, copy.ptr,
					   options->no_replace || asked_for_none, &replaced);
		req->precondition_failed = r == -EEXIST && asked_for_none;
	}
	if (r == 0)
		r = sync_dir(dir, options);
	if (r < 0)
		return r;
	*ret_saved = (struct eddy_saved){ copy, incoming.written, replaced };
	return 0;
}

/* Read a client's file name. Return: 0, -EINVAL when there is none or a bad one. */
static int clean_name(struct eddy_str filename, struct eddy_str *ret_name)
{
	if (!filename.ptr)
		return -EINVAL;
	return eddyi_filename_clean(filename, ret_name);
}

int eddy_req_save(struct eddy_req *req, int dir, const struct eddy_save_options *options,
		  struct eddy_saved *ret_saved)
{
	struct eddy_str value = eddy_req_header(req, "content-disposition"), name;
	struct eddyi_disposition disposition;
	int r;

	if (!value.ptr) {
		req->detail = "the content-disposition field, which names the file, is missing";
		return -EINVAL;
	}
	r = eddyi_disposition_parse(&req->arena, value, &disposition);
	if (r == 0)
		r = clean_name(disposition.filename, &name);
	if (r == -EINVAL || r == -EBADMSG)
		req->detail = "the content-disposition field has no usable file name";
	return r < 0 ? r : eddy_req_save_at(req, dir, name, options, ret_saved);
}

/* ---- multipart ---- */

/* One file of a form. */
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
	uint64_t left; /* bytes that all files together may still have */
	struct form_file *files;
	size_t count;
	struct form_file *open; /* the one whose part is being read */
};

static bool is_taken(const struct form *form, struct eddy_str name)
{
	for (size_t i = 0; i < form->count; i++)
		if (eddy_str_eq(form->files[i].name, name))
			return true;
	return false;
}

static int begin_part(struct form *form, const struct eddyi_multipart_part *part)
{
	struct form_file *file = &form->files[form->count];
	struct eddy_str name;
	int r;

	/* A part without a file name is a field, which nobody has asked for here; an empty one is a
	 * browser's file input in which no file was chosen. */
	if (!part->filename.len)
		return 0;
	r = clean_name(part->filename, &name);
	if (r == 0)
		r = check_name(name, form->options);
	if (r == 0 && is_taken(form, name))
		r = -EINVAL;
	if (r < 0) {
		form->req->detail = "a part has an unusable file name, or two have the same";
		return r;
	}
	*file = (struct form_file){ .name = eddyi_arena_dup(&form->req->arena, name) };
	if (!file->name.ptr)
		return -ENOMEM;
	form->count++;
	form->open = file;
	return eddyi_incoming_open(&file->incoming, form->dir, 0, form->left);
}

static int add_data(struct form *form, struct eddy_str data)
{
	if (!form->open)
		return 0;
	if (data.len > form->left)
		return -EFBIG;
	form->left -= data.len;
	return eddyi_incoming_write(&form->open->incoming, data.ptr, data.len);
}

static int take_event(struct form *form, const struct eddyi_multipart_event *event)
{
	switch (event->kind) {
	case EDDYI_MULTIPART_PART:
		return begin_part(form, &event->part);
	case EDDYI_MULTIPART_DATA:
		return add_data(form, event->data);
	case EDDYI_MULTIPART_PART_END:
		form->open = NULL;
		return 0;
	default:
		return 0;
	}
}

/* Read the whole form: its files end up unnamed in the folder. */
static int read_form(struct form *form, struct eddyi_multipart *multipart, char *buf, size_t size)
{
	for (;;) {
		struct eddyi_multipart_event event;
		struct eddy_str piece;
		ssize_t len = eddy_req_read(form->req, buf, size);
		int r;

		if (len < 0)
			return (int)len;
		if (len == 0)
			return eddyi_multipart_finish(multipart);
		piece = eddy_str(buf, (size_t)len);
		do {
			r = eddyi_multipart_next(multipart, &piece, &event);
			if (r == 0)
				r = take_event(form, &event);
			if (r < 0)
				return r;
		} while (event.kind != EDDYI_MULTIPART_MORE);
	}
}

/* Whether the name still is this file's, and not of another upload that came later. */
static bool is_ours(const struct form *form, const struct form_file *file)
{
	struct stat ours, there;

	return fstat(file->incoming.fd, &ours) == 0 &&
	       fstatat(form->dir, file->name.ptr, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	       ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

/* Take back the names that were new. What was replaced is gone. */
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

static int publish_form(struct form *form)
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
	if (r == 0)
		r = sync_dir(form->dir, form->options);
	if (r < 0)
		take_back(form);
	return r;
}

static int open_form(struct eddy_req *req, struct eddyi_multipart *multipart)
{
	const struct eddyi_multipart_options limits = {
		.parts_max = req->app->options.parts_max,
	};
	struct eddy_str boundary;
	int r = eddyi_multipart_boundary(eddyi_head_find(&req->head, eddy_str("content-type", 12)),
					 &boundary);

	if (r < 0) {
		req->detail = "the body is not multipart/form-data with a boundary";
		return -EBADMSG;
	}
	eddyi_multipart_init(multipart, &req->arena, boundary, &limits);
	return 0;
}

#define FORM_BUFFER ((size_t)(64 * EDDY_KIB))

ssize_t eddy_req_save_all(struct eddy_req *req, int dir, const struct eddy_save_options *options,
			  struct eddy_saved **ret_files)
{
	unsigned parts_max = req->app->options.parts_max;
	struct form form = { .req = req, .dir = dir };
	struct eddyi_multipart multipart;
	struct eddy_saved *saved;
	char *buf;
	int r = open_form(req, &multipart);

	if (r < 0)
		return r;
	form.options = options ? options : &defaults;
	form.left = limit_of(req, form.options);
	if (expected_length(req) > form.left)
		return -EFBIG;
	form.files = eddyi_arena_alloc(&req->arena, parts_max * sizeof(*form.files));
	saved = eddyi_arena_alloc(&req->arena, parts_max * sizeof(*saved));
	buf = eddyi_arena_alloc(&req->arena, FORM_BUFFER);
	if (!form.files || !saved || !buf)
		return -ENOMEM;
	r = read_form(&form, &multipart, buf, FORM_BUFFER);
	if (r == 0)
		r = publish_form(&form);
	for (size_t i = 0; i < form.count; i++) {
		struct form_file *file = &form.files[i];

		saved[i] =
			(struct eddy_saved){ file->name, file->incoming.written, file->replaced };
		eddyi_incoming_close(&file->incoming);
	}
	*ret_files = saved;
	return r < 0 ? r : (ssize_t)form.count;
}

/* ---- cleaning ---- */

/* Remove a hidden file unless somebody holds its lock. Return: whether it was removed. */
static bool remove_litter(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	bool removed;

	if (fd < 0)
		return false;
	removed = flock(fd, LOCK_EX | LOCK_NB) == 0 && unlinkat(dir, name, 0) == 0;
	close(fd);
	return removed;
}

static bool is_hidden_name(const char *name)
{
	return strlen(name) == EDDYI_HIDDEN_SIZE - 1 &&
	       strncmp(name, EDDYI_HIDDEN_PREFIX, sizeof(EDDYI_HIDDEN_PREFIX) - 1) == 0;
}

int eddy_upload_clean(int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), removed = 0;
	struct dirent *entry;
	DIR *list;

	if (fd < 0)
		return -errno;
	list = fdopendir(fd);
	if (!list) {
		close(fd);
		return -ENOMEM;
	}
	while ((entry = readdir(list)))
		if (is_hidden_name(entry->d_name) && remove_litter(dir, entry->d_name))
			removed++;
	closedir(list);
	return removed;
}
