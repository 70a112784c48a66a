/* Invariants:
 * 1. A thread's cells are written only by it, without locked instructions, and read by any. They
 *    are in `threads` from its first count to its end.
 * 2. `rest` has the sums of ended threads, and counts of threads on allocation failure. A piece of
 *    it exists before any cell of that piece is used.
 * 3. Threads are added and removed, and sums are made, under `lock`: what a thread leaves is
 *    counted once.
 */
#include "metric_cells.h"

#include <eddy/internal/outside.h>
#include <errno.h>
#include <eddy/list.h>
#include <pthread.h>
#include <stdlib.h>

#define PIECE 1024
#define PIECES 128

struct cells {
	struct eddy_node node;
	uint64_t *pieces[PIECES]; /* NULL: all 0 */
};

static struct {
	pthread_mutex_t lock;
	struct eddy_node threads;
	struct cells rest;
	unsigned used;
	pthread_once_t once;
	pthread_key_t key; /* its destructor runs when a thread ends */
	int key_error;
} all = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.threads = { &all.threads, &all.threads },
	.once = PTHREAD_ONCE_INIT,
};

static _Thread_local struct cells *mine __attribute__((tls_model("initial-exec")));

static uint64_t *piece_of(const struct cells *cells, size_t at)
{
	return __atomic_load_n(&cells->pieces[at], __ATOMIC_ACQUIRE);
}

static uint64_t load(const uint64_t *cell)
{
	return (uint64_t)eddyi_outside_value("cell",
					     (int64_t)__atomic_load_n(cell, __ATOMIC_RELAXED));
}

/* ---- threads ---- */

static void leave_piece(uint64_t *rest, uint64_t *piece)
{
	for (size_t i = 0; i < PIECE; i++)
		__atomic_fetch_add(&rest[i], piece[i], __ATOMIC_RELAXED);
	free(piece);
}

static void thread_ends(void *arg)
{
	struct cells *cells = arg;

	pthread_mutex_lock(&all.lock);
	eddy_list_remove(&cells->node);
	for (size_t i = 0; i < PIECES; i++)
		if (cells->pieces[i])
			leave_piece(all.rest.pieces[i], cells->pieces[i]);
	mine = NULL;
	pthread_mutex_unlock(&all.lock);
	free(cells);
}

static void make_key(void)
{
	all.key_error = pthread_key_create(&all.key, thread_ends);
}

static struct cells *begin_thread(void)
{
	struct cells *cells;

	pthread_once(&all.once, make_key);
	cells = all.key_error ? NULL : calloc(1, sizeof(*cells));
	if (!cells)
		return NULL;
	if (pthread_setspecific(all.key, cells) != 0) {
		free(cells);
		return NULL;
	}
	pthread_mutex_lock(&all.lock);
	eddy_list_append(&all.threads, &cells->node);
	pthread_mutex_unlock(&all.lock);
	mine = cells;
	return cells;
}

static uint64_t *begin_piece(unsigned at)
{
	struct cells *cells = mine ? mine : begin_thread();
	uint64_t *piece = cells ? calloc(PIECE, sizeof(*piece)) : NULL;

	if (piece)
		__atomic_store_n(&cells->pieces[at], piece, __ATOMIC_RELEASE);
	return piece;
}

/* ---- counting ---- */

int eddyi_cells_reserve(size_t count, unsigned *ret_first)
{
	unsigned first, at;
	int r = 0;

	pthread_mutex_lock(&all.lock);
	first = all.used;
	if (first % PIECE + count > PIECE)
		first += PIECE - first % PIECE;
	at = first / PIECE;
	if (at >= PIECES)
		r = -ENOSPC;
	else if (!all.rest.pieces[at]) {
		uint64_t *piece = calloc(PIECE, sizeof(*piece));

		__atomic_store_n(&all.rest.pieces[at], piece, __ATOMIC_RELEASE);
		r = piece ? 0 : -ENOMEM;
	}
	if (r == 0) {
		all.used = first + (unsigned)count;
		*ret_first = first;
	}
	pthread_mutex_unlock(&all.lock);
	return r;
}

void eddyi_cells_add(unsigned cell, uint64_t by)
{
	unsigned at = cell / PIECE;
	uint64_t *piece = mine ? mine->pieces[at] : NULL;

	if (__builtin_expect(!piece, 0))
		piece = begin_piece(at);
	if (__builtin_expect(!piece, 0)) {
		__atomic_fetch_add(&piece_of(&all.rest, at)[cell % PIECE], by, __ATOMIC_RELAXED);
		return;
	}
	piece += cell % PIECE;
	__atomic_store_n(piece, *piece + by, __ATOMIC_RELAXED);
}

static void add_all(const struct cells *cells, unsigned first, size_t count, uint64_t *sums)
{
	const uint64_t *piece = piece_of(cells, first / PIECE);

	for (size_t i = 0; piece && i < count; i++)
		sums[i] += load(&piece[first % PIECE + i]);
}

void eddyi_cells_sum(unsigned first, size_t count, uint64_t *ret_sums)
{
	for (size_t i = 0; i < count; i++)
		ret_sums[i] = 0;
	pthread_mutex_lock(&all.lock);
	add_all(&all.rest, first, count, ret_sums);
	for (const struct eddy_node *node = all.threads.next; node != &all.threads;
	     node = node->next)
		add_all(eddy_of(node, const struct cells, node), first, count, ret_sums);
	pthread_mutex_unlock(&all.lock);
}
