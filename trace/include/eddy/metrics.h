/* eddy/metrics.h: an app's requests as metrics, and all metrics on the wire.
 *
 *     eddy_app_use_metrics(app);
 *     eddy_app_map_get(app, "/metrics", eddy_metrics);
 *
 * Prometheus scrapes the second. What is counted is listed in docs/metrics.md; a program adds its own by metric.h.
 * The two may be of different apps of a process, for example of one that listens where only operators ask.
 */
#ifndef EDDY_METRICS_H
#define EDDY_METRICS_H

#include <eddy/app.h>
#include <eddy/metric.h>
#include <eddy/route.h>

EDDY_BEGIN_DECLS

/* Count the app's requests and connections. A request is counted when it is over, by its method, the pattern of the
 * route that answered and its status: paths and methods that nobody has mapped make no metrics. */
EDDY_API void eddy_app_use_metrics(struct eddy_app *app);

/* A handler: all metrics of the process, as eddy_metric_text() writes them. Suspends. */
EDDY_API int eddy_metrics(struct eddy_req *req, struct eddy_res *res);

EDDY_END_DECLS

#endif
