/* Downloads into files: requests for what is missing, until nothing is. */
#include "client.h"
#include "client_partial.h"
#include "client_retry.h"
#include "client_source.h"
#include "files/digest_file.h"
#include "message/range.h"

#include <eddy/file.h>
#include <eddy/internal/outside.h>
#include <eddy/loop.h>
#include <eddy/mutex.h>
#include <eddy/task.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Limits of a piece that one of several connections requests. The first is a small one, since the
 * size of the file is not known yet. */
#define PIECE_MIN EDDY_MIB
#define PIECE_MAX (32 * EDDY_MIB)
/* Bytes moved by one transfer, and by one write of bytes that pass through memory. */
#define SPLICE_STEP (16 * EDDY_MIB)
#define COPY_SIZE ((size_t)(128 * EDDY_KIB))
/* Bytes are held back no longer than this for a larger write. */
#define COPY_NS (100 * EDDY_MS)
/* How often the download begins again because the file has changed, or can't be continued. */
#define RESTARTS_MAX 5

struct download;

/* A task that requests one piece after the other. */
struct worker {
	struct download *download;
	struct eddyi_retry retry;
	struct eddyi_piece *piece; /* that it has; NULL: none */
	const uint64_t *moving;    /* bytes of it that a transfer has moved so far; NULL: none */
	bool is_redirected;        /* its request is to where the URL leads */
	char *buf;
	size_t gathered; /* bytes in it */
};

/* Invariant: there are several workers only while the file is `known` and has a strong entity
 * tag. */
struct download {
	struct eddy_client *client;
	const char *url;
	int dir;
	const struct eddy_client_download *options;
	struct eddyi_report report;
	struct eddyi_client_partial partial;
	struct eddyi_client_partial_state state;
	struct worker workers[EDDYI_CONNECTIONS_MAX];
	unsigned worker_count;
	unsigned running;         /* workers that have not ended */
	struct eddy_scope *scope; /* of the workers */
	uint64_t given;           /* bytes, to .take */
	struct eddy_client_downloaded done;
	unsigned restarts;
	bool known;     /* the file's size, or that it has none, and its validator */
	bool answered;  /* the server has sent a response */
	bool no_ranges; /* the file is requested as a whole, by one connection */
	bool is_named;  /* the responses have given the file its name, if they do */
	struct eddy_mutex saving;
	int error;                         /* the first that ended a worker */
	char problem[512];                 /* of it */
	char redirected[EDDYI_URL_MAX];    /* to which `url` leads; empty: not known */
	bool is_foreign;                   /* it is of another origin */
	char digest[EDDYI_VALIDATOR_SIZE]; /* the repr-digest field; empty: none */
};

static bool can_resume(const struct download *download)
{
	return download->state.validator[0];
}

static bool has_strong_etag(const struct download *download)
{
	return download->state.validator[0] == '"';
}

/* Whether several connections may load the file. */
static bool is_divisible(const struct download *download)
{
	return download->options->connections > 1 && !download->no_ranges &&
	       (!download->known ||
		(has_strong_etag(download) && download->state.total != UINT64_MAX));
}

static void forget_redirect(struct download *download)
{
	download->redirected[0] = 0;
	download->is_foreign = false;
}

/* Forget the file: all of it is missing. Only the first worker may have a piece. */
static void forget(struct download *download)
{
	struct eddyi_client_partial_state *state = &download->state;

	*state = (struct eddyi_client_partial_state){
		.total = UINT64_MAX,
		.pieces = { { 0, UINT64_MAX, false } },
		.is_sequential = true,
	};
	state->pieces[0].is_taken = download->workers[0].piece;
	if (download->workers[0].piece)
		download->workers[0].piece = &state->pieces[0];
	download->known = download->is_named = false;
	download->digest[0] = 0;
	forget_redirect(download);
	download->done.resumed = 0;
}

/* ---- reports ---- */

static uint64_t count_bytes(const struct download *download)
{
	uint64_t bytes = download->state.total - eddyi_client_partial_missing(&download->state);

	for (size_t i = 0; i < download->worker_count; i++) {
		bytes += download->workers[i].gathered;
		if (download->workers[i].moving)
			bytes += *download->workers[i].moving;
	}
	return bytes;
}

static void fill_report(void *arg, struct eddy_client_progress *progress)
{
	struct download *download = arg;

	progress->bytes = count_bytes(download);
	progress->total = download->state.total;
	progress->resumed = download->done.resumed;
	for (size_t i = 0; i < EDDYI_PIECES_MAX; i++)
		progress->connections += download->state.pieces[i].is_taken;
	progress->can_resume = progress->bytes && can_resume(download) && !download->options->take;
}

/* Save the download's state. Without it, a later call starts over. The description of an error
 * stays. Return: 0, -errno. */
static int save(struct download *download)
{
	struct eddyi_client_partial_state state;
	char problem[sizeof(download->client->error)];
	int r;

	if (download->partial.fd < 0 || !can_resume(download))
		return 0;
	memcpy(problem, download->client->error, sizeof(problem));
	r = eddy_mutex_lock(&download->saving);
	if (r < 0)
		return r;
	state = download->state;
	for (size_t i = 0; i < download->worker_count; i++) {
		const struct worker *worker = &download->workers[i];

		if (worker->moving)
			state.pieces[worker->piece - download->state.pieces].at += *worker->moving;
	}
	r = eddyi_client_partial_save(&download->partial, &state);
	eddy_mutex_unlock(&download->saving);
	memcpy(download->client->error, problem, sizeof(problem));
	return r;
}

static int save_each_second(void *arg)
{
	while (eddy_sleep(EDDY_SECOND) == 0)
		save(arg);
	return 0;
}

/* ---- what a response says of the file ---- */

static int complain(struct download *download, int error, const char *text)
{
	return eddyi_client_fail(download->client, error, "%s", text);
}

static struct eddy_str field(const struct eddy_response *response, const char *name)
{
	return eddy_response_header(response, name);
}

/* Take the file's name from the response, if it has a valid one. */
static int set_name(struct download *download, struct eddy_response *response)
{
	const struct eddy_client_download *options = download->options;
	struct stat st;

	if (download->is_named)
		return 0;
	download->is_named = true;
	if (!options->name)
		eddyi_source_name_from_response(response, download->done.name);
	if (options->no_replace && !options->take &&
	    eddyi_fstatat_now(download->dir, download->done.name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return complain(download, -EEXIST, "a file of this name exists");
	return 0;
}

/* Keep the URL for further requests: each redirect could lead to another copy of the file. */
static void set_url(struct download *download, const struct eddy_response *response)
{
	struct eddy_str own = eddy_str_from(download->url);
	struct eddy_str text = eddy_response_url(response);
	struct eddyi_url url;

	if (eddy_str_eq(text, own) || text.len >= sizeof(download->redirected) ||
	    eddyi_url_parse(own, &url) < 0)
		return;
	snprintf(download->redirected, sizeof(download->redirected), "%.*s", EDDY_FMT(text));
	download->is_foreign = !eddyi_url_is_same_origin(&url, &response->url);
}

/* Reserve space for the file, where the file system can. Return: 0; -EFBIG, -ENOSPC, -EDQUOT;
 * -ECANCELED. */
static int reserve(struct download *download, uint64_t total)
{
	uint64_t max = download->options->size_max;
	int r;

	if (total == UINT64_MAX)
		return 0;
	if (max && total > max)
		return complain(download, -EFBIG, "the file is larger than allowed");
	if (download->partial.fd < 0 || !total)
		return 0;
	r = eddy_fallocate(download->partial.fd, FALLOC_FL_KEEP_SIZE, 0, total);
	if (r == -ENOSPC || r == -EDQUOT)
		return complain(download, r, "the disk has too little free space");
	return r == -ECANCELED ? r : 0;
}

static void set_digest(struct download *download, const struct eddy_response *response)
{
	struct eddy_str value = field(response, "repr-digest");

	if (value.ptr && value.len < sizeof(download->digest))
		snprintf(download->digest, sizeof(download->digest), "%.*s", EDDY_FMT(value));
}

/* Initialize the file's name, size and validator from the first response. Return: 0, -errno. */
static int begin_file(struct download *download, struct eddy_response *response, uint64_t total)
{
	int r = set_name(download, response);

	if (r == 0)
		r = reserve(download, total);
	if (r < 0)
		return r;
	eddyi_source_validator(response, download->state.validator);
	set_digest(download, response);
	eddyi_client_partial_set_total(&download->state, total);
	download->known = true;
	save(download);
	return 0;
}

/* Begin again with nothing. Return: 0; -ESTALE; -errno. */
static int restart(struct download *download)
{
	int r;

	if (download->given || ++download->restarts > RESTARTS_MAX)
		return complain(download, -ESTALE,
				download->given ? "the file changed during the download" :
						  "the file changed again and again");
	forget(download);
	if (download->partial.fd < 0)
		return 0;
	r = eddy_mutex_lock(&download->saving);
	if (r < 0)
		return r;
	r = eddyi_client_partial_clear(&download->partial);
	eddy_mutex_unlock(&download->saving);
	return r;
}

/* ---- one request, and its response ---- */

/* Whether the worker's piece is all of the file, and a 200 is of the file that is known. */
static bool is_same_file(const struct worker *worker, const struct eddy_response *response)
{
	const struct eddyi_client_partial_state *state = &worker->download->state;
	char validator[EDDYI_VALIDATOR_SIZE];

	eddyi_source_validator(response, validator);
	return !worker->piece->at && worker->piece->end == state->total &&
	       eddy_response_length(response) == state->total &&
	       strcmp(validator, state->validator) == 0;
}

/* Check a 200, which has all of the file; `*ret_end` is its size.
 * Return: 1 to receive it; -ESTALE if other workers have to end first; -errno. */
static int check_whole(struct worker *worker, struct eddy_response *response, uint64_t *ret_end)
{
	struct download *download = worker->download;
	int r = 0;

	if (download->known && download->worker_count > 1)
		return complain(download, -ESTALE, "the file changed during the download");
	*ret_end = eddy_response_length(response);
	if (download->known && is_same_file(worker, response)) {
		set_digest(download, response);
		return 1;
	}
	if (download->known)
		r = restart(download);
	else
		forget(download);
	if (r == 0)
		r = begin_file(download, response, *ret_end);
	return r < 0 ? r : 1;
}

/* Request the file without a range, by one connection. Return: 0. */
static int request_whole(struct download *download)
{
	download->no_ranges = true;
	forget(download);
	return 0;
}

static bool is_other_file(const struct download *download, const struct eddy_response *response,
			  uint64_t total)
{
	const struct eddyi_client_partial_state *state = &download->state;
	struct eddy_str validator =
		field(response, has_strong_etag(download) ? "etag" : "last-modified");

	return (total != UINT64_MAX && state->total != UINT64_MAX && total != state->total) ||
	       (validator.ptr && can_resume(download) &&
		!eddy_str_eq_z(validator, state->validator));
}

/* Check a 206, which has the beginning of the piece; `*ret_end` is the end of that part.
 * Return: 1 to receive it; 0 to request the file otherwise; -errno. */
static int check_part(struct worker *worker, struct eddy_response *response, uint64_t *ret_end)
{
	struct download *download = worker->download;
	uint64_t length = eddy_response_length(response), total;
	struct eddyi_range range;
	int r;

	if (eddyi_range_parse_content(field(response, "content-range"), &range, &total) < 0 ||
	    range.first != worker->piece->at || range.last >= worker->piece->end ||
	    (!download->known && !is_divisible(download))) {
		/* Some servers send such a range of an empty file. */
		if (is_divisible(download) && !download->known)
			return request_whole(download);
		return complain(download, -EBADMSG,
				"the server sent another range than the requested one");
	}
	if (length != UINT64_MAX && length != range.last - range.first + 1)
		return complain(download, -EBADMSG,
				"the content-length differs from the content-range");
	if (download->known && is_other_file(download, response, total))
		return complain(download, -ESTALE, "the file changed during the download");
	*ret_end = range.last + 1;
	if (!download->known) {
		r = begin_file(download, response, total);
		/* Without a strong entity tag, other parts may be those of another file. */
		if (r == 0 && !is_divisible(download))
			return request_whole(download);
		return r < 0 ? r : 1;
	}
	set_digest(download, response);
	if (download->state.total == UINT64_MAX)
		eddyi_client_partial_set_total(&download->state,
					       total != UINT64_MAX ? total : *ret_end);
	r = set_name(download, response);
	return r < 0 ? r : 1;
}

/* Check the response to a request for the worker's piece.
 * Return: 1 to receive its body up to `*ret_end`; 0 to request the file otherwise; -errno. */
static int check_response(struct worker *worker, struct eddy_response *response, uint64_t *ret_end)
{
	struct download *download = worker->download;
	int r;

	switch (eddy_response_status(response)) {
	case 200:
		return check_whole(worker, response, ret_end);
	case 206:
		return check_part(worker, response, ret_end);
	case 416:
		if (download->known)
			return complain(download, -ESTALE, "the file changed during the download");
		/* The file may be empty. */
		if (is_divisible(download))
			return request_whole(download);
		break;
	}
	r = eddyi_retry_fail_status(&worker->retry, response);
	if (!worker->is_redirected)
		return r;
	/* The redirect's target may have expired. */
	forget_redirect(download);
	return worker->retry.is_passing ? r : 0;
}

static int fail_file(struct download *download, int error)
{
	if (error == -ECANCELED)
		return error;
	return eddyi_client_fail(download->client, error, "can't write the file: %s",
				 strerror(-error));
}

/* Give away what is gathered, or write it to the file, also when the call is cancelled. */
static int put_gathered(struct worker *worker, bool cancelled)
{
	struct download *download = worker->download;
	const struct eddy_client_download *options = download->options;
	struct eddy_str bytes = eddy_str(worker->buf, worker->gathered);
	struct eddy_scope shield;
	int r;

	download->done.received += bytes.len;
	worker->gathered = 0;
	if (!bytes.len)
		return 0;
	if (options->take) {
		r = options->take(options->take_data, bytes);
		download->given += bytes.len;
		if (r < 0 && r != -ECANCELED)
			eddyi_client_fail(download->client, r, "the bytes can't be taken: %s",
					  strerror(-r));
	} else {
		eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = cancelled });
		r = eddy_transfer_write(download->partial.fd, bytes.ptr, bytes.len,
					worker->piece->at);
		eddy_scope_end(&shield);
		if (r < 0)
			fail_file(download, r);
	}
	if (r == 0)
		worker->piece->at += bytes.len;
	return r;
}

/* Receive bytes through memory, gathered for one write. Return: 1; 0 at the end; -errno. */
static int copy(struct worker *worker, struct eddy_response *response, uint64_t most)
{
	uint64_t until_ns = eddy_now() + COPY_NS;
	size_t size = most < COPY_SIZE ? (size_t)most : COPY_SIZE;
	ssize_t r = 1;
	int written;

	if (!worker->buf)
		worker->buf = malloc(COPY_SIZE);
	if (!worker->buf)
		return -ENOMEM;
	while (r > 0 && worker->gathered < size && (!worker->gathered || eddy_now() < until_ns)) {
		r = eddy_response_read(response, worker->buf + worker->gathered,
				       size - worker->gathered);
		worker->gathered += r > 0 ? (size_t)r : 0;
	}
	if (r < 0)
		eddyi_retry_fail(&worker->retry, (int)r, true);
	written = put_gathered(worker, r == -ECANCELED);
	if (written < 0) {
		worker->retry.is_passing = false;
		return written;
	}
	return r < 0 ? (int)r : r > 0;
}

/* Receive bytes by splice. Return: as copy(); -EAGAIN if they must pass through memory. */
static int splice_in(struct worker *worker, struct eddy_response *response, uint64_t most)
{
	struct download *download = worker->download;
	struct eddy_transfer transfer = {
		.file = download->partial.fd,
		.offset = worker->piece->at,
		.len = most < SPLICE_STEP ? most : SPLICE_STEP,
	};
	int r;

	if (download->options->take)
		return -EAGAIN;
	worker->moving = &transfer.moved;
	r = eddyi_response_file(response, &transfer);
	worker->moving = NULL;
	worker->piece->at += transfer.moved;
	download->done.received += transfer.moved;
	if (r < 0 && r != -EAGAIN) {
		eddyi_retry_fail(&worker->retry, r, true);
		if (!worker->retry.is_passing && r != -EBADMSG)
			fail_file(download, r);
	}
	return r;
}

/* Receive the body into the piece, up to `end`; UINT64_MAX: up to the end of the body. */
static int receive(struct worker *worker, struct eddy_response *response, uint64_t end)
{
	struct download *download = worker->download;
	uint64_t max = download->options->size_max;
	int r = 1;
	char byte;

	while (r > 0 && worker->piece->at < end) {
		uint64_t most = end - worker->piece->at;

		r = splice_in(worker, response, most);
		if (r == -EAGAIN)
			r = copy(worker, response, most);
		if (r >= 0 && max && worker->piece->at > max)
			return complain(download, -EFBIG, "the file is larger than allowed");
	}
	if (r < 0)
		return r;
	if (end == UINT64_MAX) {
		eddyi_client_partial_set_total(&download->state, worker->piece->at);
	} else if (worker->piece->at < end) {
		worker->retry.is_passing = true;
		return complain(download, -ECONNRESET,
				"the server ended the body before its announced length");
	} else if (eddy_response_read(response, &byte, 1) > 0) {
		/* Of a body in chunks the end has not been read yet. */
		return complain(download, -EBADMSG, "the body is longer than announced");
	}
	return 0;
}

/* Request the worker's piece. */
static int request_piece(struct worker *worker, struct eddy_response **ret_response)
{
	struct download *download = worker->download;
	const struct eddyi_client_partial_state *state = &download->state;
	const struct eddyi_piece *piece = worker->piece;
	struct eddy_header headers[4] = { 0 }, *header = headers;
	struct eddyi_client_hooks hooks = { .headers = headers, .foreign = download->is_foreign };
	char range[64], last[EDDY_U64_SIZE] = "";
	bool whole = !piece->at && piece->end == state->total;

	if (piece->end != UINT64_MAX)
		eddy_u64_format(piece->end - 1, last);
	snprintf(range, sizeof(range), "bytes=%llu-%s", (unsigned long long)piece->at, last);
	if (download->options->require_digest)
		*header++ = (struct eddy_header){ "want-repr-digest", "sha-256=10, sha-512=5" };
	if (!whole)
		*header++ = (struct eddy_header){ "range", range };
	if (!whole && can_resume(download))
		*header++ = (struct eddy_header){ "if-range", state->validator };
	worker->is_redirected = download->redirected[0];
	return eddyi_client_send(download->client,
				 worker->is_redirected ? download->redirected : download->url,
				 &(struct eddy_client_request){
					 .headers = download->options->headers,
					 .timeout_ns = EDDY_NEVER,
				 },
				 &hooks, ret_response);
}

static void add_workers(struct download *download);

/* Request the worker's piece, and receive what comes of it. Return: 0; -errno. */
static int fetch(struct worker *worker)
{
	struct download *download = worker->download;
	struct eddy_response *response;
	bool is_lost = download->known && !can_resume(download) && worker->piece->at;
	uint64_t end = 0;
	int r = is_lost ? restart(download) : 0;

	worker->retry.is_passing = false;
	if (r < 0)
		return r;
	r = request_piece(worker, &response);
	if (r < 0) {
		forget_redirect(download);
		return eddyi_retry_fail(&worker->retry, r, download->answered);
	}
	download->answered = true;
	r = check_response(worker, response, &end);
	if (r > 0) {
		if (!worker->is_redirected)
			set_url(download, response);
		add_workers(download);
		r = receive(worker, response, end);
	} else {
		eddyi_response_discard(response);
	}
	eddy_response_free(response);
	return r;
}

/* ---- workers ---- */

/* Of a piece that one request asks for. */
static uint64_t piece_size(const struct download *download)
{
	uint64_t size = download->state.total / ((uint64_t)download->options->connections * 4 + 1);

	if (!is_divisible(download))
		return UINT64_MAX;
	if (!download->known || size < PIECE_MIN)
		return PIECE_MIN;
	return size < PIECE_MAX ? size : PIECE_MAX;
}

/* Wait before the next try. Return: 0; the failure if there is no further one; -ECANCELED. */
static int wait_for_retry(struct worker *worker, int failure)
{
	struct download *download = worker->download;

	/* It can neither continue nor begin again. */
	if (download->known && !can_resume(download) &&
	    (download->given || download->restarts == RESTARTS_MAX))
		return failure;
	return eddyi_retry_wait(&worker->retry, &download->report, download->done.received,
				failure);
}

static int work(void *arg)
{
	struct worker *worker = arg;
	struct download *download = worker->download;
	int r = 0;

	while (r == 0 && (worker->piece = eddyi_client_partial_take(&download->state,
								    piece_size(download)))) {
		r = fetch(worker);
		worker->piece->is_taken = false;
		worker->piece = NULL;
		if (eddyi_client_partial_missing(&download->state))
			save(download);
		if (r < 0)
			r = wait_for_retry(worker, r);
	}
	free(worker->buf);
	worker->buf = NULL;
	download->running--;
	/* If the server does not serve this one any more, others go on with its piece. */
	if (r < 0 && worker->retry.is_passing && r != -ECANCELED && download->running)
		return 0;
	if (r < 0 && !download->problem[0])
		snprintf(download->problem, sizeof(download->problem), "%s",
			 eddy_client_error(download->client));
	return r;
}

static int begin_worker(struct download *download)
{
	struct worker *worker = &download->workers[download->worker_count++];
	int r;

	*worker = (struct worker){
		.download = download,
		.retry = { .client = download->client, .options = &download->options->retry },
	};
	download->running++;
	r = eddy_scope_spawn(download->scope, "download", work, worker);
	download->running -= r < 0;
	return r;
}

/* Load the rest by further connections, if that is wanted and possible. */
static void add_workers(struct download *download)
{
	uint64_t pieces = eddyi_client_partial_missing(&download->state) / piece_size(download) + 1;

	if (download->worker_count > 1 || !is_divisible(download) || pieces < 2)
		return;
	/* From now on the file's length tells nothing. */
	download->state.is_sequential = false;
	if (save(download) < 0)
		return;
	while (download->worker_count < download->options->connections &&
	       download->worker_count < pieces && begin_worker(download) == 0)
		;
}

/* Let workers load what is missing. Return: 0; -ESTALE if the file changed; -errno. */
static int run_workers(struct download *download)
{
	struct eddy_scope scope;
	int r, failure;

	download->worker_count = download->running = 0;
	download->problem[0] = 0;
	download->scope = &scope;
	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .fail_fast = true });
	r = begin_worker(download);
	if (r == 0)
		eddy_scope_join(&scope);
	failure = eddy_scope_end(&scope);
	if (failure < 0 && failure != -ECANCELED)
		return complain(download, failure, download->problem);
	if (r == 0 && (failure || eddyi_client_partial_missing(&download->state)))
		r = -ECANCELED;
	return r;
}

/* ---- the call ---- */

static int take_name(struct download *download)
{
	const char *name = download->options->name;

	if (!name) {
		eddyi_source_name_from_url(download->url, download->done.name);
		return 0;
	}
	if (!*name || strlen(name) >= sizeof(download->done.name) || strchr(name, '/') ||
	    strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return complain(download, -EINVAL, "the name of the file is not valid");
	strcpy(download->done.name, name);
	return 0;
}

static int open_partial(struct download *download)
{
	const struct eddy_client_download *options = download->options;
	int r = eddyi_client_partial_open(&download->partial, download->dir, download->done.name,
					  download->url);

	if (r == -EBUSY)
		return complain(download, r, "another call downloads a file to this name");
	if (r < 0)
		return fail_file(download, r);
	/* Without a byte that is known there is nothing to continue. */
	if (options->start_again ||
	    !eddyi_client_partial_load(&download->partial, &download->state) ||
	    !(download->done.resumed = count_bytes(download))) {
		forget(download);
		r = eddyi_client_partial_clear(&download->partial);
		return r < 0 ? fail_file(download, r) : 0;
	}
	download->known = true;
	/* Of a file that is complete, the last byte shows whether it is still the server's. */
	if (download->done.resumed == download->state.total)
		download->state.pieces[0] = (struct eddyi_piece){ --download->done.resumed,
								  download->state.total, false };
	return 0;
}

/* Compare the file with a digest that the server has sent; a malformed field counts as none. */
static int check_digest(struct download *download)
{
	struct eddyi_digests announced = { 0 }, actual;
	enum eddyi_digest_algorithm algorithm = EDDYI_DIGEST_SHA256;
	int r;

	if (eddyi_digest_parse(eddy_str_from(download->digest), &announced) < 0)
		announced.known = 0;
	if (!(announced.known & EDDYI_DIGEST_BIT(algorithm)))
		algorithm = EDDYI_DIGEST_SHA512;
	if (!EDDYI_TLS || !(announced.known & EDDYI_DIGEST_BIT(algorithm)))
		return download->options->require_digest ?
			       complain(download, -ENODATA,
					"the server sent no digest of the file") :
			       0;
	r = eddyi_digest_of(download->partial.fd, 0, download->state.total,
			    EDDYI_DIGEST_BIT(algorithm), &actual);
	if (r < 0)
		return eddyi_client_fail(download->client, r, "can't read the file: %s",
					 strerror(-r));
	if (eddyi_digest_difference(&announced, &actual) != EDDYI_DIGEST_COUNT)
		return complain(download, -EILSEQ, "the file differs from its digest");
	download->done.digest = eddyi_digest_name(algorithm);
	return 0;
}

static int finish(struct download *download)
{
	const struct eddy_client_download *options = download->options;
	int r;

	download->done.size = download->state.total;
	if (options->take)
		return 0;
	r = check_digest(download);
	if (r < 0)
		return r;
	r = options->sync ? eddy_fsync(download->partial.fd, false) : 0;
	if (r == 0)
		r = eddyi_client_partial_publish(&download->partial, download->done.name,
						 options->no_replace, &download->done.replaced);
	if (r == -EEXIST)
		return complain(download, r, "a file of this name exists");
	return r < 0 ? fail_file(download, r) : 0;
}

static int run(struct download *download)
{
	struct eddy_scope saving;
	int r;

	eddyi_report_begin(&download->report);
	eddy_scope_begin(&saving, NULL);
	/* On allocation failure a kill loses more. */
	eddy_scope_spawn(&saving, "save", save_each_second, download);
	/* Several workers may have parts of an old file. */
	do
		r = run_workers(download);
	while (r == -ESTALE && (r = restart(download)) == 0);
	eddy_scope_end(&saving);
	if (r == 0)
		r = finish(download);
	eddyi_report_end(&download->report);
	return r;
}

static int open_and_run(struct download *download)
{
	struct eddy_scope shield;
	bool keep;
	int r = take_name(download);

	if (r == 0 && !download->options->take)
		r = open_partial(download);
	if (r == 0)
		r = run(download);
	keep = r == 0 || (r != -EILSEQ && can_resume(download) && count_bytes(download));
	if (download->partial.fd < 0)
		return r;
	if (r < 0 && keep) {
		eddy_scope_begin(&shield, &(struct eddy_scope_options){ .shielded = true });
		save(download);
		eddy_scope_end(&shield);
	}
	eddyi_client_partial_close(&download->partial, keep);
	return r;
}

int eddy_client_download(struct eddy_client *client, const char *url, int dir,
			 const struct eddy_client_download *options,
			 struct eddy_client_downloaded *ret_downloaded)
{
	struct eddy_client_download own = { 0 };
	struct download *download = client ? calloc(1, sizeof(*download)) : NULL;
	int r;

	if (!download)
		return client ? eddyi_client_fail(client, -ENOMEM, "out of memory") : -ENOMEM;
	if (options)
		own = *options;
	if (own.take || !own.connections)
		own.connections = 1;
	if (own.connections > EDDYI_CONNECTIONS_MAX)
		own.connections = EDDYI_CONNECTIONS_MAX;
	*download = (struct download){
		.client = client,
		.url = url,
		.dir = dir,
		.options = &own,
		.partial.fd = -1,
		.report = { .progress = own.progress,
			    .progress_data = own.progress_data,
			    .fill = fill_report,
			    .arg = download },
	};
	eddy_mutex_init(&download->saving);
	forget(download);
	r = open_and_run(download);
	download->done.retries = download->report.retries;
	if (r == 0)
		*ret_downloaded = download->done;
	free(download);
	return r;
}
