/* eddy/rule.h: authorization rules: the roles, permissions, scopes or claims a token must have.
 *
 *     eddy_app_authorize(route, eddy_roles("admin", "editor"));
 *     eddy_app_authorize(route, eddy_all_of(eddy_scopes("orders:read"), eddy_roles("clerk")));
 *
 * The macros make compound literals, which live as long as the enclosing block.
 */
#ifndef EDDY_RULE_H
#define EDDY_RULE_H

#include <eddy/jwt.h>

EDDY_BEGIN_DECLS

/* Decide whether a token is accepted. May suspend. Return: whether it is. */
typedef bool eddy_rule_fn(const struct eddy_jwt *token, void *data);

/* What a rule requires. */
enum eddy_rule_kind {
	EDDY_RULE_ROLES,       /* one of the names in `role`, a string, or `roles`, an array */
	EDDY_RULE_PERMISSIONS, /* one of the names in `permissions`, a string or an array */
	EDDY_RULE_CLAIM,       /* one of the names in `claim`, a string or an array */
	EDDY_RULE_SCOPES, /* all names in `scope`, a string of words, or `scp`, that or an array */
	EDDY_RULE_PREDICATE,
	EDDY_RULE_ANY_OF,
	EDDY_RULE_ALL_OF,
};

struct eddy_rule {
	enum eddy_rule_kind kind;
	const char *claim;
	const char *const *names; /* ends with NULL, like `rules` */
	const struct eddy_rule *const *rules;
	eddy_rule_fn *fn;
	void *data;
};

#define EDDYI_RULE(...) (&(const struct eddy_rule){ __VA_ARGS__ })
#define EDDYI_RULES(...) ((const struct eddy_rule *const[]){ __VA_ARGS__, NULL })

/* Make an authorization rule: eddy_roles("admin", "editor"), eddy_claim("dept", "it", "hr"),
 * eddy_predicate(fn, data), eddy_all_of(rule, rule). Not available in C++. A rule of NULL accepts
 * any valid token. */
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

/* Check a token against a rule; NULL accepts every token. Names match byte for byte. Nothing
 * satisfies a rule without names or rules, or an empty name. `ret_scopes` has EDDY_RULE_SCOPES_SIZE
 * bytes, or is NULL. It lists the scopes that the token needs: all of each scope rule that failed;
 * of alternatives, those of the first such rule. They are separated by blanks, as in challenges
 * (RFC 6750 section 3). Scopes that do not fit are left out; it is empty if something else failed.
 * No predicate is called twice, or after the rule has failed. May suspend if a predicate does.
 * Return: 0; -EACCES, and `ret_scopes`. */
#define EDDY_RULE_SCOPES_SIZE 1024
EDDY_API int eddy_rule_check(const struct eddy_rule *rule, const struct eddy_jwt *token,
			     char *ret_scopes);

EDDY_END_DECLS

#endif
