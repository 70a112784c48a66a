/* eddy/rule.h: what a token must say for a request to be let in.
 *
 *     eddy_route_authorize(route, eddy_roles("admin", "editor"));
 *     eddy_route_authorize(route, eddy_all_of(eddy_scopes("orders:read"), eddy_roles("clerk")));
 *
 * Rules are written where they are used: the macros make compound literals, which live as long as the block
 * they stand in. Who keeps a rule copies it.
 */
#ifndef EDDY_RULE_H
#define EDDY_RULE_H

#include <eddy/jwt.h>

EDDY_BEGIN_DECLS

/* Decide by whatever a token says. May suspend. Return: whether it is let in. */
typedef bool eddy_rule_fn(const struct eddy_jwt *token, void *data);

enum eddy_rule_kind {
	EDDY_RULE_ROLES,       /* one of them, in `role`, a string, or `roles`, an array */
	EDDY_RULE_PERMISSIONS, /* one of them, in `permissions` */
	EDDY_RULE_SCOPES,      /* all of them, in `scope` or `scp` */
	EDDY_RULE_PREDICATE,
	EDDY_RULE_ANY_OF,
	EDDY_RULE_ALL_OF,
};

struct eddy_rule {
	enum eddy_rule_kind kind;
	const char *const *names; /* NULL ends them, as it does `rules` */
	const struct eddy_rule *const *rules;
	eddy_rule_fn *fn;
	void *data;
};

/* C alone has these. A rule of NULL is: any valid token. */
#define EDDYI_RULE(...) (&(const struct eddy_rule){ __VA_ARGS__ })
#define EDDYI_NAMES(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define EDDYI_RULES(...) ((const struct eddy_rule *const[]){ __VA_ARGS__, NULL })

#define eddy_roles(...) EDDYI_RULE(.kind = EDDY_RULE_ROLES, .names = EDDYI_NAMES(__VA_ARGS__))
#define eddy_permissions(...)                                                                      \
	EDDYI_RULE(.kind = EDDY_RULE_PERMISSIONS, .names = EDDYI_NAMES(__VA_ARGS__))
#define eddy_scopes(...) EDDYI_RULE(.kind = EDDY_RULE_SCOPES, .names = EDDYI_NAMES(__VA_ARGS__))
#define eddy_predicate(fn_, data_)                                                                 \
	EDDYI_RULE(.kind = EDDY_RULE_PREDICATE, .fn = (fn_), .data = (data_))
#define eddy_any_of(...) EDDYI_RULE(.kind = EDDY_RULE_ANY_OF, .rules = EDDYI_RULES(__VA_ARGS__))
#define eddy_all_of(...) EDDYI_RULE(.kind = EDDY_RULE_ALL_OF, .rules = EDDYI_RULES(__VA_ARGS__))

/* Whether a token satisfies a rule; NULL is satisfied. May suspend when a predicate does. */
EDDY_API bool eddy_rule_lets_in(const struct eddy_rule *rule, const struct eddy_jwt *token);

EDDY_END_DECLS

#endif
