#include "mime.h"

#include "arena.h"
#include "syntax.h"

#include <eddy/internal/outside.h>
#include <stdio.h>
#include <stdlib.h>

struct entry {
	struct eddy_str extension; /* in lower case; .ptr NULL: free */
	struct eddy_str type;
};

/* A hash table with open addressing, at most half full. */
struct eddyi_mime {
	struct eddyi_arena arena; /* holds the strings */
	struct entry *slots;
	size_t slot_count; /* a power of two */
	size_t entry_count;
};

/* A type and its extensions, as in mime.types. */
static const char *const builtin[] = {
	"application/atom+xml atom",
	"application/epub+zip epub",
	"application/gzip gz tgz",
	"application/json json map",
	"application/ld+json jsonld",
	"application/manifest+json webmanifest",
	"application/msword doc",
	"application/ogg ogx",
	"application/pdf pdf",
	"application/rss+xml rss",
	"application/rtf rtf",
	"application/vnd.ms-excel xls",
	"application/vnd.ms-powerpoint ppt",
	"application/vnd.oasis.opendocument.presentation odp",
	"application/vnd.oasis.opendocument.spreadsheet ods",
	"application/vnd.oasis.opendocument.text odt",
	"application/vnd.openxmlformats-officedocument.presentationml.presentation pptx",
	"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet xlsx",
	"application/vnd.openxmlformats-officedocument.wordprocessingml.document docx",
	"application/wasm wasm",
	"application/x-7z-compressed 7z",
	"application/x-bzip2 bz2",
	"application/x-sh sh",
	"application/x-tar tar",
	"application/x-xz xz",
	"application/xhtml+xml xhtml",
	"application/xml xml xsl",
	"application/yaml yaml yml",
	"application/zip zip",
	"application/zstd zst",
	"audio/aac aac",
	"audio/flac flac",
	"audio/midi mid midi",
	"audio/mp4 m4a",
	"audio/mpeg mp3",
	"audio/ogg ogg oga opus",
	"audio/wav wav",
	"font/otf otf",
	"font/ttf ttf",
	"font/woff woff",
	"font/woff2 woff2",
	"image/apng apng",
	"image/avif avif",
	"image/bmp bmp",
	"image/gif gif",
	"image/heic heic",
	"image/jpeg jpg jpeg",
	"image/jxl jxl",
	"image/png png",
	"image/svg+xml svg",
	"image/tiff tif tiff",
	"image/vnd.microsoft.icon ico",
	"image/webp webp",
	"text/calendar ics",
	"text/css css",
	"text/csv csv",
	"text/html html htm",
	"text/javascript js mjs",
	"text/markdown md markdown",
	"text/plain txt text log conf",
	"text/vtt vtt",
	"video/mp2t ts",
	"video/mp4 mp4 m4v",
	"video/mpeg mpeg mpg",
	"video/ogg ogv",
	"video/quicktime mov",
	"video/webm webm",
	"video/x-matroska mkv",
	"video/x-msvideo avi",
};

static struct eddy_str lowered(struct eddy_str text, char buffer[EDDYI_MIME_EXTENSION_LEN_MAX])
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];

		buffer[i] = c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
	}
	return eddy_str(buffer, text.len);
}

/* Find the slot of an extension in lower case, or the free slot for it. */
static struct entry *slot_of(const struct eddyi_mime *mime, struct eddy_str extension)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (size_t i = 0; i < extension.len; i++)
		hash = (hash ^ (unsigned char)extension.ptr[i]) * 16777619u;
	for (size_t i = hash ^ hash >> 15;; i++) {
		struct entry *slot = &mime->slots[i & (mime->slot_count - 1)];

		if (!slot->extension.ptr || eddy_str_eq(slot->extension, extension))
			return slot;
	}
}

static bool table_grow(struct eddyi_mime *mime)
{
	size_t old_count = mime->slot_count;
	struct entry *old = mime->slots;

	mime->slot_count = old_count ? 2 * old_count : 256;
	mime->slots = calloc(mime->slot_count, sizeof(*mime->slots));
	if (!mime->slots) {
		mime->slots = old;
		mime->slot_count = old_count;
		return false;
	}
	for (size_t i = 0; i < old_count; i++)
		if (old[i].extension.ptr)
			*slot_of(mime, old[i].extension) = old[i];
	free(old);
	return true;
}

/* Set the type of `extension`, also if it has one. Return: false on allocation failure. */
static bool table_set(struct eddyi_mime *mime, struct eddy_str extension, struct eddy_str type)
{
	char buffer[EDDYI_MIME_EXTENSION_LEN_MAX];
	struct entry *slot;

	if (!extension.len || extension.len > EDDYI_MIME_EXTENSION_LEN_MAX)
		return true;
	if (2 * (mime->entry_count + 1) > mime->slot_count && !table_grow(mime))
		return false;
	extension = lowered(extension, buffer);
	slot = slot_of(mime, extension);
	if (!slot->extension.ptr) {
		if (mime->entry_count == EDDYI_MIME_EXTENSIONS_MAX)
			return true;
		extension = eddyi_arena_dup(&mime->arena, extension);
		if (!extension.ptr)
			return false;
		slot->extension = extension;
		mime->entry_count++;
	}
	slot->type = type;
	return true;
}

/* Whether a text is a valid "type/subtype". */
static bool is_type(struct eddy_str text)
{
	struct eddy_str subtype = text, type;

	return eddy_str_split(&subtype, '/', &type) && eddyi_syntax_is_token(type) && subtype.ptr &&
	       eddyi_syntax_is_token(subtype);
}

/* Take the next word of a line, up to a comment or NUL. */
static bool take_word(struct eddy_str *rest, struct eddy_str *ret_word)
{
	size_t len = 0;

	while (rest->len && (rest->ptr[0] == ' ' || rest->ptr[0] == '\t' || rest->ptr[0] == '\r'))
		*rest = eddy_str_skip(*rest, 1);
	while (len < rest->len && !strchr(" \t\r#", rest->ptr[len])) /* also stops at NUL */
		len++;
	*ret_word = eddy_str(rest->ptr, len);
	*rest = eddy_str_skip(*rest, len);
	return len > 0;
}

/* Parse "type/subtype extension…", and skip other lines. */
static bool table_add_line(struct eddyi_mime *mime, struct eddy_str line)
{
	struct eddy_str word, type = { 0 };

	if (!take_word(&line, &word) || !is_type(word))
		return true;
	if (eddy_str_eq_z(word, "application/javascript") ||
	    eddy_str_eq_z(word, "application/x-javascript"))
		word = eddy_str_from("text/javascript");
	for (struct eddy_str extension; take_word(&line, &extension);) {
		if (!type.ptr)
			type = eddyi_arena_printf(
				&mime->arena, "%.*s%s", EDDY_FMT(word),
				eddy_str_starts(word, EDDY_STR("text/")) ? "; charset=utf-8" : "");
		if (!type.ptr || !table_set(mime, extension, type))
			return false;
	}
	return true;
}

static bool table_add_lines(struct eddyi_mime *mime, struct eddy_str text)
{
	struct eddy_str line;

	while (eddy_str_split(&text, '\n', &line))
		if (!table_add_line(mime, line))
			return false;
	return true;
}

/* Read a small file. Return: .ptr NULL on failure. */
static struct eddy_str read_file(const char *path)
{
	int fd = eddyi_open_now(path, O_RDONLY | O_CLOEXEC, 0);
	char *bytes = fd < 0 ? NULL : malloc(EDDYI_MIME_FILE_MAX);
	ssize_t len = bytes ? eddyi_read_now(fd, bytes, EDDYI_MIME_FILE_MAX) : 0;

	if (fd >= 0)
		eddyi_close_now(fd);
	return eddy_str(bytes, len > 0 ? (size_t)len : 0);
}

struct eddyi_mime *eddyi_mime_new(const char *path)
{
	struct eddyi_mime *mime = calloc(1, sizeof(*mime));
	struct eddy_str text = { 0 };
	bool done = mime != NULL;

	for (size_t i = 0; done && i < sizeof(builtin) / sizeof(*builtin); i++)
		done = table_add_line(mime, eddy_str_from(builtin[i]));
	if (done && path)
		text = read_file(path);
	done = done && table_add_lines(mime, text);
	free((char *)text.ptr);
	if (done)
		return mime;
	eddyi_mime_free(mime);
	return NULL;
}

void eddyi_mime_free(struct eddyi_mime *mime)
{
	if (!mime)
		return;
	eddyi_arena_deinit(&mime->arena);
	free(mime->slots);
	free(mime);
}

struct eddy_str eddyi_mime_of(const struct eddyi_mime *mime, struct eddy_str name)
{
	static const struct eddy_str unknown = { "application/octet-stream", 24 };
	char buffer[EDDYI_MIME_EXTENSION_LEN_MAX];
	const struct entry *entry;
	size_t at = name.len;

	while (at && name.ptr[at - 1] != '.' && name.ptr[at - 1] != '/')
		at--;
	if (at < 2 || name.ptr[at - 1] != '.' || name.ptr[at - 2] == '/' || at == name.len ||
	    name.len - at > sizeof(buffer))
		return unknown;
	entry = slot_of(mime, lowered(eddy_str_skip(name, at), buffer));
	return entry->extension.ptr ? entry->type : unknown;
}
