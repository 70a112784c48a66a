/* settings.h: how an app, a group or a route compresses. */
#ifndef EDDYI_SETTINGS_H
#define EDDYI_SETTINGS_H

#include "cache.h"

#include <eddy/accept.h>
#include <eddy/codec.h>
#include <eddy/compression.h>

/* Invariant: order[i] is coded by codecs[i] at levels[i]; identity is not among them. */
struct eddyi_settings {
	struct eddy_compression_options
		options; /* of the app; a configuration file may change them */
	size_t count;
	enum eddy_coding order[EDDY_CODING_COUNT];
	const struct eddy_codec *codecs[EDDY_CODING_COUNT];
	int levels[EDDY_CODING_COUNT];
	char names[40]; /* of all of them, as accept-encoding lists them */
	struct eddyi_cache cache;
};

/* Take the options. Return: NULL, or what is wrong with them; then nothing is compressed. */
const char *eddyi_settings_apply(struct eddyi_settings *settings);

/* Those of the app. */
struct eddyi_settings *eddyi_settings_of(struct eddy_app *app);

/* New ones for a part of it; what is wrong with the options is a mistake of the app. */
struct eddyi_settings *eddyi_settings_new(struct eddy_app *app,
					  const struct eddy_compression_options *options);

/* The list of all codings that are compiled in, as accept-encoding has it. */
void eddyi_settings_list(char *names, size_t size);

#endif
