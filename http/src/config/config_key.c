#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define DAYS_MAX 365

/* Get the nanoseconds of a key's unit; 0 if it is not a duration. */
static uint64_t unit_of(const struct eddy_config_key *key)
{
	return key->type == EDDY_CONFIG_MS   ? EDDY_MS :
	       key->type == EDDY_CONFIG_SECS ? EDDY_SECOND :
					       0;
}

/* Get the maximum of a key's number; TOML integers have 63 bits. */
static uint64_t max_of(const struct eddy_config_key *key, const void *target)
{
	uint64_t unit = unit_of(key), max = key->size == 4 ? UINT32_MAX : INT64_MAX;
	const unsigned *lower = (const unsigned *)((const char *)target + key->max_offset);

	if (unit)
		max = DAYS_MAX * 24 * 3600 * EDDY_SECOND / unit;
	if (key->max && key->max < max)
		max = key->max;
	return key->max_offset && *lower < max ? *lower : max;
}

bool eddyi_config_key_fits(const struct eddy_config_key *key)
{
	switch (key->type) {
	case EDDY_CONFIG_BOOL:
		return key->size == sizeof(bool);
	case EDDY_CONFIG_INTEGER:
		return key->size == 4 || key->size == 8;
	case EDDY_CONFIG_MS:
	case EDDY_CONFIG_SECS:
		return key->size == 8;
	case EDDY_CONFIG_STRING:
	case EDDY_CONFIG_PATH:
	case EDDY_CONFIG_STRINGS:
		return key->size == sizeof(void *);
	case EDDY_CONFIG_WORD:
		return key->size == sizeof(int) && key->words;
	case EDDY_CONFIG_MODE:
		return key->size == sizeof(mode_t);
	case EDDY_CONFIG_SHARE:
		return key->size == sizeof(double);
	}
	return false;
}

static void append(char buf[EDDYI_EXPECTED_SIZE], const char *before, const char *text,
		   const char *behind)
{
	size_t len = strlen(buf);

	snprintf(buf + len, EDDYI_EXPECTED_SIZE - len, "%s%s%s", before, text, behind);
}

static void expected_number(const struct eddy_config_key *key, const void *target,
			    char buf[EDDYI_EXPECTED_SIZE])
{
	uint64_t max = max_of(key, target);

	if (max == INT64_MAX)
		snprintf(buf, EDDYI_EXPECTED_SIZE, "an integer of at least %" PRIu64, key->min);
	else if (max == key->min)
		snprintf(buf, EDDYI_EXPECTED_SIZE, "%" PRIu64, max);
	else
		snprintf(buf, EDDYI_EXPECTED_SIZE, "an integer from %" PRIu64 " to %" PRIu64,
			 key->min, max);
	if (key->type == EDDY_CONFIG_MS)
		append(buf, " (", "milliseconds", ")");
	if (key->type == EDDY_CONFIG_SECS)
		append(buf, " (", "seconds", ")");
}

static void expected_string(const struct eddy_config_key *key, const char *what, const char *filled,
			    char buf[EDDYI_EXPECTED_SIZE])
{
	if (key->max)
		snprintf(buf, EDDYI_EXPECTED_SIZE, "%s of %" PRIu64 " to %" PRIu64 " bytes", what,
			 key->min, key->max);
	else if (key->min > 1)
		snprintf(buf, EDDYI_EXPECTED_SIZE, "%s of at least %" PRIu64 " bytes", what,
			 key->min);
	else
		append(buf, what, key->min ? filled : "", "");
}

const char *eddyi_config_key_expected(const struct eddy_config_key *key, const void *target,
				      char buf[EDDYI_EXPECTED_SIZE])
{
	buf[0] = '\0';
	if (key->expected)
		return strncat(buf, key->expected, EDDYI_EXPECTED_SIZE - 1);
	switch (key->type) {
	case EDDY_CONFIG_BOOL:
		append(buf, "true", " or ", "false");
		break;
	case EDDY_CONFIG_INTEGER:
	case EDDY_CONFIG_MS:
	case EDDY_CONFIG_SECS:
		expected_number(key, target, buf);
		break;
	case EDDY_CONFIG_STRING:
		expected_string(key, "a string", " that is not empty", buf);
		break;
	case EDDY_CONFIG_PATH:
		expected_string(key, "a path", " that is not empty", buf);
		break;
	case EDDY_CONFIG_STRINGS:
		expected_string(key, "an array of strings", " that are not empty", buf);
		break;
	case EDDY_CONFIG_WORD:
		for (const char *const *word = key->words; *word; word++)
			append(buf,
			       word == key->words ? "\"" :
			       word[1]            ? ", \"" :
						    " or \"",
			       *word, "\"");
		break;
	case EDDY_CONFIG_MODE:
		append(buf, "the mode of a file, like ", "\"0660\"", "");
		break;
	case EDDY_CONFIG_SHARE:
		append(buf, "a number above 0, ", "1 at most", "");
		break;
	}
	return buf;
}

/* ---- setting ---- */

static int set_bool(const struct eddyi_toml *value, bool *member)
{
	if (value->type != EDDYI_TOML_BOOL)
		return -EINVAL;
	*member = value->flag;
	return 0;
}

static int set_number(const struct eddy_config_key *key, const struct eddyi_toml *value,
		      const void *target, void *member)
{
	uint64_t number = (uint64_t)value->integer, unit = unit_of(key);

	if (value->type != EDDYI_TOML_INTEGER || value->integer < 0 || number < key->min ||
	    number > max_of(key, target))
		return -EINVAL;
	if (key->size == 4)
		*(uint32_t *)member = (uint32_t)number;
	else
		*(uint64_t *)member = number * (unit ? unit : 1);
	return 0;
}

/* Kept strings end with a NUL and contain no other. */
static int keep_string(const struct eddy_config_key *key, const struct eddyi_toml *value,
		       const struct eddyi_config_keep *keep, const char **ret_string)
{
	struct eddy_str kept;
	bool in_folder;

	if (value->type != EDDYI_TOML_STRING || value->text.len < key->min ||
	    (key->max && value->text.len > key->max) ||
	    memchr(value->text.ptr, '\0', value->text.len))
		return -EINVAL;
	in_folder = key->type == EDDY_CONFIG_PATH && value->text.len && value->text.ptr[0] != '/';
	if (in_folder)
		kept = eddyi_arena_printf(keep->arena, "%.*s%s", EDDY_FMT(keep->folder),
					  value->text.ptr);
	else
		kept = eddyi_arena_dup(keep->arena, value->text);
	if (!kept.ptr)
		return -ENOMEM;
	if (key->accepts && !key->accepts(kept.ptr))
		return -EINVAL;
	*ret_string = kept.ptr;
	return 0;
}

static size_t count_of(const struct eddyi_toml *array)
{
	size_t count = 0;

	for (const struct eddyi_toml *element = array->first; element; element = element->next)
		count++;
	return count;
}

static int keep_strings(const struct eddy_config_key *key, const struct eddyi_toml *value,
			const struct eddyi_config_keep *keep, const char *const **ret_strings,
			const struct eddyi_toml **ret_bad)
{
	bool one = key->or_one && value->type == EDDYI_TOML_STRING;
	const struct eddyi_toml *element = one ? value : value->first;
	size_t count = one ? 1 : count_of(value);
	const char **strings;
	int r = 0;

	if ((!one && value->type != EDDYI_TOML_ARRAY) || count < key->count_min ||
	    (key->count_max && count > key->count_max))
		return -EINVAL;
	strings = eddyi_arena_alloc(keep->arena, (count + 1) * sizeof(*strings));
	if (!strings)
		return -ENOMEM;
	for (size_t i = 0; i < count && r == 0; i++, element = element->next) {
		*ret_bad = element;
		r = keep_string(key, element, keep, &strings[i]);
	}
	strings[count] = NULL;
	if (r == 0)
		*ret_strings = strings;
	return r;
}

static int set_word(const struct eddy_config_key *key, const struct eddyi_toml *value, int *member)
{
	if (value->type != EDDYI_TOML_STRING)
		return -EINVAL;
	for (int i = 0; key->words[i]; i++)
		if (eddy_str_eq_z(value->text, key->words[i])) {
			*member = i;
			return 0;
		}
	return -EINVAL;
}

/* Without a sign or prefix. 0 would be a default. */
static int set_mode(const struct eddyi_toml *value, mode_t *member)
{
	mode_t mode = 0;

	if (value->type != EDDYI_TOML_STRING || value->text.len > 4)
		return -EINVAL;
	for (size_t i = 0; i < value->text.len; i++) {
		char digit = value->text.ptr[i];

		if (digit < '0' || digit > '7')
			return -EINVAL;
		mode = mode << 3 | (mode_t)(digit - '0');
	}
	if (!mode || mode > 0777)
		return -EINVAL;
	*member = mode;
	return 0;
}

static int set_share(const struct eddyi_toml *value, double *member)
{
	double share = value->type == EDDYI_TOML_INTEGER ? (double)value->integer : value->real;

	if (value->type != EDDYI_TOML_INTEGER && value->type != EDDYI_TOML_FLOAT)
		return -EINVAL;
	/* Also rejects NaN. */
	if (!(share > 0 && share <= 1))
		return -EINVAL;
	*member = share;
	return 0;
}

int eddyi_config_key_set(const struct eddy_config_key *key, const struct eddyi_toml *value,
			 const struct eddyi_config_keep *keep, void *target,
			 const struct eddyi_toml **ret_bad)
{
	void *member = (char *)target + key->offset;

	*ret_bad = value;
	switch (key->type) {
	case EDDY_CONFIG_BOOL:
		return set_bool(value, member);
	case EDDY_CONFIG_INTEGER:
	case EDDY_CONFIG_MS:
	case EDDY_CONFIG_SECS:
		return set_number(key, value, target, member);
	case EDDY_CONFIG_STRING:
	case EDDY_CONFIG_PATH:
		return keep_string(key, value, keep, member);
	case EDDY_CONFIG_STRINGS:
		return keep_strings(key, value, keep, member, ret_bad);
	case EDDY_CONFIG_WORD:
		return set_word(key, value, member);
	case EDDY_CONFIG_MODE:
		return set_mode(value, member);
	case EDDY_CONFIG_SHARE:
		return set_share(value, member);
	}
	return -EINVAL;
}
