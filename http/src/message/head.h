/* head.h: the head of one request, read as its bytes arrive (RFC 9112).
 *
 * llhttp, in strict mode, is the parser; what it lets through that a careful server must not is
 * refused here: a bare LF, folded lines, another protocol's name, …; what the fields mean is judged
 * by fields.h.
 *
 * Before a request blank lines are skipped: one before the first of a connection, two between
 * requests, where some clients end a body with a CRLF that they do not count (RFC 9112 section 2.2).
 *
 * The bytes are gathered in one run of the arena's memory and every result points into it, so that
 * a finished head has copied each byte once and nothing twice.
 */
#ifndef EDDYI_HEAD_H
#define EDDYI_HEAD_H

#include "fields.h"
#include "target.h"
#include "text/arena.h"

#include <llhttp.h>

struct eddyi_head_limits {
	size_t request_line_max;
	size_t header_block_max;
	unsigned header_count_max;
};

struct eddyi_head {
	llhttp_t parser;
	struct eddyi_arena *arena;
	const struct eddyi_head_limits *limits;

	char *bytes; /* all that has been taken in */
	size_t len;
	size_t capacity;
	size_t line_end; /* length of the request line, its CRLF included; 0 until it is whole */
	unsigned blank_lines; /* that were skipped */
	bool is_first;        /* of its connection; set before it is fed */
	bool complete;
	bool in_name;            /* the parser is inside a field name */
	bool failed_in_callback; /* for want of memory, or: */
	bool too_many_headers;

	/* Of a head that is complete: */
	struct eddy_str method_name;
	enum eddyi_method method;
	struct eddyi_target target;
	struct eddy_str
		host; /* of the target's authority, else of the Host field; may be empty in 1.0 */
	struct eddyi_header *headers;
	unsigned header_count;
	unsigned header_capacity;
	unsigned minor; /* HTTP/1.minor, 0 or 1 */
	enum eddyi_framing framing;
	uint64_t length; /* of the body, for EDDYI_BODY_LENGTH */
	bool keep_alive;
	bool expect_continue;

	const char *problem; /* what is wrong with a head that was refused; static text */
};

/* `arena` and `limits` outlive the head. */
void eddyi_head_init(struct eddyi_head *head, struct eddyi_arena *arena,
		     const struct eddyi_head_limits *limits);

/* Take in up to `len` more bytes; `*ret_used` says how many belong to the head.
 * Return: 0 when more bytes are needed; 200 when the head is complete; from 400 on the status to
 * refuse it with, `problem` saying why. */
int eddyi_head_feed(struct eddyi_head *head, const char *bytes, size_t len, size_t *ret_used);

/* Take note that the client has ended inside of the head, which was not refused yet.
 * Return: 400 behind a whole request line of HTTP/1; 0 when it asked nothing. */
int eddyi_head_end(struct eddyi_head *head);

/* Refuse the request for a reason outside of its bytes; what was read of it is forgotten.
 * Return: `status`. */
int eddyi_head_refuse(struct eddyi_head *head, int status, const char *problem);

/* Tell whether every line of a head ends in CRLF, holds no other CR, and none is a continuation (RFC 9112
 * sections 2.2 and 5.2): what llhttp does not see. */
bool eddyi_head_lines_are_clean(struct eddy_str head);

/* The first field of this name. Return: .ptr NULL when there is none. */
struct eddy_str eddyi_head_find(const struct eddyi_head *head, struct eddy_str name);

/* All fields of this name as one value, joined by commas (RFC 9110 section 5.3).
 * Return: .ptr NULL when there is none. */
struct eddy_str eddyi_head_join(struct eddyi_head *head, const char *name);

#endif
