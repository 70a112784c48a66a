/* eddy/str.h: a borrowed run of bytes: pointer and length, no terminating NUL.
 *
 * Passed by value. It owns nothing: who hands one out says how long the bytes live.
 */
#ifndef EDDY_STR_H
#define EDDY_STR_H

#include <eddy/base.h>
#include <string.h>

EDDY_BEGIN_DECLS

struct eddy_str {
	const char *ptr;
	size_t len;
};

/* The arguments of a "%.*s". */
#define EDDY_FMT(str) (int)(str).len, (str).ptr

/* Wrap `len` bytes at `ptr`. */
static inline struct eddy_str eddy_str(const char *ptr, size_t len)
{
	struct eddy_str str = { ptr, len };

	return str;
}

/* Wrap a NUL-terminated string; NULL gives the empty one. */
static inline struct eddy_str eddy_str_from(const char *z)
{
	return eddy_str(z, z ? strlen(z) : 0);
}

/* Compare byte by byte. */
static inline bool eddy_str_eq(struct eddy_str a, struct eddy_str b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* Compare with a NUL-terminated string. */
static inline bool eddy_str_eq_z(struct eddy_str a, const char *z)
{
	return eddy_str_eq(a, eddy_str_from(z));
}

/* Compare without regard to the case of ASCII letters. */
EDDY_API bool eddy_str_eq_nocase(struct eddy_str a, struct eddy_str b);

/* Whether `str` begins with `prefix`. */
static inline bool eddy_str_starts(struct eddy_str str, struct eddy_str prefix)
{
	return str.len >= prefix.len && eddy_str_eq(eddy_str(str.ptr, prefix.len), prefix);
}

/* Everything from byte `from` on; `from` past the end gives the empty string at the end. */
static inline struct eddy_str eddy_str_skip(struct eddy_str str, size_t from)
{
	if (from > str.len)
		from = str.len;
	return eddy_str(str.ptr + from, str.len - from);
}

/* Drop spaces and tabs at both ends. */
EDDY_API struct eddy_str eddy_str_trim(struct eddy_str str);

/* Take what stands before the first `separator` off the front of `*rest`, and the separator with
 * it. Return: false once nothing is left (an empty last piece is handed out once). */
EDDY_API bool eddy_str_split(struct eddy_str *rest, char separator, struct eddy_str *ret_piece);

/* Parse all of `str` as a decimal number without sign or blanks.
 * Return: 0, -EINVAL when it is not one, -ERANGE when it does not fit. */
EDDY_API int eddy_str_to_u64(struct eddy_str str, uint64_t *ret_value);

/* What a number takes at most, with the NUL. */
#define EDDY_U64_SIZE 21

/* Write a number in decimal, and a NUL. Return: its length. */
EDDY_API size_t eddy_u64_format(uint64_t value, char text[EDDY_U64_SIZE]);

/* What a double takes at most, with the NUL. */
#define EDDY_F64_SIZE 40

/* Write a double as JSON has it, with as few digits as tell it from any other, and a NUL; a locale's comma is a
 * point here. What JSON has not is NaN, Infinity or -Infinity. Return: its length. */
EDDY_API size_t eddy_f64_format(double value, char text[EDDY_F64_SIZE]);

/* How many bytes at the front are printable ASCII that no language of strings escapes: no '"', no '\\'. */
EDDY_API size_t eddy_str_plain_len(struct eddy_str str);

/* The bytes of the UTF-8 character at the front (RFC 3629); 0 when there is none. */
EDDY_API size_t eddy_str_utf8_len(struct eddy_str str);

EDDY_END_DECLS

#endif
