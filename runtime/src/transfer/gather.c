/* Memory and parts of files that are sent together: all go through a pipe. */
#include <eddy/internal/gather.h>

#include "core/loop.h"
#include "pipe.h"

#include <eddy/internal/loop.h>
#include <eddy/internal/outside.h>
#include <eddy/internal/transfer.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static size_t page_size(void)
{
	return (size_t)eddyi_sysconf_now(_SC_PAGESIZE);
}

/* ---- parts of files ---- */

/* Page tables of an open file take at most 1/512 of this. */
#define WINDOW ((size_t)(64 * EDDY_MIB))

void eddyi_window_close(struct eddyi_window *window)
{
	if (window->at)
		munmap(window->at, window->len);
	*window = (struct eddyi_window){ 0 };
}

static bool has(const struct eddyi_window *window, uint64_t offset, size_t len)
{
	return window->at && offset >= window->offset &&
	       offset + len <= window->offset + window->len;
}

/* Mapped pages beyond the end of the file fault when they are sent. */
static bool move(struct eddyi_window *window, int file, uint64_t offset)
{
	uint64_t start = offset - offset % (WINDOW / 2);
	void *at = eddyi_mmap_now(NULL, WINDOW, PROT_READ, MAP_SHARED, file, (off_t)start);

	eddyi_window_close(window);
	if (at != MAP_FAILED)
		*window = (struct eddyi_window){ at, start, WINDOW };
	return at != MAP_FAILED;
}

/* From this length on, splice(2) from the file takes less time than to map it. */
#define SPLICE_MIN ((size_t)(64 * EDDY_KIB))

struct eddyi_file_part eddyi_window_find(struct eddyi_window *window,
					 const struct eddy_transfer *transfer, size_t len,
					 bool may_move)
{
	uint64_t offset = transfer->offset + transfer->moved;
	struct eddyi_file_part found = { .file = transfer->file, .offset = offset, .len = len };
	bool is_mapped = len < SPLICE_MIN;

	if (!eddyi_transfer_is_warm(transfer, len) ||
	    (is_mapped && !has(window, offset, len) &&
	     !(may_move && move(window, transfer->file, offset))))
		found.len = 0;
	else if (is_mapped)
		found.at = window->at + (offset - window->offset);
	return found;
}

/* ---- what is sent together ---- */

/* Memory of the loop for copied bytes. The kernel keeps the page for as long as it sends bytes of
 * it, so none of them is written again: a page that is full is replaced. */
struct eddyi_given {
	struct eddyi_at_end at_end;
	char *page;
	size_t used;
	int works; /* whether the kernel lets it: 0: not tested yet; -1: no */
};

static _Thread_local struct eddyi_given *here;

static void loop_ends(struct eddyi_at_end *at_end)
{
	struct eddyi_given *given = eddy_of(at_end, struct eddyi_given, at_end);

	here = NULL;
	if (given->page)
		munmap(given->page, page_size());
	free(given);
}

/* Get the loop's memory, with room for EDDYI_GATHER_ROOM. Return: NULL on allocation failure. */
static struct eddyi_given *given_here(void)
{
	struct eddyi_given *given = here;
	void *page;

	if (!given) {
		given = calloc(1, sizeof(*given));
		if (!given)
			return NULL;
		eddyi_loop_at_end(&given->at_end, loop_ends);
		here = given;
	}
	if (given->page && page_size() - given->used >= EDDYI_GATHER_ROOM)
		return given;
	page = mmap(NULL, page_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return NULL;
	if (given->page)
		munmap(given->page, page_size());
	given->page = page;
	given->used = 0;
	return given;
}

/* Pages that a pipe must have: one part is a slot, and a file has two more that are used in part. */
#define PIPE_MIN (8 * page_size())

/* A system call filter or another kernel may refuse vmsplice(2). */
static bool works(struct eddyi_given *given, struct eddyi_pipe *pipe)
{
	struct iovec one = { given->page, 1 };
	char byte;

	if (!given->works)
		given->works = eddyi_vmsplice_now(pipe->write_fd, &one, 1, SPLICE_F_NONBLOCK) ==
						       1 &&
					       eddyi_read_now(pipe->read_fd, &byte, 1) == 1 ?
				       1 :
				       -1;
	return given->works > 0;
}

bool eddyi_gather_begin(struct eddyi_gather *gather, size_t most)
{
	enum eddy_technique technique = eddy_transfer_options()->technique;
	struct eddyi_given *given = given_here();

	if ((technique != EDDY_TECHNIQUE_AUTO && technique != EDDY_TECHNIQUE_SPLICE) || !given ||
	    given->works < 0 || most < PIPE_MIN || eddyi_pipe_take_optional(&gather->pipe) < 0)
		return false;
	if (gather->pipe->size < PIPE_MIN || !works(given, gather->pipe)) {
		eddyi_pipe_discard(gather->pipe);
		gather->pipe = NULL;
		return false;
	}
	gather->slots = (most < gather->pipe->size ? most : gather->pipe->size) / page_size();
	gather->len = gather->count = gather->parts_len = 0;
	gather->failed = false;
	return true;
}

size_t eddyi_gather_room(const struct eddyi_gather *gather)
{
	bool has_part = gather->slots && gather->count < EDDYI_GATHER_PARTS_MAX;

	return has_part ? page_size() - here->used : 0;
}

size_t eddyi_gather_room_for(const struct eddyi_gather *gather, size_t before,
			     const struct eddyi_file_part *found)
{
	if (gather->slots < 2 || gather->count + 2 > EDDYI_GATHER_PARTS_MAX ||
	    before > eddyi_gather_room(gather))
		return 0;
	return (gather->slots - 1) * page_size() - found->offset % page_size();
}

/* Account for bytes that begin at `offset` of a page. */
static void take_room(struct eddyi_gather *gather, uint64_t offset, size_t len)
{
	gather->slots -= (offset % page_size() + len + page_size() - 1) / page_size();
	gather->len += len;
}

static void add(struct eddyi_gather *gather, const char *at, size_t len)
{
	gather->parts[gather->count++] = (struct iovec){ (void *)at, len };
	gather->parts_len += len;
	take_room(gather, (uintptr_t)at, len);
}

void eddyi_gather_add(struct eddyi_gather *gather, struct eddy_str bytes)
{
	struct iovec *last = gather->count ? &gather->parts[gather->count - 1] : NULL;
	char *at = here->page + here->used;

	if (!bytes.len)
		return;
	memcpy(at, bytes.ptr, bytes.len);
	here->used += bytes.len;
	if (!last || (char *)last->iov_base + last->iov_len != at) {
		add(gather, at, bytes.len);
		return;
	}
	last->iov_len += bytes.len;
	gather->parts_len += bytes.len;
	gather->len += bytes.len;
}

/* Have the pipe refer to all parts. */
static void fill(struct eddyi_gather *gather)
{
	ssize_t r;

	do
		r = eddyi_vmsplice_now(gather->pipe->write_fd, gather->parts, gather->count,
				       SPLICE_F_NONBLOCK);
	while (r < 0 && errno == EINTR);
	gather->failed |= r != (ssize_t)gather->parts_len;
	gather->count = gather->parts_len = 0;
}

static void splice_found(struct eddyi_gather *gather, const struct eddyi_file_part *found,
			 size_t len)
{
	loff_t from = (loff_t)found->offset;
	ssize_t r = 1;

	fill(gather);
	for (; len && !gather->failed; len -= r > 0 ? (size_t)r : 0) {
		r = eddyi_splice_now(found->file, &from, gather->pipe->write_fd, NULL, len,
				     SPLICE_F_NONBLOCK);
		gather->failed |= r == 0 || (r < 0 && errno != EINTR);
	}
}

void eddyi_gather_add_found(struct eddyi_gather *gather, const struct eddyi_file_part *found,
			    size_t len)
{
	eddyi_count(eddyi_loop()->transfer_stats.spliced_out, len);
	if (found->at) {
		add(gather, found->at, len);
		return;
	}
	take_room(gather, found->offset, len);
	splice_found(gather, found, len);
}

/* Copy what is left in the pipe. Return: 0, -ENOMEM. */
static int keep_rest(struct eddyi_pipe *pipe, size_t len, struct eddy_str *ret_rest)
{
	char *bytes = malloc(len);
	size_t copied = 0;

	while (bytes && copied < len) {
		ssize_t r = eddyi_read_now(pipe->read_fd, bytes + copied, len - copied);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			break;
		copied += (size_t)r;
	}
	if (copied < len) {
		free(bytes);
		return -ENOMEM;
	}
	*ret_rest = eddy_str(bytes, len);
	return 0;
}

int eddyi_gather_send(struct eddyi_gather *gather, int socket, struct eddy_str *ret_rest)
{
	struct eddyi_pipe *pipe = gather->pipe;
	size_t left = gather->len;
	ssize_t moved = 1;
	int r;

	fill(gather);
	r = gather->failed ? -ENODATA : 0;
	*ret_rest = (struct eddy_str){ 0 };
	gather->pipe = NULL;
	while (r == 0 && left && (moved > 0 || (moved < 0 && errno == EINTR))) {
		moved = eddyi_splice_now(pipe->read_fd, NULL, socket, NULL, left,
					 SPLICE_F_NONBLOCK);
		left -= moved > 0 ? (size_t)moved : 0;
	}
	if (r == 0 && left)
		r = keep_rest(pipe, left, ret_rest);
	if (r == 0)
		eddyi_pipe_put(pipe);
	else
		eddyi_pipe_discard(pipe);
	return r;
}
