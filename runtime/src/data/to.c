#include <eddy/to.h>

#include <eddy/internal/member.h>
#include <eddy/internal/text.h>
#include <errno.h>
#include <math.h>

int eddyi_to_integer(struct eddy_to to, bool is_negative, uint64_t magnitude)
{
	bool is_signed = to.type <= EDDY_TYPE_I64;
	/* Both halves of the types have 8, 16, 32 and 64 bits. */
	unsigned bits = 8U << ((to.type - EDDY_TYPE_I8) & 3);
	uint64_t most = (UINT64_MAX >> (64 - bits + is_signed)) + is_negative;
	uint64_t value = is_negative ? 0 - magnitude : magnitude;

	if (to.type < EDDY_TYPE_I8 || to.type > EDDY_TYPE_U64 || (is_negative && !is_signed))
		return -EINVAL;
	if (magnitude > most)
		return -ERANGE;
	switch (bits) {
	case 8:
		*(uint8_t *)to.ptr = (uint8_t)value;
		break;
	case 16:
		*(uint16_t *)to.ptr = (uint16_t)value;
		break;
	case 32:
		*(uint32_t *)to.ptr = (uint32_t)value;
		break;
	default:
		*(uint64_t *)to.ptr = value;
	}
	return 0;
}

int eddyi_to_i64(struct eddy_to to, int64_t value)
{
	return eddyi_to_integer(to, value < 0, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

static int parse_integer(struct eddy_to to, struct eddy_str text)
{
	bool is_negative = text.len && text.ptr[0] == '-';
	uint64_t magnitude;
	int r = eddy_str_to_u64(eddy_str_skip(text, is_negative), &magnitude);

	/* A number beyond all types has the wrong sign, too. */
	if (r == -ERANGE && is_negative)
		magnitude = UINT64_MAX;
	else if (r < 0)
		return r;
	return eddyi_to_integer(to, is_negative, magnitude);
}

/* Parse a number of few digits without an exponent, as strtod() does. Return: whether it is one. */
static bool parse_short_double(struct eddy_str text, double *ret_value)
{
	size_t sign = text.len && text.ptr[0] == '-', point = text.len;
	uint64_t digits = 0;

	if (text.len > 16 || text.len == sign)
		return false;
	for (size_t i = sign; i < text.len; i++) {
		if (text.ptr[i] == '.' && point == text.len && text.len > sign + 1)
			point = i;
		else if (text.ptr[i] >= '0' && text.ptr[i] <= '9')
			digits = 10 * digits + (uint64_t)(text.ptr[i] - '0');
		else
			return false;
	}
	if (!eddyi_f64_scale(digits, point < text.len ? (int)(point + 1) - (int)text.len : 0,
			     ret_value))
		return false;
	if (sign)
		*ret_value = -*ret_value;
	return true;
}

/* Parse a decimal number, without hexadecimal, infinity, NaN and surrounding bytes. */
static int parse_double(struct eddy_str text, double *ret_value)
{
	char copy[64], *end;
	double value;

	if (parse_short_double(text, ret_value))
		return 0;
	if (!text.len || text.len >= sizeof(copy))
		return -EINVAL;
	for (size_t i = 0; i < text.len; i++)
		if (!strchr("0123456789+-.eE", text.ptr[i]) || !text.ptr[i])
			return -EINVAL;
	memcpy(copy, text.ptr, text.len);
	copy[text.len] = 0;
	value = eddyi_f64_parse(copy, &end);
	if (*end)
		return -EINVAL;
	if (!isfinite(value))
		return -ERANGE;
	*ret_value = value;
	return 0;
}

static int parse_bool(struct eddy_str text, bool *ret_value)
{
	if (eddy_str_eq_z(text, "true"))
		*ret_value = true;
	else if (eddy_str_eq_z(text, "false"))
		*ret_value = false;
	else
		return -EINVAL;
	return 0;
}

int eddy_to_parse(struct eddy_to to, struct eddy_str text)
{
	switch (to.type) {
	case EDDY_TYPE_STR:
		*(struct eddy_str *)to.ptr = text;
		return 0;
	case EDDY_TYPE_DOUBLE:
		return parse_double(text, to.ptr);
	case EDDY_TYPE_BOOL:
		return parse_bool(text, to.ptr);
	case EDDY_TYPE_TIME:
		return eddyi_time_parse(text, to.ptr);
	case EDDY_TYPE_OBJECT:
	case EDDY_TYPE_ARRAY:
		return -EINVAL;
	default:
		return parse_integer(to, text);
	}
}
