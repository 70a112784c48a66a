/* issuer: the files of keys and clients, loaded at the start and at each SIGHUP. */
#include "issuer.h"

#include <eddy/offload.h>
#include <eddy/runtime.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Return: its length; -EISDIR if it is not a regular file; -EFBIG; -errno. */
static ssize_t read_open(int fd, const char *name, size_t max, char **ret_text)
{
	struct stat st;
	char *text;
	size_t len = 0;
	ssize_t r;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EISDIR;
	if (st.st_mode & (S_IRGRP | S_IROTH))
		eddy_warn("issuer", "other users can read the secrets in %s: run chmod 600 on it",
			  name);
	text = malloc(max + 1);
	if (!text)
		return -ENOMEM;
	do {
		r = read(fd, text + len, max + 1 - len);
		if (r > 0)
			len += (size_t)r;
	} while ((r > 0 && len <= max) || (r < 0 && errno == EINTR));
	r = r < 0 ? -errno : len > max ? -EFBIG : (ssize_t)len;
	if (r < 0) {
		explicit_bzero(text, len);
		free(text);
		return r;
	}
	text[len] = '\0';
	*ret_text = text;
	return r;
}

ssize_t issuer_read(int dir, const char *name, size_t max, char **ret_text)
{
	int fd = openat(dir, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	ssize_t r = fd < 0 ? -errno : read_open(fd, name, max, ret_text);

	if (fd >= 0)
		close(fd);
	if (r == -EISDIR)
		eddy_error("issuer", "can't read %s: it is not a file", name);
	else if (r == -EFBIG)
		eddy_error("issuer", "can't read %s: it is larger than %zu bytes", name, max);
	else if (r < 0)
		eddy_error("issuer", "can't read %s: %s", name, strerror((int)-r));
	return r;
}

struct issuer_files *issuer_files_ref(struct issuer_files *files)
{
	files->refs++;
	return files;
}

void issuer_files_unref(struct issuer_files *files)
{
	if (!files || --files->refs)
		return;
	issuer_keys_free(&files->keys);
	issuer_clients_free(&files->clients);
	free(files);
}

struct load {
	const struct issuer_settings *settings;
	struct issuer_files *files;
};

/* Runs on the offload pool, since disks block and checking keys takes time. */
static int load(void *arg)
{
	struct load *job = arg;
	int r = issuer_keys_read(&job->files->keys, job->settings);

	return r < 0 ? r : issuer_clients_read(&job->files->clients, job->settings->clients);
}

int issuer_load(struct issuer *issuer)
{
	struct load job = { &issuer->settings, calloc(1, sizeof(*job.files)) };
	const struct issuer_keys *keys;
	int r;

	if (!job.files)
		return -ENOMEM;
	job.files->refs = 1;
	r = eddy_offload(load, &job);
	if (r < 0) {
		issuer_files_unref(job.files);
		return r;
	}
	issuer_files_unref(issuer->files);
	issuer->files = job.files;
	keys = &issuer->files->keys;
	eddy_info("issuer", "%zu keys, of which \"%.*s\" signs; %zu clients", keys->count,
		  EDDY_FMT(eddy_jwk_kid(keys->list[keys->count - 1])),
		  issuer->files->clients.count);
	return 0;
}

int issuer_watch(void *arg)
{
	struct issuer *issuer = arg;
	int r;

	while ((r = eddy_signals_next(&issuer->hangups)) > 0)
		if (issuer_load(issuer) < 0 && !eddy_is_cancelled())
			eddy_error("issuer", "the old keys and clients stay in use");
	return r;
}
