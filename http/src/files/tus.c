/* tus 1.0.0 (https://tus.io/protocols/resumable-upload) with the extensions creation,
 * creation-with-upload, creation-defer-length, termination, checksum and expiration. */
#include "uploads.h"

#include "digest_file.h"
#include "exchange/req.h"
#include "exchange/res.h"
#include "text/base64.h"
#include "text/date.h"
#include "text/disposition.h"

#include <eddy/internal/outside.h>
#include <eddy/internal/text.h>
#include <errno.h>

#define VERSION "1.0.0"
#define MEDIA_TYPE "application/offset+octet-stream"
#define STATUS_CHECKSUM_MISMATCH 460

#define CHECKSUM "upload-checksum"
#define TOO_LARGE "the upload is larger than tus-max-size"
#define EXTENSIONS "creation,creation-with-upload,creation-defer-length,termination,expiration"

/* ---- fields ---- */

static bool read_number(const struct eddy_req *req, const char *name, uint64_t *ret_value)
{
	struct eddy_str value = eddy_req_header(req, name);

	return value.ptr && eddy_str_to_u64(value, ret_value) == 0 && *ret_value < INT64_MAX;
}

/* Set the offset, and when the upload expires. */
static void set_state(const struct eddy_uploads *uploads, struct eddy_res *res,
		      const struct eddyi_partial *partial)
{
	char date[EDDYI_DATE_LEN + 1];
	time_t seconds = (time_t)(uploads->options.expire_ns / EDDY_SECOND);

	eddyi_res_set_u64(res, "upload-offset", partial->offset);
	if (!partial->is_complete)
		eddy_res_set(res, "upload-expires",
			     eddyi_date_format(eddyi_clock_seconds() + seconds, date));
}

/* Get the value of a key of upload-metadata, decoded, in request memory; .ptr NULL if it is absent
 * or malformed. */
static struct eddy_str find_metadata(struct eddy_req *req, struct eddy_str metadata,
				     const char *key)
{
	struct eddy_str pair, name;
	unsigned char *bytes;
	ssize_t len;

	while (metadata.len) {
		eddy_str_split(&metadata, ',', &pair);
		pair = eddy_str_trim(pair);
		eddy_str_split(&pair, ' ', &name);
		if (!eddy_str_eq_z(name, key) || !pair.ptr)
			continue;
		pair = eddy_str_trim(pair);
		bytes = eddyi_arena_alloc(&req->arena, EDDYI_BASE64_DECODED(pair.len) + 1);
		len = bytes ? eddyi_base64_decode(pair, bytes) : -ENOMEM;
		return len < 0 ? eddy_str(NULL, 0) : eddy_str((char *)bytes, (size_t)len);
	}
	return eddy_str(NULL, 0);
}

/* Get the path that the upload goes to: the name in the metadata, in the folder of the URL.
 * Return: 0, -EINVAL, -ENOENT, -ENOMEM. */
static int read_path(struct eddy_req *req, struct eddy_str metadata, struct eddy_str *ret_path)
{
	struct eddy_str name = find_metadata(req, metadata, "filename"), folder;
	bool slash;
	int r;

	if (!name.ptr)
		name = find_metadata(req, metadata, "name");
	if (!name.ptr || eddyi_filename_clean(name, &name) < 0)
		return eddyi_req_fail(
			req, -EINVAL, 400,
			"upload-metadata must have the key filename, with a file name "
			"in base64");
	r = eddy_req_path_beneath(req, &folder, &slash);
	if (r < 0)
		return r;
	*ret_path = eddyi_arena_printf(&req->arena, "%.*s%s%.*s", EDDY_FMT(folder),
				       folder.len ? "/" : "", EDDY_FMT(name));
	return ret_path->ptr ? 0 : -ENOMEM;
}

/* ---- the checksum extension ---- */

/* Return: 0; -EINVAL for another algorithm, or a value of another length. */
static int read_checksum(struct eddy_req *req, struct eddyi_digests *ret_digests)
{
	static const struct {
		const char *name;
		enum eddyi_digest_algorithm algorithm;
	} known[] = {
		{ "sha1", EDDYI_DIGEST_SHA1 },
		{ "sha256", EDDYI_DIGEST_SHA256 },
		{ "sha512", EDDYI_DIGEST_SHA512 },
	};
	struct eddy_str value = eddy_req_header(req, CHECKSUM), name;

	ret_digests->known = 0;
	if (!EDDYI_TLS || !value.ptr)
		return 0;
	eddy_str_split(&value, ' ', &name);
	for (size_t i = 0; value.ptr && i < sizeof(known) / sizeof(known[0]); i++) {
		size_t len = eddyi_digest_len(known[i].algorithm);

		if (!eddy_str_eq_z(name, known[i].name) || value.len != EDDYI_BASE64_ENCODED(len) ||
		    eddyi_base64_decode(value, NULL) != (ssize_t)len)
			continue;
		eddyi_base64_decode(value, ret_digests->bytes[known[i].algorithm]);
		ret_digests->known = EDDYI_DIGEST_BIT(known[i].algorithm);
		return 0;
	}
	return eddyi_req_fail(req, -EINVAL, 400,
			      "upload-checksum must be sha1, sha256 or sha512 and its base64");
}

/* ---- requests ---- */

/* Return: as a handler; the response has no body. */
static int complete(struct eddy_uploads *uploads, struct eddy_req *req, struct eddy_res *res,
		    struct eddyi_partial *partial)
{
	int r = eddyi_uploads_complete(uploads, req, res, partial);

	if (r == 0)
		eddyi_res_clear_body(res);
	return r;
}

/* Append the body, and complete the upload if that was all. Return: 0; otherwise as a handler. */
static int append(struct eddy_uploads *uploads, struct eddy_req *req, struct eddy_res *res,
		  struct eddyi_partial *partial)
{
	uint64_t length = eddyi_partial_length(partial), max = eddyi_uploads_max(uploads, req);
	struct eddyi_digests announced;
	int r = read_checksum(req, &announced);

	if (r == 0)
		r = eddyi_uploads_append(partial, req, length < max ? length : max, CHECKSUM,
					 &announced, NULL, NULL);
	if (r == -EBADMSG && announced.known)
		r = STATUS_CHECKSUM_MISMATCH;
	if (r == 0 && partial->offset == length)
		r = complete(uploads, req, res, partial);
	set_state(uploads, res, partial);
	return r < 0 ? eddyi_uploads_explain(req, partial, r) : r;
}

/* Check what all requests must have. Return: 0; otherwise as a handler. */
static int begin(struct eddy_req *req, struct eddy_res *res)
{
	eddy_res_set_z(res, "tus-resumable", VERSION);
	if (eddy_str_eq_z(eddy_req_header(req, "tus-resumable"), VERSION))
		return 0;
	eddy_res_set_z(res, "tus-version", VERSION);
	return eddyi_req_fail(req, -EINVAL, 412, "the field tus-resumable must be 1.0.0");
}

static bool has_content_type(struct eddy_req *req)
{
	return eddy_str_eq_nocase(eddyi_req_media_type(req), EDDY_STR(MEDIA_TYPE)) && !req->decoded;
}

static int refuse_type(struct eddy_req *req)
{
	return eddyi_req_fail(
		req, -EMEDIUMTYPE, 415,
		"the media type must be application/offset+octet-stream, without a content coding");
}

/* Return: 0; otherwise as a handler. */
static int read_length(struct eddy_uploads *uploads, struct eddy_req *req, uint64_t *ret_length)
{
	struct eddy_str later = eddy_req_header(req, "upload-defer-length");

	*ret_length = EDDY_LENGTH_UNKNOWN;
	if (eddy_str_eq_z(later, "1") && !eddy_req_header(req, "upload-length").ptr)
		return 0;
	if (later.ptr || !read_number(req, "upload-length", ret_length))
		return eddyi_req_fail(req, -EINVAL, 400,
				      "either upload-length or upload-defer-length: 1 is required");
	if (*ret_length > eddyi_uploads_max(uploads, req))
		return eddyi_req_fail(req, -EFBIG, 413, TOO_LARGE);
	return 0;
}

/* POST */
static int create(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_uploads *uploads = eddy_req_route_data(req);
	struct eddy_str metadata = eddy_req_header_joined(req, "upload-metadata"), path;
	EDDY_AUTO(eddyi_partial_close)
	struct eddyi_partial partial = { .all = &uploads->all, .fd = -1 };
	uint64_t length;
	int r = begin(req, res);

	if (r == 0)
		r = read_length(uploads, req, &length);
	if (r == 0 && eddy_req_length(req) && !has_content_type(req))
		r = refuse_type(req);
	if (r == 0 && !eddyi_str_is_utf8(metadata))
		r = eddyi_req_fail(req, -EINVAL, 400, "upload-metadata must be ASCII");
	if (r == 0)
		r = read_path(req, metadata, &path);
	if (r == 0)
		r = eddyi_uploads_begin(uploads, req, res, path, length,
					json_pack("{s:s%}", "metadata", metadata.ptr, metadata.len),
					&partial);
	if (r != 0)
		return eddyi_uploads_result(r);
	r = eddy_res_set(res, "location",
			 eddyi_arena_printf(&req->arena, "%s/%s", uploads->tus, partial.id));
	if (r == 0)
		r = append(uploads, req, res, &partial);
	/* The client does not know the URL yet. */
	if (r != 0)
		eddyi_partial_remove(&partial);
	return r ? eddyi_uploads_result(r) : 201;
}

/* PATCH */
static int patch(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_uploads *uploads = eddy_req_route_data(req);
	EDDY_AUTO(eddyi_partial_close)
	struct eddyi_partial partial = { .all = &uploads->all, .fd = -1 };
	uint64_t offset, length = 0;
	int r = begin(req, res);

	if (r == 0 && !has_content_type(req))
		r = refuse_type(req);
	if (r == 0 && !read_number(req, "upload-offset", &offset))
		r = eddyi_req_fail(req, -EINVAL, 400, "the field upload-offset is required");
	if (r == 0)
		r = eddyi_uploads_find(uploads, req, &partial);
	if (r != 0)
		return r;
	if (offset != partial.offset || (partial.is_complete && eddy_req_length(req))) {
		r = eddyi_partial_sync(&partial);
		if (r < 0)
			return r;
		set_state(uploads, res, &partial);
		return eddyi_req_fail(req, -EEXIST, 409, "this is not the upload's offset");
	}
	if (partial.is_complete)
		return 204;
	if (eddyi_partial_length(&partial) == EDDY_LENGTH_UNKNOWN &&
	    read_number(req, "upload-length", &length)) {
		if (length < offset)
			return eddyi_req_fail(req, -EINVAL, 400,
					      "upload-length is less than upload-offset");
		if (length > eddyi_uploads_max(uploads, req))
			return eddyi_req_fail(req, -EFBIG, 413, TOO_LARGE);
		r = json_object_set_new(partial.state, "length", json_integer((json_int_t)length));
		r = r < 0 ? -ENOMEM : eddyi_partial_save(&partial);
	}
	if (r == 0)
		r = append(uploads, req, res, &partial);
	return r ? eddyi_uploads_result(r) : 204;
}

/* HEAD */
static int head(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_uploads *uploads = eddy_req_route_data(req);
	EDDY_AUTO(eddyi_partial_close)
	struct eddyi_partial partial = { .all = &uploads->all, .fd = -1 };
	struct eddy_str metadata;
	uint64_t length;
	int r = begin(req, res);

	if (r == 0)
		r = eddyi_uploads_find(uploads, req, &partial);
	if (r == 0)
		r = eddyi_partial_sync(&partial);
	/* The last byte has arrived, but the request that brought it has failed. */
	if (r == 0 && !partial.is_complete && partial.offset == eddyi_partial_length(&partial))
		r = complete(uploads, req, res, &partial);
	eddy_res_set_z(res, "cache-control", "no-store");
	if (r != 0)
		return eddyi_uploads_result(r);
	set_state(uploads, res, &partial);
	length = eddyi_partial_length(&partial);
	if (length == EDDY_LENGTH_UNKNOWN)
		eddy_res_set_z(res, "upload-defer-length", "1");
	else
		eddyi_res_set_u64(res, "upload-length", length);
	metadata = eddyi_partial_text(&partial, "metadata");
	if (metadata.len)
		eddy_res_set(res, "upload-metadata", metadata);
	return 200;
}

/* DELETE */
static int terminate(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_uploads *uploads = eddy_req_route_data(req);
	EDDY_AUTO(eddyi_partial_close)
	struct eddyi_partial partial = { .all = &uploads->all, .fd = -1 };
	int r = begin(req, res);

	if (r == 0)
		r = eddyi_uploads_find(uploads, req, &partial);
	if (r == 0)
		r = eddyi_partial_remove(&partial);
	return r ? r : 204;
}

/* OPTIONS */
static int offer(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_uploads *uploads = eddy_req_route_data(req);
	uint64_t max = eddyi_uploads_max(uploads, req);

	eddy_res_set_z(res, "tus-resumable", VERSION);
	eddy_res_set_z(res, "tus-version", VERSION);
	eddy_res_set_z(res, "tus-extension", EDDYI_TLS ? EXTENSIONS ",checksum" : EXTENSIONS);
	if (EDDYI_TLS)
		eddy_res_set_z(res, "tus-checksum-algorithm", "sha1,sha256,sha512");
	if (max != EDDY_NEVER)
		eddyi_res_set_u64(res, "tus-max-size", max);
	return 204;
}

void eddyi_tus_map(struct eddy_uploads *uploads, union eddy_router router)
{
	struct eddy_route_options with = { .data = uploads };
	const char *one = eddyi_app_printf(uploads->app, "%s/{id}", uploads->options.tus).ptr;
	const char *all =
		eddyi_app_printf(uploads->app, "%s/{folder...}", uploads->options.tus).ptr;

	eddy_route_with(eddy_app_map_post(router, all, create), &with);
	eddy_route_with(eddy_app_map_options(router, all, offer), &with);
	eddy_route_with(eddy_app_map_head(router, one, head), &with);
	eddy_route_with(eddy_app_map_patch(router, one, patch), &with);
	eddy_route_with(eddy_app_map_delete(router, one, terminate), &with);
}
