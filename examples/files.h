/* files.h: the parts of the program `files`: a folder on the wire. */
#ifndef FILES_H
#define FILES_H

#include <eddy/http.h>
#include <pthread.h>
#include <stdio.h>

struct ifaddrs;

struct files {
	struct eddy_app *app;
	int dir;                   /* the folder */
	const char *path;          /* as it was typed, as is */
	const char *bind;          /* where it is served, */
	bool secure;               /* by HTTPS */
	bool no_upload;            /* nobody may change anything */
	bool unwritable;           /* nor could the server itself, when it was started */
	uint64_t max_size;         /* of an upload in bytes; EDDY_NEVER is no limit */
	struct ifaddrs *addresses; /* of this machine, for files_greet(); NULL: not known */
};

/* Whether people are to be offered what changes the folder. */
static inline bool files_may_change(const struct files *files)
{
	return !files->no_upload && !files->unwritable;
}

/* Whether a file of this name is shown, sent and taken: no hidden one, and none of a sub-folder. */
bool files_name_is_public(struct eddy_str name);

/* Write the list of the folder's files, by name, as the array of GET /api/files. On the offload pool. */
typedef void files_write_fn(FILE *out, const struct files *files, const json_t *list);

/* A list as it is sent, in one form; static. Requests that come at the same time share it. */
struct files_list {
	const char *type; /* its media type */
	files_write_fn *write;
	pthread_mutex_t lock;
	struct listing *next;    /* private */
	struct listing *current; /* private */
	struct text *last;       /* private: the text that was made last, while it is in memory */
	size_t texts;            /* private */
};

/* Answer with that. Suspends. */
int files_send_list(struct eddy_req *req, struct eddy_res *res, struct files_list *list);

/* What every upload is saved with. */
struct eddy_save_options files_save_options(struct eddy_req *req);

/* Say why the folder refused a change: what its owner has to mend is nothing that the client did. Return: as a handler. */
int files_refused(struct eddy_res *res, int error);

/* Filters: every answer is safe to show in a browser, and a folder without uploads is only read. */
int files_harden(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res);
int files_guard(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res);

/* GET /api/files */
int files_api(struct eddy_req *req, struct eddy_res *res);

/* GET / and GET /page/{name} */
int files_index(struct eddy_req *req, struct eddy_res *res);
int files_asset(struct eddy_req *req, struct eddy_res *res);

/* The fields of every page: the policy that it lives under, and whom it tells about itself. */
void files_page_fields(struct eddy_res *res);

/* GET and POST /plain: the list and a form, for browsers without JavaScript; errors of the form as a page. */
int files_plain(struct eddy_req *req, struct eddy_res *res);
int files_plain_post(struct eddy_req *req, struct eddy_res *res);
int files_plain_error(struct eddy_req *req, struct eddy_res *res, int status, const char *detail);

/* Whether only this machine reaches the server. */
bool files_is_local(const struct files *files);

/* See what the server may do in the folder. Exits with 1 where it may not even read files. */
void files_check(struct files *files);

/* Ask for what files_greet() says, and no sandbox lets it ask for. */
void files_look_around(struct files *files);

/* A task of the app: say on stdout what is served where, and how it ends. `arg` is the struct files. */
int files_greet(void *arg);

/* Say what to do about an address that could not be had, beside the record that says why. */
void files_advise(const struct files *files, int error);

#endif
