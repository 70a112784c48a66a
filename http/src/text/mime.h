/* mime.h: the media type that the name of a file stands for.
 *
 * A table is read once, when a server starts, from the system's mime.types(5), and falls back on a
 * built-in list of the types that the web is made of. It then never changes and may be used by any
 * thread. Reading blocks; looking up does not.
 */
#ifndef EDDYI_MIME_H
#define EDDYI_MIME_H

#include <eddy/str.h>

/* Where systems keep the table. */
#define EDDYI_MIME_FILE "/etc/mime.types"

/* Bounds of what is read from it: the rest is left out. */
#define EDDYI_MIME_FILE_MAX (1 * EDDY_MIB)
#define EDDYI_MIME_EXTENSIONS_MAX 8192
#define EDDYI_MIME_EXTENSION_LEN_MAX 32

struct eddyi_mime;

/* Make a table of the built-in types and those of the file at `path`; where both know an extension
 * the file wins, but application/javascript is text/javascript all the same (RFC 9239). NULL, or a
 * file that can't be read, leaves the built-in types alone. Return: NULL when memory is out. */
struct eddyi_mime *eddyi_mime_new(const char *path);

void eddyi_mime_free(struct eddyi_mime *mime);

/* The content-type for a file of this name, which may be a path: by what follows the last dot of
 * its last segment, in any case; "; charset=utf-8" follows the types under text/. JSON and SVG say
 * their encoding themselves and get none. A name without an extension, ".profile" among them, and
 * an unknown one are application/octet-stream. The string lives as long as the table. */
struct eddy_str eddyi_mime_of(const struct eddyi_mime *mime, struct eddy_str name);

#endif
