/* multipart.h: a reader of multipart/form-data (RFC 7578, RFC 2046 section 5.1) that pulls events
 * out of a body as it arrives, in pieces of any size.
 *
 *	while (there is a piece of the body) {
 *		do {
 *			err = eddyi_multipart_next(&multipart, &piece, &event);
 *			…
 *		} while (!err && event.kind != EDDYI_MULTIPART_MORE);
 *	}
 *	err = eddyi_multipart_finish(&multipart);
 *
 * Events: (PART DATA* PART_END)* END. A DATA event is a span of the piece itself; only bytes that
 * looked like a boundary across the edge of two pieces (at most 108) are copied.
 *
 * What is read: lines end in CRLF, never in a bare LF. A delimiter is CRLF "--" boundary at the
 * beginning of a line, then blanks (at most 32) and CRLF, or "--", which ends the form there and
 * then; a line that begins like one and goes on otherwise is data. What stands before the first
 * delimiter and after the last is skipped; a body that has something before and no part at all is
 * malformed. A header field may be folded (RFC 5322, as RFC 2046 allows). Each part needs one
 * Content-Disposition of the type form-data with a name (RFC 7578 section 4.2);
 * Content-Transfer-Encoding is ignored (section 4.7), nothing is decoded. The charset of a part and
 * a `_charset_` field are the application's.
 */
#ifndef EDDYI_MULTIPART_H
#define EDDYI_MULTIPART_H

#include "text/arena.h"

#define EDDYI_MULTIPART_BOUNDARY_MAX 70
#define EDDYI_MULTIPART_PADDING_MAX 32

struct eddyi_multipart_options {
	unsigned parts_max; /* parts of a body; default 64 */
	size_t headers_max; /* bytes of one part's header block, the blank line too; default 8 KiB */
};

struct eddyi_multipart_part {
	struct eddy_str name;
	struct eddy_str filename;     /* .ptr NULL: a field, not a file; see eddyi_filename_clean */
	struct eddy_str content_type; /* .ptr NULL: none was given */
};

enum eddyi_multipart_kind {
	EDDYI_MULTIPART_MORE,     /* the piece is used up: bring the next */
	EDDYI_MULTIPART_PART,     /* a part begins: `part` */
	EDDYI_MULTIPART_DATA,     /* some of its content, never empty: `data` */
	EDDYI_MULTIPART_PART_END, /* it was all there */
	EDDYI_MULTIPART_END,      /* so is the form; what follows is skipped */
};

struct eddyi_multipart_event {
	enum eddyi_multipart_kind kind;
	struct eddyi_multipart_part part; /* in the arena */
	struct eddy_str data;             /* valid until the next call, and while the piece is */
};

enum eddyi_multipart_state {
	EDDYI_MULTIPART_IN_PREAMBLE,
	EDDYI_MULTIPART_IN_HEADERS,
	EDDYI_MULTIPART_IN_DATA,
	EDDYI_MULTIPART_AT_END,
	EDDYI_MULTIPART_IN_EPILOGUE,
};

/* Not to be touched. */
struct eddyi_multipart {
	struct eddyi_arena *arena;
	struct eddyi_multipart_options options;
	enum eddyi_multipart_state state;
	int err; /* the first one; it stays */
	unsigned part_count;
	size_t preamble_len;
	size_t delimiter_len;
	char delimiter[4 + EDDYI_MULTIPART_BOUNDARY_MAX]; /* CRLF "--" boundary */
	/* A delimiter that stands first, in the body or in a part, needs no CRLF of its own: the
	 * one before it serves (RFC 2046: a part may end with its headers). Then `held` begins with
	 * two bytes that were never there. */
	bool at_start;
	size_t unsent;
	/* What the last piece ended with, if it may be the beginning of a delimiter. */
	size_t held_len;
	char held[4 + EDDYI_MULTIPART_BOUNDARY_MAX + EDDYI_MULTIPART_PADDING_MAX + 2];
	/* What was held and turned out to be data, until the next call. */
	char released[4 + EDDYI_MULTIPART_BOUNDARY_MAX + EDDYI_MULTIPART_PADDING_MAX + 2];
	/* A header block that came in pieces; allocated when that happens. */
	char *headers;
	size_t headers_len;
};

/* Find the boundary in a Content-Type value; it points into the value.
 * Return: 0, -EOPNOTSUPP when the type is not multipart/form-data (415), -EBADMSG when it is and
 * has no boundary, two, or one that RFC 2046 does not allow. */
int eddyi_multipart_boundary(struct eddy_str content_type, struct eddy_str *ret_boundary);

/* Begin a body. `boundary` is copied, and is one that eddyi_multipart_boundary found. The arena
 * must outlive the reader; it takes the headers of all parts, at most parts_max + 1 times
 * headers_max and what decoding them takes. Nothing needs to be undone. */
void eddyi_multipart_init(struct eddyi_multipart *multipart, struct eddyi_arena *arena,
			  struct eddy_str boundary, const struct eddyi_multipart_options *options);

/* Take the next event off the front of `*piece`.
 * Return: 0, -EBADMSG for what is malformed or a header block over its limit (400), -EMSGSIZE for
 * too many parts (413), -ENOMEM. After an error every call returns it again. */
int eddyi_multipart_next(struct eddyi_multipart *multipart, struct eddy_str *piece,
			 struct eddyi_multipart_event *ret_event);

/* Say that the body has ended. Return: 0, -EBADMSG when the last delimiter is missing, or the error
 * that eddyi_multipart_next had. */
int eddyi_multipart_finish(const struct eddyi_multipart *multipart);

#endif
