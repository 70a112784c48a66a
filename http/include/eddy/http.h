/* eddy/http.h: the whole HTTP layer, and the log records of the runtime.
 *
 *     #include <eddy/http.h>
 *
 *     static int hello(struct eddy_req *req, struct eddy_res *res)
 *     {
 *             struct eddy_str name;
 *
 *             if (eddy_req_path(req, EDDY_TO(&name)) < 0)
 *                     return 400;
 *             return eddy_res_ok(res, "Hello, %.*s!", EDDY_FMT(name));
 *     }
 *
 *     int main(void)
 *     {
 *             struct eddy_app *app = eddy_app_new();
 *
 *             eddy_log_text_subscribe();
 *             eddy_app_map_get(app, "/hello/{name}", hello);
 *             return eddy_app_run_blocking(app);
 *     }
 */
#ifndef EDDY_HTTP_H
#define EDDY_HTTP_H

#include <eddy/accept.h>
#include <eddy/app.h>
#include <eddy/app_sandbox.h>
#include <eddy/body_limit.h>
#include <eddy/client.h>
#include <eddy/client_transfer.h>
#include <eddy/client_ws.h>
#include <eddy/config.h>
#include <eddy/cookie.h>
#include <eddy/cors.h>
#include <eddy/events.h>
#include <eddy/health.h>
#include <eddy/log.h>
#include <eddy/open_files.h>
#include <eddy/openapi.h>
#include <eddy/part.h>
#include <eddy/peer.h>
#include <eddy/rate_limit.h>
#include <eddy/req.h>
#include <eddy/res.h>
#include <eddy/same_origin.h>
#include <eddy/security.h>
#include <eddy/session.h>
#include <eddy/tls.h>
#include <eddy/tree.h>
#include <eddy/upload.h>
#include <eddy/uploads.h>
#include <eddy/ws_room.h>

#endif
