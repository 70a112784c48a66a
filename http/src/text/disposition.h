/* disposition.h: Content-Disposition, written for downloads (RFC 6266) and read from the parts of a
 * form (RFC 7578), and the names of files that it carries. */
#ifndef EDDYI_DISPOSITION_H
#define EDDYI_DISPOSITION_H

#include "arena.h"

/* Longest file name that a client may give, after cleaning. */
#define EDDYI_FILENAME_MAX 255

/* What a value says; .ptr NULL where it does not. */
struct eddyi_disposition {
	struct eddy_str type; /* "form-data", "attachment", in the case it came */
	struct eddy_str name;
	struct eddy_str filename; /* of `filename*` when there is one, else of `filename` */
};

/* Format the value that has a client save a response under `name`, whatever bytes that holds:
 * `attachment; filename="…"; filename*=UTF-8''…`. The first, for clients of old, has '_' for each
 * byte outside printable ASCII; the second has every character, and U+FFFD for what is not UTF-8.
 * Return: .ptr NULL when memory is out. */
struct eddy_str eddyi_disposition_attachment(struct eddyi_arena *arena, struct eddy_str name);

/* Parse a value. Parameter names are compared without regard to case, unknown ones are skipped,
 * also empty ones (";;"). In a quoted string `\"` and `\\` are escapes; any other backslash is
 * itself, as browsers on Windows mean it. `filename*` is decoded to UTF-8 from UTF-8 or ISO-8859-1
 * (RFC 8187); one in another charset is ignored when `filename` is there too. File names come out
 * as the client wrote them: eddyi_filename_clean them. Results lie in the arena or in `value`.
 *
 * Return: 0, -EBADMSG for anything malformed, a known parameter that is given twice, or a
 * `filename*` that can't be decoded, -ENOMEM. */
int eddyi_disposition_parse(struct eddyi_arena *arena, struct eddy_str value,
			    struct eddyi_disposition *ret_disposition);

/* Reduce a client's name of a file to one that may be created in a folder: its last segment ('/'
 * and '\' both separate) without leading dots. The result points into `name`.
 * Return: 0, -EINVAL when what is left is empty, over EDDYI_FILENAME_MAX bytes, not UTF-8, or has a
 * control byte. */
int eddyi_filename_clean(struct eddy_str name, struct eddy_str *ret_name);

#endif
