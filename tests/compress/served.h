/* served.h: what an app that compresses answers. */
#ifndef EDDY_TESTS_SERVED_H
#define EDDY_TESTS_SERVED_H

#include "bodies.h"

#include <eddy/compress.h>
#include <eddy/http.h>
#include <eddy/test.h>

/* An answer, end it by served_end(). */
struct served {
	struct eddy_response *response;
	int status;
	const char *coding; /* "identity" for none */
	struct bytes text;  /* decoded */
};

/* Routes that the tests ask for:
 *
 *     GET /text/{n}      n bytes of text
 *     GET /set?…         "some text", or what `body` says, with the fields and the `status` that are named
 *     GET /stream/{n}    n lines
 *     GET /file/{name}   a file of the folder that is the app's context, a pointer to its descriptor
 *     POST /size         the bytes of the request's body
 */
struct eddy_app *served_app(void);

/* The same with compression by these options; NULL for the defaults. */
struct eddy_app *served_app_with(const struct eddy_compression_options *options);

/* Ask with these fields: pairs of names and values, NULL ends them. */
struct served served_with(struct eddy_app *app, const char *line, const char *const *fields);

/* Ask with this Accept-Encoding; NULL for none. */
struct served served(struct eddy_app *app, const char *line, const char *accept);

void served_end(struct served *served);

/* The value of a field; NULL for none. That it comes once is seen to. */
const char *served_field(const struct served *served, const char *name);

/* The coding that is chosen, "406" where none is. */
const char *served_coding(struct eddy_app *app, const char *line, const char *accept);

#endif
