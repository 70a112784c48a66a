/* files.h: the parts of the program `files`, a file server for one folder. */
#ifndef FILES_H
#define FILES_H

#include <eddy/http.h>
#include <pthread.h>
#include <stdio.h>

struct ifaddrs;

struct files {
	struct eddy_app *app;
	int dir;                   /* the folder */
	const char *path;          /* as the user typed it */
	const char *bind;          /* the address, as the user typed it */
	bool secure;               /* HTTPS */
	bool no_upload;            /* reject all changes */
	bool unwritable;           /* the server could not write to the folder at the start */
	uint64_t max_size;         /* of an upload in bytes; EDDY_NEVER: no limit */
	struct ifaddrs *addresses; /* of this machine, for files_greet(); NULL: unknown */
};

/* Whether the pages offer uploads and deletions. */
static inline bool files_may_change(const struct files *files)
{
	return !files->no_upload && !files->unwritable;
}

/* Whether a file of this name is listed, sent and accepted: not hidden, and not in a subfolder. */
bool files_name_is_public(struct eddy_str name);

/* Write `list`, the array of GET /api/files, which is sorted by name. Runs on the offload pool. */
typedef void files_write_fn(FILE *out, const struct files *files, const json_t *list);

/* The list in one format; a static variable. Concurrent requests share the work. */
struct files_list {
	const char *type; /* its media type */
	files_write_fn *write;
	pthread_mutex_t lock;
	struct listing *next;    /* private */
	struct listing *current; /* private */
	struct text *last;       /* private: the latest text, while it is in memory */
	size_t texts;            /* private */
};

/* Send the list as the response. Suspends. */
int files_send_list(struct eddy_req *req, struct eddy_res *res, struct files_list *list);

/* Return: the options for every upload. */
struct eddy_save_options files_save_options(struct eddy_req *req);

/* Answer a failed change: 403 if the server may not write to the folder. Return: as a handler. */
int files_refused(struct eddy_res *res, int error);

/* Filters: files_harden() sets nosniff, files_guard() rejects changes under --no-upload. */
int files_harden(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res);
int files_guard(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res);

/* GET /api/files */
int files_api(struct eddy_req *req, struct eddy_res *res);

/* GET / and GET /page/{name} */
int files_index(struct eddy_req *req, struct eddy_res *res);
int files_asset(struct eddy_req *req, struct eddy_res *res);

/* Set the header fields of every page: content security policy, caching, referrer policy. */
void files_page_fields(struct eddy_res *res);

/* GET and POST /plain: the list and a form for browsers without JavaScript, and its error page. */
int files_plain(struct eddy_req *req, struct eddy_res *res);
int files_plain_post(struct eddy_req *req, struct eddy_res *res);
int files_plain_error(struct eddy_req *req, struct eddy_res *res, int status, const char *detail);

/* Whether the server is reachable from this machine only. */
bool files_is_local(const struct files *files);

/* Check the server's permissions in the folder. Exits with 1 if it can't read files. */
void files_check(struct files *files);

/* Collect the addresses for files_greet(), before the sandbox forbids it. */
void files_look_around(struct files *files);

/* A task of the app: print folder, URLs and permissions on stdout. `arg` is the struct files. */
int files_greet(void *arg);

/* Print advice if listening failed; the log record has the reason. */
void files_advise(const struct files *files, int error);

#endif
