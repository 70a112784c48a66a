/* files.h: the parts of the program `files`: a folder on the wire. */
#ifndef FILES_H
#define FILES_H

#include <eddy/http.h>

struct files {
	int dir; /* the folder */
	bool no_upload;
	uint64_t max_size; /* of an upload in bytes; EDDY_NEVER is no limit */
};

/* Whether a file of this name is shown, sent and taken: no hidden one, and none of a sub-folder. */
bool files_name_is_public(struct eddy_str name);

/* The list of the folder's files, by name. Blocks on the disk: runs
 * on the offload pool. Return: a new reference, NULL when memory is out or the folder is gone. */
json_t *files_list(int dir);

/* Filters: every answer is safe to show in a browser, and a folder without uploads is only read. */
int files_harden(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res);
int files_guard(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res);

/* GET / and GET /page/{name} */
int files_index(struct eddy_req *req, struct eddy_res *res);
int files_asset(struct eddy_req *req, struct eddy_res *res);

#endif
