#include "cond.h"

#include "text/date.h"
#include "text/syntax.h"

#include <eddy/internal/outside.h>
#include <eddy/internal/text.h>
#include <endian.h>

struct etag {
	bool weak;
	struct eddy_str opaque; /* with its quotes */
};

/* Take `"…"` or `W/"…"` off the front. There are no escapes within the quotes. */
static bool take_etag(struct eddy_str *rest, struct etag *ret_etag)
{
	struct eddy_str at = *rest;
	struct etag etag = { 0 };
	size_t len = 1;

	if (eddy_str_starts(at, EDDY_STR("W/"))) {
		etag.weak = true;
		at = eddy_str_skip(at, 2);
	}
	if (!at.len || at.ptr[0] != '"')
		return false;
	for (; len < at.len && at.ptr[len] != '"'; len++)
		if ((unsigned char)at.ptr[len] <= 0x20 || at.ptr[len] == 0x7f)
			return false;
	if (len == at.len)
		return false;
	etag.opaque = eddy_str(at.ptr, len + 1);
	*rest = eddy_str_skip(at, len + 1);
	*ret_etag = etag;
	return true;
}

static bool parse_etag(struct eddy_str text, struct etag *ret_etag)
{
	return take_etag(&text, ret_etag) && !text.len;
}

static bool etags_equal(struct etag a, struct etag b, bool strong)
{
	return eddy_str_eq(a.opaque, b.opaque) && !(strong && (a.weak || b.weak));
}

/* Whether a list, or "*", names the representation. The whole list is parsed: anything malformed
 * after a match invalidates it. */
static bool list_matches(struct eddy_str list, const struct eddyi_cond_state *state, bool strong)
{
	struct etag own, member;
	bool has_own = parse_etag(state->etag, &own);
	bool matches = false;

	list = eddy_str_trim(list);
	if (eddy_str_eq_z(list, "*"))
		return true;
	while (list.len) {
		if (!eddyi_syntax_take(&list, ',')) { /* else an empty member */
			if (!take_etag(&list, &member))
				return false;
			matches |= has_own && etags_equal(own, member, strong);
			eddyi_syntax_skip_blanks(&list);
			if (list.len && !eddyi_syntax_take(&list, ','))
				return false;
		}
		eddyi_syntax_skip_blanks(&list);
	}
	return matches;
}

static bool parse_date(struct eddy_str text, const struct eddyi_cond_state *state, time_t *ret_when)
{
	return text.ptr && eddyi_date_parse(eddy_str_trim(text), state->now, ret_when) == 0;
}

enum eddyi_cond_result eddyi_cond_evaluate(const struct eddyi_cond_fields *fields,
					   const struct eddyi_cond_state *state,
					   enum eddyi_method method)
{
	bool reads = method == EDDYI_METHOD_GET || method == EDDYI_METHOD_HEAD;
	time_t when;

	if (fields->if_match.ptr) {
		if (!list_matches(fields->if_match, state, true))
			return EDDYI_COND_FAILED;
	} else if (state->has_modified && parse_date(fields->if_unmodified_since, state, &when)) {
		if (state->modified > when)
			return EDDYI_COND_FAILED;
	}
	if (fields->if_none_match.ptr) {
		if (list_matches(fields->if_none_match, state, false))
			return reads ? EDDYI_COND_NOT_MODIFIED : EDDYI_COND_FAILED;
	} else if (reads && state->has_modified &&
		   parse_date(fields->if_modified_since, state, &when)) {
		if (state->modified <= when)
			return EDDYI_COND_NOT_MODIFIED;
	}
	return EDDYI_COND_PROCEED;
}

bool eddyi_cond_range_allowed(const struct eddyi_cond_fields *fields,
			      const struct eddyi_cond_state *state)
{
	struct eddy_str value = eddy_str_trim(fields->if_range);
	struct etag own, asked;
	time_t when;

	if (!fields->if_range.ptr)
		return true;
	if (parse_etag(value, &asked))
		return parse_etag(state->etag, &own) && etags_equal(own, asked, true);
	return state->has_modified && parse_date(value, state, &when) && when == state->modified &&
	       state->modified < state->now;
}

/* ---- entity tags and modification times of files ---- */

void eddyi_validator_init(struct eddyi_validator *validator, const struct stat *st)
{
	uint32_t ns = htobe32((uint32_t)st->st_mtim.tv_nsec);
	char *at = validator->etag;

	*at++ = '"';
	at += eddyi_u64_format_hex((uint64_t)st->st_ino, at);
	*at++ = '-';
	at += eddyi_u64_format_hex((uint64_t)st->st_mtim.tv_sec, at);
	at = eddyi_hex_format(&ns, sizeof(ns), at);
	*at++ = '-';
	at += eddyi_u64_format_hex((uint64_t)st->st_size, at);
	*at++ = '"';
	validator->state = (struct eddyi_cond_state){
		.etag = eddy_str(validator->etag, (size_t)(at - validator->etag)),
		.has_modified = true,
		.modified = st->st_mtim.tv_sec,
		.now = eddyi_clock_seconds(),
	};
}

struct eddyi_cond_fields eddyi_validator_conditions(struct eddyi_head *head)
{
	return (struct eddyi_cond_fields){
		.if_match = eddyi_head_join(head, "if-match"),
		.if_unmodified_since = eddyi_head_join(head, "if-unmodified-since"),
		.if_none_match = eddyi_head_join(head, "if-none-match"),
		.if_modified_since = eddyi_head_join(head, "if-modified-since"),
		.if_range = eddyi_head_join(head, "if-range"),
	};
}
