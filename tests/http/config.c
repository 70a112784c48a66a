/* Tests of http/src/config/config.h: files, and what is said about them. */
#include "config/config.h"

#include "../folder.h"
#include "said.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <eddy/http.h>
#include <eddy/runtime.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct eddy_app *app_new(const char *path)
{
	struct eddy_app *app = eddy_app_new();

	eddy_app_with_config(app, path);
	return app;
}

/* Return: what is said about the text, "" when it is right. */
static const char *read_text(struct eddy_app *app, const char *text)
{
	int r;

	said_begin();
	r = eddyi_config_read_text(app, eddy_str_from(text));
	said_end();
	cr_expect(eq(int, r, said[0] ? -EINVAL : 0));
	return said;
}

Test(config, replaces_what_the_builder_said)
{
	struct eddy_app *app = app_new("a.toml");

	cr_expect(eq(str,
		     (char *)read_text(app, "[server]\n"
					    "bind = 'localhost:1'\n"
					    "unix_mode = '0620'\n"
					    "trusted_proxies = ['10.0.0.0/8']\n"
					    "forwarded = 'forwarded'\n"
					    "forwarded_host = true\n"
					    "proxy_protocol = ['localhost:1']\n"
					    "proxy_header_max = 8192\n"
					    "workers = 3\n"
					    "request_line_max = 1_000\n"
					    "header_block_max = 2000\n"
					    "header_count_max = 7\n"
					    "body_max = 0x7fffffffffffffff\n"
					    "json_values_max = 13\n"
					    "file_max = 5\n"
					    "parts_max = 6\n"
					    "part_header_max = 9\n"
					    "field_max = 10\n"
					    "connections_max = 8\n"
					    "open_files_max = 11\n"
					    "io_workers_max = 12\n"
					    "open_files_valid_ms = 6\n"
					    "no_open_files = true\n"
					    "no_http2 = true\n"
					    "head_timeout_ms = 1\n"
					    "body_timeout_ms = 2\n"
					    "write_timeout_ms = 3\n"
					    "idle_timeout_ms = 4\n"
					    "connections_per_address_max = 13\n"
					    "body_memory_max = 16\n"
					    "body_rate_min = 0\n"
					    "write_rate_min = 14\n"
					    "rate_grace_ms = 15\n"
					    "drain_timeout_ms = 5\n"
					    "lame_duck_ms = 7\n"),
		     ""));
	cr_expect(eq(sz, app->address_count, 1));
	cr_expect(eq(str, (char *)app->addresses[0].text, "localhost:1"));
	cr_expect(eq(uint, app->options.unix_mode, 0620));
	cr_expect(eq(sz, app->trust.count, 1));
	cr_expect(not(app->trust.unix_sockets));
	cr_expect(eq(int, app->options.forwarded, EDDY_FORWARDED_RFC7239));
	cr_expect(app->options.forwarded_host);
	cr_expect(app->addresses[0].proxy_protocol);
	cr_expect(eq(sz, app->options.proxy_header_max, 8192));
	cr_expect(eq(uint, app->options.workers, 3));
	cr_expect(eq(sz, app->options.request_line_max, 1000));
	cr_expect(eq(sz, app->options.header_block_max, 2000));
	cr_expect(eq(uint, app->options.header_count_max, 7));
	cr_expect(eq(u64, app->options.body_max, INT64_MAX));
	cr_expect(eq(uint, app->options.json_values_max, 13));
	cr_expect(eq(u64, app->options.file_max, 5));
	cr_expect(eq(uint, app->options.parts_max, 6));
	cr_expect(eq(sz, app->options.part_header_max, 9));
	cr_expect(eq(u64, app->options.field_max, 10));
	cr_expect(eq(uint, app->options.connections_max, 8));
	cr_expect(eq(uint, app->options.open_files_max, 11));
	cr_expect(eq(uint, app->options.io_workers_max, 12));
	cr_expect(eq(u64, app->options.open_files_valid_ns, 6 * EDDY_MS));
	cr_expect(app->options.no_open_files);
	cr_expect(app->options.no_http2);
	cr_expect(eq(u64, app->options.head_timeout_ns, 1 * EDDY_MS));
	cr_expect(eq(u64, app->options.body_timeout_ns, 2 * EDDY_MS));
	cr_expect(eq(u64, app->options.write_timeout_ns, 3 * EDDY_MS));
	cr_expect(eq(u64, app->options.idle_timeout_ns, 4 * EDDY_MS));
	cr_expect(eq(u64, app->options.drain_timeout_ns, 5 * EDDY_MS));
	cr_expect(eq(uint, app->options.connections_per_address_max, 13));
	cr_expect(eq(u64, app->options.body_memory_max, 16));
	cr_expect(eq(u64, app->options.body_rate_min, 0));
	cr_expect(eq(u64, app->options.write_rate_min, 14));
	cr_expect(eq(u64, app->options.rate_grace_ns, 15 * EDDY_MS));
	cr_expect(eq(u64, app->options.lame_duck_ns, 7 * EDDY_MS));
	cr_expect(eq(sz, app->head_limits.request_line_max, 1000));
	cr_expect(eq(sz, app->head_limits.header_block_max, 2000));
	cr_expect(eq(uint, (unsigned)app->head_limits.header_count_max, 7));
	eddy_app_free(app);
}

#define ADDRESSES "an address such as \"localhost:7878\", or an array of 1 to 64 of them"
#define NETWORKS "an array of IP addresses, networks like \"10.0.0.0/8\", or \"unix\""
#define MODE "the mode of a file, like \"0660\""
#define A8 "'a:1','a:1','a:1','a:1','a:1','a:1','a:1','a:1',"
#define R8 "a:1,a:1,a:1,a:1,a:1,a:1,a:1,a:1,"
#define A32 A8 A8 A8 A8

struct addresses {
	const char *text;
	const char *
		want; /* each with a comma behind it; before it a minus for plain, a plus for the PROXY protocol */
};

static void check_addresses(const struct addresses *addresses)
{
	struct eddy_app *app = app_new("etc/a.toml");
	const struct eddy_bind_options plain = { .plain = true };
	char all[4096] = "";

	eddy_app_bind(app, "one:1");
	eddy_app_add_bind(app, "two:2", &plain);
	eddy_app_add_bind(app, "three:3", &(struct eddy_bind_options){ .proxy_protocol = true });
	cr_expect(eq(str, (char *)read_text(app, addresses->text), ""));
	for (size_t i = 0; i < app->address_count; i++)
		sprintf(all + strlen(all), "%s%s%s,", app->addresses[i].plain ? "-" : "",
			app->addresses[i].proxy_protocol ? "+" : "", app->addresses[i].text);
	cr_expect(eq(str, all, (char *)addresses->want));
	eddy_app_free(app);
}

Test(config, replaces_addresses_of_a_kind)
{
	static const struct addresses all[] = {
		{ "[server]\n", "one:1,-two:2,+three:3," },
		{ "[server]\nbind = 'x:1'\n", "x:1,-two:2," },
		{ "[server]\nbind = ['systemd', 'unix:y', '[::1]:0']\n",
		  "systemd,unix:y,[::1]:0,-two:2," },
		{ "[server]\nbind_plain = 'x:1'\n", "one:1,+three:3,-x:1," },
		{ "[server]\nbind_plain = ['systemd:x', 'unix:@y']\n",
		  "one:1,+three:3,-systemd:x,-unix:@y," },
		{ "[server]\nbind_plain = []\n", "one:1,+three:3," },
		{ "[server]\nbind = 'x:1'\nbind_plain = 'x:1'\n", "x:1,-x:1," },
		{ "[server]\nproxy_protocol = []\n", "one:1,-two:2,three:3," },
		{ "[server]\nproxy_protocol = 'two:2'\n", "one:1,-+two:2,three:3," },
		{ "[server]\nproxy_protocol = ['x:1', 'y:2']\nbind = ['x:1', 'z:3', 'y:2']\n",
		  "+x:1,z:3,+y:2,-two:2," },
		{ "[server]\nbind = 'x:1'\nbind_plain = 'x:1'\nproxy_protocol = 'x:1'\n",
		  "+x:1,-+x:1," },
		{ "[server]\nbind = [" A8 A8 A8 A8 "]\nbind_plain = []\n", R8 R8 R8 R8 },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		check_addresses(&all[i]);
}

Test(config, leaves_alone_what_it_does_not_say)
{
	static const char *const texts[] = { "", "\n# nothing\n", "[server]\n", "server = {}\n",
					     "\xef\xbb\xbf[server]\r\nparts_max = 64\r\n" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct eddy_app *app = app_new("a.toml");

		eddy_app_bind(app, "localhost:2");
		eddy_app_with_server(app, &(struct eddy_server_options){
						  .body_max = 9,
						  .trusted_proxies =
							  (const char *const[]){ "unix", NULL },
						  .unix_mode = 0600,
					  });
		cr_expect(eq(str, (char *)read_text(app, texts[i]), ""));
		cr_expect(eq(str, (char *)app->addresses[0].text, "localhost:2"));
		cr_expect(eq(u64, app->options.body_max, 9));
		cr_expect(app->trust.unix_sockets);
		cr_expect(eq(uint, app->options.unix_mode, 0600));
		cr_expect(eq(uint, app->options.parts_max, 64));
		eddy_app_free(app);
	}
}

#define ALL_KEYS                                                                                                                                                                                                                           \
	"bind, bind_plain, proxy_protocol, unix_mode, trusted_proxies, forwarded, forwarded_host, proxy_header_max, workers, request_line_max, header_block_max, header_count_max, body_max, json_values_max, body_memory_max, file_max, " \
	"parts_max, part_header_max, field_max, connections_max, connections_per_address_max, open_files_max, io_workers_max, open_files_valid_ms, no_open_files, no_http2, head_timeout_ms, "                                             \
	"body_timeout_ms, write_timeout_ms, idle_timeout_ms, body_rate_min, write_rate_min, rate_grace_ms, drain_timeout_ms, lame_duck_ms"

static const struct {
	const char *text, *said;
} wrong[] = {
	{ "[server]\nproxy_protocol = 'x:1'\n",
	  "a.toml:1: [server] proxy_protocol: expected addresses at which the app listens\n" },
	{ "[server]\nworkers = 0\n",
	  "a.toml:2: [server] workers: expected an integer from 1 to 1024, not 0\n" },
	{ "[server]\nworkers = -1\n",
	  "a.toml:2: [server] workers: expected an integer from 1 to 1024, not -1\n" },
	{ "[server]\nworkers = 1000000000\n",
	  "a.toml:2: [server] workers: expected an integer from 1 to 1024, not 1000000000\n" },
	{ "[server]\n\nworkers = '4'\n",
	  "a.toml:3: [server] workers: expected an integer from 1 to 1024, not the string \"4\"\n" },
	{ "[server]\nbody_max = 1e9\n",
	  "a.toml:2: [server] body_max: expected an integer of at least 1, not the float 1e+09\n" },
	{ "[server]\nbody_max = true\n",
	  "a.toml:2: [server] body_max: expected an integer of at least 1, not true\n" },
	{ "[server]\nbody_max = 1979-05-27T07:32:00Z\n",
	  "a.toml:2: [server] body_max: expected an integer of at least 1, not the time "
	  "1979-05-27T07:32:00Z\n" },
	{ "[server]\nbody_max = [1]\n",
	  "a.toml:2: [server] body_max: expected an integer of at least 1, not an array\n" },
	{ "[server]\nbody_max.x = 1\n",
	  "a.toml:2: [server] body_max: expected an integer of at least 1, not a table\n" },
	{ "[server]\nidle_timeout_ms = 31536000001\n",
	  "a.toml:2: [server] idle_timeout_ms: expected an integer from 1 to 31536000000 "
	  "(milliseconds), not 31536000001\n" },
	{ "[server]\nbind = ''\n",
	  "a.toml:2: [server] bind: expected " ADDRESSES ", not the string \"\"\n" },
	{ "[server]\nbind = \"a\\u0000b:1\"\n",
	  "a.toml:2: [server] bind: expected " ADDRESSES ", not a string with a NUL byte\n" },
	{ "[server]\nbind = []\n",
	  "a.toml:2: [server] bind: expected " ADDRESSES ", not an empty array\n" },
	{ "[server]\nbind = [\n 'localhost:1',\n 'localhost',\n]\n",
	  "a.toml:4: [server] bind: expected " ADDRESSES ", not the string \"localhost\"\n" },
	{ "[server]\nbind = [\n 'localhost:1',\n 8080]\n",
	  "a.toml:4: [server] bind: expected " ADDRESSES ", not 8080\n" },
	{ "[server]\nbind_plain = 'system'\n",
	  "a.toml:2: [server] bind_plain: expected an address such as \"localhost:7878\", or an array of "
	  "at most 64 of them, not the string \"system\"\n" },
	{ "[server]\nbind = [" A32 A32 "]\nbind_plain = 'localhost:2'\n",
	  "a.toml:1: [server] bind, bind_plain: expected at most 64 addresses together\n" },
	{ "[server]\nbind = [" A32 A32 "'localhost:2']\n",
	  "a.toml:2: [server] bind: expected " ADDRESSES ", not an array\n" },
	{ "[server]\ntrusted_proxies = [\n'10.0.0.0/8',\n'10.0.0.1/8']\n",
	  "a.toml:4: [server] trusted_proxies: expected " NETWORKS ", not the string "
	  "\"10.0.0.1/8\"\n" },
	{ "[server]\ntrusted_proxies = 'unix'\n",
	  "a.toml:2: [server] trusted_proxies: expected " NETWORKS ", not the string \"unix\"\n" },
	{ "[server]\nforwarded = 'any'\n",
	  "a.toml:2: [server] forwarded: expected \"none\", \"x-forwarded-for\" or \"forwarded\", not the "
	  "string \"any\"\n" },
	{ "[server]\nforwarded_host = 1\n",
	  "a.toml:2: [server] forwarded_host: expected true or false, not 1\n" },
	{ "[server]\nunix_mode = 0o660\n",
	  "a.toml:2: [server] unix_mode: expected " MODE ", not 432\n" },
	{ "[server]\nunix_mode = '0888'\n",
	  "a.toml:2: [server] unix_mode: expected " MODE ", not the string \"0888\"\n" },
	{ "[server]\nunix_mode = '1777'\n",
	  "a.toml:2: [server] unix_mode: expected " MODE ", not the string \"1777\"\n" },
	{ "[server]\nunix_mode = '00660'\n",
	  "a.toml:2: [server] unix_mode: expected " MODE ", not the string \"00660\"\n" },
	{ "[server]\nunix_mode = '0'\n",
	  "a.toml:2: [server] unix_mode: expected " MODE ", not the string \"0\"\n" },
	{ "[server]\nunix_mode = ''\n",
	  "a.toml:2: [server] unix_mode: expected " MODE ", not the string \"\"\n" },
	{ "[server]\nbdy_max = 1\n",
	  "a.toml:2: [server] unknown key \"bdy_max\"; did you mean \"body_max\"?\n" },
	{ "[server]\nBIND = 'x'\n",
	  "a.toml:2: [server] unknown key \"BIND\"; expected one of: " ALL_KEYS "\n" },
	{ "\nbind = 'x'\n", "a.toml:2: bind is outside any section\n" },
	{ "list = [1]\n", "a.toml:1: list is outside any section\n" },
	{ "server = 3\n", "a.toml:1: [server]: expected a section, not 3\n" },
	{ "[[server]]\n", "a.toml:1: [server]: expected a section, not an array\n" },
	{ "oauth = true\n", "a.toml:1: [oauth]: expected a section, not true\n" },
	{ "[sever]\n", "a.toml:1: unknown section [sever]; did you mean [server]?\n" },
	{ "[[lists]]\n",
	  "a.toml:1: unknown section [lists]; expected one of: server, runtime, transfer\n" },
	{ "[\"server.x\"]\n",
	  "a.toml:1: unknown section [\"server.x\"]; expected one of: server, runtime, transfer\n" },
	{ "[compresion]\n",
	  "a.toml:1: unknown section [compresion]; did you mean [compression]?\n" },
	{ "[compression]\nx = 1\n",
	  "a.toml:1: [compression] requires the program to call eddy_app_use_compression() "
	  "or eddy_compress_config()\n" },
	{ "[bearer]\n",
	  "a.toml:1: [bearer] requires the program to call eddy_app_with_bearer_auth(), "
	  "eddy_app_authorize() or eddy_auth_config()\n" },
	{ "[baerer]\n", "a.toml:1: unknown section [baerer]; did you mean [bearer]?\n" },
	{ "[oauth.client]\n",
	  "a.toml:1: [oauth.client] requires the program to call eddy_app_with_oauth(), "
	  "eddy_app_use_oauth() or eddy_auth_config()\n" },
	{ "[oauth]\nissuer = 'x'\n", "a.toml:2: oauth.issuer is outside any section\n" },
	{ "[oauth.clients]\n",
	  "a.toml:1: unknown section [oauth.clients]; did you mean [oauth.client]?\n" },
	{ "[transfer]\ntechnique = 'recv-write'\n",
	  "a.toml:2: [transfer] technique: expected \"auto\", \"splice\", \"ring-splice\", "
	  "\"sendfile\", \"read-send\", \"mmap\", \"send-zc\" or \"dontcache\", not the string \"recv-write\"\n" },
	{ "[transfer]\ntechnique_in = 'mmap'\n",
	  "a.toml:2: [transfer] technique_in: expected \"auto\", \"splice\", \"ring-splice\" or "
	  "\"recv-write\", not the string \"mmap\"\n" },
	{ "[transfer]\nturn_max = 1_048_577\n",
	  "a.toml:2: [transfer] turn_max: expected an integer from 4096 to 1048576, not 1048577\n" },
	/* All of them, in the order of lines. */
	{ "x = 1\n[server]\nworkers = 0\nbind = 3\nbogus = 1\n[y]\n",
	  "a.toml:1: x is outside any section\n"
	  "a.toml:3: [server] workers: expected an integer from 1 to 1024, not 0\n"
	  "a.toml:4: [server] bind: expected " ADDRESSES ", not 3\n"
	  "a.toml:5: [server] unknown key \"bogus\"; expected one of: " ALL_KEYS "\n"
	  "a.toml:6: unknown section [y]; expected one of: server, runtime, transfer\n" },
};

Test(config, says_what_is_wrong)
{
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct eddy_app *app = app_new("a.toml");

		cr_expect(eq(str, (char *)read_text(app, wrong[i].text), (char *)wrong[i].said));
		eddy_app_free(app);
	}
}

/* What the parser says is its own affair; where is ours. */
static const struct {
	const char *text, *begins;
} broken[] = {
	{ "[server]\nbind = \n", "a.toml:2:8: not TOML: " },
	{ "[server\n", "a.toml:1:8: not TOML: " },
	{ "[server]\n[server]\n", "a.toml:2:" },
	{ "[server]\nworkers = 1\nworkers = 2\n", "a.toml:3:" },
	{ "[server]\nworkers = 99999999999999999999\n", "a.toml:2:" },
	{ "[server]\nworkers = 1979-02-30\n", "a.toml:2:" },
	{ "[server]\nbind = 'a\xff'\n", "a.toml:2:" },
	{ "[server]\nbind = 'a\x01'\n", "a.toml:2:" },
	{ "\n\nx = [[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]\n",
	  "a.toml:3: not TOML: tables and arrays are nested deeper than 16 levels\n" },
};

Test(config, says_where_it_is_no_toml)
{
	struct eddy_app *app = app_new("a.toml");

	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		read_text(app, broken[i].text);
		said[strlen(broken[i].begins)] = '\0';
		cr_expect(eq(str, said, (char *)broken[i].begins));
	}
	said_begin();
	cr_expect(eq(int, eddyi_config_read_text(app, EDDY_STR("[server]\n\0x = 1")), -EINVAL));
	said_end();
	cr_expect(ne(chr, said[0], '\0'));
	eddy_app_free(app);
}

Test(config, tells_a_hundred_mistakes_at_most)
{
	struct eddy_app *app = app_new("a.toml");
	char text[4096] = "";
	unsigned lines = 0;

	for (int i = 0; i < 250; i++)
		sprintf(text + strlen(text), "k%d = 1\n", i);
	read_text(app, text);
	for (const char *at = said; (at = strchr(at, '\n')); at++)
		lines++;
	cr_expect(eq(uint, lines, 101));
	cr_expect(ne(ptr, strstr(said, "\na.toml: 150 more errors\n"), NULL));
	eddy_app_free(app);
}

/* ---- files ---- */

struct run {
	struct eddy_app *app;
	int result;
};

static int run_app(void *arg)
{
	struct run *run = arg;

	run->result = eddy_app_run(run->app);
	return 0;
}

/* Return: what a start with this file gives; it ends at once when it succeeds. */
static int run_with(const char *path)
{
	struct run run = { .app = app_new(path) };

	eddy_app_bind(run.app, "127.0.0.1:0");
	eddy_app_shutdown(run.app);
	said_begin();
	cr_assert(eq(int, eddy_run(NULL, run_app, &run), 0));
	said_end();
	eddy_app_free(run.app);
	return run.result;
}

static void write_file(const char *name, const char *text, size_t len)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	cr_assert(eq(sz, (size_t)write(fd, text, len), len));
	close(fd);
}

static void enter_folder(void)
{
	make_folder();
	cr_assert(eq(int, chdir(folder), 0));
}

Test(config, is_read_when_the_app_runs, .init = enter_folder, .fini = remove_folder)
{
	static const char good[] = "[server]\nworkers = 2\n", bad[] = "[server]\nworkers = 'x'\n";

	write_file("a.toml", good, strlen(good));
	cr_expect(eq(int, run_with("a.toml"), 0));
	cr_expect(eq(str, said, ""));
	write_file("a.toml", bad, strlen(bad));
	cr_expect(eq(int, run_with("a.toml"), -EINVAL));
	cr_expect(
		eq(str, said,
		   "a.toml:2: [server] workers: expected an integer from 1 to 1024, not the string "
		   "\"x\"\n"));
}

Test(config, is_a_regular_file_of_bounded_size, .init = enter_folder, .fini = remove_folder,
     .timeout = 10)
{
	char *big = calloc(1, EDDYI_CONFIG_FILE_MAX + 1);

	cr_expect(eq(int, run_with("none.toml"), -ENOENT));
	cr_expect(
		eq(str, said,
		   "can't read the configuration file \"none.toml\": No such file or directory\n"));
	cr_assert(eq(int, mkfifo("fifo", 0600), 0));
	cr_expect(lt(int, run_with("fifo"), 0));
	cr_expect(eq(str, said,
		     "can't read the configuration file \"fifo\": expected a regular file\n"));
	cr_expect(lt(int, run_with("."), 0));
	cr_expect(eq(str, said,
		     "can't read the configuration file \".\": expected a regular file\n"));
	cr_expect(lt(int, run_with("/dev/zero"), 0));
	cr_expect(eq(str, said,
		     "can't read the configuration file \"/dev/zero\": expected a regular file\n"));

	memset(big, '#', EDDYI_CONFIG_FILE_MAX + 1);
	write_file("big", big, EDDYI_CONFIG_FILE_MAX);
	cr_expect(eq(int, run_with("big"), 0));
	write_file("big", big, EDDYI_CONFIG_FILE_MAX + 1);
	cr_expect(eq(int, run_with("big"), -EFBIG));
	cr_expect(eq(str, said,
		     "can't read the configuration file \"big\": expected at most 1 MiB\n"));
	free(big);
}

static int look_at_workers(struct eddy_app *app, void *data)
{
	*(unsigned *)data = app->options.workers;
	return 0;
}

/* What is done at the start sees what the file says, and is not done when that is wrong. */
Test(config, is_read_before_the_start, .init = enter_folder, .fini = remove_folder)
{
	static const char good[] = "[server]\nworkers = 2\n", bad[] = "[server]\nworkers = 0\n";
	struct run run = { .app = app_new("a.toml") };
	unsigned workers = 7;

	eddy_app_bind(run.app, "127.0.0.1:0");
	eddy_app_at_start(run.app, look_at_workers, &workers);
	write_file("a.toml", bad, strlen(bad));
	cr_assert(eq(int, eddy_run(NULL, run_app, &run), 0));
	cr_expect(eq(int, run.result, -EINVAL));
	cr_expect(eq(uint, workers, 7));
	write_file("a.toml", good, strlen(good));
	eddy_app_shutdown(run.app);
	cr_assert(eq(int, eddy_run(NULL, run_app, &run), 0));
	cr_expect(eq(int, run.result, 0));
	cr_expect(eq(uint, workers, 2));
	eddy_app_free(run.app);
}

/* The program says how many workers it bears, and the file is held to it. */
Test(config, has_no_more_workers_than_the_program_bears, .init = enter_folder,
     .fini = remove_folder)
{
	static const char two[] = "[server]\n\nworkers = 2\n";
	struct run run = { .app = app_new("a.toml") };
	struct eddy_app *app = run.app;

	eddy_app_with_server(app, &(struct eddy_server_options){ .workers_max = 3 });
	cr_expect(eq(str, (char *)read_text(app, "[server]\nworkers = 3\n"), ""));
	cr_expect(eq(uint, app->options.workers, 3));
	cr_expect(eq(str, (char *)read_text(app, "[server]\nworkers = 4\n"),
		     "a.toml:2: [server] workers: expected an integer from 1 to 3, not 4\n"));
	eddy_app_with_server(app, &(struct eddy_server_options){ .workers_max = 1 });
	cr_expect(eq(str, (char *)read_text(app, "[server]\nworkers = 1\n"), ""));
	write_file("a.toml", two, strlen(two));
	said_begin();
	cr_assert(eq(int, eddy_run(NULL, run_app, &run), 0));
	said_end();
	cr_expect(eq(int, run.result, -EINVAL));
	cr_expect(eq(str, said, "a.toml:3: [server] workers: expected 1, not 2\n"));
	eddy_app_free(app);
}

static const char *said_of_workers(unsigned workers, unsigned workers_max)
{
	struct run run = { .app = eddy_app_new() };

	eddy_app_bind(run.app, "127.0.0.1:0");
	eddy_app_with_server(run.app, &(struct eddy_server_options){ .workers = workers,
								     .workers_max = workers_max });
	eddy_app_shutdown(run.app);
	said_begin();
	cr_assert(eq(int, eddy_run(NULL, run_app, &run), 0));
	said_end();
	cr_expect(eq(int, run.result, said[0] ? -EINVAL : 0));
	eddy_app_free(run.app);
	return said;
}

/* Neither does the program itself ask for more. */
Test(config, holds_the_program_to_the_workers_that_it_bears)
{
	cr_expect(eq(str, (char *)said_of_workers(2, 1), "2 workers are too many: at most 1\n"));
	cr_expect(eq(str, (char *)said_of_workers(1025, 0),
		     "1025 workers are too many: at most 1024\n"));
	cr_expect(eq(str, (char *)said_of_workers(1025, 2000),
		     "1025 workers are too many: at most 1024\n"));
	cr_expect(eq(str, (char *)said_of_workers(2, 2), ""));
}

/* Mistakes of the program and those of the file are told together. */
Test(config, is_told_with_the_mistakes_of_the_builder, .init = enter_folder, .fini = remove_folder)
{
	struct run run = { .app = app_new("a.toml") };

	write_file("a.toml", "x = 1\n", 6);
	eddy_app_map_get(run.app, "no slash", NULL);
	said_begin();
	cr_assert(eq(int, eddy_run(NULL, run_app, &run), 0));
	said_end();
	cr_expect(eq(int, run.result, -EINVAL));
	cr_expect(ne(ptr, strstr(said, "no slash"), NULL));
	cr_expect(ne(ptr, strstr(said, "a.toml:1: x is outside any section\n"), NULL));
	eddy_app_free(run.app);
}

/* ---- docs/config.md ---- */

static void default_of(const struct eddy_app *app, const struct eddy_config_key *key, char *buf)
{
	const char *member = (const char *)app + key->offset;
	uint64_t number = 0;

	if (key->type == EDDY_CONFIG_STRINGS) {
		strcpy(buf, strcmp(key->name, "bind") == 0 ? "`localhost:7878`" : "none");
		return;
	}
	memcpy(&number, member, key->size);
	if (key->type == EDDY_CONFIG_BOOL || key->type == EDDY_CONFIG_WORD) {
		cr_assert(eq(u64, number, 0));
		sprintf(buf, key->words ? "\"%s\"" : "false", key->words ? key->words[0] : "");
		return;
	}
	if (key->type == EDDY_CONFIG_MODE) {
		cr_assert(eq(u64, number, 0));
		strcpy(buf, "by umask(2)");
		return;
	}
	if (key->type == EDDY_CONFIG_MS)
		number /= EDDY_MS;
	/* A time that has no least value may be none. */
	if (number || (key->type == EDDY_CONFIG_MS && !key->min))
		sprintf(buf, "%ju", (uintmax_t)number);
	else if (strcmp(key->name, "io_workers_max") == 0)
		strcpy(buf, "the loop's, 8");
	else if (strcmp(key->name, "connections_per_address_max") == 0)
		strcpy(buf, "none");
	else if (strcmp(key->name, "body_memory_max") == 0)
		strcpy(buf, "a quarter of the memory");
	else
		strcpy(buf, "by RLIMIT_NOFILE");
}

Test(config, has_every_key_in_its_document)
{
	struct eddy_app *app = eddy_app_new();
	static char document[64 * 1024];
	FILE *file = fopen(EDDY_DOCS "/config.md", "re");

	cr_assert(ne(ptr, file, NULL));
	cr_assert(gt(sz, fread(document, 1, sizeof(document) - 1, file), 0));
	fclose(file);
	for (const struct eddy_config_key *key = eddyi_config_server.keys; key->name; key++) {
		char expected[EDDYI_EXPECTED_SIZE], value[64], row[512];

		default_of(app, key, value);
		sprintf(row, "\n| `%s` | %s | %s | ", key->name,
			eddyi_config_key_expected(key, app, expected), value);
		cr_expect(ne(ptr, strstr(document, row), NULL), "docs/config.md lacks:%s", row);
	}
	eddy_app_free(app);
}

/* What the file says of transfers is as good as what the program says, and wins over it. */
Test(config, describes_transfers)
{
	const struct eddy_transfer_options options = { .technique = EDDY_TECHNIQUE_MMAP,
						       .pipes_kept = 3 };
	struct eddy_app *app = app_new("a.toml");

	cr_expect_str_empty(read_text(app, "[server]\n"));
	cr_expect(not(app->has_transfer));
	cr_expect_str_empty(
		read_text(app, "[transfer]\ntechnique_in = 'recv-write'\nslow_write_ms = 7\n"));
	cr_expect(app->has_transfer);
	cr_expect_eq(app->transfer.technique, EDDY_TECHNIQUE_AUTO);
	cr_expect_eq(app->transfer.technique_in, EDDY_TECHNIQUE_RECV_WRITE);
	cr_expect_eq(app->transfer.slow_write_ns, 7 * EDDY_MS);
	eddy_app_with_server(app, &(struct eddy_server_options){ .transfer = &options });
	cr_expect_str_empty(read_text(app, "[transfer]\ntechnique = 'sendfile'\n"));
	cr_expect_eq(app->transfer.technique, EDDY_TECHNIQUE_SENDFILE);
	cr_expect_eq(app->transfer.pipes_kept, 3);
	eddy_app_free(app);
}
