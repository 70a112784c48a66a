#include "switches.h"

#include <eddy/log.h>
#include <eddy/str.h>
#include <eddy/upload.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t switch_number(const char *name, const char *text, uint64_t least, uint64_t most)
{
	uint64_t value;

	if (eddy_str_to_u64(eddy_str_from(text), &value) < 0 || value < least || value > most) {
		fprintf(stderr, "%s: --%s takes a number from %llu to %llu, not \"%s\"\n",
			program_invocation_short_name, name, (unsigned long long)least,
			(unsigned long long)most, text);
		exit(2);
	}
	return value;
}

void switch_technique(const char *name, const char *text, struct eddy_transfer_options *options,
		      enum eddy_technique *ret_technique)
{
	if (eddy_technique_parse(eddy_str_from(text), ret_technique) == 0 &&
	    eddy_transfer_options_check(options) == 0)
		return;
	fprintf(stderr, "%s: --%s: there is no such technique: \"%s\"\n",
		program_invocation_short_name, name, text);
	exit(2);
}

static const char *folder_remedy(int error)
{
	switch (error) {
	case ENOENT:
		return "; make it with mkdir, or name another";
	case ENOTDIR:
		return "; name a folder, not a file";
	case EACCES:
		return "; this user must be able to read it";
	default:
		return "";
	}
}

void switch_tls(struct eddy_app *app, const struct eddy_tls_options *options)
{
#ifdef EDDY_NO_TLS
	(void)app;
	if (options->cert || options->key) {
		fprintf(stderr, "%s: this eddy was built without TLS (-Dtls=disabled)\n",
			program_invocation_short_name);
		exit(2);
	}
#else
	if (options->cert || options->key)
		eddy_app_use_tls(app, options);
#endif
}

int switch_folder(const char *path)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), removed;

	if (dir < 0) {
		int error = errno;

		fprintf(stderr, "%s: can't open the folder \"%s\": %s%s\n",
			program_invocation_short_name, path, strerror(error), folder_remedy(error));
		exit(1);
	}
	removed = eddy_upload_clean(dir);
	if (removed > 0)
		eddy_info(program_invocation_short_name,
			  "removed %d unfinished uploads of an earlier run", removed);
	return dir;
}
