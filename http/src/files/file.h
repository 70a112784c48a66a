/* file.h: responses from files. */
#ifndef EDDYI_FILE_H
#define EDDYI_FILE_H

#include <eddy/res.h>

struct eddyi_found;

/* Like eddy_res_file(), for a file of eddyi_folder_find(). Takes ownership of the file. The
 * fields of a kept file are made once, so its `name` and `options` must always be the same. */
int eddyi_res_found(struct eddy_res *res, struct eddy_str name, const struct eddyi_found *found,
		    const struct eddy_file_options *options);

#endif
