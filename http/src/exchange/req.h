/* req.h: functions of a request for this layer. */
#ifndef EDDYI_REQ_H
#define EDDYI_REQ_H

#include "exchange_state.h"

/* Get the limit of a body that is saved as a file: of the route, else of the app. */
uint64_t eddyi_req_file_max(const struct eddy_req *req);

/* Get the body's media type without parameters (RFC 9110 section 8.3.1). */
struct eddy_str eddyi_req_media_type(const struct eddy_req *req);

/* Get the value of the pattern's last parameter, `{name...}`, as a path beneath a folder, whose
 * names are all accepted. Names are not empty and contain no '/'. `*ret_slash`: the target's path
 * ends with a slash, which the value does not.
 * Return: 0, -ENOENT. */
int eddyi_req_beneath(const struct eddy_req *req, bool (*accepts)(struct eddy_str name),
		      struct eddy_str *ret_path, bool *ret_slash);

/* Free what layers keep for the request. */
void eddyi_req_layers_deinit(struct eddy_req *req);

/* Count bytes of the body kept in memory until the request ends.
 * Return: 0; -EBUSY, for a 503, if bodies take as much memory as they may. */
int eddyi_req_take_body_memory(struct eddy_req *req, size_t bytes);

/* Count bytes that a client has made an app hold in `*taken` and for the app and the party's
 * address.
 * Return: whether they are within the limits; they are counted either way. */
bool eddyi_take_body_memory(const struct eddy_app *app, struct eddyi_party *party, uint64_t *taken,
			    size_t bytes);
void eddyi_give_back_body_memory(const struct eddy_app *app, struct eddyi_party *party,
				 uint64_t *taken, uint64_t bytes);

/* Uncount all of them. */
void eddyi_req_free_body_memory(struct eddy_req *req);

/* Get the minimum rates, in bytes a second, for receiving the body and sending the response. */
uint64_t eddyi_req_body_rate_min(const struct eddy_req *req);
uint64_t eddyi_req_write_rate_min(const struct eddy_req *req);

/* Count the bytes of a body that have arrived, with those of `arriving` that are not read yet, and
 * without the framing of parts. */
uint64_t eddyi_req_body_counted(const struct eddy_req *req, const struct eddyi_body *body,
				uint64_t arriving);

/* Whether the browser says that another site's page sent the request. An Origin is
 * scheme://host[:port], or "null" for a page without one. */
bool eddyi_req_comes_from_elsewhere(const struct eddy_req *req);

#endif
