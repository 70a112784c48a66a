/* eddy/upload.h: uploads: request bodies saved to files.
 *
 * A body is received into an unnamed file in the target folder. The file gets its name when the
 * body is complete: an aborted upload leaves nothing behind, and a file is replaced atomically. A
 * large body of known length goes from the socket to the page cache by splice.
 *
 * Digests (RFC 9530): eddy_req_save_at() and eddy_req_save() check the SHA-256 and SHA-512 that a
 * request announces in Content-Digest and Repr-Digest before the file gets its name; a field that
 * differs, or is malformed, gives 400. The file is read once more for that, from the page cache, on
 * the offload pool. Its digests are then kept in an extended attribute (user.eddy.digest) for later
 * downloads, if the file system has those. Other algorithms and trailers are ignored, and so are
 * all digests of bodies that a filter decodes (eddy/decompression.h), since they are of the encoded
 * bytes; of forms, since they are of the whole form; and if eddy-http was built with
 * -Dtls=disabled, since it then has no hash.
 *
 * If eddy-http was built with -Dmultipart=disabled, calling eddy_req_save_all() or a function of
 * eddy/part.h is a compile error.
 */
#ifndef EDDY_UPLOAD_H
#define EDDY_UPLOAD_H

#include <eddy/req.h>

#ifdef EDDY_NO_MULTIPART
#define EDDY_MULTIPART_API                                                                         \
	__attribute__((error("eddy-http was built without forms (-Dmultipart=disabled)")))
#else
#define EDDY_MULTIPART_API EDDY_API
#endif

EDDY_BEGIN_DECLS

struct eddy_save_options {
	bool no_replace; /* -EEXIST if the name is taken; default: replace */
	bool sync;       /* fsync before the call returns; default: no fsync */
	/* Bytes; default: .file_max of the route or the app; EDDY_NEVER: no limit; beyond:
	 * -EFBIG. */
	uint64_t max;
	/* Check a valid name before saving; false is -EINVAL. Default: accept all. */
	bool (*accept)(struct eddy_str name);
};

/* A file that was saved. */
struct eddy_saved {
	struct eddy_str name;
	uint64_t size;
	bool replaced; /* a file of this name existed */
};

/* Save the body as `name` in the folder open as `dir`. A name is UTF-8 of at most 255 bytes,
 * without '/', control characters or a leading dot. Conditions of the request (If-Match,
 * If-None-Match, …) apply to the existing file. Suspends.
 * Return: 0; -EINVAL for an invalid name, or a request with content-range (partial upload);
 * -EBADMSG if a digest of the request is malformed or differs (400); -EEXIST if a condition fails
 * (412), or the name is taken with .no_replace (409); -EFBIG beyond the limit; -ENOSPC or -EDQUOT
 * if the disk is full; and what eddy_req_read() returns. */
EDDY_API int eddy_req_save_at(struct eddy_req *req, int dir, struct eddy_str name,
			      const struct eddy_save_options *options,
			      struct eddy_saved *ret_saved);

/* Save the body under the name in its Content-Disposition field, reduced to its last segment
 * without leading dots. Suspends. Otherwise as eddy_req_save_at(); -EINVAL if no valid name
 * remains, -EBADMSG if the field is malformed. */
EDDY_API int eddy_req_save(struct eddy_req *req, int dir, const struct eddy_save_options *options,
			   struct eddy_saved *ret_saved);

/* Save those parts of a multipart/form-data body that have a file name into the folder `dir`. They
 * are published together at the end, or none is; until then each takes a descriptor. `options->max`
 * limits the whole body. `*ret_files` is request memory. Suspends.
 * Return: the number of files, 0 if there are none; -EINVAL for an invalid name, or two parts with
 * the same name; -EEXIST, -ENOSPC, -EDQUOT; and what eddy_req_multipart() and eddy_multipart_next()
 * of eddy/part.h return. */
EDDY_MULTIPART_API ssize_t eddy_req_save_all(struct eddy_req *req, int dir,
					     const struct eddy_save_options *options,
					     struct eddy_saved **ret_files);

/* Compute the SHA-256 of an open regular file on the offload pool (worker threads for blocking
 * calls), as lower-case digits with a NUL. Suspends.
 * Return: 0; -EIO if it can't be read, or becomes shorter; -ECANCELED; -ENOMEM, also if eddy-http was
 * built with -Dtls=disabled. */
#define EDDY_SHA256_SIZE 65
EDDY_API int eddy_file_sha256(int fd, char ret_hex[EDDY_SHA256_SIZE]);

/* Remove the hidden files of unfinished uploads that a killed server left in a folder. Files of
 * running servers are kept; on a file system without locks, all are. Blocks: call it before the app
 * runs, or while it starts (eddy_app_at_start()).
 * Return: the number removed, -errno. */
EDDY_API int eddy_upload_clean(int dir);

EDDY_END_DECLS

#endif
