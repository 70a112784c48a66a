/* doors: an app that says at which door a client has come in.
 *
 *     doors [--proxied ADDR]… [--trust NETWORK]… [--forwarded x-forwarded-for|forwarded] [SWITCH]…
 *
 * What other switches there are is in settings.h. At each --proxied connections begin with a PROXY header.
 */
#include "settings.h"

#include <eddy/http.h>
#include <eddy/runtime.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int door(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str bound = eddy_req_bound(req);

	return eddy_res_ok(res, "%d %.*s", (int)getpid(), EDDY_FMT(bound));
}

static int slow(struct eddy_req *req, struct eddy_res *res)
{
	uint64_t ms;
	int r;

	if (eddy_req_path(req, EDDY_TO(&ms)) < 0)
		return 400;
	r = eddy_sleep(ms * EDDY_MS);
	return r < 0 ? r : eddy_res_ok(res, "%d", (int)getpid());
}

/* What a child would inherit. */
static int variable(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str name;
	const char *value;
	char copy[64];

	if (eddy_req_path(req, EDDY_TO(&name)) < 0)
		return 400;
	snprintf(copy, sizeof(copy), "%.*s", EDDY_FMT(name));
	value = getenv(copy);
	return eddy_res_ok(res, "%s", value ? value : "-");
}

static int restart(struct eddy_req *req, struct eddy_res *res)
{
	(void)res;
	eddy_app_restart(eddy_req_context(req));
	return 204;
}

static int stop(struct eddy_req *req, struct eddy_res *res)
{
	eddy_app_shutdown(eddy_req_context(req));
	return eddy_res_ok(res, "ending");
}

/* Who the server thinks has asked. */
static int peer(struct eddy_req *req, struct eddy_res *res)
{
	const struct eddy_peer *peer = eddy_req_peer(req);
	struct eddy_str scheme = eddy_req_scheme(req), host = eddy_req_host(req);
	char addr[EDDY_SOCKADDR_TEXT_MAX];

	eddy_sockaddr_format(&peer->addr.addr.any, peer->addr.len, addr);
	return eddy_res_ok(res, "%.*s %s %s %s %.*s %.*s", EDDY_FMT(peer->text), addr,
			   eddy_peer_is_local(peer) ? "local" : "remote",
			   peer->is_forwarded ? "forwarded" : "direct", EDDY_FMT(scheme),
			   EDDY_FMT(host));
}

static int failures(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_app_stats stats = eddy_app_stats(eddy_req_context(req));

	return eddy_res_ok(res, "%ju %ju", (uintmax_t)stats.proxy_failures,
			   (uintmax_t)stats.connections);
}

struct doors {
	struct settings common;
	struct setting_texts proxied;
	struct setting_texts trust;
};

static bool take_forwarded(const char *value, void *field)
{
	enum eddy_forwarded *forwarded = field;

	*forwarded = strcmp(value, "x-forwarded-for") == 0 ? EDDY_FORWARDED_X :
							     EDDY_FORWARDED_RFC7239;
	return strcmp(value, "x-forwarded-for") == 0 || strcmp(value, "forwarded") == 0;
}

static const struct setting switches[] = {
	SETTING(struct doors, "proxied", proxied),
	SETTING(struct doors, "trust", trust),
	{ "forwarded", take_forwarded, offsetof(struct doors, common.server.forwarded) },
	{ 0 },
};

/* What the tests want of a start: that it fails where there is no file of this name; that a successor
 * writes its number to this one, and hangs. */
static void obstruct(void)
{
	const char *gate = getenv("DOORS_GATE"), *hang = getenv("DOORS_HANG");
	FILE *file;

	if (gate && access(gate, F_OK) < 0)
		exit(3);
	if (!hang || !getenv("EDDY_RESTART"))
		return;
	file = fopen(hang, "w");
	fprintf(file, "%d\n", (int)getpid());
	fclose(file);
	pause();
}

int main(int argc, char **argv)
{
	struct eddy_app *app = eddy_app_new();
	struct doors doors = { 0 };

	eddy_log_text_subscribe();
	settings_take(argc, argv, switches, &doors, &doors.common);
	if (doors.trust.count > 0)
		doors.common.server.trusted_proxies = doors.trust.list;
	settings_apply(&doors.common, app);
	for (size_t i = 0; i < doors.proxied.count; i++)
		eddy_app_add_bind(app, doors.proxied.list[i],
				  &(struct eddy_bind_options){ .proxy_protocol = true });
	eddy_app_set_context(app, app);
	eddy_app_map_get(app, "/", door);
	eddy_app_map_post(app, "/", door);
	eddy_app_map_get(app, "/slow/{ms}", slow);
	eddy_app_map_get(app, "/peer", peer);
	eddy_app_map_get(app, "/health", eddy_health);
	eddy_app_map_get(app, "/failures", failures);
	eddy_app_use_rate_limit(eddy_app_map_get(app, "/rare", door),
				&(struct eddy_rate_limit_options){
					.count = 1,
					.per_ns = 3600 * EDDY_SECOND,
				});
	eddy_app_map_get(app, "/env/{name}", variable);
	eddy_app_map_post(app, "/restart", restart);
	eddy_app_map_post(app, "/stop", stop);
	obstruct();
	return eddy_app_run_blocking(app) < 0 ? 1 : 0;
}
