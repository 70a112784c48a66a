/* Tests of eddy/rule.h. */
#include "jwt/rule.h"

#include "tokens.h"

#include <errno.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

static int asked;

static bool says(const struct eddy_jwt *token, void *data)
{
	asked++;
	cr_expect_not_null(eddy_jwt_claims(token));
	return data != NULL;
}

#define YES eddy_predicate(says, &asked)
#define NO eddy_predicate(says, NULL)

/* A copy in memory that is just large enough; to be freed. */
static int copy_of(const struct eddy_rule *rule, struct eddy_rule **ret_copy)
{
	ssize_t size = eddyi_rule_size(rule);

	if (size < 0)
		return (int)size;
	*ret_copy = eddyi_rule_copy(rule, size ? malloc((size_t)size) : NULL);
	return 0;
}

/* Whether it lets in, by every way to ask; a copy says the same. */
static bool lets_in(const struct eddy_rule *rule, const char *claims, const char *scopes)
{
	struct eddy_jwt *token = token_with(claims);
	bool r = eddy_rule_check(rule, token, NULL) == 0;
	char text[EDDY_RULE_SCOPES_SIZE] = "untouched";
	struct eddy_rule *copy = NULL;

	cr_expect_eq(eddy_rule_check(rule, token, text), r ? 0 : -EACCES, "%s", claims);
	if (!r)
		cr_expect_str_eq(text, scopes ? scopes : "", "%s", claims);
	if (copy_of(rule, &copy) == 0) {
		cr_expect_eq(eddy_rule_check(copy, token, text), r ? 0 : -EACCES, "%s", claims);
		if (!r)
			cr_expect_str_eq(text, scopes ? scopes : "", "%s", claims);
		free(copy);
	}
	eddy_jwt_unref(token);
	return r;
}

static void look(const struct eddy_rule *rule, const char *claims, bool is_let_in)
{
	cr_expect_eq(lets_in(rule, claims, NULL), is_let_in, "%s", claims);
}

struct row {
	const char *claims;
	bool is_let_in;
};

static void look_at_all(const struct eddy_rule *rule, const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		look(rule, rows[i].claims, rows[i].is_let_in);
}

Test(rule, none_lets_everybody_in)
{
	look(NULL, "{}", true);
}

Test(rule, roles_are_a_string_or_an_array)
{
	static const struct row rows[] = {
		{ "{\"role\":\"admin\"}", true },
		{ "{\"role\":\"editor\"}", true },
		{ "{\"roles\":[\"admin\"]}", true },
		{ "{\"roles\":[\"x\",\"editor\"]}", true },
		{ "{\"role\":\"x\",\"roles\":[\"admin\"]}", true },
		{ "{\"role\":\"admin\",\"roles\":[]}", true },
		{ "{\"roles\":[1,null,\"admin\"]}", true },
		{ "{}", false },
		{ "{\"role\":\"user\"}", false },
		{ "{\"role\":\"Admin\"}", false },
		{ "{\"role\":\"admin \"}", false },
		{ "{\"role\":\"admins\"}", false },
		{ "{\"role\":\"adm\"}", false },
		{ "{\"role\":\"user admin\"}", false },
		{ "{\"role\":\"user,admin\"}", false },
		{ "{\"role\":\"\"}", false },
		{ "{\"role\":null}", false },
		{ "{\"role\":true}", false },
		{ "{\"role\":[\"admin\"]}", false },
		{ "{\"role\":{\"admin\":true}}", false },
		{ "{\"roles\":\"admin\"}", false },
		{ "{\"roles\":[\"user admin\"]}", false },
		{ "{\"roles\":[[\"admin\"]]}", false },
		{ "{\"roles\":{\"admin\":true}}", false },
		{ "{\"roles\":[]}", false },
		{ "{\"Role\":\"admin\"}", false },
		{ "{\"a\":{\"role\":\"admin\"}}", false },
		{ "{\"scope\":\"admin\",\"permissions\":[\"admin\"]}", false },
	};

	look_at_all(eddy_roles("admin", "editor"), rows, COUNT(rows));
}

Test(rule, permissions_and_claims_are_one_of_some)
{
	static const struct row rows[] = {
		{ "{\"%\":[\"read\"]}", true },      { "{\"%\":[\"x\",\"write\"]}", true },
		{ "{\"%\":\"read\"}", true },        { "{\"%\":\"read write\"}", false },
		{ "{\"%\":[\"x\"]}", false },        { "{\"%\":[]}", false },
		{ "{\"%\":{\"read\":1}}", false },   { "{\"%\":1}", false },
		{ "{\"%\":[\"\"]}", false },         { "{}", false },
		{ "{\"role\":\"read\"}", false },    { "{\"%\":[\"Read\"]}", false },
		{ "{\"%\":[\"read:all\"]}", false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char claims[128], *at = claims;

		for (const char *from = rows[i].claims; *from; from++)
			at += *from == '%' ? sprintf(at, "permissions") : sprintf(at, "%c", *from);
		look(eddy_permissions("read", "write"), claims, rows[i].is_let_in);
		look(eddy_claim("permissions", "read", "write"), claims, rows[i].is_let_in);
		look(eddy_claim("groups", "read", "write"), claims, false);
	}
	look(eddy_claim("department", "Human Resources"), "{\"department\":\"Human Resources\"}",
	     true);
	look(eddy_claim("department", "Human"), "{\"department\":\"Human Resources\"}", false);
}

Test(rule, scopes_are_all_of_them)
{
	static const struct row rows[] = {
		{ "{\"scope\":\"read write\"}", true },
		{ "{\"scope\":\"write x read\"}", true },
		{ "{\"scp\":\"read write\"}", true },
		{ "{\"scp\":[\"read\",\"write\"]}", true },
		{ "{\"scope\":\"read\",\"scp\":[\"write\"]}", true },
		{ "{\"scope\":\"read\"}", false },
		{ "{\"scope\":\"write\"}", false },
		{ "{\"scp\":[\"write\"]}", false },
		{ "{\"scope\":\"read writer\"}", false },
		{ "{\"scope\":\"READ WRITE\"}", false },
		{ "{\"scope\":[\"read\",\"write\"]}", false },
		{ "{\"scp\":[\"read write\"]}", false },
		{ "{\"scope\":\"\"}", false },
		{ "{\"scope\":1,\"scp\":null}", false },
		{ "{\"role\":\"read write\"}", false },
		{ "{}", false },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		cr_expect_eq(lets_in(eddy_scopes("read", "write"), rows[i].claims, "read write"),
			     rows[i].is_let_in, "%s", rows[i].claims);
}

Test(rule, a_predicate_sees_the_token)
{
	look(YES, "{}", true);
	look(NO, "{}", false);
}

Test(rule, any_of_and_all_of)
{
	const struct eddy_rule *admin = eddy_roles("admin"), *staff = eddy_permissions("staff");
	static const struct row any[] = { { "{}", false },
					  { "{\"role\":\"admin\"}", true },
					  { "{\"permissions\":[\"staff\"]}", true },
					  { "{\"role\":\"admin\",\"permissions\":[\"staff\"]}",
					    true } };
	static const struct row all[] = { { "{}", false },
					  { "{\"role\":\"admin\"}", false },
					  { "{\"permissions\":[\"staff\"]}", false },
					  { "{\"role\":\"admin\",\"permissions\":[\"staff\"]}",
					    true } };

	look_at_all(eddy_any_of(admin, staff), any, COUNT(any));
	look_at_all(eddy_all_of(admin, staff), all, COUNT(all));
	look_at_all(eddy_any_of(eddy_all_of(admin, staff), eddy_all_of(staff, admin)), all,
		    COUNT(all));
	look_at_all(eddy_all_of(eddy_any_of(admin, staff), eddy_any_of(staff, admin)), any,
		    COUNT(any));
	look(eddy_any_of(admin, NO, YES), "{}", true);
	look(eddy_all_of(YES, YES, admin), "{\"role\":\"admin\"}", true);
}

/* Forgotten lists keep the door shut. */
Test(rule, what_is_empty_lets_nobody_in)
{
	static const char *const no_names[] = { NULL }, *const empty[] = { "", NULL };
	static const struct eddy_rule *const no_rules[] = { NULL };
	static const char all[] = "{\"role\":\"\",\"roles\":[\"\"],\"permissions\":[\"\"],"
				  "\"scope\":\"\",\"scp\":[\"\"],\"c\":\"\"}";

	for (enum eddy_rule_kind kind = EDDY_RULE_ROLES; kind <= EDDY_RULE_ALL_OF; kind++) {
		struct eddy_rule rule = { .kind = kind, .claim = "c", .fn = says };

		if (kind == EDDY_RULE_PREDICATE)
			continue;
		look(&rule, all, false);
		rule.names = no_names;
		rule.rules = no_rules;
		look(&rule, all, false);
		rule.names = empty;
		look(&rule, all, false);
	}
	look(&(const struct eddy_rule){ .kind = 99 }, all, false);
}

Test(rule, says_which_scopes_it_takes)
{
	const struct eddy_rule *a = eddy_scopes("a"), *b = eddy_scopes("b", "c"),
			       *role = eddy_roles("r");
	const struct {
		const struct eddy_rule *rule;
		const char *claims, *scopes;
	} rows[] = {
		{ a, "{}", "a" },
		{ b, "{\"scope\":\"b\"}", "b c" },
		{ role, "{}", "" },
		{ eddy_scopes("a", "b", "a"), "{}", "a b" },
		{ eddy_all_of(a, b), "{}", "a b c" },
		{ eddy_all_of(b, a, eddy_scopes("c", "d")), "{}", "b c a d" },
		{ eddy_all_of(a, b), "{\"scope\":\"a\"}", "b c" },
		{ eddy_all_of(a, b), "{\"scope\":\"b c\"}", "a" },
		{ eddy_all_of(role, a), "{}", "a" },
		{ eddy_all_of(role, a), "{\"scope\":\"a\"}", "" },
		{ eddy_all_of(NO, a), "{}", "a" },
		{ eddy_all_of(a, NO), "{}", "a" },
		{ eddy_any_of(a, b), "{}", "a" },
		{ eddy_any_of(role, b, a), "{}", "b c" },
		{ eddy_any_of(NO, role), "{}", "" },
		{ eddy_all_of(eddy_any_of(a, role), b), "{\"role\":\"r\"}", "b c" },
		{ eddy_all_of(b, eddy_any_of(a, role)), "{\"role\":\"r\"}", "b c" },
		{ eddy_all_of(eddy_any_of(a, YES), b), "{}", "b c" },
		/* Nobody knows what the predicate would say: it is not blamed on a scope. */
		{ eddy_all_of(b, eddy_any_of(a, NO)), "{}", "b c" },
		{ eddy_any_of(eddy_all_of(a, b), eddy_scopes("d")), "{}", "a b c" },
		{ eddy_any_of(eddy_all_of(role, NO), eddy_all_of(NO, a)), "{}", "a" },
		{ eddy_all_of(a, eddy_all_of(role, b), eddy_scopes("d")), "{}", "a b c d" },
		{ eddy_all_of(eddy_scopes("abc"), eddy_scopes("b", "ab", "bc")), "{}",
		  "abc b ab bc" },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		cr_expect_not(lets_in(rows[i].rule, rows[i].claims, rows[i].scopes), "%zu", i);
}

/* What would end the quoted string of a challenge, or a word of it, is not listed. */
Test(rule, lists_nothing_that_is_no_scope)
{
	cr_expect_not(lets_in(
		eddy_scopes("a\"", "b\\", "c d", "e\n", "f\xc3\xa4", "", "g\x7f", "h"), "{}", "h"));
}

Test(rule, lists_what_has_room)
{
	char longest[EDDY_RULE_SCOPES_SIZE], longer[EDDY_RULE_SCOPES_SIZE + 1],
		text[EDDY_RULE_SCOPES_SIZE];
	struct eddy_jwt *token = token_with("{}");

	memset(longest, 'x', sizeof(longest));
	memset(longer, 'y', sizeof(longer));
	longer[sizeof(longer) - 1] = 0;
	longest[sizeof(longest) - 1] = 0;
	cr_expect_eq(eddy_rule_check(eddy_scopes(longer, longest, "z"), token, text), -EACCES);
	cr_expect_str_eq(text, longest);
	longest[sizeof(longest) - 4] = 0;
	cr_expect_eq(eddy_rule_check(eddy_scopes(longest, "zz", "z", "y"), token, text), -EACCES);
	cr_expect_eq(strlen(text), strlen(longest) + 3);
	cr_expect_str_eq(text + strlen(longest), " zz");
	eddy_jwt_unref(token);
}

Test(rule, asks_no_predicate_in_vain)
{
	const struct eddy_rule *role = eddy_roles("r");
	const struct {
		const struct eddy_rule *rule;
		int asked;
	} rows[] = {
		{ eddy_all_of(role, YES), 0 },
		{ eddy_all_of(YES, role, YES), 1 },
		{ eddy_all_of(NO, YES, YES), 1 },
		{ eddy_any_of(YES, YES), 1 },
		{ eddy_any_of(NO, NO, YES, NO), 3 },
		{ eddy_all_of(role, eddy_any_of(NO, YES)), 0 },
		{ eddy_any_of(eddy_all_of(role, YES), NO), 1 },
		{ eddy_all_of(role, eddy_all_of(eddy_scopes("a"), YES), YES), 0 },
		{ eddy_all_of(eddy_any_of(eddy_all_of(role, YES), YES), YES), 2 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct eddy_jwt *token = token_with("{}");
		char text[EDDY_RULE_SCOPES_SIZE];

		for (int with_text = 0; with_text < 2; with_text++) {
			asked = 0;
			eddy_rule_check(rows[i].rule, token, with_text ? text : NULL);
			cr_expect_eq(asked, rows[i].asked, "%zu", i);
		}
		eddy_jwt_unref(token);
	}
}

/* Nothing of what it was copied from is looked at again. */
Test(rule, a_copy_stands_alone)
{
	char role[] = "admin", claim[] = "groups", group[] = "staff", scope[] = "read";
	const char *roles[] = { role, NULL }, *groups[] = { group, NULL },
		   *scopes[] = { scope, NULL };
	struct eddy_rule parts[] = {
		{ .kind = EDDY_RULE_ROLES, .names = roles },
		{ .kind = EDDY_RULE_CLAIM, .claim = claim, .names = groups },
		{ .kind = EDDY_RULE_SCOPES, .names = scopes },
		{ .kind = EDDY_RULE_PREDICATE, .fn = says, .data = &asked },
	};
	const struct eddy_rule *list[] = { &parts[0], &parts[1], &parts[2], &parts[3], NULL };
	struct eddy_rule all = { .kind = EDDY_RULE_ALL_OF, .rules = list }, *copy = NULL;
	const char *claims = "{\"role\":\"admin\",\"groups\":[\"staff\"],\"scope\":\"read\"}";

	look(&all, claims, true);
	cr_assert_eq(copy_of(&all, &copy), 0);
	memset(role, 'x', 5);
	memset(claim, 'x', 6);
	memset(group, 'x', 5);
	memset(scope, 'x', 4);
	roles[0] = groups[0] = scopes[0] = NULL;
	memset(parts, 0, sizeof(parts));
	memset(list, 0, sizeof(list));
	all.rules = NULL;
	asked = 0;
	look(copy, claims, true);
	/* Twice of the copy, and once of a copy of it. */
	cr_expect_eq(asked, 3);
	cr_expect_not(lets_in(copy, "{\"role\":\"admin\",\"groups\":[\"staff\"]}", "read"));
	free(copy);
	cr_expect_eq(eddyi_rule_size(NULL), 0);
	cr_expect_null(eddyi_rule_copy(NULL, NULL));
}

Test(rule, a_copy_is_of_what_can_be_satisfied)
{
	static const char *const empty[] = { "", NULL }, *const later[] = { "a", "", NULL };
	static const char *const names[] = { "a", NULL };
	const struct eddy_rule *never = &(const struct eddy_rule){ .kind = EDDY_RULE_ROLES };
	const struct eddy_rule rows[] = {
		{ .kind = EDDY_RULE_ROLES },
		{ .kind = EDDY_RULE_ROLES, .names = empty + 1 },
		{ .kind = EDDY_RULE_ROLES, .names = empty },
		{ .kind = EDDY_RULE_PERMISSIONS, .names = later },
		{ .kind = EDDY_RULE_CLAIM, .claim = "c" },
		{ .kind = EDDY_RULE_CLAIM, .names = names },
		{ .kind = EDDY_RULE_CLAIM, .claim = "", .names = names },
		{ .kind = EDDY_RULE_PREDICATE },
		{ .kind = EDDY_RULE_ANY_OF },
		{ .kind = EDDY_RULE_ALL_OF },
		{ .kind = 99, .names = names },
		*eddy_any_of(eddy_roles("a"), never),
		*eddy_all_of(eddy_any_of(never)),
		*eddy_scopes("a", ""),
		*eddy_scopes("a b"),
		*eddy_scopes("a\""),
		*eddy_scopes("\\"),
		*eddy_scopes("\xc3\xa4"),
		*eddy_scopes("a\t"),
	};
	struct eddy_rule *const nothing = (void *)0x1, *copy = nothing;

	for (size_t i = 0; i < COUNT(rows); i++) {
		cr_expect_eq(copy_of(&rows[i], &copy), -EINVAL, "%zu", i);
		cr_expect(copy == nothing);
	}
}

static int copy_of_levels(unsigned levels)
{
	static const char *const names[] = { "a", NULL };
	struct eddy_rule rules[32] = { { .kind = EDDY_RULE_ROLES, .names = names } }, *copy = NULL;
	const struct eddy_rule *lists[32][2] = { { NULL } };
	int r;

	for (unsigned i = 1; i < levels; i++) {
		lists[i][0] = &rules[i - 1];
		rules[i] = (struct eddy_rule){ .kind = EDDY_RULE_ALL_OF, .rules = lists[i] };
	}
	r = copy_of(&rules[levels - 1], &copy);
	free(copy);
	return r;
}

/* `count` names of `len` characters. */
static int copy_of_names(size_t count, size_t len)
{
	const char **names = calloc(count + 1, sizeof(*names));
	char *name = calloc(1, len + 1);
	struct eddy_rule rule = { .kind = EDDY_RULE_ROLES, .names = names }, *copy = NULL;
	int r;

	memset(name, 'a', len);
	for (size_t i = 0; i < count; i++)
		names[i] = name;
	r = copy_of(&rule, &copy);
	free(copy);
	free(names);
	free(name);
	return r;
}

Test(rule, a_copy_has_limits)
{
	size_t longest = 65536 - sizeof(struct eddy_rule) - 2 * sizeof(char *) - 1;
	const struct eddy_rule *itself[2] = { NULL };
	struct eddy_rule round = { .kind = EDDY_RULE_ANY_OF, .rules = itself }, *copy = NULL;

	cr_expect_eq(copy_of_levels(16), 0);
	cr_expect_eq(copy_of_levels(17), -EMSGSIZE);
	itself[0] = &round;
	cr_expect_eq(copy_of(&round, &copy), -EMSGSIZE);
	/* Beside the rule and its list, a name and its NUL. */
	cr_expect_eq(copy_of_names(1, longest), 0);
	cr_expect_eq(copy_of_names(1, longest + 1), -EMSGSIZE);
	cr_expect_eq(copy_of_names(4000, 7), 0);
	cr_expect_eq(copy_of_names(4096, 7), -EMSGSIZE);
	cr_expect_eq(copy_of_names(4096, 1), -EMSGSIZE);
}
