/* hex.h: a coding that writes each byte as two digits, for the tests of bodies that pass through a coder. */
#ifndef HEX_H
#define HEX_H

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/coder.h>
#include <eddy/http.h>
#include <eddy/runtime.h>
#include <eddy/test.h>
#include <errno.h>
#include <stdlib.h>

struct hex {
	bool decodes;
	bool odd; /* a digit has come and waits for the second */
	unsigned char half;
	uint64_t left; /* bytes that may still come out */
};

static unsigned alive, whole, broken, flushed, elsewhere, switches, steps;
static const void *stepped_last;

static struct hex *hex_new(bool decodes)
{
	struct hex *hex = calloc(1, sizeof(*hex));

	cr_assert(hex != NULL);
	hex->decodes = decodes;
	hex->left = UINT64_MAX;
	alive++;
	return hex;
}

static int digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Write one digit, the first or the second of a byte. */
static int encode_one(struct hex *hex, struct eddy_coder_io *io)
{
	unsigned char byte = (unsigned char)*io->in;

	if (!io->out_len)
		return 0;
	*io->out++ = "0123456789abcdef"[hex->odd ? byte & 15 : byte >> 4];
	io->out_len--;
	io->in += hex->odd;
	io->in_len -= hex->odd;
	hex->odd = !hex->odd;
	return 1;
}

static int decode_one(struct hex *hex, struct eddy_coder_io *io)
{
	int value = digit(*io->in);

	if (value < 0)
		return -EBADMSG;
	if (!hex->odd) {
		hex->half = (unsigned char)value;
	} else if (!io->out_len) {
		return 0;
	} else if (!hex->left) {
		return -EMSGSIZE;
	} else {
		*io->out++ = (char)(hex->half << 4 | value);
		io->out_len--;
		hex->left--;
	}
	hex->odd = !hex->odd;
	io->in++;
	io->in_len--;
	return 1;
}

/* No more than 100 bytes a step: a long body takes many. */
static int hex_step(void *state, struct eddy_coder_io *io, enum eddy_coder_op op)
{
	struct hex *hex = state;

	elsewhere += gettid() != getpid();
	steps++;
	switches += stepped_last != state;
	stepped_last = state;
	for (int i = 0; i < 100 && io->in_len; i++) {
		int r = hex->decodes ? decode_one(hex, io) : encode_one(hex, io);

		if (r <= 0)
			return r;
	}
	if (io->in_len)
		return 0;
	if (op == EDDY_CODER_FLUSH)
		flushed++;
	return op == EDDY_CODER_END && hex->odd ? -EBADMSG : 1;
}

static void hex_end(void *state, bool was_whole)
{
	alive--;
	if (was_whole)
		whole++;
	else
		broken++;
	free(state);
}

static const struct eddy_coder hex = { .step = hex_step, .end = hex_end };

static inline struct eddy_app *hex_app(void)
{
	alive = whole = broken = flushed = elsewhere = switches = steps = 0;
	stepped_last = NULL;
	return eddy_app_new();
}

static inline struct eddy_response *ask(struct eddy_app *app, const char *line,
					const struct eddy_client_request *request,
					struct eddy_str *ret_body)
{
	struct eddy_response *response = NULL;

	cr_assert(eq(int, eddy_app_test(app, line, request, &response), 0), "%s", line);
	cr_assert(eq(int, eddy_response_body(response, ret_body), 0));
	return response;
}

#endif
