/* recording.h: the recording of this process: its file, and its begin and end.
 *
 * Format: MAGIC, then blocks, each with a struct eddyi_block before its bytes. The first block
 * describes the program, further ones have the tracks, and the last one the end.
 */
#ifndef EDDYI_RECORDING_H
#define EDDYI_RECORDING_H

#include "track.h"

#define EDDYI_RECORDING_MAGIC "eddyrec1"

/* Before the bytes of a block, in the machine's byte order. */
struct eddyi_block {
	uint32_t track;  /* or one of the two below */
	uint32_t len;    /* of the bytes of the track */
	uint32_t packed; /* of the bytes in the file: zstd, or equal to `len` */
	uint32_t none;
	uint64_t digest; /* of the bytes in the file */
};

enum { EDDYI_BLOCK_PROGRAM = 0xfffffffe, EDDYI_BLOCK_END = 0xffffffff };

/* The bytes of the last block. */
struct eddyi_recording_end {
	uint64_t events, hash;
	uint32_t signal; /* that ended the process; 0: none */
	uint32_t none;
};

/* ---- the file ---- */

/* A recording that is read. */
struct eddyi_recording {
	const char *path;
	const uint8_t *bytes; /* of the file, mapped */
	size_t len;
	struct eddyi_block_at {
		struct eddyi_block block;
		const uint8_t *bytes;
	} * blocks;
	size_t count;
	struct eddyi_recording_end end;
	bool has_end;
	/* Of the program: NULL ends both lists. */
	const char *program;
	uint64_t build;
	char **argv, **env;
};

/* Write a block. Return: its bytes in the file, -errno. */
int eddyi_block_write(int fd, unsigned track, const void *bytes, size_t len, bool pack);

/* Open and check a recording. Return: 0; -EBADMSG if it is damaged; -errno. */
int eddyi_recording_open(const char *path, struct eddyi_recording *ret_recording);

/* Unpack a block into new memory. Return: NULL if it is damaged or without memory. */
uint8_t *eddyi_block_unpack(const struct eddyi_block_at *at);

#endif
