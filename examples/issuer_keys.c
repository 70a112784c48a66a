/* issuer: signing keys, one in each file. */
#include "issuer.h"

#include <eddy/log.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEY_FILE_MAX ((size_t)(64 * EDDY_KIB))
#define SUFFIX ".pem"

static int wrong(const char *name, const char *why)
{
	eddy_error("issuer", "can't use the key %s: %s", name, why);
	return -EINVAL;
}

static const char *reason_of(int error)
{
	switch (error) {
	case -EKEYREJECTED:
		return "it is too weak, or its public and private parts do not match";
	case -ENOMEM:
		return "out of memory";
	default:
		return "it is not an unencrypted private key in PEM (RSA, EC, Ed25519 or Ed448)";
	}
}

/* Set the key id: the file name without the suffix, or the thumbprint. */
static int name_key(const char *file, bool by_name, struct eddy_str pem, struct eddy_jwk **key)
{
	char thumbprint[EDDY_JWK_THUMBPRINT_SIZE], name[NAME_MAX + 1];
	struct eddy_jwk *named;
	int r;

	snprintf(name, sizeof(name), "%.*s", (int)(strlen(file) - strlen(SUFFIX)), file);
	eddy_jwk_thumbprint(*key, thumbprint);
	r = eddy_jwk_from_pem(pem, &(struct eddy_jwk_options){ .kid = by_name ? name : thumbprint },
			      &named);
	if (r < 0)
		return wrong(file, reason_of(r));
	eddy_jwk_unref(*key);
	*key = named;
	return 0;
}

static bool is_known(const struct issuer_keys *keys, const struct eddy_jwk *key)
{
	for (size_t i = 0; i < keys->count; i++)
		if (eddy_str_eq(eddy_jwk_kid(keys->list[i]), eddy_jwk_kid(key)))
			return true;
	return false;
}

static int read_key(struct issuer_keys *keys, int dir, const char *file, bool by_name)
{
	struct eddy_jwk *key = NULL;
	char *text;
	ssize_t len = issuer_read(dir, file, KEY_FILE_MAX, &text);
	struct eddy_str pem;
	int r;

	if (len < 0)
		return (int)len;
	pem = eddy_str(text, (size_t)len);
	r = eddy_jwk_from_pem(pem, NULL, &key);
	if (r < 0)
		r = wrong(file, reason_of(r));
	else if (!eddy_jwk_is_private(key))
		r = wrong(file, "it is a public key, which can't sign");
	else
		r = name_key(file, by_name, pem, &key);
	if (r == 0 && is_known(keys, key))
		r = wrong(file, "another file has the same key");
	explicit_bzero(text, (size_t)len);
	free(text);
	if (r < 0)
		eddy_jwk_unref(key);
	else
		keys->list[keys->count++] = key;
	return r;
}

static int is_key_file(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name), suffix = strlen(SUFFIX);

	return entry->d_name[0] != '.' && len > suffix &&
	       strcmp(entry->d_name + len - suffix, SUFFIX) == 0;
}

static int read_all(struct issuer_keys *keys, int dir, struct dirent **entries, int count,
		    const struct issuer_settings *settings)
{
	int r = 0;

	if (!count)
		return wrong(settings->keys, "the folder has no file named *" SUFFIX);
	if (count > ISSUER_KEYS_MAX)
		return wrong(settings->keys, "the folder has more than 16 keys");
	for (int i = 0; i < count && r == 0; i++)
		r = read_key(keys, dir, entries[i]->d_name, settings->kid_by_name);
	return r;
}

/* Return: NULL on allocation failure, or if a name is not UTF-8. */
static char *write_set(const struct issuer_keys *keys)
{
	json_t *list = json_array(), *set = json_pack("{s:O}", "keys", list);
	bool failed = !set;
	char *text = NULL;

	for (size_t i = 0; i < keys->count; i++)
		if (json_array_append_new(list, eddy_jwk_public_json(keys->list[i])) < 0)
			failed = true;
	if (!failed)
		text = json_dumps(set, JSON_COMPACT);
	json_decref(list);
	json_decref(set);
	return text;
}

int issuer_keys_read(struct issuer_keys *keys, const struct issuer_settings *settings)
{
	int dir = open(settings->keys, O_RDONLY | O_DIRECTORY | O_CLOEXEC), count = -1, r;
	struct dirent **entries = NULL;

	if (dir >= 0)
		count = scandirat(dir, ".", &entries, is_key_file, versionsort);
	if (count < 0)
		r = wrong(settings->keys, strerror(errno));
	else
		r = read_all(keys, dir, entries, count, settings);
	if (dir >= 0)
		close(dir);
	for (int i = 0; i < count; i++)
		free(entries[i]);
	free(entries);
	if (r < 0)
		return r;
	keys->set = write_set(keys);
	return keys->set ? 0 : wrong(settings->keys, "the set of keys can't be written as JSON");
}

void issuer_keys_free(struct issuer_keys *keys)
{
	for (size_t i = 0; i < keys->count; i++)
		eddy_jwk_unref(keys->list[i]);
	free(keys->set);
}
