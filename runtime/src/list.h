/* list.h: a circular doubly linked list; the head is a node too. A node that is in no list has
 * next == NULL. */
#ifndef EDDYI_LIST_H
#define EDDYI_LIST_H

#include <eddy/base.h>

#define eddyi_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

static inline void eddyi_list_init(struct eddy_node *head)
{
	head->next = head->prev = head;
}

static inline bool eddyi_list_is_empty(const struct eddy_node *head)
{
	return head->next == head;
}

static inline void eddyi_list_append(struct eddy_node *head, struct eddy_node *node)
{
	node->next = head;
	node->prev = head->prev;
	head->prev->next = node;
	head->prev = node;
}

static inline void eddyi_list_prepend(struct eddy_node *head, struct eddy_node *node)
{
	eddyi_list_append(head->next, node);
}

static inline void eddyi_list_remove(struct eddy_node *node)
{
	node->prev->next = node->next;
	node->next->prev = node->prev;
	node->next = node->prev = NULL;
}

/* Take the first node off. Return: NULL when the list is empty. */
static inline struct eddy_node *eddyi_list_shift(struct eddy_node *head)
{
	struct eddy_node *node = head->next;

	if (node == head)
		return NULL;
	eddyi_list_remove(node);
	return node;
}

#endif
