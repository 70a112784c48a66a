/* eddy/internal/transfer.h: how transfers move bytes; for eddy's own layers. */
#ifndef EDDY_INTERNAL_TRANSFER_H
#define EDDY_INTERNAL_TRANSFER_H

#include <eddy/transfer.h>

EDDY_BEGIN_DECLS

/* Check whether a file of `len` bytes is better sent from memory: see .copied_out_max. */
EDDY_API bool eddyi_transfer_copies_out(uint64_t len);

/* Check whether an upload of `len` bytes is better received through memory: see .spliced_in_min. */
EDDY_API bool eddyi_transfer_copies_in(uint64_t len);

/* Set the memory in bytes on which the default of .uncached_min depends, if a control group leaves
 * the process less than the machine has. Any thread may call it. */
EDDY_API void eddyi_transfer_set_memory(uint64_t bytes);

/* Read bytes of a file that are in the page cache. `device` is its st_dev, or 0; with 0 no byte of
 * a file system in memory is found there. Never suspends.
 * Return: bytes, perhaps fewer; 0 at the end of the file; -EAGAIN if eddyi_transfer_read() has to
 * read them; -EIO. */
EDDY_API ssize_t eddyi_transfer_read_now(int file, uint64_t device, void *buf, size_t len,
					 uint64_t offset);

/* Check whether the next `len` bytes of a transfer to a socket are in the file, and in the page
 * cache: those and others behind them. A positive answer is reused within the turn. Never suspends. */
EDDY_API bool eddyi_transfer_is_warm(const struct eddy_transfer *transfer, size_t len);

/* Read exactly `len` bytes of a file into memory, from the page cache at once or else through the
 * ring. Suspends. For bodies that are small, or encoded before they are sent.
 * Return: 0; -ENODATA if the file ends first; -EIO, -ECANCELED. */
EDDY_API int eddyi_transfer_read(int file, void *buf, size_t len, uint64_t offset);

EDDY_END_DECLS

#endif
