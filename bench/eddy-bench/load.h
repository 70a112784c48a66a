/* load.h: many connections that ask at once: the work of one sample.
 *
 *     r = load_open(&load, &plan, 16, error);     // each has asked once
 *     load_play(&load, warmup_ns);
 *     load_play(&load, measured_ns);              // load.tally is of this alone
 *     load_close(&load);
 *
 * A closed loop: each connection asks again as soon as it was answered, until the time is over; what has begun then is
 * finished, so that each byte that was paid for is counted. An open loop, with --rate: requests are due at their time,
 * whether or not there is a connection free to send them, and how long they take counts from there (a server that
 * stands still would hide it by not being asked meanwhile: "coordinated omission").
 */
#ifndef EDDY_BENCH_LOAD_H
#define EDDY_BENCH_LOAD_H

#include "conn.h"

struct load {
	struct plan *plan;
	struct conn *conns;
	unsigned count;
	struct tally *tally;     /* of the last play */
	const bool *interrupted; /* somebody wants it to end */
	uint64_t began_ns, until_ns;
	uint64_t due;        /* requests of an open loop that have been taken on */
	uint64_t given_up;   /* of those that were due and never sent */
	uint64_t elapsed_ns; /* of the last play */
	bool once;           /* each connection asks once */
	int failed;
};

/* Make `count` connections, each of which asks once. Suspends.
 * Return: 0; -errno and a sentence where any of them failed; -ECANCELED. */
int load_open(struct load *load, struct plan *plan, unsigned count, const bool *interrupted,
	      char error[OPTIONS_ERROR_SIZE]);

/* Ask for `duration_ns`; with 0 once on each connection. Suspends. Return: 0, -ENOMEM, -ECANCELED. */
int load_play(struct load *load, uint64_t duration_ns);

/* Segments that its connections have sent again, ever. */
uint64_t load_retransmits(const struct load *load);

/* Close them. Does nothing the second time, nor of a load that is all zero. */
void load_close(struct load *load);

#endif
