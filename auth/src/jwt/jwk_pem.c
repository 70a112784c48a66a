/* Keys in PEM (RFC 7468). */
#include "jwk_der.h"

#include <errno.h>
#include <stdlib.h>
#include <wolfssl/wolfcrypt/coding.h>

static const struct form {
	const char *label;
	eddyi_jwk_der_fn *read;
	enum eddyi_place place;
} forms[] = {
	{ "PUBLIC KEY", eddyi_jwk_der_spki, EDDYI_IN_PLACE },
	{ "PRIVATE KEY", eddyi_jwk_der_pkcs8, EDDYI_OFFLOADED },
	{ "CERTIFICATE", eddyi_jwk_der_certificate, EDDYI_IN_PLACE },
	{ "X509 CERTIFICATE", eddyi_jwk_der_certificate, EDDYI_IN_PLACE },
	{ "TRUSTED CERTIFICATE", NULL, EDDYI_IN_PLACE },
	{ "RSA PUBLIC KEY", eddyi_jwk_der_rsa_public, EDDYI_IN_PLACE },
	{ "RSA PRIVATE KEY", eddyi_jwk_der_rsa, EDDYI_OFFLOADED },
	{ "EC PRIVATE KEY", eddyi_jwk_der_ec, EDDYI_OFFLOADED },
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
	eddyi_jwk_der_fn *read;
	struct eddyi_jwk_der key;
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
