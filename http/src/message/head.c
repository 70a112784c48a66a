#include "head.h"

#define HEADERS_FIRST 16

bool eddyi_head_grow(struct eddyi_head *head)
{
	unsigned capacity = head->header_capacity ? head->header_capacity * 2 : HEADERS_FIRST;
	struct eddyi_header *headers = eddyi_arena_alloc(head->arena, capacity * sizeof(*headers));

	if (!headers)
		return false;
	if (head->header_count)
		memcpy(headers, head->headers, head->header_count * sizeof(*headers));
	head->headers = headers;
	head->header_capacity = capacity;
	return true;
}

int eddyi_head_refuse(struct eddyi_head *head, int status, const char *problem)
{
	head->problem = problem;
	head->method_name = EDDY_STR("");
	head->method = EDDYI_METHOD_OTHER;
	head->target = (struct eddyi_target){ .path = { "", 0 } };
	head->host = EDDY_STR("");
	head->header_count = 0;
	head->length = 0;
	return status;
}

/* Find the next field of this name from `*at` on, which is advanced.
 * Return: NULL if there is none. */
static const struct eddyi_header *next_of(const struct eddyi_head *head, struct eddy_str name,
					  unsigned *at)
{
	while (*at < head->header_count) {
		const struct eddyi_header *header = &head->headers[(*at)++];

		if (eddy_str_eq_nocase(header->name, name))
			return header;
	}
	return NULL;
}

struct eddy_str eddyi_head_find(const struct eddyi_head *head, struct eddy_str name)
{
	const struct eddyi_header *header = next_of(head, name, &(unsigned){ 0 });

	return header ? header->value : eddy_str(NULL, 0);
}

struct eddy_str eddyi_head_join(struct eddyi_head *head, const char *name)
{
	struct eddy_str wanted = eddy_str_from(name), first = { NULL, 0 };
	const struct eddyi_header *header;
	size_t count = 0, size = 0;
	char *text, *end;

	for (unsigned at = 0; (header = next_of(head, wanted, &at)); count++) {
		size += header->value.len + 2;
		if (!count)
			first = header->value;
	}
	if (count < 2)
		return first;
	/* One allocation: joining field by field would take quadratic time. */
	text = end = eddyi_arena_alloc(head->arena, size);
	for (unsigned at = 0; text && (header = next_of(head, wanted, &at));) {
		if (end != text)
			end = mempcpy(end, ", ", 2);
		end = mempcpy(end, header->value.ptr, header->value.len);
	}
	return eddy_str(text, (size_t)(end - text));
}
