/* metric_out.h: a growing text buffer. */
#ifndef EDDYI_METRIC_OUT_H
#define EDDYI_METRIC_OUT_H

#include <eddy/str.h>

/* Begins zeroed. After an allocation failure `failed` is set and nothing more is written. */
struct eddyi_metric_out {
	char *bytes; /* owned */
	size_t len;
	size_t size;
	bool failed;
};

void eddyi_metric_put(struct eddyi_metric_out *out, const char *bytes, size_t len);

void eddyi_metric_put_all(struct eddyi_metric_out *out, const char *const *strings);
#define eddyi_metric_puts(out, ...)                                                                \
	eddyi_metric_put_all(out, (const char *const[]){ __VA_ARGS__, NULL })

/* Write text escaped for format 0.0.4, for a label or a HELP line; invalid UTF-8 becomes U+FFFD. */
void eddyi_metric_put_escaped(struct eddyi_metric_out *out, const char *text, bool is_label);

/* Write a number with `decimals` decimal places, without trailing zeros. */
#define EDDYI_METRIC_NUMBER_SIZE 24
void eddyi_metric_put_number(struct eddyi_metric_out *out, int64_t value, unsigned decimals);
size_t eddyi_metric_format(uint64_t value, unsigned decimals, char text[EDDYI_METRIC_NUMBER_SIZE]);

#endif
