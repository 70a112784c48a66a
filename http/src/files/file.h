/* file.h: the files that responses are made of. */
#ifndef EDDYI_FILE_H
#define EDDYI_FILE_H

#include <eddy/res.h>

struct eddyi_found;

/* As eddy_res_file(), with a file of eddyi_folder_find(), which is taken over. Of what is kept the fields are those
 * that were made at first: `name` and `options` are always the same with it. */
int eddyi_res_found(struct eddy_res *res, struct eddy_str name, const struct eddyi_found *found,
		    const struct eddy_file_options *options);

#endif
