/* eddy/list.h: an intrusive list: circular, doubly linked, and its head is a node like the others.
 * A node that is in no list has next == NULL. No function allocates memory or fails. */
#ifndef EDDY_LIST_H
#define EDDY_LIST_H

#include <eddy/base.h>

EDDY_BEGIN_DECLS

/* Get the structure of `type` whose `member` is at `ptr`. */
#define eddy_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

/* Make an empty list. */
static inline void eddy_list_init(struct eddy_node *head)
{
	head->next = head->prev = head;
}

/* Check whether the list is empty. */
static inline bool eddy_list_is_empty(const struct eddy_node *head)
{
	return head->next == head;
}

/* Append a node to a list. With a node in place of the head: insert before that node. */
static inline void eddy_list_append(struct eddy_node *head, struct eddy_node *node)
{
	node->next = head;
	node->prev = head->prev;
	head->prev->next = node;
	head->prev = node;
}

/* Insert a node at the front of a list. */
static inline void eddy_list_prepend(struct eddy_node *head, struct eddy_node *node)
{
	eddy_list_append(head->next, node);
}

/* Remove a node from its list. */
static inline void eddy_list_remove(struct eddy_node *node)
{
	node->prev->next = node->next;
	node->next->prev = node->prev;
	node->next = node->prev = NULL;
}

/* Remove the first node of a list. Return: the node; NULL if the list is empty. */
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
