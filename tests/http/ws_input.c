/* Tests of http/src/ws/ws_frame.h and ws_input.h. */
#include "ws/ws_input.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

Test(ws_input, heads_are_read_as_they_are_written)
{
	static const uint64_t lens[] = { 0, 1, 125, 126, 127, 65535, 65536, UINT64_MAX >> 1 };
	struct eddyi_ws_frame frame, read;
	unsigned char head[EDDYI_WS_HEAD_MAX];

	for (size_t i = 0; i < sizeof(lens) / sizeof(*lens); i++) {
		for (int masked = 0; masked < 2; masked++) {
			struct eddy_str text;
			size_t len;

			frame = (struct eddyi_ws_frame){
				.len = lens[i],
				.opcode = EDDYI_WS_BINARY,
				.fin = i % 2,
				.compressed = i % 3 == 0,
				.masked = masked,
				.mask = { 1, 2, 3, 4 },
			};
			len = eddyi_ws_frame_format(&frame, head);
			for (size_t part = 0; part < len; part++) {
				text = eddy_str((char *)head, part);
				cr_expect_eq(eddyi_ws_frame_parse(text, &read), 0);
			}
			text = eddy_str((char *)head, len);
			cr_assert_eq(eddyi_ws_frame_parse(text, &read), (int)len);
			cr_expect_eq(read.len, frame.len);
			cr_expect_eq(read.opcode, frame.opcode);
			cr_expect_eq(read.fin, frame.fin);
			cr_expect_eq(read.compressed, frame.compressed);
			cr_expect_eq(read.masked, frame.masked);
			cr_expect(!masked || memcmp(read.mask, frame.mask, 4) == 0);
		}
	}
}

Test(ws_input, heads_that_no_peer_may_send)
{
	static const char *const bad[] = {
		"\x92\x01",                                 /* RSV2 */
		"\xa2\x01",                                 /* RSV3 */
		"\x83\x01",                                 /* an opcode without meaning */
		"\x8b\x01",                                 /* so for control frames */
		"\x09\x01",                                 /* a control frame in fragments */
		"\xc9\x01",                                 /* a compressed control frame */
		"\x89\x7e\x00\x7e",                         /* a long one */
		"\x82\x7e\x00\x7d",                         /* not the shortest form */
		"\x82\x7f\x00\x00\x00\x00\x00\x00\xff\xff", /* the same */
		"\x82\x7f\x80\x00\x00\x00\x00\x01\x00\x00", /* the highest bit */
	};
	struct eddyi_ws_frame frame;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		cr_expect_eq(eddyi_ws_frame_parse(eddy_str(bad[i], 10), &frame), -EPROTO, "%zu", i);
}

Test(ws_input, masks_at_any_place)
{
	static const unsigned char mask[4] = { 0x11, 0x22, 0x44, 0x88 };
	char plain[40], out[40];

	for (size_t i = 0; i < sizeof(plain); i++)
		plain[i] = (char)(i * 7);
	for (size_t at = 0; at < 9; at++) {
		for (size_t len = 0; len + at <= sizeof(plain); len++) {
			eddyi_ws_mask(out, plain + at, len, mask, at);
			for (size_t i = 0; i < len; i++)
				cr_assert_eq(out[i], (char)(plain[at + i] ^ mask[(at + i) % 4]));
		}
	}
}

/* ---- what arrives, in words ---- */

static size_t frame_of(char *to, unsigned first, const char *payload, bool masked)
{
	struct eddyi_ws_frame frame = {
		.len = strlen(payload),
		.opcode = first & 0xf,
		.fin = first & 0x80,
		.compressed = first & 0x40,
		.masked = masked,
		.mask = { 'k', 'e', 'y', '!' },
	};
	size_t len = eddyi_ws_frame_format(&frame, (unsigned char *)to);

	if (masked)
		eddyi_ws_mask(to + len, payload, frame.len, frame.mask, 0);
	else
		memcpy(to + len, payload, frame.len);
	return len + frame.len;
}

static char said[4000];

static void say(const char *text, size_t len)
{
	strncat(said, text, len);
}

/* Describe the events of bytes that arrive in pieces of this size. */
static const char *read_all(struct eddyi_ws_input *input, const char *bytes, size_t len,
			    size_t piece)
{
	bool within = false;

	said[0] = 0;
	while (len) {
		struct eddy_str rest = eddy_str(bytes, len < piece ? len : piece);
		struct eddyi_ws_event event;
		char text[200];

		bytes += rest.len;
		len -= rest.len;
		do {
			int r = eddyi_ws_input_next(input, &rest, &event);

			if (r < 0) {
				snprintf(text, sizeof(text), "(%d)", r);
				say(text, sizeof(text));
				return said;
			}
			if (event.kind == EDDYI_WS_CONTROL) {
				snprintf(text, sizeof(text), "<%x %.*s>", event.opcode,
					 EDDY_FMT(event.bytes));
				say(text, sizeof(text));
			}
			if (event.kind != EDDYI_WS_PIECE)
				continue;
			if (!within)
				say(event.opcode == EDDYI_WS_TEXT ? "T" : "B", 1);
			eddyi_ws_input_copy(input, &event, text);
			say(text, event.bytes.len);
			if (event.is_last)
				say(".", 1);
			within = !event.is_last;
		} while (rest.len || event.kind != EDDYI_WS_NOTHING);
	}
	return said;
}

#define FIN 0x80

Test(ws_input, messages_and_control_frames)
{
	char bytes[1000];
	size_t len = 0;

	len += frame_of(bytes + len, FIN | EDDYI_WS_TEXT, "one", true);
	len += frame_of(bytes + len, EDDYI_WS_BINARY, "a fragmented", true);
	len += frame_of(bytes + len, FIN | EDDYI_WS_PING, "ping", true);
	len += frame_of(bytes + len, EDDYI_WS_CONTINUATION, "", true);
	len += frame_of(bytes + len, FIN | EDDYI_WS_CONTINUATION, " message", true);
	len += frame_of(bytes + len, FIN | EDDYI_WS_TEXT, "", true);
	len += frame_of(bytes + len, FIN | EDDYI_WS_PONG, "", true);
	len += frame_of(bytes + len, FIN | EDDYI_WS_CLOSE, "\x03\xe8ok", true);
	for (size_t piece = 1; piece <= len; piece++) {
		struct eddyi_ws_input input = { .is_server = true, .max = 100 };

		cr_assert_str_eq(read_all(&input, bytes, len, piece),
				 "Tone.Ba fragmented<9 ping> message.T.<a ><8 \x03\xe8ok>",
				 "in pieces of %zu: %s", piece, said);
	}
}

Test(ws_input, what_is_wrong_in_its_place)
{
	static const struct {
		int count;
		unsigned first[3];
		bool masked;
		const char *said;
	} cases[] = {
		{ 1, { FIN | EDDYI_WS_TEXT }, false, "(-71)" },
		{ 1, { FIN | EDDYI_WS_CONTINUATION }, true, "(-71)" },
		{ 2, { EDDYI_WS_TEXT, FIN | EDDYI_WS_TEXT }, true, "T12345(-71)" },
		{ 1, { FIN | 0x40 | EDDYI_WS_TEXT }, true, "(-71)" },
		{ 3, { EDDYI_WS_TEXT, EDDYI_WS_CONTINUATION, FIN }, true, "T1234512345(-90)" },
		{ 2, { EDDYI_WS_TEXT, EDDYI_WS_CONTINUATION }, true, "T1234512345" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct eddyi_ws_input input = { .is_server = true, .max = 14 };
		char bytes[100];
		size_t len = 0;

		for (int n = 0; n < cases[i].count; n++)
			len += frame_of(bytes + len, cases[i].first[n], "12345", cases[i].masked);
		cr_expect_str_eq(read_all(&input, bytes, len, len), cases[i].said, "%zu: %s", i,
				 said);
	}
}

Test(ws_input, of_a_client_is_not_masked)
{
	struct eddyi_ws_input input = { .may_compress = true, .max = 100 };
	char bytes[100];
	size_t len = frame_of(bytes, 0x40 | EDDYI_WS_TEXT, "x", false);

	len += frame_of(bytes + len, FIN | 0x40 | EDDYI_WS_CONTINUATION, "y", false);
	cr_expect_str_eq(read_all(&input, bytes, len, len), "Tx(-71)");
	input = (struct eddyi_ws_input){ .max = 100 };
	len = frame_of(bytes, FIN | EDDYI_WS_TEXT, "x", true);
	cr_expect_str_eq(read_all(&input, bytes, len, len), "(-71)");
}

Test(ws_input, close_frames)
{
	static const struct {
		const char *payload;
		size_t len;
		int result;
	} cases[] = {
		{ "", 0, 1005 },
		{ "\x03", 1, -EPROTO },
		{ "\x03\xe8", 2, 1000 },
		{ "\x03\xe8 bye", 6, 1000 },
		{ "\x0f\xa0", 2, 4000 },
		{ "\x03\xe7", 2, -EPROTO },
		{ "\x03\xed", 2, -EPROTO },
		{ "\x03\xf8", 2, -EPROTO },
		{ "\x13\x88", 2, -EPROTO },
		{ "\x03\xe8\xff", 3, -EILSEQ },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int r = eddyi_ws_close_read(eddy_str(cases[i].payload, cases[i].len));

		cr_expect_eq(r, cases[i].result, "%zu: %d", i, r);
	}
}
