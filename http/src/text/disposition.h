/* disposition.h: Content-Disposition of downloads (RFC 6266) and form parts (RFC 7578). */
#ifndef EDDYI_DISPOSITION_H
#define EDDYI_DISPOSITION_H

#include "arena.h"

/* Limit of a client's file name in bytes, after cleaning. */
#define EDDYI_FILENAME_MAX 255

/* A parsed value; .ptr NULL for absent parameters. */
struct eddyi_disposition {
	struct eddy_str type; /* "form-data", "attachment", as written */
	struct eddy_str name;
	struct eddy_str filename; /* from `filename*` if present, else from `filename` */
};

/* Format the value that makes a client save a response under `name`, which may be any bytes:
 * `attachment; filename="…"; filename*=UTF-8''…`. The first, for old clients, has '_' for each byte
 * outside printable ASCII; the second has every character, and U+FFFD for invalid UTF-8.
 * Return: .ptr NULL on allocation failure. */
struct eddy_str eddyi_disposition_attachment(struct eddyi_arena *arena, struct eddy_str name);

/* Parse a value. Parameter names are case-insensitive; unknown and empty ones (";;") are skipped.
 * In a quoted string `\"` and `\\` are escapes; any other backslash is literal, as browsers on
 * Windows send it. `filename*` is decoded to UTF-8 from UTF-8 or ISO-8859-1 (RFC 8187); another
 * charset is ignored if there is a `filename`. File names are as the client wrote them: see
 * eddyi_filename_clean(). Results are in the arena or in `value`.
 * Return: 0; -EBADMSG if the value is malformed, a known parameter occurs twice, or `filename*`
 * can't be decoded; -ENOMEM. */
int eddyi_disposition_parse(struct eddyi_arena *arena, struct eddy_str value,
			    struct eddyi_disposition *ret_disposition);

/* Whether a name is that of an entry which may be seen: not empty, UTF-8 of at most
 * EDDYI_FILENAME_MAX bytes, without '/', control bytes, and a dot at its begin. */
bool eddyi_filename_is_public(struct eddy_str name);

/* Reduce a client's file name to one that may be created in a folder: its last segment ('/' and '\'
 * both separate), without leading dots. The result points into `name`.
 * Return: 0; -EINVAL if the rest is empty, too long, not UTF-8, or contains a control byte. */
int eddyi_filename_clean(struct eddy_str name, struct eddy_str *ret_name);

#endif
