/* digest.h: digests of content and of representations (RFC 9530): Content-Digest and Repr-Digest,
 * and the fields that ask for them.
 *
 * SHA-256 and SHA-512 are supported; other algorithms are ignored. SHA-1 has no name here, since
 * RFC 9530 deprecates it, but tus requires it. */
#ifndef EDDYI_DIGEST_H
#define EDDYI_DIGEST_H

#include <eddy/str.h>

#define EDDYI_CONTENT_DIGEST "content-digest"
#define EDDYI_REPR_DIGEST "repr-digest"

/* Those with a name come first. */
enum eddyi_digest_algorithm {
	EDDYI_DIGEST_SHA256,
	EDDYI_DIGEST_SHA512,
	EDDYI_DIGEST_SHA1,
	EDDYI_DIGEST_COUNT,
};

#define EDDYI_DIGEST_NAMED (EDDYI_DIGEST_SHA512 + 1)
#define EDDYI_DIGEST_BIT(algorithm) (1U << (algorithm))

#define EDDYI_DIGEST_LEN_MAX 64

/* Digests of the same bytes. */
struct eddyi_digests {
	unsigned known; /* bits of the algorithms */
	unsigned char bytes[EDDYI_DIGEST_COUNT][EDDYI_DIGEST_LEN_MAX];
};

/* Get the number of bytes of a digest. */
size_t eddyi_digest_len(enum eddyi_digest_algorithm algorithm);

/* Get the name of an algorithm: "sha-256". */
const char *eddyi_digest_name(enum eddyi_digest_algorithm algorithm);

/* Compare the digests of those algorithms that both have.
 * Return: the first algorithm whose digests differ, or EDDYI_DIGEST_COUNT. */
enum eddyi_digest_algorithm eddyi_digest_difference(const struct eddyi_digests *a,
						    const struct eddyi_digests *b);

/* Parse the value of a digest field, its lines joined; .ptr NULL gives no digests.
 * Return: 0; -EBADMSG if it is malformed (RFC 9651), or a supported algorithm's value is not a byte
 * sequence of its length. */
int eddyi_digest_parse(struct eddy_str value, struct eddyi_digests *ret_digests);

/* Size of a formatted field with all named algorithms, its NUL included. */
#define EDDYI_DIGEST_TEXT_SIZE 160

/* Format the digests of those `algorithms` that are known. Return: `text` as a string. */
struct eddy_str eddyi_digest_format(const struct eddyi_digests *digests, unsigned algorithms,
				    char text[EDDYI_DIGEST_TEXT_SIZE]);

/* Algorithms that a field asks for, the preferred first. */
struct eddyi_digest_wish {
	unsigned count;
	enum eddyi_digest_algorithm algorithms[EDDYI_DIGEST_NAMED];
};

/* Parse the value of Want-Content-Digest or Want-Repr-Digest, its lines joined. Preferences are 0
 * (not wanted) to 10; of equal ones SHA-256 comes first, which takes less time. A malformed field
 * is ignored. */
struct eddyi_digest_wish eddyi_digest_parse_wish(struct eddy_str value);

#endif
