/* client_exchange.h: one request, with the observers' fields, and the head of its response. */
#ifndef EDDYI_CLIENT_EXCHANGE_H
#define EDDYI_CLIENT_EXCHANGE_H

#include "client_state.h"

/* Call the observers before a hop to the response's URL, and with its status or -errno. */
void eddyi_client_observe_begin(struct eddyi_call *call);
void eddyi_client_observe_end(struct eddyi_call *call, int result);

/* Write the head of the current hop to the response's arena.
 * Return: .ptr NULL on allocation failure. */
struct eddy_str eddyi_client_make_head(const struct eddyi_call *call);

/* Take a piece of a pulled body. May suspend. Return: 0, -errno. */
typedef int eddyi_client_give_fn(void *arg, struct eddy_str piece);

/* Pull the body of the request to its end, and pass on each piece; one of unknown length ends with
 * an empty piece. Suspends. Return: 0; -EINVAL if its length differs from the announced one; the
 * error of .pull or of `give`; -ENOMEM. */
int eddyi_client_pull(struct eddyi_call *call, eddyi_client_give_fn *give, void *arg);

/* Begin the head of a response. */
void eddyi_client_begin_head(struct eddyi_call *call);

/* Parse bytes of it, and describe an error. Return: as eddyi_response_head_feed(). */
int eddyi_client_feed_head(struct eddyi_call *call, struct eddy_str bytes, size_t *ret_used);

/* Send the request, and read the head of the response. Suspends.
 * Return: 0; -errno, and the connection is unusable. */
int eddyi_client_exchange(struct eddyi_call *call, struct eddyi_client_conn *conn);

/* Describe an error: the file of the request's body is too short (-EINVAL). Return: it. */
int eddyi_client_fail_short(const struct eddyi_call *call);

/* The same: the server has closed the connection, before or after bytes of its response. */
int eddyi_client_fail_gone(const struct eddyi_call *call, int error, bool answered);

#endif
