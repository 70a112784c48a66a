#include "upload.h"

#include "digest_file.h"
#include "exchange/req.h"
#include "message/cond.h"
#include "text/disposition.h"

#include <eddy/internal/outside.h>
#include <eddy/file.h>
#include <eddy/internal/text.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#define DECODED_SIZE ((size_t)(64 * EDDY_KIB))

const struct eddy_save_options eddyi_upload_defaults;

uint64_t eddyi_upload_max(const struct eddy_req *req, const struct eddy_save_options *options)
{
	return options->max ? options->max : eddyi_req_file_max(req);
}

int eddyi_upload_check_name(struct eddy_str name, const struct eddy_save_options *options)
{
	return eddyi_filename_is_public(name) && (!options->accept || options->accept(name)) ?
		       0 :
		       -EINVAL;
}

int eddyi_upload_check_conditions(struct eddy_req *req, int dir, const char *name,
				  bool *ret_no_replace)
{
	struct eddyi_cond_fields fields = eddyi_validator_conditions(&req->head);
	struct eddyi_validator validator;
	struct stat st;
	bool failed;

	*ret_no_replace = fields.if_none_match.ptr && eddy_str_eq_z(fields.if_none_match, "*");
	if (!fields.if_match.ptr && !fields.if_none_match.ptr && !fields.if_unmodified_since.ptr)
		return 0;
	if (eddyi_fstatat_now(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		eddyi_validator_init(&validator, &st);
		failed = eddyi_cond_evaluate(&fields, &validator.state, EDDYI_METHOD_PUT) !=
			 EDDYI_COND_PROCEED;
	} else {
		failed = fields.if_match.ptr != NULL;
	}
	return failed ? eddyi_req_fail(req, -EEXIST, 412, NULL) : 0;
}

uint64_t eddyi_upload_expected(const struct eddy_req *req)
{
	uint64_t length = eddy_req_length(req);

	return length == EDDY_LENGTH_UNKNOWN ? 0 : length;
}

int eddyi_upload_publish(struct eddyi_incoming *incoming, const char *name,
			 const struct eddy_save_options *options, bool *ret_replaced)
{
	int r = options->sync ? eddyi_incoming_sync(incoming) : 0;

	if (r == 0)
		r = eddyi_incoming_publish(incoming, name, options->no_replace, ret_replaced);
	if (r == 0 && options->sync)
		r = eddy_fsync(incoming->dir, false);
	return r;
}

/* A decoded body passes through user memory. */
static int receive_decoded(struct eddy_req *req, struct eddyi_incoming *incoming)
{
	char *buf = malloc(DECODED_SIZE);
	ssize_t r = buf ? 1 : -ENOMEM;

	while (r > 0) {
		r = eddy_req_read(req, buf, DECODED_SIZE);
		if (r > 0) {
			int written = eddyi_incoming_write(incoming, buf, (size_t)r);

			r = written < 0 ? written : r;
		}
	}
	free(buf);
	return (int)r;
}

/* Whether the whole body has arrived, so that writing and publishing the file takes one moment: a
 * kill leaves as little behind as with a rename. */
static bool is_here(const struct eddy_req *req, const struct eddy_save_options *options)
{
	uint64_t expected = eddyi_upload_expected(req);

	return expected && !req->decoded && !options->sync &&
	       req->stream->verbs->arrived(req) >= expected;
}

/* ---- digests ---- */

/* Digests that the request announces (RFC 9530); without a content coding both are of the same
 * bytes. */
struct announced {
	struct eddyi_digests content;
	struct eddyi_digests repr;
	struct stat st;             /* of the file when it was hashed */
	struct eddyi_digests known; /* those of the file */
};

static int read_announced(struct eddy_req *req, struct announced *announced)
{
	int r;

	/* Digests of a coded body are of its encoded bytes, which are not saved. */
	if (!EDDYI_TLS || req->decoded)
		return 0;
	r = eddyi_digest_announced(req, EDDYI_CONTENT_DIGEST, &announced->content);
	return r < 0 ? r : eddyi_digest_announced(req, EDDYI_REPR_DIGEST, &announced->repr);
}

/* Compare the received file with what was announced, in one pass. */
static int check_announced(struct eddy_req *req, const struct eddyi_incoming *incoming,
			   struct announced *announced)
{
	unsigned algorithms = announced->content.known | announced->repr.known;
	int r;

	if (!EDDYI_TLS || !algorithms)
		return 0;
	if (eddyi_fstat_now(incoming->fd, &announced->st) < 0)
		return -errno;
	r = eddyi_digest_of(incoming->fd, 0, incoming->written, algorithms, &announced->known);
	if (r == 0)
		r = eddyi_digest_compare(req, EDDYI_CONTENT_DIGEST, &announced->content,
					 &announced->known);
	if (r == 0)
		r = eddyi_digest_compare(req, EDDYI_REPR_DIGEST, &announced->repr,
					 &announced->known);
	return r;
}

static void keep_announced(const struct eddyi_incoming *incoming, const struct announced *announced)
{
	if (EDDYI_TLS && announced->known.known)
		eddyi_digest_keep(incoming->fd, &announced->st, &announced->known);
}

/* ---- saving ---- */

static int receive(struct eddy_req *req, struct eddyi_incoming *incoming, const char *name,
		   const struct eddy_save_options *options)
{
	int r = eddyi_incoming_open(incoming, incoming->dir, req->stream->party,
				    eddyi_upload_expected(req), eddyi_upload_max(req, options),
				    is_here(req, options) ? name : NULL);

	if (r < 0)
		return r;
	if (req->decoded)
		return receive_decoded(req, incoming);
	return eddyi_incoming_receive_body(incoming, req);
}

int eddyi_upload_save(struct eddy_req *req, int dir, struct eddy_str name,
		      const struct eddy_save_options *options, eddyi_upload_judge_fn *judge,
		      void *arg, struct eddy_saved *ret_saved)
{
	EDDY_AUTO(eddyi_incoming_close) struct eddyi_incoming incoming = { .dir = dir, .fd = -1 };
	struct eddy_save_options how = options ? *options : eddyi_upload_defaults;
	struct eddy_str copy = eddyi_arena_dup(&req->arena, name);
	struct announced announced = { 0 };
	bool replaced, asked_for_none;
	int r;

	if (!copy.ptr)
		return -ENOMEM;
	/* A part must not be saved as the whole (RFC 9110 section 14.5). */
	if (eddy_req_header(req, "content-range").ptr)
		return eddyi_req_fail(
			req, -EINVAL, 400,
			"partial uploads are not supported: send the whole file, without "
			"content-range");
	r = eddyi_upload_check_name(copy, &how);
	if (r == 0)
		r = eddyi_upload_check_conditions(req, dir, copy.ptr, &asked_for_none);
	if (r == 0)
		r = read_announced(req, &announced);
	if (r == 0)
		r = receive(req, &incoming, copy.ptr, &how);
	if (r == 0)
		r = check_announced(req, &incoming, &announced);
	if (r == 0 && judge) {
		r = judge(arg, &incoming, &incoming.dir, &copy.ptr);
		incoming.seen = (struct eddyi_incoming_look){ 0 };
	}
	if (r == 0) {
		how.no_replace |= asked_for_none;
		r = eddyi_upload_publish(&incoming, copy.ptr, &how, &replaced);
		if (r == -EEXIST && asked_for_none)
			eddyi_req_fail(req, r, 412, NULL);
	}
	if (r != 0)
		return r;
	keep_announced(&incoming, &announced);
	*ret_saved = (struct eddy_saved){ eddy_str_from(copy.ptr), incoming.written, replaced };
	return 0;
}

int eddy_req_save_at(struct eddy_req *req, int dir, struct eddy_str name,
		     const struct eddy_save_options *options, struct eddy_saved *ret_saved)
{
	return eddyi_upload_save(req, dir, name, options, NULL, NULL, ret_saved);
}

int eddy_req_save(struct eddy_req *req, int dir, const struct eddy_save_options *options,
		  struct eddy_saved *ret_saved)
{
	struct eddy_str value = eddy_req_header(req, "content-disposition"), name;
	struct eddyi_disposition disposition;
	int r;

	if (!value.ptr)
		return eddyi_req_fail(
			req, -EINVAL, 400,
			"the content-disposition field, which names the file, is missing");
	r = eddyi_disposition_parse(&req->arena, value, &disposition);
	if (r == 0)
		r = eddyi_filename_clean(disposition.filename, &name);
	if (r == -EINVAL || r == -EBADMSG)
		return eddyi_req_fail(req, r, 400,
				      "the content-disposition field has no valid file name");
	return r < 0 ? r : eddy_req_save_at(req, dir, name, options, ret_saved);
}

/* ---- clean-up ---- */

/* Remove a hidden file unless it is locked, or can't be locked. Return: whether it was removed. */
static bool remove_litter(int dir, const char *name)
{
	/* O_RDWR, since NFS locks no file that is opened only for reading. */
	int fd = eddyi_openat_now(dir, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0);
	bool removed;

	if (fd < 0)
		return false;
	removed = eddyi_flock_now(fd, LOCK_EX | LOCK_NB) == 0 &&
		  eddyi_unlinkat_now(dir, name, 0) == 0;
	eddyi_close_now(fd);
	return removed;
}

static bool is_hidden_name(const char *name)
{
	return strlen(name) == EDDYI_HIDDEN_SIZE - 1 &&
	       strncmp(name, EDDYI_HIDDEN_PREFIX, sizeof(EDDYI_HIDDEN_PREFIX) - 1) == 0;
}

int eddy_upload_clean(int dir)
{
	int fd = eddyi_openat_now(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0), removed = 0;
	struct dirent *entry;
	DIR *list;

	if (fd < 0)
		return -errno;
	list = eddyi_fdopendir_now(fd);
	if (!list) {
		eddyi_close_now(fd);
		return -ENOMEM;
	}
	while ((entry = eddyi_readdir_now(list)))
		if (is_hidden_name(entry->d_name) && remove_litter(dir, entry->d_name))
			removed++;
	eddyi_closedir_now(list);
	return removed;
}
