/* rule.h: copies of rules, for guards. */
#ifndef EDDYI_RULE_H
#define EDDYI_RULE_H

#include <eddy/rule.h>

/* Compute the size of a copy of a rule. Return: bytes, 0 for NULL; -EINVAL if nothing can satisfy
 * it: no names, rules, function or claim, an empty name, an invalid scope (RFC 6749 section 3.3);
 * -EMSGSIZE above 16 levels or 64 KiB. */
EDDY_API ssize_t eddyi_rule_size(const struct eddy_rule *rule);

/* Copy a rule, with all that it points at except the data of predicates, into `room`: aligned
 * memory of eddyi_rule_size() bytes. Return: the copy, which is that memory; NULL for NULL. */
EDDY_API struct eddy_rule *eddyi_rule_copy(const struct eddy_rule *rule, void *room);

#endif
