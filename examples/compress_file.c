/* eddy-compress: the siblings of one file. */
#include "compress.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define PIECE (64 * EDDY_KIB)

/* The best level of each, as no client waits; windows that every client accepts. */
const struct sibling siblings[] = {
	{ ".br", "br", { .level = 11, .window_bits = 22 } },
	{ ".zst", "zstd", { .level = 19, .window_bits = 23 } },
	{ ".gz", "gzip", { .level = 9 } },
};
const size_t sibling_count = sizeof(siblings) / sizeof(siblings[0]);

struct file {
	const char *path;
	int fd;
	struct stat st;
};

/* Encode one piece of the input and write it at `*offset`. */
static int encode_piece(struct eddy_encoder *encoder, const char *in, size_t len,
			enum eddy_codec_op op, int to, uint64_t *offset)
{
	char room[16 * EDDY_KIB];
	struct eddy_codec_io io = { in, len, room, sizeof(room) };
	int r, w;

	do {
		io.out = room;
		io.out_len = sizeof(room);
		r = eddy_encoder_step(encoder, &io, op);
		len = sizeof(room) - io.out_len;
		w = r < 0 ? r : eddy_write_all(to, room, len, *offset);
		*offset += len;
		/* Ctrl-C ends it in the midst of a large file, too. */
		if (w == 0 && r == 0)
			w = eddy_yield();
	} while (w == 0 && r == 0);
	return w < 0 ? w : 0;
}

static int encode(const struct file *file, struct eddy_encoder *encoder, int to, uint64_t *ret_size)
{
	uint64_t at = 0, made = 0;
	char *piece = malloc(PIECE);
	ssize_t n = 0;
	int r = piece ? 0 : -ENOMEM;

	while (r == 0 && (n = eddy_read(file->fd, piece, PIECE, at)) > 0) {
		r = encode_piece(encoder, piece, (size_t)n, EDDY_CODEC_RUN, to, &made);
		at += (uint64_t)n;
	}
	if (r == 0)
		r = n < 0 ? (int)n : encode_piece(encoder, NULL, 0, EDDY_CODEC_END, to, &made);
	free(piece);
	*ret_size = made;
	return r;
}

/* Give the unnamed file its name, replacing a file of that name. */
static int publish(int fd, const char *name)
{
	char link[64], hidden[PATH_MAX];
	const char *slash = strrchr(name, '/');
	int folder = slash ? (int)(slash - name) + 1 : 0, r;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	r = snprintf(hidden, sizeof(hidden), "%.*s.%s~", folder, name, name + folder);
	if (r >= (int)sizeof(hidden))
		return -ENAMETOOLONG;
	/* A process that was killed may have left it. */
	eddy_unlinkat(AT_FDCWD, hidden, 0);
	r = eddy_linkat(AT_FDCWD, link, AT_FDCWD, hidden, AT_SYMLINK_FOLLOW);
	if (r == 0)
		r = eddy_renameat(AT_FDCWD, hidden, AT_FDCWD, name, 0);
	if (r < 0)
		eddy_unlinkat(AT_FDCWD, hidden, 0);
	return r;
}

static int finish(const struct file *file, int fd, const char *name)
{
	struct timespec times[2] = { file->st.st_mtim, file->st.st_mtim };

	if (fchmod(fd, file->st.st_mode & 0777) < 0 || futimens(fd, times) < 0)
		return -errno;
	return publish(fd, name);
}

/* Return: its size in bytes; 0 if it is not worth it; -errno. */
static int64_t make(const struct file *file, const struct sibling *sibling, const char *folder,
		    const char *name)
{
	struct eddy_encoder_options options = sibling->options;
	const struct eddy_codec *codec;
	struct eddy_encoder *encoder;
	uint64_t size = 0;
	int fd, r;

	options.size = (uint64_t)file->st.st_size;
	r = eddy_codec_find(eddy_str_from(sibling->coding), &codec);
	if (r == 0)
		r = eddy_encoder_new(codec, &options, &encoder);
	if (r < 0)
		return r;
	fd = eddy_openat(AT_FDCWD, folder, O_TMPFILE | O_RDWR, 0600);
	r = fd < 0 ? fd : encode(file, encoder, fd, &size);
	eddy_encoder_free(encoder);
	if (r == 0 && size < options.size - options.size / 20)
		r = finish(file, fd, name);
	else if (r == 0)
		size = 0;
	if (fd >= 0)
		eddy_close(fd);
	return r < 0 ? r : (int64_t)size;
}

static bool is_current(const struct file *file, const char *name)
{
	struct stat st;

	return stat(name, &st) == 0 && st.st_mtim.tv_sec == file->st.st_mtim.tv_sec &&
	       st.st_mtim.tv_nsec == file->st.st_mtim.tv_nsec;
}

static int fail(struct work *work, const char *path, int r)
{
	if (r == -ECANCELED)
		return r;
	/* -EINVAL: the size is not the one that the encoder was given. */
	fprintf(stderr, "eddy-compress: %s: %s\n", path,
		r == -EINVAL ? "the file changed while it was compressed" : strerror(-r));
	work->outcomes[FAILED]++;
	return 0;
}

static int make_sibling(struct work *work, const struct file *file, const struct sibling *sibling)
{
	char name[PATH_MAX], folder[PATH_MAX];
	const char *slash = strrchr(file->path, '/');
	int64_t size;

	if (snprintf(name, sizeof(name), "%s%s", file->path, sibling->suffix) >= (int)sizeof(name))
		return fail(work, file->path, -ENAMETOOLONG);
	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - file->path) + 1 : 1,
		 slash ? file->path : ".");
	if (!work->force && is_current(file, name)) {
		work->outcomes[CURRENT]++;
		return 0;
	}
	size = make(file, sibling, folder, name);
	if (size < 0)
		return fail(work, name, (int)size);
	if (size == 0) {
		/* An old sibling would still be served. */
		int r = eddy_unlinkat(AT_FDCWD, name, 0);

		work->outcomes[USELESS]++;
		return r < 0 && r != -ENOENT ? fail(work, name, r) : 0;
	}
	work->outcomes[MADE]++;
	work->bytes += (uint64_t)file->st.st_size;
	work->made_bytes += (uint64_t)size;
	return 0;
}

int compress_file(struct work *work, const char *path)
{
	struct file file = { .path = path,
			     .fd = eddy_openat(AT_FDCWD, path, O_RDONLY | O_NOFOLLOW, 0) };
	int r = 0;

	if (file.fd < 0)
		return fail(work, path, file.fd);
	if (fstat(file.fd, &file.st) < 0)
		r = fail(work, path, -errno);
	else
		for (size_t i = 0; r == 0 && i < sibling_count; i++)
			r = make_sibling(work, &file, &siblings[i]);
	eddy_close(file.fd);
	return r;
}
