/* Tests of compress/src/media.c. */
#include "settings.h"

#include <criterion/criterion.h>

static bool is_compressed(const char *type)
{
	return eddyi_media_is_compressed(eddy_str_from(type));
}

Test(media, compressed_by_themselves)
{
	static const char *const yes[] = {
		"image/png",
		"image/jpeg",
		"image/webp",
		"IMAGE/PNG",
		" image/avif ; q=1",
		"audio/mpeg",
		"video/mp4",
		"font/woff",
		"font/woff2",
		"application/font-woff",
		"application/font-woff2",
		"application/zip",
		"application/gzip",
		"application/x-gzip",
		"application/zstd",
		"application/x-bzip2",
		"application/x-xz",
		"application/x-7z-compressed",
		"application/vnd.rar",
		"application/pdf",
		"application/java-archive",
		"application/epub+zip",
		"application/vnd.openxmlformats-officedocument.wordprocessingml.document",
		"application/vnd.oasis.opendocument.text",
	};

	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		cr_expect(is_compressed(yes[i]), "%s", yes[i]);
}

Test(media, not_compressed_by_themselves)
{
	static const char *const no[] = {
		"text/plain",
		"text/html; charset=utf-8",
		"application/json",
		"application/problem+json",
		"application/javascript",
		"application/wasm",
		"application/xml",
		"application/octet-stream",
		"image/svg+xml",
		"image/SVG+XML; charset=utf-8",
		"image/bmp",
		"image/x-icon",
		"image/vnd.microsoft.icon",
		"image/x-portable-pixmap",
		"audio/wav",
		"audio/midi",
		"font/ttf",
		"font/otf",
		"application/x-tar",
		"application/zipper",
		"text/image/png",
		"",
		";",
		"image",
	};

	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		cr_expect(!is_compressed(no[i]), "%s", no[i]);
	cr_expect(!eddyi_media_is_compressed(eddy_str(NULL, 0)));
}

static bool fits(const char *type, const char *pattern)
{
	return eddyi_media_fits(eddy_str_from(type), pattern);
}

Test(media, patterns)
{
	cr_expect(fits("text/event-stream; charset=utf-8", "text/event-stream"));
	cr_expect(fits("Text/Event-Stream", "text/EVENT-stream"));
	cr_expect(!fits("text/event-stream2", "text/event-stream"));
	cr_expect(!fits("text/event", "text/event-stream"));
	cr_expect(fits("font/ttf", "font/*"));
	cr_expect(fits("font/", "font/*"));
	cr_expect(!fits("font", "font/*"));
	cr_expect(!fits("a/font/ttf", "font/*"));
	cr_expect(fits("application/epub+zip; v=1", "*+zip"));
	cr_expect(fits("+zip", "*+zip"));
	cr_expect(!fits("zip", "*+zip"));
	cr_expect(!fits("application/epub+zip2", "*+zip"));
	cr_expect(fits("anything/at-all", "*"));
	cr_expect(fits("", ""));
	cr_expect(!fits("a/b", ""));
}
