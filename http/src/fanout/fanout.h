/* fanout.h: messages that all receivers get in the same order, on whatever loop they are.
 *
 * The messages are a list of posts, whose last is empty: the next message fills it. A receiver is a
 * place in that list: it has not taken the message there, if there is one. A post is freed once all
 * receivers are behind it. A branch has the receivers of one loop, and a message of the loop that
 * wakes them. */
#ifndef EDDYI_FANOUT_H
#define EDDYI_FANOUT_H

#include <eddy/loop.h>
#include <eddy/timer.h>
#include <pthread.h>

struct eddyi_post {
	struct eddyi_post *next; /* NULL: it is empty; changed atomically */
	unsigned refs;  /* of receivers, of the post before, of `oldest`; changed atomically */
	uint64_t begin; /* bytes of all messages before it */
	void *message;
};

/* The first member of a structure that sends messages. The owner sets the first members. */
struct eddyi_fanout {
	uint64_t timeout_ns;           /* of the branches' clocks */
	size_t kept_max, kept_max_len; /* messages, and bytes of them, kept from `oldest` on */
	void (*free_message)(void *message);
	unsigned refs;        /* the owners', and one for each branch; changed atomically */
	pthread_mutex_t lock; /* of all that follows */
	struct eddy_node branches;
	size_t count;                       /* of receivers; changed atomically */
	size_t kept;                        /* of messages */
	struct eddyi_post *oldest, *newest; /* the newest is empty */
	uint64_t end;                       /* `newest->begin`; read without the lock */
	uint64_t begin;                     /* of the first post in use; changed atomically */
};

/* The receivers of one loop.
 *
 * Invariants:
 * 1. A branch has receivers, or `due` of them, or is waking one.
 * 2. `message` is posted while `due` is not 0.
 * 3. The first receivers are those that were woken least recently. The first `due` are woken
 *    next. */
struct eddyi_branch {
	struct eddy_node node;
	struct eddyi_fanout *fanout;
	struct eddy_loop *loop;
	struct eddy_message message;
	struct eddy_node receivers;      /* only its loop uses them */
	unsigned count, due;             /* of receivers; with the lock */
	bool is_waking;                  /* only its loop uses it */
	struct eddy_timeout_queue clock; /* for the owner's timeouts */
};

/* On its loop. */
struct eddyi_receiver {
	struct eddy_node node;
	struct eddyi_branch *branch;
	struct eddyi_post *at;
	/* Messages have been sent, or eddyi_fanout_wake() was called. May end the receiver. */
	void (*wake)(struct eddyi_receiver *receiver);
};

/* Allocate a structure of `size` bytes that begins with a fan-out, with one reference. The last
 * frees it.
 * Return: NULL on allocation failure. */
void *eddyi_fanout_new(size_t size, void (*free_message)(void *message));
void eddyi_fanout_ref(struct eddyi_fanout *fanout);
void eddyi_fanout_unref(struct eddyi_fanout *fanout);

/* Send a message of `len` bytes, which is taken unless this fails. The lock is held. Return: 0,
 * -ENOMEM. */
int eddyi_fanout_send(struct eddyi_fanout *fanout, void *message, size_t len);

/* Wake all receivers, at the next turn of their loops or in a later one. The lock is held. */
void eddyi_fanout_wake(struct eddyi_fanout *fanout);

/* Wake those of this loop now, if one of them has more than `max` bytes to take. */
void eddyi_fanout_flush(struct eddyi_fanout *fanout, size_t max);

/* Get the bytes of messages that a receiver has not taken, or that are kept. */
size_t eddyi_fanout_held(const struct eddyi_fanout *fanout);

struct eddyi_post *eddyi_post_ref(struct eddyi_post *post);
void eddyi_post_unref(struct eddyi_fanout *fanout, struct eddyi_post *post);

/* Return: NULL if the post is empty. */
static inline struct eddyi_post *eddyi_post_next(const struct eddyi_post *post)
{
	return __atomic_load_n(&post->next, __ATOMIC_ACQUIRE);
}

/* Begin a receiver on this loop, whose `wake` is set, at a post; NULL: at the newest. It is not
 * woken for messages that are there. Takes the reference, also on failure. Return: 0, -ENOMEM. */
int eddyi_receiver_begin(struct eddyi_receiver *receiver, struct eddyi_fanout *fanout,
			 struct eddyi_post *at);
void eddyi_receiver_end(struct eddyi_receiver *receiver);

/* Wake this one now, if there is anything to take. Does nothing while one of the loop is being
 * woken. */
void eddyi_receiver_flush(struct eddyi_receiver *receiver);

/* Get the next message. Return: NULL if there is none yet. */
static inline void *eddyi_receiver_next(const struct eddyi_receiver *receiver)
{
	return eddyi_post_next(receiver->at) ? receiver->at->message : NULL;
}

/* Be done with the next `count` messages. */
void eddyi_receiver_advance(struct eddyi_receiver *receiver, size_t count);

/* Get the bytes of messages that it has not taken. */
size_t eddyi_receiver_lag(const struct eddyi_receiver *receiver);

#endif
