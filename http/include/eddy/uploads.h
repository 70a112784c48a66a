/* eddy/uploads.h: uploads that can be resumed, and plain ones, into a folder.
 *
 *     eddy_app_map_uploads(app, "/files/{path...}", "shared", &(struct eddy_uploads_options){
 *             .tus = "/tus",
 *     });
 *
 * PUT and POST of a path save the body as the file of that path, whose folder must exist. A client
 * that sends upload-complete gets an upload that other requests can continue after an interruption
 * (draft-ietf-httpbis-resumable-upload-12); with .tus, also one that speaks tus 1.0.0
 * (https://tus.io/protocols/resumable-upload). Bodies go from the socket to the page cache by
 * splice.
 *
 * An upload has a URL of its own, which contains 128 random bits: a client that knows it may
 * continue, read the offset of, and cancel the upload. Its bytes are kept in the hidden folder
 * `.eddy-uploads` of the folder, also across a kill of the server, and move to the file's path when
 * all have arrived: there is never a partial file of that name. A second request for an upload ends
 * the first. Bytes that a response has acknowledged stay.
 *
 * The response to the last request is 201, or 200 if the file existed, with {"name":…,"size":…}
 * unless .complete has set a body.
 */
#ifndef EDDY_UPLOADS_H
#define EDDY_UPLOADS_H

#include <eddy/group.h>
#include <eddy/req.h>

#pragma GCC system_header /* see eddy/target.h */

EDDY_BEGIN_DECLS

/* An upload, as the functions of the options see it. Borrowed. */
struct eddy_upload {
	struct eddy_str path; /* of the file beneath the folder, decoded */
	uint64_t size;        /* bytes in all; EDDY_LENGTH_UNKNOWN: the client has not said it */
	/* In .complete: the file, which has no name yet, for reading; -1 elsewhere. */
	int fd;
	void *data; /* .data of the options */
};

struct eddy_uploads;

/* How uploads are received. A zero field takes its default. Strings are copied. */
struct eddy_uploads_options {
	/* Bytes of a file; default: .file_max of the route or the app; EDDY_NEVER: no limit. */
	uint64_t max;
	/* Bytes of one request's body, for clients that upload in several; default: no limits. A
	 * request that ends the upload may have fewer than .append_min. Not for tus. */
	uint64_t append_max;
	uint64_t append_min;
	/* Incomplete uploads; default 1000; beyond: 507. At the limit, those under 1 MiB expire
	 * after a minute. */
	unsigned count_max;
	/* How long an incomplete upload is kept after its last byte, and how long the URL of a
	 * completed one still answers; default 24 h. */
	uint64_t expire_ns;
	bool no_replace; /* 409 if the file exists; default: replace */
	/* Flush bytes to the disk (fsync(2)) before they are acknowledged; default: they survive a
	 * kill of the server, but not a power failure. */
	bool sync;
	const char *at;  /* path of the uploads' URLs; default "/uploads" */
	const char *tus; /* path for tus, such as "/tus"; default: tus is not spoken */

	/* May this upload begin? Also called for a plain upload; not again for the requests that
	 * continue one. May suspend.
	 * Return: 0; a status or -errno, which is the response. A response with a status of 400 and
	 * more, as by eddy_res_problem(), refuses as well. The same applies to .complete. */
	int (*begin)(struct eddy_req *req, struct eddy_res *res, const struct eddy_upload *upload);
	/* All bytes have arrived. It may inspect the file, set fields and a body of the response,
	 * and change `upload->path` to another path in an existing folder, in request memory. May
	 * suspend. It is called again if the upload then fails to get its name and the client asks
	 * again.
	 * Return: 0; a status or -errno, which is the response, and the bytes are discarded, except
	 * after -ECANCELED. */
	int (*complete)(struct eddy_req *req, struct eddy_res *res, struct eddy_upload *upload);
	/* An incomplete upload has expired and was removed. Called from a task of the app, or from
	 * a request that found too many incomplete ones. May suspend. */
	void (*expired)(struct eddy_app *app, const struct eddy_upload *upload);
	void *data; /* borrowed for the app's life */
};

/* Receive uploads to the folder `dir`: map PUT, POST and OPTIONS of a pattern that ends in
 * `{name...}`, the URLs of uploads, and those of tus. The folder is opened at once; eddy_app_run()
 * reports a failure. */
EDDY_API void eddy_app_map_uploads(union eddy_router router, const char *pattern, const char *dir,
				   const struct eddy_uploads_options *options);

/* For an app that maps PUT and POST itself: map only the URLs of uploads and those of tus.
 * Return: for the calls below; never NULL. */
EDDY_API struct eddy_uploads *eddy_app_add_uploads(union eddy_router router, const char *dir,
						   const struct eddy_uploads_options *options);

/* Answer a PUT or POST that uploads the file `path` beneath the folder, or begins to. Suspends.
 * Return: as a handler. */
EDDY_API int eddy_uploads_receive(struct eddy_uploads *uploads, struct eddy_req *req,
				  struct eddy_res *res, struct eddy_str path);

/* Answer OPTIONS: that uploads to this path can be resumed, and the limits. Never suspends. Return:
 * as a handler. */
EDDY_API int eddy_uploads_offer(struct eddy_uploads *uploads, struct eddy_req *req,
				struct eddy_res *res);

EDDY_END_DECLS

#endif
