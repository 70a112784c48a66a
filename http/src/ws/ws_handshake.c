#include "ws_handshake.h"

#include "ws_accept.h"
#include "app/app.h"
#include "exchange/observer.h"
#include "exchange/req.h"
#include "exchange/res.h"
#include "text/syntax.h"

#include <eddy/config.h>
#include <errno.h>
#include <stdlib.h>

#define VERSION "13"

/* ---- what a request asks for ---- */

static bool has_token(struct eddy_req *req, const char *name, const char *token)
{
	return eddyi_syntax_has_member(eddy_req_header_joined(req, name), eddy_str_from(token));
}

static int refuse_upgrade(struct eddy_req *req, struct eddy_res *res)
{
	eddy_res_set_z(res, "upgrade", "websocket");
	eddy_res_set_z(res, "sec-websocket-version", VERSION);
	return eddyi_req_fail(req, -EPROTO, 426, "this is a WebSocket, of version 13");
}

static bool allows(const char *const *origins, struct eddy_str origin)
{
	for (; origins && *origins; origins++)
		if (strcmp(*origins, "*") == 0 ||
		    eddy_str_eq_nocase(origin, eddy_str_from(*origins)))
			return true;
	return false;
}

/* Return: 0; otherwise as a handler. */
static int check(struct eddy_req *req, struct eddy_res *res, const char *const *origins)
{
	if (req->head.method != EDDYI_METHOD_GET || req->head.version != EDDY_HTTP_1_1 ||
	    !has_token(req, "connection", "upgrade") || !has_token(req, "upgrade", "websocket") ||
	    !eddy_str_eq_z(eddy_req_header_joined(req, "sec-websocket-version"), VERSION))
		return refuse_upgrade(req, res);
	if (eddy_req_length(req))
		return eddyi_req_fail(req, -EINVAL, 400, "a WebSocket's handshake has no body");
	if (!eddyi_ws_is_key(eddy_req_header_joined(req, "sec-websocket-key")))
		return eddyi_req_fail(req, -EINVAL, 400,
				      "sec-websocket-key must be 16 bytes in base64");
	if (eddyi_req_comes_from_elsewhere(req) && !allows(origins, eddy_req_header(req, "origin")))
		return eddyi_req_fail(req, -EACCES, 403, "cross-site requests are not allowed");
	return 0;
}

/* ---- what is agreed on ---- */

static int choose_protocol(struct eddy_req *req, struct eddy_res *res, struct eddy_ws *ws)
{
	const char *const *at = ws->options->protocols;

	for (; at && *at; at++) {
		struct eddy_str rest = eddy_req_header_joined(req, "sec-websocket-protocol"),
				member;

		while (eddyi_syntax_take_member(&rest, &member))
			if (eddy_str_eq_z(member, *at)) {
				ws->protocol = eddy_str_from(*at);
				return eddy_res_set_z(res, "sec-websocket-protocol", *at);
			}
	}
	return 0;
}

static int agree_on_deflate(struct eddy_req *req, struct eddy_res *res, struct eddy_ws *ws)
{
	const struct eddy_ws_deflate *options = &ws->options->deflate;
	struct eddyi_ws_extension agreed;
	struct eddy_str offers = eddy_req_header_joined(req, "sec-websocket-extensions");
	char reply[EDDYI_WS_EXTENSION_SIZE];

	if (!options->on || !eddyi_ws_extension_accept(offers, options->takeover, &agreed, reply))
		return 0;
	eddyi_ws_compress(ws, agreed.server, agreed.client);
	return eddy_res_set_z(res, "sec-websocket-extensions", reply);
}

/* ---- the handler ---- */

void eddyi_ws_served_free(struct eddyi_ws_served *served)
{
	struct eddy_socket_outcome *outcome = &served->ws.output.outcome;

	if (!served->ws.link)
		eddyi_ws_deinit(&served->ws);
	if (served->route->options.closed)
		served->route->options.closed(&served->ws);
	outcome->duration_ns = eddy_now() - served->began_ns;
	eddyi_observe_socket_end(served->observed, outcome);
	eddyi_probe_socket(eddy_str_from(served->route->pattern), outcome);
	free(served);
}

static int respond(struct eddy_req *req, struct eddy_res *res, struct eddy_ws *ws)
{
	char accept[EDDYI_WS_ACCEPT_LEN + 1];
	int r;

	eddyi_ws_accept(eddy_req_header_joined(req, "sec-websocket-key"), accept);
	r = eddy_res_set_z(res, "sec-websocket-accept", accept);
	if (r == 0)
		r = choose_protocol(req, res, ws);
	if (r == 0)
		r = agree_on_deflate(req, res, ws);
	if (r == 0 && ws->options->open)
		r = ws->options->open(req, res, ws);
	return r;
}

static int shake(struct eddy_req *req, struct eddy_res *res)
{
	const struct eddyi_ws_route *route = eddy_req_route_data(req);
	struct eddyi_ws_served *served;
	int r = check(req, res, route->options.origins);

	if (r < 0)
		return r;
	served = calloc(1, sizeof(*served));
	if (!served)
		return -ENOMEM;
	served->route = route;
	served->ws.options = &route->options;
	served->ws.app = req->app;
	served->ws.party = req->stream->party;
	served->began_ns = eddy_now();
	eddyi_ws_init(&served->ws);
	r = respond(req, res, &served->ws);
	if (r != 0) {
		eddy_res_remove(res, "sec-websocket-accept");
		eddy_res_remove(res, "sec-websocket-protocol");
		eddy_res_remove(res, "sec-websocket-extensions");
		eddyi_ws_deinit(&served->ws);
		free(served);
		return r;
	}
	served->observed = eddyi_observe_socket(req);
	served->ws.notes = served->observed ? &served->observed->notes : NULL;
	req->socket = served;
	req->free_socket = eddyi_ws_served_free;
	res->status = 101;
	return 0;
}

/* ---- mapping ---- */

static const struct eddy_config_key strings[] = {
	{ "protocols", EDDY_CONFIG_STRINGS, EDDY_CONFIG_AT(struct eddy_ws_options, protocols) },
	{ "origins", EDDY_CONFIG_STRINGS, EDDY_CONFIG_AT(struct eddy_ws_options, origins) },
	{ 0 },
};

struct eddy_route *eddy_app_map_ws(union eddy_router router, const char *pattern,
				   eddy_ws_fn *handler, const struct eddy_ws_options *options)
{
	static const struct eddy_ws_options defaults;
	struct eddy_app *app = router.group->owner.app;
	struct eddyi_ws_route *route = eddy_app_alloc(app, sizeof(*route));
	struct eddy_ws_options *own = &route->options;
	struct eddy_route *mapped = eddy_app_map_get(router, pattern, shake);

	*route = (struct eddyi_ws_route){ handler, options ? *options : defaults,
					  eddy_app_keep_string(app, pattern) };
	eddy_app_keep_strings(app, strings, own);
	eddyi_ws_options_fill(own);
	eddy_route_with(mapped, &(struct eddy_route_options){ .data = route,
							      .write_rate_min = EDDY_NEVER });
	return mapped;
}
