/* log_file.h: where lines of a log go, whatever becomes of the disk. */
#ifndef EDDYI_LOG_FILE_H
#define EDDYI_LOG_FILE_H

#include <eddy/base.h>

struct eddyi_log_file {
	char *path; /* NULL: stderr */
	int fd;
	bool torn; /* the last line was written in part */
};

/* Open it to append, and make it where it is missing; NULL: stderr. To be closed whatever comes of it.
 * Return: 0, -ENOMEM, those of open(2). */
int eddyi_log_file_open(struct eddyi_log_file *file, const char *path);

void eddyi_log_file_close(struct eddyi_log_file *file);

/* Open anew what stands under its path now; where that fails go on with the old one. */
void eddyi_log_file_reopen(struct eddyi_log_file *file);

/* Write whole lines. Blocks for as long as the file does. Return: how many were lost. */
uint64_t eddyi_log_file_write(struct eddyi_log_file *file, const char *lines, size_t len);

#endif
