/* Tests of jwk_der.c: what else stands in the DER of a key, or does not. */
#include "keys.h"
#include "rfc.h"

#include <ctype.h>
#include <errno.h>

/* What a letter stands for, in base64url. */
static const char *const blobs[128] = {
	['X'] = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", /* of Ed25519 */
	['D'] = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
	['P'] = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEXH8UTNG72bfocs3-257rn0s2ldbqkLJK2KRiMohYjlrQ",
	['S'] = "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI", /* of P-256 */
	['N'] = RFC_RSA_N,
	['O'] = RFC_RSA_D,
	['Q'] = RFC_RSA_P,
	['R'] = RFC_RSA_Q,
	['T'] = RFC_RSA_DP,
	['U'] = RFC_RSA_DQ,
	['V'] = RFC_RSA_QI,
};

static unsigned hex(const char *digits)
{
	char text[3] = { digits[0], digits[1], 0 };

	return (unsigned)strtoul(text, NULL, 16);
}

/* Write `*text` up to its end, or to a bracket that was not opened in it: bytes are two digits, and an element is its tag
 * with its content in brackets. Return: how many bytes. */
static size_t write_der(const char **text, unsigned char *to)
{
	size_t len = 0;

	while (**text && **text != ')') {
		if (isupper(**text)) {
			struct eddy_str blob = keys_decode(blobs[(int)*(*text)++]);

			memcpy(to + len, blob.ptr, blob.len);
			len += blob.len;
			free((char *)blob.ptr);
			continue;
		}
		to[len++] = (unsigned char)hex(*text);
		*text += 2;
		if (**text == '(') {
			unsigned char content[2048];
			size_t content_len;

			++*text;
			content_len = write_der(text, content);
			++*text;
			if (content_len >= 256) {
				to[len++] = 0x82;
				to[len++] = (unsigned char)(content_len >> 8);
			} else if (content_len >= 128) {
				to[len++] = 0x81;
			}
			to[len++] = (unsigned char)content_len;
			memcpy(to + len, content, content_len);
			len += content_len;
		}
	}
	return len;
}

static int read_der(const char *label, const char *text)
{
	unsigned char der[2048];
	char pem[4096];
	struct eddy_jwk *key = NULL;
	size_t at = (size_t)sprintf(pem, "-----BEGIN %s-----\n", label), begin = at;
	int r;

	at += eddyi_base64url_encode(der, write_der(&text, der), pem + at);
	for (size_t i = begin; i < at; i++)
		pem[i] = pem[i] == '-' ? '+' : pem[i] == '_' ? '/' : pem[i];
	while ((at - begin) % 4)
		pem[at++] = '=';
	sprintf(pem + at, "\n-----END %s-----\n", label);
	r = eddy_jwk_from_pem(eddy_str_from(pem), NULL, &key);
	eddy_jwk_unref(key);
	return r;
}

static const struct row {
	int r;
	const char *text;
} spki[] = {
#define ED25519 "30(06(2b6570))"
#define P256 "30(06(2a8648ce3d0201)06(2a8648ce3d030107))"
#define RSA "30(06(2a864886f70d010101)05())"
	{ 0, "30(" ED25519 "03(00X))" },
	{ -EBADMSG, "30(" ED25519 "03(00X)05())" },
	{ -EBADMSG, "30(" ED25519 "03(00X))00" },
	{ -EBADMSG, "30(" ED25519 "03(01X))" },
	{ -EBADMSG, "30(" ED25519 "03(00X00))" },
	{ -EBADMSG, "30(" ED25519 "03(0000))" },
	{ -EBADMSG, "30(" ED25519 "03())" },
	{ -EBADMSG, "30(" ED25519 "04(X))" },
	{ -EBADMSG, "30(" ED25519 ")" },
	{ -EBADMSG, "31(" ED25519 "03(00X))" },
	/* It has no parameters, not even NULL (RFC 8410 section 3). */
	{ -ENOTSUP, "30(30(06(2b6570)05())03(00X))" },
	{ 0, "30(" P256 "03(0004P))" },
	/* Both coordinates in other forms (SEC 1 section 2.3.3, ITU-T X9.62). */
	{ -EBADMSG, "30(" P256 "03(0006P))" },
	{ -EBADMSG, "30(" P256 "03(0007P))" },
	{ -EBADMSG, "30(" P256 "03(0000P))" },
	{ -EBADMSG, "30(" P256 "03(0004P00))" },
	{ -EBADMSG, "30(" P256 "03(00P))" },
	{ -EBADMSG, "30(" P256 "03(0000))" },
	{ -EBADMSG, "30(30(06(2a8648ce3d0201)06(2a8648ce3d030107)05())03(0004P))" },
	{ -ENOTSUP, "30(30(06(2a8648ce3d0201)05())03(0004P))" },
	{ -ENOTSUP, "30(30(06(2a8648ce3d0201))03(0004P))" },
	/* Of Ed25519, as if it were one of ECDSA's. */
	{ -ENOTSUP, "30(30(06(2a8648ce3d0201)06(2b6570))03(0004P))" },
	{ -ENOTSUP, "30(30(06(2a8648ce3d030107))03(0004P))" },
	{ 0, "30(" RSA "03(0030(02(00N)02(010001))))" },
	{ -EBADMSG, "30(" RSA "03(0030(02(N)02(010001))))" },
	{ -EBADMSG, "30(" RSA "03(0030(02(0000N)02(010001))))" },
	{ -EBADMSG, "30(" RSA "03(0030(02(00N)02(00010001))))" },
	{ -EBADMSG, "30(" RSA "03(0030(02(00N)02(010001)05())))" },
	{ -EBADMSG, "30(" RSA "03(0030(02(00N)02(010001))05()))" },
	{ -EBADMSG, "30(" RSA "03(0030(02(00N))))" },
	{ -EKEYREJECTED, "30(" RSA "03(0030(02(00N)02(01))))" },
	/* NULL, and no more (RFC 3279 section 2.3.1). */
	{ -EBADMSG, "30(30(06(2a864886f70d010101))03(0030(02(00N)02(010001))))" },
	{ -EBADMSG, "30(30(06(2a864886f70d010101)05(00))03(0030(02(00N)02(010001))))" },
	{ -EBADMSG, "30(30(06(2a864886f70d010101)05()05())03(0030(02(00N)02(010001))))" },
	/* A key for PSS alone says so elsewhere than in `alg`. */
	{ -ENOTSUP, "30(30(06(2a864886f70d01010a))03(0030(02(00N)02(010001))))" },
}, pkcs8[] = {
	{ 0, "30(02(00)" ED25519 "04(04(D)))" },
	/* OneAsymmetricKey (RFC 5958 section 2), and attributes. */
	{ 0, "30(02(01)" ED25519 "04(04(D))81(00X))" },
	{ 0, "30(02(00)" ED25519 "04(04(D))a0())" },
	{ -ENOTSUP, "30(02(02)" ED25519 "04(04(D)))" },
	{ -EBADMSG, "30(02(0100)" ED25519 "04(04(D)))" },
	{ -EBADMSG, "30(" ED25519 "04(04(D)))" },
	{ -EBADMSG, "30(02(00)" ED25519 "04(D))" },
	{ -EBADMSG, "30(02(00)" ED25519 "04(04(D)00))" },
	{ -EBADMSG, "30(02(00)" ED25519 "04(04(D00)))" },
	{ -EBADMSG, "30(02(00)" ED25519 "04(04(01)))" },
	{ -EBADMSG, "30(02(00)" ED25519 "04(04()))" },
	{ -EBADMSG, "30(02(00)" ED25519 "04(04(D)))00" },
	{ -EBADMSG, "30(02(00)" ED25519 ")" },
	{ 0, "30(02(00)" P256 "04(30(02(01)04(S))))" },
	{ 0, "30(02(00)" P256 "04(30(02(01)04(S)a1(03(0004P)))))" },
	{ -EKEYREJECTED, "30(02(00)" P256 "04(30(02(01)04(D)a1(03(0004P)))))" },
	{ -EBADMSG, "30(02(00)" P256 "04(30(02(01)04(S)a1(03(0004P)05()))))" },
	{ -EBADMSG, "30(02(00)" P256 "04(30(02(01)04(S)a1(03(0004P))05())))" },
	{ -EBADMSG, "30(02(00)" P256 "04(30(02(00)04(S))))" },
	{ -EBADMSG, "30(02(00)" P256 "04(30(02(01)04(01))))" },
	{ -EBADMSG, "30(02(00)" P256 "04(30(02(01)04(00S))))" },
	{ -EBADMSG, "30(02(00)" P256 "04(30(02(01)04())))" },
#define REST "02(010001)02(O)02(00Q)02(00R)02(T)02(00U)02(V)"
	{ 0, "30(02(00)" RSA "04(30(02(00)02(00N)" REST ")))" },
	{ -EBADMSG, "30(02(00)" RSA "04(30(02(00)02(00N)" REST "05())))" },
	{ -EBADMSG, "30(02(00)" RSA "04(30(02(00)02(00N)" REST ")00))" },
	{ -EBADMSG, "30(02(00)" RSA "04(30(02(00)" REST ")))" },
	{ -ENOTSUP, "30(02(00)" RSA "04(30(02(01)02(00N)" REST ")))" },
}, sec1[] = {
	{ 0, "30(02(01)04(S)a0(06(2a8648ce3d030107)))" },
	{ -EBADMSG, "30(02(01)04(S)a0(06(2a8648ce3d030107)05()))" },
	{ -EBADMSG, "30(02(01)04(S)a0(06(2a8648ce3d030107)))00" },
	{ -EBADMSG, "30(02(01)04(S))" },
	{ -ENOTSUP, "30(02(01)04(S)a0(30()))" },
	{ -ENOTSUP, "30(02(01)04(S)a0(06(2b6570)))" },
};

static void read_all(const char *label, const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		cr_expect(eq(int, read_der(label, rows[i].text), rows[i].r), "%s %zu %s", label, i,
			  rows[i].text);
}

Test(jwk_der, every_element_counts)
{
	read_all("PUBLIC KEY", spki, sizeof(spki) / sizeof(spki[0]));
	read_all("PRIVATE KEY", pkcs8, sizeof(pkcs8) / sizeof(pkcs8[0]));
	read_all("EC PRIVATE KEY", sec1, sizeof(sec1) / sizeof(sec1[0]));
}
