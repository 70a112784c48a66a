/* Formats and patterns of text. */
#include <eddy/internal/member.h>

#include <arpa/inet.h>
#include <eddy/internal/text.h>
#include <eddy/log.h>
#include <eddy/loop.h>
#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

/* ---- formats ---- */

static bool is_alnum(char c)
{
	return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

/* Labels of letters, digits and inner hyphens. */
static bool is_domain(struct eddy_str domain)
{
	struct eddy_str label;

	if (!domain.len || domain.ptr[domain.len - 1] == '.')
		return false;
	while (eddy_str_split(&domain, '.', &label)) {
		if (!label.len || label.len > 63 || label.ptr[0] == '-' ||
		    label.ptr[label.len - 1] == '-')
			return false;
		for (size_t i = 0; i < label.len; i++)
			if (!is_alnum(label.ptr[i]) && label.ptr[i] != '-')
				return false;
	}
	return true;
}

/* The syntax of HTML's <input type=email>. */
static bool is_email(struct eddy_str text)
{
	struct eddy_str user;

	if (!memchr(text.ptr, '@', text.len) || !eddy_str_split(&text, '@', &user) || !user.len)
		return false;
	for (size_t i = 0; i < user.len; i++)
		if (!is_alnum(user.ptr[i]) && !strchr(".!#$%&'*+/=?^_`{|}~-", user.ptr[i]))
			return false;
	return !memchr(user.ptr, 0, user.len) && is_domain(text);
}

static bool is_uri(struct eddy_str text)
{
	size_t scheme = 0;

	/* strchr() also finds a NUL. */
	while (scheme < text.len && text.ptr[scheme] &&
	       (is_alnum(text.ptr[scheme]) || (scheme && strchr("+-.", text.ptr[scheme]))))
		scheme++;
	if (!scheme || scheme == text.len || text.ptr[scheme] != ':' ||
	    (text.ptr[0] >= '0' && text.ptr[0] <= '9'))
		return false;
	for (size_t i = scheme; i < text.len; i++) {
		char c = text.ptr[i];

		if (c == '%' ? eddyi_percent_at(text, i) < 0 :
			       !c || (!is_alnum(c) && !strchr("-._~:/?#[]@!$&'()*+,;=", c)))
			return false;
	}
	return true;
}

static bool is_uuid(struct eddy_str text)
{
	if (text.len != 36)
		return false;
	for (size_t i = 0; i < text.len; i++)
		if (i == 8 || i == 13 || i == 18 || i == 23 ? text.ptr[i] != '-' :
							      eddyi_hex_digit(text.ptr[i]) < 0)
			return false;
	return true;
}

static bool is_address(int family, struct eddy_str text)
{
	char z[INET6_ADDRSTRLEN], binary[sizeof(struct in6_addr)];

	if (text.len >= sizeof(z) || memchr(text.ptr, 0, text.len))
		return false;
	memcpy(z, text.ptr, text.len);
	z[text.len] = 0;
	return inet_pton(family, z, binary) == 1;
}

bool eddyi_format_accepts(enum eddy_format format, struct eddy_str text)
{
	if (!text.len)
		return format == EDDY_FORMAT_ANY;
	switch (format) {
	case EDDY_FORMAT_ANY:
		return true;
	case EDDY_FORMAT_DATE:
		return eddyi_str_is_date(text);
	case EDDY_FORMAT_EMAIL:
		return is_email(text);
	case EDDY_FORMAT_URI:
		return is_uri(text);
	case EDDY_FORMAT_UUID:
		return is_uuid(text);
	case EDDY_FORMAT_IPV4:
		return is_address(AF_INET, text);
	case EDDY_FORMAT_IPV6:
		return is_address(AF_INET6, text);
	}
	return false;
}

const char *eddyi_format_name(enum eddy_format format)
{
	static const char *const names[] = {
		[EDDY_FORMAT_ANY] = "text",
		[EDDY_FORMAT_DATE] = "a date such as 2026-01-31",
		[EDDY_FORMAT_EMAIL] = "an email address",
		[EDDY_FORMAT_URI] = "an absolute URI",
		[EDDY_FORMAT_UUID] = "a UUID",
		[EDDY_FORMAT_IPV4] = "an IPv4 address",
		[EDDY_FORMAT_IPV6] = "an IPv6 address",
	};

	return names[format];
}

/* ---- patterns ---- */

/* Several threads may compile one at once: the first that is done is kept. */
static regex_t *compile(struct eddy_pattern *pattern)
{
	regex_t *regex = malloc(sizeof(*regex)), *first = NULL;
	int r = regex ? regcomp(regex, pattern->text, REG_EXTENDED | REG_NOSUB) : REG_ESPACE;

	if (r != 0) {
		free(regex);
		eddy_error("eddy::data",
			   "the pattern \"%s\" can't be compiled (error %d of regcomp)",
			   pattern->text, r);
		return NULL;
	}
	if (__atomic_compare_exchange_n(&pattern->compiled, (void **)&first, regex, false,
					__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return regex;
	regfree(regex);
	free(regex);
	return first;
}

struct match {
	struct eddy_pattern *pattern;
	struct eddy_str text;
	int result;
};

/* It matches a copy that ends in a NUL: POSIX has no regexec(3) with a length, and AddressSanitizer
 * does not know glibc's. With REG_STARTEND the text may have NULs inside. */
static void match(void *arg)
{
	struct match *match = arg;
	regex_t *regex = __atomic_load_n(&match->pattern->compiled, __ATOMIC_ACQUIRE);
	regmatch_t whole = { 0, (regoff_t)match->text.len };
	char *text;
	int r;

	if (!regex)
		regex = compile(match->pattern);
	if (!regex) {
		match->result = -EDOM;
		return;
	}
	text = malloc(match->text.len + 1);
	if (!text) {
		match->result = -ENOMEM;
		return;
	}
	if (match->text.len)
		memcpy(text, match->text.ptr, match->text.len);
	text[match->text.len] = '\0';
	r = regexec(regex, text, 1, &whole, REG_STARTEND);
	match->result = r == 0 ? 1 : r == REG_NOMATCH ? 0 : -ENOMEM;
	free(text);
}

int eddyi_pattern_matches(struct eddy_pattern *pattern, struct eddy_str text)
{
	struct match job = { .pattern = pattern, .text = text };

	/* It needs more than a task's stack. */
	eddy_on_loop_stack(match, &job);
	return job.result;
}
