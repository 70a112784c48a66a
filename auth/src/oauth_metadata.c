/* The metadata documents of an app: where they are served, and when they are made. */
#include "config.h"
#include "description.h"
#include "identifier.h"
#include "resource.h"

#include <eddy/layer.h>
#include <eddy/oauth_metadata.h>
#include <eddy/req.h>
#include <eddy/res.h>
#include <errno.h>
#include <stdlib.h>

#define DOCUMENTS (EDDYI_DOCUMENT_OPENID + 1)

struct metadata {
	struct eddyi_description resource;
	struct eddyi_description server;
	bool uses[DOCUMENTS];
	bool is_mapped[DOCUMENTS]; /* where its identifier has it, as well */
	bool is_made;              /* as all has been told so far */
	char *resource_url;        /* of the resource's document; NULL: none is described */
};

/* ---- the start ---- */

static int serve(struct eddy_req *req, struct eddy_res *res)
{
	const struct eddyi_description *description = eddy_req_route_data(req);
	int r = eddy_res_set_z(res, "cache-control", "public, max-age=3600");

	return r < 0 ? r :
		       eddy_res_bytes(res, "application/json", eddy_str_from(description->text));
}

static void map(struct eddy_app *app, struct eddyi_description *description, const char *path)
{
	eddy_route_set_data(eddy_app_map_get(app, path, serve), description);
}

static struct eddyi_description *description_of(struct metadata *metadata,
						enum eddyi_document document)
{
	return document == EDDYI_DOCUMENT_RESOURCE ? &metadata->resource : &metadata->server;
}

/* Whether a path is the one that the document is served at anyway. */
static bool is_plain(enum eddyi_document document, const char *path)
{
	const char *plain = eddyi_document_path(document);
	size_t len = strlen(plain);

	return strncmp(path, plain, len) == 0 &&
	       (!path[len] || (path[len] == '/' && !path[len + 1]));
}

/* Serve a document where the path of its identifier has it. Return: 0, -ENOMEM. */
static int map_own(struct eddy_app *app, struct metadata *metadata, enum eddyi_document document)
{
	struct eddyi_description *description = description_of(metadata, document);
	char *url = eddyi_document_url(document, eddyi_description_identifier(description));
	char *path;

	if (!url)
		return -ENOMEM;
	path = (char *)eddyi_identifier_path(url);
	path[strcspn(path, "?")] = '\0';
	if (!is_plain(document, path))
		map(app, description, path);
	metadata->is_mapped[document] = true;
	free(url);
	return 0;
}

/* Return: 0, -ENOMEM. */
static int make_all(struct eddy_app *app, struct metadata *metadata)
{
	int r = 0;

	if (metadata->resource.is_wanted)
		r = eddyi_description_write(&metadata->resource, app);
	if (r == 0 && metadata->server.is_wanted)
		r = eddyi_description_write(&metadata->server, app);
	if (r < 0 || !metadata->resource.text)
		return r;
	free(metadata->resource_url);
	metadata->resource_url =
		eddyi_document_url(EDDYI_DOCUMENT_RESOURCE, metadata->resource.resource.resource);
	return metadata->resource_url ? 0 : -ENOMEM;
}

static int start(struct eddy_app *app, void *data)
{
	struct metadata *metadata = data;
	int r;

	if (metadata->is_made)
		return 0;
	r = make_all(app, metadata);
	for (enum eddyi_document i = 0; i < DOCUMENTS && r == 0; i++)
		if (metadata->uses[i] && !metadata->is_mapped[i] &&
		    description_of(metadata, i)->text)
			r = map_own(app, metadata, i);
	metadata->is_made = r == 0;
	return r;
}

/* ---- what the app keeps ---- */

static void deinit(void *kept)
{
	struct metadata *metadata = kept;

	eddyi_description_deinit(&metadata->resource);
	eddyi_description_deinit(&metadata->server);
	free(metadata->resource_url);
}

static const struct eddy_layer layer = { "metadata", sizeof(struct metadata), NULL, deinit };

/* What is told about the resource, or the server, from now on counts at the next start. */
static struct metadata *touch(struct eddy_app *app, const struct eddyi_description_kind *kind)
{
	struct metadata *metadata = eddy_app_layer(app, &layer);
	struct eddyi_description *description =
		kind == &eddyi_description_server ? &metadata->server : &metadata->resource;

	if (!description->kind)
		eddyi_description_init(description, app, kind);
	metadata->is_made = false;
	eddy_app_at_start(app, start, metadata);
	return metadata;
}

const char *eddyi_resource_metadata_url(const struct eddy_app *app)
{
	const struct metadata *metadata = eddy_app_find_layer(app, &layer);

	return metadata ? metadata->resource_url : NULL;
}

bool eddyi_resource_is_metadata(const struct eddy_app *app, const struct eddy_req *req)
{
	const struct metadata *metadata = eddy_app_find_layer(app, &layer);
	const void *data = eddy_req_route_data(req);

	return metadata && (data == &metadata->resource || data == &metadata->server);
}

/* ---- for programs ---- */

void eddy_app_with_oauth_resource_metadata(struct eddy_app *app,
					   const struct eddy_oauth_resource *resource)
{
	struct metadata *metadata = touch(app, &eddyi_description_resource);

	eddyi_description_set_resource(&metadata->resource, app, resource);
	metadata->resource.is_wanted = true;
}

void eddy_app_set_oauth_resource_metadata(struct eddy_app *app, const char *resource)
{
	eddy_app_with_oauth_resource_metadata(
		app, &(struct eddy_oauth_resource){ .resource = resource });
}

void eddy_app_with_oauth_server_metadata(struct eddy_app *app,
					 const struct eddy_oauth_server *server)
{
	struct metadata *metadata = touch(app, &eddyi_description_server);

	eddyi_description_set_server(&metadata->server, app, server);
	metadata->server.is_wanted = true;
}

void eddy_app_set_oauth_server_metadata(struct eddy_app *app, const char *issuer)
{
	eddy_app_with_oauth_server_metadata(app, &(struct eddy_oauth_server){ .issuer = issuer });
}

static void use(struct eddy_app *app, enum eddyi_document document)
{
	struct metadata *metadata = touch(app, document == EDDYI_DOCUMENT_RESOURCE ?
						       &eddyi_description_resource :
						       &eddyi_description_server);
	struct eddyi_description *description = description_of(metadata, document);

	if (metadata->uses[document])
		return;
	metadata->uses[document] = true;
	description->is_wanted = true;
	map(app, description, eddyi_document_path(document));
}

void eddy_app_use_oauth_resource_metadata(struct eddy_app *app)
{
	use(app, EDDYI_DOCUMENT_RESOURCE);
}

void eddy_app_use_oauth_server_metadata(struct eddy_app *app)
{
	use(app, EDDYI_DOCUMENT_SERVER);
}

void eddy_app_use_oidc_metadata(struct eddy_app *app)
{
	use(app, EDDYI_DOCUMENT_OPENID);
}

void eddyi_metadata_config(struct eddy_app *app)
{
	touch(app, &eddyi_description_resource);
	touch(app, &eddyi_description_server);
}
