/* out.h: text to a descriptor, in pieces of a buffer that lies where its user puts it. No memory is
 * allocated and no lock taken: everything here is safe in a signal handler. */
#ifndef EDDYI_OUT_H
#define EDDYI_OUT_H

#include <eddy/base.h>

#define EDDYI_OUT_SIZE 1024

/* `struct eddyi_out out = { .fd = fd };` is an empty one. */
struct eddyi_out {
	int fd;
	int error; /* the first -errno of a write; what comes later is dropped */
	size_t len;
	char text[EDDYI_OUT_SIZE];
};

/* Append. Of printf's conversions there are %s, %c, %d, %u, %zu, %llu, %p and %%, without flags; NULL is
 * a string too. */
EDDY_PRINTF(2, 3) void eddyi_out(struct eddyi_out *out, const char *format, ...);

/* Append a duration in the unit that suits it: "17 us", "1200 ms", "75 s". */
void eddyi_out_duration(struct eddyi_out *out, uint64_t ns);

/* Append a text as it may stand between quotation marks: control characters, quotation marks and
 * backslashes become question marks, and what is longer than 100 bytes is cut. */
void eddyi_out_name(struct eddyi_out *out, const char *name);

/* A place in the source, without the way there from the folder of the build. `where` may be NULL: it is not known. */
const char *eddyi_place(const char *where);

/* Write what is left. Return: 0, -errno of the first write that failed. */
int eddyi_out_flush(struct eddyi_out *out);

#endif
