/* eddy/open_files.h: files that are asked for again and again stay open.
 *
 *     eddy_app_keep_files_open(app, dir);
 *
 * To find a small file by its name, open it, describe it and close it takes about as long as to send it. So a loop
 * keeps the regular files that it has sent open, with the fields that describe them and, of those of up to 8 KiB, their
 * bytes: those of trees (tree.h), and those that eddy_res_file_at() sends from folders that were named here.
 *
 * Each request still looks at the file: one that was written to, replaced, renamed or removed since, by whomever,
 * is looked up again, so that the answer is what it would be without this. Files that are reached by a
 * symbolic link are not kept. What can show late is that a folder above a file was renamed, mounted over or closed to
 * this user, what is written to a small file by way of a shared mapping (mmap(2)) or by a write(2) that goes on, and
 * changes on file systems that tell of them late (NFS) or keep no time of change (FAT): after .open_files_valid_ns
 * of eddy_server_options at the latest, a second by default, after which a kept file is closed. A file that was removed
 * takes its space on the disk until then.
 *
 * .open_files_max limits them, .no_open_files switches all of it off. When descriptors run out, the loop that
 * lacks one closes its own first.
 */
#ifndef EDDY_OPEN_FILES_H
#define EDDY_OPEN_FILES_H

#include <eddy/app.h>

EDDY_BEGIN_DECLS

/* Keep what eddy_res_file_at() sends from the folder `dir` open. The descriptor is borrowed, and names this folder
 * for as long as the app lives; one that is none is a mistake that run reports. */
EDDY_API void eddy_app_keep_files_open(struct eddy_app *app, int dir);

EDDY_END_DECLS

#endif
