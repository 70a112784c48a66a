#include <eddy/accept.h>

#include "exchange_state.h"
#include "text/syntax.h"

#include <errno.h>

#define Q_ONE 1000

static const struct {
	const char *name;
	enum eddy_coding coding;
} names[] = {
	{ "identity", EDDY_CODING_IDENTITY }, /* the first name of a coding is used */
	{ "zstd", EDDY_CODING_ZSTD },         { "br", EDDY_CODING_BR },
	{ "gzip", EDDY_CODING_GZIP },         { "deflate", EDDY_CODING_DEFLATE },
	{ "x-gzip", EDDY_CODING_GZIP },
};

#define NAME_COUNT (sizeof(names) / sizeof(names[0]))

const char *eddy_coding_name(enum eddy_coding coding)
{
	for (size_t i = 0; i < NAME_COUNT; i++)
		if (names[i].coding == coding)
			return names[i].name;
	return NULL;
}

/* Take a qvalue such as `1`, `0.25` or `1.000` off the front. */
static bool take_qvalue(struct eddy_str *rest, int16_t *ret_q)
{
	int q, unit = Q_ONE / 10;

	if (!rest->len || (rest->ptr[0] != '0' && rest->ptr[0] != '1'))
		return false;
	q = (rest->ptr[0] - '0') * Q_ONE;
	*rest = eddy_str_skip(*rest, 1);
	if (eddyi_syntax_take(rest, '.')) {
		for (; unit && rest->len && rest->ptr[0] >= '0' && rest->ptr[0] <= '9';
		     unit /= 10) {
			q += (rest->ptr[0] - '0') * unit;
			*rest = eddy_str_skip(*rest, 1);
		}
	}
	*ret_q = (int16_t)q;
	return q <= Q_ONE;
}

/* Parse `gzip` or `gzip;q=0.5`. */
static bool parse_member(struct eddy_str member, struct eddy_str *ret_name, int16_t *ret_q)
{
	*ret_q = Q_ONE;
	if (!eddyi_syntax_take_token(&member, ret_name))
		return false;
	eddyi_syntax_skip_blanks(&member);
	if (eddyi_syntax_take(&member, ';')) {
		eddyi_syntax_skip_blanks(&member);
		if (!eddyi_syntax_take(&member, 'q') && !eddyi_syntax_take(&member, 'Q'))
			return false;
		if (!eddyi_syntax_take(&member, '=') || !take_qvalue(&member, ret_q))
			return false;
	}
	return !member.len;
}

static void lower(int16_t *q, int16_t to)
{
	if (*q < 0 || to < *q)
		*q = to;
}

struct eddy_accept eddy_accept_parse(struct eddy_str value)
{
	struct eddy_accept accept = { .any = -1 };
	struct eddy_str member, name;
	int16_t q;

	for (size_t i = 0; i < EDDY_CODING_COUNT; i++)
		accept.q[i] = -1;
	while (eddyi_syntax_take_member(&value, &member)) {
		size_t i = 0;

		if (!parse_member(member, &name, &q))
			continue;
		while (i < NAME_COUNT && !eddy_str_eq_nocase(name, eddy_str_from(names[i].name)))
			i++;
		if (i < NAME_COUNT)
			lower(&accept.q[names[i].coding], q);
		else if (eddy_str_eq_z(name, "*"))
			lower(&accept.any, q);
		else if (q > 0)
			accept.wants_other = true;
	}
	return accept;
}

struct eddy_accept eddy_req_accept(struct eddy_req *req)
{
	return eddy_accept_parse(eddyi_head_join(&req->head, "accept-encoding"));
}

/* Whether the client accepts codings, but names none of `order`. */
static bool wants_only_others(const struct eddy_accept *accept, const enum eddy_coding *order,
			      size_t count)
{
	bool others = accept->wants_other;

	for (size_t i = 0; i < EDDY_CODING_COUNT; i++)
		others |= accept->q[i] > 0;
	for (size_t i = 0; i < count; i++)
		if (accept->q[order[i]] >= 0)
			return false;
	return others;
}

int eddy_accept_choose(const struct eddy_accept *accept, const enum eddy_coding *order,
		       size_t count, enum eddy_coding *ret_coding)
{
	int16_t identity = accept->q[EDDY_CODING_IDENTITY], best = 0, q;
	enum eddy_coding coding = EDDY_CODING_IDENTITY;

	if (identity < 0)
		identity = accept->any;
	for (size_t i = 0; i < count; i++) {
		q = accept->q[order[i]];
		if (q < 0)
			q = accept->any;
		if (q > best) {
			best = q;
			coding = order[i];
		}
	}
	if (identity > best)
		coding = EDDY_CODING_IDENTITY;
	else if (!best && (identity == 0 || wants_only_others(accept, order, count)))
		return -ENOENT;
	*ret_coding = coding;
	return 0;
}
