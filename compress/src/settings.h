/* settings.h: compression settings of an app, a group or a route. */
#ifndef EDDYI_SETTINGS_H
#define EDDYI_SETTINGS_H

#include "cache.h"

#include <eddy/accept.h>
#include <eddy/codec.h>
#include <eddy/compression.h>

/* Invariant: order[i] is encoded by codecs[i] at levels[i]; identity is not in it. */
struct eddyi_settings {
	struct eddy_compression_options options; /* the configuration file may change the app's */
	size_t count;
	enum eddy_coding order[EDDY_CODING_COUNT];
	const struct eddy_codec *codecs[EDDY_CODING_COUNT];
	int levels[EDDY_CODING_COUNT];
	char names[40]; /* all codings, for accept-encoding */
	struct eddyi_cache cache;
};

/* Apply the options. Return: NULL; else what is wrong with them, and nothing is compressed. */
const char *eddyi_settings_apply(struct eddyi_settings *settings);

struct eddyi_settings *eddyi_settings_of(struct eddy_app *app);

/* Make settings for a group or a route; invalid options are mistakes of the app. */
struct eddyi_settings *eddyi_settings_new(struct eddy_app *app,
					  const struct eddy_compression_options *options);

/* List all codings that are compiled in, for accept-encoding. */
void eddyi_settings_list(char *names, size_t size);

/* Whether a content-type, without its parameters, matches a media type that may begin or end with
 * `*`. */
bool eddyi_media_fits(struct eddy_str type, const char *pattern);

/* Whether bodies of this type are already compressed. */
bool eddyi_media_is_compressed(struct eddy_str type);

#endif
