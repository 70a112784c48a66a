/* mime.h: media types by file name.
 *
 * A table is read once, when an app starts, from the system's mime.types(5) and a built-in list of
 * common types. It then never changes, and any thread may use it. Reading blocks. */
#ifndef EDDYI_MIME_H
#define EDDYI_MIME_H

#include <eddy/str.h>

#define EDDYI_MIME_FILE "/etc/mime.types"

/* Limits of what is read from it; the rest is ignored. */
#define EDDYI_MIME_FILE_MAX (1 * EDDY_MIB)
#define EDDYI_MIME_EXTENSIONS_MAX 8192
#define EDDYI_MIME_EXTENSION_LEN_MAX 32

struct eddyi_mime;

/* Make a table of the built-in types and the file at `path`, which overrides them, except that
 * application/javascript is text/javascript (RFC 9239). `path` may be NULL, or not readable.
 * Return: NULL on allocation failure. */
struct eddyi_mime *eddyi_mime_new(const char *path);

void eddyi_mime_free(struct eddyi_mime *mime);

/* Get the content-type for a file name or path by its extension, case-insensitively. Types under
 * text/ get "; charset=utf-8"; JSON and SVG declare their encoding themselves. A name without an
 * extension, such as ".profile", or with an unknown one gives application/octet-stream. The string
 * lives as long as the table. */
struct eddy_str eddyi_mime_of(const struct eddyi_mime *mime, struct eddy_str name);

#endif
