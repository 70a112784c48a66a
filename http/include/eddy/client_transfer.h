/* eddy/client_transfer.h: downloads into files and uploads of files that continue after failures.
 *
 *     struct eddy_client_downloaded done;
 *
 *     r = eddy_client_download(client, url, AT_FDCWD, NULL, &done);
 *     if (r < 0)
 *             eddy_error("app", "can't download: %s", eddy_client_error(client));
 *
 * A transfer that fails for a passing reason is tried again, later each time, and continues where
 * it ended. Such reasons are broken connections, timeouts, and the statuses 408, 429, 500, 502, 503
 * and 504. The client's .timeout_ns does not apply: a transfer lasts as long as bytes move. End it
 * by its scope. Redirects follow the client's .redirects_max. A client may do several transfers at
 * the same time, in tasks of its loop.
 *
 * Besides the errors of eddy/client.h the calls return, once tries have ended:
 *   -ENOENT     the server has no such file (404, 410)
 *   -EACCES     the server does not allow it (401, 403, 407)
 *   -EAGAIN     the server is overloaded (408, 429, 503), or asks for a longer delay than allowed
 *   -EREMOTEIO  the server returned another status that is no success
 *   -ESTALE     the file changed again and again, or on the server during the transfer
 * eddy_client_error() says more.
 */
#ifndef EDDY_CLIENT_TRANSFER_H
#define EDDY_CLIENT_TRANSFER_H

#include <eddy/client.h>
#include <eddy/req.h>

EDDY_BEGIN_DECLS

/* How far a transfer is. */
struct eddy_client_progress {
	uint64_t bytes;       /* transferred, those of earlier calls included */
	uint64_t total;       /* of the file, or EDDY_LENGTH_UNKNOWN */
	uint64_t resumed;     /* transferred by earlier calls */
	unsigned connections; /* that transfer now */
	unsigned retries;     /* so far */
	bool can_resume;      /* a later call can continue where this one ends */
	/* Of an upload that can be continued: for .resume_url of a later call. This URL may be all
	 * that is needed to write to the upload. Valid during the report. NULL: none. */
	const char *upload_url;
	/* Why the transfer waits before it tries again, for people; NULL: it does not wait. */
	const char *waits_for;
	uint64_t wait_ns; /* how long it waits, from now on */
};

/* Take a report, at the begin and the end of a transfer and ten times a second in between. Runs in
 * a task of the client's loop. Must not suspend. */
typedef void eddy_client_progress_fn(void *data, const struct eddy_client_progress *progress);

/* ---- downloads ---- */

/* Take the next bytes of a download. May suspend. Return: 0; -errno, with which the call fails. */
typedef int eddy_client_take_fn(void *data, struct eddy_str bytes);

/* How to download. A zero field takes its default. Borrowed until the call returns. */
struct eddy_client_download {
	/* Of the file. Default: the last segment of the file name in the response's
	 * content-disposition, else of the URL's path, without leading dots; else "index.html". */
	const char *name;
	/* Gets the bytes in order instead of a file; the fields for files have no effect. */
	eddy_client_take_fn *take;
	void *take_data;

	const struct eddy_header *headers; /* of each request; default none */
	bool no_replace;                   /* -EEXIST if the name is taken; default: replace */
	bool start_again; /* discard what an earlier call left; default: continue it */
	bool sync;        /* fsync before the file gets its name; default: no fsync */
	/* Ask for a digest of the file (RFC 9530), and fail with -ENODATA without one. Default: a
	 * digest that the server sends is checked. */
	bool require_digest;
	/* Connections that download parts of the file at the same time; default 1; more than 16
	 * count as 16. If the server does not support ranges, or sends no strong entity tag, one is
	 * used. */
	unsigned connections;
	uint64_t size_max; /* of the file; beyond: -EFBIG; default: no limit */
	struct eddy_client_retry retry;
	eddy_client_progress_fn *progress;
	void *progress_data;
};

/* A file that was downloaded. */
struct eddy_client_downloaded {
	char name[256];
	uint64_t size;
	uint64_t received; /* bytes of bodies in this call, those that were discarded included */
	uint64_t resumed;  /* bytes of the file that an earlier call had left */
	unsigned retries;
	const char *digest; /* algorithm of the digest that was checked; NULL: none */
	bool replaced;      /* a file of this name existed */
};

/* Download a URL into a file of the folder `dir`, which is open, or AT_FDCWD. `options` may be
 * NULL. Suspends.
 *
 * The bytes are in a hidden file beside it, ".NAME.eddy-part", until all have arrived. After a
 * failure, the rest is requested by a range on the condition that the file is still the same (RFC
 * 9110 section 13.1.5): that its entity tag is, if that is strong; or if there is none, its
 * modification time, if that is at least a second before the response. Without such a validator,
 * and when the file changed, the download begins again. If the call fails or is cancelled, the
 * hidden file stays for a later call of the same URL and name, if bytes were received and there is
 * a validator, with which ".NAME.eddy-state" is written once a second; otherwise it is removed. A
 * file that was loaded by several connections is not continued after a restart of the machine.
 *
 * A body without a length ends with its connection, so that its end can't be told from a failure.
 * Plain HTTP of known length is received by splice.
 * Return: 0; -EINVAL for an invalid name; -EEXIST; -EBUSY if another call downloads to this name;
 * -EILSEQ if the file differs from its digest, and is removed; -ENODATA; -EFBIG; -ENOSPC, -EDQUOT
 * or another error of the file system; -errno as above, or of .take. */
EDDY_API int eddy_client_download(struct eddy_client *client, const char *url, int dir,
				  const struct eddy_client_download *options,
				  struct eddy_client_downloaded *ret_downloaded);

/* ---- uploads ---- */

/* How to upload. A zero field takes its default. Borrowed until the call returns. */
struct eddy_client_upload {
	const char *method; /* default "PUT" */
	/* Fields of each request; those that describe the body (content-…, if-…) of the first
	 * alone. Default none. */
	const struct eddy_header *headers;
	/* The .upload_url in the last report of an earlier call for the same URL and file: that
	 * upload is continued. If the server does not have it any more, or has it for a file of
	 * another size, the upload begins again. Default: begin. */
	const char *resume_url;
	bool plain;  /* one request, without resumption; default: resumption if the server has it */
	bool digest; /* send a digest of the file (RFC 9530), computed before; default: no */
	struct eddy_client_retry retry;
	eddy_client_progress_fn *progress;
	void *progress_data;
};

/* A file that was uploaded. */
struct eddy_client_uploaded {
	int status; /* of the last response, 200 to 299 */
	uint64_t size;
	uint64_t sent;    /* bytes of the file in all requests */
	uint64_t resumed; /* bytes that the server had from earlier calls */
	unsigned retries;
	bool could_resume; /* the server offered resumption */
};

/* Upload all of `fd`, a regular file that is open for reading. `options` may be NULL. Suspends.
 *
 * The client speaks "Resumable Uploads for HTTP" (draft-ietf-httpbis-resumable-upload, interop
 * version 8). The first request has the whole file. A server that offers resumption says so in an
 * interim response (104); after a failure the client asks it how much it has, and appends the rest.
 * The file is sent in pieces if the server limits the size of a request. The server's limits of the
 * size of a file are checked.
 *
 * A server without resumption gets the whole file again, if the method is idempotent (RFC 9110
 * section 9.2.2), or if it answered that it did not process the request (408, 429, 503).
 *
 * If the call fails or is cancelled, the server may keep what it has for a later call with
 * .resume_url, if the last report has an .upload_url. That is so after most statuses of failures,
 * too, such as 403 or 507; not after 400 and 413. An upload of a file that changed, or is too
 * large, is cancelled (DELETE).
 *
 * `*ret_response` is the last response, which the caller frees; `ret_response` may be NULL. If the
 * response to the last bytes was lost, it is the response to a later HEAD, without a body.
 * Return: 0; -EFBIG if the server accepts no file of this size; -EINVAL if `fd` is no regular file;
 * -ESTALE if the file changed during the upload; -errno as above. */
EDDY_API int eddy_client_upload(struct eddy_client *client, const char *url, int fd,
				const struct eddy_client_upload *options,
				struct eddy_client_uploaded *ret_uploaded,
				struct eddy_response **ret_response);

/* Cancel the upload `options->resume_url` that an earlier call for `url` left (DELETE). It is tried
 * once. Suspends. Return: 0, also if the server does not have it any more; -errno as above. */
EDDY_API int eddy_client_upload_cancel(struct eddy_client *client, const char *url,
				       const struct eddy_client_upload *options);

EDDY_END_DECLS

#endif
