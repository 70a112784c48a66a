/* Tests of http/src/text/mime.h. */
#include "text/mime.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct eddyi_mime *mime;

static const char *type_of(const char *name)
{
	static char out[256];
	size_t len = strlen(name);
	char *exact = malloc(len ? len : 1);
	struct eddy_str type;

	memcpy(exact, name, len);
	type = eddyi_mime_of(mime, eddy_str(exact, len));
	free(exact);
	snprintf(out, sizeof(out), "%.*s", EDDY_FMT(type));
	return out;
}

/* Make the table from a file of this content. */
static void read_from(const void *text, size_t len)
{
	char path[] = "/tmp/eddy-mime-XXXXXX";
	int fd = mkstemp(path);

	cr_assert(ge(int, fd, 0));
	cr_assert(eq(i64, write(fd, text, len), (int64_t)len));
	close(fd);
	mime = eddyi_mime_new(path);
	cr_assert(mime != NULL);
	unlink(path);
}

static void teardown(void)
{
	eddyi_mime_free(mime);
}

TestSuite(mime, .fini = teardown);

#define OCTETS "application/octet-stream"

Test(mime, builtin)
{
	/* clang-format off */
	static const struct {
		const char *name, *want;
	} cases[] = {
		{ "index.html", "text/html; charset=utf-8" },
		{ "INDEX.HTM", "text/html; charset=utf-8" },
		{ "a.js", "text/javascript; charset=utf-8" },
		{ "a.mjs", "text/javascript; charset=utf-8" },
		{ "a.css", "text/css; charset=utf-8" },
		{ "a.txt", "text/plain; charset=utf-8" },
		{ "README.md", "text/markdown; charset=utf-8" },
		{ "a.json", "application/json" },
		{ "a.svg", "image/svg+xml" },
		{ "a.xml", "application/xml" },
		{ "a.wasm", "application/wasm" },
		{ "a.woff2", "font/woff2" },
		{ "a.avif", "image/avif" },
		{ "a.webp", "image/webp" },
		{ "a.mp4", "video/mp4" },
		{ "a.JPeG", "image/jpeg" },
		{ "archive.tar.gz", "application/gzip" },
		{ "/var/www/a.b/c.png", "image/png" },
		{ "a.png/", OCTETS },
		{ "a.png/b", OCTETS },
		{ "", OCTETS },
		{ ".", OCTETS },
		{ "..", OCTETS },
		{ "a", OCTETS },
		{ "a.", OCTETS },
		{ "png", OCTETS },
		{ ".png", OCTETS },
		{ "dir/.png", OCTETS },
		{ "..png", "image/png" },
		{ "a.png.", OCTETS },
		{ "a.png ", OCTETS },
		{ "a.unheard-of", OCTETS },
		{ "a.pngpngpngpngpngpngpngpngpngpngpng", OCTETS },
		{ "a.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", OCTETS },
		{ "a.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", OCTETS },
		{ "a.\xff\xfe", OCTETS },
	};
	/* clang-format on */

	mime = eddyi_mime_new(NULL);
	cr_assert(mime != NULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cr_expect_str_eq(type_of(cases[i].name), cases[i].want, "%s", cases[i].name);
}

Test(mime, missing_file)
{
	mime = eddyi_mime_new("/nonexistent/mime.types");
	cr_assert(mime != NULL);
	cr_expect_str_eq(type_of("a.png"), "image/png");
}

Test(mime, folder_instead_of_file)
{
	mime = eddyi_mime_new("/");
	cr_assert(mime != NULL);
	cr_expect_str_eq(type_of("a.png"), "image/png");
}

Test(mime, reads_a_file)
{
	static const char text[] = "# comment\n"
				   "text/x-eddy\t\teddy EDD # more\n"
				   "image/x-other png\n"
				   "application/javascript js\r\n"
				   "no-slash one\n"
				   "bad/ two\n"
				   "/bad three\n"
				   "bad/type/sub four\n"
				   "evil/type\x01 five\n"
				   "application/lonely\n"
				   "  application/indented six\n"
				   "a/b seven\0eight\n"
				   "application/last nine";

	read_from(text, sizeof(text) - 1);
	cr_expect_str_eq(type_of("a.eddy"), "text/x-eddy; charset=utf-8");
	cr_expect_str_eq(type_of("a.edd"), "text/x-eddy; charset=utf-8");
	cr_expect_str_eq(type_of("a.more"), OCTETS);
	cr_expect_str_eq(type_of("a.png"), "image/x-other");
	cr_expect_str_eq(type_of("a.js"), "text/javascript; charset=utf-8");
	cr_expect_str_eq(type_of("a.gif"), "image/gif");
	cr_expect_str_eq(type_of("a.one"), OCTETS);
	cr_expect_str_eq(type_of("a.two"), OCTETS);
	cr_expect_str_eq(type_of("a.three"), OCTETS);
	cr_expect_str_eq(type_of("a.four"), OCTETS);
	cr_expect_str_eq(type_of("a.five"), OCTETS);
	cr_expect_str_eq(type_of("a.six"), "application/indented");
	cr_expect_str_eq(type_of("a.seven"), "a/b");
	cr_expect_str_eq(type_of("a.eight"), OCTETS);
	cr_expect_str_eq(type_of("a.nine"), "application/last");
}

Test(mime, bounds)
{
	size_t len = 3 * EDDYI_MIME_FILE_MAX, at = 0;
	char *text = malloc(len);

	for (int i = 0; at < len - 64; i++)
		at += (size_t)sprintf(text + at, "a/b%d x%d\n", i, i);
	read_from(text, at);
	free(text);
	cr_expect_str_eq(type_of("a.x1"), "a/b1");
	cr_expect_str_eq(type_of("a.x8000"), "a/b8000");
	cr_expect_str_eq(type_of("a.x8192"), OCTETS);
	cr_expect_str_eq(type_of("a.x100000"), OCTETS);
	cr_expect_str_eq(type_of("a.png"), "image/png");
}

Test(mime, noise)
{
	char text[65536];

	srand(1);
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = "ab/# \t\r\n\0\xff.{"[rand() % 12];
	read_from(text, sizeof(text));
	cr_expect_str_eq(type_of("a.png"), "image/png");
}

/* Whatever the system's table says, what a page is made of has its type. */
Test(mime, system_table)
{
	mime = eddyi_mime_new(EDDYI_MIME_FILE);
	cr_assert(mime != NULL);
	cr_expect_str_eq(type_of("a.js"), "text/javascript; charset=utf-8");
	cr_expect_str_eq(type_of("a.html"), "text/html; charset=utf-8");
	cr_expect_str_eq(type_of("a.png"), "image/png");
}
