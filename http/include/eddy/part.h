/* eddy/part.h: multipart forms (multipart/form-data, RFC 7578), read part by part as they arrive.
 *
 *     struct eddy_multipart *form;
 *     struct eddy_part *part;
 *     int r = eddy_req_multipart(req, NULL, &form);
 *
 *     while (r == 0 && (r = eddy_multipart_next(form, &part)) > 0)
 *             r = part->filename.len ? eddy_part_save(part, dir, NULL, &saved) :
 *                                      eddy_part_text(part, &text);
 *     return r;
 *
 * Parts come in the order of the body and are never held in memory; unread ones are skipped. To
 * save all files of a form or none, use eddy_req_save_all().
 */
#ifndef EDDY_PART_H
#define EDDY_PART_H

#include <eddy/upload.h>

EDDY_BEGIN_DECLS

struct eddy_multipart;

struct eddy_multipart_options {
	unsigned parts_max; /* default: the app's; beyond: -EMSGSIZE */
	uint64_t field_max; /* bytes of an eddy_part_text(); default: the app's */
	/* Bytes of the whole body; default: .file_max of the route or the app; EDDY_NEVER: no
	 * limit; beyond: -EFBIG. */
	uint64_t max;
};

/* A part of a form. Its strings live as long as the request. */
struct eddy_part {
	struct eddy_multipart *form;
	struct eddy_str name; /* of the form's field; any bytes */
	/* The file name as the client sent it; .ptr NULL: not a file; empty: no file was chosen. */
	struct eddy_str filename;
	/* A name safe to create in a folder: the last segment of `filename`, without leading dots;
	 * .ptr is NULL if no valid file name remains. */
	struct eddy_str safe_name;
	struct eddy_str type; /* its content-type; .ptr is NULL if it has none */
};

/* Start reading the body as a form; once for a request.
 * Return: 0; -EBADMSG if it is not a form (415), or has no boundary (400); -EFBIG if its announced
 * length exceeds the limit; -ENOMEM. */
EDDY_MULTIPART_API int eddy_req_multipart(struct eddy_req *req,
					  const struct eddy_multipart_options *options,
					  struct eddy_multipart **ret_form);

/* Go to the next part, skipping what was not read of this one. Suspends.
 * Return: 1 and a part; 0 at the end of the form; -EBADMSG if it is malformed, or a part's header
 * block exceeds the app's .part_header_max; -EMSGSIZE for too many parts; -EFBIG beyond the body's
 * limit; and what eddy_req_read() returns. After an error all further calls return it again. */
EDDY_MULTIPART_API int eddy_multipart_next(struct eddy_multipart *form,
					   struct eddy_part **ret_part);

/* Read some of a part. Suspends.
 * Return: bytes; 0 at its end, and once the next part was requested; otherwise as
 * eddy_multipart_next(). */
EDDY_MULTIPART_API ssize_t eddy_part_read(struct eddy_part *part, void *buf, size_t len);

/* Read the rest of a part into request memory, with a NUL after it. Suspends.
 * Return: 0; -EMSGSIZE beyond .field_max; -ENOMEM; and what eddy_part_read() returns. */
EDDY_MULTIPART_API int eddy_part_text(struct eddy_part *part, struct eddy_str *ret_text);

/* Save the rest of a part as its `safe_name` in the folder `dir`. The file appears when the whole
 * part has arrived, whatever follows in the form. `options->max` limits this part. Suspends.
 * Return: 0; -EINVAL if there is no such name, or `options->accept` rejects it; -EEXIST, -EFBIG,
 * -ENOSPC, -EDQUOT; and what eddy_part_read() returns. */
EDDY_MULTIPART_API int eddy_part_save(struct eddy_part *part, int dir,
				      const struct eddy_save_options *options,
				      struct eddy_saved *ret_saved);

/* Save the rest of a part as `name`, checked as by eddy_req_save_at(). Suspends. Otherwise as
 * eddy_part_save(). */
EDDY_MULTIPART_API int eddy_part_save_at(struct eddy_part *part, int dir, struct eddy_str name,
					 const struct eddy_save_options *options,
					 struct eddy_saved *ret_saved);

EDDY_END_DECLS

#endif
