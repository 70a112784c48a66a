/* Encrypted and signed cookies, and their keys. */
#include "cookie_keys.h"
#include "exchange_state.h"
#include "text/base64.h"
#include "tls/seal.h"

#include <eddy/internal/outside.h>
#include <eddy/config.h>
#include <eddy/cookie.h>
#include <eddy/file.h>
#include <eddy/log.h>
#include <eddy/peer.h>
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#define FILE_MAX ((size_t)(64 * EDDY_KIB))
#define KEYS_MAX 16
#define SECRET_MIN 32

#define DAY_S ((uint64_t)86400)
#define LASTS_S (14 * DAY_S)
/* Clients keep no cookie for longer (6265bis section 5.5). */
#define LASTS_MAX_S (400 * DAY_S)

/* Base64 without padding. */
#define ENCODED(len) (((len)*4 + 2) / 3)
#define MAC_TEXT_LEN ENCODED(EDDYI_SEAL_MAC_LEN)

#define TIME_LEN 8 /* of a sealed text: its end, in seconds since 1970, then the value */

/* The first of `all` seals. The lock guards all but the options, and is held while a key is used. */
struct eddyi_cookie_keys {
	struct eddy_cookie_keys options;
	pthread_rwlock_t lock;
	unsigned count;
	struct eddyi_seal_key all[KEYS_MAX];
};

/* ---- keys ---- */

static const struct eddy_config_key config_keys[] = {
	{ "keys_file", EDDY_CONFIG_PATH, EDDY_CONFIG_AT(struct eddy_cookie_keys, file), .min = 1 },
	{ 0 },
};

static const struct eddy_config_section section = { .name = "cookies", .keys = config_keys };

/* Return: what is wrong; NULL: nothing. */
static const char *parse(struct eddyi_cookie_keys *keys, struct eddy_str text,
			 struct eddyi_seal_key all[KEYS_MAX])
{
	struct eddy_str line;
	unsigned count = 0;

	while (eddy_str_split(&text, '\n', &line)) {
		while (line.len && strchr(" \t\r", line.ptr[line.len - 1]))
			line.len--;
		if (!line.len)
			continue;
		if (line.len < SECRET_MIN)
			return "a key must have at least 32 bytes, as printed by \"openssl rand -hex "
			       "32\"";
		if (count == KEYS_MAX)
			return "there are more than 16 keys";
		if (!eddyi_seal_key_init(&all[count++], line))
			return "wolfSSL can't hash a key";
	}
	if (!count)
		return "there are no keys";
	pthread_rwlock_wrlock(&keys->lock);
	memcpy(keys->all, all, sizeof(keys->all));
	keys->count = count;
	pthread_rwlock_unlock(&keys->lock);
	return NULL;
}

static const char *take_text(struct eddyi_cookie_keys *keys, struct eddy_str text)
{
	struct eddyi_seal_key all[KEYS_MAX] = { 0 };
	const char *why = parse(keys, text, all);

	explicit_bzero(all, sizeof(all));
	return why;
}

static const char *take_file(struct eddyi_cookie_keys *keys)
{
	char *bytes;
	ssize_t len = eddy_file_load(keys->options.file, FILE_MAX, &bytes);
	const char *why;

	if (len < 0)
		return len == -EISDIR ? "it is not a file" :
		       len == -EFBIG  ? "it is larger than 64 KiB" :
					strerror((int)-len);
	why = take_text(keys, eddy_str(bytes, (size_t)len));
	explicit_bzero(bytes, (size_t)len);
	free(bytes);
	return why;
}

static const char *load(struct eddyi_cookie_keys *keys)
{
	if (!keys->options.file == !keys->options.text.ptr)
		return "expected either a file or a text";
	return keys->options.file ? take_file(keys) : take_text(keys, keys->options.text);
}

/* Get the name of the source, for messages. */
static const char *source_of(const struct eddyi_cookie_keys *keys)
{
	return keys->options.file ? keys->options.file : "";
}

int eddyi_cookie_keys_load(void *arg)
{
	struct eddyi_cookie_keys *keys = arg;
	const char *why = load(keys);

	if (why)
		eddy_error("eddy::app", "can't use the cookie keys from \"%s\": %s",
			   source_of(keys), why);
	return why ? -EINVAL : 0;
}

const char *eddyi_cookie_keys_file(const struct eddyi_cookie_keys *keys)
{
	return keys->options.file;
}

static int load_at_start(struct eddy_app *app, void *data)
{
	const char *why = load(data);

	if (why)
		eddy_app_mistake(app, "can't use the cookie keys from \"%s\": %s", source_of(data),
				 why);
	return 0;
}

static void deinit(void *data)
{
	struct eddyi_cookie_keys *keys = data;

	explicit_bzero(keys->all, sizeof(keys->all));
	pthread_rwlock_destroy(&keys->lock);
}

void eddy_app_with_cookie_keys(struct eddy_app *app, const struct eddy_cookie_keys *options)
{
	struct eddyi_cookie_keys *keys = app->cookie_keys;

	if (!keys) {
		keys = app->cookie_keys = eddy_app_alloc(app, sizeof(*keys));
		pthread_rwlock_init(&keys->lock, NULL);
		eddy_app_at_free(app, deinit, keys);
		eddy_app_config_section(app, &section, &keys->options);
		eddy_app_at_start(app, load_at_start, keys);
	}
	keys->options = options ? *options : (struct eddy_cookie_keys){ 0 };
	eddy_app_keep_strings(app, config_keys, &keys->options);
	if (keys->options.text.ptr)
		keys->options.text = eddyi_app_printf(app, "%.*s", EDDY_FMT(keys->options.text));
}

/* ---- setting ---- */

static uint64_t end_of(const struct eddy_cookie *cookie)
{
	uint64_t now = (uint64_t)eddyi_clock_seconds(), last = now + LASTS_MAX_S;
	uint64_t end = now + LASTS_S;

	if (cookie->max_age_s)
		end = cookie->max_age_s < LASTS_MAX_S ? now + cookie->max_age_s : last;
	else if (cookie->expires_s)
		end = cookie->expires_s;
	return end < last ? end : last;
}

static bool has_prefix(const char *name, const char *prefix)
{
	return strncasecmp(name, prefix, strlen(prefix)) == 0;
}

static int set_cookie(struct eddy_res *res, const struct eddy_cookie *cookie, struct eddy_str value)
{
	struct eddy_cookie set = *cookie;

	set.value = value;
	if (!set.path)
		set.path = "/";
	if (!set.same_site)
		set.same_site = EDDY_SAME_SITE_LAX;
	set.secure |= eddy_req_is_secure(res->req) || has_prefix(set.name, "__Host-") ||
		      has_prefix(set.name, "__Secure-");
	/* Without a value, its allocation has failed. */
	return value.ptr ? eddy_res_cookie(res, &set) : -ENOMEM;
}

/* Encode without padding. Return: .ptr NULL on allocation failure. */
static struct eddy_str encode(struct eddyi_arena *arena, const void *bytes, size_t len)
{
	char *text = eddyi_arena_alloc(arena, EDDYI_BASE64_ENCODED(len));

	if (text)
		eddyi_base64_encode(bytes, len, text);
	return eddy_str(text, ENCODED(len));
}

static int seal(struct eddyi_cookie_keys *keys, struct eddyi_arena *arena,
		const struct eddy_cookie *cookie, struct eddy_str *ret_value)
{
	size_t len = TIME_LEN + cookie->value.len;
	uint64_t end = htobe64(end_of(cookie));
	unsigned char *sealed;
	char *text;
	int r;

	text = eddyi_arena_alloc(arena, len);
	sealed = eddyi_arena_alloc(arena, EDDYI_SEALED_LEN(len));
	if (!text || !sealed)
		return -ENOMEM;
	memcpy(text, &end, sizeof(end));
	if (cookie->value.len)
		memcpy(text + TIME_LEN, cookie->value.ptr, cookie->value.len);
	pthread_rwlock_rdlock(&keys->lock);
	r = eddyi_seal(keys->all, eddy_str_from(cookie->name), eddy_str(text, len), sealed);
	pthread_rwlock_unlock(&keys->lock);
	if (r == 0)
		*ret_value = encode(arena, sealed, EDDYI_SEALED_LEN(len));
	return r;
}

static int sign(struct eddyi_cookie_keys *keys, struct eddyi_arena *arena,
		const struct eddy_cookie *cookie, struct eddy_str *ret_value)
{
	struct eddy_str text =
		eddyi_arena_printf(arena, "%.*s.%" PRIu64, EDDY_FMT(cookie->value), end_of(cookie));
	unsigned char mac[EDDYI_SEAL_MAC_LEN];
	bool ok;

	if (!text.ptr)
		return -ENOMEM;
	pthread_rwlock_rdlock(&keys->lock);
	ok = eddyi_seal_sign(keys->all, eddy_str_from(cookie->name), text, mac);
	pthread_rwlock_unlock(&keys->lock);
	if (!ok)
		return -EIO;
	*ret_value = eddyi_arena_printf(arena, "%.*s.%.*s", EDDY_FMT(text),
					EDDY_FMT(encode(arena, mac, sizeof(mac))));
	return 0;
}

typedef int make_fn(struct eddyi_cookie_keys *keys, struct eddyi_arena *arena,
		    const struct eddy_cookie *cookie, struct eddy_str *ret_value);

static int set(struct eddy_res *res, const struct eddy_cookie *cookie, make_fn *make)
{
	struct eddyi_cookie_keys *keys = res->req->app->cookie_keys;
	struct eddy_str value = EDDY_STR("");
	int r = keys ? 0 : -ENOKEY;

	if (r == 0 && !cookie->forget)
		r = make(keys, &res->req->arena, cookie, &value);
	return r < 0 ? r : set_cookie(res, cookie, value);
}

int eddy_res_cookie_sealed(struct eddy_res *res, const struct eddy_cookie *cookie)
{
	struct eddy_cookie hidden = *cookie;

	hidden.http_only = true;
	return set(res, &hidden, seal);
}

int eddy_res_cookie_signed(struct eddy_res *res, const struct eddy_cookie *cookie)
{
	return set(res, cookie, sign);
}

/* ---- getting ---- */

/* Check a cookie's text with any key. Lock held. Return: 0; -EBADMSG; -ENOMEM. */
typedef int open_fn(const struct eddyi_cookie_keys *keys, struct eddyi_arena *arena,
		    struct eddy_str name, struct eddy_str text, uint64_t *ret_end,
		    struct eddy_str *ret_value);

static int unseal(const struct eddyi_cookie_keys *keys, struct eddyi_arena *arena,
		  struct eddy_str name, struct eddy_str text, uint64_t *ret_end,
		  struct eddy_str *ret_value)
{
	unsigned char *sealed = eddyi_arena_alloc(arena, EDDYI_BASE64_DECODED(text.len));
	ssize_t len = sealed ? eddyi_base64_decode(text, sealed) : -ENOMEM;
	unsigned char *opened;
	int r = -EBADMSG;

	if (len < (ssize_t)EDDYI_SEALED_LEN(TIME_LEN))
		return len == -ENOMEM ? -ENOMEM : -EBADMSG;
	len -= EDDYI_SEALED_LEN(0);
	opened = eddyi_arena_alloc(arena, (size_t)len);
	if (!opened)
		return -ENOMEM;
	for (unsigned i = 0; i < keys->count && r < 0; i++)
		r = eddyi_unseal(&keys->all[i], name, sealed, EDDYI_SEALED_LEN((size_t)len),
				 opened);
	if (r < 0)
		return r;
	memcpy(ret_end, opened, TIME_LEN);
	*ret_end = be64toh(*ret_end);
	*ret_value = eddy_str((const char *)opened + TIME_LEN, (size_t)len - TIME_LEN);
	return 0;
}

/* Split at the last dot. */
static bool split_last(struct eddy_str text, struct eddy_str *ret_first, struct eddy_str *ret_last)
{
	const char *dot = text.len ? memrchr(text.ptr, '.', text.len) : NULL;

	if (!dot)
		return false;
	*ret_first = eddy_str(text.ptr, (size_t)(dot - text.ptr));
	*ret_last = eddy_str_skip(text, ret_first->len + 1);
	return true;
}

static int check_signed(const struct eddyi_cookie_keys *keys, struct eddyi_arena *arena,
			struct eddy_str name, struct eddy_str text, uint64_t *ret_end,
			struct eddy_str *ret_value)
{
	unsigned char mac[EDDYI_BASE64_DECODED(MAC_TEXT_LEN)];
	struct eddy_str mac_text, end;

	(void)arena;
	if (!split_last(text, &text, &mac_text) || mac_text.len != MAC_TEXT_LEN ||
	    eddyi_base64_decode(mac_text, mac) != EDDYI_SEAL_MAC_LEN ||
	    !split_last(text, ret_value, &end) || eddy_str_to_u64(end, ret_end) < 0)
		return -EBADMSG;
	for (unsigned i = 0; i < keys->count; i++)
		if (eddyi_seal_is_signed(&keys->all[i], name, text, mac))
			return 0;
	return -EBADMSG;
}

static int get(struct eddy_req *req, const char *name, open_fn *judge, struct eddy_str *ret_value)
{
	struct eddyi_cookie_keys *keys = req->app->cookie_keys;
	struct eddy_str text, value;
	uint64_t end = 0;
	int r = eddy_req_cookie(req, name, &text);

	if (r < 0 || !keys)
		return r < 0 ? r : -ENOKEY;
	pthread_rwlock_rdlock(&keys->lock);
	r = judge(keys, &req->arena, eddy_str_from(name), text, &end, &value);
	pthread_rwlock_unlock(&keys->lock);
	if (r == 0 && end <= (uint64_t)eddyi_clock_seconds())
		r = -EBADMSG;
	if (r == 0)
		*ret_value = value;
	return r;
}

int eddy_req_cookie_sealed(struct eddy_req *req, const char *name, struct eddy_str *ret_value)
{
	return get(req, name, unseal, ret_value);
}

int eddy_req_cookie_signed(struct eddy_req *req, const char *name, struct eddy_str *ret_value)
{
	return get(req, name, check_signed, ret_value);
}
