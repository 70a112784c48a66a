/* client_observer.h: those who observe the requests of clients. */
#ifndef EDDYI_CLIENT_OBSERVER_H
#define EDDYI_CLIENT_OBSERVER_H

#include "client_state.h"

/* Whether the program has given the request a field of that name. */
bool eddyi_client_has_field(const struct eddyi_call *call, const char *name);

/* Tell those who observe that the call goes to the response's URL, and what came of it: a status, -errno. */
void eddyi_client_observe_begin(struct eddyi_call *call);
void eddyi_client_observe_end(struct eddyi_call *call, int result);

#endif
