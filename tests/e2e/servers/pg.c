/* pg: uses examples/pg as programs do, a case of test_pg.py at a time. */
#include "pg_cases.h"

#include <eddy/http.h>
#include <eddy/test.h>
#include <eddy_pg_migrate.h>
#include <dlfcn.h>
#include <netdb.h>
#include <unistd.h>

/* In place of libc's: the name "hangs" is not resolved in time. */
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		struct addrinfo **ret)
{
	static int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);

	if (node && !strcmp(node, "hangs"))
		sleep(30);
	*(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
	return real(node, service, hints, ret);
}

static int types(void)
{
	ROWS rows = { 0 };
	struct eddy_str text, other, nothing;
	const char *no_text = NULL;
	int8_t i8;
	int i;
	int64_t i64;
	uint64_t u64;
	double f;
	bool yes, no;
	char words[] = "O'Brien\n";

	EXPECT_EQ(
		eddy_pg_query(
			&pool, &rows,
			"select $1::text, $2::text, $3::int, $4::bigint, $5::numeric, $6::float8, "
			"$7::bool, $8::bool, $9::text, $10::int, $11::smallint",
			EDDY_PG(eddy_str(words, 7), "ä", -5, INT64_MIN, UINT64_MAX, 0.1, true,
				(bool)false, no_text, NULL, (short)7)),
		0);
	EXPECT_EQ(rows.count, 1);
	EXPECT_EQ(eddy_pg_row(&rows, 0, EDDY_TO(&text), EDDY_TO(&other), EDDY_TO(&i), EDDY_TO(&i64),
			      EDDY_TO(&u64), EDDY_TO(&f), EDDY_TO(&yes), EDDY_TO(&no),
			      EDDY_TO(&nothing)),
		  0);
	EXPECT(is(text, "O'Brien") && is(other, "ä") && !nothing.ptr);
	EXPECT(i == -5 && i64 == INT64_MIN && u64 == UINT64_MAX && f == 0.1 && yes && !no);
	eddy_pg_rows_deinit(&rows);
	EXPECT_EQ(eddy_pg_query(&pool, &rows, "select 300, null::int", EDDY_PG()), 0);
	EXPECT_EQ(eddy_pg_row(&rows, 0, EDDY_TO(&i8)), -EDOM);
	EXPECT_EQ(eddy_pg_row(&rows, 0, EDDY_TO(&i), EDDY_TO(&i)), -EDOM);
	EXPECT_EQ(eddy_pg_row(&rows, 0, EDDY_TO(&i), EDDY_TO(&i), EDDY_TO(&i)), -EDOM);
	EXPECT_EQ(eddy_pg_row(&rows, 1, EDDY_TO(&i)), -EDOM);
	eddy_pg_rows_deinit(&rows);
	EXPECT_EQ(eddy_pg_query(&pool, &rows, "select $1::float8", EDDY_PG(1e308 * 10)), 0);
	EXPECT_EQ(eddy_pg_row(&rows, 0, EDDY_TO(&text)), 0);
	EXPECT(is(text, "Infinity"));
	EXPECT_EQ(eddy_pg_query(&pool, NULL, "select $1", EDDY_PG(eddy_str("a\0b", 3))), -EINVAL);
	eddy_pg_rows_deinit(&rows);
	EXPECT_EQ(eddy_pg_query(&pool, &rows, "", EDDY_PG()), 0);
	EXPECT_EQ(rows.count, 0);
	return 0;
}

enum role { READER, EDITOR };
struct user {
	struct eddy_str name;
	int age;
	enum role role;
	bool has_email;
	struct eddy_str email;
};

static const char *const roles[] = { "reader", "editor", NULL };

static const struct eddy_member user_members[] = {
	EDDY_MEMBER(struct user, name),
	EDDY_MEMBER(struct user, age, .range = { 0, 150 }),
	EDDY_MEMBER(struct user, role, .names = roles, .otherwise = "reader"),
	EDDY_MEMBER(struct user, email, .present = EDDY_PRESENT(struct user, has_email)),
};

static int show(struct eddy_pg *pg, int64_t id)
{
	EDDY_AUTO(eddy_pg_rows_deinit) struct eddy_pg_rows rows = { 0 };
	struct user user;
	int r = eddy_pg_one(pg, &rows, user_members, &user, "select * from users where id = $1",
			    EDDY_PG(id));

	if (r < 0)
		return r; /* no such user: -ENOENT; no connection in time: -EBUSY */
	printf("%.*s is %d\n", EDDY_FMT(user.name), user.age);
	return 0;
}

static int list(struct eddy_pg *pg, int age, enum role role)
{
	EDDY_AUTO(eddy_pg_rows_deinit) struct eddy_pg_rows rows = { 0 };
	struct eddy_str name;
	int64_t id;
	int r = eddy_pg_query(
		pg, &rows, "select id, name from users where age >= $1 and role = $2 order by id",
		EDDY_PG(age, roles[role]));

	for (size_t i = 0; r == 0 && i < rows.count; i++) {
		r = eddy_pg_row(&rows, i, EDDY_TO(&id), EDDY_TO(&name));
		if (r == 0)
			printf("%lld: %.*s\n", (long long)id, EDDY_FMT(name));
	}
	return r;
}

/* Both happen, or none. */
static int greet(struct eddy_pg *pg, int64_t from, int64_t to)
{
	const char *sql = "insert into greetings values ($1, $2)";
	struct eddy_pg_statement both[] = {
		{ .sql = sql, .params = EDDY_PG(from, to) },
		{ .sql = sql, .params = EDDY_PG(to, from) },
	};
	int r = eddy_pg_pipeline(pg, both, 2);

	for (int i = 0; r == 0 && i < 2; i++)
		eddy_pg_rows_deinit(&both[i].rows);
	return r;
}

static int birthday(struct eddy_pg *pg, int64_t id)
{
	EDDY_AUTO(eddy_pg_end) struct eddy_pg tx = { 0 }; /* rolls back, unless committed */
	int r = eddy_pg_begin(pg, "begin isolation level serializable", &tx);

	if (r == 0)
		r = eddy_pg_query(&tx, NULL, "update users set age = age + 1 where id = $1",
				  EDDY_PG(id));
	if (r == 0)
		r = show(&tx, id);
	return r == 0 ? eddy_pg_commit(&tx) : r; /* -EAGAIN: repeat it all */
}

static int watch(void *arg)
{
	EDDY_AUTO(eddy_chan_deinit) struct eddy_chan news = { 0 };
	struct eddy_pg_listener listener = { .pg = arg,
					     .channels = EDDY_LIST("greetings"),
					     .to = &news };
	struct eddy_pg_notification item;
	struct eddy_scope scope;
	int r = eddy_chan_init(&news, sizeof(item), 16);

	eddy_scope_begin(&scope, NULL);
	if (r == 0)
		r = eddy_scope_spawn(&scope, "listen", eddy_pg_listen, &listener);
	/* After each item without a channel, something may have been missed. */
	while (r == 0 && (r = eddy_chan_recv(&news, &item)) == 0)
		printf("%s %s\n", *item.channel ? item.channel : "connected", item.payload);
	eddy_scope_end(&scope);
	return r;
}

/* README.md of examples/pg shows these functions. */
static int shown(void)
{
	struct eddy_scope scope;

	EXPECT_EQ(
		run_sql(&pool,
			"create table users (id bigint primary key, name text, age int, role text, "
			"email text)"),
		0);
	EXPECT_EQ(run_sql(&pool, "create table greetings (a bigint references users, b bigint)"),
		  0);
	EXPECT_EQ(
		run_sql(&pool,
			"insert into users values (1, 'Ada', 36, 'editor'), (2, 'Bob', 7, 'reader')"),
		0);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "watch", watch, &pool);
	EXPECT_EQ(show(&pool, 3), -ENOENT);
	EXPECT_EQ(birthday(&pool, 1), 0);
	EXPECT_EQ(birthday(&pool, 3), -ENOENT);
	EXPECT_EQ(list(&pool, 18, EDITOR), 0);
	EXPECT_EQ(greet(&pool, 1, 2), 0);
	EXPECT_EQ(greet(&pool, 1, 3), -EINVAL);
	EXPECT_EQ(number(&pool, "select count(*) from greetings"), 2);
	EXPECT_EQ(eventually("select count(*) from pg_stat_activity where query like 'listen%'", 1),
		  0);
	EXPECT_EQ(run_sql(&pool, "notify greetings, 'all'"), 0);
	EXPECT_EQ(eddy_sleep(100 * EDDY_MS), 0);
	eddy_scope_end(&scope);
	return 0;
}

static int structs(void)
{
	ROWS rows = { 0 };
	struct user user;

	EXPECT_EQ(run_sql(&pool,
			  "create temp table people (name text, age int, role text, email text)"),
		  0);
	EXPECT_EQ(eddy_pg_query(&pool, &rows,
				"insert into people values ($1, $2, $3, $4), ($5, 4, null, '')",
				EDDY_PG("Ada", 36, "editor", NULL, "Bob")),
		  0);
	EXPECT_EQ(rows.affected, 2);
	eddy_pg_rows_deinit(&rows);
	EXPECT_EQ(eddy_pg_query(&pool, &rows, "select 1 as more, * from people order by name",
				EDDY_PG()),
		  0);
	EXPECT_EQ(rows.count, 2);
	EXPECT_EQ(eddy_pg_row_into(&rows, 0, user_members, &user), 0);
	EXPECT(is(user.name, "Ada") && user.age == 36 && user.role == EDITOR && !user.has_email);
	EXPECT_EQ(eddy_pg_row_into(&rows, 1, user_members, &user), 0);
	EXPECT(is(user.name, "Bob") && user.role == READER && user.has_email && !user.email.len);
	EXPECT_EQ(eddy_pg_row_into(&rows, 2, user_members, &user), -EDOM);
	eddy_pg_rows_deinit(&rows);
	EXPECT_EQ(eddy_pg_one(&pool, &rows, user_members, &user,
			      "select * from people where name = $1", EDDY_PG("Ada")),
		  0);
	EXPECT_EQ(user.age, 36);
	eddy_pg_rows_deinit(&rows);
	EXPECT_EQ(eddy_pg_one(&pool, &rows, user_members, &user,
			      "select * from people where age > $1", EDDY_PG(99)),
		  -ENOENT);
	eddy_pg_rows_deinit(&rows);
	EXPECT_EQ(eddy_pg_one(&pool, &rows, user_members, &user, "select 'x' as name, 200 as age",
			      EDDY_PG()),
		  -EDOM);
	EXPECT_EQ(eddy_pg_get(&pool, &rows, "select name, age from people where age > $1",
			      EDDY_PG(5), EDDY_TO(&user.name), EDDY_TO(&user.age)),
		  0);
	EXPECT(strcmp(user.name.ptr, "Ada") == 0 && user.age == 36);
	eddy_pg_rows_deinit(&rows);
	EXPECT_EQ(eddy_pg_get(&pool, &rows, "select name from people where age > 99", EDDY_PG(),
			      EDDY_TO(&user.name)),
		  -ENOENT);
	EXPECT_EQ(eddy_pg_get(&pool, &rows, "select name from people where age > $1", EDDY_PG(5),
			      EDDY_TO(&user.age)),
		  -EDOM);
	EXPECT(!rows.result);
	return 0;
}

/* Fails for the one of two that loses. */
static int update_both(void *arg)
{
	const char *const *sql = arg;
	EDDY_AUTO(eddy_pg_end) struct eddy_pg tx = { 0 };
	int r = eddy_pg_begin(&pool, NULL, &tx);

	if (r == 0)
		r = run_sql(&tx, sql[0]);
	if (r == 0)
		r = eddy_sleep(200 * EDDY_MS);
	if (r == 0)
		r = run_sql(&tx, sql[1]);
	return r == 0 ? eddy_pg_commit(&tx) : r;
}

static int errors(void)
{
	const char *there[] = { "update e set b = 2 where a = 1",
				"update e set b = 2 where a = 2" };
	const char *back[] = { there[1], there[0] };
	EDDY_AUTO(eddy_pg_end) struct eddy_pg tx = { 0 };
	struct eddy_scope scope;

	EXPECT_EQ(run_sql(&pool,
			  "create table e (a int primary key, b int not null check (b > 0))"),
		  0);
	EXPECT_EQ(run_sql(&pool, "insert into e values (1, 1), (2, 1)"), 0);
	EXPECT_EQ(run_sql(&pool, "insert into e values (1, 1)"), -EEXIST);
	EXPECT(strstr(eddy_pg_error(&pool), "e_pkey") && !strcmp(eddy_pg_sqlstate(&pool), "23505"));
	EXPECT_EQ(run_sql(&pool, "insert into e values (3, 0)"), -EINVAL);
	EXPECT_EQ(run_sql(&pool, "insert into e values (3, null)"), -EINVAL);
	EXPECT_EQ(eddy_pg_query(&pool, NULL, "select $1::int", EDDY_PG("x")), -EINVAL);
	EXPECT_EQ(run_sql(&pool, "selec"), -EIO);
	EXPECT(strstr(eddy_pg_error(&pool), "selec") && !strcmp(eddy_pg_sqlstate(&pool), "42601"));
	EXPECT_EQ(run_sql(&pool, "select 1; select 2"), -EIO);
	EXPECT_EQ(run_sql(&pool, "copy e to stdout"), -EIO);
	EXPECT_EQ(run_sql(&pool, "do $$ begin raise notice 'hello'; end $$"), 0);
	EXPECT_EQ(eddy_pg_begin(&pool, NULL, &tx), 0);
	EXPECT_EQ(run_sql(&tx, "select * from e for update"), 0);
	EXPECT_EQ(run_sql(&pool, "lock table e nowait"), -EIO); /* not in a transaction */
	EXPECT_EQ(run_sql(&pool, "select * from e for update nowait"), -EAGAIN);
	eddy_pg_end(&tx);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "there", update_both, there);
	eddy_scope_spawn(&scope, "back", update_both, back);
	eddy_scope_join(&scope);
	EXPECT_EQ(eddy_scope_end(&scope), -EAGAIN);
	EXPECT_EQ(number(&pool, "select sum(b) from e"), 4);
	return 0;
}

static int prepared(void)
{
	const char *kept = "select count(*) from pg_prepared_statements";
	char text[100];

	EXPECT_EQ(open_with((struct eddy_pg_options){ .connections_max = 1, .statements_max = 5 }),
		  0);
	EXPECT_EQ(run_sql(&pool, "create table p (a int)"), 0);
	for (int i = 0; i < 100; i++)
		EXPECT_EQ(eddy_pg_query(&pool, NULL, "insert into p values ($1)", EDDY_PG(i)), 0);
	EXPECT_EQ(number(&pool, kept), 3);
	for (int i = 0; i < 10; i++) {
		EXPECT_EQ(run_sql(&pool, "no statement"), -EIO);
		snprintf(text, sizeof(text), "select %d", i);
		EXPECT_EQ(number(&pool, text), i);
	}
	EXPECT_EQ(number(&pool, kept), 5);
	/* The plan of a kept statement does not fit the table any more. */
	EXPECT_EQ(open_with((struct eddy_pg_options){ .connections_max = 1 }), 0);
	EXPECT_EQ(number(&pool, "select * from p order by a desc limit 1"), 99);
	EXPECT_EQ(run_sql(&pool, "alter table p alter a type bigint"), 0);
	EXPECT_EQ(number(&pool, "select * from p order by a desc limit 1"), 99);
	EXPECT_EQ(number(&pool, kept), 2);
	EXPECT_EQ(open_with((struct eddy_pg_options){ .unprepared = true }), 0);
	EXPECT_EQ(number(&pool, kept), 0);
	return 0;
}

static int pipeline(void)
{
	struct eddy_pg_statement list[20];
	struct eddy_pg_value values[20];
	char *much = malloc(EDDY_MIB + 1);
	int64_t length;

	EXPECT_EQ(open_with((struct eddy_pg_options){ .connections_max = 1 }), 0);
	EXPECT_EQ(run_sql(&pool, "create table l (a int primary key)"), 0);
	for (int i = 0; i < 20; i++) {
		values[i] = EDDY_PG_VALUE(i);
		list[i] = (struct eddy_pg_statement){
			.sql = i % 2 ? "insert into l values ($1)" : "select $1::bigint + 1",
			.params = { &values[i], 1 },
		};
	}
	EXPECT_EQ(eddy_pg_pipeline(&pool, list, 20), 0);
	for (int i = 0; i < 20; i++) {
		if (i % 2)
			EXPECT_EQ(list[i].rows.affected, 1);
		else
			EXPECT_EQ(eddy_pg_row(&list[i].rows, 0, EDDY_TO(&length)), 0);
		EXPECT(i % 2 || length == i + 1);
		eddy_pg_rows_deinit(&list[i].rows);
	}
	/* One that fails takes all with it, and what was to be prepared behind it. */
	values[1] = EDDY_PG_VALUE(100);
	list[5].sql = "insert into l values ($1) on conflict (a) do nothing";
	EXPECT_EQ(eddy_pg_pipeline(&pool, list, 20), -EEXIST);
	EXPECT_EQ(number(&pool, "select count(*) from l"), 10);
	list[3].sql = list[5].sql;
	EXPECT_EQ(eddy_pg_pipeline(&pool, list, 6), 0);
	for (int i = 0; i < 6; i++)
		eddy_pg_rows_deinit(&list[i].rows);
	EXPECT_EQ(number(&pool, "select count(*) from l"), 11);
	/* More than the buffers of both sockets hold. */
	memset(much, 'x', EDDY_MIB);
	much[EDDY_MIB] = 0;
	for (int i = 0; i < 20; i++) {
		values[i] = EDDY_PG_VALUE(much);
		list[i].sql = "select length($1), $1::text";
	}
	EXPECT_EQ(eddy_pg_pipeline(&pool, list, 20), 0);
	for (int i = 0; i < 20; i++) {
		EXPECT_EQ(eddy_pg_row(&list[i].rows, 0, EDDY_TO(&length)), 0);
		EXPECT_EQ(length, EDDY_MIB);
		eddy_pg_rows_deinit(&list[i].rows);
	}
	free(much);
	return eddy_pg_pipeline(&pool, NULL, 0);
}

static int insert_and_wait(void *arg)
{
	EDDY_AUTO(eddy_pg_end) struct eddy_pg tx = { 0 };
	int r = eddy_pg_begin(&pool, NULL, &tx);

	if (r == 0)
		r = run_sql(&tx, "insert into t values (7)");
	return r == 0 && arg ? run_sql(&tx, "select pg_sleep(30)") :
	       r == 0        ? eddy_sleep(30 * EDDY_SECOND) :
			       r;
}

static int transactions(void)
{
	const char *count = "select count(*) from t";
	struct eddy_pg tx = { 0 };
	struct eddy_scope scope;
	int64_t pid;

	EXPECT_EQ(open_with((struct eddy_pg_options){ .connections_max = 2 }), 0);
	EXPECT_EQ(run_sql(&pool, "create table t (a int primary key)"), 0);
	eddy_pg_end(&tx);
	EXPECT_EQ(eddy_pg_begin(&pool, "begin isolation level serializable", &tx), 0);
	EXPECT_EQ(run_sql(&tx, "insert into t values (1)"), 0);
	EXPECT_EQ(number(&pool, count), 0);
	EXPECT_EQ(number(&tx, count), 1);
	EXPECT_EQ(eddy_pg_commit(&tx), 0);
	eddy_pg_end(&tx);
	EXPECT_EQ(number(&pool, count), 1);
	/* Left early. */
	EXPECT_EQ(eddy_pg_begin(&pool, NULL, &tx), 0);
	EXPECT_EQ(run_sql(&tx, "insert into t values (2)"), 0);
	pid = number(&tx, "select pg_backend_pid()");
	eddy_pg_end(&tx);
	EXPECT_EQ(number(&pool, "select pg_backend_pid()"), pid);
	/* A savepoint saves, and a failure is not committed. */
	EXPECT_EQ(eddy_pg_begin(&pool, NULL, &tx), 0);
	EXPECT_EQ(run_sql(&tx, "savepoint s"), 0);
	EXPECT_EQ(run_sql(&tx, "insert into t values (1)"), -EEXIST);
	EXPECT_EQ(eddy_pg_commit(&tx), -EEXIST);
	EXPECT_EQ(run_sql(&tx, "rollback to savepoint s"), 0);
	EXPECT_EQ(run_sql(&tx, "insert into t values (3)"), 0);
	EXPECT_EQ(eddy_pg_commit(&tx), 0);
	eddy_pg_end(&tx);
	EXPECT_EQ(number(&pool, count), 2);
	/* Cancelled, between queries and in one. */
	for (int i = 0; i < 2; i++) {
		eddy_scope_begin(&scope,
				 &(struct eddy_scope_options){ .timeout_ns = 200 * EDDY_MS });
		eddy_scope_spawn(&scope, "insert", insert_and_wait, i ? &scope : NULL);
		eddy_scope_join(&scope);
		EXPECT_EQ(eddy_scope_end(&scope), -ETIMEDOUT);
		EXPECT_EQ(number(&pool, count), 2);
		EXPECT_EQ(run_sql(&pool, "insert into t values (7)"), 0); /* not locked */
		EXPECT_EQ(run_sql(&pool, "delete from t where a = 7"), 0);
	}
	/* All connections are still there, and in no transaction. */
	EXPECT_EQ(eddy_pg_begin(&pool, NULL, &tx), 0);
	EXPECT_EQ(number(&pool, count), 2);
	EXPECT_EQ(
		number(&pool,
		       "select count(*) from pg_stat_activity where state = 'idle in transaction'"),
		1);
	eddy_pg_end(&tx);
	/* A transaction that is begun by hand keeps no connection. */
	EXPECT_EQ(run_sql(&pool, "begin"), 0);
	return eventually(
		"select count(*) from pg_stat_activity where state = 'idle in transaction'", 0);
}

static int next(struct eddy_chan *chan, const char *channel, const char *payload)
{
	struct eddy_pg_notification item;
	struct eddy_scope scope;
	int r;

	eddy_scope_begin(&scope, &(struct eddy_scope_options){ .timeout_ns = 5 * EDDY_SECOND });
	r = eddy_chan_recv(chan, &item);
	eddy_scope_end(&scope);
	EXPECT_EQ(r, 0);
	if (strcmp(item.channel, channel) || (payload && strcmp(item.payload, payload))) {
		fprintf(stderr, "notified of %s %s\n", item.channel, item.payload);
		return -1;
	}
	return 0;
}

static int listens(void)
{
	const char *const *channels = EDDY_LIST("news", "Odd \"name\"");
	const char *backend =
		"select count(pg_terminate_backend(pid)) from pg_stat_activity where query like 'listen%'";
	char much[8001] = "";
	EDDY_AUTO(eddy_chan_deinit) struct eddy_chan chan;
	struct eddy_pg_listener listener = { .pg = &pool, .channels = channels, .to = &chan };
	struct eddy_scope scope;

	EXPECT_EQ(eddy_chan_init(&chan, sizeof(struct eddy_pg_notification), 2), 0);
	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "listen", eddy_pg_listen, &listener);
	EXPECT_EQ(next(&chan, "", NULL), 0);
	EXPECT_EQ(eddy_pg_query(&pool, NULL, "select pg_notify($1, $2)", EDDY_PG("news", "one")),
		  0);
	EXPECT_EQ(run_sql(&pool, "notify \"Odd \"\"name\"\"\""), 0);
	EXPECT_EQ(next(&chan, "news", "one"), 0);
	EXPECT_EQ(next(&chan, "Odd \"name\"", ""), 0);
	memset(much, 'x', 7999);
	for (int i = 0; i < 10; i++)
		EXPECT_EQ(eddy_pg_query(&pool, NULL, "select pg_notify('news', $1 || $2)",
					EDDY_PG(i, much + 1)),
			  0);
	for (int i = 0; i < 10; i++) {
		much[0] = (char)('0' + i);
		EXPECT_EQ(next(&chan, "news", much), 0);
	}
	EXPECT_EQ(number(&pool, backend), 1);
	EXPECT_EQ(next(&chan, "", NULL), 0);
	EXPECT_EQ(run_sql(&pool, "notify news, 'two'"), 0);
	EXPECT_EQ(next(&chan, "news", "two"), 0);
	eddy_chan_close(&chan);
	EXPECT_EQ(run_sql(&pool, "notify news, 'three'"), 0);
	EXPECT_EQ(eddy_scope_join(&scope), 0);
	EXPECT_EQ(eddy_scope_end(&scope), -EPIPE);
	return 0;
}

static void keep(void *arg, const struct eddy_pg_notification *item)
{
	snprintf(arg, sizeof(item->channel), "%s", item->channel);
}

static int calls(void)
{
	char last[64] = "none";
	struct eddy_pg_listener listener = {
		.pg = &pool, .channels = EDDY_LIST("news"), .fn = keep, .arg = last
	};
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "listen", eddy_pg_listen, &listener);
	for (int i = 0; i < 500 && *last; i++)
		eddy_sleep(10 * EDDY_MS);
	EXPECT(!*last);
	EXPECT_EQ(run_sql(&pool, "notify news"), 0);
	for (int i = 0; i < 500 && !*last; i++)
		eddy_sleep(10 * EDDY_MS);
	eddy_scope_end(&scope);
	EXPECT(!strcmp(last, "news"));
	return 0;
}

static bool listener_ended;

static int listen_on(void *arg)
{
	int r = eddy_pg_listen(arg);

	listener_ended = !eddy_is_cancelled();
	return r;
}

/* Calls may fail, but none is cancelled without its scope, and the listener goes on. */
static int endures(void)
{
	char last[64] = "none";
	struct eddy_pg_listener listener = {
		.pg = &pool, .channels = EDDY_LIST("news"), .fn = keep, .arg = last
	};
	struct eddy_scope scope;

	eddy_scope_begin(&scope, NULL);
	eddy_scope_spawn(&scope, "listen", listen_on, &listener);
	for (int i = 0; i < 200; i++) {
		int r = run_sql(&pool, "notify news");

		EXPECT(r == 0 || (r != -ECANCELED && *eddy_pg_error(&pool)));
	}
	strcpy(last, "none");
	for (int i = 0; i < 500 && strcmp(last, "news"); i++) {
		(void)!run_sql(&pool, "notify news");
		eddy_sleep(10 * EDDY_MS);
	}
	eddy_scope_end(&scope);
	EXPECT(!listener_ended && !strcmp(last, "news"));
	return 0;
}

static int migrates(void)
{
	struct eddy_pg_migration list[] = {
		{ "1", "create table a (x int); insert into a values (1);" },
		{ "2", "create function f() returns int language sql as $$ select 5; $$;" },
		{ "3", "update a set x = f(); create table a (x int);" },
		{ 0 },
	};

	/* All, or none. */
	EXPECT_EQ(eddy_pg_migrate(conninfo, list), -EIO);
	EXPECT_EQ(number(&pool, "select count(*) from pg_tables where tablename = 'a'"), 0);
	list[2].sql = "update a set x = x + f();";
	EXPECT_EQ(eddy_pg_migrate(conninfo, list), 0);
	EXPECT_EQ(eddy_pg_migrate(conninfo, list), 0);
	EXPECT_EQ(number(&pool, "select x from a"), 6);
	EXPECT_EQ(number(&pool, "select count(*) from eddy_migrations"), 3);
	return 0;
}

static int sleeps(void *arg)
{
	(void)arg;
	return run_sql(&pool, "select pg_sleep(30)");
}

static const char *sleeping =
	"select count(*) from pg_stat_activity where state = 'active' and query = 'select pg_sleep(30)'";

/* Cancellation and deadlines reach the server; the connections are replaced. */
static int cancels(void)
{
	uint64_t began = eddy_now();
	struct eddy_scope scope;

	EXPECT_EQ(open_with((struct eddy_pg_options){ .connections_max = 4,
						      .query_ns = 500 * EDDY_MS }),
		  0);
	EXPECT_EQ(run_sql(&pool, "select pg_sleep(30)"), -ETIMEDOUT);
	EXPECT(eddy_now() - began < 2 * EDDY_SECOND);
	EXPECT_EQ(eventually(sleeping, 0), 0);
	EXPECT_EQ(run_sql(&pool, "set statement_timeout = 10"), 0);
	EXPECT_EQ(run_sql(&pool, "select pg_sleep(30)"), -ETIMEDOUT);
	EXPECT(!strcmp(eddy_pg_sqlstate(&pool), "57014"));
	EXPECT_EQ(open_with((struct eddy_pg_options){ .connections_max = 4 }), 0);
	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 3; i++)
		eddy_scope_spawn(&scope, "sleep", sleeps, NULL);
	EXPECT_EQ(eventually(sleeping, 3), 0);
	eddy_scope_cancel(&scope);
	EXPECT_EQ(eddy_pg_query(&pool, NULL, "select 1", EDDY_PG()), -ECANCELED);
	eddy_scope_end(&scope);
	EXPECT_EQ(eventually(sleeping, 0), 0);
	return 0;
}

static unsigned arrived[20], arrivals, ended[20], ends;

static int waits(void *arg)
{
	ROWS rows = { 0 };
	int r;

	arrived[arrivals++] = (unsigned)(uintptr_t)arg;
	r = eddy_pg_query(&pool, &rows, "select pg_sleep(0.02)", EDDY_PG());
	ended[ends++] = (unsigned)(uintptr_t)arg;
	return r;
}

/*
 * Takes the only connection of a new pool, whose calls wait for *WAIT_NS: longer, where connecting takes longer. Returns how
 * many of its calls have been refused meanwhile.
 */
static int take_only(uint64_t *wait_ns, struct eddy_pg *tx)
{
	int r = -EBUSY, refused = -1;

	for (; r == -EBUSY && *wait_ns < 30 * EDDY_SECOND; refused++) {
		if (refused >= 0)
			*wait_ns *= 4;
		EXPECT_EQ(open_with((struct eddy_pg_options){ .connections_max = 1,
							      .wait_ns = *wait_ns }),
			  0);
		r = eddy_pg_begin(&pool, NULL, tx);
	}
	return r < 0 ? r : refused;
}

static int full(void)
{
	struct eddy_scope scope;
	struct eddy_pg tx;
	uint64_t began, wait_ns = 500 * EDDY_MS;

	EXPECT_EQ(open_with((struct eddy_pg_options){ .connections_max = 1,
						      .wait_ns = 30 * EDDY_SECOND }),
		  0);
	eddy_scope_begin(&scope, NULL);
	for (uintptr_t i = 0; i < 20; i++)
		eddy_scope_spawn(&scope, "wait", waits, (void *)i);
	eddy_scope_join(&scope);
	EXPECT_EQ(eddy_scope_end(&scope), 0);
	for (unsigned i = 0; i < 20; i++)
		EXPECT_EQ(ended[i], arrived[i]);
	EXPECT(take_only(&wait_ns, &tx) >= 0);
	began = eddy_now();
	EXPECT_EQ(run_sql(&pool, "select 1"), -EBUSY);
	EXPECT(strstr(eddy_pg_error(&pool), "all 1 connections"));
	EXPECT(eddy_now() - began > wait_ns / 2 && eddy_now() - began < wait_ns + 2 * EDDY_SECOND);
	eddy_pg_end(&tx);
	EXPECT_EQ(run_sql(&pool, "select 1"), 0);
	/* Idle connections are closed by the next call. */
	EXPECT_EQ(open_with((struct eddy_pg_options){ .idle_ns = 50 * EDDY_MS }), 0);
	EXPECT_EQ(eddy_pg_begin(&pool, NULL, &tx), 0);
	EXPECT_EQ(run_sql(&pool, "select 1"), 0);
	EXPECT_EQ(eddy_sleep(100 * EDDY_MS), 0);
	eddy_pg_end(&tx);
	return eventually(
		"select count(*) from pg_stat_activity where backend_type = 'client backend'", 1);
}

static int metrics(void)
{
	struct eddy_scope scope;
	struct eddy_pg tx;
	uint64_t wait_ns = EDDY_SECOND;
	int refused = take_only(&wait_ns, &tx);
	char busy[64];

	EXPECT(refused >= 0);
	snprintf(busy, sizeof(busy), "eddy_pg_calls_total{outcome=\"busy\"} %d\n", refused + 1);
	EXPECT_EQ(run_sql(&pool, "select 1"), -EBUSY);
	EXPECT_EQ(run_sql(&tx, "select 1 / 0"), -EINVAL);
	EXPECT(counts("eddy_pg_calls_total{outcome=\"ok\"} 1\n"));
	EXPECT(counts("eddy_pg_calls_total{outcome=\"failed\"} 1\n"));
	EXPECT(counts(busy));
	EXPECT(counts("eddy_pg_wait_seconds_total ") && !counts("eddy_pg_wait_seconds_total 0"));
	eddy_pg_end(&tx);
	EXPECT(counts("eddy_pg_connections 1\n") && counts("eddy_pg_connections_used 0\n"));
	EXPECT_EQ(open_with((struct eddy_pg_options){ .connections_max = 1 }), 0);
	EXPECT(counts("eddy_pg_connections 0\n"));
	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 3; i++)
		eddy_scope_spawn(&scope, "sleep", sleeps, NULL);
	for (int i = 0; i < 400 && !counts("eddy_pg_connections_used 1\n"); i++)
		eddy_sleep(50 * EDDY_MS);
	EXPECT(counts("eddy_pg_waiting 2\n") && counts("eddy_pg_connections_used 1\n"));
	eddy_scope_cancel(&scope);
	eddy_scope_end(&scope);
	EXPECT(counts("eddy_pg_waiting 0\n") && counts("eddy_pg_connections_used 0\n"));
	EXPECT(counts("eddy_pg_connections 0\n"));
	return 0;
}

/* Connections that the server has closed are replaced before anything is sent. */
static int replaced(void)
{
	struct eddy_pg tx, other = pool;

	pool = (struct eddy_pg){ 0 };
	EXPECT_EQ(open_with((struct eddy_pg_options){ .connections_max = 3 }), 0);
	for (int i = 0; i < 5; i++) {
		EXPECT_EQ(eddy_pg_begin(&pool, NULL, &tx), 0);
		EXPECT_EQ(run_sql(&pool, "select 1"), 0);
		eddy_pg_end(&tx);
		EXPECT_EQ(
			run_sql(&other,
				"select pg_terminate_backend(pid, 1000) from pg_stat_activity where "
				"backend_type = 'client backend' and pid <> pg_backend_pid()"),
			0);
		EXPECT_EQ(run_sql(&pool, "select 1"), 0);
	}
	EXPECT_EQ(eddy_pg_begin(&pool, NULL, &tx), 0);
	EXPECT_EQ(run_sql(&other,
			  "select pg_terminate_backend(pid, 1000) from pg_stat_activity where "
			  "backend_type = 'client backend' and pid <> pg_backend_pid()"),
		  0);
	EXPECT_EQ(run_sql(&tx, "select 1"), -ECONNABORTED);
	EXPECT_EQ(run_sql(&tx, "select 1"), -ECONNABORTED);
	EXPECT_EQ(eddy_pg_commit(&tx), -ECONNABORTED);
	eddy_pg_end(&tx);
	eddy_pg_close(&other);
	/* Nothing that may have reached the server is repeated. */
	EXPECT_EQ(run_sql(&pool, "create sequence s"), 0);
	EXPECT_EQ(run_sql(&pool, "select nextval('s'), pg_terminate_backend(pg_backend_pid())"),
		  -ECONNABORTED);
	EXPECT_EQ(number(&pool, "select nextval('s')"), 2);
	return 0;
}

static int works(void *arg)
{
	unsigned *done = arg;

	for (int i = 0; i < 20; i++) {
		int r = run_sql(&pool, "select pg_sleep(0.01)");

		if (r < 0)
			return r;
		++*done;
	}
	return 0;
}

/* The server admits fewer connections than the pool wants. */
static int crowded(void)
{
	struct eddy_scope scope;
	unsigned done = 0;

	EXPECT_EQ(open_with((struct eddy_pg_options){ .connections_max = 30 }), 0);
	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 30; i++)
		eddy_scope_spawn(&scope, "work", works, &done);
	eddy_scope_join(&scope);
	EXPECT_EQ(eddy_scope_end(&scope), 0);
	EXPECT_EQ(done, 600);
	return 0;
}

/* Nothing answers: neither connecting nor asking passes its deadline. */
static int silent(void)
{
	uint64_t began = eddy_now();

	EXPECT_EQ(open_with((struct eddy_pg_options){ .wait_ns = 300 * EDDY_MS }), 0);
	EXPECT_EQ(run_sql(&pool, "select 1"), -EBUSY);
	EXPECT(strstr(eddy_pg_error(&pool), "does not answer"));
	EXPECT(eddy_now() - began < 2 * EDDY_SECOND);
	return 0;
}

/* Something passes the first bytes on, slowly, and then nothing any more. */
static int stalled(void)
{
	uint64_t began;
	int r = 0;

	EXPECT_EQ(open_with((struct eddy_pg_options){ .query_ns = EDDY_SECOND,
						      .wait_ns = EDDY_SECOND }),
		  0);
	while (r == 0) {
		began = eddy_now();
		r = run_sql(&pool, "select 1");
		EXPECT(eddy_now() - began < 4 * EDDY_SECOND);
	}
	EXPECT(r == -ETIMEDOUT || r == -EBUSY);
	return 0;
}

static int secure(void)
{
	EXPECT_EQ(number(&pool,
			 "select count(*) from pg_stat_ssl where pid = pg_backend_pid() and ssl"),
		  1);
	EXPECT_EQ(number(&pool, "select length(repeat('x', 1000000))"), 1000000);
	return 0;
}

static int large(void)
{
	ROWS rows = { 0 };

	for (int count = 200; count < 1000; count += 77) {
		EXPECT_EQ(eddy_pg_query(&pool, &rows,
					"select repeat('x', 100) from generate_series(1, $1::int)",
					EDDY_PG(count)),
			  0);
		EXPECT_EQ(rows.count, count);
		eddy_pg_rows_deinit(&rows);
	}
	return 0;
}

static int refused(void)
{
	/* A busy machine takes its time. */
	for (uint64_t wait_ns = 300 * EDDY_MS; wait_ns < 30 * EDDY_SECOND; wait_ns *= 5) {
		EXPECT_EQ(open_with((struct eddy_pg_options){ .wait_ns = wait_ns }), 0);
		EXPECT_EQ(run_sql(&pool, "select 1"), -EBUSY);
		if (!strstr(eddy_pg_error(&pool), "does not answer"))
			break;
	}
	printf("%s\n", eddy_pg_error(&pool));
	return 0;
}

static int malformed(void)
{
	conninfo = "no such=option";
	EXPECT_EQ(open_with((struct eddy_pg_options){ 0 }), -EINVAL);
	return 0;
}

static struct {
	unsigned ok, not_sent, unknown;
	uint64_t longest_ns;
	bool stop;
} load;

/* Count, in a table whose sum a lost or repeated update would change. */
static int count_up(struct eddy_req *req, struct eddy_res *res)
{
	ROWS rows = { 0 };
	int64_t value = 0;
	int r = eddy_pg_query(&pool, &rows, "update c set a = a + 1 returning 42", EDDY_PG());

	(void)req;
	if (r == 0)
		r = eddy_pg_row(&rows, 0, EDDY_TO(&value));
	if (r < 0) {
		__atomic_fetch_add(r == -EBUSY ? &load.not_sent : &load.unknown, 1,
				   __ATOMIC_RELAXED);
		return r;
	}
	__atomic_fetch_add(&load.ok, 1, __ATOMIC_RELAXED);
	return eddy_res_ok(res, "%d", (int)value);
}

static int requests(void *arg)
{
	struct eddy_app *app = arg;

	eddy_app_map_get(app, "/", count_up);
	while (!__atomic_load_n(&load.stop, __ATOMIC_RELAXED)) {
		uint64_t took_ns, began = eddy_now();
		struct eddy_response *response;
		struct eddy_str body;
		int status;

		EXPECT_EQ(eddy_app_test(app, "GET /", NULL, &response), 0);
		took_ns = eddy_now() - began;
		if (took_ns > __atomic_load_n(&load.longest_ns, __ATOMIC_RELAXED))
			__atomic_store_n(&load.longest_ns, took_ns, __ATOMIC_RELAXED);
		status = eddy_response_status(response);
		EXPECT_EQ(eddy_response_body(response, &body), 0);
		EXPECT(status == 503 || (status == 200 && is(body, "42")));
		eddy_response_free(response);
	}
	return 0;
}

static int load_loop(void *arg)
{
	struct eddy_app *apps[20];
	struct eddy_scope scope;

	(void)arg;
	eddy_scope_begin(&scope, NULL);
	for (int i = 0; i < 20; i++)
		eddy_scope_spawn(&scope, "requests", requests, apps[i] = eddy_app_new());
	eddy_sleep(3 * EDDY_SECOND);
	__atomic_store_n(&load.stop, true, __ATOMIC_RELAXED);
	eddy_scope_join(&scope);
	EXPECT_EQ(eddy_scope_end(&scope), 0);
	for (int i = 0; i < 20; i++)
		eddy_app_free(apps[i]);
	return 0;
}

/* test_pg.py kills and starts the server meanwhile. */
static int under_load(void)
{
	int64_t counted;

	EXPECT_EQ(open_with((struct eddy_pg_options){ .connections_max = 5,
						      .wait_ns = 2 * EDDY_SECOND,
						      .query_ns = 10 * EDDY_SECOND }),
		  0);
	EXPECT_EQ(run_sql(&pool, "create table c (a bigint)"), 0);
	EXPECT_EQ(run_sql(&pool, "insert into c values (0)"), 0);
	printf("begun\n");
	fflush(stdout);
	EXPECT_EQ(eddy_loops_run(&(struct eddy_loops_options){ .count = 2 }, load_loop, NULL), 0);
	counted = number(&pool, "select a from c");
	printf("%u ok, %u not sent, %u unknown, %lld counted\n", load.ok, load.not_sent,
	       load.unknown, (long long)counted);
	EXPECT(counted >= load.ok && counted <= load.ok + load.unknown);
	EXPECT(load.longest_ns < 12 * EDDY_SECOND);
	return 0;
}

static const struct pg_case cases[] = {
	{ "types", types },
	{ "structs", structs },
	{ "shown", shown },
	{ "errors", errors },
	{ "prepared", prepared },
	{ "pipeline", pipeline },
	{ "transactions", transactions },
	{ "listens", listens },
	{ "calls", calls },
	{ "endures", endures },
	{ "migrates", migrates },
	{ "cancels", cancels },
	{ "full", full },
	{ "metrics", metrics },
	{ "replaced", replaced },
	{ "crowded", crowded },
	{ "silent", silent },
	{ "stalled", stalled },
	{ "secure", secure },
	{ "large", large },
	{ "refused", refused },
	{ "malformed", malformed },
	{ "load", under_load },
	{ NULL, NULL },
};

int main(int argc, char **argv)
{
	return pg_main(argc, argv, cases);
}
