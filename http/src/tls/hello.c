#include "hello.h"

#include "reader.h"

#include <errno.h>

#define RECORD_HEAD 5
#define RECORD_MAX ((size_t)(16 * EDDY_KIB))
#define TYPE_HANDSHAKE 22
#define MESSAGE_HEAD 4
#define MESSAGE_CLIENT_HELLO 1
#define EXTENSION_SERVER_NAME 0
#define EXTENSION_GROUPS 10
#define EXTENSION_SCHEMES 13
#define EXTENSION_ALPN 16
#define EXTENSION_EARLY_DATA 42
#define EXTENSION_VERSIONS 43
#define EXTENSION_PSK_MODES 45
#define EXTENSION_SHARES 51
#define NAME_HOST 0
#define RANDOM_LEN 32
#define TLS_1_2 0x0303
#define TLS_1_3 0x0304
#define GROUP_X25519 29
#define GROUP_P384 24
#define GROUP_P521 25
#define PSK_DHE_KE 1
/* More than clients offer shares for. */
#define SHARES_MAX 32

#define KEYS_CURVES (EDDYI_KEY_P256 | EDDYI_KEY_P384 | EDDYI_KEY_P521)

/* ---- records ---- */

/* Check the head of a record. Return: as gather(); 1 to continue. */
static int check_record(const unsigned char *head, size_t len, size_t *ret_len)
{
	if (len >= 1 && head[0] != TYPE_HANDSHAKE)
		return -EPROTO;
	if (len >= 2 && head[1] != 3)
		return -EPROTO;
	if (len < RECORD_HEAD)
		return -EAGAIN;
	*ret_len = (size_t)head[3] << 8 | head[4];
	return *ret_len && *ret_len <= RECORD_MAX ? 1 : -EBADMSG;
}

static int check_message(const unsigned char *message, size_t len)
{
	size_t rest;

	if (len >= 1 && message[0] != MESSAGE_CLIENT_HELLO)
		return -EBADMSG;
	if (len < MESSAGE_HEAD)
		return -EAGAIN;
	rest = (size_t)message[1] << 16 | (size_t)message[2] << 8 | message[3];
	if (rest > EDDYI_HELLO_MAX - MESSAGE_HEAD)
		return -EBADMSG;
	return len >= MESSAGE_HEAD + rest ? 0 : -EAGAIN;
}

/* Assemble the message from records. Return: 0, -EAGAIN, -EPROTO, -EBADMSG. */
static int gather(struct eddy_str bytes, unsigned char message[EDDYI_HELLO_MAX], size_t *ret_len)
{
	const unsigned char *at = (const unsigned char *)bytes.ptr;
	size_t left = bytes.len, len = 0;
	int r = -EAGAIN;

	while (r == -EAGAIN && left) {
		size_t record, here;

		r = check_record(at, left, &record);
		if (r < 0)
			return r;
		here = left - RECORD_HEAD < record ? left - RECORD_HEAD : record;
		at += RECORD_HEAD;
		if (here > EDDYI_HELLO_MAX - len)
			here = EDDYI_HELLO_MAX - len;
		memcpy(message + len, at, here);
		len += here;
		r = check_message(message, len);
		if (here < record)
			break;
		at += record;
		left -= RECORD_HEAD + record;
	}
	*ret_len = len;
	return r;
}

/* ---- the message ---- */

static bool is_name_byte(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

static void keep_name(struct eddyi_reader name, struct eddyi_hello *hello)
{
	if (name.len >= sizeof(hello->server_name))
		return;
	for (size_t i = 0; i < name.len; i++) {
		unsigned char c = name.at[i];

		if (c >= 'A' && c <= 'Z')
			c += 'a' - 'A';
		if (!is_name_byte(c)) {
			hello->server_name[0] = 0;
			return;
		}
		hello->server_name[i] = (char)c;
	}
	hello->server_name[name.len] = 0;
}

static bool read_server_name(struct eddyi_reader extension, struct eddyi_hello *hello)
{
	struct eddyi_reader list = eddyi_reader_vector(&extension, 2);

	while (list.len) {
		size_t type = eddyi_reader_number(&list, 1);
		struct eddyi_reader name = eddyi_reader_vector(&list, 2);

		if (type == NAME_HOST && !name.bad)
			keep_name(name, hello);
	}
	return !list.bad && !extension.bad;
}

/* ---- supported algorithms ---- */

/* What the client offers, as far as it limits the certificates it can use. */
struct offer {
	size_t version; /* the highest up to TLS 1.2 */
	bool tls_1_3;
	bool has_extensions;
	bool prefers_chacha; /* the first known suite is ChaCha20 */
	bool suites_13;
	bool rsa_suites; /* of TLS 1.2 */
	bool ecdsa_suites;
	bool x25519;
	bool slow_group; /* the first known one, or one with a share */
	bool has_schemes;
	bool has_groups;
	unsigned schemes;    /* kinds of keys by signature algorithms */
	unsigned schemes_13; /* the same for TLS 1.3 */
	unsigned groups;     /* kinds of keys by curves */
};

static void take_suite(size_t suite, struct offer *offer)
{
	bool knew = offer->suites_13 || offer->ecdsa_suites || offer->rsa_suites;

	if (!knew)
		offer->prefers_chacha = suite == 0x1303 || suite == 0xcca8 || suite == 0xcca9;
	switch (suite) {
	case 0x1301: /* AES-128-GCM, AES-256-GCM, ChaCha20 */
	case 0x1302:
	case 0x1303:
		offer->suites_13 = true;
		break;
	case 0xc02b: /* ECDHE-ECDSA with AES-128-GCM, AES-256-GCM, ChaCha20 */
	case 0xc02c:
	case 0xcca9:
		offer->ecdsa_suites = true;
		break;
	case 0xc02f: /* ECDHE-RSA with the same */
	case 0xc030:
	case 0xcca8:
		offer->rsa_suites = true;
		break;
	}
}

static bool is_slow(size_t group)
{
	return group == GROUP_P384 || group == GROUP_P521;
}

static void take_group(size_t group, struct offer *offer)
{
	if (!offer->x25519 && !offer->groups)
		offer->slow_group |= is_slow(group);
	offer->x25519 |= group == GROUP_X25519;
	offer->groups |= group == 23 ? EDDYI_KEY_P256 :
			 group == 24 ? EDDYI_KEY_P384 :
			 group == 25 ? EDDYI_KEY_P521 :
				       0;
}

/* RFC 8446 section 4.2.3: TLS 1.3 ties curves to hashes, and has no PKCS#1 signatures. */
static void take_scheme(size_t scheme, struct offer *offer)
{
	static const struct {
		size_t scheme;
		unsigned keys, keys_13;
	} all[] = {
		{ 0x0403, KEYS_CURVES, EDDYI_KEY_P256 },
		{ 0x0503, KEYS_CURVES, EDDYI_KEY_P384 },
		{ 0x0603, KEYS_CURVES, EDDYI_KEY_P521 },
		{ 0x0203, KEYS_CURVES, 0 },
		{ 0x0804, EDDYI_KEY_RSA, EDDYI_KEY_RSA },
		{ 0x0805, EDDYI_KEY_RSA, EDDYI_KEY_RSA },
		{ 0x0806, EDDYI_KEY_RSA, EDDYI_KEY_RSA },
		{ 0x0401, EDDYI_KEY_RSA, 0 },
		{ 0x0501, EDDYI_KEY_RSA, 0 },
		{ 0x0601, EDDYI_KEY_RSA, 0 },
		{ 0x0201, EDDYI_KEY_RSA, 0 },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (all[i].scheme != scheme)
			continue;
		offer->schemes |= all[i].keys;
		offer->schemes_13 |= all[i].keys_13;
	}
}

static void take_version(size_t version, struct offer *offer)
{
	offer->tls_1_3 |= version == TLS_1_3;
}

/* Read numbers of two bytes each, after their length in `bytes` bytes. */
static bool read_numbers(struct eddyi_reader *reader, size_t bytes,
			 void (*take)(size_t number, struct offer *offer), struct offer *offer)
{
	struct eddyi_reader list = eddyi_reader_vector(reader, bytes);

	while (list.len)
		take(eddyi_reader_number(&list, 2), offer);
	return !list.bad && !reader->bad;
}

static unsigned keys_of(const struct offer *offer)
{
	unsigned keys = offer->has_schemes ? offer->schemes : EDDYI_KEY_RSA | KEYS_CURVES;

	if (offer->tls_1_3)
		return offer->schemes_13;
	if (!offer->rsa_suites)
		keys &= ~(unsigned)EDDYI_KEY_RSA;
	if (!offer->ecdsa_suites)
		keys &= EDDYI_KEY_RSA;
	if (offer->has_groups)
		keys &= offer->groups | ~(unsigned)KEYS_CURVES;
	return keys;
}

/* Whether there is a common suite and group; otherwise wolfSSL responds with suite 0, or another
 * group. Without extensions the client verifies only SHA-1 (RFC 5246 section 7.4.1.4.1). */
static bool fits(const struct offer *offer)
{
	if (offer->version < TLS_1_2)
		return true;
	return offer->has_extensions && (!offer->has_groups || offer->groups || offer->x25519) &&
	       ((offer->tls_1_3 && offer->suites_13) || offer->rsa_suites || offer->ecdsa_suites);
}

/* ---- checks that wolfSSL lacks ---- */

/* wolfSSL before 5.9.0 reads names past the end of the list (CVE-2026-3547). */
static bool check_protocols(struct eddyi_reader extension)
{
	struct eddyi_reader list = eddyi_reader_vector(&extension, 2);

	while (list.len)
		if (!eddyi_reader_vector(&list, 1).len)
			return false;
	return !list.bad && !extension.bad && !extension.len;
}

/* Allow one share for each group (RFC 8446 section 4.2.8). wolfSSL before 5.8.4 with post-quantum
 * groups leaks the others (CVE-2025-11936). */
static bool check_shares(struct eddyi_reader extension, struct offer *offer)
{
	struct eddyi_reader list = eddyi_reader_vector(&extension, 2);
	size_t groups[SHARES_MAX];
	size_t count = 0;

	while (list.len) {
		size_t group = eddyi_reader_number(&list, 2);

		for (size_t i = 0; i < count; i++)
			if (groups[i] == group)
				return false;
		if (count == SHARES_MAX || !eddyi_reader_vector(&list, 2).len)
			return false;
		groups[count++] = group;
		offer->slow_group |= is_slow(group);
	}
	return !list.bad && !extension.bad && !extension.len;
}

static bool read_psk_modes(struct eddyi_reader extension, struct eddyi_hello *hello)
{
	struct eddyi_reader list = eddyi_reader_vector(&extension, 1);

	hello->only_psk = true;
	while (list.len)
		if (eddyi_reader_number(&list, 1) == PSK_DHE_KE)
			hello->only_psk = false;
	return !list.bad && !extension.bad;
}

/* ---- extensions and message ---- */

static bool read_extension(size_t type, struct eddyi_reader extension, struct eddyi_hello *hello,
			   struct offer *offer)
{
	switch (type) {
	case EXTENSION_SERVER_NAME:
		return read_server_name(extension, hello);
	case EXTENSION_GROUPS:
		offer->has_groups = true;
		return read_numbers(&extension, 2, take_group, offer);
	case EXTENSION_SCHEMES:
		offer->has_schemes = true;
		return read_numbers(&extension, 2, take_scheme, offer);
	case EXTENSION_EARLY_DATA:
		hello->early_data = true;
		return true;
	case EXTENSION_ALPN:
		return check_protocols(extension);
	case EXTENSION_PSK_MODES:
		return read_psk_modes(extension, hello);
	case EXTENSION_SHARES:
		return check_shares(extension, offer);
	case EXTENSION_VERSIONS:
		return read_numbers(&extension, 1, take_version, offer);
	default:
		return true;
	}
}

static bool read_body(struct eddyi_reader message, struct eddyi_hello *hello)
{
	struct offer offer = { 0 };
	struct eddyi_reader extensions;

	offer.version = eddyi_reader_number(&message, 2);
	eddyi_reader_take(&message, RANDOM_LEN);
	eddyi_reader_vector(&message, 1); /* session id */
	read_numbers(&message, 2, take_suite, &offer);
	eddyi_reader_vector(&message, 1); /* compression methods */
	hello->keys = keys_of(&offer);
	hello->fits = fits(&offer);
	hello->prefers_chacha = offer.prefers_chacha;
	if (message.bad || !message.len)
		return !message.bad;
	offer.has_extensions = true;
	extensions = eddyi_reader_vector(&message, 2);
	while (extensions.len) {
		size_t type = eddyi_reader_number(&extensions, 2);
		struct eddyi_reader extension = eddyi_reader_vector(&extensions, 2);

		if (!read_extension(type, extension, hello, &offer))
			return false;
	}
	hello->keys = keys_of(&offer);
	hello->fits = fits(&offer);
	hello->prefers_chacha = offer.prefers_chacha;
	hello->has_slow_group = offer.slow_group;
	return !extensions.bad && !message.bad;
}

bool eddyi_hello_read(const unsigned char *body, size_t len, struct eddyi_hello *ret_hello)
{
	struct eddyi_hello hello = { 0 };

	if (!read_body((struct eddyi_reader){ body, len, false }, &hello))
		return false;
	*ret_hello = hello;
	return true;
}

int eddyi_hello_parse(struct eddy_str bytes, struct eddyi_hello *ret_hello)
{
	unsigned char message[EDDYI_HELLO_MAX];
	size_t len;
	int r = gather(bytes, message, &len);

	if (r < 0)
		return r;
	return eddyi_hello_read(message + MESSAGE_HEAD, len - MESSAGE_HEAD, ret_hello) ? 0 :
											 -EBADMSG;
}

bool eddyi_hello_name_fits(struct eddy_str pattern, struct eddy_str host)
{
	const char *dot;

	if (!eddy_str_starts(pattern, EDDY_STR("*.")))
		return host.len && eddy_str_eq(pattern, host);
	dot = memchr(host.ptr, '.', host.len);
	if (!dot || dot == host.ptr)
		return false;
	return eddy_str_eq(eddy_str_skip(pattern, 1),
			   eddy_str(dot, host.len - (size_t)(dot - host.ptr)));
}
