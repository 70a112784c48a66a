/* eddy/open_files.h: a cache that keeps frequently requested files open.
 *
 *     eddy_app_keep_files_open(app, dir);
 *
 * Opening and closing a small file takes about as long as sending it. So each loop keeps the
 * regular files that it sends open, with their header fields and, up to 8 KiB, their bytes: files
 * of trees (eddy/tree.h), and those that eddy_res_file_at() sends from folders named here.
 *
 * Each request checks the file, and looks it up again after any write, replacement, rename or
 * removal: responses are the same as without the cache. Files behind symbolic links are not kept.
 * These changes may show late, after .open_files_valid_ns (default 1 s) at most:
 * - a folder above the file is renamed, mounted over, or closed to this user
 * - a small file is written through a shared mapping (mmap(2)), or by a write(2) in progress
 * - the file system reports changes late (NFS), or keeps no change time (FAT)
 * A kept file is closed after that time; until then a removed one takes its space on the disk.
 *
 * .open_files_max limits the cache, .no_open_files disables it. When descriptors run out, the loop
 * that lacks one closes its kept files first.
 */
#ifndef EDDY_OPEN_FILES_H
#define EDDY_OPEN_FILES_H

#include <eddy/app.h>

EDDY_BEGIN_DECLS

/* Keep files open that eddy_res_file_at() sends from the folder `dir`. The descriptor is borrowed
 * for the app's life. eddy_app_run() reports one that is not a folder. */
EDDY_API void eddy_app_keep_files_open(struct eddy_app *app, int dir);

EDDY_END_DECLS

#endif
