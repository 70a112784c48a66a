/* Keys in PEM (RFC 7468). */
#include "der.h"
#include "jwk.h"

#include <errno.h>
#include <stdlib.h>
#include <wolfssl/wolfcrypt/coding.h>

/* A key that was read: `parts` borrows from the text, `x` and `y`. */
struct der {
	struct eddyi_jwk_parts parts;
	char x[EDDYI_JWK_COORDINATE_MAX], y[EDDYI_JWK_COORDINATE_MAX];
};

/* Set the kind, the curve and the numbers. A missing public half of a private key is computed.
 * Return: 0, -EBADMSG, -ENOTSUP; for private keys also as eddyi_ec_public_of(). */
typedef int read_fn(struct eddy_str der, struct der *key);

/* ---- DER ---- */

#define OID(text)                                                                                  \
	{                                                                                          \
		text, sizeof(text) - 1                                                             \
	}

static const struct eddy_str oid_rsa = OID("\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01");
static const struct eddy_str oid_ec = OID("\x2a\x86\x48\xce\x3d\x02\x01");

static const struct {
	struct eddy_str oid;
	const struct eddyi_jwk_kind *kind;
	const char *name;
} curves[] = {
	{ OID("\x2a\x86\x48\xce\x3d\x03\x01\x07"), &eddyi_jwk_ec, "P-256" },
	{ OID("\x2b\x81\x04\x00\x22"), &eddyi_jwk_ec, "P-384" },
	{ OID("\x2b\x81\x04\x00\x23"), &eddyi_jwk_ec, "P-521" },
	{ OID("\x2b\x65\x70"), &eddyi_jwk_okp, "Ed25519" },
	{ OID("\x2b\x65\x71"), &eddyi_jwk_okp, "Ed448" },
};

static int set_curve(struct eddyi_jwk_parts *parts, const struct eddyi_jwk_kind *kind,
		     struct eddy_str oid)
{
	for (size_t i = 0; i < sizeof(curves) / sizeof(curves[0]); i++) {
		if (curves[i].kind != kind || !eddy_str_eq(curves[i].oid, oid))
			continue;
		parts->kind = kind;
		parts->curve = eddyi_jwk_curve_find(kind, eddy_str_from(curves[i].name));
		return 0;
	}
	return -ENOTSUP;
}

/* AlgorithmIdentifier (RFC 5280 section 4.1.1.2; parameters: RFC 3279, RFC 5480, RFC 8410). */
static int read_algorithm(struct eddy_str *rest, struct eddyi_jwk_parts *parts)
{
	struct eddy_str algorithm, oid, parameter;

	if (!eddyi_der_take(rest, EDDYI_DER_SEQUENCE, &algorithm) ||
	    !eddyi_der_take(&algorithm, EDDYI_DER_OID, &oid))
		return -EBADMSG;
	if (eddy_str_eq(oid, oid_rsa)) {
		parts->kind = &eddyi_jwk_rsa;
		return eddyi_der_take(&algorithm, EDDYI_DER_NULL, &parameter) && !parameter.len &&
				       !algorithm.len ?
			       0 :
			       -EBADMSG;
	}
	if (!eddy_str_eq(oid, oid_ec))
		return algorithm.len ? -ENOTSUP : set_curve(parts, &eddyi_jwk_okp, oid);
	/* Curves given by their parameters are not supported. */
	if (!eddyi_der_take(&algorithm, EDDYI_DER_OID, &parameter))
		return -ENOTSUP;
	return algorithm.len ? -EBADMSG : set_curve(parts, &eddyi_jwk_ec, parameter);
}

/* Read an uncompressed point (SEC 1 section 2.3.3). */
static int read_point(struct eddy_str bytes, struct eddyi_jwk_parts *parts)
{
	size_t width = parts->curve->width;

	if (bytes.len == 1 + width && (bytes.ptr[0] == 2 || bytes.ptr[0] == 3))
		return -ENOTSUP;
	if (bytes.len != 1 + 2 * width || bytes.ptr[0] != 4)
		return -EBADMSG;
	parts->numbers[0] = eddy_str(bytes.ptr + 1, width);
	parts->numbers[1] = eddy_str(bytes.ptr + 1 + width, width);
	return 0;
}

/* RFC 8017 section A.1.1. */
static int read_rsa_public(struct eddy_str der, struct der *key)
{
	struct eddy_str numbers;

	key->parts.kind = &eddyi_jwk_rsa;
	if (!eddyi_der_take(&der, EDDYI_DER_SEQUENCE, &numbers) || der.len ||
	    !eddyi_der_take_number(&numbers, &key->parts.numbers[0]) ||
	    !eddyi_der_take_number(&numbers, &key->parts.numbers[1]) || numbers.len)
		return -EBADMSG;
	return 0;
}

static int read_spki(struct eddy_str spki, struct der *key)
{
	struct eddy_str bytes;
	int r = read_algorithm(&spki, &key->parts);

	if (r < 0)
		return r;
	if (!eddyi_der_take_bits(&spki, &bytes) || spki.len)
		return -EBADMSG;
	if (key->parts.kind == &eddyi_jwk_rsa)
		return read_rsa_public(bytes, key);
	if (key->parts.kind == &eddyi_jwk_ec)
		return read_point(bytes, &key->parts);
	key->parts.numbers[0] = bytes;
	return 0;
}

/* RFC 5280 section 4.1. */
static int read_public(struct eddy_str der, struct der *key)
{
	struct eddy_str spki;

	if (!eddyi_der_take(&der, EDDYI_DER_SEQUENCE, &spki) || der.len)
		return -EBADMSG;
	return read_spki(spki, key);
}

/* RFC 5280 section 4.1; the rest is ignored. */
static int read_certificate(struct eddy_str der, struct der *key)
{
	struct eddy_str certificate, signed_part, skipped;

	if (!eddyi_der_take(&der, EDDYI_DER_SEQUENCE, &certificate) || der.len ||
	    !eddyi_der_take(&certificate, EDDYI_DER_SEQUENCE, &signed_part) ||
	    !eddyi_der_take_if(&signed_part, EDDYI_DER_CONTEXT_0, &skipped) ||
	    !eddyi_der_take(&signed_part, EDDYI_DER_INTEGER, &skipped))
		return -EBADMSG;
	/* Skip the algorithm, the issuer, the dates and the subject. */
	for (int i = 0; i < 4; i++)
		if (!eddyi_der_take(&signed_part, EDDYI_DER_SEQUENCE, &skipped))
			return -EBADMSG;
	if (!eddyi_der_take(&signed_part, EDDYI_DER_SEQUENCE, &skipped))
		return -EBADMSG;
	return read_spki(skipped, key);
}

/* RFC 8017 section A.1.2. */
static int read_rsa(struct eddy_str der, struct der *key)
{
	struct eddy_str numbers, version;

	key->parts.kind = &eddyi_jwk_rsa;
	if (!eddyi_der_take(&der, EDDYI_DER_SEQUENCE, &numbers) || der.len ||
	    !eddyi_der_take_number(&numbers, &version))
		return -EBADMSG;
	/* Version 1 has more than two primes. */
	if (version.len != 1 || version.ptr[0] != 0)
		return -ENOTSUP;
	for (unsigned i = 0; i < EDDYI_JWK_NUMBERS; i++)
		if (!eddyi_der_take_number(&numbers, &key->parts.numbers[i]))
			return -EBADMSG;
	return numbers.len ? -EBADMSG : 0;
}

/* Read the rest of an ECPrivateKey after its version; the curve is known. */
static int read_ec_private(struct eddy_str numbers, struct der *key)
{
	struct eddyi_jwk_parts *parts = &key->parts;
	size_t width = parts->curve->width;
	struct eddy_str point, bytes;

	if (!eddyi_der_take(&numbers, EDDYI_DER_OCTETS, &parts->numbers[2]) ||
	    parts->numbers[2].len != width ||
	    !eddyi_der_take_if(&numbers, EDDYI_DER_CONTEXT_0, &bytes) ||
	    !eddyi_der_take_if(&numbers, EDDYI_DER_CONTEXT_1, &point) || numbers.len)
		return -EBADMSG;
	if (point.ptr)
		return eddyi_der_take_bits(&point, &bytes) && !point.len ?
			       read_point(bytes, parts) :
			       -EBADMSG;
	parts->numbers[0] = eddy_str(key->x, width);
	parts->numbers[1] = eddy_str(key->y, width);
	return eddyi_ec_public_of(parts->curve, parts->numbers[2], (unsigned char *)key->x,
				  (unsigned char *)key->y);
}

/* Take the SEQUENCE and its version, which must be 1. */
static bool begin_ec_private(struct eddy_str der, struct eddy_str *ret_numbers)
{
	struct eddy_str version;

	return eddyi_der_take(&der, EDDYI_DER_SEQUENCE, ret_numbers) && !der.len &&
	       eddyi_der_take_number(ret_numbers, &version) && version.len == 1 &&
	       version.ptr[0] == 1;
}

/* RFC 5915 section 3. */
static int read_ec(struct eddy_str der, struct der *key)
{
	struct eddy_str numbers, rest, skipped, parameter, oid;
	int r;

	if (!begin_ec_private(der, &numbers))
		return -EBADMSG;
	rest = numbers;
	if (!eddyi_der_take(&rest, EDDYI_DER_OCTETS, &skipped) ||
	    !eddyi_der_take(&rest, EDDYI_DER_CONTEXT_0, &parameter))
		return -EBADMSG;
	if (!eddyi_der_take(&parameter, EDDYI_DER_OID, &oid))
		return -ENOTSUP;
	r = parameter.len ? -EBADMSG : set_curve(&key->parts, &eddyi_jwk_ec, oid);
	return r < 0 ? r : read_ec_private(numbers, key);
}

static int read_okp_private(struct eddy_str der, struct der *key)
{
	struct eddyi_jwk_parts *parts = &key->parts;
	size_t width = parts->curve->width;

	if (!eddyi_der_take(&der, EDDYI_DER_OCTETS, &parts->numbers[1]) || der.len ||
	    parts->numbers[1].len != width)
		return -EBADMSG;
	parts->numbers[0] = eddy_str(key->x, width);
	return eddyi_okp_public_of(parts->curve, parts->numbers[1], (unsigned char *)key->x);
}

/* RFC 5208 section 5, RFC 5958 section 2. */
static int read_pkcs8(struct eddy_str der, struct der *key)
{
	struct eddy_str info, version, inner, numbers;
	int r;

	if (!eddyi_der_take(&der, EDDYI_DER_SEQUENCE, &info) || der.len ||
	    !eddyi_der_take_number(&info, &version) || version.len != 1)
		return -EBADMSG;
	if ((unsigned char)version.ptr[0] > 1)
		return -ENOTSUP;
	r = read_algorithm(&info, &key->parts);
	if (r < 0)
		return r;
	/* Attributes and a public key may follow, and are ignored. */
	if (!eddyi_der_take(&info, EDDYI_DER_OCTETS, &inner))
		return -EBADMSG;
	if (key->parts.kind == &eddyi_jwk_rsa)
		return read_rsa(inner, key);
	if (key->parts.kind == &eddyi_jwk_okp)
		return read_okp_private(inner, key);
	return begin_ec_private(inner, &numbers) ? read_ec_private(numbers, key) : -EBADMSG;
}

/* ---- PEM ---- */

static const struct form {
	const char *label;
	read_fn *read;
	enum eddyi_place place;
} forms[] = {
	{ "PUBLIC KEY", read_public, EDDYI_IN_PLACE },
	{ "PRIVATE KEY", read_pkcs8, EDDYI_OFFLOADED },
	{ "CERTIFICATE", read_certificate, EDDYI_IN_PLACE },
	{ "X509 CERTIFICATE", read_certificate, EDDYI_IN_PLACE },
	{ "TRUSTED CERTIFICATE", NULL, EDDYI_IN_PLACE },
	{ "RSA PUBLIC KEY", read_rsa_public, EDDYI_IN_PLACE },
	{ "RSA PRIVATE KEY", read_rsa, EDDYI_OFFLOADED },
	{ "EC PRIVATE KEY", read_ec, EDDYI_OFFLOADED },
	{ "ENCRYPTED PRIVATE KEY", NULL, EDDYI_IN_PLACE },
	{ "DSA PRIVATE KEY", NULL, EDDYI_IN_PLACE },
	{ "OPENSSH PRIVATE KEY", NULL, EDDYI_IN_PLACE },
};

/* Take the text between the next `before` and the following `after`, with both, off the front. */
static bool take_between(struct eddy_str *rest, const char *before, const char *after,
			 struct eddy_str *ret_text)
{
	const char *begin, *end;

	/* An empty text may have no address. */
	if (!rest->len)
		return false;
	begin = memmem(rest->ptr, rest->len, before, strlen(before));
	if (!begin)
		return false;
	*rest = eddy_str_skip(*rest, (size_t)(begin - rest->ptr) + strlen(before));
	end = memmem(rest->ptr, rest->len, after, strlen(after));
	if (!end)
		return false;
	*ret_text = eddy_str(rest->ptr, (size_t)(end - rest->ptr));
	*rest = eddy_str_skip(*rest, ret_text->len + strlen(after));
	return true;
}

/* Find the first block with a key. Return: 0; -EBADMSG if there is none; -ENOTSUP. */
static int find_key(struct eddy_str pem, const struct form **ret_form, struct eddy_str *ret_base64)
{
	struct eddy_str label, end;

	while (take_between(&pem, "-----BEGIN ", "-----", &label)) {
		struct eddy_str base64 = pem;

		if (!take_between(&pem, "-----END ", "-----", &end) || !eddy_str_eq(label, end))
			return -EBADMSG;
		base64.len = (size_t)(end.ptr - base64.ptr) - strlen("-----END ");
		for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
			if (!eddy_str_eq_z(label, forms[i].label))
				continue;
			*ret_form = &forms[i];
			*ret_base64 = base64;
			/* The older way to encrypt adds headers, whose names end with a colon. */
			return !forms[i].read || memchr(base64.ptr, ':', base64.len) ? -ENOTSUP : 0;
		}
	}
	return -EBADMSG;
}

struct decoded {
	unsigned char *bytes;
	size_t size, len;
	read_fn *read;
	struct der key;
};

static int read_key(void *arg)
{
	struct decoded *decoded = arg;

	return decoded->read(eddy_str((char *)decoded->bytes, decoded->len), &decoded->key);
}

static void wipe(struct decoded *decoded)
{
	if (decoded->bytes)
		explicit_bzero(decoded->bytes, decoded->size);
	free(decoded->bytes);
}

int eddy_jwk_from_pem(struct eddy_str pem, const struct eddy_jwk_options *options,
		      struct eddy_jwk **ret_key)
{
	EDDY_AUTO(wipe) struct decoded der = { 0 };
	struct eddyi_jwk_parts *parts = &der.key.parts;
	const struct form *form;
	struct eddy_str base64;
	word32 len;
	int r = find_key(pem, &form, &base64);

	if (r < 0)
		return r;
	if (base64.len > EDDY_JWS_TEXT_MAX)
		return -EBADMSG;
	der.size = base64.len + 1;
	der.bytes = malloc(der.size);
	if (!der.bytes)
		return -ENOMEM;
	len = (word32)der.size;
	if (Base64_Decode((const byte *)base64.ptr, (word32)base64.len, der.bytes, &len) != 0)
		return -EBADMSG;
	der.len = len;
	der.read = form->read;
	r = eddyi_run_at(form->place, read_key, &der);
	if (r < 0)
		return r;
	if (options && options->kid)
		parts->kid = eddy_str_from(options->kid);
	if (options)
		parts->algs = options->algs;
	return eddyi_jwk_make(parts, ret_key);
}
