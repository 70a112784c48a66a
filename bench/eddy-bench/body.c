#include "body.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A larger one repeats itself. */
#define PERIOD_MAX ((uint64_t)64 << 20)
/* To look at what is sent. */
#define READ_SIZE ((size_t)1 << 18)

static int failed(struct body *body, int r, const char *what, char error[OPTIONS_ERROR_SIZE])
{
	snprintf(error, OPTIONS_ERROR_SIZE, "%s: %s", what, strerror(-r));
	body_close(body);
	return r;
}

/* xorshift64*: not for secrets. */
static void fill(uint64_t *words, size_t count, uint64_t *state)
{
	for (size_t i = 0; i < count; i++) {
		*state ^= *state >> 12;
		*state ^= *state << 25;
		*state ^= *state >> 27;
		words[i] = *state * 2685821657736338717u;
	}
}

static int write_all(int fd, uint64_t size)
{
	uint64_t words[4096], state = 88172645463325252u;

	while (size) {
		size_t len = size < sizeof(words) ? (size_t)size : sizeof(words);
		ssize_t r;

		fill(words, sizeof(words) / sizeof(*words), &state);
		r = write(fd, words, len);
		if (r < 0)
			return -errno;
		size -= (uint64_t)r;
	}
	return 0;
}

/* Nothing is read that nobody asks for. */
static int load(struct body *body)
{
	if (body->period) {
		void *map = mmap(NULL, body->period, PROT_READ, MAP_SHARED, body->fd, 0);

		if (map == MAP_FAILED)
			return -errno;
		body->map = map;
	}
	if (body->size > BODY_SMALL)
		return 0;
	body->bytes = malloc(body->size + 1);
	if (!body->bytes)
		return -ENOMEM;
	if (pread(body->fd, body->bytes, body->size, 0) != (ssize_t)body->size)
		return -EIO;
	return 0;
}

int body_make(uint64_t size, struct body *ret_body, char error[OPTIONS_ERROR_SIZE])
{
	struct body body = { .size = size, .period = size < PERIOD_MAX ? size : PERIOD_MAX };
	int r;

	body.fd = memfd_create("body", MFD_CLOEXEC);
	if (body.fd < 0)
		return failed(&body, -errno, "not enough memory for the body to upload", error);
	r = write_all(body.fd, body.period);
	if (r == 0)
		r = load(&body);
	if (r < 0)
		return failed(&body, r, "not enough memory for the body to upload", error);
	*ret_body = body;
	return 0;
}

int body_open(const char *path, struct body *ret_body, char error[OPTIONS_ERROR_SIZE])
{
	struct body body = { .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) };
	struct stat stat;
	int r = 0;

	if (body.fd < 0 || fstat(body.fd, &stat) < 0)
		return failed(&body, -errno, path, error);
	if (!S_ISREG(stat.st_mode))
		return failed(&body, S_ISDIR(stat.st_mode) ? -EISDIR : -EINVAL, path, error);
	body.size = body.period = (uint64_t)stat.st_size;
	r = load(&body);
	if (r < 0)
		return failed(&body, r, path, error);
	*ret_body = body;
	return 0;
}

/* The bytes of a period, as often as they are sent. */
static int add_all(struct digest *digest, const struct body *body, char *buf, size_t size)
{
	for (uint64_t sent = 0; sent < body->size;) {
		uint64_t at = sent % body->period;
		uint64_t left = body->size - sent, here = body->period - at;
		size_t len = left < here ? (size_t)(left < size ? left : size) :
					   (size_t)(here < size ? here : size);
		ssize_t r = pread(body->fd, buf, len, (off_t)at);

		if (r <= 0)
			return r < 0 ? -errno : -EIO;
		digest_add(digest, buf, (size_t)r);
		sent += (uint64_t)r;
	}
	return 0;
}

int body_digest(const struct body *body, unsigned char ret_digest[DIGEST_SIZE])
{
	struct digest *digest = digest_new();
	char *buf = malloc(READ_SIZE);
	int r = digest && buf ? 0 : -ENOMEM;

	if (r == 0) {
		digest_begin(digest);
		r = add_all(digest, body, buf, READ_SIZE);
	}
	if (r == 0)
		digest_end(digest, ret_digest);
	free(buf);
	digest_free(digest);
	return r;
}

void body_close(struct body *body)
{
	if (body->map)
		munmap((void *)body->map, body->period);
	if (body->fd > 0)
		close(body->fd);
	free(body->bytes);
	*body = (struct body){ 0 };
}
