/* eddy/rule.h: what a token must say for a request to be let in.
 *
 *     eddy_route_authorize(route, eddy_roles("admin", "editor"));
 *     eddy_route_authorize(route, eddy_all_of(eddy_scopes("orders:read"), eddy_roles("clerk")));
 *
 * Rules are written where they are used: the macros make compound literals, which live as long as the block
 * they stand in. Who keeps a rule copies it (eddy_rule_copy()).
 */
#ifndef EDDY_RULE_H
#define EDDY_RULE_H

#include <eddy/jwt.h>

EDDY_BEGIN_DECLS

/* Decide by whatever a token says. May suspend. Return: whether it is let in. */
typedef bool eddy_rule_fn(const struct eddy_jwt *token, void *data);

enum eddy_rule_kind {
	EDDY_RULE_ROLES,       /* one of them, in `role`, a string, or `roles`, an array */
	EDDY_RULE_PERMISSIONS, /* one of them, in `permissions`, a string or an array */
	EDDY_RULE_CLAIM,       /* one of them, in `claim`, a string or an array */
	EDDY_RULE_SCOPES, /* all of them, in `scope`, a string of words, or `scp`, that or an array */
	EDDY_RULE_PREDICATE,
	EDDY_RULE_ANY_OF,
	EDDY_RULE_ALL_OF,
};

struct eddy_rule {
	enum eddy_rule_kind kind;
	const char *claim;
	const char *const *names; /* NULL ends them, as it does `rules` */
	const struct eddy_rule *const *rules;
	eddy_rule_fn *fn;
	void *data;
};

#define EDDYI_RULE(...) (&(const struct eddy_rule){ __VA_ARGS__ })
#define EDDYI_RULES(...) ((const struct eddy_rule *const[]){ __VA_ARGS__, NULL })

/* Make a rule of each kind: eddy_roles("admin", "editor"), eddy_claim("dept", "it", "hr"), eddy_predicate(fn, data),
 * eddy_all_of(rule, rule). C alone has these. A rule of NULL is: any valid token. */
#define eddy_roles(...) EDDYI_RULE(.kind = EDDY_RULE_ROLES, .names = EDDY_LIST(__VA_ARGS__))
#define eddy_permissions(...)                                                                      \
	EDDYI_RULE(.kind = EDDY_RULE_PERMISSIONS, .names = EDDY_LIST(__VA_ARGS__))
#define eddy_claim(claim_, ...)                                                                    \
	EDDYI_RULE(.kind = EDDY_RULE_CLAIM, .claim = (claim_), .names = EDDY_LIST(__VA_ARGS__))
#define eddy_scopes(...) EDDYI_RULE(.kind = EDDY_RULE_SCOPES, .names = EDDY_LIST(__VA_ARGS__))
#define eddy_predicate(fn_, data_)                                                                 \
	EDDYI_RULE(.kind = EDDY_RULE_PREDICATE, .fn = (fn_), .data = (data_))
#define eddy_any_of(...) EDDYI_RULE(.kind = EDDY_RULE_ANY_OF, .rules = EDDYI_RULES(__VA_ARGS__))
#define eddy_all_of(...) EDDYI_RULE(.kind = EDDY_RULE_ALL_OF, .rules = EDDYI_RULES(__VA_ARGS__))

/* Whether a token satisfies a rule; NULL is satisfied. Names are compared byte by byte, as a whole. Nothing
 * satisfies a rule that lists no names or rules, and nothing an empty name. May suspend when a predicate does. */
EDDY_API bool eddy_rule_lets_in(const struct eddy_rule *rule, const struct eddy_jwt *token);

/* Do the same, and tell which scopes the token should have had: all those of each rule on scopes that failed,
 * or of the first such one where one of several would do; with blanks between them, as challenges have them
 * (RFC 6750 section 3). `ret_scopes` takes EDDY_RULE_SCOPES_SIZE bytes, or is NULL; scopes that have no room in it
 * are left out, and it is empty when the rule failed for something else. No predicate is called twice, or after
 * the rule has failed. May suspend when a predicate does. Return: 0; -EACCES, and `ret_scopes`. */
#define EDDY_RULE_SCOPES_SIZE 1024
EDDY_API int eddy_rule_check(const struct eddy_rule *rule, const struct eddy_jwt *token,
			     char *ret_scopes);

/* Tell how many bytes a copy of a rule takes. Return: bytes, 0 for NULL; -EINVAL for a rule that nothing could
 * satisfy: without names, rules, function or claim, with an empty name, or a scope that is none (RFC 6749
 * section 3.3); -EMSGSIZE for one of more than 16 levels or 64 KiB. */
EDDY_API ssize_t eddy_rule_size(const struct eddy_rule *rule);

/* Copy a rule, with all that it points at but the data of predicates, into `room`: memory for anything, of
 * eddy_rule_size() bytes. Return: the copy, which is that memory; NULL for NULL. */
EDDY_API struct eddy_rule *eddy_rule_copy(const struct eddy_rule *rule, void *room);

EDDY_END_DECLS

#endif
