/* request_head.h: parses the head of a request as its bytes arrive (RFC 9112).
 *
 * llhttp in strict mode is the parser. Ambiguous input that it accepts is rejected here: a bare LF,
 * folded lines, names of other protocols, and so on. Ambiguous lines and fields are rejected by
 * message/rules.h.
 *
 * Blank lines before a request are skipped: one before the first on a connection, two between
 * requests, since some clients end a body with a CRLF that they don't count (RFC 9112 section 2.2).
 *
 * The bytes are copied once, contiguously to the arena, and results point to them. */
#ifndef EDDYI_REQUEST_HEAD_H
#define EDDYI_REQUEST_HEAD_H

#include "framed.h"
#include "message/head.h"

#include <llhttp.h>

struct eddyi_request_head {
	llhttp_t parser;
	struct eddyi_head *head; /* the result; its bytes are in its arena */
	const struct eddyi_head_limits *limits;

	char *bytes; /* all bytes of the head so far */
	size_t len;
	size_t capacity;
	size_t line_end; /* length of the request line with its CRLF; 0 while it is incomplete */
	unsigned blank_lines; /* number skipped */
	bool is_first;        /* of its connection; set before the head is fed */
	bool may_be_h2;       /* likewise */
	bool complete;
	bool in_name;            /* the parser is in a field name */
	bool failed_in_callback; /* allocation failed, or: */
	bool too_many_headers;

	/* Of a complete head: */
	enum eddyi_framing framing;
	bool keep_alive;
	bool expect_continue;
};

/* The first line of a connection begins HTTP/2 (RFC 9113 section 3.4). */
#define EDDYI_HEAD_IS_H2 2

/* Begin to parse a head into `head`, whose arena is set. `head` and `limits` must outlive it. */
void eddyi_request_head_init(struct eddyi_request_head *request, struct eddyi_head *head,
			     const struct eddyi_head_limits *limits);

/* Take in up to `len` bytes; `*ret_used` is how many belong to the head.
 * Return: 0 if more bytes are needed; 200 if the head is complete; EDDYI_HEAD_IS_H2; the status from
 * 400 on that rejects it, and the head's `problem` says why. */
int eddyi_request_head_feed(struct eddyi_request_head *request, const char *bytes, size_t len,
			    size_t *ret_used);

/* Handle the end of the client's stream within a head not yet rejected.
 * Return: 400 after a complete HTTP/1 request line; 0 if there was no request. */
int eddyi_request_head_end(struct eddyi_request_head *request);

/* Reject the request for a reason other than its bytes, and discard it. Return: `status`. */
int eddyi_request_head_refuse(struct eddyi_request_head *request, int status, const char *problem);

/* Whether HTTP has a method of this name, case-sensitively. Others get a 501. */
bool eddyi_method_is_known(struct eddy_str name);

/* Whether every line of a head ends in CRLF, contains no other CR, and is not a continuation (RFC
 * 9112 sections 2.2 and 5.2). llhttp does not check this. */
bool eddyi_head_lines_are_clean(struct eddy_str head);

#endif
