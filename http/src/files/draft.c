/* Resumable uploads of the IETF: draft-ietf-httpbis-resumable-upload-12. */
#include "uploads.h"

#include "digest_file.h"
#include "exchange/req.h"
#include "exchange/res.h"
#include "text/structured.h"

#include <eddy/internal/text.h>
#include <eddy/loop.h>
#include <errno.h>
#include <stdio.h>

#define MEDIA_TYPE "application/partial-upload"
/* Clients that name it in upload-draft-interop-version understand 104 responses. */
#define INTEROP_VERSION "8"
#define PROBLEMS "https://iana.org/assignments/http-problem-types#"
/* The largest integer of a structured field (RFC 9651 section 3.3.1). */
#define INTEGER_MAX 999999999999999ULL
#define APPEND_TOO_LARGE "the body is larger than max-append-size"
/* Between two interim responses that tell the offset. */
#define PROGRESS_NS EDDY_SECOND

/* ---- fields ---- */

/* Other values are ignored. Return: whether the field is there and valid. */
static bool read_item(struct eddy_req *req, const char *name, enum eddyi_structured_type type,
		      int64_t *ret_value)
{
	struct eddy_str field = eddy_req_header_joined(req, name);
	struct eddyi_structured item;

	if (!field.ptr || eddyi_structured_parse_item(field, &item) < 0 || item.type != type ||
	    item.integer < 0)
		return false;
	*ret_value = item.integer;
	return true;
}

static bool read_integer(struct eddy_req *req, const char *name, uint64_t *ret_value)
{
	return read_item(req, name, EDDYI_STRUCTURED_INTEGER, (int64_t *)ret_value);
}

static bool read_boolean(struct eddy_req *req, const char *name, bool *ret_value)
{
	int64_t value = 0;
	bool valid = read_item(req, name, EDDYI_STRUCTURED_BOOLEAN, &value);

	*ret_value = value;
	return valid;
}

/* The fields of a request that tell of its upload. */
struct fields {
	bool has_complete, complete;
	bool has_offset, has_length;
	uint64_t offset, length;
	uint64_t content; /* bytes of its body, or EDDY_LENGTH_UNKNOWN */
};

static void read_fields(struct eddy_req *req, struct fields *ret_fields)
{
	*ret_fields = (struct fields){ .content = eddy_req_length(req) };
	ret_fields->has_complete = read_boolean(req, "upload-complete", &ret_fields->complete);
	ret_fields->has_offset = read_integer(req, "upload-offset", &ret_fields->offset);
	ret_fields->has_length = read_integer(req, "upload-length", &ret_fields->length);
}

bool eddyi_draft_is_asked(struct eddy_req *req)
{
	bool complete;

	return read_boolean(req, "upload-complete", &complete);
}

/* Learn the length of the whole from the request, whose body begins at `offset`.
 * Return: 0; -EINVAL if the request contradicts itself or what was known. */
static int learn_length(const struct fields *fields, uint64_t offset, uint64_t *length)
{
	uint64_t known = *length;
	bool ends = fields->complete && fields->content != EDDY_LENGTH_UNKNOWN;

	if (ends && fields->content > (uint64_t)INT64_MAX - offset)
		return -EINVAL;
	if (fields->has_length)
		*length = fields->length;
	if ((known != EDDY_LENGTH_UNKNOWN && *length != known) || *length < offset)
		return -EINVAL;
	if (!ends)
		return 0;
	if (*length != EDDY_LENGTH_UNKNOWN && *length != offset + fields->content)
		return -EINVAL;
	*length = offset + fields->content;
	return 0;
}

static bool knows_interim(const struct eddy_req *req)
{
	return eddy_str_eq_z(eddy_req_header(req, "upload-draft-interop-version"), INTEROP_VERSION);
}

/* ---- responses ---- */

static void put_limit(char *text, size_t size, const char *name, uint64_t value)
{
	size_t len = strlen(text);

	snprintf(text + len, size - len, "%s%s=%llu", len ? ", " : "", name,
		 (unsigned long long)value);
}

static void limits(const struct eddy_uploads *uploads, const struct eddy_req *req, char *ret_text,
		   size_t size)
{
	uint64_t max = eddyi_uploads_max(uploads, req);
	const struct eddy_uploads_options *options = &uploads->options;

	*ret_text = 0;
	if (max <= INTEGER_MAX)
		put_limit(ret_text, size, "max-size", max);
	if (options->append_max && options->append_max <= INTEGER_MAX)
		put_limit(ret_text, size, "max-append-size", options->append_max);
	if (options->append_min)
		put_limit(ret_text, size, "min-append-size", options->append_min);
	put_limit(ret_text, size, "max-age", options->expire_ns / EDDY_SECOND);
}

int eddyi_draft_set_limits(const struct eddy_uploads *uploads, const struct eddy_req *req,
			   struct eddy_res *res)
{
	char text[160];

	limits(uploads, req, text, sizeof(text));
	return eddy_res_set_z(res, "upload-limit", text);
}

static void set_complete(struct eddy_res *res, bool complete)
{
	eddy_res_set_z(res, "upload-complete", complete ? "?1" : "?0");
	if (knows_interim(res->req))
		eddy_res_set_z(res, "upload-draft-interop-version", INTEROP_VERSION);
}

static const char *url_of(const struct eddy_uploads *uploads, struct eddy_req *req,
			  const struct eddyi_partial *partial)
{
	return eddyi_arena_printf(&req->arena, "%s/%s", uploads->at, partial->id).ptr;
}

/* Answer with a problem of the draft's section 7. `offsets` are the expected and the provided one;
 * NULL: none. Return: EDDYI_UPLOADS_ANSWERED, -errno. */
static int problem(struct eddy_res *res, int status, const char *type, const char *title,
		   const uint64_t *offsets)
{
	char text[400];
	int len = snprintf(text, sizeof(text),
			   "{\"type\":\"" PROBLEMS "%s\",\"title\":\"%s\",\"status\":%d", type,
			   title, status);
	int r;

	if (offsets)
		len += snprintf(text + len, sizeof(text) - (size_t)len,
				",\"expected-offset\":%llu,\"provided-offset\":%llu",
				(unsigned long long)offsets[0], (unsigned long long)offsets[1]);
	text[len++] = '}';
	set_complete(res, false);
	eddy_res_status(res, status);
	r = eddy_res_bytes(res, "application/problem+json", eddy_str(text, (size_t)len));
	return r < 0 ? r : EDDYI_UPLOADS_ANSWERED;
}

static int inconsistent(struct eddy_res *res)
{
	return problem(res, 400, "inconsistent-upload-length",
		       "inconsistent length values for upload", NULL);
}

/* A limit of upload-limit is violated. */
static int beyond(const struct eddy_uploads *uploads, struct eddy_req *req, struct eddy_res *res,
		  int status, const char *detail)
{
	eddyi_draft_set_limits(uploads, req, res);
	set_complete(res, false);
	return eddyi_req_fail(req, -EFBIG, status, detail);
}

/* Check a request that ends at `end`, or EDDY_LENGTH_UNKNOWN. Return: 0; otherwise as a handler. */
static int check_limits(const struct eddy_uploads *uploads, struct eddy_req *req,
			struct eddy_res *res, const struct fields *fields, uint64_t end)
{
	const struct eddy_uploads_options *options = &uploads->options;
	uint64_t max = eddyi_uploads_max(uploads, req);

	if ((fields->has_length && fields->length > max) ||
	    (end != EDDY_LENGTH_UNKNOWN && end > max))
		return beyond(uploads, req, res, 413, "the upload is larger than max-size");
	if (fields->content == EDDY_LENGTH_UNKNOWN)
		return 0;
	if (options->append_max && fields->content > options->append_max)
		return beyond(uploads, req, res, 413, APPEND_TOO_LARGE);
	if (fields->content < options->append_min && !fields->complete)
		return beyond(uploads, req, res, 400, "the body is smaller than min-append-size");
	return 0;
}

/* ---- receiving ---- */

/* One request that has bytes of an upload. */
struct part {
	struct eddy_uploads *uploads;
	struct eddy_req *req;
	struct eddy_res *res;
	struct eddyi_partial *partial;
	struct fields fields;
	struct eddyi_digests announced; /* of the body */
	uint64_t told;                  /* when the client last learned the offset */
};

/* Now and then tell the client the offset. */
static void tell(void *arg, uint64_t offset)
{
	struct part *part = arg;
	char text[EDDY_U64_SIZE + 1];
	const struct eddy_header fields[] = { { "upload-offset", text }, { 0 } };

	if (eddy_now() - part->told < PROGRESS_NS)
		return;
	if (eddyi_partial_sync(part->partial) < 0)
		return;
	text[eddy_u64_format(offset, text)] = 0;
	eddy_res_interim(part->res, 104, fields);
	part->told = eddy_now();
}

/* Read the digests of the body; that of the whole is compared in the end. Return: 0, -EBADMSG. */
static int read_digest(struct part *part)
{
	struct eddyi_digests whole;
	int r;

	if (!EDDYI_TLS)
		return 0;
	r = eddyi_digest_announced(part->req, EDDYI_REPR_DIGEST, &whole);
	return r < 0 ? r :
		       eddyi_digest_announced(part->req, EDDYI_CONTENT_DIGEST, &part->announced);
}

static uint64_t append_max_of(const struct part *part)
{
	uint64_t max = part->uploads->options.append_max;

	return max ? max : EDDY_NEVER;
}

/* Append the body. Return: 0; otherwise as a handler. */
static int receive(struct part *part, uint64_t length)
{
	struct eddyi_partial *partial = part->partial;
	uint64_t whole = eddyi_uploads_max(part->uploads, part->req), end;
	int r;

	whole = length < whole ? length : whole;
	/* A body of unknown length may turn out to be larger than one request's may be. */
	end = whole > partial->offset && whole - partial->offset > append_max_of(part) ?
		      partial->offset + append_max_of(part) :
		      whole;
	part->told = eddy_now();
	r = eddyi_uploads_append(partial, part->req, end, EDDYI_CONTENT_DIGEST, &part->announced,
				 knows_interim(part->req) ? tell : NULL, part);
	set_complete(part->res, false);
	if (r == -EFBIG && end == whole) {
		/* The draft's section 4.4.2: the upload is invalid from now on. */
		eddyi_partial_remove(partial);
		if (length != EDDY_LENGTH_UNKNOWN)
			return inconsistent(part->res);
		return beyond(part->uploads, part->req, part->res, 413,
			      "the upload is larger than max-size");
	}
	eddyi_res_set_u64(part->res, "upload-offset", partial->offset);
	if (r == -EFBIG)
		return beyond(part->uploads, part->req, part->res, 413, APPEND_TOO_LARGE);
	return r < 0 ? eddyi_uploads_explain(part->req, partial, r) : 0;
}

/* After all of the body has arrived. Return: as a handler. */
static int finish(struct part *part, uint64_t length, int status)
{
	int r;

	if (!part->fields.complete)
		return status;
	if (length != EDDY_LENGTH_UNKNOWN && part->partial->offset != length)
		return inconsistent(part->res);
	/* From here on, errors are of what has been uploaded, not of the uploading, unless it
	 * stays. */
	set_complete(part->res, true);
	r = eddyi_uploads_complete(part->uploads, part->req, part->res, part->partial);
	if (!part->partial->is_complete)
		set_complete(part->res, false);
	return r;
}

/* ---- creation ---- */

/* Tell a client that knows it where the upload can be continued. */
static int announce(struct part *part, const char *url)
{
	char text[160];
	const struct eddy_header fields[] = {
		{ "location", url },
		{ "upload-limit", text },
		{ "upload-draft-interop-version", INTEROP_VERSION },
		{ 0 },
	};

	limits(part->uploads, part->req, text, sizeof(text));
	return eddy_res_interim(part->res, 104, fields);
}

static int create(struct part *part, uint64_t length)
{
	bool knows = knows_interim(part->req);
	const char *url = url_of(part->uploads, part->req, part->partial);
	int r = url ? 0 : -ENOMEM;

	if (r == 0 && knows)
		r = announce(part, url);
	if (r == 0)
		r = receive(part, length);
	/* A client that has not heard of the URL can't go on. */
	if (r != 0 && !knows)
		eddyi_partial_remove(part->partial);
	if (r != 0)
		return r;
	eddy_res_set_z(part->res, "location", url);
	eddyi_draft_set_limits(part->uploads, part->req, part->res);
	return finish(part, length, 201);
}

int eddyi_draft_create(struct eddy_uploads *uploads, struct eddy_req *req, struct eddy_res *res,
		       struct eddy_str path)
{
	EDDY_AUTO(eddyi_partial_close)
	struct eddyi_partial partial = { .all = &uploads->all, .fd = -1 };
	struct part part = { .uploads = uploads, .req = req, .res = res, .partial = &partial };
	uint64_t length = EDDY_LENGTH_UNKNOWN;
	struct fields limited;
	int r;

	read_fields(req, &part.fields);
	/* A creation without a body is no append. */
	limited = part.fields;
	if (!limited.content)
		limited.content = EDDY_LENGTH_UNKNOWN;
	r = check_limits(uploads, req, res, &limited, limited.content);
	if (r == 0)
		r = read_digest(&part);
	if (r == 0 && learn_length(&part.fields, 0, &length) < 0)
		r = inconsistent(res);
	if (r == 0)
		r = eddyi_uploads_begin(uploads, req, res, path, length, json_object(), &partial);
	if (r == 0)
		r = create(&part, length);
	return eddyi_uploads_result(r);
}

/* ---- the URL of an upload ---- */

static int mismatch(struct part *part)
{
	const uint64_t offsets[] = { part->partial->offset, part->fields.offset };

	eddyi_res_set_u64(part->res, "upload-offset", part->partial->offset);
	return problem(part->res, 409, "mismatching-upload-offset",
		       "offset from request does not match offset of resource", offsets);
}

/* Check a request to append before its body is read. `*length` is that of the whole.
 * Return: 0; otherwise as a handler. */
static int check_append(struct part *part, uint64_t *length)
{
	struct eddyi_partial *partial = part->partial;
	const struct fields *fields = &part->fields;
	uint64_t known = *length, end;
	int r;

	if (partial->is_complete)
		return fields->content ? inconsistent(part->res) :
					 problem(part->res, 400, "completed-upload",
						 "upload is already completed", NULL);
	if (fields->offset != partial->offset) {
		r = eddyi_partial_sync(partial);
		return r < 0 ? r : mismatch(part);
	}
	end = fields->content == EDDY_LENGTH_UNKNOWN ? fields->content :
						       partial->offset + fields->content;
	/* A body that may not be sent in one request does no harm to the upload. */
	if (end != EDDY_LENGTH_UNKNOWN && end > known && fields->content <= append_max_of(part)) {
		eddyi_partial_remove(partial);
		return inconsistent(part->res);
	}
	r = check_limits(part->uploads, part->req, part->res, fields, end);
	if (r != 0)
		return r;
	if (learn_length(fields, partial->offset, length) < 0)
		return inconsistent(part->res);
	if (*length == known)
		return 0;
	if (json_object_set_new(partial->state, "length", json_integer((json_int_t)*length)) < 0)
		return -ENOMEM;
	return eddyi_partial_save(partial);
}

static int append(struct part *part)
{
	uint64_t length;
	int r = eddyi_uploads_find(part->uploads, part->req, part->partial);

	if (r < 0)
		return r;
	length = eddyi_partial_length(part->partial);
	r = check_append(part, &length);
	if (r == 0)
		r = receive(part, length);
	return r ? r : finish(part, length, 204);
}

/* PATCH */
static int answer_append(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_uploads *uploads = eddy_req_route_data(req);
	EDDY_AUTO(eddyi_partial_close)
	struct eddyi_partial partial = { .all = &uploads->all, .fd = -1 };
	struct part part = { .uploads = uploads, .req = req, .res = res, .partial = &partial };
	int r;

	read_fields(req, &part.fields);
	set_complete(res, false);
	if (!eddy_str_eq_nocase(eddyi_req_media_type(req), EDDY_STR(MEDIA_TYPE)) || req->decoded) {
		eddy_res_set_z(res, "accept-patch", MEDIA_TYPE);
		return eddyi_req_fail(
			req, -EMEDIUMTYPE, 415,
			"the media type must be application/partial-upload, without a content coding");
	}
	if (!part.fields.has_offset || !part.fields.has_complete)
		return eddyi_req_fail(req, -EINVAL, 400,
				      "the fields upload-offset and upload-complete are required");
	r = read_digest(&part);
	if (r == 0)
		r = append(&part);
	return eddyi_uploads_result(r);
}

/* GET and HEAD */
static int answer_state(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_uploads *uploads = eddy_req_route_data(req);
	EDDY_AUTO(eddyi_partial_close)
	struct eddyi_partial partial = { .all = &uploads->all, .fd = -1 };
	uint64_t length;
	int r;

	if (eddy_req_header(req, "upload-offset").ptr ||
	    eddy_req_header(req, "upload-complete").ptr)
		return eddyi_req_fail(req, -EINVAL, 400,
				      "a request for the offset must not have the fields "
				      "upload-offset and upload-complete");
	r = eddyi_uploads_find(uploads, req, &partial);
	if (r == 0)
		r = eddyi_partial_sync(&partial);
	if (r < 0)
		return r;
	length = eddyi_partial_length(&partial);
	set_complete(res, partial.is_complete);
	eddyi_res_set_u64(res, "upload-offset", partial.offset);
	if (length != EDDY_LENGTH_UNKNOWN)
		eddyi_res_set_u64(res, "upload-length", length);
	eddyi_draft_set_limits(uploads, req, res);
	eddy_res_set_z(res, "cache-control", "no-store");
	return 204;
}

/* DELETE */
static int answer_cancel(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_uploads *uploads = eddy_req_route_data(req);
	EDDY_AUTO(eddyi_partial_close)
	struct eddyi_partial partial = { .all = &uploads->all, .fd = -1 };
	int r = eddyi_uploads_find(uploads, req, &partial);

	(void)res;
	if (r == 0)
		r = eddyi_partial_remove(&partial);
	return r < 0 ? r : 204;
}

void eddyi_draft_map(struct eddy_uploads *uploads, union eddy_router router)
{
	struct eddy_route_options with = { .data = uploads };
	const char *pattern = eddyi_app_printf(uploads->app, "%s/{id}", uploads->options.at).ptr;

	eddy_route_with(eddy_app_map_get(router, pattern, answer_state), &with);
	eddy_route_with(eddy_app_map_patch(router, pattern, answer_append), &with);
	eddy_route_with(eddy_app_map_delete(router, pattern, answer_cancel), &with);
}
