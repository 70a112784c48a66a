/* Uploads of files: "Resumable Uploads for HTTP", draft-ietf-httpbis-resumable-upload. */
#include "client.h"
#include "client_retry.h"
#include "files/digest_file.h"
#include "message/status.h"
#include "text/structured.h"

#include <eddy/internal/outside.h>
#include <eddy/loop.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* How often the upload begins again because the server has lost it, or limits its requests. */
#define RESTARTS_MAX 5
#define CAREFUL_MIN EDDY_MIB

static const struct eddy_header version = { "upload-draft-interop-version", "8" };

/* Invariants:
 * 1. `offset` is what the server has for certain, if `location` is set; else 0.
 * 2. `asks` is set if the offset must be asked for before bytes are sent. It is from the begin of a
 *    request until its response tells. */
struct upload {
	struct eddy_client *client;
	const char *target; /* the program's URL */
	int fd;
	struct eddy_client_upload options;
	struct eddyi_report report;
	struct eddyi_retry retry;
	struct eddyi_client_hooks hooks;
	struct eddyi_arena arena; /* of the location */
	struct stat st;           /* of the file at the begin */
	struct eddyi_url url;     /* of the first request's target, in the arena */
	const char *location;     /* of the upload resource; NULL: there is none */
	bool is_foreign;          /* it is of another origin */
	bool asks;
	bool in_pieces; /* the first request may not have all of the file */
	bool stopped;   /* a limit ended the request, not a failure */
	int doubted;    /* status of an append, before HEAD tells if the upload is lost; 0: none */
	bool resumes;   /* an upload of an earlier call, which the server has not confirmed yet */
	uint64_t resumed;
	uint64_t offset;
	uint64_t most;  /* the largest offset so far */
	uint64_t begun; /* offset and length of the running request */
	uint64_t len;
	uint64_t size_max; /* limits of the server */
	uint64_t append_max;
	uint64_t append_min;
	unsigned restarts;
	char digest[EDDYI_DIGEST_TEXT_SIZE]; /* empty: none is sent */
	struct eddy_response *response;
};

static uint64_t size_of(const struct upload *upload)
{
	return (uint64_t)upload->st.st_size;
}

static void fill_report(void *arg, struct eddy_client_progress *progress)
{
	struct upload *upload = arg;

	progress->total = size_of(upload);
	progress->bytes = upload->offset;
	if (upload->hooks.moving)
		progress->bytes = upload->begun + *upload->hooks.moving;
	progress->resumed = upload->resumed;
	progress->connections = upload->report.waits_for == NULL;
	progress->can_resume = upload->location != NULL;
	progress->upload_url = upload->location;
}

static int complain(struct upload *upload, int error, const char *text)
{
	return eddyi_client_fail(upload->client, error, "%s", text);
}

/* ---- fields ---- */

/* Get an item of a structured field (RFC 9651); one that is malformed counts as absent.
 * Return: its value; `otherwise` if it is absent or of another type. */
static int64_t get_item(const struct eddy_response *response, const char *name,
			enum eddyi_structured_type type, int64_t otherwise)
{
	struct eddy_str value = eddy_response_header(response, name);
	struct eddyi_structured item;

	if (!value.ptr || eddyi_structured_parse_item(value, &item) < 0 || item.type != type)
		return otherwise;
	return item.integer;
}

/* Get upload-complete. Return: 1; 0; -1 if it is absent. */
static int completeness(const struct upload *upload)
{
	return (int)get_item(upload->response, "upload-complete", EDDYI_STRUCTURED_BOOLEAN, -1);
}

/* Get upload-offset. Return: false if there is none within the file. */
static bool get_offset(const struct upload *upload, const struct eddy_response *response,
		       uint64_t *ret_offset)
{
	int64_t offset = get_item(response, "upload-offset", EDDYI_STRUCTURED_INTEGER, -1);

	if (offset < 0 || (uint64_t)offset > size_of(upload))
		return false;
	*ret_offset = (uint64_t)offset;
	return true;
}

/* Take the server's limits. A field that is malformed is ignored. */
static void take_limits(struct upload *upload, const struct eddy_response *response)
{
	struct eddy_str rest = eddy_response_header(response, "upload-limit"), key;
	uint64_t size_max = UINT64_MAX, append_max = UINT64_MAX, append_min = 0;
	struct eddyi_structured value;

	if (!rest.ptr)
		return;
	while (rest.len) {
		uint64_t *limit = NULL;

		if (eddyi_structured_take_entry(&rest, &key, &value) < 0)
			return;
		if (eddy_str_eq_z(key, "max-size"))
			limit = &size_max;
		else if (eddy_str_eq_z(key, "max-append-size"))
			limit = &append_max;
		else if (eddy_str_eq_z(key, "min-append-size"))
			limit = &append_min;
		if (!limit)
			continue;
		if (value.type != EDDYI_STRUCTURED_INTEGER || value.integer < 0)
			return;
		*limit = (uint64_t)value.integer;
	}
	upload->size_max = size_max;
	upload->append_max = append_max;
	upload->append_min = append_min;
}

/* Take the URL of the upload resource, relative to `base`. Return: 0; -EPERM, -EBADMSG; -ENOMEM. */
static int take_location(struct upload *upload, const struct eddyi_url *base, struct eddy_str value)
{
	struct eddy_str text;
	struct eddyi_url url;
	int r;

	if (!value.ptr)
		return 0;
	r = eddyi_url_resolve(&upload->arena, base, value, &url, &text);
	if (r == -ENOMEM)
		return r;
	if (r < 0)
		return complain(upload, -EBADMSG, "the URL of the upload is malformed");
	if ((upload->url.https && !url.https) ||
	    (upload->client->options.connect && !eddyi_url_is_same_origin(&upload->url, &url)))
		return complain(upload, -EPERM, "the URL of the upload leads elsewhere");
	text = eddyi_arena_dup(&upload->arena, text);
	if (!text.ptr)
		return -ENOMEM;
	if (upload->location && strcmp(upload->location, text.ptr) != 0)
		return complain(upload, -EBADMSG, "the server named two URLs of the upload");
	upload->location = text.ptr;
	upload->is_foreign = !eddyi_url_is_same_origin(&upload->url, &url);
	return 0;
}

static int take_location_field(struct upload *upload, const struct eddy_response *response)
{
	return take_location(upload, &response->url, eddy_response_header(response, "location"));
}

/* ---- requests ---- */

/* Take what a 104 tells. */
static int take_interim(void *data, struct eddy_response *interim)
{
	struct upload *upload = data;
	uint64_t offset;
	int r = 0;

	if (eddy_response_status(interim) != 104 || upload->options.plain)
		return 0;
	take_limits(upload, interim);
	if (!upload->location)
		r = take_location_field(upload, interim);
	if (r < 0)
		return r;
	/* Such a request must not be sent to its end. */
	upload->stopped = upload->location &&
			  (size_of(upload) > upload->size_max || upload->len > upload->append_max);
	if (upload->stopped)
		return complain(upload, -ECANCELED, "the server limits the upload");
	if (get_offset(upload, interim, &offset) && offset > upload->most)
		upload->most = offset;
	return 0;
}

static void drop_response(struct upload *upload)
{
	if (upload->response)
		eddyi_response_discard(upload->response);
	eddy_response_free(upload->response);
	upload->response = NULL;
}

/* Whether to wait shortly for an interim response before the file is sent: the server may refuse
 * it, or name the URL of the upload, without which a failure begins again. */
static bool is_careful(const struct upload *upload)
{
	return !upload->location && (upload->len > CAREFUL_MIN || upload->report.retries > 0);
}

/* Send a request with these fields and `len` bytes of the file from `begun` on; HEAD and DELETE
 * have no body. Return: 0, and a response; -errno. */
static int ask(struct upload *upload, const char *method, const char *url,
	       const struct eddy_header *headers, uint64_t len)
{
	struct eddy_client_file file = { upload->fd, upload->begun, len };
	bool has_body = strcmp(method, "HEAD") != 0 && strcmp(method, "DELETE") != 0;
	int r;

	drop_response(upload);
	upload->len = len;
	upload->stopped = false;
	/* After a failure, only the server knows how much it has. */
	upload->asks = true;
	upload->hooks.headers = headers;
	upload->hooks.continues = url == upload->location;
	upload->hooks.foreign = upload->hooks.continues && upload->is_foreign;
	r = eddyi_client_send(upload->client, url,
			      &(struct eddy_client_request){
				      .method = method,
				      .headers = upload->options.headers,
				      .file = has_body ? &file : NULL,
				      .expect_continue = has_body && is_careful(upload),
				      .timeout_ns = EDDY_NEVER,
			      },
			      &upload->hooks, &upload->response);
	return eddyi_retry_fail(&upload->retry, r, upload->report.retries > 0 || upload->location);
}

/* Note a response that is no success. The response to a complete upload is final. After most, the
 * server may still have the upload. Return: -errno. */
static int fail_status(struct upload *upload)
{
	int status = eddy_response_status(upload->response);
	int r = eddyi_retry_fail_status(&upload->retry, upload->response);

	if (completeness(upload) == 1)
		upload->retry.is_passing = false;
	if (status == 400 || status == 413)
		upload->location = NULL;
	return r;
}

static bool is_success(const struct upload *upload)
{
	return eddy_response_status(upload->response) / 100 == 2;
}

static bool is_missing(const struct upload *upload)
{
	int status = eddy_response_status(upload->response);

	return status == 404 || status == 410;
}

/* Whether the server has answered that a request was too large, and how large one may be. */
static bool was_too_large(struct upload *upload, uint64_t len)
{
	if (eddy_response_status(upload->response) != 413 || completeness(upload) == 1)
		return false;
	take_limits(upload, upload->response);
	return upload->append_max && upload->append_max < len && ++upload->restarts <= RESTARTS_MAX;
}

/* The server has no upload resource any more: begin again. */
static int lose_location(struct upload *upload)
{
	upload->location = NULL;
	upload->doubted = 0;
	upload->asks = upload->resumes = false;
	upload->offset = upload->begun = 0;
	return ++upload->restarts <= RESTARTS_MAX ? 0 : fail_status(upload);
}

static void advance(struct upload *upload, uint64_t offset)
{
	upload->offset = offset;
	if (upload->most < offset)
		upload->most = offset;
}

/* How many bytes the next request may have. */
static uint64_t piece_len(const struct upload *upload)
{
	uint64_t left = size_of(upload) - upload->offset;

	return left < upload->append_max ? left : upload->append_max;
}

/* Begin the upload. Return: 1 if it is complete; 0; -errno. */
static int create(struct upload *upload)
{
	struct eddy_header headers[5] = { 0 }, *header = headers;
	uint64_t len = upload->in_pieces ? piece_len(upload) : size_of(upload);
	bool whole = len == size_of(upload);
	char length[EDDY_U64_SIZE];
	int r;

	eddy_u64_format(size_of(upload), length);
	if (!upload->options.plain) {
		*header++ = version;
		*header++ = (struct eddy_header){ "upload-complete", whole ? "?1" : "?0" };
		*header++ = (struct eddy_header){ "upload-length", length };
	}
	if (upload->digest[0])
		*header = (struct eddy_header){ "repr-digest", upload->digest };
	upload->begun = 0;
	r = ask(upload, upload->options.method, upload->target, headers, len);
	if (r < 0)
		return r;
	if (was_too_large(upload, len)) {
		upload->in_pieces = true;
		return 0;
	}
	if (!is_success(upload))
		return fail_status(upload);
	if (whole && completeness(upload) != 0)
		return 1;
	take_limits(upload, upload->response);
	r = take_location_field(upload, upload->response);
	if (r == 0 && !upload->location)
		return complain(upload, -EBADMSG, "the server named no URL of the upload");
	advance(upload, len);
	upload->asks = false;
	return r;
}

static bool is_of_other_size(const struct upload *upload)
{
	int64_t length = get_item(upload->response, "upload-length", EDDYI_STRUCTURED_INTEGER, -1);

	return length >= 0 && (uint64_t)length != size_of(upload);
}

/* The append was answered 404 or 410 because of its target: the server still has the upload. */
static int fail_doubted(struct upload *upload)
{
	int status = upload->doubted;

	upload->doubted = 0;
	return eddyi_client_fail(upload->client, -ENOENT, "the server answered %d %s", status,
				 eddyi_status_phrase(status));
}

/* Ask how much the server has. Return: 1 if the upload is complete; 0; -errno. */
static int ask_offset(struct upload *upload)
{
	uint64_t offset;
	int r = ask(upload, "HEAD", upload->location, (struct eddy_header[]){ version, { 0 } }, 0);

	if (r < 0)
		return r;
	if (is_missing(upload) || (upload->resumes && is_of_other_size(upload)))
		return lose_location(upload);
	if (!is_success(upload))
		return fail_status(upload);
	if (upload->doubted)
		return fail_doubted(upload);
	if (completeness(upload) == 1) {
		if (upload->resumes)
			upload->resumed = size_of(upload);
		return 1;
	}
	if (!get_offset(upload, upload->response, &offset))
		return complain(upload, -EBADMSG, "the server sent no valid offset of the upload");
	take_limits(upload, upload->response);
	advance(upload, offset);
	if (upload->resumes)
		upload->resumed = offset;
	upload->asks = upload->resumes = false;
	return 0;
}

/* The server has another offset than the one that was sent. */
static int take_conflict(struct upload *upload)
{
	uint64_t offset;

	if (get_offset(upload, upload->response, &offset)) {
		advance(upload, offset);
		upload->asks = false;
	}
	fail_status(upload);
	upload->retry.is_passing = true;
	return complain(upload, -EREMOTEIO, "the server has another part of the file");
}

/* Append the next bytes. Return: 1 if the upload is complete; 0; -errno. */
static int append(struct upload *upload)
{
	uint64_t len = piece_len(upload);
	bool last = upload->offset + len == size_of(upload);
	char offset[EDDY_U64_SIZE];
	const struct eddy_header headers[] = {
		version,
		{ "upload-complete", last ? "?1" : "?0" },
		{ "upload-offset", offset },
		{ "content-type", "application/partial-upload" },
		{ 0 },
	};
	int r;

	if (!last && (!len || len < upload->append_min))
		return complain(upload, -EREMOTEIO, "the server's limits exclude each other");
	eddy_u64_format(upload->offset, offset);
	upload->begun = upload->offset;
	r = ask(upload, "PATCH", upload->location, headers, len);
	if (r < 0)
		return r;
	if (eddy_response_status(upload->response) == 409 && completeness(upload) != 1)
		return take_conflict(upload);
	/* The offset is asked for again, and the next piece is smaller. */
	if (was_too_large(upload, len))
		return 0;
	if (is_missing(upload) && completeness(upload) != 1) {
		upload->doubted = eddy_response_status(upload->response);
		return 0;
	}
	if (!is_success(upload))
		return fail_status(upload);
	if (last && completeness(upload) != 0)
		return 1;
	advance(upload, upload->offset + len);
	upload->asks = false;
	return 0;
}

/* ---- the call ---- */

static bool may_repeat(const struct upload *upload)
{
	int status = upload->response ? eddy_response_status(upload->response) : 0;

	return upload->location || status == 408 || status == 429 || status == 503 ||
	       strcmp(upload->options.method, "PUT") == 0;
}

static bool has_changed(const struct upload *upload)
{
	struct stat st;

	return eddyi_fstat_now(upload->fd, &st) < 0 || st.st_size != upload->st.st_size ||
	       st.st_mtim.tv_sec != upload->st.st_mtim.tv_sec ||
	       st.st_mtim.tv_nsec != upload->st.st_mtim.tv_nsec;
}

/* Tell the server that the upload will not be completed. Return: 0, -errno. */
static int request_deletion(struct upload *upload)
{
	const struct eddy_header headers[] = { version, { 0 } };

	return upload->location ? ask(upload, "DELETE", upload->location, headers, 0) : 0;
}

/* Return: `error`. */
static int cancel_upload(struct upload *upload, int error, const char *text)
{
	request_deletion(upload);
	upload->location = NULL;
	upload->retry.is_passing = false;
	return complain(upload, error, text);
}

/* Do the next step. Return: 1 if the upload is complete; 0; -errno. */
static int step(struct upload *upload)
{
	upload->retry.is_passing = false;
	if (has_changed(upload))
		return cancel_upload(upload, -ESTALE, "the file changed during the upload");
	if (size_of(upload) > upload->size_max)
		return cancel_upload(upload, -EFBIG, "the server accepts no file of this size");
	if (!upload->location)
		return create(upload);
	return upload->asks ? ask_offset(upload) : append(upload);
}

static int wait_for_retry(struct upload *upload, int failure)
{
	return may_repeat(upload) ?
		       eddyi_retry_wait(&upload->retry, &upload->report, upload->most, failure) :
		       failure;
}

static int run(struct upload *upload)
{
	int r = 0;

	while (r == 0) {
		r = step(upload);
		/* The last request may have bytes of both. */
		if (r > 0 && has_changed(upload)) {
			upload->location = NULL;
			return complain(upload, -ESTALE, "the file changed during the upload");
		}
		if (r >= 0)
			continue;
		r = upload->stopped ? 0 : wait_for_retry(upload, r);
	}
	return r < 0 ? r : 0;
}

static int compute_digest(struct upload *upload)
{
	const unsigned algorithms = EDDYI_DIGEST_BIT(EDDYI_DIGEST_SHA256);
	struct eddyi_digests digests;
	int r;

	if (!EDDYI_TLS)
		return complain(upload, -EPROTONOSUPPORT, "eddy was built without TLS");
	r = eddyi_digest_of(upload->fd, 0, size_of(upload), algorithms, &digests);
	if (r < 0)
		return eddyi_client_fail(upload->client, r, "can't read the file: %s",
					 strerror(-r));
	eddyi_digest_format(&digests, algorithms, upload->digest);
	return 0;
}

/* Parse the program's URLs. Return: 0, -errno. */
static int take_urls(struct upload *upload)
{
	struct eddy_str url = eddyi_arena_dup(&upload->arena, eddy_str_from(upload->target));
	int r;

	if (!url.ptr)
		return complain(upload, -ENOMEM, "out of memory");
	r = eddyi_url_parse(url, &upload->url);
	if (r < 0)
		return complain(upload, r,
				r == -EINVAL ? "the URL is malformed" :
					       "the URL's scheme is neither http nor https");
	if (!upload->options.resume_url || upload->options.plain)
		return 0;
	return take_location(upload, &upload->url, eddy_str_from(upload->options.resume_url));
}

static int open_and_run(struct upload *upload)
{
	int r;

	if (eddyi_fstat_now(upload->fd, &upload->st) < 0 || !S_ISREG(upload->st.st_mode))
		return complain(upload, -EINVAL, "only regular files can be uploaded");
	r = take_urls(upload);
	if (r < 0)
		return r;
	upload->asks = upload->resumes = upload->location;
	eddyi_report_begin(&upload->report);
	r = upload->options.digest ? compute_digest(upload) : 0;
	if (r == 0)
		r = run(upload);
	if (r == 0)
		advance(upload, size_of(upload));
	eddyi_report_end(&upload->report);
	return r;
}

static struct upload *upload_new(struct eddy_client *client, const char *url, int fd,
				 const struct eddy_client_upload *options)
{
	struct upload *upload = calloc(1, sizeof(*upload));

	if (!upload)
		return NULL;
	*upload = (struct upload){
		.client = client,
		.target = url,
		.fd = fd,
		.retry = { .client = client, .options = &upload->options.retry },
		.hooks = { .interim = take_interim, .data = upload },
		.report = { .fill = fill_report, .arg = upload },
		.size_max = UINT64_MAX,
		.append_max = UINT64_MAX,
	};
	if (options)
		upload->options = *options;
	if (!upload->options.method)
		upload->options.method = "PUT";
	upload->report.progress = upload->options.progress;
	upload->report.progress_data = upload->options.progress_data;
	return upload;
}

static void upload_free(struct upload *upload)
{
	drop_response(upload);
	eddyi_arena_deinit(&upload->arena);
	free(upload);
}

int eddy_client_upload(struct eddy_client *client, const char *url, int fd,
		       const struct eddy_client_upload *options,
		       struct eddy_client_uploaded *ret_uploaded,
		       struct eddy_response **ret_response)
{
	struct upload *upload = client ? upload_new(client, url, fd, options) : NULL;
	int r;

	if (!upload)
		return client ? eddyi_client_fail(client, -ENOMEM, "out of memory") : -ENOMEM;
	r = open_and_run(upload);
	if (r == 0) {
		*ret_uploaded = (struct eddy_client_uploaded){
			.status = eddy_response_status(upload->response),
			.size = size_of(upload),
			.sent = upload->hooks.moved,
			.resumed = upload->resumed,
			.retries = upload->report.retries,
			.could_resume = upload->location != NULL,
		};
		if (ret_response) {
			*ret_response = upload->response;
			upload->response = NULL;
		}
	}
	upload_free(upload);
	return r;
}

int eddy_client_upload_cancel(struct eddy_client *client, const char *url,
			      const struct eddy_client_upload *options)
{
	struct upload *upload = client ? upload_new(client, url, -1, options) : NULL;
	int r;

	if (!upload)
		return client ? eddyi_client_fail(client, -ENOMEM, "out of memory") : -ENOMEM;
	r = take_urls(upload);
	if (r == 0)
		r = request_deletion(upload);
	if (r == 0 && upload->response && !is_success(upload) && !is_missing(upload))
		r = fail_status(upload);
	upload_free(upload);
	return r;
}
