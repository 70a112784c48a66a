/* eddy/compression.h: responses that leave compressed, for those who take them so.
 *
 *     eddy_app_use_compression(app);
 *
 * A filter looks at Accept-Encoding (eddy/accept.h) and codes the body on its way out: content-encoding is
 * set, `vary` has accept-encoding, a strong etag becomes a weak one, also of a 304, accept-ranges goes, and the
 * body is sent in chunks. Each eddy_res_write() is flushed. Who accepts nothing that there is, is answered 406
 * before the handler runs.
 *
 * Left alone are: 204, 206 and 304, what has a content-encoding, a content-range or a digest of its bytes
 * already, `cache-control: no-transform`, bodies under .size_min, and media types that are compressed by
 * themselves: pictures but those of text or plain pixels, sound, films, woff, archives and what is one
 * inside.
 *
 * Files that are asked for again are kept as they were coded, and leave by splice. The memory that one
 * response takes is that of its encoder (eddy/encoder.h) and 128 KiB, of a stream 16 KiB.
 */
#ifndef EDDY_COMPRESSION_H
#define EDDY_COMPRESSION_H

#include <eddy/app.h>

EDDY_BEGIN_DECLS

/* Every field: 0 or NULL means its default. */
struct eddy_compression_options {
	/* Names of codings; of those that a client likes best the first counts. NULL ends them; default: zstd,
	 * br, gzip, deflate, as far as they are compiled in. */
	const char *const *order;
	unsigned zstd_level;    /* 1 to 19; default 3 */
	unsigned br_level;      /* 1 to 11; default 4 */
	unsigned gzip_level;    /* 1 to 9; default 6 */
	unsigned deflate_level; /* 1 to 9; default 6 */
	uint64_t size_min;      /* bytes; default 0 */
	/* Media types that are left alone as well, such as "text/event-stream"; "font/…" by a `*` at the end,
	 * "…+zip" by one at the beginning. NULL ends them. */
	const char *const *leave_types;
	/* Bytes of coded files that are kept, and as many again of those that are on their way; default 64 MiB. */
	uint64_t cache_max;
	bool no_cache; /* keep none */
};

/* Describe how the app compresses; the options are copied, the strings borrowed for as long as the app lives.
 * The section [compression] of its configuration file has the same names, and wins. */
EDDY_API void eddy_app_with_compression(struct eddy_app *app,
					const struct eddy_compression_options *options);

/* Compress the answers of the app, of a group or of a route, errors included. Options of NULL are the app's;
 * of several filters around a handler the innermost counts. */
EDDY_API void eddy_app_use_compression(struct eddy_app *app);
EDDY_API void eddy_group_use_compression(struct eddy_group *group,
					 const struct eddy_compression_options *options);
EDDY_API void eddy_route_use_compression(struct eddy_route *route,
					 const struct eddy_compression_options *options);

/* Make the section [compression] known to the app without compressing anything. */
EDDY_API void eddy_compress_config(struct eddy_app *app);

EDDY_END_DECLS

#endif
