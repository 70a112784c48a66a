/* syntax.h: the common grammar of header fields: tokens, quoted strings, lists (RFC 9110 section
 * 5.6) and percent-encoded text (RFC 3986 section 2.1).
 *
 * Functions advance `*rest` past what they have read, and leave it unchanged on failure. */
#ifndef EDDYI_SYNTAX_H
#define EDDYI_SYNTAX_H

#include "arena.h"

bool eddyi_syntax_is_tchar(char c);

/* Whether `str` is a token: one or more tchars. */
bool eddyi_syntax_is_token(struct eddy_str str);

/* Whether `str` may be sent as a field value: without control bytes except tabs. */
bool eddyi_syntax_is_value(struct eddy_str str);

/* Skip spaces and tabs. */
void eddyi_syntax_skip_blanks(struct eddy_str *rest);

/* Take one byte off the front if it is `c`. */
bool eddyi_syntax_take(struct eddy_str *rest, char c);

/* Take the longest token off the front. Return: false if there is none. */
bool eddyi_syntax_take_token(struct eddy_str *rest, struct eddy_str *ret_token);

/* Take a quoted-string off the front; `ret_inner` is the text between the quotes, including
 * escapes. Bytes over 0x7f are accepted.
 * Return: false if there is no quote, no end, or a control byte other than a tab. */
bool eddyi_syntax_take_quoted(struct eddy_str *rest, struct eddy_str *ret_inner);

/* Take the next member of a comma-separated list, without surrounding blanks. Empty members are
 * skipped (RFC 9110 section 5.6.1.2), and a comma within a quoted-string does not separate.
 * Return: false at the end of the list. */
bool eddyi_syntax_take_member(struct eddy_str *rest, struct eddy_str *ret_member);

/* Whether a comma-separated list has this member, in any case. */
bool eddyi_syntax_has_member(struct eddy_str list, struct eddy_str member);

/* Decode percent escapes from `str` to `out`, which has room for str.len bytes and may be str.ptr.
 * Return: the decoded length; -EINVAL for a '%' without two hexadecimal digits. */
ssize_t eddyi_syntax_unescape(struct eddy_str str, char *out);

#endif
