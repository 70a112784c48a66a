/* message.h: a loop's side of the messages that other threads post to it. */
#ifndef EDDYI_MESSAGE_H
#define EDDYI_MESSAGE_H

struct eddy_loop;

/* Let the loop be woken while it sleeps, from now on. */
void eddyi_message_begin(struct eddy_loop *loop);

/* Deliver what has been posted so far, the oldest first. */
void eddyi_message_deliver_all(struct eddy_loop *loop);

#endif
