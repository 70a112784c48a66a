/* eddy/to.h: typed variables to parse text into; the variable's type picks the parser. */
#ifndef EDDY_TO_H
#define EDDY_TO_H

#include <eddy/str.h>
#include <eddy/time.h>

EDDY_BEGIN_DECLS

enum eddy_type {
	EDDY_TYPE_STR, /* the text itself, borrowed */
	EDDY_TYPE_I8,
	EDDY_TYPE_I16,
	EDDY_TYPE_I32,
	EDDY_TYPE_I64,
	EDDY_TYPE_U8,
	EDDY_TYPE_U16,
	EDDY_TYPE_U32,
	EDDY_TYPE_U64,
	EDDY_TYPE_DOUBLE,
	EDDY_TYPE_BOOL, /* "true" or "false" */
	EDDY_TYPE_TIME, /* a struct eddy_time (eddy/time.h) */
	/* Of members only (eddy/member.h): */
	EDDY_TYPE_OBJECT,
	EDDY_TYPE_ARRAY,
};

struct eddy_to {
	enum eddy_type type;
	void *ptr;
};

#ifndef __cplusplus
#define EDDYI_SIGNED(type)                                                                         \
	(sizeof(type) == 1 ? EDDY_TYPE_I8 :                                                        \
	 sizeof(type) == 2 ? EDDY_TYPE_I16 :                                                       \
	 sizeof(type) == 4 ? EDDY_TYPE_I32 :                                                       \
			     EDDY_TYPE_I64)
#define EDDYI_UNSIGNED(type)                                                                       \
	(sizeof(type) == 1 ? EDDY_TYPE_U8 :                                                        \
	 sizeof(type) == 2 ? EDDY_TYPE_U16 :                                                       \
	 sizeof(type) == 4 ? EDDY_TYPE_U32 :                                                       \
			     EDDY_TYPE_U64)

/* The type of what `pointer` points to; a compile error that says `message` if there is none. */
#define EDDYI_TYPE_OF(pointer, message)                                                            \
	((enum eddy_type)(EDDYI_TYPE(pointer) +                                                    \
			  0 * sizeof(struct {                                                      \
				  _Static_assert(EDDYI_TYPE(pointer) != EDDYI_NO_TYPE, message);   \
				  char unused;                                                     \
			  })))
#define EDDYI_NO_TYPE (-1)
#define EDDYI_TYPE(pointer)                                                                        \
	_Generic((pointer),                                                                        \
		struct eddy_str *: EDDY_TYPE_STR,                                                  \
		signed char *: EDDY_TYPE_I8,                                                       \
		short *: EDDY_TYPE_I16,                                                            \
		int *: EDDY_TYPE_I32,                                                              \
		long *: EDDYI_SIGNED(long),                                                        \
		long long *: EDDYI_SIGNED(long long),                                              \
		unsigned char *: EDDY_TYPE_U8,                                                     \
		unsigned short *: EDDY_TYPE_U16,                                                   \
		unsigned *: EDDY_TYPE_U32,                                                         \
		unsigned long *: EDDYI_UNSIGNED(unsigned long),                                    \
		unsigned long long *: EDDYI_UNSIGNED(unsigned long long),                          \
		double *: EDDY_TYPE_DOUBLE,                                                        \
		bool *: EDDY_TYPE_BOOL,                                                            \
		struct eddy_time *: EDDY_TYPE_TIME,                                                \
		default: EDDYI_NO_TYPE)

/* Wrap a pointer to a variable. C only; in C++ write `eddy_to{ EDDY_TYPE_I32, &id }`. */
#define EDDY_TO(target)                                                                                 \
	((struct eddy_to){                                                                              \
		EDDYI_TYPE_OF(                                                                          \
			target,                                                                         \
			"EDDY_TO(&variable) takes an integer, double, bool, struct "                    \
			"eddy_time or struct eddy_str; text is a struct eddy_str, printed by \"%.*s\" " \
			"and EDDY_FMT(text)"),                                                          \
		(target) })
#endif

/* Parse all of `text` into a variable, which is unchanged on an error.
 * Return: 0; -EINVAL if the text is malformed; -ERANGE if the value does not fit. */
EDDY_API int eddy_to_parse(struct eddy_to to, struct eddy_str text);

EDDY_END_DECLS

#endif
