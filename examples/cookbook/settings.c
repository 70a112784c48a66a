/* settings: the program's own section of the configuration file.
 *
 *     $ printf '[server]\nbind = "localhost:7878"\n[greeter]\ngreeting = "Moin"\nrepeat = 2\nper_second = 1\n' >app.toml
 *     $ settings app.toml &
 *     2026-11-21T09:00:00.000000Z  INFO eddy::app: Listening on localhost:7878
 *     $ curl -s localhost:7878/
 *     Moin! Moin!
 *     $ curl -s localhost:7878/ | jq .status
 *     429
 *     $ printf '[greeter]\ngreting = "Moin"\nrepeat = 50\n' >wrong.toml
 *     $ settings wrong.toml 2>&1; echo "exit status $?"
 *     2026-11-21T09:00:00.000000Z ERROR eddy::app: wrong.toml:2: [greeter] unknown key "greting"; did you mean "greeting"?
 *     2026-11-21T09:00:00.000000Z ERROR eddy::app: wrong.toml:3: [greeter] repeat: expected an integer from 1 to 10, not 50
 *     exit status 1
 */
#include <eddy/http.h>
#include <eddy/rate_limit.h>

struct greeter {
	const char *greeting;
	uint32_t repeat;
	uint32_t per_second; /* requests of a client */
};

static const struct eddy_config_key keys[] = {
	{ "greeting", EDDY_CONFIG_STRING, EDDY_CONFIG_AT(struct greeter, greeting), .min = 1,
	  .max = 40 },
	{ "repeat", EDDY_CONFIG_INTEGER, EDDY_CONFIG_AT(struct greeter, repeat), .min = 1,
	  .max = 10 },
	{ "per_second", EDDY_CONFIG_INTEGER, EDDY_CONFIG_AT(struct greeter, per_second), .min = 1,
	  .max = 1000 },
	{ 0 },
};
static const struct eddy_config_section section = { .name = "greeter", .keys = keys };

/* GET / */
static int greet(struct eddy_req *req, struct eddy_res *res)
{
	const struct greeter *greeter = eddy_req_context(req);
	char text[500] = "";

	for (uint32_t i = 0; i < greeter->repeat; i++)
		strcat(strcat(text, greeter->greeting), i + 1 < greeter->repeat ? "! " : "!\n");
	return eddy_res_ok(res, "%s", text);
}

/* The file has been read now. */
static int limit(struct eddy_app *app, void *data)
{
	const struct greeter *greeter = data;

	eddy_app_use_rate_limit(app,
				&(struct eddy_rate_limit_options){ .count = greeter->per_second });
	return 0;
}

int main(int argc, char **argv)
{
	struct greeter greeter = { "Hello", 1, 100 }; /* the defaults */
	struct eddy_app *app = eddy_app_new();

	eddy_log_text_subscribe();
	eddy_app_config_section(app, &section, &greeter);
	eddy_app_with_config(app, argc > 1 ? argv[1] : "app.toml");
	eddy_app_at_start(app, limit, &greeter);
	eddy_app_set_context(app, &greeter);
	eddy_app_map_get(app, "/", greet);
	return eddy_app_run_blocking(app) < 0 ? 1 : 0;
}
