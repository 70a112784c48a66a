/* eddy/part.h: a form (multipart/form-data, RFC 7578), part by part as it arrives.
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
 * A part is pulled, like a body: it is never held in memory, and what is not read of it is skipped.
 * Parts come in the order of the body. To save all files of a form and nothing else, all of them or none,
 * see eddy_req_save_all().
 */
#ifndef EDDY_PART_H
#define EDDY_PART_H

#include <eddy/upload.h>

EDDY_BEGIN_DECLS

struct eddy_multipart;

struct eddy_multipart_options {
	unsigned parts_max; /* default the app's; past it -EMSGSIZE */
	uint64_t field_max; /* bytes of an eddy_part_text(); default the app's */
	uint64_t max;       /* bytes of the whole body; default file_max of the route or the app;
		       * EDDY_NEVER: no limit; past it -EFBIG */
};

/* A part. Its strings live as long as the request. */
struct eddy_part {
	struct eddy_multipart *form;
	struct eddy_str name; /* of the field; any bytes */
	/* The file's name as the client gave it; .ptr NULL: a field and not a file; empty: of a browser's
	 * file input in which nothing was chosen. */
	struct eddy_str filename;
	/* That reduced to a name that may be created in a folder: its last segment, without dots in
	 * front; .ptr NULL when nothing usable is left of it. */
	struct eddy_str safe_name;
	struct eddy_str type; /* its content-type; .ptr NULL when it says none */
};

/* Begin to read the body as a form; once for a request.
 * Return: 0; -EBADMSG when it is no form (415) or one without a boundary (400); -EFBIG when its
 * announced length is over the limit; -ENOMEM. */
EDDY_MULTIPART_API int eddy_req_multipart(struct eddy_req *req,
					  const struct eddy_multipart_options *options,
					  struct eddy_multipart **ret_form);

/* Go on to the next part, past what was not read of this one. Suspends.
 * Return: 1 and a part; 0 at the end of the form; -EBADMSG when it is malformed, or the header block of
 * a part is over the part_header_max of the app; -EMSGSIZE for too many parts; -EFBIG over the limit of the
 * body; and what eddy_req_read() returns. After an error all further calls return it again. */
EDDY_MULTIPART_API int eddy_multipart_next(struct eddy_multipart *form,
					   struct eddy_part **ret_part);

/* Read some of the part. Suspends. Return: bytes; 0 at its end, and once the next part has been asked
 * for; otherwise as eddy_multipart_next(). */
EDDY_MULTIPART_API ssize_t eddy_part_read(struct eddy_part *part, void *buf, size_t len);

/* Read the rest of the part into memory that lives as long as the request, with a NUL behind it.
 * Suspends. Return: 0, -EMSGSIZE over field_max, -ENOMEM, and what eddy_part_read() returns. */
EDDY_MULTIPART_API int eddy_part_text(struct eddy_part *part, struct eddy_str *ret_text);

/* Save the rest of the part into the folder `dir` under its `safe_name`: the file gets its name when all
 * of the part has arrived, whatever follows in the form. `options->max` limits this part. Suspends.
 * Return: 0; -EINVAL when there is no such name, or `options->accept` refuses it; -EEXIST, -EFBIG,
 * -ENOSPC, -EDQUOT; and what eddy_part_read() returns. */
EDDY_MULTIPART_API int eddy_part_save(struct eddy_part *part, int dir,
				      const struct eddy_save_options *options,
				      struct eddy_saved *ret_saved);

/* Save it as `name`, as eddy_req_save_at() has it. Suspends. Otherwise as eddy_part_save(). */
EDDY_MULTIPART_API int eddy_part_save_at(struct eddy_part *part, int dir, struct eddy_str name,
					 const struct eddy_save_options *options,
					 struct eddy_saved *ret_saved);

EDDY_END_DECLS

#endif
