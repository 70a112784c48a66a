/* Handles of sockets, and messages to them from other loops. */
#include "socket.h"

#include <eddy/list.h>
#include <eddy/loop.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

/* Invariant: `ws` changes on its loop, with the lock held, so that the loop may read it without. The loop
 * lives as long as it is set. */
struct eddy_ws_ref {
	unsigned refs; /* changed atomically */
	pthread_mutex_t lock;
	struct eddy_loop *loop;
	struct eddy_ws *ws; /* NULL once it has ended */
	size_t posted;      /* bytes on their way to the loop; changed atomically */
};

struct posted {
	struct eddy_message message;
	struct eddy_ws_ref *ref;
	struct eddyi_ws_shared *shared;
};

struct eddy_ws_ref *eddy_ws_ref(struct eddy_ws *ws)
{
	struct eddy_ws_ref *ref = ws->ref;

	if (ref) {
		__atomic_add_fetch(&ref->refs, 1, __ATOMIC_RELAXED);
		return ref;
	}
	ref = calloc(1, sizeof(*ref));
	if (!ref)
		return NULL;
	ref->refs = 2; /* the socket's, and the caller's */
	pthread_mutex_init(&ref->lock, NULL);
	ref->loop = eddy_loop_self();
	ref->ws = ws;
	ws->ref = ref;
	return ref;
}

void eddy_ws_unref(struct eddy_ws_ref *ref)
{
	if (!ref || __atomic_sub_fetch(&ref->refs, 1, __ATOMIC_ACQ_REL) != 0)
		return;
	pthread_mutex_destroy(&ref->lock);
	free(ref);
}

void eddyi_ws_ref_end(struct eddy_ws *ws)
{
	struct eddy_ws_ref *ref = ws->ref;

	if (!ref)
		return;
	pthread_mutex_lock(&ref->lock);
	ref->ws = NULL;
	pthread_mutex_unlock(&ref->lock);
	ws->ref = NULL;
	eddy_ws_unref(ref);
}

/* On the socket's loop. */
static void deliver(struct eddy_message *message)
{
	struct posted *posted = eddy_of(message, struct posted, message);
	struct eddy_ws_ref *ref = posted->ref;

	__atomic_sub_fetch(&ref->posted, posted->shared->len, __ATOMIC_RELAXED);
	if (ref->ws)
		eddyi_ws_put_shared(ref->ws, posted->shared, SIZE_MAX);
	eddyi_ws_shared_unref(posted->shared);
	eddy_ws_unref(ref);
	free(posted);
}

static int post(struct eddy_ws_ref *ref, struct posted *posted)
{
	size_t len = posted->shared->len;
	int r = -EPIPE;

	pthread_mutex_lock(&ref->lock);
	if (ref->ws) {
		r = __atomic_load_n(&ref->posted, __ATOMIC_RELAXED) > ref->ws->options->queue_max ?
			    -ENOBUFS :
			    0;
	}
	if (r == 0) {
		__atomic_add_fetch(&ref->posted, len, __ATOMIC_RELAXED);
		__atomic_add_fetch(&ref->refs, 1, __ATOMIC_RELAXED);
		eddy_loop_post(ref->loop, &posted->message);
	}
	pthread_mutex_unlock(&ref->lock);
	return r;
}

int eddy_ws_ref_send(struct eddy_ws_ref *ref, enum eddy_ws_type type, struct eddy_str bytes)
{
	struct posted *posted = calloc(1, sizeof(*posted));
	int r = -ENOMEM;

	if (!posted)
		return r;
	posted->message.deliver = deliver;
	posted->ref = ref;
	posted->shared = eddyi_ws_shared_new(type, bytes, false);
	if (posted->shared)
		r = post(ref, posted);
	if (r == 0)
		return 0;
	if (posted->shared)
		eddyi_ws_shared_unref(posted->shared);
	free(posted);
	return r;
}
