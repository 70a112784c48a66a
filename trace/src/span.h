/* span.h: spans that no block of code encloses, such as those of requests. */
#ifndef EDDYI_SPAN_H
#define EDDYI_SPAN_H

#include <eddy/span.h>

/* The key of the current span, for eddy_local_get(). */
extern EDDY_API const struct eddy_local_key eddyi_span_key;

/* Begin a span without making it the task's. To do that, pass `locals` and `fields` of the span as
 * options of a scope. Never suspends. */
EDDY_API void eddyi_span_init(struct eddy_span *span, const char *name,
			      const struct eddy_span_options *options);

/* End a span of eddyi_span_init(). `more` attributes (NULL, or from EDDY_FIELDS()) do not replace
 * those with the same name. Never suspends. */
EDDY_API void eddyi_span_deinit(struct eddy_span *span, const struct eddy_field *more);

#endif
