#include "digest.h"

#include "text/base64.h"
#include "text/structured.h"

#include <errno.h>

#define PREFERENCE_MAX 10

static const struct {
	const char *name;
	size_t len;
} algorithms[EDDYI_DIGEST_COUNT] = {
	[EDDYI_DIGEST_SHA256] = { "sha-256", 32 },
	[EDDYI_DIGEST_SHA512] = { "sha-512", 64 },
	[EDDYI_DIGEST_SHA1] = { "sha1", 20 },
};

size_t eddyi_digest_len(enum eddyi_digest_algorithm algorithm)
{
	return algorithms[algorithm].len;
}

const char *eddyi_digest_name(enum eddyi_digest_algorithm algorithm)
{
	return algorithms[algorithm].name;
}

enum eddyi_digest_algorithm eddyi_digest_difference(const struct eddyi_digests *a,
						    const struct eddyi_digests *b)
{
	unsigned i = 0;

	while (i < EDDYI_DIGEST_COUNT &&
	       (!(a->known & b->known & EDDYI_DIGEST_BIT(i)) ||
		memcmp(a->bytes[i], b->bytes[i], eddyi_digest_len(i)) == 0))
		i++;
	return i;
}

/* Return: an algorithm, EDDYI_DIGEST_NAMED for another one. */
static unsigned algorithm_of(struct eddy_str name)
{
	unsigned i = 0;

	while (i < EDDYI_DIGEST_NAMED && !eddy_str_eq_z(name, algorithms[i].name))
		i++;
	return i;
}

/* Return: false if it is not a digest of that algorithm. */
static bool set_digest(struct eddyi_digests *digests, unsigned algorithm,
		       const struct eddyi_structured *value)
{
	size_t len = algorithms[algorithm].len;
	unsigned char bytes[EDDYI_BASE64_DECODED(EDDYI_BASE64_ENCODED(EDDYI_DIGEST_LEN_MAX))];

	if (value->type != EDDYI_STRUCTURED_BYTES || value->text.len > EDDYI_BASE64_ENCODED(len) ||
	    eddyi_base64_decode(value->text, bytes) != (ssize_t)len)
		return false;
	memcpy(digests->bytes[algorithm], bytes, len);
	digests->known |= EDDYI_DIGEST_BIT(algorithm);
	return true;
}

int eddyi_digest_parse(struct eddy_str value, struct eddyi_digests *ret_digests)
{
	struct eddyi_digests digests = { .known = 0 };
	struct eddyi_structured digest;
	struct eddy_str name;

	while (value.len) {
		unsigned algorithm;

		if (eddyi_structured_take_entry(&value, &name, &digest) < 0)
			return -EBADMSG;
		algorithm = algorithm_of(name);
		if (algorithm < EDDYI_DIGEST_NAMED && !set_digest(&digests, algorithm, &digest))
			return -EBADMSG;
	}
	*ret_digests = digests;
	return 0;
}

struct eddy_str eddyi_digest_format(const struct eddyi_digests *digests, unsigned wanted,
				    char text[EDDYI_DIGEST_TEXT_SIZE])
{
	char *at = text;

	for (unsigned i = 0; i < EDDYI_DIGEST_NAMED; i++) {
		if (!(digests->known & wanted & EDDYI_DIGEST_BIT(i)))
			continue;
		at = stpcpy(stpcpy(stpcpy(at, at == text ? "" : ", "), algorithms[i].name), "=:");
		at = eddyi_base64_encode(digests->bytes[i], algorithms[i].len, at);
		*at++ = ':';
	}
	*at = 0;
	return eddy_str(text, (size_t)(at - text));
}

struct eddyi_digest_wish eddyi_digest_parse_wish(struct eddy_str value)
{
	struct eddyi_digest_wish wish = { .count = 0 };
	int64_t preferences[EDDYI_DIGEST_NAMED + 1] = { 0 };
	struct eddyi_structured preference;
	struct eddy_str name;

	while (value.len) {
		if (eddyi_structured_take_entry(&value, &name, &preference) < 0 ||
		    preference.type != EDDYI_STRUCTURED_INTEGER || preference.integer < 0 ||
		    preference.integer > PREFERENCE_MAX)
			return wish;
		preferences[algorithm_of(name)] = preference.integer;
	}
	for (int64_t level = PREFERENCE_MAX; level > 0; level--)
		for (unsigned i = 0; i < EDDYI_DIGEST_NAMED; i++)
			if (preferences[i] == level)
				wish.algorithms[wish.count++] = i;
	return wish;
}
