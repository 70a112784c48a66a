/* json_scan.h: tokens of JSON (RFC 8259), and values that are skipped. */
#ifndef EDDYI_JSON_SCAN_H
#define EDDYI_JSON_SCAN_H

#include <eddy/member.h>

#define EDDYI_JSON_DEPTH_MOST 1024

struct eddyi_json_scan {
	const char *begin, *at, *end;
	size_t values_left;
	unsigned depth, depth_max; /* EDDYI_JSON_DEPTH_MOST at most */
	char *why;                 /* gets the reason of -EBADMSG; of EDDY_WHY_SIZE */
};

struct eddyi_json_number {
	struct eddy_str text;
	uint64_t digits; /* without the point */
	int exponent;    /* of `digits` */
	bool is_negative;
	bool is_real;
	bool is_long; /* `digits` has overflowed */
};

/* Report that the text is not JSON, by the character at `at`. Return: -EBADMSG. */
int eddyi_json_malformed_at(struct eddyi_json_scan *scan, const char *at, const char *reason);
int eddyi_json_malformed(struct eddyi_json_scan *scan, const char *reason);

static inline void eddyi_json_scan_space(struct eddyi_json_scan *scan)
{
	while (scan->at < scan->end &&
	       (*scan->at == ' ' || *scan->at == '\n' || *scan->at == '\r' || *scan->at == '\t'))
		scan->at++;
}

/* Get the next character after blanks; 0 at the end. */
static inline char eddyi_json_scan_next(struct eddyi_json_scan *scan)
{
	eddyi_json_scan_space(scan);
	return scan->at < scan->end ? *scan->at : 0;
}

/* Unless they say otherwise, the functions below return 0, or -EBADMSG with a reason. */

/* Take a string; `at` is its opening quote. `*ret_raw` still has its escapes. */
int eddyi_json_scan_str(struct eddyi_json_scan *scan, struct eddy_str *ret_raw, bool *ret_escaped);

/* Take the name of a member, and the colon behind it. */
int eddyi_json_scan_name(struct eddyi_json_scan *scan, struct eddy_str *ret_raw, bool *ret_escaped);

/* Decode the escapes of a string that was taken. `to` has room for `raw`. Return: the length. */
size_t eddyi_json_scan_unescape(struct eddyi_json_scan *scan, struct eddy_str raw, char *to);

/* Take a number; `at` is its first character. */
int eddyi_json_scan_number(struct eddyi_json_scan *scan, struct eddyi_json_number *ret_number);

/* Convert a number. Return: 0; -ERANGE if it is infinite or too long. */
int eddyi_json_scan_double(const struct eddyi_json_number *number, double *ret_value);

/* Count a value. Return: 0; -EMSGSIZE for too many. */
int eddyi_json_scan_count(struct eddyi_json_scan *scan);

/* Begin an array or object, and count it; end it. `at` is its bracket. */
int eddyi_json_scan_enter(struct eddyi_json_scan *scan);
void eddyi_json_scan_leave(struct eddyi_json_scan *scan);

/* Skip a value, which is checked, and counted with those in it. Return: also -EMSGSIZE. */
int eddyi_json_scan_skip(struct eddyi_json_scan *scan);

#endif
