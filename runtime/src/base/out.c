#include "out.h"

#include <eddy/internal/text.h>
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <unistd.h>

#define NAME_MAX_SHOWN 100
/* A reader that accepts nothing for this long gets no more output. */
#define PATIENCE_MS 1000

int eddyi_out_flush(struct eddyi_out *out)
{
	size_t done = 0;

	while (done < out->len && !out->error) {
		ssize_t r = write(out->fd, out->text + done, out->len - done);
		struct pollfd pollfd = { .fd = out->fd, .events = POLLOUT };

		if (r >= 0)
			done += (size_t)r;
		else if (errno == EAGAIN)
			out->error = poll(&pollfd, 1, PATIENCE_MS) == 0 ? -EAGAIN : 0;
		else if (errno != EINTR)
			out->error = -errno;
	}
	out->len = 0;
	return out->error;
}

static void put(struct eddyi_out *out, char byte)
{
	if (out->len == sizeof(out->text))
		eddyi_out_flush(out);
	out->text[out->len++] = byte;
}

static void put_text(struct eddyi_out *out, const char *text)
{
	for (text = text ? text : "(none)"; *text; text++)
		put(out, *text);
}

static void put_number(struct eddyi_out *out, uint64_t value)
{
	char digits[EDDY_U64_SIZE];

	eddy_u64_format(value, digits);
	put_text(out, digits);
}

static void put_signed(struct eddyi_out *out, int value)
{
	char digits[EDDYI_I64_SIZE];

	eddyi_i64_format(value, digits);
	put_text(out, digits);
}

static void put_address(struct eddyi_out *out, const void *address)
{
	char digits[EDDYI_HEX_SIZE];

	eddyi_u64_format_hex((uintptr_t)address, digits);
	put_text(out, "0x");
	put_text(out, digits);
}

void eddyi_out(struct eddyi_out *out, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	for (; *format; format++) {
		if (*format != '%') {
			put(out, *format);
			continue;
		}
		switch (*++format) {
		case 's':
			put_text(out, va_arg(args, const char *));
			break;
		case 'c':
			put(out, (char)va_arg(args, int));
			break;
		case 'd':
			put_signed(out, va_arg(args, int));
			break;
		case 'u':
			put_number(out, va_arg(args, unsigned));
			break;
		case 'z': /* zu */
			format++;
			put_number(out, va_arg(args, size_t));
			break;
		case 'l': /* llu */
			format += 2;
			put_number(out, va_arg(args, unsigned long long));
			break;
		case 'p':
			put_address(out, va_arg(args, void *));
			break;
		default:
			put(out, *format);
		}
	}
	va_end(args);
}

void eddyi_out_duration(struct eddyi_out *out, uint64_t ns)
{
	if (ns < 10 * EDDY_MS)
		eddyi_out(out, "%llu us", (unsigned long long)(ns / EDDY_US));
	else if (ns < 60 * EDDY_SECOND)
		eddyi_out(out, "%llu ms", (unsigned long long)(ns / EDDY_MS));
	else
		eddyi_out(out, "%llu s", (unsigned long long)(ns / EDDY_SECOND));
}

const char *eddyi_place(const char *where)
{
	if (!where)
		return "an unknown place, called through a pointer";
	while (where[0] == '.' && where[1] == '.' && where[2] == '/')
		where += 3;
	return where;
}

void eddyi_out_name(struct eddyi_out *out, const char *name)
{
	if (!name)
		name = "";
	for (size_t i = 0; name[i] && i < NAME_MAX_SHOWN; i++) {
		unsigned char byte = (unsigned char)name[i];

		put(out,
		    byte < ' ' || byte == 0x7f || byte == '"' || byte == '\\' ? '?' : (char)byte);
	}
}
