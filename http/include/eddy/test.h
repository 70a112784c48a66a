/* eddy/test.h: a test client: one request through an app's routes and filters, without listening.
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
 * The request is handed over in memory, as the bytes of its head and a body: parsing, limits and
 * errors are those of the network. The app is tested as built so far. Tasks that layers
 * add (eddy_app_add_task()) run as long as the test.
 */
#ifndef EDDY_TEST_H
#define EDDY_TEST_H

#include <eddy/app.h>
#include <eddy/client.h>

EDDY_BEGIN_DECLS

/* Send one request to an app that is not running. Suspends. Everything runs on the calling task's
 * loop; a plain thread gets a loop for the time of the call.
 *
 * `line` is a method and a target: "GET /orders/7?all=1", or "GET http://example.org/" for a host
 * other than localhost. `request` has the fields and the body, its `method` is ignored; NULL:
 * neither. The connection is plain, even if the app uses TLS. The only timeouts are .timeout_ns of
 * the request and the app's of a body that stalls, in real time.
 * Return: 0, and a response of any status, whose body is in memory: eddy_response_body() returns at
 * once; -EINVAL if the app has a mistake (see the ERROR log record), if the line or the request
 * is malformed, or if the body's length differs from the announced one; -ECONNRESET if the app has
 * cut the connection; -EMSGSIZE if the response exceeds a limit; -ETIMEDOUT after .timeout_ns; the
 * error of .pull; -ECANCELED, -ENOMEM; those of eddy_run(). A DEBUG record of eddy::test says more. */
EDDY_API int eddy_app_test(struct eddy_app *app, const char *line,
			   const struct eddy_client_request *request,
			   struct eddy_response **ret_response);

EDDY_END_DECLS

#endif
