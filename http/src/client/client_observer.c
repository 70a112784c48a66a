#include "client_observer.h"

#include <errno.h>
#include <stdatomic.h>

/* Invariant: filled from the front, and never changed. */
static const struct eddy_client_observer *_Atomic observers[EDDYI_CLIENT_OBSERVERS_MAX];

int eddy_client_observe(const struct eddy_client_observer *observer)
{
	for (size_t i = 0; i < EDDYI_CLIENT_OBSERVERS_MAX; i++) {
		const struct eddy_client_observer *other = NULL;

		if (atomic_compare_exchange_strong(&observers[i], &other, observer) ||
		    other == observer)
			return 0;
	}
	return -ENOSPC;
}

bool eddyi_client_has_field(const struct eddyi_call *call, const char *name)
{
	const struct eddy_header *header = call->request->headers;

	for (; header && header->name; header++)
		if (eddy_str_eq_nocase(eddy_str_from(header->name), eddy_str_from(name)))
			return true;
	return false;
}

/* An observer's fields belong together, so one of the program's excludes them all. */
static bool has_any(const struct eddyi_call *call, const struct eddy_header *header)
{
	for (; header && header->name; header++)
		if (eddyi_client_has_field(call, header->name))
			return true;
	return false;
}

/* On allocation failure this observer is not called, also not at the end. */
static void begin(struct eddyi_call *call, const struct eddy_client_observer *observer,
		  const struct eddy_client_hop *hop)
{
	struct eddyi_client_watch *watch = &call->watches[call->watch_count];
	size_t size = observer->state_size ? observer->state_size : 1;
	void *state = eddyi_arena_alloc(&call->response->arena, size);

	if (!state)
		return;
	memset(state, 0, size);
	*watch = (struct eddyi_client_watch){ observer, state, NULL };
	watch->fields = observer->begin(state, hop);
	if (has_any(call, watch->fields))
		watch->fields = NULL;
	call->watch_count++;
}

void eddyi_client_observe_begin(struct eddyi_call *call)
{
	const struct eddy_response *response = call->response;
	const struct eddy_client_hop hop = {
		.method = call->method,
		.url = response->url_text,
		.host = response->url.host.name,
		.port = response->url.port,
		.redirects = call->redirects,
	};

	call->watch_count = 0;
	for (size_t i = 0; i < EDDYI_CLIENT_OBSERVERS_MAX; i++) {
		const struct eddy_client_observer *observer = atomic_load(&observers[i]);

		if (!observer)
			return;
		begin(call, observer, &hop);
	}
}

void eddyi_client_observe_end(struct eddyi_call *call, int result)
{
	while (call->watch_count) {
		const struct eddyi_client_watch *watch = &call->watches[--call->watch_count];

		watch->observer->end(watch->state, result);
	}
}
