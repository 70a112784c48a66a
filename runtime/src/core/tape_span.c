/* Recording of a program's span and its fields on a tape. */
#include "tape.h"

#include "loop.h"

#include <eddy/log.h>
#include <string.h>

/* The remaining room of a span's text. */
struct room {
	char *at;
	char *end;
};

#define NAME_LEN_MAX 96

/* Write a text and a NUL, cut at the first NUL inside it. Return: false if it does not fit. */
static bool put_z(struct room *room, struct eddy_str str)
{
	size_t len = str.len ? strnlen(str.ptr, str.len) : 0;

	if (len >= (size_t)(room->end - room->at))
		return false;
	if (len)
		memcpy(room->at, str.ptr, len);
	room->at[len] = '\0';
	room->at += len + 1;
	return true;
}

static bool put_bytes(struct room *room, const void *bytes, size_t len)
{
	if (len > (size_t)(room->end - room->at))
		return false;
	if (len)
		memcpy(room->at, bytes, len);
	room->at += len;
	return true;
}

static bool put_str(struct room *room, struct eddy_str str)
{
	size_t max = (size_t)(room->end - room->at);
	uint16_t len;

	if (max < sizeof(len) + 1)
		return false;
	/* Cut a long text at its end. */
	len = (uint16_t)(str.len < max - sizeof(len) ? str.len : max - sizeof(len));
	return put_bytes(room, &len, sizeof(len)) && put_bytes(room, str.ptr, len);
}

/* Write a field: type + 1, name, NUL, then a length of 16 bits and the bytes, or 64 bits. */
static bool put_field(struct room *room, const struct eddy_field *field)
{
	char lazy[EDDY_FIELD_LAZY_MAX], type = (char)(field->type + 1);
	struct eddy_field written;
	uint64_t flag;

	if (field->type == EDDY_FIELD_LAZY) {
		size_t len = field->value.lazy.write(field->value.lazy.data, lazy);

		written = eddy_field_str(field->name, eddy_str(lazy, len));
		return put_field(room, &written);
	}
	if (!put_bytes(room, &type, 1) || !put_z(room, eddy_str_from(field->name)))
		return false;
	if (field->type == EDDY_FIELD_STR)
		return put_str(room, field->value.str);
	if (field->type == EDDY_FIELD_BOOL) {
		flag = field->value.flag;
		return put_bytes(room, &flag, sizeof(flag));
	}
	return put_bytes(room, &field->value.u64, sizeof(field->value.u64));
}

/* Write the name and a NUL, the fields, a NUL. Return: the length. */
static size_t encode(char text[EDDYI_MARK_TEXT_MAX], struct eddy_str name,
		     const struct eddy_field *fields)
{
	/* The last byte is for the NUL after the fields. */
	struct room room = { text, text + EDDYI_MARK_TEXT_MAX - 1 };

	if (name.len > NAME_LEN_MAX)
		name.len = NAME_LEN_MAX;
	put_z(&room, name);
	for (; fields && fields->name; fields++) {
		char *before = room.at;

		if (!put_field(&room, fields)) {
			room.at = before;
			break;
		}
	}
	*room.at++ = '\0';
	return (size_t)(room.at - text);
}

void eddyi_tape_span(struct eddyi_tape *tape, struct eddy_str name, uint64_t begin_ns,
		     uint64_t end_ns, const struct eddy_field *fields)
{
	char text[EDDYI_MARK_TEXT_MAX];
	size_t len = encode(text, name, fields);
	unsigned more =
		(unsigned)((len + sizeof(struct eddyi_mark) - 1) / sizeof(struct eddyi_mark));
	struct eddyi_mark *mark = eddyi_tape_take(tape, more);

	if (!mark)
		return;
	*mark = (struct eddyi_mark){
		.kind = EDDYI_MARK_SPAN,
		.more = (uint8_t)more,
		.track = tape->span_track,
		.begin_ns = begin_ns,
		.end_ns = end_ns > begin_ns ? end_ns : begin_ns,
		.span = { .id = ++tape->last_flow },
	};
	eddyi_tape_put_text(tape, mark, text, len);
	eddyi_tape_commit(tape, more);
}
