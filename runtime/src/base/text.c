#include <eddy/internal/text.h>

#include <stdio.h>

void eddyi_text_some(struct eddyi_text *text, struct eddy_str str)
{
	size_t room = (size_t)(text->end - text->at);

	eddyi_text_put(text, str.ptr, str.len < room ? str.len : room);
	text->full |= str.len > room;
}

void eddyi_text_u64(struct eddyi_text *text, uint64_t value)
{
	char digits[EDDY_U64_SIZE];

	eddyi_text_put(text, digits, eddy_u64_format(value, digits));
}

void eddyi_text_i64(struct eddyi_text *text, int64_t value)
{
	if (value < 0)
		eddyi_text(text, "-");
	eddyi_text_u64(text, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void eddyi_text_f64(struct eddyi_text *text, double value)
{
	char digits[EDDYI_F64_SIZE];

	eddyi_text_put(text, digits, eddyi_f64_format(value, digits));
}

static void put_escape(struct eddyi_text *text, unsigned char byte)
{
	char escape[8];

	if (byte == '"' || byte == '\\')
		eddyi_text_put(text, (char[]){ '\\', (char)byte }, 2);
	else if (byte == '\n')
		eddyi_text(text, "\\n");
	else
		eddyi_text_put(text, escape,
			       (size_t)snprintf(escape, sizeof(escape), "\\u%04x", byte));
}

static void put_characters(struct eddyi_text *text, struct eddy_str str)
{
	while (str.len && !text->full) {
		size_t len = eddyi_str_plain_len(str);

		if (len) {
			eddyi_text_some(text, eddy_str(str.ptr, len));
			str = eddy_str_skip(str, len);
			continue;
		}
		len = eddyi_str_utf8_len(str);
		if (!len)
			eddyi_text(text, "\\ufffd");
		else if (len == 1)
			put_escape(text, (unsigned char)*str.ptr);
		else
			eddyi_text_put(text, str.ptr, len);
		str = eddy_str_skip(str, len ? len : 1);
	}
}

void eddyi_text_json_str(struct eddyi_text *text, struct eddy_str str)
{
	static const char cut[] = "…\"";
	char *end = text->end;

	eddyi_text(text, "\"");
	if ((size_t)(end - text->at) < strlen(cut))
		text->full = true;
	if (text->full)
		return;
	text->end -= strlen(cut);
	put_characters(text, str);
	text->end = end;
	if (text->full) {
		text->full = false;
		eddyi_text(text, cut);
		text->full = true;
	} else {
		eddyi_text(text, "\"");
	}
}
