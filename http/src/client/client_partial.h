/* client_partial.h: a file that is being downloaded, ".NAME.eddy-part" beside the target, and its
 * state, ".NAME.eddy-state", so that a later process can continue it. */
#ifndef EDDYI_CLIENT_PARTIAL_H
#define EDDYI_CLIENT_PARTIAL_H

#include <eddy/str.h>

#define EDDYI_CONNECTIONS_MAX 16
/* One for each connection, and the rest. */
#define EDDYI_PIECES_MAX (EDDYI_CONNECTIONS_MAX + 1)
#define EDDYI_VALIDATOR_SIZE 512
#define EDDYI_NAME_SIZE 256

/* Bytes of the file that are missing; none if `at` is `end`. */
struct eddyi_piece {
	uint64_t at;
	uint64_t end;
	bool is_taken; /* a connection loads it, and it alone changes it */
};

/* Invariants:
 * 1. The pieces are all that is missing, and do not overlap.
 * 2. If the total is unknown, it is UINT64_MAX, and a piece ends there. */
struct eddyi_client_partial_state {
	uint64_t total;
	struct eddyi_piece pieces[EDDYI_PIECES_MAX];
	/* Written from front to back: the file's length tells how much there is. */
	bool is_sequential;
	char validator[EDDYI_VALIDATOR_SIZE]; /* an entity tag, or a date; empty: none */
};

struct eddyi_client_partial {
	int dir;
	int fd;
	bool is_new;  /* it was created by the opening */
	int state_fd; /* -1: not written yet */
	uint64_t url; /* its hash */
	char name[EDDYI_NAME_SIZE];
	char state_name[EDDYI_NAME_SIZE];
};

/* Open or create the file for the target `name` in `dir`, and lock it. Suspends.
 * Return: 0; -EBUSY if it is locked; -EEXIST if it is no regular file; -errno. */
int eddyi_client_partial_open(struct eddyi_client_partial *partial, int dir, const char *name,
			      const char *url);

/* Count the bytes that are missing. */
uint64_t eddyi_client_partial_missing(const struct eddyi_client_partial_state *state);

/* Set the file's size, when it is known. */
void eddyi_client_partial_set_total(struct eddyi_client_partial_state *state, uint64_t total);

/* Take the first piece that is not taken, of a longer one `most` bytes. Return: NULL if there is
 * none. */
struct eddyi_piece *eddyi_client_partial_take(struct eddyi_client_partial_state *state,
					      uint64_t most);

/* Read its state. Suspends. Return: false if it can't be continued. */
bool eddyi_client_partial_load(struct eddyi_client_partial *partial,
			       struct eddyi_client_partial_state *ret_state);

/* Empty it, and forget its state. Suspends. Return: 0, -errno. */
int eddyi_client_partial_clear(struct eddyi_client_partial *partial);

/* Write its state. Suspends. Return: 0, -errno. */
int eddyi_client_partial_save(struct eddyi_client_partial *partial,
			      const struct eddyi_client_partial_state *state);

/* Give it the target's name. Suspends, and is not cancelled.
 * Return: 0; -EEXIST if `no_replace` and the name is taken; -errno. */
int eddyi_client_partial_publish(struct eddyi_client_partial *partial, const char *name,
				 bool no_replace, bool *ret_replaced);

/* Close it, and remove it unless it is kept. Suspends, and is not cancelled. */
void eddyi_client_partial_close(struct eddyi_client_partial *partial, bool keep);

#endif
