/* Fuzzes eddy_jwk_from_pem(): the first byte says of which form the rest is, in DER or as it is. */
#include <eddy/jwk.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static const char *const labels[] = {
	"PUBLIC KEY",     "PRIVATE KEY",     "CERTIFICATE",
	"RSA PUBLIC KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY",
};

#define LABELS (sizeof(labels) / sizeof(labels[0]))

static size_t encode(const uint8_t *der, size_t size, char *text)
{
	size_t len = 0;

	for (size_t i = 0; i < size; i += 3) {
		uint32_t bits = (uint32_t)der[i] << 16;

		bits |= i + 1 < size ? (uint32_t)der[i + 1] << 8 : 0;
		bits |= i + 2 < size ? der[i + 2] : 0;
		for (int shift = 18; shift >= 0; shift -= 6)
			text[len++] = alphabet[bits >> shift & 63];
		if (len / 4 % 16 == 0)
			text[len++] = '\n';
	}
	if (size % 3)
		text[len - 1 - (text[len - 1] == '\n')] = '=';
	if (size % 3 == 1)
		text[len - 2 - (text[len - 1] == '\n')] = '=';
	return len;
}

static void try_pem(struct eddy_str pem)
{
	struct eddy_jwk *key;

	if (eddy_jwk_from_pem(pem, NULL, &key) < 0)
		return;
	if (!eddy_jwk_algs(key) || eddy_jwk_algs(key) & EDDY_JWS_SECRET)
		abort();
	eddy_jwk_unref(key);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *label;
	char *text;
	size_t len;

	if (!size)
		return 0;
	if (data[0] % 8 >= LABELS) {
		try_pem(eddy_str((const char *)data + 1, size - 1));
		return 0;
	}
	label = labels[data[0] % 8];
	text = malloc(2 * size + 100);
	len = (size_t)sprintf(text, "-----BEGIN %s-----\n", label);
	len += encode(data + 1, size - 1, text + len);
	len += (size_t)sprintf(text + len, "\n-----END %s-----\n", label);
	try_pem(eddy_str(text, len));
	free(text);
	return 0;
}
