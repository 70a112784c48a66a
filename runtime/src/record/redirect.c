/* Calls of the C library that the program and other libraries make themselves are redirected to their recorded form: by
 * the tables of references that the dynamic linker has filled in. libc's own calls, such as those of stdio, are not. */
#include "redirect.h"

#include "track.h"

#include "core/loop.h"
#include "core/recorded.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <setjmp.h>
#include <linux/sockios.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

/* The functions themselves, and what takes their place. */
#define WRAP(type, call, params, args)                                                             \
	static type(*real_##call) params;                                                          \
	static type wrap_##call params                                                             \
	{                                                                                          \
		return EDDYI_HAS_TRACK ? eddyi_##call##_recorded args : real_##call args;          \
	}
#define NOW(type, call, params, args, ...) WRAP(type, call, params, args)
#define SYSCALL(...)
#define BY_HAND(type, call, params, args) WRAP(type, call, params, args)
#define OTHER(type, call, params, args, ...) WRAP(type, call, params, args)
#include <eddy/internal/outside_calls.h>
#undef NOW
#undef BY_HAND

/* ---- those whose parameters differ, or that outside.h has by other names ---- */

/* Commands whose argument is a pointer are not recorded. */
static int wrap_any_fcntl(int fd, int cmd, long value)
{
	switch (cmd) {
	case F_GETFL:
	case F_SETFL:
	case F_GETFD:
	case F_SETFD:
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		return wrap_fcntl(fd, cmd, (int)value);
	}
	return ((int (*)(int, int, long))(void (*)(void))real_fcntl)(fd, cmd, value);
}

/* Requests whose argument is an int. */
static int wrap_any_ioctl(int fd, unsigned long request, void *value)
{
	switch (request) {
	case FIONREAD:
	case FIONBIO:
	case TIOCOUTQ:
	case SIOCOUTQNSD:
		return wrap_ioctl(fd, request, value);
	}
	return real_ioctl(fd, request, value);
}

static void *wrap_any_mmap(void *at, size_t len, int access, int flags, int fd, off_t offset)
{
	if (flags & MAP_ANONYMOUS)
		return real_mmap(at, len, access, flags, fd, offset);
	return wrap_mmap(at, len, access, flags, fd, offset);
}

static ssize_t wrap_recv_chk(int fd, void *buf, size_t len, size_t size, int flags)
{
	return wrap_recv(fd, buf, len < size ? len : size, flags);
}

static ssize_t wrap_recvfrom_chk(int fd, void *buf, size_t len, size_t size, int flags,
				 struct sockaddr *addr, socklen_t *addr_len)
{
	return wrap_recvfrom(fd, buf, len < size ? len : size, flags, addr, addr_len);
}

static int (*real_clock_gettime)(clockid_t clock, struct timespec *ret_now);
static int wrap_clock_gettime(clockid_t clock, struct timespec *ret_now)
{
	uint64_t now;

	/* Clocks of threads and descriptors have numbers of their own. */
	if (!EDDYI_HAS_TRACK || clock < 0 || clock > CLOCK_TAI)
		return real_clock_gettime(clock, ret_now);
	now = eddyi_clock(clock);
	ret_now->tv_sec = (time_t)(now / EDDY_SECOND);
	ret_now->tv_nsec = (long)(now % EDDY_SECOND);
	return 0;
}

static int wrap_gettimeofday(struct timeval *ret_now, void *zone)
{
	struct timespec now;

	(void)zone;
	wrap_clock_gettime(CLOCK_REALTIME, &now);
	ret_now->tv_sec = now.tv_sec;
	ret_now->tv_usec = now.tv_nsec / 1000;
	return 0;
}

static time_t wrap_time(time_t *ret_now)
{
	struct timespec now;

	wrap_clock_gettime(CLOCK_REALTIME_COARSE, &now);
	if (ret_now)
		*ret_now = now.tv_sec;
	return now.tv_sec;
}

static ssize_t (*real_getrandom)(void *bytes, size_t len, unsigned flags);
static ssize_t wrap_getrandom(void *bytes, size_t len, unsigned flags)
{
	int r;

	if (!EDDYI_HAS_TRACK)
		return real_getrandom(bytes, len, flags);
	r = eddyi_random(bytes, len, flags);
	if (r == 0)
		return (ssize_t)len;
	errno = -r;
	return -1;
}

static int wrap_getentropy(void *bytes, size_t len)
{
	return wrap_getrandom(bytes, len, 0) < 0 ? -1 : 0;
}

static void wrap_arc4random_buf(void *bytes, size_t len)
{
	wrap_getrandom(bytes, len, 0);
}

static uint32_t wrap_arc4random(void)
{
	uint32_t number = 0;

	wrap_getrandom(&number, sizeof(number), 0);
	return number;
}

static uint32_t wrap_arc4random_uniform(uint32_t bound)
{
	uint64_t number = 0;

	wrap_getrandom(&number, sizeof(number), 0);
	return bound ? (uint32_t)(number % bound) : 0;
}

/* ---- functions of the C library that make calls inside ---- */

static int wrap_usleep(unsigned us)
{
	return wrap_nanosleep(&(struct timespec){ us / 1000000, us % 1000000 * 1000L }, NULL);
}

static unsigned wrap_sleep(unsigned seconds)
{
	struct timespec left = { 0 };

	return wrap_nanosleep(&(struct timespec){ seconds, 0 }, &left) < 0 ? (unsigned)left.tv_sec :
									     0;
}

/* A job may wait for another one, or for a loop. */
static int (*real_cond_wait)(pthread_cond_t *changed, pthread_mutex_t *lock);
static int wrap_cond_wait(pthread_cond_t *changed, pthread_mutex_t *lock)
{
	return EDDYI_HAS_TRACK && !eddyi_this_loop ? eddyi_cond_wait_recorded(changed, lock) :
						     real_cond_wait(changed, lock);
}

/* A job may hold a lock while it blocks. */
static int (*real_mutex_lock)(pthread_mutex_t *lock);
static int wrap_mutex_lock(pthread_mutex_t *lock)
{
	return EDDYI_HAS_TRACK ? eddyi_mutex_lock_recorded(lock) : real_mutex_lock(lock);
}

static ssize_t stream_read(void *cookie, char *bytes, size_t len)
{
	return eddyi_read_now((int)(intptr_t)cookie, bytes, len);
}

static ssize_t stream_write(void *cookie, const char *bytes, size_t len)
{
	ssize_t r = (ssize_t)len;

	/* A replay is over when streams are flushed at exit. */
	if (!eddyi_replays || EDDYI_HAS_TRACK)
		r = eddyi_write_now((int)(intptr_t)cookie, bytes, len);
	return r < 0 ? 0 : r;
}

static int stream_seek(void *cookie, off64_t *offset, int from)
{
	off_t r = eddyi_lseek_now((int)(intptr_t)cookie, *offset, from);

	if (r < 0)
		return -1;
	*offset = r;
	return 0;
}

static int stream_close(void *cookie)
{
	return eddyi_close_now((int)(intptr_t)cookie);
}

static const cookie_io_functions_t stream_functions = { stream_read, stream_write, stream_seek,
							stream_close };

static FILE *(*real_fdopen)(int fd, const char *mode);
static FILE *wrap_fdopen(int fd, const char *mode)
{
	if (!EDDYI_HAS_TRACK)
		return real_fdopen(fd, mode);
	return fopencookie((void *)(intptr_t)fd, mode, stream_functions);
}

static int open_flags(const char *mode)
{
	int flags = *mode == 'r' ? 0 : *mode == 'w' ? O_CREAT | O_TRUNC : O_CREAT | O_APPEND;

	flags |= strchr(mode, '+') ? O_RDWR : *mode == 'r' ? O_RDONLY : O_WRONLY;
	return flags | (strchr(mode, 'e') ? O_CLOEXEC : 0) | (strchr(mode, 'x') ? O_EXCL : 0);
}

static FILE *(*real_fopen)(const char *path, const char *mode);
static FILE *wrap_fopen(const char *path, const char *mode)
{
	FILE *file;
	int fd;

	if (!EDDYI_HAS_TRACK)
		return real_fopen(path, mode);
	fd = eddyi_open_now(path, open_flags(mode), 0666);
	file = fd < 0 ? NULL : wrap_fdopen(fd, mode);
	if (fd >= 0 && !file)
		eddyi_close_now(fd);
	return file;
}

/* Handlers of signals are not recorded, nor what they call. They may interrupt an event. */
static struct sigaction handlers[NSIG];
static __thread struct eddyi_track *interrupted;

static void handle(int signo, siginfo_t *info, void *context)
{
	const struct sigaction *action = &handlers[signo];
	struct eddyi_track *track = eddyi_track, *before = interrupted;

	interrupted = track ? track : before;
	eddyi_track = NULL;
	if (action->sa_flags & SA_SIGINFO)
		action->sa_sigaction(signo, info, context);
	else
		action->sa_handler(signo);
	eddyi_track = track;
	interrupted = before;
}

/* A handler may leave by it: what it interrupted is not resumed. */
static void (*real_siglongjmp)(struct __jmp_buf_tag *env, int value);
static void wrap_siglongjmp(struct __jmp_buf_tag *env, int value)
{
	if (interrupted)
		eddyi_track = interrupted;
	interrupted = NULL;
	real_siglongjmp(env, value);
}

static int (*real_sigaction)(int, const struct sigaction *, struct sigaction *);
static int wrap_sigaction(int signo, const struct sigaction *action, struct sigaction *ret_old)
{
	struct sigaction before, ours;
	int r;

	if (signo <= 0 || signo >= NSIG)
		return real_sigaction(signo, action, ret_old);
	before = handlers[signo];
	if (action)
		ours = *action;
	if (action && action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN) {
		handlers[signo] = *action;
		ours.sa_sigaction = handle;
		ours.sa_flags |= SA_SIGINFO;
	}
	r = real_sigaction(signo, action ? &ours : NULL, ret_old);
	if (r == 0 && ret_old && ret_old->sa_sigaction == handle)
		*ret_old = before;
	return r;
}

static sighandler_t wrap_signal(int signo, sighandler_t handler)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART }, old;

	return wrap_sigaction(signo, &action, &old) < 0 ? SIG_ERR : old.sa_handler;
}

/* _exit(2) runs no destructor, so the recording ends here. A child of vfork(2) shares this memory. */
static pid_t process;
static void (*real_exit_now)(int status);
static void wrap_exit_now(int status)
{
	if ((EDDYI_HAS_TRACK || interrupted) && syscall(SYS_getpid) == process)
		eddyi_recording_end_by(0);
	real_exit_now(status);
}

/* A replay must not run the command again. */
static FILE *(*real_popen)(const char *command, const char *mode);
static FILE *wrap_popen(const char *command, const char *mode)
{
	if (EDDYI_HAS_TRACK && eddyi_replays)
		eddyi_replay_exit(EDDYI_REPLAY_DIVERGED,
				  "eddy: the program calls popen(3), which is not recorded");
	return real_popen(command, mode);
}

typedef int select_fn(const struct dirent *entry);
typedef int compare_fn(const struct dirent **a, const struct dirent **b);

static int add_entry(struct dirent ***entries, int count, const struct dirent *entry)
{
	size_t len = offsetof(struct dirent, d_name) + strlen(entry->d_name) + 1;
	struct dirent *copy = malloc(sizeof(*copy));
	struct dirent **more = realloc(*entries, ((size_t)count + 1) * sizeof(*more));

	if (more)
		*entries = more;
	if (!more || !copy) {
		free(copy);
		return -ENOMEM;
	}
	memcpy(copy, entry, len);
	more[count] = copy;
	return 0;
}

static int (*real_scandirat)(int, const char *, struct dirent ***, select_fn *, compare_fn *);
static int wrap_scandirat(int at, const char *path, struct dirent ***ret_entries,
			  select_fn *is_selected, compare_fn *compare)
{
	struct dirent **entries = NULL, *entry;
	int fd, count = 0;
	DIR *dir;

	if (!EDDYI_HAS_TRACK)
		return real_scandirat(at, path, ret_entries, is_selected, compare);
	fd = eddyi_openat_now(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	dir = fd < 0 ? NULL : eddyi_fdopendir_now(fd);
	if (!dir) {
		if (fd >= 0)
			eddyi_close_now(fd);
		return -1;
	}
	while ((entry = eddyi_readdir_now(dir)))
		if ((!is_selected || is_selected(entry)) && add_entry(&entries, count, entry) == 0)
			count++;
	eddyi_closedir_now(dir);
	if (compare && count)
		qsort(entries, (size_t)count, sizeof(struct dirent *),
		      (int (*)(const void *, const void *))(void (*)(void))compare);
	*ret_entries = entries;
	return count;
}

static int wrap_scandir(const char *path, struct dirent ***ret_entries, select_fn *is_selected,
			compare_fn *compare)
{
	return wrap_scandirat(AT_FDCWD, path, ret_entries, is_selected, compare);
}

/* ---- references ---- */

#define FUNCTION(fn) ((void (*)(void))(fn))

static const struct redirection {
	const char *name;
	void (*wrap)(void);
	void (**real)(void); /* NULL: the wrapper calls another one */
} redirections[] = {
	/* Before the forms of other calls that have their names. */
	{ "fcntl", FUNCTION(wrap_any_fcntl), NULL },
	{ "mmap", FUNCTION(wrap_any_mmap), NULL },
	{ "ioctl", FUNCTION(wrap_any_ioctl), NULL },
	{ "__recv_chk", FUNCTION(wrap_recv_chk), NULL },
	{ "__recvfrom_chk", FUNCTION(wrap_recvfrom_chk), NULL },
	{ "preadv64v2", FUNCTION(wrap_preadv2), NULL },
	{ "_Exit", FUNCTION(wrap_exit_now), NULL },
	{ "scandir", FUNCTION(wrap_scandir), NULL },
#define NOW(type, call, ...) { #call, FUNCTION(wrap_##call), (void (**)(void)) & real_##call },
#define BY_HAND(type, call, ...) NOW(type, call, )
#define OTHER(type, call, ...) NOW(type, call, )
#include <eddy/internal/outside_calls.h>
#undef NOW
#undef BY_HAND
#undef SYSCALL
	{ "clock_gettime", FUNCTION(wrap_clock_gettime), (void (**)(void)) & real_clock_gettime },
	{ "getrandom", FUNCTION(wrap_getrandom), (void (**)(void)) & real_getrandom },
	{ "fopen", FUNCTION(wrap_fopen), (void (**)(void)) & real_fopen },
	{ "fdopen", FUNCTION(wrap_fdopen), (void (**)(void)) & real_fdopen },
	{ "_exit", FUNCTION(wrap_exit_now), (void (**)(void)) & real_exit_now },
	{ "sigaction", FUNCTION(wrap_sigaction), (void (**)(void)) & real_sigaction },
	{ "signal", FUNCTION(wrap_signal), NULL },
	{ "siglongjmp", FUNCTION(wrap_siglongjmp), (void (**)(void)) & real_siglongjmp },
	{ "longjmp", FUNCTION(wrap_siglongjmp), NULL },
	{ "_longjmp", FUNCTION(wrap_siglongjmp), NULL },
	{ "popen", FUNCTION(wrap_popen), (void (**)(void)) & real_popen },
	{ "scandirat", FUNCTION(wrap_scandirat), (void (**)(void)) & real_scandirat },
	{ "pthread_cond_wait", FUNCTION(wrap_cond_wait), (void (**)(void)) & real_cond_wait },
	{ "pthread_mutex_lock", FUNCTION(wrap_mutex_lock), (void (**)(void)) & real_mutex_lock },
	{ "getentropy", FUNCTION(wrap_getentropy), NULL },
	{ "arc4random", FUNCTION(wrap_arc4random), NULL },
	{ "arc4random_uniform", FUNCTION(wrap_arc4random_uniform), NULL },
	{ "arc4random_buf", FUNCTION(wrap_arc4random_buf), NULL },
	{ "gettimeofday", FUNCTION(wrap_gettimeofday), NULL },
	{ "time", FUNCTION(wrap_time), NULL },
	{ "usleep", FUNCTION(wrap_usleep), NULL },
	{ "sleep", FUNCTION(wrap_sleep), NULL },
};

/* Whether a name is that of a call, or of its form for files of any size (stat64), or of one that checks sizes
 * (__read_chk, __open_2). */
static bool is_form(const char *name, const char *call)
{
	bool may_check = strncmp(name, "__", 2) == 0;

	if (may_check)
		name += 2;
	for (; *call && *name == *call; call++)
		name++;
	if (!*call && strncmp(name, "64", 2) == 0)
		name += 2;
	return !*call &&
	       (!*name || (may_check && (strcmp(name, "_chk") == 0 || strcmp(name, "_2") == 0)));
}

static const struct redirection *find(const char *name)
{
	for (size_t i = 0; i < sizeof(redirections) / sizeof(redirections[0]); i++)
		if (strcmp(redirections[i].name, name) == 0 || is_form(name, redirections[i].name))
			return &redirections[i];
	return NULL;
}

static void redirect(void (**reference)(void), const struct redirection *to)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *at = (void *)((uintptr_t)reference & ~(uintptr_t)(page - 1));

	/* The linker may have made it read-only. */
	if (mprotect(at, page, PROT_READ | PROT_WRITE) == 0)
		*reference = to->wrap;
}

/* The tables that a dynamic section names. */
struct tables {
	const ElfW(Sym) * symbols;
	const char *names;
	const ElfW(Rela) * of[2]; /* references: to functions that are called, and others */
	size_t sizes[2];
};

static struct tables read_dynamic(const struct dl_phdr_info *info, const ElfW(Dyn) * entry)
{
	struct tables tables = { 0 };

	for (; entry->d_tag != DT_NULL; entry++) {
		ElfW(Addr) at = entry->d_un.d_ptr;
		/* The C library has turned offsets into addresses, on most machines. */
		const void *table =
			(const void *)(at < info->dlpi_addr ? at + info->dlpi_addr : at);

		switch (entry->d_tag) {
		case DT_SYMTAB:
			tables.symbols = table;
			break;
		case DT_STRTAB:
			tables.names = table;
			break;
		case DT_JMPREL:
			tables.of[0] = table;
			break;
		case DT_RELA:
			tables.of[1] = table;
			break;
		case DT_PLTRELSZ:
			tables.sizes[0] = entry->d_un.d_val;
			break;
		case DT_RELASZ:
			tables.sizes[1] = entry->d_un.d_val;
			break;
		}
	}
	return tables;
}

static void redirect_all(const struct dl_phdr_info *info, const struct tables *tables)
{
	for (int i = 0; i < 2; i++) {
		const ElfW(Rela) *at = tables->of[i], *end = at + tables->sizes[i] / sizeof(*at);

		for (; at < end; at++) {
			const ElfW(Sym) *symbol = &tables->symbols[ELF64_R_SYM(at->r_info)];
			const struct redirection *to;

			if (!ELF64_R_SYM(at->r_info) || symbol->st_shndx != SHN_UNDEF)
				continue;
			to = find(tables->names + symbol->st_name);
			if (to)
				redirect((void (**)(void))(info->dlpi_addr + at->r_offset), to);
		}
	}
}

/* The C library, the linker, and sanitizers, which have wrappers themselves. */
static bool is_system(const char *path)
{
	static const char *const names[] = { "/libc.",      "/libc-",     "/ld-",
					     "/libpthread", "/librt.",    "san.so",
					     "/libm.",      "linux-vdso", "/vgpreload" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strstr(path, names[i]))
			return true;
	return false;
}

static int look_at(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	if (is_system(info->dlpi_name))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		struct tables tables;

		if (part->p_type != PT_DYNAMIC)
			continue;
		tables = read_dynamic(info, (const void *)(info->dlpi_addr + part->p_vaddr));
		if (tables.symbols && tables.names)
			redirect_all(info, &tables);
	}
	return 0;
}

static int draw(unsigned char *bytes, int len)
{
	return eddyi_random(bytes, (size_t)len, 0) == 0;
}

static int is_seeded(void)
{
	return 1;
}

/* libcrypto mixes the processor's counter and an address into its random numbers. */
static void redirect_libcrypto(void)
{
	/* RAND_METHOD, of which these are called. */
	static struct {
		void (*seed)(void);
		int (*bytes)(unsigned char *bytes, int len);
		void (*cleanup)(void), (*add)(void);
		int (*pseudorand)(unsigned char *bytes, int len);
		int (*status)(void);
	} method = { .bytes = draw, .pseudorand = draw, .status = is_seeded };
	int (*set)(const void *method) = (int (*)(const void *))FUNCTION(
		(uintptr_t)dlsym(RTLD_DEFAULT, "RAND_set_rand_method"));

	if (set)
		set(&method);
}

void eddyi_redirect(void)
{
	for (size_t i = 0; i < sizeof(redirections) / sizeof(redirections[0]); i++)
		if (redirections[i].real)
			*redirections[i].real =
				FUNCTION((uintptr_t)dlsym(RTLD_DEFAULT, redirections[i].name));
	process = (pid_t)syscall(SYS_getpid);
	dl_iterate_phdr(look_at, NULL);
	redirect_libcrypto();
}
