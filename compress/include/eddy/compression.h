/* eddy/compression.h: compression of responses, as Accept-Encoding allows.
 *
 *     eddy_app_use_compression(app, NULL);
 *
 * A filter (middleware) encodes bodies as they are sent. It sets content-encoding, adds
 * accept-encoding to `vary`, weakens a strong etag (of a 304 as well), removes accept-ranges, and
 * sends the body in chunks. Each eddy_res_write() is flushed. A client that accepts neither an
 * available coding nor identity gets 406 before the handler runs.
 *
 * Not compressed are 204, 206 and 304; responses with a content-encoding, a content-range, a digest
 * of their bytes or `cache-control: no-transform`; bodies under .size_min; and media types that are
 * compressed already: most images, audio and video, woff, archives and formats based on them.
 *
 * Encoded files are cached, and sent by splice. A response takes the memory of its encoder
 * (eddy/encoder.h), and 128 KiB for a file or 16 KiB for a stream.
 */
#ifndef EDDY_COMPRESSION_H
#define EDDY_COMPRESSION_H

#include <eddy/app.h>

#pragma GCC system_header /* see eddy/target.h */

EDDY_BEGIN_DECLS

/* How responses are compressed. A zero field takes its default. */
struct eddy_compression_options {
	/* Codings in order of preference, for clients that give several the same weight; NULL ends
	 * the list. Default: zstd, br, gzip, deflate, as far as compiled in. */
	const char *const *order;
	unsigned zstd_level;    /* 1 to 19; default 3 */
	unsigned br_level;      /* 1 to 11; default 4 */
	unsigned gzip_level;    /* 1 to 9; default 6 */
	unsigned deflate_level; /* 1 to 9; default 6 */
	uint64_t size_min;      /* bytes; default 0 */
	/* More media types not to compress, such as "text/event-stream". A `*` at the beginning or
	 * the end of one matches any text. NULL ends the list. */
	const char *const *leave_types;
	/* Bytes of cached files, and as many bytes of files being encoded; default 64 MiB. */
	uint64_t cache_max;
	bool no_cache; /* cache none */
};

/* Set how the app compresses. Copied. The section [compression] of its configuration file has the
 * same names and takes precedence. */
EDDY_API void eddy_app_with_compression(struct eddy_app *app,
					const struct eddy_compression_options *options);

/* Compress the responses of an app, a group or a route, errors included. `options` NULL: the app's.
 * Of several such filters around a handler the innermost decides. */
EDDY_API void eddy_app_use_compression(union eddy_target target,
				       const struct eddy_compression_options *options);

/* Register the section [compression] of the app's configuration file. Nothing is compressed. */
EDDY_API void eddy_compress_config(struct eddy_app *app);

EDDY_END_DECLS

#endif
