/* eddy/trace.h: all headers of eddy's tracing, logging and metrics. */
#ifndef EDDY_TRACE_H
#define EDDY_TRACE_H

#include <eddy/log_writer.h>
#include <eddy/metric.h>
#include <eddy/metrics.h>
#include <eddy/span.h>
#include <eddy/trace_context.h>
#include <eddy/tracing.h>

#endif
