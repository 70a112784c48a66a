/* spans: fields in all log records and spans of a request, without passing them on.
 *
 *     $ EDDY_LOG_FORMAT=text spans localhost:7878 &
 *     2026-11-21T09:00:00.000000Z  INFO eddy::app: Listening on localhost:7878
 *     $ curl -s localhost:7878/carts/7 -o answer -w '%header{request-id}\n'
 *     …
 *     $ kill %1
 *     2026-11-21T09:00:01.000000Z  INFO shop: 3 articles trace_id=… span_id=… cart=7 request_id=…
 *     2026-11-21T09:00:01.000000Z  INFO eddy::access: GET /carts/7 200 request_id=… trace_id=… span_id=… peer=127.0.0.1 pattern="/carts/{id}" received=0 sent=… us=… whole=true
 *     2026-11-21T09:00:01.000000Z  INFO eddy::app: Shutting down the server
 */
#include <eddy/http.h>
#include <eddy/runtime.h>
#include <eddy/trace.h>

/* This function does not know the cart; its log records have the cart's number. */
static int load(void)
{
	struct eddy_span span;
	int r;

	eddy_span_begin(&span, "load cart", NULL);
	r = eddy_sleep(EDDY_MS);
	if (r == 0)
		eddy_info("shop", "3 articles");
	else
		eddy_span_set_status(&span, EDDY_SPAN_ERROR, strerror(-r));
	eddy_span_set(&span, eddy_field_u64("articles", 3));
	eddy_span_end(&span);
	return r;
}

/* GET /carts/{id} */
static int cart(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_scope scope;
	uint32_t id;
	int r;

	if (eddy_req_path(req, EDDY_TO(&id)) < 0)
		return 400;
	eddy_scope_begin(&scope, &(struct eddy_scope_options){
					 .log_fields = EDDY_FIELDS(eddy_field_u64("cart", id)),
				 });
	eddy_span_set(eddy_span_current(), eddy_field_u64("cart", id));
	r = load();
	eddy_scope_end(&scope);
	return r < 0 ? r : eddy_res_ok(res, "3 articles\n");
}

int main(int argc, char **argv)
{
	struct eddy_app *app = eddy_app_new();

	/* A thread writes the log: no loop waits for a disk or a terminal. */
	eddy_log_writer_subscribe(NULL);
	eddy_app_bind(app, argc > 1 ? argv[1] : "localhost:7878");
	eddy_app_set_tracing(app, &(struct eddy_tracing_options){
					  .header = true,
					  .access_log = true,
					  .service = "shop",
				  });
	eddy_app_use_tracing(app);
	eddy_app_map_get(app, "/carts/{id}", cart);
	return eddy_app_run_blocking(app) < 0 ? 1 : 0;
}
