/* eddy/test.h: one request through the routes, guards and filters of an app, without listening.
 *
 *     struct eddy_response *response;
 *     struct eddy_str body;
 *
 *     r = eddy_app_test(app, "GET /orders/7", NULL, &response);
 *     assert(r == 0 && eddy_response_status(response) == 200);
 *     eddy_response_body(response, &body);
 *     assert(eddy_str_eq_z(body, "order 7"));
 *     eddy_response_free(response);
 *
 * The request takes the way that one from the network takes, over a pair of sockets: parsed, limited, cut and
 * refused alike. The app need not be finished: it is tested as it has been built so far. The tasks that layers
 * add to it run as long as the test does.
 */
#ifndef EDDY_TEST_H
#define EDDY_TEST_H

#include <eddy/app.h>
#include <eddy/client.h>

EDDY_BEGIN_DECLS

/* Ask the app, which does not run meanwhile. `line` is a method and a target: "GET /orders/7?all=1", or
 * "GET http://example.org/" to ask for another host than localhost. The request's fields and body are as a
 * client's, its `method` is not looked at; NULL is none of either. The connection is a plain one, also where
 * the app uses TLS. Suspends the task that calls it, and everything happens on that task's loop; from a plain
 * thread it makes a loop for as long as it takes.
 *
 * No time is limited but the request's, if it says so (.timeout_ns), and what the app's own limits say, which
 * are real: a test of those makes them short.
 * Return: 0, and a response of any status whose body is in memory: eddy_response_body() does not suspend;
 * -EINVAL when the app has a mistake, which an ERROR record tells, or when the line or the request is malformed;
 * -ECONNRESET when the app has cut the connection; -ETIMEDOUT after the request's time;
 * -ECANCELED, -ENOMEM; those of eddy_run(). */
EDDY_API int eddy_app_test(struct eddy_app *app, const char *line,
			   const struct eddy_client_request *request,
			   struct eddy_response **ret_response);

EDDY_END_DECLS

#endif
