/* The addresses of an app. */
#include "app.h"

#include <string.h>

static struct eddyi_address make_address(struct eddy_app *app, const char *text,
					 const struct eddy_bind_options *options)
{
	return (struct eddyi_address){
		.text = eddyi_app_printf(app, "%s", text).ptr,
		.plain = options && options->plain,
		.proxy_protocol = options && options->proxy_protocol,
	};
}

void eddy_app_bind(struct eddy_app *app, const char *address)
{
	app->addresses[0] = make_address(app, address, NULL);
	if (!app->address_count)
		app->address_count = 1;
	app->has_default_address = false;
}

void eddy_app_add_bind(struct eddy_app *app, const char *address,
		       const struct eddy_bind_options *options)
{
	if (app->has_default_address)
		app->address_count = 0;
	app->has_default_address = false;
	if (app->address_count == EDDYI_ADDRESSES_MAX)
		eddy_app_mistake(app, "can't listen on \"%s\": an app has at most %d addresses",
				 address, EDDYI_ADDRESSES_MAX);
	else
		app->addresses[app->address_count++] = make_address(app, address, options);
}

/* Plain addresses come last. */
void eddyi_app_replace_addresses(struct eddy_app *app, const char *const *texts, bool plain)
{
	struct eddyi_address all[EDDYI_ADDRESSES_MAX];
	size_t count = 0;

	for (int kind = false; kind <= true; kind++) {
		for (; kind == plain && *texts; texts++)
			all[count++] = (struct eddyi_address){ .text = *texts, .plain = plain };
		for (size_t i = 0; kind != plain && i < app->address_count; i++)
			if (app->addresses[i].plain == kind)
				all[count++] = app->addresses[i];
	}
	memcpy(app->addresses, all, count * sizeof(*all));
	app->address_count = count;
}

bool eddyi_app_set_proxy_protocol(struct eddy_app *app, const char *const *texts)
{
	for (size_t i = 0; i < app->address_count; i++)
		app->addresses[i].proxy_protocol = false;
	for (; *texts; texts++) {
		bool found = false;

		for (size_t i = 0; i < app->address_count; i++)
			if (strcmp(app->addresses[i].text, *texts) == 0)
				found = app->addresses[i].proxy_protocol = true;
		if (!found)
			return false;
	}
	return true;
}
