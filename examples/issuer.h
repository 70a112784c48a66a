/* issuer.h: the parts of the program `issuer`: a small authorization server.
 *
 * One loop serves all of it. What stands in files is read as a whole, and never changed then: a request keeps
 * the files that it has begun with.
 */
#ifndef ISSUER_H
#define ISSUER_H

#include <eddy/auth.h>
#include <eddy/http.h>
#include <eddy/loop.h>
#include <eddy/signal.h>

struct issuer_settings {
	const char *bind;
	const char *url; /* what it is known by: an origin */
	const char *audience;
	const char *keys;    /* a folder */
	const char *clients; /* a file */
	unsigned lifetime;   /* of a token, in seconds */
	bool kid_by_name;
};

/* Read the switches; ends the process where they make no sense. */
void issuer_settings_parse(struct issuer_settings *settings, int argc, char **argv);

#define ISSUER_KEYS_MAX 16

struct issuer_keys {
	struct eddy_jwk *list[ISSUER_KEYS_MAX]; /* the last one signs */
	size_t count;
	char *set; /* what others may know of them, as JSON */
};

/* Read every file of the folder whose name ends in .pem. Blocks. What is wrong is said in a record.
 * Return: 0, -errno. */
int issuer_keys_read(struct issuer_keys *keys, const struct issuer_settings *settings);
void issuer_keys_free(struct issuer_keys *keys);

#define ISSUER_MAC_SIZE 32

struct issuer_client {
	struct eddy_str id, scopes, roles; /* the last two with commas between; of length 0: none */
	unsigned char mac[ISSUER_MAC_SIZE]; /* of its secret */
};

struct issuer_clients {
	char *text; /* of the file, without the secrets */
	struct issuer_client *list;
	size_t count;
	struct eddy_jwk *key; /* for the MACs, a new one each time */
};

/* Read a file with a client in each line. Blocks. What is wrong is said in a record. Return: 0, -errno. */
int issuer_clients_read(struct issuer_clients *clients, const char *path);
void issuer_clients_free(struct issuer_clients *clients);

/* Find the client whose secret it is; it takes as long where there is none.
 * Return: 0; -EACCES, -ENOMEM. */
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

/* Read all of a regular file of `max` bytes at most, and add a NUL. Blocks. What is wrong is said in a record.
 * Return: its length, and memory to free; -errno. */
ssize_t issuer_read(int dir, const char *name, size_t max, char **ret_text);

/* Read all files and put them in the place of those that are there; these stay where something is wrong.
 * Suspends. Return: 0, -errno. */
int issuer_load(struct issuer *issuer);
struct issuer_files *issuer_files_ref(struct issuer_files *files);
void issuer_files_unref(struct issuer_files *files);

/* A task: load them again at each SIGHUP. */
eddy_task_fn issuer_watch;

/* Decode the user and the password of an Authorization field (RFC 7617), each as a form has them (RFC 6749
 * section 2.3.1); they live as long as the request. Return: 0; -ENOENT where there is no such field, -EINVAL where
 * it is none of Basic or there are several, -ENOMEM. */
int issuer_basic(struct eddy_req *req, struct eddy_str *ret_id, struct eddy_str *ret_secret);

/* POST /token */
int issuer_token(struct eddy_req *req, struct eddy_res *res);

#endif
