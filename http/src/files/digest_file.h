/* digest_file.h: digests of files (RFC 9530): computed, compared with those that a request
 * announces, and kept in an extended attribute. Without TLS in the build there is no hash: these
 * functions must then not be called.
 *
 * The attribute, "user.eddy.digest", is text: the etag of the file, the time of writing in
 * nanoseconds, and the digests as in a field. Its digests count only while the etag is the file's,
 * and the ctime is that of the writing: any later change of the file, its names or its permissions,
 * whatever happens to the mtime, makes them void. */
#ifndef EDDYI_DIGEST_FILE_H
#define EDDYI_DIGEST_FILE_H

#include "exchange/exchange_state.h"
#include "message/digest.h"

#include <sys/stat.h>

/* Compute digests of `len` bytes of a file from `from` on, with each of `algorithms` (bits). The
 * bytes are read and hashed in pieces on the offload pool, and a cancel takes effect between them.
 * Suspends.
 * Return: 0; -ECANCELED, -ENOMEM; -EIO if the file has ended before, or can't be read. */
int eddyi_digest_of(int fd, uint64_t from, uint64_t len, unsigned algorithms,
		    struct eddyi_digests *ret_digests);

/* Compare digests announced in the field `name` with those of the bytes that arrived; unknown ones
 * are not compared. Return: 0; -EBADMSG, for a 400 that names the field and the algorithm. */
int eddyi_digest_compare(struct eddy_req *req, const char *name,
			 const struct eddyi_digests *announced, const struct eddyi_digests *actual);

/* Read a digest field of the request.
 * Return: 0, also if there is none; -EBADMSG, for a 400 that names it, if it is malformed. */
int eddyi_digest_announced(struct eddy_req *req, const char *name,
			   struct eddyi_digests *ret_digests);

/* Check the digests announced in the field `name` against `len` bytes of a file from `from` on; an
 * announcement without digests is met. Suspends.
 * Return: as eddyi_digest_of() and eddyi_digest_compare(). */
int eddyi_digest_check(struct eddy_req *req, const char *name,
		       const struct eddyi_digests *announced, int fd, uint64_t from, uint64_t len);

/* Keep digests of a whole file, which was in the state `st` when they were computed, in its
 * extended attribute; nothing is kept if it has been written to since, or if the file system or the
 * permissions do not allow it. A later link(2) or rename(2) makes them void. Suspends. */
void eddyi_digest_keep(int fd, const struct stat *st, const struct eddyi_digests *digests);

/* Get the digests that are kept of the file in the state `st`; none if they are void. Suspends. */
void eddyi_digest_kept(int fd, const struct stat *st, struct eddyi_digests *ret_digests);

/* Set the repr-digest of a response with a file in the state `st`, as the request's
 * Want-Repr-Digest asks (RFC 9530 section 4), if it is kept or the file is small enough to be
 * hashed. Suspends.
 * Return: 0; -ECANCELED, -ENOMEM. */
int eddyi_digest_answer(struct eddy_res *res, const struct stat *st);

#endif
