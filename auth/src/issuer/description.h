/* description.h: the contents of a metadata document, and its text. */
#ifndef EDDYI_DESCRIPTION_H
#define EDDYI_DESCRIPTION_H

#include <eddy/config.h>
#include <eddy/oauth_metadata.h>

/* Invariant: the configuration file sets fields at the beginning of the structure. */
struct eddyi_description {
	union {
		struct eddy_oauth_resource resource;
		struct eddy_oauth_server server;
	};
	const struct eddyi_description_kind *kind;
	json_t *extra;  /* members of the file without a key; NULL: none */
	bool is_wanted; /* the program or the file has described it */
	char *text;     /* the document; NULL before the app starts, and if it is invalid */
};

extern const struct eddyi_description_kind eddyi_description_resource, eddyi_description_server;

/* Initialize an empty description, and register its section with the app. */
void eddyi_description_init(struct eddyi_description *description, struct eddy_app *app,
			    const struct eddyi_description_kind *kind);

void eddyi_description_deinit(struct eddyi_description *description);

/* Set the description from a program's options, which are copied; NULL is none. */
void eddyi_description_set_resource(struct eddyi_description *description, struct eddy_app *app,
				    const struct eddy_oauth_resource *resource);
void eddyi_description_set_server(struct eddyi_description *description, struct eddy_app *app,
				  const struct eddy_oauth_server *server);

/* Get its identifier; NULL if there is none. */
const char *eddyi_description_identifier(const struct eddyi_description *description);

/* Make the document; invalid members are mistakes of the app. Return: 0, -ENOMEM. */
int eddyi_description_write(struct eddyi_description *description, struct eddy_app *app);

#endif
