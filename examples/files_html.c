/* HTML: escaped text, rows of tables, and the index of a folder. */
#include "files.h"

#include <limits.h>
#include <string.h>

/* Return: bytes of an invisible or direction-changing character at `at`; 0: none. See text.js. */
static size_t unseen_len(const unsigned char *at)
{
	if (at[0] < 0x20 || at[0] == 0x7f)
		return 1;
	if (at[0] == 0xc2 && at[1] < 0xa0)
		return 2;
	if (at[0] == 0xd8 && at[1] == 0x9c)
		return 2;
	if ((at[0] == 0xe2 && at[1] == 0x80 &&
	     (at[2] == 0x8b || at[2] == 0x8e || at[2] == 0x8f ||
	      (at[2] >= 0xa8 && at[2] <= 0xae))) ||
	    (at[0] == 0xe2 && at[1] == 0x81 && at[2] >= 0xa0 && at[2] <= 0xaf) ||
	    (at[0] == 0xef && at[1] == 0xbb && at[2] == 0xbf))
		return 3;
	return 0;
}

/* Escape text for HTML. It is UTF-8 and ends with a NUL, where unseen_len() stops reading. */
void files_write_text(FILE *out, const char *text)
{
	for (const char *at = text; *at;) {
		size_t unseen = unseen_len((const unsigned char *)at);

		if (unseen)
			fputs("\xef\xbf\xbd", out);
		else if (strchr("&<>\"'", *at))
			fprintf(out, "&#%d;", *at);
		else
			fputc(*at, out);
		at += unseen ? unseen : 1;
	}
}

void files_write_url(FILE *out, const char *name)
{
	static const char unreserved[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
					 "0123456789-._~";

	for (; *name; name++) {
		if (strchr(unreserved, *name))
			fputc(*name, out);
		else
			fprintf(out, "%%%02X", (unsigned char)*name);
	}
}

void files_write_path(FILE *out, const char *path)
{
	for (const char *slash; (slash = strchrnul(path, '/')), *path;
	     path = slash + (*slash == '/')) {
		char name[NAME_MAX + 1];

		snprintf(name, sizeof(name), "%.*s", (int)(slash - path), path);
		files_write_url(out, name);
		if (*slash)
			fputc('/', out);
	}
}

static void write_size(FILE *out, double bytes)
{
	static const char *const units[] = { "kB", "MB", "GB", "TB", "PB" };
	size_t unit = 0;

	if (bytes < 999.5) {
		fprintf(out, bytes == 1 ? "%.0f byte" : "%.0f bytes", bytes);
		return;
	}
	for (bytes /= 1000; bytes >= 999.5 && unit < 4; unit++)
		bytes /= 1000;
	fprintf(out, "%.3g %s", bytes, units[unit]);
}

void files_write_row(FILE *out, const json_t *entry, const struct files_links *links)
{
	const char *name = json_string_value(json_object_get(entry, "name"));
	const char *mtime = json_string_value(json_object_get(entry, "mtime"));
	const json_t *size = json_object_get(entry, "size");
	const char *slash = json_is_null(size) ? "/" : "";
	const char *quote = name[strspn(name, " ")] ?
				    "" :
				    "&quot;"; /* a name of blanks gets something to click */

	fprintf(out, "<tr role=\"row\"><td role=\"cell\" class=\"name\"><a%s href=\"%s",
		slash[0] ? "" : " download", slash[0] ? links->folders : links->files);
	files_write_path(out, links->path);
	fputs(links->path[0] ? "/" : "", out);
	files_write_url(out, name);
	fprintf(out, "%s\"><bdi>%s", slash, quote);
	files_write_text(out, name);
	fprintf(out, "%s</bdi>%s</a></td><td role=\"cell\" class=\"size\">", quote, slash);
	if (!slash[0])
		write_size(out, (double)json_integer_value(size));
	fputs("</td><td role=\"cell\" class=\"date\">", out);
	fprintf(out, "<time datetime=\"%s\">%.10s %.5s</time></td></tr>\n", mtime, mtime,
		mtime + 11);
}

/* Without style sheets and anything else that wget -r would fetch as well. */
static void write_index(FILE *out, const struct files *files, const char *path, const json_t *list)
{
	static const struct files_links links = { "", "", "" };
	const json_t *entry;
	size_t i;

	(void)files;
	fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
	      out);
	files_write_text(out, path);
	fputs("/</title>\n</head>\n<body>\n<h1><bdi>", out);
	files_write_text(out, path);
	fputs("/</bdi></h1>\n", out);
	if (path[0])
		fputs("<p><a href=\"../\">Parent folder</a></p>\n", out);
	fputs("<table role=\"table\">\n", out);
	json_array_foreach(list, i, entry) files_write_row(out, entry, &links);
	fputs("</table>\n</body>\n</html>\n", out);
}

const struct files_format files_html = { "text/html; charset=utf-8", write_index };
