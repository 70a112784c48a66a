/* Files as responses: conditions, ranges and fields (RFC 9110 sections 13 and 14), and digests (RFC
 * 9530). */

#include "digest_file.h"
#include "exchange/res.h"
#include "open_files.h"
#include "text/date.h"
#include "text/disposition.h"

#include <eddy/internal/outside.h>
#include <eddy/internal/text.h>
#include <errno.h>

static int choose_ranges(struct eddy_res *res, const struct eddyi_cond_fields *fields,
			 const struct eddyi_cond_state *state)
{
	struct eddy_req *req = res->req;
	struct eddy_str value = eddyi_head_join(&req->head, "range");
	struct eddyi_ranges *ranges;
	char text[EDDYI_RANGE_TEXT_SIZE];
	unsigned char random[12];
	char *boundary;
	int r;

	if (!value.ptr || req->head.method != EDDYI_METHOD_GET ||
	    !eddyi_cond_range_allowed(fields, state))
		return 0;
	ranges = eddyi_arena_alloc(&req->arena, sizeof(*ranges));
	if (!ranges)
		return -ENOMEM;
	switch (eddyi_range_parse(value, res->file_size, ranges)) {
	case EDDYI_RANGE_NONE:
		return 0;
	case EDDYI_RANGE_UNSATISFIABLE:
		r = eddyi_render_error(req, 416, "the range lies outside of the file");
		return r ? r :
			   eddy_res_set(res, "content-range",
					eddyi_range_format_unsatisfied(res->file_size, text));
	case EDDYI_RANGE_SATISFIABLE:
		break;
	}
	res->status = 206;
	if (ranges->count == 1) {
		res->range = ranges->ranges[0];
		return eddy_res_set(res, "content-range",
				    eddyi_range_format(res->range, res->file_size, text));
	}
	res->ranges = ranges;
	res->part_type = eddy_res_header(res, "content-type");
	/* Random, so that no file can contain it on purpose. */
	r = eddyi_random(random, sizeof(random), GRND_NONBLOCK);
	if (r < 0)
		return r;
	boundary = eddyi_arena_alloc(&req->arena, 2 * sizeof(random));
	if (!boundary)
		return -ENOMEM;
	res->boundary = eddy_str(boundary, 2 * sizeof(random));
	eddyi_hex_format(random, sizeof(random), boundary);
	return eddy_res_set(res, "content-type",
			    eddyi_arena_printf(&req->arena, "multipart/byteranges; boundary=%.*s",
					       EDDY_FMT(res->boundary)));
}

static int set_if(struct eddy_res *res, const char *name, const char *value)
{
	return value ? eddy_res_set_z(res, name, value) : 0;
}

static int set_fields(struct eddy_res *res, struct eddy_str name,
		      const struct eddy_file_options *options, const struct eddyi_cond_state *state)
{
	struct eddy_req *req = res->req;
	char date[EDDYI_DATE_LEN + 1];
	int r = eddy_res_set(res, "content-type",
			     options->type ? eddy_str_from(options->type) :
					     eddyi_mime_of(req->app->mime, name));

	if (r == 0 && !options->no_disposition)
		r = eddy_res_set(res, "content-disposition",
				 eddyi_disposition_attachment(&req->arena, name));
	if (r == 0)
		r = set_if(res, "content-encoding", options->coding);
	if (r == 0)
		r = set_if(res, "cache-control", options->cache_control);
	if (r == 0)
		r = eddy_res_set(res, "etag", state->etag);
	if (r == 0)
		r = eddy_res_set(res, "last-modified", eddyi_date_format(state->modified, date));
	if (r == 0)
		r = eddy_res_set_z(res, "accept-ranges", "bytes");
	return r;
}

/* The body has been cleared, so none of these fields is set. */
static int describe(struct eddy_res *res, struct eddy_str name,
		    const struct eddy_file_options *options, const struct stat *st,
		    struct eddyi_validator *own, const struct eddyi_cond_state **ret_state)
{
	struct eddyi_open_file *kept = eddyi_open_file_of(&res->file);
	struct eddyi_validator *validator = kept ? &kept->validator : own;
	unsigned before = res->header_count;
	int r;

	*ret_state = &validator->state;
	if (kept && kept->fields.headers) {
		validator->state.now = eddyi_clock_seconds();
		return eddyi_res_fields_add(res, &kept->fields);
	}
	eddyi_validator_init(validator, st);
	r = set_fields(res, name, options, &validator->state);
	if (r == 0 && kept)
		eddyi_res_fields_keep(res, before, &kept->fields);
	return r;
}

enum selection {
	SELECTS_BYTES = 1, /* a condition or a range */
	WANTS_DIGEST = 2,
};

/* Look for the fields that matter here. Most requests have none; this skips joining six fields. */
static unsigned selection_of(const struct eddyi_head *head)
{
	unsigned selection = 0;

	for (unsigned i = 0; i < head->header_count; i++) {
		struct eddy_str name = head->headers[i].name;

		switch (name.len) {
		case 5:
			if (eddy_str_eq_nocase(name, EDDY_STR("range")))
				selection |= SELECTS_BYTES;
			break;
		case 8:  /* if-match, if-range */
		case 13: /* if-none-match */
		case 17: /* if-modified-since */
		case 19: /* if-unmodified-since */
			if (eddy_str_eq_nocase(eddy_str(name.ptr, 3), EDDY_STR("if-")))
				selection |= SELECTS_BYTES;
			break;
		case 16:
			if (eddy_str_eq_nocase(name, EDDY_STR("want-repr-digest")))
				selection |= WANTS_DIGEST;
			break;
		}
	}
	return selection;
}

/* Evaluate the request's conditions and its range. */
static int select_bytes(struct eddy_res *res, const struct eddyi_cond_state *state)
{
	struct eddy_req *req = res->req;
	struct eddyi_cond_fields fields = eddyi_validator_conditions(&req->head);

	switch (eddyi_cond_evaluate(&fields, state, req->head.method)) {
	case EDDYI_COND_NOT_MODIFIED:
		res->kind = EDDYI_RES_EMPTY;
		res->status = 304;
		return 0;
	case EDDYI_COND_FAILED:
		return eddyi_render_error(req, 412, NULL);
	case EDDYI_COND_PROCEED:
		break;
	}
	return choose_ranges(res, &fields, state);
}

/* `res` already owns the file. */
static int answer_with(struct eddy_res *res, struct eddy_str name,
		       const struct eddy_file_options *options, const struct stat *st)
{
	const struct eddyi_cond_state *state;
	struct eddyi_validator own;
	unsigned selection;
	int r;

	res->kind = EDDYI_RES_FILE;
	res->file_size = (uint64_t)st->st_size;
	res->range = (struct eddyi_range){ 0, res->file_size - 1 };
	r = describe(res, name, options, st, &own, &state);
	selection = r < 0 ? 0 : selection_of(&res->req->head);
	if (selection & SELECTS_BYTES)
		r = select_bytes(res, state);
	if (EDDYI_TLS && r == 0 && selection & WANTS_DIGEST && res->kind == EDDYI_RES_FILE)
		r = eddyi_digest_answer(res, st);
	return r;
}

int eddyi_res_found(struct eddy_res *res, struct eddy_str name, const struct eddyi_found *found,
		    const struct eddy_file_options *options)
{
	static const struct eddy_file_options defaults;

	eddyi_res_clear_body(res);
	res->file = found->file;
	return answer_with(res, name, options ? options : &defaults, &found->st);
}

int eddy_res_file(struct eddy_res *res, struct eddy_str name, int fd,
		  const struct eddy_file_options *options)
{
	struct eddyi_found found = { .file = { .fd = fd } };
	int r = eddyi_fstat_now(fd, &found.st) < 0 ? -errno :
		S_ISREG(found.st.st_mode)          ? 0 :
						     -ENOENT;

	if (r == 0)
		return eddyi_res_found(res, name, &found, options);
	eddyi_res_clear_body(res);
	eddyi_outgoing_close(&found.file);
	return r;
}

int eddy_res_file_at(struct eddy_res *res, int dir, struct eddy_str name)
{
	struct eddy_str path = eddyi_arena_dup(&res->req->arena, name);
	struct eddyi_folder folder = eddyi_folder_of(res->req->app, dir);
	struct eddyi_found found;
	const char *slash;
	int r;

	if (!path.ptr)
		return -ENOMEM;
	if (!path.len || memchr(path.ptr, 0, path.len))
		return -ENOENT;
	r = eddyi_folder_find(&folder, res->req->stream->party, path, EDDY_CODING_IDENTITY, &found);
	if (r < 0)
		return r == -EISDIR ? -ENOENT : r;
	slash = memrchr(path.ptr, '/', path.len);
	if (slash)
		path = eddy_str_skip(path, (size_t)(slash + 1 - path.ptr));
	return eddyi_res_found(res, path, &found, NULL);
}
