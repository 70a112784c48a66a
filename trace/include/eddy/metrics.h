/* eddy/metrics.h: metrics of an app's requests, and a /metrics endpoint for Prometheus.
 *
 *     eddy_app_use_metrics(app);
 *     eddy_app_map_get(app, "/metrics", eddy_metrics);
 *
 * docs/metrics.md lists the metrics; eddy/metric.h adds those of a program. Both calls may be for
 * different apps of a process, such as one that listens on an internal address.
 */
#ifndef EDDY_METRICS_H
#define EDDY_METRICS_H

#include <eddy/app.h>
#include <eddy/metric.h>
#include <eddy/route.h>

EDDY_BEGIN_DECLS

/* Count the app's requests and connections. A request is counted when it is over, by its method,
 * its route's pattern and its status; unmapped paths and methods create no metrics. */
EDDY_API void eddy_app_use_metrics(struct eddy_app *app);

/* Respond with all metrics of the process, as eddy_metric_text() writes them. Suspends. */
EDDY_API int eddy_metrics(struct eddy_req *req, struct eddy_res *res);

EDDY_END_DECLS

#endif
