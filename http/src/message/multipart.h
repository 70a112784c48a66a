/* multipart.h: a pull parser for multipart/form-data (RFC 7578, RFC 2046 section 5.1), which
 * produces events from a body that arrives in pieces of any size.
 *
 *	while (there is a piece of the body) {
 *		do {
 *			err = eddyi_multipart_next(&multipart, &piece, &event);
 *			…
 *		} while (!err && event.kind != EDDYI_MULTIPART_MORE);
 *	}
 *	err = eddyi_multipart_finish(&multipart);
 *
 * Events: (PART DATA* PART_END)* END. A DATA event is a span of the piece. Only bytes that looked
 * like a boundary across two pieces (at most 108) are copied.
 *
 * Lines end in CRLF, never in a bare LF. A delimiter is CRLF "--" boundary at the beginning of a
 * line, followed by blanks (at most 32) and CRLF, or by "--", which ends the form; a line that
 * continues otherwise is data. Text before the first delimiter and after the last is skipped; a
 * body with such text before and no part is malformed. Header fields may be folded (RFC 5322, as
 * RFC 2046 allows). Each part needs one Content-Disposition of type form-data with a name (RFC 7578
 * section 4.2). Content-Transfer-Encoding is ignored (section 4.7), and nothing is decoded. The
 * charset of a part and a `_charset_` field are left to the application. */
#ifndef EDDYI_MULTIPART_H
#define EDDYI_MULTIPART_H

#include "text/arena.h"

#define EDDYI_MULTIPART_BOUNDARY_MAX 70
#define EDDYI_MULTIPART_PADDING_MAX 32

struct eddyi_multipart_options {
	unsigned parts_max; /* parts of a body; default 64 */
	size_t headers_max; /* bytes of a part's header block with its blank line; default 8 KiB */
};

struct eddyi_multipart_part {
	struct eddy_str name;
	struct eddy_str filename;     /* .ptr NULL: not a file; see eddyi_filename_clean() */
	struct eddy_str content_type; /* .ptr NULL: absent */
};

enum eddyi_multipart_kind {
	EDDYI_MULTIPART_MORE, /* the piece is used up; the next is needed */
	EDDYI_MULTIPART_PART, /* a part begins: `part` */
	EDDYI_MULTIPART_DATA, /* non-empty content in `data` */
	EDDYI_MULTIPART_PART_END,
	EDDYI_MULTIPART_END, /* the form is complete; the rest is skipped */
};

struct eddyi_multipart_event {
	enum eddyi_multipart_kind kind;
	struct eddyi_multipart_part part; /* in the arena */
	struct eddy_str data;             /* valid until the next call, while the piece is valid */
};

enum eddyi_multipart_state {
	EDDYI_MULTIPART_IN_PREAMBLE,
	EDDYI_MULTIPART_IN_HEADERS,
	EDDYI_MULTIPART_IN_DATA,
	EDDYI_MULTIPART_AT_END,
	EDDYI_MULTIPART_IN_EPILOGUE,
};

/* Opaque. */
struct eddyi_multipart {
	struct eddyi_arena *arena;
	struct eddyi_multipart_options options;
	enum eddyi_multipart_state state;
	int err; /* the first error, which all further calls return */
	unsigned part_count;
	size_t preamble_len;
	size_t delimiter_len;
	char delimiter[4 + EDDYI_MULTIPART_BOUNDARY_MAX]; /* CRLF "--" boundary */
	/* A delimiter at the beginning of the body or of a part needs no CRLF of its own: that
	 * before it counts (RFC 2046: a part may end with its headers). Then `held` begins with two
	 * bytes that were never received. */
	bool at_start;
	size_t unsent;
	/* The end of the last piece, if it may begin a delimiter. */
	size_t held_len;
	char held[4 + EDDYI_MULTIPART_BOUNDARY_MAX + EDDYI_MULTIPART_PADDING_MAX + 2];
	/* Held bytes that turned out to be data, until the next call. */
	char released[4 + EDDYI_MULTIPART_BOUNDARY_MAX + EDDYI_MULTIPART_PADDING_MAX + 2];
	/* A header block that arrived in pieces; allocated then. */
	char *headers;
	size_t headers_len;
};

/* Find the boundary in a Content-Type value, to which the result points.
 * Return: 0; -EOPNOTSUPP if the type is not multipart/form-data (415); -EBADMSG if it has no
 * boundary, two, or one that RFC 2046 does not allow. */
int eddyi_multipart_boundary(struct eddy_str content_type, struct eddy_str *ret_boundary);

/* Begin a body. `boundary` comes from eddyi_multipart_boundary() and is copied. The arena must
 * outlive the parser; it holds the headers of all parts, at most (parts_max + 1) * headers_max and
 * what decoding them needs. There is no deinit. */
void eddyi_multipart_init(struct eddyi_multipart *multipart, struct eddyi_arena *arena,
			  struct eddy_str boundary, const struct eddyi_multipart_options *options);

/* Take the next event off the front of `*piece`.
 * Return: 0; -EBADMSG if the form is malformed or a header block exceeds its limit (400); -EMSGSIZE
 * if there are too many parts (413); -ENOMEM. All further calls return the same error. */
int eddyi_multipart_next(struct eddyi_multipart *multipart, struct eddy_str *piece,
			 struct eddyi_multipart_event *ret_event);

/* End the body.
 * Return: 0; -EBADMSG if the last delimiter is missing; the error of eddyi_multipart_next(). */
int eddyi_multipart_finish(const struct eddyi_multipart *multipart);

#endif
