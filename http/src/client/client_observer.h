/* client_observer.h: observers of client requests. */
#ifndef EDDYI_CLIENT_OBSERVER_H
#define EDDYI_CLIENT_OBSERVER_H

#include "client_state.h"

/* Whether the program has given the request a field of this name. */
bool eddyi_client_has_field(const struct eddyi_call *call, const char *name);

/* Call the observers before a hop to the response's URL, and with its status or -errno. */
void eddyi_client_observe_begin(struct eddyi_call *call);
void eddyi_client_observe_end(struct eddyi_call *call, int result);

#endif
