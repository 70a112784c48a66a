/* otlp_post.h: spans to a collector, by OTLP over HTTP, in JSON (its specification, version 1). */
#ifndef EDDYI_OTLP_POST_H
#define EDDYI_OTLP_POST_H

#include <eddy/header.h>
#include <eddy/str.h>

struct eddy_client;

/* What a client should have for .body_max: more is no answer. */
#define EDDYI_OTLP_ANSWER_MAX ((uint64_t)(64 * EDDY_KIB))

enum eddyi_otlp_verdict {
	EDDYI_OTLP_TAKEN,
	EDDYI_OTLP_REFUSED, /* for good */
	EDDYI_OTLP_FAILED,  /* it may be tried again */
};

/* What became of a post. */
struct eddyi_otlp_outcome {
	enum eddyi_otlp_verdict verdict;
	uint64_t rejected; /* spans of those that were taken, as the collector says: any number */
	uint64_t pause_ns; /* that it asks for */
	char why[256];     /* what is wrong, for people; not where all is well */
};

/* Post `spans`, an ExportTraceServiceRequest. Suspends. Return: 0, -ECANCELED. */
int eddyi_otlp_post(struct eddy_client *client, const char *url, const struct eddy_header *headers,
		    struct eddy_str spans, struct eddyi_otlp_outcome *ret_outcome);

#endif
