/* Encoding of response bodies by a coder. */
#include "coded.h"

#include "message/status.h"
#include "res.h"

#include <eddy/internal/outside.h>
#include <eddy/internal/transfer.h>
#include <eddy/mutex.h>
#include <eddy/offload.h>
#include <eddy/task.h>
#include <eddy/transfer.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Maximum read from a file or sent at a time. */
#define PIECE_MAX ((size_t)(64 * EDDY_KIB))

/* The same for a stream, many of which may stay open for long. */
#define STREAM_OUT ((size_t)(16 * EDDY_KIB))

/* Larger bodies are encoded on the offload pool, since each step would delay other tasks; except
 * pieces below HANDED_MIN, which are encoded faster than handed over. */
#define LARGE ((uint64_t)(256 * EDDY_KIB))
#define HANDED_MIN ((size_t)(16 * EDDY_KIB))

/* More than any coder emits for an empty body. */
#define OUT_MIN ((size_t)512)

/* ---- inspecting responses ---- */

int eddy_res_on_head(struct eddy_res *res, eddy_res_head_fn *fn, void *data)
{
	struct eddyi_res_look *look = res->looks;

	while (look && look->fn != fn)
		look = look->next;
	if (look) {
		look->data = data;
		return 0;
	}
	look = eddyi_arena_alloc(&res->req->arena, sizeof(*look));
	if (!look)
		return -ENOMEM;
	*look = (struct eddyi_res_look){ res->looks, fn, data };
	res->looks = look;
	return 0;
}

int eddy_res_get_status(const struct eddy_res *res)
{
	return res->status;
}

bool eddy_res_has_body(const struct eddy_res *res)
{
	return eddyi_status_has_body(res->status) && !eddyi_res_is_length_unsaid(res);
}

uint64_t eddy_res_length(const struct eddy_res *res)
{
	switch (res->kind) {
	case EDDYI_RES_EMPTY:
		return 0;
	case EDDYI_RES_BYTES:
		return res->bytes.len;
	case EDDYI_RES_FILE:
		return res->file_size;
	case EDDYI_RES_STREAM:
		break;
	}
	return res->announced ? res->announced_length : EDDY_LENGTH_UNKNOWN;
}

int eddy_res_fd(const struct eddy_res *res)
{
	return res->kind == EDDYI_RES_FILE && res->status == 200 ? res->file.fd : -1;
}

void eddy_res_code(struct eddy_res *res, const struct eddy_coder *coder, void *state)
{
	if (res->unsized || res->head_sent || !eddy_res_has_body(res)) {
		coder->end(state, false);
		return;
	}
	res->coded.coder = coder;
	res->coded.state = state;
	res->unsized = true;
}

void eddy_res_replace(struct eddy_res *res, int fd, uint64_t length)
{
	if (res->unsized || res->head_sent || !eddy_res_has_body(res) ||
	    res->kind == EDDYI_RES_STREAM) {
		eddyi_close_now(fd);
		return;
	}
	eddyi_outgoing_close(&res->file);
	res->file = (struct eddyi_outgoing){ .fd = fd };
	res->file_size = length;
	res->kind = EDDYI_RES_FILE;
	res->unsized = true;
}

/* ---- sending ---- */

static int begin(struct eddyi_coded *coded)
{
	int r = coded->has_begun || !coded->coder->begin ? 0 : coded->coder->begin(coded->state);

	coded->has_begun = r == 0;
	return r;
}

static void end(struct eddyi_coded *coded, bool whole)
{
	if (coded->coder && !coded->has_ended)
		coded->coder->end(coded->state, whole);
	coded->has_ended = true;
}

static bool make_room(struct eddyi_coded *coded, size_t size)
{
	if (coded->out)
		return true;
	coded->out_size = size;
	coded->out = malloc(size);
	return coded->out != NULL;
}

static int send_out(struct eddy_req *req, bool last)
{
	struct eddyi_coded *coded = &req->res.coded;
	size_t len = coded->out_len;

	coded->out_len = 0;
	if (!len && !last)
		return 0;
	return eddyi_res_send(&req->res, eddy_str(coded->out, len), last);
}

/* Lets one body with many steps be encoded on a loop at a time, in order of arrival; other tasks
 * run between its steps. Alternating bodies would evict each other's tables from the processor's
 * caches, which costs a quarter. The holder never waits for a peer. */
static struct eddy_mutex *turn(void)
{
	static _Thread_local struct eddy_mutex mutex;
	static _Thread_local bool is_made;

	if (!is_made)
		eddy_mutex_init(&mutex);
	is_made = true;
	return &mutex;
}

static void end_turn(struct eddyi_coded *coded)
{
	if (coded->has_turn)
		eddy_mutex_unlock(turn());
	coded->has_turn = false;
}

static bool is_elsewhere(const struct eddyi_coded *coded)
{
	return coded->coder->slow || coded->taken >= LARGE;
}

/* Wait for the turn of a body with many steps. Return: 0, -ECANCELED. */
static int take_turn(struct eddyi_coded *coded, size_t len)
{
	int r;

	if (is_elsewhere(coded))
		end_turn(coded);
	if (coded->has_turn || is_elsewhere(coded) || len < HANDED_MIN)
		return 0;
	r = eddy_mutex_lock(turn());
	coded->has_turn = r == 0;
	return r;
}

struct step {
	const struct eddyi_coded *coded;
	struct eddy_coder_io *io;
	enum eddy_coder_op op;
};

static int run_step(void *arg)
{
	struct step *step = arg;

	return step->coded->coder->step(step->coded->state, step->io, step->op);
}

/* On the offload pool: take as many steps as there is room for, to save handovers. */
static int run_steps(void *arg)
{
	struct step *step = arg;
	int r;

	do
		r = run_step(step);
	while (r == 0 && step->io->out_len);
	return r;
}

/* Take a step, and let other tasks run before the next one. Return: as a coder's step, -errno. */
static int take_step(struct eddyi_coded *coded, struct eddy_coder_io *io, enum eddy_coder_op op)
{
	struct step step = { coded, io, op };
	size_t before = io->in_len;
	int done, r = 0;

	if (coded->coder->slow)
		done = eddy_offload(run_step, &step);
	else if (coded->taken >= LARGE && io->in_len >= HANDED_MIN)
		done = eddy_offload(run_steps, &step);
	else if ((done = run_step(&step)) == 0)
		r = eddy_yield();
	coded->taken += before - io->in_len;
	return r < 0 ? r : done;
}

/* Encode `in`, and send the output when the buffer is full or `op` requires it. */
static int pass(struct eddy_req *req, struct eddy_str in, enum eddy_coder_op op)
{
	struct eddyi_coded *coded = &req->res.coded;
	struct eddy_coder_io io = { .in = in.ptr, .in_len = in.len };
	int done = 0, r;

	do {
		io.out = coded->out + coded->out_len;
		io.out_len = coded->out_size - coded->out_len;
		r = take_turn(coded, io.in_len);
		if (r == 0)
			r = begin(coded);
		if (r == 0)
			done = take_step(coded, &io, op);
		if (r < 0 || done < 0)
			break;
		coded->out_len = coded->out_size - io.out_len;
		if (done && op == EDDY_CODER_END)
			end(coded, true);
		if (!io.out_len || (done && op != EDDY_CODER_GO)) {
			end_turn(coded);
			r = send_out(req, done && op == EDDY_CODER_END);
		}
	} while (r == 0 && !done);
	end_turn(coded);
	return r < 0 ? r : done < 0 ? done : 0;
}

static size_t room_for(uint64_t length)
{
	uint64_t size = length + length / 8 + OUT_MIN;

	return size < PIECE_MAX ? (size_t)size : PIECE_MAX;
}

/* Encode a part of a file, and end it by `op`. */
static int pass_file(struct eddy_req *req, const struct eddy_transfer *file, enum eddy_coder_op op)
{
	char *buf = malloc(file->len < PIECE_MAX ? (size_t)file->len + 1 : PIECE_MAX);
	uint64_t at = 0;
	int r = buf ? 0 : -ENOMEM;

	do {
		uint64_t left = file->len - at;
		size_t len = left < PIECE_MAX ? (size_t)left : PIECE_MAX;

		if (r == 0)
			r = eddyi_transfer_read(file->file, buf, len, file->offset + at);
		at += len;
		if (r == 0)
			r = pass(req, eddy_str(buf, len), at == file->len ? op : EDDY_CODER_GO);
	} while (r == 0 && at < file->len);
	free(buf);
	return r;
}

static int reply_through(struct eddy_req *req)
{
	struct eddy_res *res = &req->res;
	uint64_t length = eddy_res_length(res);

	if (!make_room(&res->coded, room_for(length)))
		return -ENOMEM;
	res->coded.taken = length < LARGE ? 0 : LARGE;
	if (res->kind == EDDYI_RES_EMPTY)
		return pass(req, EDDY_STR(""), EDDY_CODER_END);
	if (res->kind == EDDYI_RES_BYTES)
		return pass(req, res->bytes, EDDY_CODER_END);
	return pass_file(req,
			 &(struct eddy_transfer){ .file = res->file.fd, .len = res->file_size },
			 EDDY_CODER_END);
}

static int reply_file(struct eddy_req *req)
{
	const struct eddyi_stream_verbs *verbs = req->stream->verbs;
	struct eddy_res *res = &req->res;

	res->head_sent = true;
	verbs->send_head(req, EDDY_LENGTH_UNKNOWN);
	return verbs->file_out(req,
			       &(struct eddy_transfer){
				       .file = res->file.fd,
				       .len = res->file_size,
			       },
			       true);
}

int eddyi_coded_reply(struct eddy_req *req)
{
	struct eddyi_coded *coded = &req->res.coded;

	if (eddyi_res_is_silent(&req->res))
		return eddyi_res_send(&req->res, EDDY_STR(""), true);
	return coded->coder ? reply_through(req) : reply_file(req);
}

int eddyi_coded_write(struct eddy_req *req, struct eddy_str bytes)
{
	if (!bytes.len || eddyi_res_is_silent(&req->res))
		return eddyi_res_send(&req->res, EDDY_STR(""), false);
	if (!make_room(&req->res.coded, STREAM_OUT))
		return -ENOMEM;
	return pass(req, bytes, EDDY_CODER_FLUSH);
}

int eddyi_coded_write_file(struct eddy_req *req, const struct eddy_transfer *file)
{
	if (!file->len || eddyi_res_is_silent(&req->res))
		return eddyi_res_send(&req->res, EDDY_STR(""), false);
	if (!make_room(&req->res.coded, STREAM_OUT))
		return -ENOMEM;
	return pass_file(req, file, EDDY_CODER_FLUSH);
}

int eddyi_coded_end(struct eddy_req *req)
{
	struct eddyi_coded *coded = &req->res.coded;

	if (eddyi_res_is_silent(&req->res))
		return eddyi_res_send(&req->res, EDDY_STR(""), true);
	return make_room(coded, STREAM_OUT) ? pass(req, EDDY_STR(""), EDDY_CODER_END) : -ENOMEM;
}

void eddyi_coded_deinit(struct eddy_req *req)
{
	struct eddyi_coded *coded = &req->res.coded;

	end(coded, false);
	free(coded->out);
	*coded = (struct eddyi_coded){ 0 };
}

/* ---- bodies of requests ---- */

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

static int fill_in(struct eddy_req *req)
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
static ssize_t decode_step(struct eddy_req *req, char *buf, size_t len)
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
		r = fill_in(req);
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
		r = decode_step(req, buf, len);
	if (r > 0)
		decoded->made += (uint64_t)r;
	/* The limit applies to decoded bytes. */
	if (r > 0 && decoded->made > decoded->max)
		r = -EMSGSIZE;
	if (r < 0 && !decoded->error)
		decoded->error = explain(req, (int)r);
	return r;
}
