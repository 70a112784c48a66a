/* The list of the folder, for programs; files_plain.c has the one for people. */
#include "files.h"

#include <eddy/offload.h>
#include <errno.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static json_t *describe(int dir, const char *name)
{
	char date[32];
	struct stat st;
	struct tm tm;

	if (!files_name_is_public(eddy_str_from(name)) ||
	    fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return NULL;
	if (!gmtime_r(&st.st_mtim.tv_sec, &tm) ||
	    !strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &tm))
		return NULL;
	/* NULL also for a name that is not UTF-8: JSON can't say it. */
	return json_pack("{s:s, s:I, s:s}", "name", name, "size", (json_int_t)st.st_size, "mtime",
			 date);
}

static int list_folder(int dir, json_t *list)
{
	struct dirent **entries;
	int count = scandirat(dir, ".", &entries, NULL, alphasort);

	if (count < 0)
		return -errno;
	for (int i = 0; i < count; i++) {
		json_t *file = describe(dir, entries[i]->d_name);

		if (file)
			json_array_append_new(list, file);
		free(entries[i]);
	}
	free(entries);
	return 0;
}

struct listing {
	const struct files *files;
	files_write_fn *write;
	char *text;
	size_t len;
};

/* On the offload pool: the disk may be slow, and the list of a large folder takes its time also as text. */
static int make_listing(void *arg)
{
	struct listing *listing = arg;
	FILE *out = open_memstream(&listing->text, &listing->len);
	json_t *list = json_array();
	int r = out && list ? list_folder(listing->files->dir, list) : -ENOMEM;

	if (r == 0)
		listing->write(out, listing->files, list);
	if (r == 0 && ferror(out))
		r = -ENOMEM;
	if (out && fclose(out) != 0 && r == 0)
		r = -ENOMEM;
	json_decref(list);
	return r;
}

static int send_listing(struct eddy_req *req, struct eddy_res *res, const char *type,
			const struct listing *listing)
{
	char *text = eddy_req_alloc(req, listing->len);

	if (!text)
		return -ENOMEM;
	memcpy(text, listing->text, listing->len);
	eddy_res_set_z(res, "cache-control", "no-cache");
	return eddy_res_bytes(res, type, eddy_str(text, listing->len));
}

int files_send_list(struct eddy_req *req, struct eddy_res *res, const char *type,
		    files_write_fn *write)
{
	struct listing listing = { .files = eddy_req_context(req), .write = write };
	int r = eddy_offload(make_listing, &listing);

	if (r == 0)
		r = send_listing(req, res, type, &listing);
	else if (r != -ENOMEM && r != -ECANCELED)
		r = eddy_res_problem(res, 503, "the folder can't be read: %s", strerror(-r));
	free(listing.text);
	return r;
}

static void write_json(FILE *out, const struct files *files, const json_t *list)
{
	(void)files;
	fputs("{\"files\":", out);
	json_dumpf(list, out, JSON_COMPACT);
	fputc('}', out);
}

int files_api(struct eddy_req *req, struct eddy_res *res)
{
	return files_send_list(req, res, "application/json", write_json);
}
