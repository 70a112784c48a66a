#include "digest_file.h"

#include "exchange/res.h"
#include "open_files.h"
#include "text/arena.h"
#include "tls/hash.h"

#include <eddy/internal/outside.h>
#include <eddy/internal/text.h>
#include <eddy/offload.h>
#include <eddy/upload.h>
#include <errno.h>
#include <stdlib.h>

#define ATTRIBUTE "user.eddy.digest"
#define ATTRIBUTE_SIZE (EDDYI_ETAG_SIZE + EDDY_U64_SIZE + EDDYI_DIGEST_TEXT_SIZE)

/* Writing an attribute sets the ctime to the time of the write, by a clock that may be one tick
 * behind; on a busy machine the write may start late. */
#define WRITE_NS (100 * EDDY_MS)

/* Bytes hashed by a job of the offload pool: some milliseconds. */
#define PIECE_MAX ((uint64_t)(4 * EDDY_MIB))
#define READ_SIZE ((size_t)(128 * EDDY_KIB))

/* Larger files are not hashed for a response. */
#define HASHED_MAX ((off_t)(16 * EDDY_MIB))

/* ---- computing ---- */

struct hashing {
	int fd;
	uint64_t at;
	uint64_t end; /* of the piece */
	struct eddyi_hash *hashes[EDDYI_DIGEST_COUNT];
	char *buf;
};

static int hash_piece(void *arg)
{
	struct hashing *hashing = arg;

	while (hashing->at < hashing->end) {
		uint64_t left = hashing->end - hashing->at;
		ssize_t len = eddyi_pread_now(hashing->fd, hashing->buf,
					      left < READ_SIZE ? (size_t)left : READ_SIZE,
					      (off_t)hashing->at);

		if (len < 0 && errno == EINTR)
			continue;
		if (len <= 0)
			return -EIO;
		for (unsigned i = 0; i < EDDYI_DIGEST_COUNT; i++)
			if (hashing->hashes[i])
				eddyi_hash_add(hashing->hashes[i], hashing->buf, (size_t)len);
		hashing->at += (uint64_t)len;
	}
	return 0;
}

static bool begin(struct hashing *hashing, unsigned algorithms)
{
	hashing->buf = malloc(READ_SIZE);
	for (unsigned i = 0; i < EDDYI_DIGEST_COUNT; i++) {
		if (!(algorithms & EDDYI_DIGEST_BIT(i)))
			continue;
		hashing->hashes[i] = eddyi_hash_new((unsigned)eddyi_digest_len(i) * 8);
		if (!hashing->hashes[i])
			return false;
	}
	return hashing->buf;
}

static int finish(struct hashing *hashing, struct eddyi_digests *ret_digests)
{
	struct eddyi_digests digests = { .known = 0 };

	for (unsigned i = 0; i < EDDYI_DIGEST_COUNT; i++) {
		if (!hashing->hashes[i])
			continue;
		if (!eddyi_hash_end(hashing->hashes[i], digests.bytes[i]))
			return -EIO;
		digests.known |= EDDYI_DIGEST_BIT(i);
	}
	*ret_digests = digests;
	return 0;
}

int eddyi_digest_of(int fd, uint64_t from, uint64_t len, unsigned algorithms,
		    struct eddyi_digests *ret_digests)
{
	struct hashing hashing = { .fd = fd, .at = from, .end = from };
	int r = begin(&hashing, algorithms) ? 0 : -ENOMEM;

	while (r == 0 && hashing.at < from + len) {
		uint64_t left = from + len - hashing.at;

		hashing.end = hashing.at + (left < PIECE_MAX ? left : PIECE_MAX);
		r = eddy_offload(hash_piece, &hashing);
	}
	if (r == 0)
		r = finish(&hashing, ret_digests);
	for (unsigned i = 0; i < EDDYI_DIGEST_COUNT; i++)
		eddyi_hash_free(hashing.hashes[i]);
	free(hashing.buf);
	return r;
}

int eddy_file_sha256(int fd, char ret_hex[EDDY_SHA256_SIZE])
{
	struct eddyi_digests digests;
	struct stat st;
	int r;

	if (eddyi_fstat_now(fd, &st) < 0)
		return -errno;
	r = eddyi_digest_of(fd, 0, (uint64_t)st.st_size, EDDYI_DIGEST_BIT(EDDYI_DIGEST_SHA256),
			    &digests);
	if (r == 0)
		*eddyi_hex_format(digests.bytes[EDDYI_DIGEST_SHA256], EDDY_SHA256_SIZE / 2,
				  ret_hex) = 0;
	return r;
}

/* ---- announcements of requests ---- */

static int fail(struct eddy_req *req, struct eddy_str detail)
{
	return eddyi_req_fail(req, -EBADMSG, 400, detail.ptr);
}

int eddyi_digest_announced(struct eddy_req *req, const char *name,
			   struct eddyi_digests *ret_digests)
{
	if (eddyi_digest_parse(eddyi_head_join(&req->head, name), ret_digests) == 0)
		return 0;
	return fail(req, eddyi_arena_printf(&req->arena, "the field %s is malformed", name));
}

int eddyi_digest_compare(struct eddy_req *req, const char *name,
			 const struct eddyi_digests *announced, const struct eddyi_digests *actual)
{
	enum eddyi_digest_algorithm algorithm = eddyi_digest_difference(announced, actual);

	if (algorithm == EDDYI_DIGEST_COUNT)
		return 0;
	return fail(req, eddyi_arena_printf(&req->arena,
					    "the field %s does not match the bytes that arrived: "
					    "their %s differs",
					    name, eddyi_digest_name(algorithm)));
}

int eddyi_digest_check(struct eddy_req *req, const char *name,
		       const struct eddyi_digests *announced, int fd, uint64_t from, uint64_t len)
{
	struct eddyi_digests actual;
	int r;

	if (!announced->known)
		return 0;
	r = eddyi_digest_of(fd, from, len, announced->known, &actual);
	return r < 0 ? r : eddyi_digest_compare(req, name, announced, &actual);
}

/* ---- the extended attribute ---- */

static uint64_t ns_of(struct timespec time)
{
	return (uint64_t)time.tv_sec * EDDY_SECOND + (uint64_t)time.tv_nsec;
}

struct keeping {
	int fd;
	const struct stat *st;
	const struct eddyi_digests *digests;
};

static int write_attribute(void *arg)
{
	struct keeping *keeping = arg;
	char value[ATTRIBUTE_SIZE], digests[EDDYI_DIGEST_TEXT_SIZE];
	struct eddyi_text text = { .at = value, .end = value + sizeof(value) };
	struct eddyi_validator validator;
	struct stat st;

	/* The ctime is that of the last link(2). */
	if (eddyi_fstat_now(keeping->fd, &st) < 0 || st.st_size != keeping->st->st_size ||
	    ns_of(st.st_mtim) != ns_of(keeping->st->st_mtim))
		return -ESTALE;
	eddyi_validator_init(&validator, &st);
	eddyi_text_some(&text, validator.state.etag);
	eddyi_text(&text, " ");
	eddyi_text_u64(&text, eddyi_clock(CLOCK_REALTIME));
	eddyi_text(&text, " ");
	eddyi_text_some(&text, eddyi_digest_format(keeping->digests, ~0U, digests));
	return eddyi_fsetxattr_now(keeping->fd, ATTRIBUTE, value, (size_t)(text.at - value), 0);
}

void eddyi_digest_keep(int fd, const struct stat *st, const struct eddyi_digests *digests)
{
	struct keeping keeping = { fd, st, digests };

	eddy_offload(write_attribute, &keeping);
}

/* Parse the attribute. Return: false if it is not of this state of the file. */
static bool parse_attribute(struct eddy_str text, const struct stat *st,
			    struct eddyi_digests *ret_digests)
{
	uint64_t changed = ns_of(st->st_ctim), written;
	struct eddyi_validator validator;
	struct eddy_str etag, time;

	eddyi_validator_init(&validator, st);
	return eddy_str_split(&text, ' ', &etag) && eddy_str_eq(etag, validator.state.etag) &&
	       eddy_str_split(&text, ' ', &time) && eddy_str_to_u64(time, &written) == 0 &&
	       changed < written + WRITE_NS && written < changed + WRITE_NS &&
	       eddyi_digest_parse(text, ret_digests) == 0;
}

struct kept {
	int fd;
	const struct stat *st;
	struct eddyi_digests digests;
};

static int read_attribute(void *arg)
{
	struct kept *kept = arg;
	char value[ATTRIBUTE_SIZE];
	ssize_t len = eddyi_fgetxattr_now(kept->fd, ATTRIBUTE, value, sizeof(value));

	return len >= 0 && parse_attribute(eddy_str(value, (size_t)len), kept->st, &kept->digests);
}

void eddyi_digest_kept(int fd, const struct stat *st, struct eddyi_digests *ret_digests)
{
	struct kept kept = { .fd = fd, .st = st };

	eddy_offload(read_attribute, &kept);
	*ret_digests = kept.digests;
}

/* ---- downloads ---- */

/* Hash a file for the algorithm. If it changes meanwhile, or can't be read, `digests` stays as it
 * is. Return: 0, -ECANCELED, -ENOMEM. */
static int hash(int fd, const struct stat *st, enum eddyi_digest_algorithm algorithm,
		struct eddyi_digests *digests)
{
	struct eddyi_digests made;
	struct stat now;
	int r = eddyi_digest_of(fd, 0, (uint64_t)st->st_size, EDDYI_DIGEST_BIT(algorithm), &made);

	if (r < 0)
		return r == -EIO ? 0 : r;
	if (eddyi_fstat_now(fd, &now) < 0 || ns_of(now.st_ctim) != ns_of(st->st_ctim))
		return 0;
	memcpy(digests->bytes[algorithm], made.bytes[algorithm], sizeof(*made.bytes));
	digests->known |= made.known;
	return 0;
}

/* Get the bit of the known digest that is preferred; 0: none is wanted. */
static unsigned choose_digest(const struct eddyi_digest_wish *wish,
			      const struct eddyi_digests *digests)
{
	for (unsigned i = 0; i < wish->count; i++)
		if (digests->known & EDDYI_DIGEST_BIT(wish->algorithms[i]))
			return EDDYI_DIGEST_BIT(wish->algorithms[i]);
	return 0;
}

int eddyi_digest_answer(struct eddy_res *res, const struct stat *st)
{
	struct eddyi_digest_wish wish =
		eddyi_digest_parse_wish(eddyi_head_join(&res->req->head, "want-repr-digest"));
	struct eddyi_open_file *kept = eddyi_open_file_of(&res->file);
	struct eddyi_digests own = { .known = 0 }, *digests = kept ? &kept->digests : &own;
	char text[EDDYI_DIGEST_TEXT_SIZE];
	unsigned preferred, chosen;
	int r = 0;

	if (!wish.count)
		return 0;
	preferred = EDDYI_DIGEST_BIT(wish.algorithms[0]);
	if (!digests->known)
		eddyi_digest_kept(res->file.fd, st, digests);
	if (!(digests->known & preferred) && st->st_size <= HASHED_MAX)
		r = hash(res->file.fd, st, wish.algorithms[0], digests);
	chosen = choose_digest(&wish, digests);
	if (r < 0 || !chosen)
		return r;
	return eddy_res_set(res, "repr-digest", eddyi_digest_format(digests, chosen, text));
}
