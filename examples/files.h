/* files.h: the parts of the program `files`, a file server for one folder. */
#ifndef FILES_H
#define FILES_H

#include <eddy/http.h>
#include <dirent.h>
#include <eddy/upload.h>
#include <stdio.h>
#include <sys/stat.h>

struct ifaddrs;

/* Smaller pieces of an upload would cost more than they carry. */
#define FILES_APPEND_MIN 32

struct files {
	struct eddy_app *app;
	int dir;                      /* the folder */
	const char *path;             /* as the user typed it */
	const char *bind;             /* the address, as the user typed it */
	bool secure;                  /* HTTPS */
	bool no_upload;               /* reject all changes */
	bool unwritable;              /* the server could not write to the folder at the start */
	bool insecure_login;          /* passwords may be sent without encryption */
	struct eddy_uploads *uploads; /* NULL: reject all */
	uint64_t upload_age;          /* seconds that an incomplete upload is kept */
	uint64_t append_max;          /* bytes of one request of an upload in pieces; 0: no limit */
	uint64_t max_size;            /* of an upload in bytes; EDDY_NEVER: no limit */
	struct files_login *login;    /* who may use the server; NULL: everyone */
	struct ifaddrs *addresses;    /* of this machine, for files_greet(); NULL: unknown */
};

/* Whether the pages offer uploads and deletions. */
static inline bool files_may_change(const struct files *files)
{
	return !files->no_upload && !files->unwritable;
}

/* ---- paths beneath the folder (files_path.c) ----
 *
 * A path has no slash at its end, and is empty for the folder itself. Symbolic links are followed
 * only if they stay inside. */

/* Open an entry. Suspends. Return: a descriptor; -ENOENT, also if the path leads outside;
 * -errno. */
int files_open(const struct files *files, const char *path, int flags);

/* Where an entry is. */
struct files_place {
	const struct files *files;
	const char *path; /* of the entry */
	const char *name; /* its last segment */
	int dir;          /* the folder that it is in */
};

/* Open the folder of an entry, which need not exist. `path` is not empty, and used until the place
 * is closed. Suspends. Return: 0, -ENOENT if there is no such folder, -errno. */
int files_place_open(const struct files *files, char *path, struct files_place *ret_place);
void files_place_close(struct files_place *place);

struct files_kind {
	bool is_folder;
	bool is_link; /* to a file or folder inside */
};

/* Get the kind of an entry. Suspends. Return: 0, -ENOENT if it is not listed, -errno. */
int files_place_look(const struct files_place *place, struct files_kind *ret_kind);

/* ---- folders (files_folder.c) ---- */

/* An entry of a folder: a regular file or a folder, maybe by a link. */
struct files_entry {
	struct dirent *dirent; /* .d_name */
	uint64_t size;
	time_t mtime;
	mode_t mode; /* of the link's target, as the others */
	bool is_link;
	bool is_unreadable; /* to the server */
};

struct files_entries {
	struct files_entry *entries; /* sorted by name */
	size_t count;
};

/* Read the public entries of a folder; `checks`: find out .is_unreadable. Suspends. Free them by
 * files_entries_free(), also on an error.
 * Return: 0; -ENOENT if there is no such folder; -errno. */
int files_read(const struct files *files, const char *path, bool checks,
	       struct files_entries *ret_entries);
void files_entries_free(struct files_entries *entries);

/* Redirect to a folder by 301, with a slash at the end of its path. Suspends.
 * Return: -ENOENT if there is no such folder; as a handler. */
int files_to_folder(struct eddy_req *req, struct eddy_res *res, struct eddy_str path);

/* PUT and DELETE /files/{path}/ */
int files_folder_make(struct eddy_req *req, struct eddy_res *res, struct eddy_str path);
int files_folder_remove(struct eddy_req *req, struct eddy_res *res, struct eddy_str path);

/* ---- lists (files_list.c) ---- */

/* Write `list`, the array of GET /api/files, which is sorted by name. Runs on the offload pool. */
typedef void files_write_fn(FILE *out, const struct files *files, const char *path,
			    const json_t *list);

/* A format of lists; a static variable. */
struct files_format {
	const char *type; /* its media type */
	files_write_fn *write;
};

/* Send the list of a folder as the response. Concurrent requests share the work. Suspends. */
int files_send_list(struct eddy_req *req, struct eddy_res *res, const struct files_format *format,
		    struct eddy_str path);

/* GET /files/{path}/: the list, as JSON if the client prefers that */
int files_send_index(struct eddy_req *req, struct eddy_res *res, struct eddy_str path);

/* Get the folder that ?path= names; without it, the folder that is served.
 * Return: 0, -ENOENT if it is not public, -errno. */
int files_folder_of(struct eddy_req *req, struct eddy_str *ret_path);

/* GET /api/files */
int files_api(struct eddy_req *req, struct eddy_res *res);

/* GET /api/events */
int files_events(struct eddy_req *req, struct eddy_res *res);

/* ---- other routes ---- */

/* GET /files/{path}/?zip, and ?zip&name=A&name=B for some entries of the folder */
int files_zip(struct eddy_req *req, struct eddy_res *res, struct eddy_str path);

/* POST /api/move */
int files_move(struct eddy_req *req, struct eddy_res *res);

/* GET / and GET /page/{name} */
int files_index(struct eddy_req *req, struct eddy_res *res);
int files_asset(struct eddy_req *req, struct eddy_res *res);

/* Set the header fields of every page: content security policy, caching, referrer policy. */
void files_page_fields(struct eddy_res *res);

/* GET and POST /plain?path=SUB: a folder's list and a form for browsers without JavaScript, and its
 * error page. */
int files_plain(struct eddy_req *req, struct eddy_res *res);
int files_plain_post(struct eddy_req *req, struct eddy_res *res);
int files_plain_error(struct eddy_req *req, struct eddy_res *res, int status, const char *detail);

/* ---- HTML (files_html.c) ---- */

/* Write text and a segment of a URL, escaped. The text is UTF-8. */
void files_write_text(FILE *out, const char *text);
void files_write_url(FILE *out, const char *name);

/* Write a path as that of a URL. */
void files_write_path(FILE *out, const char *path);

/* The links of a list's entries begin with one of these, and the path of the folder follows. */
struct files_links {
	const char *files, *folders;
	const char *path;
};

/* Write a row of a table for an entry of a list. */
void files_write_row(FILE *out, const json_t *entry, const struct files_links *links);

/* The index of a folder, for programs that follow links. */
extern const struct files_format files_html;

/* ---- changes ---- */

/* Save the files of a form into a folder. Suspends.
 * Return: how many; -ENOENT if there is no such folder; otherwise as eddy_req_save_all(). */
ssize_t files_save_form(struct eddy_req *req, struct eddy_str path, struct eddy_saved **ret_saved);

/* Answer a failed change: 403 if the server may not write to the folder. Return: as a handler. */
int files_refused(struct eddy_res *res, int error);

/* Filters: files_harden() sets nosniff, files_ask() wants a login if there is one, files_guard()
 * rejects changes under --no-upload. */
int files_harden(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res);
int files_ask(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res);
int files_guard(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res);

/* Read a file of lines NAME:PASSWORD. Exits with 2 if it can't be used. */
struct files_login *files_login_load(const char *path);
void files_login_free(struct files_login *login);

/* ---- the start (files_start.c) ---- */

/* Check the server's permissions in the folder, and that passwords are sent encrypted or within
 * this machine. Exits with 1 or 2 otherwise. */
void files_check(struct files *files);

/* Collect the addresses for files_greet(), before the sandbox forbids it. */
void files_look_around(struct files *files);

/* A task of the app: print folder, URLs and permissions on stdout, and log what is risky. `arg` is
 * the struct files. */
int files_greet(void *arg);

/* Print advice if listening failed; the log record has the reason. */
void files_advise(const struct files *files, int error);

#endif
