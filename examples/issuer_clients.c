/* issuer: the clients file: each line has an id, a secret, scopes and roles. */
#include "issuer.h"

#include <eddy/log.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define CLIENTS_MAX 1000
#define CLIENTS_FILE_MAX ((size_t)EDDY_MIB)
#define SECRET_MIN 16

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Take the next word off a line; empty at its end. */
static struct eddy_str take_word(struct eddy_str *line)
{
	struct eddy_str word = eddy_str_trim(*line);
	size_t len = 0;

	while (len < word.len && !is_blank(word.ptr[len]))
		len++;
	*line = eddy_str_skip(word, len);
	return eddy_str(word.ptr, len);
}

/* The characters of scopes (RFC 6749 section 3.3), except the comma, which separates them here. */
static bool is_name(struct eddy_str name)
{
	for (size_t i = 0; i < name.len; i++)
		if (name.ptr[i] <= ' ' || name.ptr[i] > '~' || strchr("\"\\,", name.ptr[i]))
			return false;
	return name.len;
}

/* Return: whether `word` is a comma-separated list of names, or "-" for none. */
static bool read_list(struct eddy_str word, struct eddy_str *ret_list)
{
	struct eddy_str rest = word, name;

	*ret_list = eddy_str_eq_z(word, "-") ? EDDY_STR("") : word;
	while (eddy_str_split(&rest, ',', &name))
		if (!is_name(name))
			return false;
	return word.len;
}

static const struct issuer_client *find(const struct issuer_clients *clients, struct eddy_str id)
{
	for (size_t i = 0; i < clients->count; i++)
		if (eddy_str_eq(clients->list[i].id, id))
			return &clients->list[i];
	return NULL;
}

/* Keep a MAC of the secret instead of the secret. Return: the mistake, or NULL. */
static const char *keep_secret(const struct issuer_clients *clients, struct eddy_str secret,
			       struct issuer_client *client)
{
	unsigned char mac[EDDY_JWS_SIGNATURE_MAX];
	ssize_t len;

	if (secret.len < SECRET_MIN)
		return "the second field must be a secret of at least 16 bytes";
	len = eddy_jwk_sign(clients->key, EDDY_JWS_HS256, secret, mac);
	if (len != ISSUER_MAC_SIZE)
		return "out of memory";
	memcpy(client->mac, mac, ISSUER_MAC_SIZE);
	return NULL;
}

/* Return: the mistake, or NULL. */
static const char *read_line(struct issuer_clients *clients, struct eddy_str line)
{
	struct issuer_client client = { .id = take_word(&line) };
	struct eddy_str secret = take_word(&line);
	const char *why;

	if (!client.id.len)
		return NULL;
	if (client.id.ptr[0] == '#') {
		/* A client that is commented out may have a secret. */
		explicit_bzero((char *)client.id.ptr,
			       (size_t)(line.ptr + line.len - client.id.ptr));
		return NULL;
	}
	if (!is_name(client.id) || find(clients, client.id))
		return "the first field must be a unique client id";
	if (!read_list(take_word(&line), &client.scopes))
		return "the third field must be scopes: read,write, or - for none";
	if (!read_list(take_word(&line), &client.roles) || take_word(&line).len)
		return "the fourth and last field must be roles: admin,editor, or - for none";
	if (clients->count == CLIENTS_MAX)
		return "there are more than 1000 clients";
	why = keep_secret(clients, secret, &client);
	explicit_bzero((char *)secret.ptr, secret.len);
	if (!why)
		clients->list[clients->count++] = client;
	return why;
}

static int read_lines(struct issuer_clients *clients, struct eddy_str rest, const char *path)
{
	struct eddy_str line;
	const char *why;

	for (unsigned number = 1; eddy_str_split(&rest, '\n', &line); number++) {
		if (line.len && line.ptr[line.len - 1] == '\r')
			line.len--;
		why = read_line(clients, line);
		if (why) {
			eddy_error("issuer", "%s:%u: %s", path, number, why);
			return -EINVAL;
		}
	}
	return 0;
}

/* A random key. */
static struct eddy_jwk *make_key(void)
{
	char bytes[ISSUER_MAC_SIZE];
	struct eddy_jwk *key = NULL;

	if (getrandom(bytes, sizeof(bytes), 0) == sizeof(bytes))
		eddy_jwk_from_secret(eddy_str(bytes, sizeof(bytes)), NULL, &key);
	explicit_bzero(bytes, sizeof(bytes));
	return key;
}

int issuer_clients_read(struct issuer_clients *clients, const char *path)
{
	ssize_t len;
	int r;

	clients->key = make_key();
	clients->list = calloc(CLIENTS_MAX, sizeof(*clients->list));
	if (!clients->key || !clients->list) {
		eddy_error("issuer", "can't read %s: out of memory", path);
		return -ENOMEM;
	}
	len = issuer_read(AT_FDCWD, path, CLIENTS_FILE_MAX, &clients->text);
	if (len < 0)
		return (int)len;
	r = read_lines(clients, eddy_str(clients->text, (size_t)len), path);
	if (r < 0)
		explicit_bzero(clients->text, (size_t)len);
	return r;
}

void issuer_clients_free(struct issuer_clients *clients)
{
	eddy_jwk_unref(clients->key);
	free(clients->list);
	free(clients->text);
}

int issuer_clients_find(const struct issuer_clients *clients, struct eddy_str id,
			struct eddy_str secret, const struct issuer_client **ret_client)
{
	static const struct issuer_client nobody;
	const struct issuer_client *client = find(clients, id);
	const struct issuer_client *asked = client ? client : &nobody;
	int r = eddy_jwk_verify(clients->key, EDDY_JWS_HS256, secret,
				eddy_str((const char *)asked->mac, ISSUER_MAC_SIZE));

	if (r == -ENOMEM)
		return r;
	if (r < 0 || !client)
		return -EACCES;
	*ret_client = client;
	return 0;
}
