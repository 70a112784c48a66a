/* reader.h: reads bytes from the front, in the notation of RFC 8446 section 3. */
#ifndef EDDYI_READER_H
#define EDDYI_READER_H

#include <stdbool.h>
#include <stddef.h>

/* The remaining bytes. A read beyond them leaves none and sets `bad`. */
struct eddyi_reader {
	const unsigned char *at;
	size_t len;
	bool bad;
};

static inline struct eddyi_reader eddyi_reader_take(struct eddyi_reader *reader, size_t len)
{
	struct eddyi_reader taken = { reader->at, len, false };

	if (len > reader->len) {
		*reader = (struct eddyi_reader){ reader->at, 0, true };
		return *reader;
	}
	reader->at += len;
	reader->len -= len;
	return taken;
}

/* Read a number of one or two bytes. */
static inline size_t eddyi_reader_number(struct eddyi_reader *reader, size_t bytes)
{
	struct eddyi_reader number = eddyi_reader_take(reader, bytes);
	size_t value = 0;

	for (size_t i = 0; i < number.len; i++)
		value = value << 8 | number.at[i];
	return value;
}

/* Read bytes after their length, which takes `bytes` bytes. */
static inline struct eddyi_reader eddyi_reader_vector(struct eddyi_reader *reader, size_t bytes)
{
	return eddyi_reader_take(reader, eddyi_reader_number(reader, bytes));
}

#endif
