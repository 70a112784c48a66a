#include "exchange/req.h"
#include "message/multipart.h"
#include "text/disposition.h"
#include "upload.h"

#include <errno.h>

/* Invariants:
 * 1. `part` is the part whose data the parser is in; NULL between parts.
 * 2. `data` is data of that part not yet read. It points into `buf` or the parser, which is not
 *    called while it is not empty.
 * 3. `piece` is what the parser has not yet parsed; it points into `buf`. */
struct eddy_multipart {
	struct eddy_req *req;
	struct eddyi_multipart parser;
	uint64_t field_max;
	uint64_t left; /* bytes that the body may still have */
	struct eddy_part *part;
	struct eddy_str data;
	struct eddy_str piece;
	int err; /* the first error, which all further calls return */
	char buf[64 * EDDY_KIB];
};

static int begin(struct eddy_multipart *form, const struct eddy_multipart_options *options)
{
	struct eddy_req *req = form->req;
	const struct eddyi_multipart_options limits = {
		.parts_max = options->parts_max ? options->parts_max : req->app->options.parts_max,
		.headers_max = req->app->options.part_header_max,
	};
	struct eddy_str type = eddy_req_header(req, "content-type"), boundary;
	int r = eddyi_multipart_boundary(type, &boundary);

	if (r < 0)
		return eddyi_req_fail(req, -EBADMSG, r == -EOPNOTSUPP ? 415 : 400,
				      "the body is not multipart/form-data with a boundary");
	if (eddyi_upload_expected(req) > form->left)
		return -EFBIG;
	eddyi_multipart_init(&form->parser, &req->arena, boundary, &limits);
	return 0;
}

int eddy_req_multipart(struct eddy_req *req, const struct eddy_multipart_options *options,
		       struct eddy_multipart **ret_form)
{
	static const struct eddy_multipart_options defaults;
	struct eddy_multipart *form = eddyi_arena_alloc(&req->arena, sizeof(*form));
	int r;

	if (!form)
		return -ENOMEM;
	options = options ? options : &defaults;
	form->req = req;
	form->field_max = options->field_max ? options->field_max : req->app->options.field_max;
	form->left = options->max ? options->max : eddyi_upload_max(req, &eddyi_upload_defaults);
	form->part = NULL;
	form->data = form->piece = eddy_str(NULL, 0);
	form->err = 0;
	r = begin(form, options);
	if (r == 0)
		*ret_form = form;
	return r;
}

/* Read the next piece of the body. Return: bytes; 0 at its end; -errno. */
static ssize_t fill(struct eddy_multipart *form)
{
	ssize_t len = eddy_req_read(form->req, form->buf, sizeof(form->buf));

	if (len <= 0)
		return len;
	if ((uint64_t)len > form->left)
		return -EFBIG;
	form->left -= (uint64_t)len;
	form->piece = eddy_str(form->buf, (size_t)len);
	form->req->body->trimmings += (uint64_t)len;
	return len;
}

/* Return: 1 and an event; 0 at the end of the body; -errno. */
static int next_event(struct eddy_multipart *form, struct eddyi_multipart_event *ret_event)
{
	ssize_t r = form->err;

	while (r == 0) {
		r = eddyi_multipart_next(&form->parser, &form->piece, ret_event);
		if (r == 0 && ret_event->kind == EDDYI_MULTIPART_DATA)
			form->req->body->trimmings -= ret_event->data.len;
		if (r == 0 && ret_event->kind != EDDYI_MULTIPART_MORE)
			return 1;
		if (r == 0)
			r = fill(form);
		if (r == 0) {
			r = eddyi_multipart_finish(&form->parser);
			if (r == 0)
				return 0;
		}
		r = r > 0 ? 0 : r;
	}
	form->err = (int)r;
	if (r == -EBADMSG)
		eddyi_req_fail(form->req, -EBADMSG, 400, "the form is malformed or ends too early");
	return form->err;
}

static struct eddy_part *make_part(struct eddy_multipart *form,
				   const struct eddyi_multipart_part *headers)
{
	struct eddy_part *part = eddyi_arena_alloc(&form->req->arena, sizeof(*part));

	if (!part)
		return NULL;
	*part = (struct eddy_part){
		.form = form,
		.name = headers->name,
		.filename = headers->filename,
		.type = headers->content_type,
	};
	if (part->filename.ptr && eddyi_filename_clean(part->filename, &part->safe_name) < 0)
		part->safe_name = eddy_str(NULL, 0);
	return part;
}

int eddy_multipart_next(struct eddy_multipart *form, struct eddy_part **ret_part)
{
	struct eddyi_multipart_event event;
	int r;

	form->data = eddy_str(NULL, 0);
	form->part = NULL;
	do
		r = next_event(form, &event);
	while (r > 0 && event.kind != EDDYI_MULTIPART_PART);
	if (r <= 0)
		return r;
	form->part = make_part(form, &event.part);
	if (!form->part) {
		form->err = -ENOMEM;
		return form->err;
	}
	*ret_part = form->part;
	return 1;
}

/* Provide data of the part in `data`. Return: 1; 0 at the part's end; -errno. */
static int peek(struct eddy_part *part)
{
	struct eddy_multipart *form = part->form;
	struct eddyi_multipart_event event;
	int r;

	if (form->err)
		return form->err;
	if (form->part != part)
		return 0;
	if (form->data.len)
		return 1;
	r = next_event(form, &event); /* never 0: a body can't end within a part */
	if (r < 0)
		return r;
	if (event.kind == EDDYI_MULTIPART_DATA) {
		form->data = event.data;
		return 1;
	}
	form->part = NULL;
	return 0;
}

/* Get the next non-empty data of the part, valid until the next call. Suspends.
 * Return: 1; 0 at the part's end; -errno as eddy_part_read(). */
static int next_piece(struct eddy_part *part, struct eddy_str *ret_data)
{
	int r = peek(part);

	if (r > 0) {
		*ret_data = part->form->data;
		part->form->data.len = 0;
	}
	return r;
}

ssize_t eddy_part_read(struct eddy_part *part, void *buf, size_t len)
{
	struct eddy_str *data = &part->form->data;
	int r = peek(part);

	if (r <= 0)
		return r;
	if (len > data->len)
		len = data->len;
	memcpy(buf, data->ptr, len);
	*data = eddy_str_skip(*data, len);
	return (ssize_t)len;
}

int eddy_part_text(struct eddy_part *part, struct eddy_str *ret_text)
{
	struct eddy_multipart *form = part->form;
	size_t len = 0, size = 0;
	struct eddy_str data;
	char *text = NULL;
	int r;

	while ((r = next_piece(part, &data)) > 0) {
		if (data.len > form->field_max - len)
			return -EMSGSIZE;
		if (!text || data.len > size - len) {
			char *larger;

			size = 2 * len > len + data.len ? 2 * len : len + data.len;
			larger = eddyi_arena_alloc(&form->req->arena, size + 1);
			if (!larger)
				return -ENOMEM;
			if (len)
				memcpy(larger, text, len);
			text = larger;
		}
		memcpy(text + len, data.ptr, data.len);
		len += data.len;
		r = eddyi_req_take_body_memory(form->req, data.len);
		if (r < 0)
			return r;
	}
	if (r < 0)
		return r;
	if (text)
		text[len] = 0;
	*ret_text = eddy_str(text ? text : "", len);
	return 0;
}

int eddyi_part_receive(struct eddy_part *part, struct eddyi_incoming *incoming)
{
	struct eddy_str data;
	int r;

	while ((r = next_piece(part, &data)) > 0) {
		r = eddyi_incoming_write(incoming, data.ptr, data.len);
		if (r < 0)
			break;
	}
	return r;
}

static int receive(struct eddy_part *part, struct eddyi_incoming *incoming, uint64_t max)
{
	int r = eddyi_incoming_open(incoming, incoming->dir, part->form->req->stream->party, 0, max,
				    NULL);

	return r < 0 ? r : eddyi_part_receive(part, incoming);
}

int eddy_part_save_at(struct eddy_part *part, int dir, struct eddy_str name,
		      const struct eddy_save_options *options, struct eddy_saved *ret_saved)
{
	EDDY_AUTO(eddyi_incoming_close) struct eddyi_incoming incoming = { .dir = dir, .fd = -1 };
	struct eddy_str copy = eddyi_arena_dup(&part->form->req->arena, name);
	bool replaced;
	int r;

	options = options ? options : &eddyi_upload_defaults;
	if (!copy.ptr)
		return -ENOMEM;
	r = eddyi_upload_check_name(copy, options);
	if (r < 0)
		return eddyi_req_fail(part->form->req, r, 400, "a part has no valid file name");
	r = receive(part, &incoming, options->max ? options->max : EDDY_NEVER);
	if (r == 0)
		r = eddyi_upload_publish(&incoming, copy.ptr, options, &replaced);
	if (r < 0)
		return r;
	*ret_saved = (struct eddy_saved){ copy, incoming.written, replaced };
	return 0;
}

int eddy_part_save(struct eddy_part *part, int dir, const struct eddy_save_options *options,
		   struct eddy_saved *ret_saved)
{
	return eddy_part_save_at(part, dir, part->safe_name, options, ret_saved);
}
