/* issuer.h: the parts of the program `issuer`, a small authorization server.
 *
 * One loop serves everything. Files are loaded as a whole and immutable: during a reload a request
 * goes on with those that it began with.
 */
#ifndef ISSUER_H
#define ISSUER_H

#include <eddy/auth.h>
#include <eddy/http.h>
#include <eddy/loop.h>
#include <eddy/signal.h>

struct issuer_settings {
	const char *bind;
	const char *url; /* the issuer: an origin */
	const char *audience;
	const char *keys;    /* a folder */
	const char *clients; /* a file */
	unsigned lifetime;   /* of a token, in seconds */
	bool kid_by_name;
};

/* Parse the command line. Exits with 2 on a mistake. */
void issuer_settings_parse(struct issuer_settings *settings, int argc, char **argv);

#define ISSUER_KEYS_MAX 16

struct issuer_keys {
	struct eddy_jwk *list[ISSUER_KEYS_MAX]; /* the last one signs */
	size_t count;
	char *set; /* the public keys, as JSON */
};

/* Read every file of the folder whose name ends in .pem. Blocks. Mistakes are logged.
 * Return: 0, -errno. */
int issuer_keys_read(struct issuer_keys *keys, const struct issuer_settings *settings);
void issuer_keys_free(struct issuer_keys *keys);

#define ISSUER_MAC_SIZE 32

struct issuer_client {
	struct eddy_str id, scopes, roles;  /* the last two comma-separated, maybe empty */
	unsigned char mac[ISSUER_MAC_SIZE]; /* of its secret */
};

struct issuer_clients {
	char *text; /* of the file, without the secrets */
	struct issuer_client *list;
	size_t count;
	struct eddy_jwk *key; /* for the MACs; random for each load */
};

/* Read a file with one client a line. Blocks. Mistakes are logged. Return: 0, -errno. */
int issuer_clients_read(struct issuer_clients *clients, const char *path);
void issuer_clients_free(struct issuer_clients *clients);

/* Find the client with this id and secret. Takes the same time if there is none.
 * Return: 0; -EACCES if there is none; -ENOMEM. */
int issuer_clients_find(const struct issuer_clients *clients, struct eddy_str id,
			struct eddy_str secret, const struct issuer_client **ret_client);

struct issuer_files {
	unsigned refs;
	struct issuer_keys keys;
	struct issuer_clients clients;
};

struct issuer {
	struct issuer_settings settings;
	struct issuer_files *files;
	struct eddy_signals hangups;
};

/* Read a regular file of at most `max` bytes, and append a NUL. Blocks. Mistakes are logged.
 * Return: its length, and `ret_text` for the caller to free; -errno. */
ssize_t issuer_read(int dir, const char *name, size_t max, char **ret_text);

/* Load all files, and replace the current ones on success. Suspends. Return: 0, -errno. */
int issuer_load(struct issuer *issuer);
struct issuer_files *issuer_files_ref(struct issuer_files *files);
void issuer_files_unref(struct issuer_files *files);

/* A task: reload the files at each SIGHUP. */
eddy_task_fn issuer_watch;

/* Decode the form-encoded user and password of the Authorization field (RFC 7617, RFC 6749 section
 * 2.3.1) into request memory. Return: 0; -ENOENT if there is no such field; -EINVAL if it is
 * malformed, not Basic, or occurs twice; -ENOMEM. */
int issuer_basic(struct eddy_req *req, struct eddy_str *ret_id, struct eddy_str *ret_secret);

/* POST /token */
int issuer_token(struct eddy_req *req, struct eddy_res *res);

#endif
