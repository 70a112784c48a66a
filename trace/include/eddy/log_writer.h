/* eddy/log_writer.h: log records written by a thread, so that no loop waits for a disk or terminal.
 *
 *     eddy_log_writer_subscribe(&(struct eddy_log_writer_options){ .path = "/var/log/shop.log" });
 *
 * A record is formatted on the thread that emits it and copied into a buffer. If the buffer is
 * full, the record is dropped and counted. The rest is written when the program ends, within 1 s.
 */
#ifndef EDDY_LOG_WRITER_H
#define EDDY_LOG_WRITER_H

#include <eddy/log.h>

EDDY_BEGIN_DECLS

enum eddy_log_format {
	EDDY_LOG_FORMAT_ENV,  /* the environment's EDDY_LOG_FORMAT, `text` or `json`; else text */
	EDDY_LOG_FORMAT_TEXT, /* as eddy_log_text_subscribe() writes it */
	EDDY_LOG_FORMAT_JSON, /* an object per line: time, level, target, message, fields */
	EDDY_LOG_FORMAT_NONE, /* no output; formats nothing unless eddy_log_set_filter() asks */
};

/* Where log records go. A zero field takes its default. */
struct eddy_log_writer_options {
	const char *path; /* file to append to, created if missing; copied; default: stderr */
	enum eddy_log_format format;
	size_t buffer; /* bytes; default 1 MiB, at least 64 KiB */
};

/* Subscribe a thread that writes log records. There is one subscriber at a time. Never suspends.
 * Return: 0; -EBUSY if there is a subscriber; -EAGAIN if no thread can be started; -ENOMEM, or as
 * open(2). */
EDDY_API int eddy_log_writer_subscribe(const struct eddy_log_writer_options *options);

/* Unsubscribe, and wait up to a second until the rest is written. Blocks the thread. */
EDDY_API void eddy_log_writer_unsubscribe(void);

/* Wait until all records so far are written or lost, for at most `timeout_ns`. Blocks the thread.
 * Return: 0; -ETIMEDOUT. */
EDDY_API int eddy_log_writer_flush(uint64_t timeout_ns);

/* Reopen the file at the next record, as after log rotation. Any thread may call it. */
EDDY_API void eddy_log_writer_reopen(void);

/* Count the records lost since the program started: the buffer was full, or writing failed. */
EDDY_API uint64_t eddy_log_writer_dropped(void);

EDDY_END_DECLS

#endif
