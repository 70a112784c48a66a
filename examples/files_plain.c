/* The page for browsers without JavaScript: plain.html with the list and an upload form. */
#include "files.h"

#include "page/page.h"

#include <eddy/upload.h>
#include <errno.h>
#include <stdlib.h>

/* Copy a template up to a comment, or skip it if `out` is NULL. Return: the rest. */
static const char *copy_until(FILE *out, const char *from, const char *comment)
{
	const char *to = strstr(from, comment);

	if (out)
		fwrite(from, 1, (size_t)(to - from), out);
	return to + strlen(comment);
}

/* Return: bytes of an invisible or direction-changing character at `at`; 0: none. See text.js. */
static size_t unseen_len(const unsigned char *at)
{
	if (at[0] < 0x20 || at[0] == 0x7f)
		return 1;
	if (at[0] == 0xc2 && at[1] < 0xa0)
		return 2;
	if ((at[0] == 0xe2 && at[1] == 0x80 && at[2] >= 0xa8 && at[2] <= 0xae) ||
	    (at[0] == 0xe2 && at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9) ||
	    (at[0] == 0xef && at[1] == 0xbb && at[2] == 0xbf))
		return 3;
	return 0;
}

/* Escape text for HTML. It is UTF-8 and ends with a NUL, where unseen_len() stops reading. */
static void write_text(FILE *out, const char *text)
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

static void write_url(FILE *out, const char *name)
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

static void write_row(FILE *out, const json_t *file)
{
	const char *name = json_string_value(json_object_get(file, "name"));
	const char *mtime = json_string_value(json_object_get(file, "mtime"));
	const char *quote = name[strspn(name, " ")] ?
				    "" :
				    "&quot;"; /* a name of blanks gets something to click */

	fputs("<tr role=\"row\"><td role=\"cell\" class=\"name\"><a download href=\"files/", out);
	write_url(out, name);
	fprintf(out, "\"><bdi>%s", quote);
	write_text(out, name);
	fprintf(out, "%s</bdi></a></td><td role=\"cell\" class=\"size\">", quote);
	write_size(out, (double)json_integer_value(json_object_get(file, "size")));
	fputs("</td><td role=\"cell\" class=\"date\">", out);
	fprintf(out, "<time datetime=\"%s\">%.10s %.5s</time></td></tr>\n", mtime, mtime,
		mtime + 11);
}

static void write_page(FILE *out, const struct files *files, const json_t *list)
{
	const char *rest = page_files[PAGE_PLAIN].data;
	size_t count = json_array_size(list), i;
	const json_t *file;

	rest = copy_until(out, rest, "<!-- count -->");
	fprintf(out, count == 1 ? "%zu file" : "%zu files", count);
	rest = copy_until(out, rest, "<!-- form -->");
	rest = copy_until(files_may_change(files) ? out : NULL, rest, "<!-- list -->");
	rest = copy_until(count ? out : NULL, rest, "<!-- rows -->");
	json_array_foreach(list, i, file) write_row(out, file);
	rest = copy_until(count ? out : NULL, rest, "<!-- end -->");
	if (!count)
		fputs("<p>There is no file in this folder.</p>", out);
	fputs(rest, out);
}

/* Links of the page are relative, for any prefix of a proxy. From "plain/" they would fail. */
static bool has_slash_behind(const struct eddy_req *req)
{
	struct eddy_str path = eddy_req_target_path(req);

	return path.ptr[path.len - 1] == '/';
}

int files_plain(struct eddy_req *req, struct eddy_res *res)
{
	static struct files_list list = {
		.type = "text/html; charset=utf-8",
		.write = write_page,
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};

	if (has_slash_behind(req))
		return eddy_res_redirect(res, 308, eddy_str_from("../plain"));
	files_page_fields(res);
	return files_send_list(req, res, &list);
}

int files_plain_post(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_save_options options = files_save_options(req);
	struct files *files = eddy_req_context(req);
	struct eddy_saved *saved;
	ssize_t count;

	if (has_slash_behind(req))
		return eddy_res_redirect(res, 308, eddy_str_from("../plain"));
	count = eddy_req_save_all(req, files->dir, &options, &saved);
	if (count < 0)
		return files_refused(res, (int)count);
	return eddy_res_redirect(res, 303, eddy_str_from("plain"));
}

static const char *in_words(int status)
{
	switch (status) {
	case 403:
		return "The server does not allow this.";
	case 408:
		return "The connection stalled for too long.";
	case 413:
		return "The file is too large for this server.";
	case 507:
		return "The server's disk is full.";
	default:
		return "The upload failed on the server.";
	}
}

int files_plain_error(struct eddy_req *req, struct eddy_res *res, int status, const char *detail)
{
	const char *rest = page_files[PAGE_FAILED].data;
	char *text = NULL, *copy;
	size_t len;
	FILE *out;

	if (!eddy_str_eq_z(eddy_req_target_path(req), "/plain"))
		return -ENOENT;
	out = open_memstream(&text, &len);
	if (!out)
		return -ENOMEM;
	rest = copy_until(out, rest, "<!-- why -->");
	fprintf(out, "%s (%d", in_words(status), status);
	fputs(detail ? ": " : "", out);
	write_text(out, detail ? detail : "");
	fprintf(out, ")%s", rest);
	fclose(out);
	copy = eddy_req_alloc(req, len);
	if (copy)
		memcpy(copy, text, len);
	free(text);
	files_page_fields(res);
	return copy ? eddy_res_bytes(res, "text/html; charset=utf-8", eddy_str(copy, len)) :
		      -ENOMEM;
}
