#include "exchange/exchange_state.h"
#include "text/syntax.h"

#include <eddy/config.h>
#include <eddy/cors.h>
#include <eddy/layer.h>
#include <errno.h>
#include <stdio.h>

struct cors {
	struct eddy_cors_options options;
	bool any; /* any origin */
	struct eddy_str max_age;
};

static bool allows(const struct cors *cors, struct eddy_str origin)
{
	if (cors->any)
		return true;
	for (const char *const *known = cors->options.origins; *known; known++)
		if (eddy_str_eq_z(origin, *known))
			return true;
	return false;
}

/* Fields that depend on the origin require a vary field, also in responses to other origins. */
static int name_origin(const struct cors *cors, struct eddy_res *res, struct eddy_str origin)
{
	int r = cors->any ? 0 : eddy_res_merge(res, "vary", EDDY_STR("origin"));

	if (r < 0 || !origin.ptr || !allows(cors, origin))
		return r;
	r = eddy_res_set(res, "access-control-allow-origin", cors->any ? EDDY_STR("*") : origin);
	if (r == 0 && cors->options.credentials)
		r = eddy_res_set_z(res, "access-control-allow-credentials", "true");
	return r;
}

static int answer_preflight(const struct cors *cors, struct eddy_req *req, struct eddy_res *res,
			    struct eddy_str origin)
{
	const struct eddy_cors_options *options = &cors->options;
	struct eddy_str asked = eddy_req_header(req, "access-control-request-headers");
	int r = name_origin(cors, res, origin);

	if (r == 0)
		r = eddy_res_merge(res, "vary",
				   eddy_str_from("access-control-request-method, "
						 "access-control-request-headers"));
	if (r < 0 || !allows(cors, origin))
		return r < 0 ? r : 204;
	r = eddy_res_set_z(res, "access-control-allow-methods", options->methods);
	if (r == 0 && options->headers)
		r = eddy_res_set_z(res, "access-control-allow-headers", options->headers);
	else if (r == 0 && asked.len)
		r = eddy_res_set(res, "access-control-allow-headers", asked);
	if (r == 0 && cors->max_age.len)
		r = eddy_res_set(res, "access-control-max-age", cors->max_age);
	return r < 0 ? r : 204;
}

static int let_others_ask(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	const struct cors *cors = eddy_next_data(next);
	struct eddy_str origin = eddy_req_header(req, "origin");
	int r;

	if (origin.ptr && eddy_str_eq_z(eddy_req_method(req), "OPTIONS") &&
	    eddy_req_header(req, "access-control-request-method").ptr)
		return answer_preflight(cors, req, res, origin);
	/* Before the handler, for streams; and after it, in case it sets a vary field. */
	r = name_origin(cors, res, origin);
	if (r == 0 && origin.ptr && cors->options.exposed && allows(cors, origin))
		r = eddy_res_set_z(res, "access-control-expose-headers", cors->options.exposed);
	if (r < 0)
		return r;
	r = eddy_next(next, req, res);
	if (r == 0 && !cors->any && !res->head_sent)
		r = eddy_res_merge(res, "vary", EDDY_STR("origin"));
	return r;
}

/* Whether a text is scheme://host[:port], as browsers write origins. */
static bool is_origin(const char *text)
{
	const char *host = strstr(text, "://");

	if (strcmp(text, "null") == 0 || strcmp(text, "*") == 0)
		return true;
	if (!host || host == text || !host[3])
		return false;
	for (const char *at = text; *at; at++)
		if (*at <= ' ' || *at >= 0x7f || (*at >= 'A' && *at <= 'Z') ||
		    (at >= host + 3 && *at == '/'))
			return false;
	return true;
}

static void check(struct eddy_app *app, struct cors *cors)
{
	const struct eddy_cors_options *options = &cors->options;

	if (!options->origins || !*options->origins)
		eddy_app_mistake(app, "CORS: no origins are allowed: list them, or use \"*\"");
	for (const char *const *origin = options->origins; origin && *origin; origin++) {
		cors->any |= strcmp(*origin, "*") == 0;
		if (!is_origin(*origin))
			eddy_app_mistake(app,
					 "CORS: invalid origin \"%s\": write it like "
					 "https://app.example:8443, in lower case",
					 *origin);
	}
	if (cors->any && options->credentials)
		eddy_app_mistake(
			app,
			"CORS: credentials can't be allowed for every origin: list the origins "
			"that may send them");
	for (int i = 0; i < 3; i++) {
		const char *list =
			(const char *[]){ options->methods, options->headers, options->exposed }[i];

		if (list && !eddyi_syntax_is_value(eddy_str_from(list)))
			eddy_app_mistake(app, "CORS: \"%s\" is not a valid field value", list);
	}
}

static const struct eddy_config_key strings[] = {
	{ "origins", EDDY_CONFIG_STRINGS, EDDY_CONFIG_AT(struct eddy_cors_options, origins) },
	{ "methods", EDDY_CONFIG_STRING, EDDY_CONFIG_AT(struct eddy_cors_options, methods) },
	{ "headers", EDDY_CONFIG_STRING, EDDY_CONFIG_AT(struct eddy_cors_options, headers) },
	{ "exposed", EDDY_CONFIG_STRING, EDDY_CONFIG_AT(struct eddy_cors_options, exposed) },
	{ 0 },
};

void eddy_app_use_cors(union eddy_router router, const struct eddy_cors_options *options)
{
	struct eddy_app *app = router.group->owner.app;
	struct cors *cors = eddy_app_alloc(app, sizeof(*cors));
	char text[16];

	*cors = (struct cors){ .options = options ? *options : (struct eddy_cors_options){ 0 } };
	eddy_app_keep_strings(app, strings, &cors->options);
	if (!cors->options.methods)
		cors->options.methods = "GET, HEAD, POST, PUT, PATCH, DELETE";
	if (cors->options.max_age_s) {
		snprintf(text, sizeof(text), "%u", cors->options.max_age_s);
		cors->max_age = eddyi_app_printf(app, "%s", text);
	}
	check(app, cors);
	eddy_app_add_filter(router.group, let_others_ask, cors);
}
