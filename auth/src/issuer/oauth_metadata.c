/* The metadata documents of an app: their routes, and when they are made. */
#include "oauth_metadata.h"

#include "description.h"
#include "identifier.h"

#include <eddy/layer.h>
#include <eddy/oauth_metadata.h>
#include <eddy/req.h>
#include <eddy/res.h>
#include <errno.h>
#include <stdlib.h>

#define DOCUMENTS (EDDYI_DOCUMENT_OPENID + 1)

/* The route of a document. Routes stay: one for the path of an earlier identifier answers 404. */
struct place {
	struct place *next;
	const struct eddyi_description *description;
	enum eddyi_document document;
	const char *path;
	bool is_current;
};

struct metadata {
	struct eddyi_description resource;
	struct eddyi_description server;
	bool uses[DOCUMENTS];
	struct place *places;
	char *resource_url; /* URL of the resource's document; NULL: no resource is described */
};

/* ---- routes ---- */

static struct eddyi_description *description_of(struct metadata *metadata,
						enum eddyi_document document)
{
	return document == EDDYI_DOCUMENT_RESOURCE ? &metadata->resource : &metadata->server;
}

static int serve(struct eddy_req *req, struct eddy_res *res)
{
	const struct place *place = eddy_req_route_data(req);
	int r;

	if (!place->is_current)
		return -ENOENT;
	r = eddy_res_set_z(res, "cache-control", "public, max-age=3600");
	/* Pages of other origins may read it. */
	if (r == 0)
		r = eddy_res_set_z(res, "access-control-allow-origin", "*");
	return r < 0 ? r :
		       eddy_res_bytes(res, "application/json",
				      eddy_str_from(place->description->text));
}

/* Compare as the router does: without a slash at the end. */
static bool is_same_path(const char *a, const char *b)
{
	size_t a_len = strlen(a), b_len = strlen(b);

	a_len -= a[a_len - 1] == '/';
	b_len -= b[b_len - 1] == '/';
	return a_len == b_len && memcmp(a, b, a_len) == 0;
}

static void serve_at(struct eddy_app *app, struct metadata *metadata, enum eddyi_document document,
		     const char *path)
{
	struct place *place = metadata->places;

	while (place && (place->document != document || !is_same_path(place->path, path)))
		place = place->next;
	if (!place) {
		place = eddy_app_alloc(app, sizeof(*place));
		*place = (struct place){
			.next = metadata->places,
			.description = description_of(metadata, document),
			.document = document,
			.path = eddy_app_keep_string(app, path),
		};
		metadata->places = place;
		eddy_route_with(eddy_app_map_get(app, path, serve),
				&(struct eddy_route_options){ .data = place });
	}
	place->is_current = true;
}

/* Serve a document at the path of its identifier. Return: 0, -ENOMEM. */
static int serve_at_own(struct eddy_app *app, struct metadata *metadata,
			enum eddyi_document document)
{
	struct eddyi_description *description = description_of(metadata, document);
	char *url = eddyi_document_url(document, eddyi_description_identifier(description));
	char *path;

	if (!url)
		return -ENOMEM;
	path = (char *)eddyi_identifier_path(url);
	path[strcspn(path, "?")] = '\0';
	if (!is_same_path(path, eddyi_document_path(document)))
		serve_at(app, metadata, document, path);
	free(url);
	return 0;
}

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

/* Disable the routes for paths of identifiers. */
static void leave_own(struct metadata *metadata)
{
	for (struct place *place = metadata->places; place; place = place->next)
		place->is_current = strcmp(place->path, eddyi_document_path(place->document)) == 0;
}

static int start(struct eddy_app *app, void *data)
{
	struct metadata *metadata = data;
	int r = make_all(app, metadata);

	leave_own(metadata);
	for (enum eddyi_document i = 0; i < DOCUMENTS && r == 0; i++)
		if (metadata->uses[i] && description_of(metadata, i)->text)
			r = serve_at_own(app, metadata, i);
	return r;
}

/* ---- state of the app ---- */

static void deinit(void *kept)
{
	struct metadata *metadata = kept;

	eddyi_description_deinit(&metadata->resource);
	eddyi_description_deinit(&metadata->server);
	free(metadata->resource_url);
}

static const struct eddy_layer layer = { "metadata", sizeof(struct metadata), NULL, deinit };

/* Get the app's metadata to change it; changes apply from the next start on. */
static struct metadata *touch(struct eddy_app *app, const struct eddyi_description_kind *kind)
{
	struct metadata *metadata = eddy_app_layer(app, &layer);
	struct eddyi_description *description =
		kind == &eddyi_description_server ? &metadata->server : &metadata->resource;

	if (!description->kind)
		eddyi_description_init(description, app, kind);
	eddy_app_at_start(app, start, metadata);
	return metadata;
}

const char *eddyi_oauth_metadata_resource_url(const struct eddy_app *app)
{
	const struct metadata *metadata = eddy_app_find_layer(app, &layer);

	return metadata ? metadata->resource_url : NULL;
}

bool eddyi_oauth_metadata_is_asked(const struct eddy_app *app, const struct eddy_req *req)
{
	const struct metadata *metadata = eddy_app_find_layer(app, &layer);
	const struct place *place = metadata ? metadata->places : NULL;

	while (place && place != eddy_req_route_data(req))
		place = place->next;
	return place;
}

/* ---- public functions ---- */

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

	metadata->uses[document] = true;
	description->is_wanted = true;
	serve_at(app, metadata, document, eddyi_document_path(document));
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

void eddyi_oauth_metadata_config(struct eddy_app *app)
{
	touch(app, &eddyi_description_resource);
	touch(app, &eddyi_description_server);
}
