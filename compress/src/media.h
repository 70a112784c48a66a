/* media.h: media types, and which of them are compressed by themselves. */
#ifndef EDDYI_MEDIA_H
#define EDDYI_MEDIA_H

#include <eddy/str.h>

/* Whether a content-type, whose parameters do not count, fits a pattern: a media type, or the beginning of
 * one with a `*` behind it, or the end of one with a `*` in front. */
bool eddyi_media_fits(struct eddy_str type, const char *pattern);

/* Whether bodies of this type are compressed by themselves. */
bool eddyi_media_is_compressed(struct eddy_str type);

#endif
