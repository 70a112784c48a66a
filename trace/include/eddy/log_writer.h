/* eddy/log_writer.h: records that are written by a thread of their own, so that no loop waits for a disk, a
 * pipe or a terminal.
 *
 *     eddy_log_writer_subscribe(&(struct eddy_log_writer_options){ .path = "/var/log/shop.log" });
 *
 * A record is formatted where it is emitted, and its line put into a buffer; when the buffer is full the
 * record is dropped and counted. What is left at the end of the program is written then, for a second at
 * most.
 */
#ifndef EDDY_LOG_WRITER_H
#define EDDY_LOG_WRITER_H

#include <eddy/log.h>

EDDY_BEGIN_DECLS

enum eddy_log_format {
	EDDY_LOG_FORMAT_ENV, /* what EDDY_LOG_FORMAT says, `text` or `json`; text when it says neither */
	EDDY_LOG_FORMAT_TEXT, /* as eddy_log_text_subscribe() writes it */
	EDDY_LOG_FORMAT_JSON, /* an object a line: time, level, target, message, fields */
	EDDY_LOG_FORMAT_NONE, /* nothing: no record is even formatted, unless eddy_log_set_filter() asks */
};

/* Every field: 0 or NULL means its default. */
struct eddy_log_writer_options {
	const char *
		path; /* of a file to append to, made where it is missing; default: stderr; copied */
	enum eddy_log_format format;
	size_t buffer; /* bytes that may wait; default 1 MiB; at least 64 KiB */
};

/* Subscribe, and start the thread. One at a time. Never suspends.
 * Return: 0; -EBUSY when there is a subscriber; -ENOMEM, -EAGAIN without a thread; those of open(2). */
EDDY_API int eddy_log_writer_subscribe(const struct eddy_log_writer_options *options);

/* Stop, and wait up to a second until what is left has been written. Blocks the thread. */
EDDY_API void eddy_log_writer_unsubscribe(void);

/* Wait until all that was emitted so far is written or lost, `timeout_ns` at most. Blocks the thread.
 * Return: 0, -ETIMEDOUT. */
EDDY_API int eddy_log_writer_flush(uint64_t timeout_ns);

/* Open the file anew, which has been renamed, at the next record. Any thread. */
EDDY_API void eddy_log_writer_reopen(void);

/* How many records were lost, ever: for want of room, or because they could not be written. */
EDDY_API uint64_t eddy_log_writer_dropped(void);

/* Write a record as a line of JSON, its newline included and without a NUL; bytes that are no UTF-8 become
 * U+FFFD, numbers past INT64_MAX strings, and what does not fit is left out. Return: its length. */
EDDY_API size_t eddy_log_format_json(const struct eddy_record *record,
				     char line[EDDY_LOG_LINE_MAX]);

EDDY_END_DECLS

#endif
