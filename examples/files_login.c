/* --login FILE: who may use the server. */
#include "files.h"

#include <eddy/log.h>
#include <eddy/loop.h>
#include <eddy/peer.h>
#include <eddy/task.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* A wrong login waits for this time, and so many of an address wait at once. */
#define GUESS_NS EDDY_SECOND
#define GUESSES_MAX 16

/* Of the hash of addresses. */
static uint64_t seed;

struct files_login {
	struct files_login *next;
	size_t len;
	char text[]; /* NAME:PASSWORD */
};

/* ---- the file ---- */

static _Noreturn void refuse(const char *path, unsigned line, const char *why)
{
	if (line)
		fprintf(stderr, "files: line %u of \"%s\" %s\n", line, path, why);
	else
		fprintf(stderr, "files: can't use the logins in \"%s\": %s\n", path, why);
	exit(2);
}

static FILE *open_private(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	FILE *file;

	if (fd < 0 || fstat(fd, &st) < 0)
		refuse(path, 0, strerror(errno));
	if (!S_ISREG(st.st_mode))
		refuse(path, 0, "it is no regular file");
	if (st.st_mode & 077)
		refuse(path, 0, "others may read or change it; try: chmod 600");
	file = fdopen(fd, "r");
	if (!file)
		refuse(path, 0, strerror(errno));
	return file;
}

static void check_line(const char *path, unsigned number, struct eddy_str line)
{
	const char *colon = memchr(line.ptr, ':', line.len);

	if (!colon || colon == line.ptr || colon + 1 == line.ptr + line.len)
		refuse(path, number, "is not NAME:PASSWORD");
	for (size_t i = 0; i < line.len; i++)
		if ((unsigned char)line.ptr[i] < ' ' || line.ptr[i] == 0x7f)
			refuse(path, number, "contains a control character");
}

struct files_login *files_login_load(const char *path)
{
	FILE *file = open_private(path);
	struct files_login *first = NULL, *login;
	unsigned number = 0;
	char *line = NULL;
	size_t size = 0;
	ssize_t len;

	while ((len = getline(&line, &size, file)) > 0) {
		number++;
		len -= line[len - 1] == '\n';
		if (!len)
			continue;
		check_line(path, number, eddy_str(line, (size_t)len));
		login = malloc(sizeof(*login) + (size_t)len);
		if (!login)
			refuse(path, 0, strerror(ENOMEM));
		login->next = first;
		login->len = (size_t)len;
		memcpy(login->text, line, (size_t)len);
		first = login;
	}
	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		refuse(path, 0, strerror(errno));
	if (ferror(file))
		refuse(path, 0, strerror(errno));
	if (!first)
		refuse(path, 0, "there are none");
	if (size)
		explicit_bzero(line, size);
	free(line);
	fclose(file);
	return first;
}

void files_login_free(struct files_login *login)
{
	while (login) {
		struct files_login *next = login->next;

		explicit_bzero(login->text, login->len);
		free(login);
		login = next;
	}
}

/* ---- requests ---- */

/* Takes the same time wherever they differ. */
static bool is_same(const struct files_login *login, struct eddy_str text)
{
	size_t differ = login->len ^ text.len;

	for (size_t i = 0; i < text.len; i++)
		differ |= (unsigned char)(login->text[i % login->len] ^ text.ptr[i]);
	return differ == 0;
}

static bool is_known(const struct files_login *login, struct eddy_str text)
{
	bool known = false;

	for (; login; login = login->next)
		known |= is_same(login, text);
	return known;
}

/* ---- guesses ---- */

/* Waiting ones, by a hash of their address, with a seed so that no client chooses whose it
 * shares. */
static atomic_uint guesses[256];
static atomic_uint_least64_t warned_at;

static void warn(const struct eddy_req *req)
{
	uint64_t now = eddy_now(), before = atomic_load(&warned_at);

	if (now - before >= EDDY_SECOND && atomic_compare_exchange_strong(&warned_at, &before, now))
		eddy_warn("files", "a wrong name or password came from %.*s",
			  EDDY_FMT(eddy_req_peer(req)->text));
}

/* One user may have all addresses of an IPv6 network of 64 bits. */
static atomic_uint *guesses_of(const struct eddy_req *req)
{
	const struct eddy_sockaddr *addr = &eddy_req_peer(req)->addr;
	unsigned char bytes[8] = { 0 };
	uint64_t hash = seed;

	if (addr->addr.any.sa_family == AF_INET)
		memcpy(bytes, &addr->addr.in.sin_addr, 4);
	else if (addr->addr.any.sa_family == AF_INET6)
		memcpy(bytes, &addr->addr.in6.sin6_addr, 8);
	for (size_t i = 0; i < sizeof(bytes); i++)
		hash = (hash ^ bytes[i]) * 0x9e3779b97f4a7c15;
	return &guesses[hash >> 56];
}

/* Judge a login. A wrong one waits, so that guessing takes long. While too many of its address
 * wait, it is not judged: its response would tell.
 * Return: 0, -EACCES, -EBUSY. */
static int judge(const struct files_login *login, const struct eddy_req *req, struct eddy_str text)
{
	atomic_uint *waiting = guesses_of(req);

	if (atomic_load(waiting) >= GUESSES_MAX)
		return -EBUSY;
	if (is_known(login, text))
		return 0;
	atomic_fetch_add(waiting, 1);
	warn(req);
	eddy_sleep(GUESS_NS);
	atomic_fetch_sub(waiting, 1);
	return -EACCES;
}

int files_ask(struct eddy_next *next, struct eddy_req *req, struct eddy_res *res)
{
	const struct files *files = eddy_req_context(req);
	struct eddy_str text;
	int r;

	if (!files->login)
		return eddy_next(next, req, res);
	r = eddy_req_basic(req, &text);
	if (r == -ENOMEM)
		return r;
	if (r == 0)
		r = judge(files->login, req, text);
	if (r == 0)
		return eddy_next(next, req, res);
	if (r == -EBUSY)
		return eddy_res_problem(res, 429, "too many wrong logins; try again later");
	r = eddy_res_set_z(res, "www-authenticate", "Basic realm=\"files\", charset=\"UTF-8\"");
	return r < 0 ? r : eddy_res_problem(res, 401, "a name and a password are required");
}
