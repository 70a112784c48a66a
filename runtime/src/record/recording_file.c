/* The file of a recording: blocks are written, or found and checked. */
#include "recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <zstd.h>

#define LEVEL 1
/* A block that does not become smaller by this part of it is written as it is. */
#define GAIN 16

static int write_all(int fd, struct iovec parts[2])
{
	while (parts[0].iov_len + parts[1].iov_len) {
		ssize_t r = writev(fd, parts, 2);

		if (r < 0 && errno != EINTR)
			return -errno;
		for (int i = 0; i < 2 && r > 0; i++) {
			size_t part = (size_t)r < parts[i].iov_len ? (size_t)r : parts[i].iov_len;

			parts[i].iov_base = (char *)parts[i].iov_base + part;
			parts[i].iov_len -= part;
			r -= (ssize_t)part;
		}
	}
	return 0;
}

/* Return: the length; 0 if it is not worth it. */
static size_t pack(void *packed, const void *bytes, size_t len)
{
	static ZSTD_CCtx *context; /* of the one writer */
	size_t r;

	if (!context)
		context = ZSTD_createCCtx();
	if (!context)
		return 0;
	r = ZSTD_compressCCtx(context, packed, len - len / GAIN, bytes, len, LEVEL);
	return ZSTD_isError(r) ? 0 : r;
}

int eddyi_block_write(int fd, unsigned track, const void *bytes, size_t len, bool may_pack)
{
	static uint8_t packed[EDDYI_CHUNK_SIZE]; /* of the one writer */
	struct eddyi_block block = { .track = track, .len = (uint32_t)len };
	size_t packed_len = may_pack && len <= sizeof(packed) ? pack(packed, bytes, len) : 0;
	const void *written = packed_len ? packed : bytes;
	int r;

	block.packed = (uint32_t)(packed_len ? packed_len : len);
	block.digest = eddyi_digest(written, block.packed);
	r = write_all(fd, (struct iovec[]){ { &block, sizeof(block) },
					    { (void *)(uintptr_t)written, block.packed } });
	return r < 0 ? r : (int)(sizeof(block) + block.packed);
}

uint8_t *eddyi_block_unpack(const struct eddyi_block_at *at)
{
	uint8_t *bytes = malloc(at->block.len);

	if (!bytes)
		return NULL;
	if (at->block.packed == at->block.len) {
		memcpy(bytes, at->bytes, at->block.len);
	} else if (ZSTD_decompress(bytes, at->block.len, at->bytes, at->block.packed) !=
		   at->block.len) {
		free(bytes);
		return NULL;
	}
	return bytes;
}

/* ---- reading ---- */

/* The first block: what is before its strings. */
struct program {
	uint64_t build;
	uint32_t argc, envc;
};

/* Take a string out of the rest. Return: NULL if it does not end. */
static char *take_string(char **rest, const char *end)
{
	char *string = *rest, *nul = memchr(string, 0, (size_t)(end - string));

	if (!nul)
		return NULL;
	*rest = nul + 1;
	return string;
}

/* Return: a list that ends with NULL; NULL if there are fewer. */
static char **take_strings(char **rest, const char *end, size_t count)
{
	char **list = count < (size_t)(end - *rest) + 1 ? calloc(count + 1, sizeof(*list)) : NULL;

	for (size_t i = 0; list && i < count; i++) {
		list[i] = take_string(rest, end);
		if (list[i])
			continue;
		free(list);
		return NULL;
	}
	return list;
}

static int read_program(struct eddyi_recording *recording, const struct eddyi_block_at *at)
{
	struct program program;
	char *rest = (char *)eddyi_block_unpack(at), *end;

	if (!rest || at->block.len < sizeof(program))
		return -EBADMSG;
	memcpy(&program, rest, sizeof(program));
	end = rest + at->block.len;
	rest += sizeof(program);
	recording->build = program.build;
	recording->program = take_string(&rest, end);
	recording->argv = recording->program ? take_strings(&rest, end, program.argc) : NULL;
	recording->env = recording->argv ? take_strings(&rest, end, program.envc) : NULL;
	return recording->env ? 0 : -EBADMSG;
}

static int add_block(struct eddyi_recording *recording, const struct eddyi_block *block,
		     const uint8_t *bytes)
{
	struct eddyi_block_at at = { *block, bytes };

	if (block->len > 64 * EDDY_MIB || eddyi_digest(bytes, block->packed) != block->digest)
		return -EBADMSG;
	if (recording->has_end || (!recording->program && block->track != EDDYI_BLOCK_PROGRAM))
		return -EBADMSG;
	if (block->track == EDDYI_BLOCK_PROGRAM)
		return recording->program ? -EBADMSG : read_program(recording, &at);
	if (block->track == EDDYI_BLOCK_END) {
		if (block->packed != sizeof(recording->end))
			return -EBADMSG;
		memcpy(&recording->end, bytes, sizeof(recording->end));
		recording->has_end = true;
		return 0;
	}
	if (!(recording->count & (recording->count - 1))) {
		size_t room = recording->count ? 2 * recording->count : 1;
		void *blocks = realloc(recording->blocks, room * sizeof(at));

		if (!blocks)
			return -ENOMEM;
		recording->blocks = blocks;
	}
	recording->blocks[recording->count++] = at;
	return 0;
}

/* Find the blocks. The last one may be cut. */
static int index_blocks(struct eddyi_recording *recording)
{
	const uint8_t *at = recording->bytes, *end = at + recording->len;
	int r = 0;

	if (recording->len < strlen(EDDYI_RECORDING_MAGIC) ||
	    memcmp(at, EDDYI_RECORDING_MAGIC, strlen(EDDYI_RECORDING_MAGIC)) != 0)
		return -EBADMSG;
	at += strlen(EDDYI_RECORDING_MAGIC);
	while (r == 0 && (size_t)(end - at) >= sizeof(struct eddyi_block)) {
		struct eddyi_block block;

		memcpy(&block, at, sizeof(block));
		at += sizeof(block);
		if (block.packed > (size_t)(end - at))
			break;
		r = add_block(recording, &block, at);
		at += block.packed;
	}
	return r == 0 && !recording->env ? -EBADMSG : r;
}

int eddyi_recording_open(const char *path, struct eddyi_recording *ret_recording)
{
	struct stat st;
	void *bytes;
	int fd = open(path, O_RDONLY | O_CLOEXEC), r;

	*ret_recording = (struct eddyi_recording){ .path = path };
	if (fd < 0)
		return -errno;
	r = fstat(fd, &st) < 0 ? -errno : st.st_size == 0 ? -EBADMSG : 0;
	if (r < 0) {
		close(fd);
		return r;
	}
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	r = bytes == MAP_FAILED ? -errno : 0;
	close(fd);
	if (r < 0)
		return r;
	ret_recording->bytes = bytes;
	ret_recording->len = (size_t)st.st_size;
	return index_blocks(ret_recording);
}
