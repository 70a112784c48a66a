/* file_read.h: a part of a file into memory. */
#ifndef EDDYI_FILE_READ_H
#define EDDYI_FILE_READ_H

#include <stddef.h>
#include <stdint.h>

/* Read exactly `len` bytes at `offset`: from the page cache at once, else through the ring. Suspends.
 * Return: 0, -ENODATA when the file ends first, -errno. */
int eddyi_file_read(int fd, char *buf, size_t len, uint64_t offset);

#endif
