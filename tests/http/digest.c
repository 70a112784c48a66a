/* Tests of http/src/message/digest.h, and of http/src/files/digest_file.h. Wire behaviour is tested by
 * tests/e2e/test_digest.py. */
#include "files/digest_file.h"

#include "../folder.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/http.h>
#include <eddy/internal/text.h>
#include <eddy/runtime.h>
#include <eddy/test.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/xattr.h>
#include <unistd.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

#define SHA256_OF_ABC "sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:"
#define SHA512_OF_ABC                                                                              \
	"sha-512=:3a81oZNherrMQXNJriBBMRLm+k6JqX6iCp7u5ktV05ohkpkqJ0/BqDa6PCOj/uu9RU1EI2Q86A4qmslPpUyknw==:"
#define SHA256_OF_NOTHING "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:"

#define BIT(algorithm) EDDYI_DIGEST_BIT(EDDYI_DIGEST_##algorithm)

/* ---- fields ---- */

Test(digest, fields)
{
	static const struct {
		const char *value;
		unsigned known;
	} fields[] = {
		{ "", 0 },
		{ SHA256_OF_ABC, BIT(SHA256) },
		{ SHA512_OF_ABC, BIT(SHA512) },
		{ SHA256_OF_ABC ", " SHA512_OF_ABC, BIT(SHA256) | BIT(SHA512) },
		{ SHA256_OF_ABC ";note=1", BIT(SHA256) },
		/* Unknown and deprecated algorithms, whatever their values are. */
		{ "md5=:AAAA:, sha=1, sha1=:AA==:, unixsum, crc32c=(1 2)", 0 },
		{ "md5=:AAAA:, " SHA256_OF_ABC, BIT(SHA256) },
		/* The last one counts. */
		{ SHA256_OF_NOTHING ", " SHA256_OF_ABC, BIT(SHA256) },
	};

	for (size_t i = 0; i < COUNT(fields); i++) {
		struct eddyi_digests digests;
		char text[EDDYI_DIGEST_TEXT_SIZE];

		cr_assert(eq(int, eddyi_digest_parse(eddy_str_from(fields[i].value), &digests), 0),
			  "%s", fields[i].value);
		cr_expect(eq(uint, digests.known, fields[i].known), "%s", fields[i].value);
		eddyi_digest_format(&digests, BIT(SHA256), text);
		cr_expect(eq(str, text, fields[i].known & BIT(SHA256) ? SHA256_OF_ABC : ""));
		eddyi_digest_format(&digests, BIT(SHA512), text);
		cr_expect(eq(str, text, fields[i].known & BIT(SHA512) ? SHA512_OF_ABC : ""));
		if (i == 3)
			cr_expect(eddy_str_eq_z(eddyi_digest_format(&digests, ~0U, text),
						fields[i].value));
	}
}

Test(digest, no_field)
{
	struct eddyi_digests digests = { .known = ~0U };

	cr_expect(eq(int, eddyi_digest_parse(eddy_str(NULL, 0), &digests), 0));
	cr_expect(eq(uint, digests.known, 0));
}

Test(digest, malformed_fields)
{
	static const char *const values[] = {
		"sha-256",
		"sha-256=",
		"sha-256=1",
		"sha-256=\"ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=\"",
		"sha-256=ungWv48Bz",
		"sha-256=::",
		"sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFQ==:",
		"sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0AAAA=:",
		"sha-256=:ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0=:",
		"sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=",
		"sha-512=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:",
		"SHA-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:",
		"sha-256=ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=", /* of RFC 3230 */
		(SHA256_OF_ABC ","),
		(SHA256_OF_ABC " " SHA512_OF_ABC),
		("md5=, " SHA256_OF_ABC),
	};

	for (size_t i = 0; i < COUNT(values); i++) {
		struct eddyi_digests digests = { .known = 1 };

		cr_expect(eq(int, eddyi_digest_parse(eddy_str_from(values[i]), &digests), -EBADMSG),
			  "%s", values[i]);
		cr_expect(eq(uint, digests.known, 1));
	}
}

Test(digest, wishes)
{
	static const struct {
		const char *value;
		const char *wanted; /* 2: SHA-256, 5: SHA-512 */
	} wishes[] = {
		{ "", "" },
		{ "sha-256=10", "2" },
		{ "sha-256=1, sha-512=2", "52" },
		{ "sha-512=3, sha-256=3", "25" },
		{ "sha-512=0, sha-256=1", "2" },
		{ "sha-256=0", "" },
		{ "sha-256=9, sha-256=0", "" },
		{ "md5=10, unixsum=1", "" },
		{ "md5=10, sha-512=1;q=1", "5" },
		{ "sha-256=11", "" },
		{ "sha-256=-1", "" },
		{ "sha-256=1.0", "" },
		{ "sha-256", "" },
		{ "sha-256=10, sha-512=11", "" },
		{ "sha-256=10,", "" },
		{ "sha-256;q=1", "" },
	};

	for (size_t i = 0; i < COUNT(wishes); i++) {
		struct eddyi_digest_wish wish =
			eddyi_digest_parse_wish(eddy_str_from(wishes[i].value));
		char text[EDDYI_DIGEST_NAMED + 1] = "";

		for (unsigned j = 0; j < wish.count; j++)
			text[j] = wish.algorithms[j] == EDDYI_DIGEST_SHA256 ? '2' : '5';
		cr_expect(eq(str, text, (char *)wishes[i].wanted), "%s", wishes[i].value);
	}
}

/* ---- files ---- */

static int make_file(const char *text, off_t size)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/file", folder);
	fd = open(path, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
	cr_assert(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	if (size)
		cr_assert(ftruncate(fd, size) == 0);
	return fd;
}

static struct eddyi_digests of(const char *field)
{
	struct eddyi_digests digests;

	cr_assert(eddyi_digest_parse(eddy_str_from(field), &digests) == 0);
	return digests;
}

static bool same(const struct eddyi_digests *digests, const char *field)
{
	char text[EDDYI_DIGEST_TEXT_SIZE];

	return eddy_str_eq_z(eddyi_digest_format(digests, ~0U, text), field);
}

#define MUST(condition)                                                                            \
	do {                                                                                       \
		if (!(condition))                                                                  \
			return __LINE__;                                                           \
	} while (0)

static void run(eddy_task_fn *fn)
{
	int line = eddy_run(NULL, fn, NULL);

	cr_expect(line == 0, "line %d", line);
}

static int hash_parts(void *arg)
{
	int fd = make_file("xabcx", 0);
	struct eddyi_digests digests;
	char hex[41];

	(void)arg;
	MUST(eddyi_digest_of(fd, 1, 3, BIT(SHA256) | BIT(SHA512) | BIT(SHA1), &digests) == 0);
	MUST(digests.known == (BIT(SHA256) | BIT(SHA512) | BIT(SHA1)));
	MUST(same(&digests, SHA256_OF_ABC ", " SHA512_OF_ABC));
	*eddyi_hex_format(digests.bytes[EDDYI_DIGEST_SHA1], 20, hex) = 0;
	MUST(!strcmp(hex, "a9993e364706816aba3e25717850c26c9cd0d89d"));
	MUST(eddyi_digest_of(fd, 5, 0, BIT(SHA256), &digests) == 0);
	MUST(same(&digests, SHA256_OF_NOTHING));
	MUST(eddyi_digest_of(fd, 3, 3, BIT(SHA256), &digests) == -EIO);
	close(fd);
	MUST(eddyi_digest_of(-1, 0, 3, BIT(SHA256), &digests) == -EIO);
	return 0;
}

Test(digest, parts_of_files, .init = make_folder, .fini = remove_folder)
{
	run(hash_parts);
}

/* Several pieces; the bytes were hashed by sha256sum. */
static int hash_pieces(void *arg)
{
	int fd = make_file("", 20 * (off_t)EDDY_MIB + 1);
	struct eddyi_digests digests;
	char hex[65];

	(void)arg;
	MUST(eddyi_digest_of(fd, 0, 20 * EDDY_MIB + 1, BIT(SHA256), &digests) == 0);
	*eddyi_hex_format(digests.bytes[EDDYI_DIGEST_SHA256], 32, hex) = 0;
	MUST(!strcmp(hex, "c443bedc371a412937057335440b956ef28441394e67a3743cf66cc7072d8573"));
	close(fd);
	return 0;
}

Test(digest, several_pieces, .init = make_folder, .fini = remove_folder)
{
	run(hash_pieces);
}

/* To hash a TiB of zeros takes minutes. */
static int cancel(void *arg)
{
	int fd = make_file("", (off_t)1 << 40), r;
	struct eddyi_digests digests;
	struct eddy_scope scope;

	(void)arg;
	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = 20 * EDDY_MS });
	r = eddyi_digest_of(fd, 0, (uint64_t)1 << 40, BIT(SHA256), &digests);
	eddy_scope_end(&scope);
	close(fd);
	MUST(r == -ECANCELED);
	return 0;
}

Test(digest, is_cancelled_between_pieces, .init = make_folder, .fini = remove_folder)
{
	run(cancel);
}

/* ---- the extended attribute ---- */

/* Return: a file with the attribute; -1 if the file system has none. */
static int keep(void)
{
	struct eddyi_digests digests = of(SHA256_OF_ABC);
	int fd = make_file("abc", 0);
	struct stat st;

	fstat(fd, &st);
	eddyi_digest_keep(fd, &st, &digests);
	if (fgetxattr(fd, "user.eddy.digest", NULL, 0) > 0)
		return fd;
	close(fd);
	return -1;
}

static bool is_kept(int fd)
{
	struct eddyi_digests digests;
	struct stat st;

	fstat(fd, &st);
	eddyi_digest_kept(fd, &st, &digests);
	return digests.known && same(&digests, SHA256_OF_ABC);
}

static int keep_and_change(void *arg)
{
	struct timespec times[2];
	struct stat st;
	int fd;

	/* A busy machine may write the attribute too late. */
	for (int tries = 0; (fd = keep()) >= 0 && !is_kept(fd); tries++)
		MUST(tries < 10);
	*(bool *)arg = fd < 0;
	if (fd < 0)
		return 0;
	fstat(fd, &st);
	/* A change that only the ctime shows. */
	eddy_sleep(150 * EDDY_MS);
	MUST(is_kept(fd));
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	MUST(pwrite(fd, "x", 1, 0) == 1 && futimens(fd, times) == 0);
	MUST(!is_kept(fd));
	close(fd);
	return 0;
}

Test(digest, a_changed_file_has_none, .init = make_folder, .fini = remove_folder)
{
	bool lacks_attributes;
	int line = eddy_run(NULL, keep_and_change, &lacks_attributes);

	cr_expect(line == 0, "line %d", line);
	if (lacks_attributes)
		cr_skip("this file system has no extended attributes");
}

static int keep_late(void *arg)
{
	struct eddyi_digests digests = of(SHA256_OF_ABC);
	int fd = make_file("abc", 0);
	struct stat st;

	(void)arg;
	fstat(fd, &st);
	eddy_sleep(20 * EDDY_MS);
	MUST(pwrite(fd, "x", 1, 0) == 1);
	eddyi_digest_keep(fd, &st, &digests);
	MUST(fgetxattr(fd, "user.eddy.digest", NULL, 0) < 0);
	close(fd);
	return 0;
}

Test(digest, of_bytes_that_have_changed_meanwhile, .init = make_folder, .fini = remove_folder)
{
	run(keep_late);
}

static int read_others(void *arg)
{
	static const char *const texts[] = {
		"", " ", "x 1 " SHA256_OF_ABC, "\"1-2-3\" 1 " SHA256_OF_ABC, "\"1-2-3\"",
	};
	int fd = make_file("abc", 0);

	(void)arg;
	for (size_t i = 0; i < COUNT(texts); i++) {
		if (fsetxattr(fd, "user.eddy.digest", texts[i], strlen(texts[i]), 0) < 0)
			break;
		MUST(!is_kept(fd));
	}
	close(fd);
	MUST(!is_kept(-1));
	return 0;
}

Test(digest, attributes_of_others, .init = make_folder, .fini = remove_folder)
{
	run(read_others);
}

static int hash_file(void *arg)
{
	char *hex = arg;
	int fd = memfd_create("abc", MFD_CLOEXEC), r = -errno;

	if (fd < 0)
		return r;
	r = write(fd, "abc", 3) == 3 ? eddy_file_sha256(fd, hex) : -EIO;
	close(fd);
	return r < 0 ? r : eddy_file_sha256(-1, hex + EDDY_SHA256_SIZE);
}

Test(digest, of_a_file)
{
	char hex[2 * EDDY_SHA256_SIZE] = "";

	cr_expect(eq(int, eddy_run(NULL, hash_file, hex), -EBADF));
	cr_expect(eq(str, hex,
		     (char *)"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
}
