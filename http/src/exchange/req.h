/* req.h: what this layer wants to know of a request. */
#ifndef EDDYI_REQ_H
#define EDDYI_REQ_H

#include "exchange_state.h"

/* The limit of a request's body that goes to a file: of its route, else of the app. */
uint64_t eddyi_req_file_max(const struct eddy_req *req);

/* Whether the bytes behind the request can't be told to be one: its head was refused, or it asks for a tunnel. */
bool eddyi_req_has_unknown_end(const struct eddy_req *req);

/* Whether another request can follow this one, by what it says and how long its body is. */
bool eddyi_req_can_keep(const struct eddy_req *req);

/* The same, and the server wants one. */
bool eddyi_req_may_keep(const struct eddy_req *req);

/* Have layers give back what they keep for the request. */
void eddyi_req_layers_deinit(struct eddy_req *req);

/* Count bytes of its body that have come to be kept in memory, until the request ends.
 * Return: 0; -EBUSY, which is 503, when bodies take as much as they may. */
int eddyi_req_take_body_memory(struct eddy_req *req, size_t bytes);

/* Give back all of them. */
void eddyi_req_free_body_memory(struct eddy_req *req);

/* The rate, in bytes a second, at which its body must come, or its answer be taken. */
uint64_t eddyi_req_body_rate_min(const struct eddy_req *req);
uint64_t eddyi_req_write_rate_min(const struct eddy_req *req);

#endif
