/* metric_out.h: text that grows. */
#ifndef EDDYI_METRIC_OUT_H
#define EDDYI_METRIC_OUT_H

#include <eddy/str.h>

/* Begins zeroed. Once memory is out nothing more is put, and `failed` says so. */
struct eddyi_metric_out {
	char *bytes; /* owned */
	size_t len;
	size_t size;
	bool failed;
};

void eddyi_metric_put(struct eddyi_metric_out *out, const char *bytes, size_t len);

/* `strings` ends with NULL. */
void eddyi_metric_put_all(struct eddyi_metric_out *out, const char *const *strings);
#define eddyi_metric_puts(out, ...)                                                                \
	eddyi_metric_put_all(out, (const char *const[]){ __VA_ARGS__, NULL })

/* Put text as format 0.0.4 has it, that of a label or a HELP line; bytes that are no UTF-8 become U+FFFD. */
void eddyi_metric_put_escaped(struct eddyi_metric_out *out, const char *text, bool is_label);

/* Put a number of which `decimals` places stand behind the point, no zeros at their end. */
#define EDDYI_METRIC_NUMBER_SIZE 24
void eddyi_metric_put_number(struct eddyi_metric_out *out, int64_t value, unsigned decimals);
size_t eddyi_metric_format(uint64_t value, unsigned decimals, char text[EDDYI_METRIC_NUMBER_SIZE]);

#endif
