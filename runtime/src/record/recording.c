/* The recording or replay of this process: it begins before main(), and ends with the process. */
#include "recording.h"

#include "redirect.h"
#include "watch.h"

#include "config.h"
#include "base/panic.h"
#include "base/thread.h"

#include <eddy/internal/panic.h>
#include "core/recorded.h"
#include <eddy/log.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <time.h>
#include <unistd.h>
#if EDDYI_HAVE_VALGRIND
#include <valgrind/valgrind.h>
#endif

#define CHUNKS_MAX 256 /* that are not written yet */
#define FLUSH_NS (100 * EDDY_MS)
#define LAST_MS 1000
#define FD_MIN 900
/* Tells the program that a replay has executed it. */
#define IS_EXECUTED "EDDY_REPLAY_EXECUTED"

__thread struct eddyi_track *eddyi_track;
bool eddyi_replays;
atomic_bool eddyi_recording_stops;

extern char **environ;

static struct {
	const char *path;
	char **argv;
	struct eddyi_recording read; /* of a replay */
	bool has_timeline;

	/* Of a recording. */
	int fd;
	uint64_t size, size_max; /* of the file */
	pthread_t thread;
	sem_t wanted;
	atomic_uint chunks;  /* that are full */
	atomic_bool ending;  /* the writer leaves the file to who set it */
	atomic_bool writing; /* a block is being written */
	volatile bool crashes;
	atomic_flag ended;
} ours = { .fd = -1, .ended = ATOMIC_FLAG_INIT };

/* Write a line to stderr. */
static EDDY_PRINTF(1, 2) void say(const char *format, ...)
{
	char text[1200];
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(text, sizeof(text) - 1, format, args);
	va_end(args);
	if (len > (int)sizeof(text) - 2)
		len = (int)sizeof(text) - 2;
	text[len++] = '\n';
	if (write(STDERR_FILENO, text, (size_t)len) < 0)
		return;
}

static _Noreturn EDDY_PRINTF(2, 3) void refuse(int status, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	say("eddy: %s", text);
	_exit(status);
}

/* ---- the program ---- */

/* Add the build IDs of the program and of eddy's libraries. */
static int add_build(struct dl_phdr_info *info, size_t size, void *arg)
{
	uint64_t *build = arg;

	(void)size;
	if (*info->dlpi_name && !strstr(info->dlpi_name, "libeddy"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		const char *at = (const char *)info->dlpi_addr + part->p_vaddr;
		const char *end = at + part->p_memsz;

		if (part->p_type != PT_NOTE)
			continue;
		while ((size_t)(end - at) > sizeof(ElfW(Nhdr))) {
			const ElfW(Nhdr) *note = (const void *)at;
			size_t name = (note->n_namesz + 3U) & ~3U;

			if (note->n_type == NT_GNU_BUILD_ID)
				*build += eddyi_digest(at + sizeof(*note) + name, note->n_descsz);
			at += sizeof(*note) + name + ((note->n_descsz + 3U) & ~3U);
		}
	}
	return 0;
}

static uint64_t find_build(void)
{
	uint64_t build = 0;

	dl_iterate_phdr(add_build, &build);
	return build;
}

static const char *find_program(void)
{
	static char path[4096];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[len > 0 ? len : 0] = 0;
	return path;
}

static size_t count(char *const *list)
{
	size_t n = 0;

	while (list[n])
		n++;
	return n;
}

/* ---- writing ---- */

struct eddyi_chunk *eddyi_recording_chunk(void)
{
	struct eddyi_track *track = eddyi_track;
	struct eddyi_chunk *chunk;

	eddyi_track = NULL;
	/* A disk that is slower than the program. */
	while (atomic_load(&ours.chunks) >= CHUNKS_MAX && !atomic_load(&ours.ending))
		usleep(100);
	eddyi_track = track;
	if (atomic_load(&ours.ending))
		return NULL;
	chunk = malloc(sizeof(*chunk));
	if (!chunk) {
		eddyi_recording_fail(-ENOMEM);
		return NULL;
	}
	chunk->next = NULL;
	atomic_init(&chunk->len, 0);
	atomic_init(&chunk->is_full, false);
	chunk->written = 0;
	return chunk;
}

/* Not in a crash: the heap may be damaged. */
static void free_chunk(struct eddyi_chunk *chunk)
{
	if (!ours.crashes)
		free(chunk);
	atomic_fetch_sub(&ours.chunks, 1);
}

void eddyi_recording_chunk_full(struct eddyi_chunk *chunk)
{
	atomic_fetch_add(&ours.chunks, 1);
	atomic_store_explicit(&chunk->is_full, true, memory_order_release);
	sem_post(&ours.wanted);
}

void eddyi_recording_fail(int error)
{
	if (atomic_exchange(&ours.ending, true))
		return;
	eddyi_turns_end();
	say("eddy: the recording %s ends here, and the program goes on: %s", ours.path,
	    strerror(-error));
}

/* Write a block, unless the file is too large. Return: 0, -errno. */
static int write_block(unsigned track, const void *bytes, size_t len, bool may_pack)
{
	int r = ours.size < ours.size_max ?
			eddyi_block_write(ours.fd, track, bytes, len, may_pack) :
			-EFBIG;

	ours.size += r > 0 ? (uint64_t)r : 0;
	return r < 0 ? r : 0;
}

/* Write what a track has. Return: 0; -ECANCELED if another thread ends the file; -errno. */
static int write_track(struct eddyi_track *track, bool is_last)
{
	while (track->oldest) {
		struct eddyi_chunk *chunk = track->oldest;
		bool is_full = atomic_load_explicit(&chunk->is_full, memory_order_acquire);
		size_t len = atomic_load_explicit(&chunk->len, memory_order_acquire);
		int r = len == chunk->written ?
				0 :
				write_block(track->number, chunk->bytes + chunk->written,
					    len - chunk->written, !ours.crashes);

		if (r < 0)
			return r;
		chunk->written = len;
		if (!is_full)
			return 0;
		track->oldest = chunk->next;
		free_chunk(chunk);
		if (!is_last && atomic_load(&ours.ending))
			return -ECANCELED;
	}
	return 0;
}

static int write_tracks(bool is_last)
{
	int r = 0;

	for (struct eddyi_track *track = eddyi_turns_tracks(); track && r == 0; track = track->next)
		r = write_track(track, is_last);
	return r;
}

static void *writer_main(void *arg)
{
	(void)arg;
	pthread_setname_np(pthread_self(), "eddy-record");
	while (!atomic_load(&ours.ending)) {
		struct timespec until;
		int r;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += (long)FLUSH_NS;
		until.tv_sec += until.tv_nsec / (long)EDDY_SECOND;
		until.tv_nsec %= (long)EDDY_SECOND;
		sem_timedwait(&ours.wanted, &until);
		atomic_store(&ours.writing, true);
		r = atomic_load(&ours.ending) ? 0 : write_tracks(false);
		atomic_store(&ours.writing, false);
		if (r < 0 && r != -ECANCELED)
			eddyi_recording_fail(r);
	}
	return NULL;
}

static void write_program(void)
{
	size_t argc = count(ours.argv), envc = count(environ), len = 0;
	const uint64_t build = find_build();
	const uint32_t counts[2] = { (uint32_t)argc, (uint32_t)envc };
	char *bytes = NULL;
	FILE *text = open_memstream(&bytes, &len);
	int r;

	if (!text)
		refuse(EXIT_FAILURE, "EDDY_RECORD: there is no memory");
	fwrite(&build, sizeof(build), 1, text);
	fwrite(counts, sizeof(counts), 1, text);
	fprintf(text, "%s%c", find_program(), 0);
	for (size_t i = 0; i < argc; i++)
		fprintf(text, "%s%c", ours.argv[i], 0);
	for (size_t i = 0; i < envc; i++)
		fprintf(text, "%s%c", environ[i], 0);
	fclose(text);
	r = write(ours.fd, EDDYI_RECORDING_MAGIC, strlen(EDDYI_RECORDING_MAGIC)) < 0 ? -errno : 0;
	if (r == 0)
		r = write_block(EDDYI_BLOCK_PROGRAM, bytes, len, true);
	free(bytes);
	if (r < 0)
		refuse(EXIT_FAILURE, "EDDY_RECORD: %s can't be written: %s", ours.path,
		       strerror(-r));
}

/* A child has a copy of this memory, but not the writer. */
static void in_child(void)
{
	atomic_flag_test_and_set(&ours.ended);
	eddyi_track = NULL;
}

static void begin_recording(void)
{
	const char *max = getenv("EDDY_RECORD_MAX");
	int fd;

	ours.size_max = UINT64_MAX;
	if (max && *max && eddy_str_to_u64(eddy_str_from(max), &ours.size_max) < 0)
		refuse(EXIT_FAILURE, "EDDY_RECORD_MAX=\"%s\" is wrong: expected bytes, as a number",
		       max);
	fd = open(ours.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		refuse(EXIT_FAILURE, "EDDY_RECORD: %s can't be created: %s%s", ours.path,
		       strerror(errno),
		       errno == EEXIST ? "; give it another name, or remove it" : "");
	/* Above those that the program may close and open anew. */
	ours.fd = fcntl(fd, F_DUPFD_CLOEXEC, FD_MIN);
	if (ours.fd < 0)
		ours.fd = fd;
	else
		close(fd);
	unsetenv("EDDY_RECORD");
	/* As eddy_run() does: the file may have a limit. */
	signal(SIGXFSZ, SIG_IGN);
	write_program();
	sem_init(&ours.wanted, 0, 0);
	if (eddyi_thread_start(&ours.thread, writer_main, NULL) < 0)
		refuse(EXIT_FAILURE, "EDDY_RECORD: a thread can't be started");
}

/* ---- replaying ---- */

bool eddyi_recording_next_block(struct eddyi_track *track)
{
	free(track->unpacked);
	track->unpacked = NULL;
	track->at = track->end = NULL;
	for (; track->block < ours.read.count; track->block++) {
		const struct eddyi_block_at *at = &ours.read.blocks[track->block];

		if (at->block.track != track->number || !at->block.len)
			continue;
		track->unpacked = eddyi_block_unpack(at);
		if (!track->unpacked)
			refuse(EDDYI_REPLAY_REFUSED, "%s can't be read: its blocks are damaged",
			       ours.path);
		track->at = track->unpacked;
		track->end = track->at + at->block.len;
		track->block++;
		return true;
	}
	return false;
}

/* ---- begin ---- */

static void finish(int signo);

static volatile sig_atomic_t ending_signal; /* if it is known */

static void last(bool in_handler)
{
	finish(ending_signal ? ending_signal : in_handler ? SIGSEGV : SIGABRT);
}

static void crashed(int signo)
{
	ending_signal = signo;
	eddyi_panic_last(true);
	finish(signo);
	/* The signal has its default action again. */
	raise(signo);
}

/* Those that core/fault.c does not watch. */
static void watch_crashes(void)
{
	static const int signos[] = { SIGABRT, SIGFPE, SIGILL, SIGTRAP, SIGSYS };
	struct sigaction action = { .sa_handler = crashed, .sa_flags = SA_RESETHAND }, before;

	for (size_t i = 0; i < sizeof(signos) / sizeof(signos[0]); i++)
		if (sigaction(signos[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
			sigaction(signos[i], &action, NULL);
}

static bool is_equal(char *const *a, char *const *b)
{
	for (; *a && *b; a++, b++)
		if (strcmp(*a, *b) != 0)
			return false;
	return !*a && !*b;
}

static bool is_of_replay(const char *variable)
{
	return strncmp(variable, "EDDY_REPLAY", strlen("EDDY_REPLAY")) == 0;
}

/* Execute the program with the recorded arguments and environment, at addresses that are the same each time. */
static void execute(void)
{
	struct eddyi_recording *read = &ours.read;
	char **env = calloc(count(read->env) + count(environ) + 2, sizeof(*env)), **next = env;
	int now = personality(0xffffffff);

	if (!env)
		refuse(EDDYI_REPLAY_REFUSED, "EDDY_REPLAY: there is no memory");
	for (char **at = read->env; *at; at++)
		if (!is_of_replay(*at))
			*next++ = *at;
	*next++ = IS_EXECUTED "=1";
	for (char **at = environ; *at; at++)
		if (is_of_replay(*at))
			*next++ = *at;
	if (now >= 0)
		personality((unsigned long)now | ADDR_NO_RANDOMIZE);
	execve(find_program(), read->argv, env);
	refuse(EDDYI_REPLAY_REFUSED, "EDDY_REPLAY: %s can't be executed: %s", find_program(),
	       strerror(errno));
}

static void begin_replay(void)
{
	struct eddyi_recording *read = &ours.read;
	bool is_same, may_execute = !getenv(IS_EXECUTED);
	int r = eddyi_recording_open(ours.path, read);
	const char *wrong;

	ours.has_timeline = getenv("EDDY_REPLAY_TRACE") != NULL;

	if (r == -EBADMSG)
		refuse(EDDYI_REPLAY_REFUSED, "EDDY_REPLAY: %s is no recording, or is damaged",
		       ours.path);
	if (r < 0)
		refuse(EDDYI_REPLAY_REFUSED, "EDDY_REPLAY: %s can't be read: %s", ours.path,
		       strerror(-r));
	is_same = find_build() == read->build || getenv("EDDY_REPLAY_LENIENT");
	if (!is_same && strcmp(find_program(), read->program) != 0)
		refuse(EDDYI_REPLAY_REFUSED, "%s is a recording of %s, and this is %s", ours.path,
		       read->program, find_program());
	if (!is_same)
		refuse(EDDYI_REPLAY_REFUSED,
		       "%s was recorded with another build of %s: build the same version again, or "
		       "set EDDY_REPLAY_LENIENT=1 to try it with this one",
		       ours.path, read->program);
#if EDDYI_HAVE_VALGRIND
	may_execute = may_execute && !RUNNING_ON_VALGRIND;
#endif
	if (may_execute)
		execute();
	unsetenv(IS_EXECUTED);
	if (!is_equal(ours.argv, read->argv))
		refuse(EDDYI_REPLAY_REFUSED,
		       "EDDY_REPLAY: valgrind needs the arguments of the recorded run, and there "
		       "they were other ones");
	unsetenv("EDDY_REPLAY");
	eddyi_replay.last = read->end.events;
	wrong = eddyi_watch_start();
	if (wrong && strcmp(wrong, "EDDY_REPLAY_PRINT") == 0)
		refuse(EDDYI_REPLAY_REFUSED, "EDDY_REPLAY_PRINT=\"%s\" is wrong: %s", getenv(wrong),
		       strerror(errno));
	if (wrong)
		refuse(EDDYI_REPLAY_REFUSED,
		       "EDDY_REPLAY_UNTIL=\"%s\" is wrong: expected the number of an event, a time such as "
		       "1.5s or 20ms, or 'request N'",
		       getenv(wrong));
}

/* A program that executes others defines it as true: it is neither recorded nor replayed. */
__attribute__((weak)) const bool eddyi_is_launcher = false;

static __attribute__((constructor)) void begin(int argc, char **argv)
{
	const char *record = secure_getenv("EDDY_RECORD"), *replay = secure_getenv("EDDY_REPLAY");
	struct eddyi_track *track;

	(void)argc;
	record = record && *record ? record : NULL;
	replay = replay && *replay ? replay : NULL;
	if (eddyi_is_launcher || (!record && !replay))
		return;
	if (record && replay)
		refuse(EXIT_FAILURE, "EDDY_RECORD and EDDY_REPLAY are both set: a replay can't be "
				     "recorded; unset one of them");
	ours.argv = argv;
	ours.path = strdup(replay ? replay : record);
	if (!ours.path)
		refuse(EXIT_FAILURE, "EDDY_RECORD: there is no memory");
	eddyi_replays = replay != NULL;
	if (replay)
		begin_replay();
	else
		begin_recording();
	track = eddyi_track_make();
	if (!track)
		refuse(replay ? EDDYI_REPLAY_REFUSED : EXIT_FAILURE, "%s: there is no memory",
		       replay ? "EDDY_REPLAY" : "EDDY_RECORD");
	eddyi_turns_add(track);
	pthread_atfork(NULL, NULL, in_child);
	eddyi_at_panic(last);
	watch_crashes();
	eddyi_redirect();
	eddyi_track = track;
}

/* ---- end ---- */

static void sum_up(uint64_t *ret_events, uint64_t *ret_hash)
{
	uint64_t events = 0, hash = 0;

	for (struct eddyi_track *track = eddyi_turns_tracks(); track; track = track->next) {
		const uint64_t pair[2] = { track->number, track->done_hash };

		events += track->done_events;
		hash += eddyi_digest(pair, sizeof(pair));
	}
	*ret_events = events;
	*ret_hash = hash;
}

static void end_file(const struct eddyi_recording_end *end)
{
	struct eddyi_recording_end last = *end;
	int r = 0;

	/* The writer may be in a block, or on a disk that takes none. */
	sem_post(&ours.wanted);
	for (int i = 0; atomic_load(&ours.writing) && i < LAST_MS; i++)
		usleep(1000);
	r = atomic_load(&ours.writing) ? -ETIMEDOUT : write_tracks(true);
	/* Also if the file has become too large by now: with it, it is whole. */
	if (r == 0)
		r = eddyi_block_write(ours.fd, EDDYI_BLOCK_END, &last, sizeof(last), false);
	if (r < 0)
		say("eddy: the recording %s lacks its end: %s", ours.path, strerror(-r));
}

static bool is_early; /* a replay ends before the recording */

/* End the recording or replay, also in a signal handler. The process ends by `signo`, or 0. */
static void finish(int signo)
{
	struct eddyi_recording_end end = { .signal = (uint32_t)signo };
	bool had_failed;

	if (!eddyi_turns_tracks() || atomic_flag_test_and_set(&ours.ended))
		return;
	eddyi_track = NULL;
	had_failed = atomic_exchange(&ours.ending, true);
	ours.crashes = signo != 0;
	if (ours.crashes && !eddyi_replays) {
		/* Another thread stops at its next event. */
		atomic_store(&eddyi_recording_stops, true);
		usleep(1000);
	}
	sum_up(&end.events, &end.hash);
	/* The writer of the timeline has a period of 100 ms, and no further chance. */
	if (eddyi_replays && ours.has_timeline)
		usleep(200000);
	if (!eddyi_replays && !had_failed)
		end_file(&end);
	say("eddy: %s %llu events, hash %016llx", eddyi_replays ? "replayed" : "recorded",
	    (unsigned long long)end.events, (unsigned long long)end.hash);
	if (eddyi_watch_is_waiting())
		say("eddy: the replay ended before the place at which it was to stop");
	if (eddyi_replays && ours.read.has_end && !is_early &&
	    (end.events != ours.read.end.events || end.hash != ours.read.end.hash))
		refuse(EDDYI_REPLAY_DIVERGED,
		       "the replay ended unlike the recording, which has %llu events, hash "
		       "%016llx",
		       (unsigned long long)ours.read.end.events,
		       (unsigned long long)ours.read.end.hash);
}

void eddyi_replay_exit(int status, const char *text)
{
	eddyi_track = NULL;
	say("%s", text);
	is_early = true;
	/* Log records are written that another thread has. */
	eddyi_panic_last(true);
	finish(0);
	_exit(status);
}

void eddyi_replay_end(void)
{
	int signo = (int)ours.read.end.signal;

	eddyi_track = NULL;
	if (!ours.read.has_end)
		eddyi_replay_exit(
			EDDYI_REPLAY_REFUSED,
			"eddy: the recording ends here: the recorded process was killed, or "
			"its disk was full");
	if (!signo)
		eddyi_replay_exit(EDDYI_REPLAY_DIVERGED,
				  "eddy: the replay goes on where the recording has ended");
	/* Log records are written that another thread has. */
	ending_signal = signo;
	eddyi_panic_last(true);
	finish(signo);
	signal(signo, SIG_DFL);
	raise(signo);
	_exit(EDDYI_REPLAY_REFUSED);
}

void eddyi_recording_end_by(int signo)
{
	finish(signo);
}

static __attribute__((destructor)) void end(void)
{
	finish(0);
}
