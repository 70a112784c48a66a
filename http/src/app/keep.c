/* Copies of borrowed strings in the app's memory. */
#include <eddy/config.h>
#include <eddy/layer.h>

const char *eddy_app_keep_string(struct eddy_app *app, const char *string)
{
	size_t size = string ? strlen(string) + 1 : 0;

	return string ? memcpy(eddy_app_alloc(app, size), string, size) : NULL;
}

static const char *const *keep_list(struct eddy_app *app, const char *const *list)
{
	const char **copy;
	size_t count = 0;

	if (!list)
		return NULL;
	while (list[count])
		count++;
	copy = eddy_app_alloc(app, (count + 1) * sizeof(*copy));
	for (size_t i = 0; i < count; i++)
		copy[i] = eddy_app_keep_string(app, list[i]);
	return copy;
}

void eddy_app_keep_strings(struct eddy_app *app, const struct eddy_config_key *keys, void *target)
{
	for (; keys->name; keys++) {
		void *member = (char *)target + keys->offset;

		if (keys->type == EDDY_CONFIG_STRING || keys->type == EDDY_CONFIG_PATH)
			*(const char **)member = eddy_app_keep_string(app, *(const char **)member);
		else if (keys->type == EDDY_CONFIG_STRINGS)
			*(const char *const **)member =
				keep_list(app, *(const char *const **)member);
	}
}
