/* otlp_post.h: posts spans to a collector by OTLP/HTTP with JSON (version 1). */
#ifndef EDDYI_OTLP_POST_H
#define EDDYI_OTLP_POST_H

#include <eddy/header.h>
#include <eddy/str.h>

struct eddy_client;

/* .body_max for the client. */
#define EDDYI_OTLP_ANSWER_MAX ((uint64_t)(64 * EDDY_KIB))

enum eddyi_otlp_verdict {
	EDDYI_OTLP_TAKEN,
	EDDYI_OTLP_REFUSED, /* permanently */
	EDDYI_OTLP_FAILED,  /* retry */
};

/* The result of a post. */
struct eddyi_otlp_outcome {
	enum eddyi_otlp_verdict verdict;
	uint64_t rejected; /* spans rejected by the collector, by its own count: any number */
	uint64_t pause_ns; /* requested pause */
	char why[256];     /* reason, for people; unset on success */
};

/* Post `spans`, an ExportTraceServiceRequest. Suspends. Return: 0, -ECANCELED. */
int eddyi_otlp_post(struct eddy_client *client, const char *url, const struct eddy_header *headers,
		    struct eddy_str spans, struct eddyi_otlp_outcome *ret_outcome);

#endif
