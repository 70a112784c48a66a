/* eddy/upload.h: request bodies that become files.
 *
 * A body is received into an unnamed file in the target folder and gets its name only when all of it
 * has arrived: whatever ends an upload early leaves nothing behind, and a file that is replaced is
 * replaced at once. A body of known length goes from the socket to the page cache by splice.
 *
 * Where eddy-http was built with -Dmultipart=disabled, calls of eddy_req_save_all() and of what eddy/part.h has
 * do not compile.
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
	bool no_replace; /* -EEXIST when the name is taken; default: replace */
	bool sync;       /* on disk before the call returns; default: when the kernel likes */
	/* Bytes; default file_max of the route or the app; EDDY_NEVER: as much as the disk holds. */
	uint64_t max;
	/* Whether a client's file name is allowed; default: any that survives the cleaning. What it
	 * refuses is -EINVAL. */
	bool (*accept)(struct eddy_str name);
};

/* A file that was saved. */
struct eddy_saved {
	struct eddy_str name;
	uint64_t size;
	bool replaced; /* there was one of this name */
};

/* Save the body as `name` in the folder `dir`; `name` is UTF-8 of at most 255 bytes without '/', control
 * characters or a dot in front. The conditions of the request (If-Match, If-None-Match, …) are held against the
 * file that is there: -EEXIST, which then is a 412. Suspends.
 * Return: 0; -EINVAL for a bad name, and for a piece of a file (content-range); -EEXIST, -EFBIG over the limit,
 * -ENOSPC or -EDQUOT when the disk is full, and what eddy_req_read() returns. */
EDDY_API int eddy_req_save_at(struct eddy_req *req, int dir, struct eddy_str name,
			      const struct eddy_save_options *options,
			      struct eddy_saved *ret_saved);

/* Save the body into the folder under the name of its Content-Disposition field. Suspends. Otherwise as
 * eddy_req_save_at(); -EINVAL when there is no name, -EBADMSG when the field is malformed. */
EDDY_API int eddy_req_save(struct eddy_req *req, int dir, const struct eddy_save_options *options,
			   struct eddy_saved *ret_saved);

/* Save every part of a multipart/form-data body that has a file name into the folder, and publish
 * them together at the end: all of them or none. `options->max` limits the whole body. Until then each
 * takes a descriptor. `*ret_files` lives as long as the request. Suspends.
 * Return: the number of files, 0 where the form has none; -EINVAL for a bad name or two parts of one
 * name, -EEXIST, -ENOSPC, -EDQUOT, and what eddy_req_multipart() and eddy_multipart_next() of
 * eddy/part.h return. */
EDDY_MULTIPART_API ssize_t eddy_req_save_all(struct eddy_req *req, int dir,
					     const struct eddy_save_options *options,
					     struct eddy_saved **ret_files);

/* Remove what a killed server left in the folder: hidden files of uploads that never got their name.
 * Those of a server that still runs are left alone; so are all where the file system has no locks, since
 * nothing tells them apart. Blocks: call it before running.
 * Return: the number removed, -errno. */
EDDY_API int eddy_upload_clean(int dir);

EDDY_END_DECLS

#endif
