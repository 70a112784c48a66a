/* h2_output.h: the frames that a session sends, gathered in one buffer. */
#ifndef EDDYI_H2_OUTPUT_H
#define EDDYI_H2_OUTPUT_H

#include "h2.h"

/* The most data of a frame, by a copy or without one: larger ones delay other streams. */
#define EDDYI_H2_DATA_MAX (16 * EDDY_KIB)
#define EDDYI_H2_BULK_MAX (256 * EDDY_KIB)

void eddyi_h2_output_init(struct eddyi_h2 *h2);
void eddyi_h2_output_deinit(struct eddyi_h2 *h2);

/* Have the session write its frames into the output, as far as there is room. Never suspends. */
void eddyi_h2_output_pack(struct eddyi_h2 *h2);

/* Whether nothing is left to be packed or sent. */
bool eddyi_h2_output_is_empty(const struct eddyi_h2 *h2);

/* Send the output, now or after the other tasks of this turn. Never suspends. */
void eddyi_h2_output_send(struct eddyi_h2 *h2);
void eddyi_h2_output_send_soon(struct eddyi_h2 *h2);

/* Resume a stream that the session has deferred, as its source has bytes or the end. */
void eddyi_h2_output_resume(struct eddyi_h2_stream *stream);

/* Reads the source of a stream, as the session asks for it. */
ssize_t eddyi_h2_output_read(nghttp2_session *session, int32_t id, uint8_t *buf, size_t len,
			     uint32_t *flags, nghttp2_data_source *source, void *arg);

/* Puts a frame's head before its data. */
int eddyi_h2_output_data(nghttp2_session *session, nghttp2_frame *frame, const uint8_t *head,
			 size_t len, nghttp2_data_source *source, void *arg);

#endif
