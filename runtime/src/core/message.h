/* message.h: the receiving side of eddy_loop_post(). */
#ifndef EDDYI_MESSAGE_H
#define EDDYI_MESSAGE_H

struct eddy_loop;

/* Start to watch wake_fd, so that other threads can wake the loop. */
void eddyi_message_begin(struct eddy_loop *loop);

/* Deliver all posted messages, the oldest first. */
void eddyi_message_deliver_all(struct eddy_loop *loop);

#endif
