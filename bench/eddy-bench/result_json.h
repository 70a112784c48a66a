/* result_json.h: the fields of a result, as its file has them. What the parts of result_*.c share. */
#ifndef EDDY_BENCH_RESULT_JSON_H
#define EDDY_BENCH_RESULT_JSON_H

#include "result.h"

enum field_kind {
	FIELD_NUMBER,  /* double */
	FIELD_TEXT,    /* const char * */
	FIELD_FLAG,    /* bool */
	FIELD_NUMBERS, /* a struct of doubles, with fields of its own */
};

struct field {
	const char *name; /* NULL behind the last */
	enum field_kind kind;
	size_t offset;
	const struct field *fields; /* of FIELD_NUMBERS */
};

extern const struct field result_fields[], machine_fields[], settings_fields[], cell_fields[],
	target_fields[], server_fields[], sample_fields[], goal_fields[];

#endif
