/* eddy/internal/gather.h: send memory and parts of files together, without a copy of the files; for
 * eddy's own layers. The kernel gets pages of the page cache by vmsplice(2), as by splice(2). */
#ifndef EDDY_INTERNAL_GATHER_H
#define EDDY_INTERNAL_GATHER_H

#include <eddy/str.h>
#include <eddy/transfer.h>
#include <sys/uio.h>

EDDY_BEGIN_DECLS

/* ---- parts of files ---- */

/* The part of a file that is mapped. Set to zero at first. */
struct eddyi_window {
	char *at; /* NULL: none */
	uint64_t offset;
	size_t len;
};

/* Bytes of a file that are in the page cache. */
struct eddyi_file_part {
	int file;
	uint64_t offset;
	size_t len;     /* 0: none */
	const char *at; /* in the window; NULL: they are many, and need not be mapped */
};

/* Find the next bytes of a transfer to a socket, for eddyi_gather_add_found(): in the page cache,
 * and if they are few, mapped in the window, which `may_move`. Never suspends. The program must not
 * read them there: if the file was truncated, that is a SIGBUS. The window must not move while a
 * gather has bytes of it. */
EDDY_API struct eddyi_file_part eddyi_window_find(struct eddyi_window *window,
						  const struct eddy_transfer *transfer, size_t len,
						  bool may_move);

EDDY_API void eddyi_window_close(struct eddyi_window *window);

/* ---- what is sent together ---- */

#define EDDYI_GATHER_PARTS_MAX 160
#define EDDYI_GATHER_ROOM ((size_t)1024)

struct eddyi_pipe;

/* It is begun, filled and sent without a suspension between. Set to zero at first. */
struct eddyi_gather {
	struct eddyi_pipe *pipe; /* NULL: it has not begun */
	size_t slots;            /* pages that the pipe still has room for */
	size_t len;
	bool failed; /* a file has been truncated */
	size_t count;
	size_t parts_len;
	struct iovec parts[EDDYI_GATHER_PARTS_MAX]; /* which the pipe does not have yet */
};

/* Begin, for up to `most` bytes. Return: whether it can: they are many, there is a pipe, and the
 * loop's technique lets it. */
EDDY_API bool eddyi_gather_begin(struct eddyi_gather *gather, size_t most);

/* Get the room for bytes to be copied: at first, at least EDDYI_GATHER_ROOM. */
EDDY_API size_t eddyi_gather_room(const struct eddyi_gather *gather);

/* Get the room for bytes that were found, behind a copy of `before` bytes. */
EDDY_API size_t eddyi_gather_room_for(const struct eddyi_gather *gather, size_t before,
				      const struct eddyi_file_part *found);

/* Add a copy of bytes. */
EDDY_API void eddyi_gather_add(struct eddyi_gather *gather, struct eddy_str bytes);

/* Add the first `len` bytes that were found. */
EDDY_API void eddyi_gather_add_found(struct eddyi_gather *gather,
				     const struct eddyi_file_part *found, size_t len);

/* Send all to a non-blocking socket. Never suspends. `ret_rest` gets a copy of the bytes that it
 * does not take, which the caller frees; its ptr is NULL if there are none.
 * Return: 0; -ENODATA if a file has been truncated: not all was sent, and the rest is lost; -ENOMEM,
 * likewise. An error of the socket leaves all bytes to the rest. */
EDDY_API int eddyi_gather_send(struct eddyi_gather *gather, int socket, struct eddy_str *ret_rest);

EDDY_END_DECLS

#endif
