/* entries.h: what an entry of the submission queue hands to the kernel, and what the kernel writes for it. */
#ifndef EDDYI_ENTRIES_H
#define EDDYI_ENTRIES_H

#include "track.h"

#include <liburing.h>

/* Issue an entry. `target` is the number of the entry that it cancels; 0: none. */
void eddyi_issue_entry(struct eddyi_track *track, const struct io_uring_sqe *sqe, uint64_t target);

/* Issue a message that is sent. */
struct msghdr;
void eddyi_issue_message(struct eddyi_track *track, const struct msghdr *message);

/* Whether an entry names another one, to cancel it, by its user_data in `addr`. */
bool eddyi_entry_names_another(const struct io_uring_sqe *sqe);

/* Write what a replayed program prints. */
void eddyi_replay_print(int fd, const void *bytes, int64_t len);

/* Learn what the kernel has written for a completion with this result. `picked` is the buffer that it picked from
 * a group; NULL: none. */
void eddyi_learn_completion(struct eddyi_track *track, const struct io_uring_sqe *sqe, int result,
			    void *picked);

#endif
