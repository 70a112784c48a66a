/* file.h: the files that responses are made of. */
#ifndef EDDYI_FILE_H
#define EDDYI_FILE_H

#include <eddy/res.h>

struct eddyi_found;

/* Open what `path` names beneath the folder, for reading and without waiting for anybody; `resolve` adds to how
 * (openat2(2)). What the loop keeps open is let go of where descriptors have run out. Suspends.
 * Return: a descriptor, of a folder or a device maybe; -ENOENT for all that can't be what was meant, but
 * -ELOOP for a link that `resolve` forbids, -ENOTDIR, -EACCES, -EMFILE, -errno. */
int eddyi_file_open(int dir, const char *path, uint64_t resolve);

/* As eddy_res_file_with(), with a file of eddyi_folder_find(), which is taken over. Of what is kept the fields are those
 * that were made at first: `name` and `options` are always the same with it. */
int eddyi_res_found(struct eddy_res *res, struct eddy_str name, const struct eddyi_found *found,
		    const struct eddy_file_options *options);

#endif
