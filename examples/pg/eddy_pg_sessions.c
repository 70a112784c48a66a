#include "eddy_pg_sessions.h"

#include <eddy/task.h>
#include <errno.h>

#define EXPIRE_NS (600 * EDDY_SECOND)

const char eddy_pg_sessions_sql[] =
	"do $$ begin\n"
	"perform pg_advisory_xact_lock(hashtext('eddy_sessions'));\n"
	"if to_regclass('eddy_sessions') is null then\n"
	"create table eddy_sessions (key bytea primary key, bytes bytea not null,\n"
	"	expires_at timestamptz not null);\n"
	"create index on eddy_sessions (expires_at);\n"
	"end if;\n"
	"end $$";

#define LATER(n) "now() + " n "::float8 * interval '1 second'"
#define VALID " where key = $1 and expires_at > now()"

static double seconds(uint64_t ns)
{
	return (double)ns / (double)EDDY_SECOND;
}

/* Write a bytea: \x and hexadecimal digits. Return: NULL on allocation failure. */
static const char *write_bytea(struct eddy_req *req, struct eddy_str bytes)
{
	static const char digits[] = "0123456789abcdef";
	char *text = eddy_req_alloc(req, 2 * bytes.len + 3), *end = text;

	if (!text)
		return NULL;
	*end++ = '\\';
	*end++ = 'x';
	for (size_t i = 0; i < bytes.len; i++) {
		*end++ = digits[(unsigned char)bytes.ptr[i] >> 4];
		*end++ = digits[bytes.ptr[i] & 15];
	}
	*end = 0;
	return text;
}

static char digit(char c)
{
	return (char)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static int load(void *pg, struct eddy_req *req, struct eddy_str key, struct eddy_str *ret_bytes,
		uint64_t *ret_left_ns)
{
	EDDY_AUTO(eddy_pg_rows_deinit) struct eddy_pg_rows rows = { 0 };
	const char *key_text = write_bytea(req, key);
	struct eddy_str hex;
	char *bytes;
	int r = -ENOMEM;

	if (key_text)
		r = eddy_pg_query(pg, &rows,
				  "select encode(bytes, 'hex'), "
				  "(extract(epoch from expires_at - now()) * 1e9)::bigint "
				  "from eddy_sessions" VALID,
				  EDDY_PG(key_text));
	if (r == 0)
		r = rows.count ? eddy_pg_row(&rows, 0, EDDY_TO(&hex), EDDY_TO(ret_left_ns)) :
				 -ENOENT;
	if (r < 0)
		return r;
	bytes = eddy_req_alloc(req, hex.len / 2);
	if (!bytes)
		return -ENOMEM;
	for (size_t i = 0; i < hex.len / 2; i++)
		bytes[i] = (char)(digit(hex.ptr[2 * i]) << 4 | digit(hex.ptr[2 * i + 1]));
	*ret_bytes = eddy_str(bytes, hex.len / 2);
	return 0;
}

static int save(void *pg, struct eddy_req *req, struct eddy_str key, struct eddy_str bytes,
		uint64_t lasts_ns, struct eddy_str old)
{
	EDDY_AUTO(eddy_pg_rows_deinit) struct eddy_pg_rows rows = { 0 };
	const char *key_text = write_bytea(req, key), *old_text = write_bytea(req, old);
	const char *text = write_bytea(req, bytes);
	int r = -ENOMEM;

	if (key_text && old_text && text && old.len)
		r = eddy_pg_query(pg, &rows,
				  "update eddy_sessions set key = $4, bytes = $2, "
				  "expires_at = " LATER("$3") VALID,
				  EDDY_PG(old_text, text, seconds(lasts_ns), key_text));
	else if (key_text && old_text && text)
		r = eddy_pg_query(pg, &rows,
				  "insert into eddy_sessions values ($1, $2, " LATER("$3") ")",
				  EDDY_PG(key_text, text, seconds(lasts_ns)));
	return r == 0 && !rows.affected ? -ENOENT : r;
}

static int extend(void *pg, struct eddy_req *req, struct eddy_str key, uint64_t lasts_ns)
{
	const char *key_text = write_bytea(req, key);

	return !key_text ? -ENOMEM :
			   eddy_pg_query(pg, NULL,
					 "update eddy_sessions set expires_at = " LATER("$2") VALID,
					 EDDY_PG(key_text, seconds(lasts_ns)));
}

static int remove_key(void *pg, struct eddy_req *req, struct eddy_str key)
{
	const char *key_text = write_bytea(req, key);

	return !key_text ? -ENOMEM :
			   eddy_pg_query(pg, NULL, "delete from eddy_sessions where key = $1",
					 EDDY_PG(key_text));
}

const struct eddy_session_store eddy_pg_sessions = { load, save, extend, remove_key };

int eddy_pg_sessions_expire(void *pg)
{
	int r = 0;

	while (r != -ECANCELED) {
		EDDY_AUTO(eddy_pg_rows_deinit) struct eddy_pg_rows rows = { 0 };

		r = eddy_pg_query(pg, &rows,
				  "delete from eddy_sessions where key in (select key from "
				  "eddy_sessions where expires_at < now() limit 1000)",
				  EDDY_PG());
		/* There may be more. */
		if (r != -ECANCELED && rows.affected < 1000)
			r = eddy_sleep(EXPIRE_NS);
	}
	return r;
}
