/* eddy/list.h: an intrusive list: circular, doubly linked, the head a node like the others. A node that
 * is in no list has next == NULL. Nothing here allocates or fails.
 */
#ifndef EDDY_LIST_H
#define EDDY_LIST_H

#include <eddy/base.h>

EDDY_BEGIN_DECLS

/* The structure of `type` whose `member` lies at `ptr`. */
#define eddy_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

/* Make an empty list. */
static inline void eddy_list_init(struct eddy_node *head)
{
	head->next = head->prev = head;
}

/* Whether the list has no node. */
static inline bool eddy_list_is_empty(const struct eddy_node *head)
{
	return head->next == head;
}

/* Put a node behind all others. With a node in place of the head: in front of that node. */
static inline void eddy_list_append(struct eddy_node *head, struct eddy_node *node)
{
	node->next = head;
	node->prev = head->prev;
	head->prev->next = node;
	head->prev = node;
}

/* Put a node in front of all others. */
static inline void eddy_list_prepend(struct eddy_node *head, struct eddy_node *node)
{
	eddy_list_append(head->next, node);
}

/* Take a node out of the list that it is in. */
static inline void eddy_list_remove(struct eddy_node *node)
{
	node->prev->next = node->next;
	node->next->prev = node->prev;
	node->next = node->prev = NULL;
}

/* Take the first node off. Return: NULL when the list is empty. */
static inline struct eddy_node *eddy_list_shift(struct eddy_node *head)
{
	struct eddy_node *node = head->next;

	if (node == head)
		return NULL;
	eddy_list_remove(node);
	return node;
}

EDDY_END_DECLS

#endif
