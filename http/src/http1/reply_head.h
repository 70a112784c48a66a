/* reply_head.h: writes the head of a response. */
#ifndef EDDYI_REPLY_HEAD_H
#define EDDYI_REPLY_HEAD_H

#include "exchange/exchange_state.h"
#include "wire/clocks.h"

/* Framing and persistence of a response. */
struct eddyi_reply {
	uint64_t length; /* of the body; EDDY_LENGTH_UNKNOWN: the head does not tell */
	bool chunked;    /* the body is unsized, and the client knows chunks */
	bool silent;     /* there is no body */
	bool keep;       /* another request may follow */
};

/* Decide it, for a body of `length`. `may_keep`: another request may follow, as far as this one is
 * concerned. */
void eddyi_reply_begin(struct eddyi_reply *reply, const struct eddy_req *req, uint64_t length,
		       bool may_keep);

/* Write the head, with room for `extra` bytes after it.
 * Return: .ptr NULL on allocation failure. */
struct eddy_str eddyi_reply_head(const struct eddyi_reply *reply, struct eddy_req *req,
				 struct eddyi_clocks *clocks, size_t extra);

/* Write an interim response. Return: .ptr NULL on allocation failure. */
struct eddy_str eddyi_reply_interim(struct eddyi_arena *arena, int status,
				    const struct eddy_header *fields);

#endif
