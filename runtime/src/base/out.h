/* out.h: formatted output to a descriptor, through a buffer that the caller provides. It allocates
 * no memory and takes no lock, so all functions are safe in a signal handler. */
#ifndef EDDYI_OUT_H
#define EDDYI_OUT_H

#include <eddy/base.h>

#define EDDYI_OUT_SIZE 1024

/* An empty one is `struct eddyi_out out = { .fd = fd };`. */
struct eddyi_out {
	int fd;
	int error; /* -errno of the first failed write; later output is dropped */
	size_t len;
	char text[EDDYI_OUT_SIZE];
};

/* Append text: %s, %c, %d, %u, %zu, %llu, %p and %% as in printf, no flags. Strings may be NULL. */
EDDY_PRINTF(2, 3) void eddyi_out(struct eddyi_out *out, const char *format, ...);

/* Append a duration in a suitable unit: "17 us", "1200 ms", "75 s". */
void eddyi_out_duration(struct eddyi_out *out, uint64_t ns);

/* Append text for use within quotation marks. Control characters, quotation marks and backslashes
 * become question marks; at most 100 bytes are written. */
void eddyi_out_name(struct eddyi_out *out, const char *name);

/* Strip the path to the source folder from a place. `where` may be NULL: an unknown place. */
const char *eddyi_place(const char *where);

/* Write the buffered text. Return: 0, -errno of the first failed write. */
int eddyi_out_flush(struct eddyi_out *out);

#endif
