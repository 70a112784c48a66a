/* media.h: media types that are already compressed. */
#ifndef EDDYI_MEDIA_H
#define EDDYI_MEDIA_H

#include <eddy/str.h>

/* Whether a content-type, without its parameters, matches a media type that may begin or end with
 * `*`. */
bool eddyi_media_fits(struct eddy_str type, const char *pattern);

/* Whether bodies of this type are already compressed. */
bool eddyi_media_is_compressed(struct eddy_str type);

#endif
