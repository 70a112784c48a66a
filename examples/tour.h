/* tour.h: the parts of the program `tour`; each maps its routes. */
#ifndef TOUR_H
#define TOUR_H

#include <eddy/http.h>

struct tour {
	int dir; /* for uploads and downloads */
};

/* Text, JSON and numbers from the path, the query and the body. */
void tour_map_arguments(struct eddy_app *app);

/* Statuses, header fields, and methods without a response body. */
void tour_map_answers(struct eddy_app *app);

/* Streamed bodies: generated or echoed. */
void tour_map_bodies(struct eddy_app *app);

/* Server-sent events. */
void tour_map_events(struct eddy_app *app);

/* File downloads and uploads. */
void tour_map_files(struct eddy_app *app);

/* /people, /openapi.json */
void tour_map_people(struct eddy_app *app);

/* WebSockets; `room` is that of the chat. `deflate`: messages may be compressed. */
struct eddy_ws_room;
void tour_map_sockets(struct eddy_app *app, struct eddy_ws_room *room, bool deflate);

/* Accept tokens of an issuer or of a static secret; map the routes that require one. */
struct tour_settings;
void tour_check_tokens(struct eddy_app *app, const struct tour_settings *settings);
void tour_map_protected(struct eddy_app *app);

/* Metadata documents: a resource with tokens from `issuer` (NULL: unknown), and an issuer. */
void tour_publish_resource(struct eddy_app *app, const char *resource, const char *issuer);
void tour_publish_server(struct eddy_app *app, const char *issuer);

#endif
