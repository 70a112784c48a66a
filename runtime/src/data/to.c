#include <eddy/to.h>

#include <eddy/internal/text.h>
#include <errno.h>
#include <math.h>

static int parse_signed(struct eddy_str text, unsigned bits, int64_t *ret_value)
{
	bool negative = text.len && text.ptr[0] == '-';
	uint64_t magnitude, most = (UINT64_C(1) << (bits - 1)) - !negative;
	int r = eddy_str_to_u64(negative ? eddy_str_skip(text, 1) : text, &magnitude);

	if (r < 0)
		return r;
	if (magnitude > most)
		return -ERANGE;
	*ret_value = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
	return 0;
}

static int parse_unsigned(struct eddy_str text, unsigned bits, uint64_t *ret_value)
{
	uint64_t value;
	int r = eddy_str_to_u64(text, &value);

	if (r < 0)
		return r;
	if (bits < 64 && value >> bits)
		return -ERANGE;
	*ret_value = value;
	return 0;
}

/* Parse a decimal number, without hexadecimal, infinity, NaN and surrounding bytes. */
static int parse_double(struct eddy_str text, double *ret_value)
{
	char copy[64], *end;
	double value;

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
	uint64_t u = 0;
	int64_t i = 0;
	int r = 0;

	switch (to.type) {
	case EDDY_TYPE_STR:
		*(struct eddy_str *)to.ptr = text;
		break;
	case EDDY_TYPE_I8:
		if ((r = parse_signed(text, 8, &i)) == 0)
			*(int8_t *)to.ptr = (int8_t)i;
		break;
	case EDDY_TYPE_I16:
		if ((r = parse_signed(text, 16, &i)) == 0)
			*(int16_t *)to.ptr = (int16_t)i;
		break;
	case EDDY_TYPE_I32:
		if ((r = parse_signed(text, 32, &i)) == 0)
			*(int32_t *)to.ptr = (int32_t)i;
		break;
	case EDDY_TYPE_I64:
		r = parse_signed(text, 64, to.ptr);
		break;
	case EDDY_TYPE_U8:
		if ((r = parse_unsigned(text, 8, &u)) == 0)
			*(uint8_t *)to.ptr = (uint8_t)u;
		break;
	case EDDY_TYPE_U16:
		if ((r = parse_unsigned(text, 16, &u)) == 0)
			*(uint16_t *)to.ptr = (uint16_t)u;
		break;
	case EDDY_TYPE_U32:
		if ((r = parse_unsigned(text, 32, &u)) == 0)
			*(uint32_t *)to.ptr = (uint32_t)u;
		break;
	case EDDY_TYPE_U64:
		r = parse_unsigned(text, 64, to.ptr);
		break;
	case EDDY_TYPE_DOUBLE:
		r = parse_double(text, to.ptr);
		break;
	case EDDY_TYPE_BOOL:
		r = parse_bool(text, to.ptr);
		break;
	}
	return r;
}
