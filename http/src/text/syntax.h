/* syntax.h: the small grammar that header fields share: tokens, quoted strings, lists
 * (RFC 9110 section 5.6), percent escapes (RFC 3986 section 2.1) and UTF-8 (RFC 3629).
 *
 * Cursors: a function that takes `struct eddy_str *rest` moves it past what it read, and leaves it
 * alone when it fails.
 */
#ifndef EDDYI_SYNTAX_H
#define EDDYI_SYNTAX_H

#include "arena.h"

/* Tell whether `c` is a tchar. */
bool eddyi_syntax_is_tchar(char c);

/* Tell whether `str` is a token: one tchar or more. */
bool eddyi_syntax_is_token(struct eddy_str str);

/* Tell whether `str` may be sent as the value of a field: no control byte but tab. */
bool eddyi_syntax_is_value(struct eddy_str str);

/* The value of a hexadecimal digit. Return: -1 for any other byte. */
int eddyi_syntax_hex(char c);

/* Tell whether `str` is well-formed UTF-8: no overlong form, surrogate, or value past U+10FFFF. */
bool eddyi_syntax_is_utf8(struct eddy_str str);

/* Drop spaces and tabs from the front. */
void eddyi_syntax_skip_blanks(struct eddy_str *rest);

/* Take one byte off the front when it is `c`. */
bool eddyi_syntax_take(struct eddy_str *rest, char c);

/* Take the longest token off the front. Return: false when there is none. */
bool eddyi_syntax_take_token(struct eddy_str *rest, struct eddy_str *ret_token);

/* Take a quoted-string off the front; `ret_inner` is what stands between the quotes, escapes and
 * all. Bytes over 0x7f are taken as they are. Return: false when it does not begin with a quote,
 * does not end, or holds a control byte other than tab. */
bool eddyi_syntax_take_quoted(struct eddy_str *rest, struct eddy_str *ret_inner);

/* Take the next member of a comma-separated list, blanks around it dropped; empty members are
 * skipped (RFC 9110 section 5.6.1.2) and a comma within a quoted-string is none. Return: false at
 * the end of the list. */
bool eddyi_syntax_take_member(struct eddy_str *rest, struct eddy_str *ret_member);

/* Read the percent escape that stands at byte `at`. Return: the byte it means, or -1. */
int eddyi_syntax_escape_at(struct eddy_str str, size_t at);

/* Decode percent escapes from `str` to `out`, which has room for str.len bytes and may be str.ptr.
 * Return: the decoded length, -EINVAL for a '%' without two hexadecimal digits behind it. */
ssize_t eddyi_syntax_unescape(struct eddy_str str, char *out);

#endif
