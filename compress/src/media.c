/* Media types that are already compressed. */
#include "settings.h"

/* Exceptions: uncompressed types. */
static const char *const plain[] = {
	"image/svg+xml", "image/bmp",   "image/x-ms-bmp",     "image/vnd.microsoft.icon",
	"image/x-icon",  "image/x-tga", "image/x-portable-*", "audio/wav",
	"audio/x-wav",   "audio/midi",
};

static const char *const compressed[] = {
	"image/*",
	"audio/*",
	"video/*",
	"font/woff",
	"font/woff2",
	"application/font-woff*",
	"application/pdf",
	"application/zip",
	"application/gzip",
	"application/x-gzip",
	"application/zstd",
	"application/x-bzip2",
	"application/x-xz",
	"application/x-lzma",
	"application/x-7z-compressed",
	"application/vnd.rar",
	"application/x-rar-compressed",
	"application/java-archive",
	"application/vnd.android.package-archive",
	"application/vnd.debian.binary-package",
	"application/x-debian-package",
	"application/vnd.openxmlformats-officedocument.*",
	"application/vnd.oasis.opendocument.*",
	"*+zip",
	"*+gzip",
	"*+zstd",
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static struct eddy_str essence(struct eddy_str type)
{
	const char *end = type.ptr ? memchr(type.ptr, ';', type.len) : NULL;

	if (end)
		type.len = (size_t)(end - type.ptr);
	return eddy_str_trim(type);
}

static bool fits(struct eddy_str type, struct eddy_str pattern)
{
	if (pattern.len && pattern.ptr[pattern.len - 1] == '*') {
		pattern.len--;
		if (type.len > pattern.len)
			type.len = pattern.len;
	} else if (pattern.len && pattern.ptr[0] == '*') {
		pattern = eddy_str(pattern.ptr + 1, pattern.len - 1);
		if (type.len > pattern.len)
			type = eddy_str(type.ptr + type.len - pattern.len, pattern.len);
	}
	return eddy_str_eq_nocase(type, pattern);
}

bool eddyi_media_fits(struct eddy_str type, const char *pattern)
{
	return fits(essence(type), eddy_str_from(pattern));
}

static bool is_among(struct eddy_str type, const char *const *patterns, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (fits(type, eddy_str_from(patterns[i])))
			return true;
	return false;
}

bool eddyi_media_is_compressed(struct eddy_str type)
{
	type = essence(type);
	return type.len && !is_among(type, plain, COUNT(plain)) &&
	       is_among(type, compressed, COUNT(compressed));
}
