/* log_file.h: the file that log lines are written to, with handling of write errors. */
#ifndef EDDYI_LOG_FILE_H
#define EDDYI_LOG_FILE_H

#include <eddy/base.h>

struct eddyi_log_file {
	char *path; /* NULL: stderr */
	int fd;
	bool torn; /* the last line is incomplete */
};

/* Open a file for appending, creating it if missing; NULL: stderr. Close it also on failure.
 * Return: 0; -ENOMEM, those of open(2). */
int eddyi_log_file_open(struct eddyi_log_file *file, const char *path);

void eddyi_log_file_close(struct eddyi_log_file *file);

/* Reopen the path; on failure the old file stays in use. */
void eddyi_log_file_reopen(struct eddyi_log_file *file);

/* Write whole lines. Blocks as long as the file does. Return: the number of lines lost. */
uint64_t eddyi_log_file_write(struct eddyi_log_file *file, const char *lines, size_t len);

#endif
