/* Tests of eddy/security.h. */
#include "ask.h"

#include <eddy/security.h>

static int hello(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_ok(res, "hello");
}

static int framed(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	eddy_res_set_z(res, "x-frame-options", "DENY");
	return eddy_res_ok(res, "hello");
}

/* "-" when the answer has no such field. */
static const char *field_of(struct eddy_app *app, const char *request, const char *name)
{
	static char text[256];
	struct eddy_str value;
	struct asked asked;

	ask(&asked, app, request);
	value = eddy_res_header(&asked.req->res, name);
	sprintf(text, "%.*s", value.ptr ? (int)value.len : 1, value.ptr ? value.ptr : "-");
	ask_end(&asked);
	return text;
}

Test(security, defaults)
{
	static const struct {
		const char *name, *value;
	} want[] = {
		{ "content-security-policy",
		  "default-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'self'; "
		  "object-src 'none'" },
		{ "x-content-type-options", "nosniff" },
		{ "x-frame-options", "SAMEORIGIN" },
		{ "referrer-policy", "strict-origin-when-cross-origin" },
		{ "cross-origin-opener-policy", "same-origin" },
		{ "cross-origin-resource-policy", "same-origin" },
		{ "permissions-policy", "-" },
		{ "strict-transport-security", "-" }, /* these requests come without TLS */
	};
	struct eddy_app *app = eddy_app_new();

	eddy_app_use_security(app, NULL);
	eddy_app_map_get(app, "/", hello);
	eddy_app_map_get(app, "/framed", framed);
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		cr_expect_str_eq(field_of(app, GET("/"), want[i].name), want[i].value);
		cr_expect_str_eq(field_of(app, GET("/none"), want[i].name), want[i].value);
	}
	cr_expect_str_eq(field_of(app, GET("/framed"), "x-frame-options"), "DENY");
	eddy_app_free(app);
}

Test(security, options)
{
	struct eddy_app *app = eddy_app_new();
	struct eddy_group *group = eddy_app_group(app, "/g");
	struct eddy_route *route = eddy_app_map_get(group, "/x", hello);

	eddy_app_use_security(group, &(struct eddy_security_options){ .content_policy = "",
								      .permissions = "camera=()" });
	eddy_app_use_security(route, &(struct eddy_security_options){ .referrer = "no-referrer" });
	eddy_app_map_get(app, "/", hello);
	cr_expect_str_eq(field_of(app, GET("/g/y"), "content-security-policy"), "-");
	cr_expect_str_eq(field_of(app, GET("/g/y"), "permissions-policy"), "camera=()");
	cr_expect_str_eq(field_of(app, GET("/g/x"), "permissions-policy"), "camera=()");
	cr_expect_str_eq(field_of(app, GET("/g/x"), "referrer-policy"), "no-referrer");
	cr_expect_str_eq(field_of(app, GET("/"), "x-frame-options"), "-");
	cr_expect(not(eddyi_app_report_mistakes(app)));
	eddy_app_use_security(app, &(struct eddy_security_options){ .frame = "a\nb" });
	cr_expect(eddyi_app_report_mistakes(app));
	eddy_app_free(app);
}
