/* description.h: what a metadata document is to say, and the document itself. */
#ifndef EDDYI_DESCRIPTION_H
#define EDDYI_DESCRIPTION_H

#include <eddy/config.h>
#include <eddy/oauth_metadata.h>

/* Invariant: what the configuration file sets begins the structure. */
struct eddyi_description {
	union {
		struct eddy_oauth_resource resource;
		struct eddy_oauth_server server;
	};
	const struct eddyi_description_kind *kind;
	json_t *extra;  /* members that the file has, and no key has; NULL: none */
	bool is_wanted; /* the program or the file has spoken of it */
	char *text;     /* the document; NULL before the app starts, and of one that is wrong */
};

extern const struct eddyi_description_kind eddyi_description_resource, eddyi_description_server;

/* Make an empty one of a kind, and its section known to the app. */
void eddyi_description_init(struct eddyi_description *description, struct eddy_app *app,
			    const struct eddyi_description_kind *kind);

/* Free what it holds. */
void eddyi_description_deinit(struct eddyi_description *description);

/* Describe it by a program's options, which are copied; NULL is none. */
void eddyi_description_set_resource(struct eddyi_description *description, struct eddy_app *app,
				    const struct eddy_oauth_resource *resource);
void eddyi_description_set_server(struct eddyi_description *description, struct eddy_app *app,
				  const struct eddy_oauth_server *server);

/* Its identifier; NULL as long as there is none. */
const char *eddyi_description_identifier(const struct eddyi_description *description);

/* Make the document; what is wrong with it are mistakes of the app. Return: 0, -ENOMEM. */
int eddyi_description_write(struct eddyi_description *description, struct eddy_app *app);

#endif
