/* kept: what a server keeps for clients: in sessions, and in an encrypted cookie.
 *
 *     kept --keys FILE [--cert FILE --key FILE] [--trust NETWORK]… [--sandbox] [SWITCH]…
 *
 * What other switches there are is in settings.h. Trusted proxies send X-Forwarded fields.
 */
#include "settings.h"

#include <eddy/http.h>
#include <errno.h>

/* GET and PUT /session/{value}: both answer with the value of the session. */
static int session(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_session *session;
	struct eddy_str value;
	int r = eddy_req_path(req, EDDY_TO(&value));

	if (r == 0)
		r = eddy_req_session(req, &session);
	if (r == 0 && eddy_str_eq_z(eddy_req_method(req), "PUT"))
		r = eddy_session_set(session, "value", value);
	if (r < 0)
		return r;
	value = eddy_session_get(session, "value");
	return eddy_res_ok(res, "%.*s", EDDY_FMT(value));
}

/* GET and PUT /cookie/{value} */
static int cookie(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str value;
	int r = eddy_req_path(req, EDDY_TO(&value));

	if (r == 0 && eddy_str_eq_z(eddy_req_method(req), "PUT"))
		r = eddy_res_cookie_sealed(res,
					   &(struct eddy_cookie){ .name = "kept", .value = value });
	else if (r == 0)
		r = eddy_req_cookie_sealed(req, "kept", &value);
	return r < 0 ? r : eddy_res_ok(res, "%.*s", EDDY_FMT(value));
}

struct kept {
	struct settings common;
	const char *keys;
	struct eddy_tls_options tls;
	struct setting_texts trust;
	bool sandbox;
};

static const struct setting switches[] = {
	SETTING(struct kept, "keys", keys),       SETTING(struct kept, "cert", tls.cert),
	SETTING(struct kept, "key", tls.key),     SETTING(struct kept, "trust", trust),
	SETTING(struct kept, "sandbox", sandbox), { 0 },
};

int main(int argc, char **argv)
{
	struct kept kept = { .common.server.forwarded = EDDY_FORWARDED_X };
	struct eddy_app *app = eddy_app_new();

	eddy_log_text_subscribe();
	settings_take(argc, argv, switches, &kept, &kept.common);
	if (kept.trust.count)
		kept.common.server.trusted_proxies = kept.trust.list;
	settings_apply(&kept.common, app);
	if (kept.tls.cert)
		eddy_app_use_tls(app, &kept.tls);
	if (kept.sandbox)
		eddy_app_sandbox(app, NULL);
	eddy_app_with_cookie_keys(app, &(struct eddy_cookie_keys){ .file = kept.keys });
	eddy_app_use_sessions(app, NULL);
	eddy_app_map_get(app, "/session/{value}", session);
	eddy_app_map_put(app, "/session/{value}", session);
	eddy_app_map_get(app, "/cookie/{value}", cookie);
	eddy_app_map_put(app, "/cookie/{value}", cookie);
	return eddy_app_run_blocking(app) < 0 ? 1 : 0;
}
