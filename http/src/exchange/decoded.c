/* Decoding of request bodies by a coder. */
#include "decoded.h"

#include <eddy/task.h>
#include <errno.h>
#include <stdlib.h>

#define IN_SIZE ((size_t)(16 * EDDY_KIB))
#define RAW_EXTRA ((uint64_t)(4 * EDDY_KIB))

struct eddyi_decoded {
	const struct eddy_coder *coder;
	void *state;
	size_t at, len; /* in `in`, not yet decoded */
	bool raw_ended;
	bool ended;
	uint64_t made; /* decoded bytes */
	uint64_t max;  /* limit of `made` */
	int error;     /* the first error, which all further reads return */
	char in[IN_SIZE];
};

/* Get the limit of encoded bytes: incompressible data grows when encoded. */
static uint64_t raw_max(uint64_t max)
{
	return max < UINT64_MAX / 2 ? max + max / 8 + RAW_EXTRA : UINT64_MAX;
}

int eddy_req_decode(struct eddy_req *req, const struct eddy_coder *coder, void *state)
{
	struct eddyi_decoded *decoded = NULL;
	bool late = req->decoded || req->text.ptr || req->body->error;

	if (!late)
		decoded = malloc(sizeof(*decoded));
	if (!decoded || (coder->begin && coder->begin(state) < 0)) {
		coder->end(state, false);
		free(decoded);
		return late ? -EBUSY : -ENOMEM;
	}
	decoded->coder = coder;
	decoded->state = state;
	decoded->at = decoded->len = 0;
	decoded->raw_ended = decoded->ended = false;
	decoded->made = 0;
	decoded->max = req->body->max;
	req->body->max = raw_max(decoded->max);
	decoded->error = 0;
	req->decoded = decoded;
	return 0;
}

void eddyi_decoded_deinit(struct eddy_req *req)
{
	struct eddyi_decoded *decoded = req->decoded;

	if (!decoded)
		return;
	decoded->coder->end(decoded->state, decoded->ended);
	free(decoded);
	req->decoded = NULL;
}

void eddyi_decoded_limit(struct eddy_req *req, uint64_t max)
{
	struct eddyi_decoded *decoded = req->decoded;

	if (!decoded) {
		eddyi_body_limit(req->body, max);
	} else if (max < decoded->max) {
		decoded->max = max;
		eddyi_body_limit(req->body, raw_max(max));
	}
}

static int fill(struct eddy_req *req)
{
	struct eddyi_decoded *decoded = req->decoded;
	ssize_t r = req->stream->verbs->read(req, decoded->in, IN_SIZE);

	if (r < 0)
		return (int)r;
	decoded->at = 0;
	decoded->len = (size_t)r;
	decoded->raw_ended = r == 0;
	return 0;
}

/* Take one step, and provide input for the next. Return: bytes, -errno. */
static ssize_t step(struct eddy_req *req, char *buf, size_t len)
{
	struct eddyi_decoded *decoded = req->decoded;
	struct eddy_coder_io io = { decoded->in + decoded->at, decoded->len - decoded->at, buf,
				    len };
	int done = decoded->coder->step(decoded->state, &io,
					decoded->raw_ended ? EDDY_CODER_END : EDDY_CODER_GO);
	int r = 0;

	if (done < 0)
		return done;
	decoded->at = decoded->len - io.in_len;
	decoded->ended = done && decoded->raw_ended;
	if (!done)
		r = eddy_yield();
	else if (io.out_len == len && !decoded->ended)
		r = fill(req);
	return r < 0 ? r : (ssize_t)(len - io.out_len);
}

static int explain(struct eddy_req *req, int error)
{
	if (error == -EBADMSG && !req->body->error)
		return eddyi_req_fail(req, error, 400,
				      "the body does not match its content-encoding");
	if (error == -EMSGSIZE)
		return eddyi_req_fail(req, error, 413, "the decoded body is too large");
	return error;
}

ssize_t eddyi_decoded_read(struct eddy_req *req, void *buf, size_t len)
{
	struct eddyi_decoded *decoded = req->decoded;
	ssize_t r = decoded->error;

	while (r == 0 && len && !decoded->ended)
		r = step(req, buf, len);
	if (r > 0)
		decoded->made += (uint64_t)r;
	/* The limit applies to decoded bytes. */
	if (r > 0 && decoded->made > decoded->max)
		r = -EMSGSIZE;
	if (r < 0 && !decoded->error)
		decoded->error = explain(req, (int)r);
	return r;
}
