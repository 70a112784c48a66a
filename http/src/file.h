/* file.h: the files that responses are made of. */
#ifndef EDDYI_FILE_H
#define EDDYI_FILE_H

/* Open what `path` names beneath the folder, for reading and without waiting for anybody. Suspends.
 * Return: a descriptor, of a folder or a device maybe; -ENOENT for all that can't be what was meant,
 * -ENOTDIR, -EACCES, -EMFILE, -errno. */
int eddyi_file_open(int dir, const char *path);

#endif
