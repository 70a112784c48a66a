/* tour.h: the parts of the program `tour`: each maps its routes. */
#ifndef TOUR_H
#define TOUR_H

#include <eddy/http.h>

struct tour {
	int dir; /* uploads go there, downloads come from there */
};

/* Text, JSON and numbers out of the path, the query and the body. */
void tour_map_arguments(struct eddy_app *app);

/* Statuses, fields, and the methods that answer with nothing else. */
void tour_map_answers(struct eddy_app *app);

/* Bodies that are made, or sent back, piece by piece. */
void tour_map_bodies(struct eddy_app *app);

/* Files, down and up. */
void tour_map_files(struct eddy_app *app);

/* Whose tokens are taken: an issuer's, or those of a static secret; and the routes that want one. */
struct tour_settings;
void tour_check_tokens(struct eddy_app *app, const struct tour_settings *settings);
void tour_map_protected(struct eddy_app *app);

/* The documents about this server as a resource, whose tokens come from `issuer` (NULL: nobody knows), and about
 * an issuer itself. */
void tour_publish_resource(struct eddy_app *app, const char *resource, const char *issuer);
void tour_publish_server(struct eddy_app *app, const char *issuer);

#endif
