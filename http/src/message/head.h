/* head.h: the head of a request, whatever protocol it came by: the method, the target, and the
 * fields. */
#ifndef EDDYI_HEAD_H
#define EDDYI_HEAD_H

#include "target.h"
#include "text/arena.h"

#include <eddy/req.h>

struct eddyi_header {
	struct eddy_str name;
	struct eddy_str value; /* without surrounding blanks */
};

struct eddyi_head_limits {
	size_t request_line_max;
	size_t header_block_max;
	unsigned header_count_max;
};

/* A zeroed head, except for `arena`, is empty. */
struct eddyi_head {
	struct eddyi_arena *arena;
	struct eddy_str method_name;
	enum eddyi_method method;
	struct eddyi_target target;
	/* Of the target's authority, else of :authority or the Host field. May be empty in
	 * HTTP/1.0. */
	struct eddy_str host;
	struct eddyi_header *headers;
	unsigned header_count;
	unsigned header_capacity;
	enum eddy_http_version version;
	uint64_t length;     /* of the body; EDDY_LENGTH_UNKNOWN if only its end will tell */
	const char *problem; /* why the head is rejected; static text */
};

/* Make room for more fields. Return: false on allocation failure. */
bool eddyi_head_grow(struct eddyi_head *head);

/* Add an empty field. Return: NULL on allocation failure. */
static inline struct eddyi_header *eddyi_head_add(struct eddyi_head *head)
{
	if (head->header_count == head->header_capacity && !eddyi_head_grow(head))
		return NULL;
	head->headers[head->header_count] = (struct eddyi_header){ 0 };
	return &head->headers[head->header_count++];
}

/* Reject the request for a reason other than its bytes, and discard it. Return: `status`. */
int eddyi_head_refuse(struct eddyi_head *head, int status, const char *problem);

/* Find the first field of this name. Return: .ptr NULL if there is none. */
struct eddy_str eddyi_head_find(const struct eddyi_head *head, struct eddy_str name);

/* Join all fields of this name by commas (RFC 9110 section 5.3).
 * Return: .ptr NULL if there is none. */
struct eddy_str eddyi_head_join(struct eddyi_head *head, const char *name);

#endif
