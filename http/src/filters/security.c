#include "exchange/exchange_state.h"
#include "text/syntax.h"

#include <eddy/peer.h>
#include <eddy/security.h>
#include <stddef.h>

#define OPTION(name) offsetof(struct eddy_security_options, name)

static const struct policy {
	const char *field;
	size_t option; /* offset of its value in the options */
	const char *otherwise;
	bool tls_only;
} policies[] = {
	{ "content-security-policy", OPTION(content_policy),
	  "default-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'self'; "
	  "object-src 'none'",
	  false },
	{ "x-content-type-options", OPTION(content_type), "nosniff", false },
	{ "x-frame-options", OPTION(frame), "SAMEORIGIN", false },
	{ "referrer-policy", OPTION(referrer), "strict-origin-when-cross-origin", false },
	{ "cross-origin-opener-policy", OPTION(opener), "same-origin", false },
	{ "cross-origin-resource-policy", OPTION(resource), "same-origin", false },
	{ "permissions-policy", OPTION(permissions), "", false },
	{ "strict-transport-security", OPTION(transport), "max-age=31536000", true },
};

static const char **value_of(struct eddy_security_options *options, const struct policy *policy)
{
	return (const char **)((char *)options + policy->option);
}

/* Set the fields before the handler, which may override them, and for streams. */
static int harden(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_security_options *options = eddy_next_data(next);
	const char *value;
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(policies) / sizeof(*policies); i++) {
		value = *value_of(options, &policies[i]);
		if (*value && (!policies[i].tls_only || eddy_req_is_secure(req)))
			r = eddy_res_set_z(res, policies[i].field, value);
	}
	return r < 0 ? r : eddy_next(next, req, res);
}

void eddy_app_use_security(union eddy_target target, const struct eddy_security_options *options)
{
	struct eddy_app *app = eddy_app_of(target);
	struct eddy_security_options *own = eddy_app_alloc(app, sizeof(*own));

	*own = options ? *options : (struct eddy_security_options){ 0 };
	for (size_t i = 0; i < sizeof(policies) / sizeof(*policies); i++) {
		const char **value = value_of(own, &policies[i]);

		if (!*value)
			*value = policies[i].otherwise;
		if (!eddyi_syntax_is_value(eddy_str_from(*value)))
			eddy_app_mistake(app, "can't send %s: \"%s\" contains a control character",
					 policies[i].field, *value);
	}
	eddy_app_add_filter(target, harden, own);
}
