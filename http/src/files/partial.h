/* partial.h: uploads that several requests may continue.
 *
 * Their files are in the hidden folder `.eddy-uploads` of the folder that they go to. An upload is
 * named by its id, 32 random hexadecimal digits: the file ID has the bytes that have arrived, so
 * its size is the offset, and ID.json has the rest of the state. When it is complete, ID is renamed
 * to its target; ID.json stays for a while, so that a client that did not get the response learns
 * of it. The target is recognized by its inode number and the time it was made.
 *
 * Invariants:
 * 1. An upload is held while a request uses it: within a process by the list `held`, among
 *    processes by flock(2) of ID. A request that asks for a held upload ends the request that holds
 *    it.
 * 2. Only the holder changes the files of an upload, until the sweep removes it; and it only
 *    appends to ID, or takes back bytes behind a savepoint, which were not acknowledged.
 * 3. Files that can't be locked or were changed lately stay: only the sweep removes leftovers. */
#ifndef EDDYI_PARTIAL_H
#define EDDYI_PARTIAL_H

#include "incoming.h"

#include <jansson.h>
#include <pthread.h>

#define EDDYI_PARTIAL_FOLDER EDDYI_HIDDEN_PREFIX "uploads"
#define EDDYI_PARTIAL_ID_LEN 32

/* The uploads of one folder. */
struct eddyi_partials {
	int dir;            /* the folder, owned */
	unsigned count_max; /* incomplete ones */
	uint64_t expire_ns; /* since the last byte, or since completion */
	bool sync;          /* flush bytes to the disk before they are acknowledged */
	pthread_mutex_t lock;
	int folder;     /* of the uploads' files; -1 before the first upload */
	unsigned count; /* incomplete ones */
	uint64_t swept; /* when the last sweep began */
	bool sweeping;
	struct eddy_node held; /* private */
};

/* One of them, held. */
struct eddyi_partial {
	struct eddyi_partials *all;
	struct eddyi_party *party;
	struct eddyi_partial_hold *hold; /* private; NULL: not held */
	char id[EDDYI_PARTIAL_ID_LEN + 1];
	int fd; /* of its bytes, for reading and writing; -1 if they were complete before */
	bool is_complete;
	uint64_t offset;
	/* Members: "path" beneath the folder; "target", if it is published elsewhere; "length",
	 * absent if it is unknown; "inode" and "birth" of the file; "savepoint", if there is one;
	 * others are the protocols'. Owned. */
	json_t *state;
};

/* Take ownership of `dir`. Never suspends. */
void eddyi_partials_init(struct eddyi_partials *all, int dir, unsigned count_max,
			 uint64_t expire_ns, bool sync);
void eddyi_partials_deinit(struct eddyi_partials *all);

/* Begin an upload to a file of the folder open as `target`. Takes ownership of `state`, also on
 * failure. Suspends.
 * Return: 0; -EDQUOT if there are too many; -EXDEV if the target is on another file system; -ENOSPC
 * if the disk has less free space than the length; -errno. */
int eddyi_partial_create(struct eddyi_partial *partial, struct eddyi_partials *all,
			 struct eddyi_party *party, int target, json_t *state);

/* Find the upload `id`, and end a request that holds it. Suspends.
 * Return: 0; -ENOENT if there is none, or it has expired; -EBUSY if another process holds it, or
 * the other request does not end soon; -errno. */
int eddyi_partial_find(struct eddyi_partial *partial, struct eddyi_partials *all,
		       struct eddyi_party *party, struct eddy_str id);

/* Release it. Never suspends. */
void eddyi_partial_close(struct eddyi_partial *partial);

/* Get the length of the whole; EDDY_LENGTH_UNKNOWN. */
uint64_t eddyi_partial_length(const struct eddyi_partial *partial);

/* Get a member of the state that is text; .ptr is NULL if there is none. */
struct eddy_str eddyi_partial_text(const struct eddyi_partial *partial, const char *name);

/* Store the state after a change. Suspends. */
int eddyi_partial_save(struct eddyi_partial *partial);

/* Append the rest of a body, at most until the offset is `max`. `tell(arg, offset)` is called now
 * and then; NULL: nothing is. Suspends. After a failure the bytes before it are kept.
 * Return: 0; -EFBIG beyond `max`; -ECANCELED also if another request has asked for the upload (see
 * eddyi_partial_is_wanted()); -errno. */
int eddyi_partial_receive(struct eddyi_partial *partial, struct eddy_req *req, uint64_t max,
			  void (*tell)(void *arg, uint64_t offset), void *arg);

/* Whether another request has asked for the upload since this one holds it. */
bool eddyi_partial_is_wanted(const struct eddyi_partial *partial);

/* Bytes from the offset on count only once they are committed: rolling back removes them, and so
 * does finding the upload after a kill. Suspends; rolling back is not cancelled. */
int eddyi_partial_savepoint(struct eddyi_partial *partial);
int eddyi_partial_commit(struct eddyi_partial *partial);
int eddyi_partial_roll_back(struct eddyi_partial *partial);

/* Flush what has arrived to the disk, if the folder is so configured. Suspends. */
int eddyi_partial_sync(struct eddyi_partial *partial);

/* Complete the upload: give it the name `name` in the folder open as `dir`. Suspends.
 * Return: as eddyi_incoming_publish(). */
int eddyi_partial_publish(struct eddyi_partial *partial, int dir, const char *name, bool no_replace,
			  bool *ret_replaced);

/* Discard the upload, or forget that it is complete. Suspends, and is not cancelled.
 * Return: 0, -errno. */
int eddyi_partial_remove(struct eddyi_partial *partial);

/* Whether the limit is reached and a sweep is due. */
bool eddyi_partials_want_sweep(struct eddyi_partials *all);

/* Remove those that have expired, and count the others. While there are too many, those under
 * 1 MiB without another byte for a minute have expired. `expired(arg, state)` is called for each
 * incomplete one that was removed. Does nothing while another sweep runs. Suspends. Return: 0,
 * -errno. */
int eddyi_partials_sweep(struct eddyi_partials *all,
			 void (*expired)(void *arg, const json_t *state), void *arg);

#endif
