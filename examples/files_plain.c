/* The page for browsers without JavaScript: plain.html with the list and an upload form. */
#include "files.h"

#include "page/page.h"

#include <eddy/upload.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

/* Copy a template up to a comment, or skip it if `out` is NULL. Return: the rest. */
static const char *copy_until(FILE *out, const char *from, const char *comment)
{
	const char *to = strstr(from, comment);

	if (out)
		fwrite(from, 1, (size_t)(to - from), out);
	return to + strlen(comment);
}

/* Write links to the folders that lead to one, and the folder's name. */
static void write_title(FILE *out, const char *path)
{
	char part[PATH_MAX];

	fputs(path[0] ? "<a href=\"plain\">Files</a> / " : "Files", out);
	for (const char *at = path, *slash; (slash = strchr(at, '/')); at = slash + 1) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		fputs("<a href=\"plain?path=", out);
		files_write_path(out, part);
		fputs("\"><bdi>", out);
		files_write_text(out, part + (at - path));
		fputs("</bdi></a> / ", out);
	}
	fputs("<bdi>", out);
	files_write_text(out, strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
	fputs("</bdi>", out);
}

static void write_page(FILE *out, const struct files *files, const char *path, const json_t *list)
{
	const struct files_links links = { "files/", "plain?path=", path };
	const char *rest = page_files[PAGE_PLAIN].data;
	size_t count = json_array_size(list), i;
	const json_t *entry;

	rest = copy_until(out, rest, "<!-- name -->");
	files_write_text(out, path[0] ? path : "Files");
	rest = copy_until(out, rest, "<!-- title -->");
	write_title(out, path);
	rest = copy_until(out, rest, "<!-- count -->");
	fprintf(out, count == 1 ? "%zu entry" : "%zu entries", count);
	rest = copy_until(out, rest, "<!-- form -->");
	rest = copy_until(files_may_change(files) ? out : NULL, rest, "<!-- action -->");
	if (files_may_change(files))
		files_write_path(out, path);
	rest = copy_until(files_may_change(files) ? out : NULL, rest, "<!-- list -->");
	rest = copy_until(count ? out : NULL, rest, "<!-- rows -->");
	json_array_foreach(list, i, entry) files_write_row(out, entry, &links);
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

/* Get the folder of a request. Return: 0, -ENOENT if it is not public, -errno. */
static int folder_of(struct eddy_req *req, struct eddy_str *ret_path)
{
	int r;

	*ret_path = EDDY_STR("");
	r = eddy_req_query_get(req, "path", ret_path);
	if (r < 0 && r != -ENOENT)
		return r;
	return eddy_path_is_public(*ret_path) ? 0 : -ENOENT;
}

int files_plain(struct eddy_req *req, struct eddy_res *res)
{
	static const struct files_format format = { "text/html; charset=utf-8", write_page };
	struct eddy_str path;
	int r;

	if (has_slash_behind(req))
		return eddy_res_redirect(res, 308, eddy_str_from("../plain"));
	r = folder_of(req, &path);
	if (r < 0)
		return r;
	files_page_fields(res);
	return files_send_list(req, res, &format, path);
}

int files_plain_post(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str path, query = eddy_req_query(req);
	struct eddy_saved *saved;
	char *back;
	ssize_t count;
	int r;

	if (has_slash_behind(req))
		return eddy_res_redirect(res, 308, eddy_str_from("../plain"));
	r = folder_of(req, &path);
	if (r < 0)
		return r;
	count = files_save_form(req, path, &saved);
	if (count < 0)
		return files_refused(res, (int)count);
	back = eddy_req_alloc(req, sizeof("plain?") + query.len);
	if (!back)
		return -ENOMEM;
	sprintf(back, "plain%s%.*s", path.len ? "?" : "", path.len ? (int)query.len : 0, query.ptr);
	return eddy_res_redirect(res, 303, eddy_str_from(back));
}

static const char *in_words(int status)
{
	switch (status) {
	case 403:
		return "The server does not allow this.";
	case 404:
		return "There is no such folder.";
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
	files_write_text(out, detail ? detail : "");
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
