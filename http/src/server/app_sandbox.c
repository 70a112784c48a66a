#include "run.h"

#include "app/app.h"
#include "exchange/cookie_keys.h"
#include "files/open_files.h"
#include "tls/tls_setup.h"

#include <eddy/internal/outside.h>
#include <eddy/app_sandbox.h>
#include <eddy/config.h>
#include <eddy/log.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMBER(name) EDDY_CONFIG_AT(struct eddy_sandbox_options, name)

static const struct eddy_config_key keys[] = {
	{ "readable", EDDY_CONFIG_STRINGS, MEMBER(readable) },
	{ "writable", EDDY_CONFIG_STRINGS, MEMBER(writable) },
	{ "connects", EDDY_CONFIG_BOOL, MEMBER(connects) },
	{ 0 },
};

static const struct eddy_config_section section = { .name = "sandbox", .keys = keys };

void eddy_app_sandbox(struct eddy_app *app, const struct eddy_sandbox_options *options)
{
	if (!app->sandbox)
		app->sandbox = eddy_app_alloc(app, sizeof(*app->sandbox));
	*app->sandbox = options ? *options : (struct eddy_sandbox_options){ 0 };
	eddy_app_keep_strings(app, keys, app->sandbox);
	eddy_app_config_section(app, &section, app->sandbox);
}

/* ---- readable paths ---- */

/* Paths, terminated by NULL. */
struct paths {
	char **all;
	size_t count;
	bool out_of_memory;
};

/* Takes ownership of `path`, which is of malloc(3), or NULL on allocation failure. */
static void add(struct paths *paths, char *path)
{
	char **all = path ? realloc(paths->all, (paths->count + 2) * sizeof(*all)) : NULL;

	if (!all) {
		free(path);
		paths->out_of_memory = true;
		return;
	}
	paths->all = all;
	all[paths->count++] = path;
	all[paths->count] = NULL;
}

static bool is_root(const char *path)
{
	char *real = path ? eddyi_realpath_now(path, NULL) : NULL;
	bool is_root = real && strcmp(real, "/") == 0;

	free(real);
	return is_root;
}

/* Allow the folder, since the file may be replaced; but not the root, which is everything. */
static void add_folder_of(struct paths *paths, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? strndup(path, (size_t)(slash + 1 - path)) : strdup(".");

	if (is_root(folder)) {
		eddy_warn(
			"eddy::app",
			"\"%s\" is in the root folder: in the sandbox a new file that replaces it "
			"can't be read; move it to a folder of its own",
			path);
		free(folder);
		folder = strdup(path);
	}
	add(paths, folder);
}

static void add_file(const char *path, void *arg)
{
	struct paths *paths = arg;
	char *real = eddyi_realpath_now(path, NULL);

	add_folder_of(paths, path);
	if (real)
		add_folder_of(paths, real);
	free(real);
}

static void add_open_folder(struct paths *paths, int dir)
{
	char *path;

	add(paths, asprintf(&path, "/proc/self/fd/%d", dir) < 0 ? NULL : path);
}

static void collect(struct paths *paths, const struct eddy_app *app)
{
	const char *const *readable = app->sandbox->readable;

	for (; readable && *readable; readable++)
		add(paths, strdup(*readable));
	for (const struct eddyi_folder *folder = app->known_folders; folder;
	     folder = folder->next_known)
		add_open_folder(paths, folder->dir);
	if (EDDYI_TLS && app->tls)
		eddyi_tls_setup_each_file(app->tls, add_file, paths);
	if (EDDYI_TLS && app->cookie_keys && eddyi_cookie_keys_file(app->cookie_keys))
		add_file(eddyi_cookie_keys_file(app->cookie_keys), paths);
}

int eddyi_app_sandbox_enter(const struct eddy_app *app)
{
	struct paths paths = { 0 };
	struct eddy_sandbox_options options;
	int r = -ENOMEM;

	if (!app->sandbox)
		return 0;
	collect(&paths, app);
	options = *app->sandbox;
	options.readable = (const char *const *)paths.all;
	if (!paths.out_of_memory)
		r = eddy_sandbox_enter(&options);
	else
		eddy_error("eddy::app", "can't start: out of memory");
	for (size_t i = 0; i < paths.count; i++)
		free(paths.all[i]);
	free(paths.all);
	return r;
}
