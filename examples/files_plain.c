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

static bool is_file(const json_t *entry)
{
	return json_is_integer(json_object_get(entry, "size"));
}

static void write_page(FILE *out, const struct files *files, const char *path, const json_t *list)
{
	const char *rest = page_files[PAGE_PLAIN].data;
	size_t count = 0, i;
	const json_t *entry;

	(void)path;
	json_array_foreach(list, i, entry) count += is_file(entry);
	rest = copy_until(out, rest, "<!-- count -->");
	fprintf(out, count == 1 ? "%zu file" : "%zu files", count);
	rest = copy_until(out, rest, "<!-- form -->");
	rest = copy_until(files_may_change(files) ? out : NULL, rest, "<!-- list -->");
	rest = copy_until(count ? out : NULL, rest, "<!-- rows -->");
	json_array_foreach(list, i, entry)
	{
		if (is_file(entry))
			files_write_row(out, entry, "files/");
	}
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
	static const struct files_format format = { "text/html; charset=utf-8", write_page };

	if (has_slash_behind(req))
		return eddy_res_redirect(res, 308, eddy_str_from("../plain"));
	files_page_fields(res);
	return files_send_list(req, res, &format, EDDY_STR(""));
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
