/* eddy/str.h: a borrowed byte string: pointer and length, no terminating NUL.
 *
 * It is passed by value and owns nothing: functions that return one say how long its bytes live.
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

/* Expand to the arguments of a "%.*s". */
#define EDDY_FMT(str) (int)(str).len, (str).ptr

/* Make a string of the `len` bytes at `ptr`. */
static inline struct eddy_str eddy_str(const char *ptr, size_t len)
{
	struct eddy_str str = { ptr, len };

	return str;
}

/* Make a string of a literal, which is measured at compile time: EDDY_STR("identity"). */
#define EDDY_STR(literal) eddy_str("" literal, sizeof(literal) - 1)

/* Make a string of a NUL-terminated one; NULL gives the empty string. */
static inline struct eddy_str eddy_str_from(const char *z)
{
	return eddy_str(z, z ? strlen(z) : 0);
}

/* Check whether two strings are equal, byte by byte. */
static inline bool eddy_str_eq(struct eddy_str a, struct eddy_str b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* Check whether a string equals a NUL-terminated one. */
static inline bool eddy_str_eq_z(struct eddy_str a, const char *z)
{
	return eddy_str_eq(a, eddy_str_from(z));
}

/* Check whether two strings are equal, ignoring the case of ASCII letters. */
EDDY_API bool eddy_str_eq_nocase(struct eddy_str a, struct eddy_str b);

/* Check whether `str` begins with `prefix`. */
static inline bool eddy_str_starts(struct eddy_str str, struct eddy_str prefix)
{
	return str.len >= prefix.len && eddy_str_eq(eddy_str(str.ptr, prefix.len), prefix);
}

/* Get the rest of a string from byte `from` on; empty if `from` is past the end. */
static inline struct eddy_str eddy_str_skip(struct eddy_str str, size_t from)
{
	if (from > str.len)
		from = str.len;
	return eddy_str(str.ptr + from, str.len - from);
}

/* Trim spaces and tabs at both ends. */
EDDY_API struct eddy_str eddy_str_trim(struct eddy_str str);

/* Split off the text before the first `separator` of `*rest`, and remove the separator. Return:
 * false if nothing is left (an empty last piece is returned once). */
EDDY_API bool eddy_str_split(struct eddy_str *rest, char separator, struct eddy_str *ret_piece);

/* Parse a string as a decimal number, without sign or spaces.
 * Return: 0; -EINVAL if it is not one; -ERANGE if it does not fit. */
EDDY_API int eddy_str_to_u64(struct eddy_str str, uint64_t *ret_value);

/* Size of a formatted number, its NUL included. */
#define EDDY_U64_SIZE 21

/* Format a number in decimal, with a NUL. Return: its length. */
EDDY_API size_t eddy_u64_format(uint64_t value, char text[EDDY_U64_SIZE]);

EDDY_END_DECLS

#endif
