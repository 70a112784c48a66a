#include "rule.h"

#include "jwt.h"

#include <eddy/internal/text.h>

#include <errno.h>
#include <stdlib.h>

#define DEPTH_MAX 16
#define COPY_SIZE_MAX ((size_t)(64 * EDDY_KIB))

/* The evaluation of a rule for a token. Invariants:
 * 1. `text` has the missing scopes, separated by blanks, without duplicates or a NUL.
 * 2. Once the rule has failed, the rest only adds scopes: predicates count as satisfied,
 *    uncalled. */
struct verdict {
	const struct eddy_jwt *token;
	char *text; /* EDDY_RULE_SCOPES_SIZE bytes, or NULL */
	size_t len;
	bool has_failed;
};

static bool is_one_of(struct eddyi_value value, const char *const *names)
{
	if (!value.text.len)
		return false;
	for (; names && *names; names++)
		if (eddy_str_eq_z(value.text, *names))
			return true;
	return false;
}

static bool has_one_of(const struct eddyi_object *claims, struct eddyi_value array,
		       const char *const *names)
{
	struct eddyi_value one;

	while (eddyi_object_next(claims, &array, &one))
		if (is_one_of(one, names))
			return true;
	return false;
}

static bool check_roles(const struct eddyi_object *claims, const char *const *names)
{
	return is_one_of(eddyi_object_get(claims, "role"), names) ||
	       has_one_of(claims, eddyi_object_get(claims, "roles"), names);
}

static bool check_claim(const struct eddyi_object *claims, const char *name,
			const char *const *names)
{
	struct eddyi_value value = eddyi_object_get(claims, name);

	return is_one_of(value, names) || has_one_of(claims, value, names);
}

/* Whether a name is a scope (RFC 6749 section 3.3), which needs no escapes in a quoted string. */
static bool is_scope(const char *name)
{
	struct eddy_str text = eddy_str_from(name);

	return text.len && !strchr(name, ' ') && eddyi_str_plain_len(text) == text.len;
}

static bool is_listed(const struct verdict *verdict, struct eddy_str name)
{
	struct eddy_str words = eddy_str(verdict->text, verdict->len), word;

	while (eddy_str_split(&words, ' ', &word))
		if (eddy_str_eq(word, name))
			return true;
	return false;
}

/* Scopes that do not fit are left out: a client learns them at its next attempt. */
static void list(struct verdict *verdict, const char *const *names)
{
	for (; verdict->text && names && *names; names++) {
		struct eddy_str name = eddy_str_from(*names);
		size_t blank = verdict->len ? 1 : 0;

		if (!is_scope(*names) || is_listed(verdict, name) ||
		    blank + name.len >= EDDY_RULE_SCOPES_SIZE - verdict->len)
			continue;
		if (blank)
			verdict->text[verdict->len++] = ' ';
		memcpy(verdict->text + verdict->len, name.ptr, name.len);
		verdict->len += name.len;
	}
}

static bool has_scope(const struct eddy_jwt *token, const char *name)
{
	struct eddy_str text = eddy_str_from(name);

	return (eddy_jwt_str(token, "scope").ptr && eddy_jwt_has(token, "scope", text)) ||
	       eddy_jwt_has(token, "scp", text);
}

static bool check_scopes(struct verdict *verdict, const char *const *names)
{
	bool has_all = names && *names;

	for (const char *const *name = names; has_all && *name; name++)
		has_all = has_scope(verdict->token, *name);
	if (!has_all)
		list(verdict, names);
	return has_all;
}

static bool check(struct verdict *verdict, const struct eddy_rule *rule);

/* Keep the scopes of the first alternative that lacks any. */
static bool check_any_of(struct verdict *verdict, const struct eddy_rule *const *rules)
{
	size_t before = verdict->len, after = before;

	for (; rules && *rules; rules++) {
		if (check(verdict, *rules)) {
			verdict->len = before;
			return true;
		}
		if (after == before)
			after = verdict->len;
		verdict->len = after;
	}
	return false;
}

static bool check_all_of(struct verdict *verdict, const struct eddy_rule *const *rules)
{
	bool had_failed = verdict->has_failed, holds = rules && *rules;

	for (; rules && *rules && (holds || verdict->text); rules++) {
		if (check(verdict, *rules))
			continue;
		holds = false;
		verdict->has_failed = true;
	}
	verdict->has_failed = had_failed;
	return holds;
}

static bool check(struct verdict *verdict, const struct eddy_rule *rule)
{
	const struct eddyi_object *claims = &verdict->token->claims;

	switch (rule->kind) {
	case EDDY_RULE_ROLES:
		return check_roles(claims, rule->names);
	case EDDY_RULE_PERMISSIONS:
		return check_claim(claims, "permissions", rule->names);
	case EDDY_RULE_CLAIM:
		return check_claim(claims, rule->claim, rule->names);
	case EDDY_RULE_SCOPES:
		return check_scopes(verdict, rule->names);
	case EDDY_RULE_PREDICATE:
		return verdict->has_failed || rule->fn(verdict->token, rule->data);
	case EDDY_RULE_ANY_OF:
		return check_any_of(verdict, rule->rules);
	case EDDY_RULE_ALL_OF:
		return check_all_of(verdict, rule->rules);
	}
	return false;
}

int eddy_rule_check(const struct eddy_rule *rule, const struct eddy_jwt *token, char *ret_scopes)
{
	struct verdict verdict = { .token = token, .text = ret_scopes };

	if (!rule || check(&verdict, rule))
		return 0;
	if (ret_scopes)
		ret_scopes[verdict.len] = 0;
	return -EACCES;
}

/* A copy is one block of memory, with every part aligned. */
#define ROUND_UP(size) (((size) + sizeof(void *) - 1) & -sizeof(void *))

static int add(size_t *total, size_t size)
{
	if (ROUND_UP(size) > COPY_SIZE_MAX - *total)
		return -EMSGSIZE;
	*total += ROUND_UP(size);
	return 0;
}

static int measure_names(const char *const *names, bool are_scopes, size_t *total)
{
	int r = names && *names ? add(total, sizeof(*names)) : -EINVAL;

	for (; !r && *names; names++) {
		if (!**names || (are_scopes && !is_scope(*names)))
			return -EINVAL;
		r = add(total, sizeof(*names));
		if (!r)
			r = add(total, strlen(*names) + 1);
	}
	return r;
}

static int measure(const struct eddy_rule *rule, unsigned levels, size_t *total);

static int measure_rules(const struct eddy_rule *const *rules, unsigned levels, size_t *total)
{
	int r = rules && *rules ? add(total, sizeof(*rules)) : -EINVAL;

	for (; !r && *rules; rules++) {
		r = add(total, sizeof(*rules));
		if (!r)
			r = measure(*rules, levels, total);
	}
	return r;
}

/* Add up the size of a copy. Return: 0, -EINVAL, -EMSGSIZE. */
static int measure(const struct eddy_rule *rule, unsigned levels, size_t *total)
{
	int r = levels ? add(total, sizeof(*rule)) : -EMSGSIZE;

	if (r < 0)
		return r;
	switch (rule->kind) {
	case EDDY_RULE_CLAIM:
		r = rule->claim && *rule->claim ? add(total, strlen(rule->claim) + 1) : -EINVAL;
		return r ? r : measure_names(rule->names, false, total);
	case EDDY_RULE_ROLES:
	case EDDY_RULE_PERMISSIONS:
		return measure_names(rule->names, false, total);
	case EDDY_RULE_SCOPES:
		return measure_names(rule->names, true, total);
	case EDDY_RULE_PREDICATE:
		return rule->fn ? 0 : -EINVAL;
	case EDDY_RULE_ANY_OF:
	case EDDY_RULE_ALL_OF:
		return measure_rules(rule->rules, levels - 1, total);
	}
	return -EINVAL;
}

static void *take(char **room, size_t size)
{
	void *at = *room;

	*room += ROUND_UP(size);
	return at;
}

static const char *place_name(char **room, const char *name)
{
	size_t size = strlen(name) + 1;

	return memcpy(take(room, size), name, size);
}

static const char *const *place_names(char **room, const char *const *names)
{
	const char **to;
	size_t count = 0;

	while (names[count])
		count++;
	to = take(room, (count + 1) * sizeof(*to));
	for (size_t i = 0; i < count; i++)
		to[i] = place_name(room, names[i]);
	to[count] = NULL;
	return to;
}

static struct eddy_rule *place(char **room, const struct eddy_rule *rule);

static const struct eddy_rule *const *place_rules(char **room, const struct eddy_rule *const *rules)
{
	const struct eddy_rule **to;
	size_t count = 0;

	while (rules[count])
		count++;
	to = take(room, (count + 1) * sizeof(*to));
	for (size_t i = 0; i < count; i++)
		to[i] = place(room, rules[i]);
	to[count] = NULL;
	return to;
}

static struct eddy_rule *place(char **room, const struct eddy_rule *rule)
{
	struct eddy_rule *to = take(room, sizeof(*to));

	*to = (struct eddy_rule){ .kind = rule->kind };
	switch (rule->kind) {
	case EDDY_RULE_CLAIM:
		to->claim = place_name(room, rule->claim);
		/* fallthrough */
	case EDDY_RULE_ROLES:
	case EDDY_RULE_PERMISSIONS:
	case EDDY_RULE_SCOPES:
		to->names = place_names(room, rule->names);
		break;
	case EDDY_RULE_PREDICATE:
		to->fn = rule->fn;
		to->data = rule->data;
		break;
	case EDDY_RULE_ANY_OF:
	case EDDY_RULE_ALL_OF:
		to->rules = place_rules(room, rule->rules);
		break;
	}
	return to;
}

ssize_t eddyi_rule_size(const struct eddy_rule *rule)
{
	size_t total = 0;
	int r = rule ? measure(rule, DEPTH_MAX, &total) : 0;

	return r < 0 ? r : (ssize_t)total;
}

struct eddy_rule *eddyi_rule_copy(const struct eddy_rule *rule, void *room)
{
	char *at = room;

	return rule ? place(&at, rule) : NULL;
}
