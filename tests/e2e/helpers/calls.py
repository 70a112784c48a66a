"""The system calls that a program makes, derived from its imports and from syscall(SYS_…) and tables in its sources.

A libc function that is named like a system call makes that one. OTHERS says what every other function makes; for a function that
is in none of the tables, made() raises, so that a new import cannot go unnoticed.

Calls are named as on x86-64 with glibc 2.36. NEWER has the calls that other machines and newer C libraries make instead.
"""
import ctypes
import glob
import os
import re
import subprocess

# The dynamic loader and the C library's start; what malloc() and free() make; stdio.
START = 'access arch_prctl brk close execve fstat mmap mprotect munmap newfstatat openat pread64 prlimit64 read rseq set_robust_list set_tid_address'
MEMORY = 'brk madvise mmap mprotect mremap munmap'
STDIO = f'{MEMORY} close fcntl ioctl lseek newfstatat openat read write'
WAITS = 'futex'
RAISES = 'getpid gettid rt_sigprocmask tgkill'
RESOLVES = f'{STDIO} bind connect getsockname poll recvfrom recvmsg sendmmsg sendto setsockopt socket uname'

# Of functions whose name, but for a suffix 64 or v2, is not that of the call they make.
OTHERS = {
    'RAND_set_rand_method': '', 'abort': RAISES, 'raise': RAISES, 'syscall': '',
    'backtrace': f'{STDIO} futex pread64',   # loads libgcc
    'clock_gettime': 'clock_gettime', 'time': 'time', 'gettimeofday': 'gettimeofday',
    'eventfd': 'eventfd2', 'signalfd': 'signalfd4',
    'fstat': 'newfstatat', 'fstatat': 'newfstatat', 'lstat': 'newfstatat', 'stat': 'newfstatat', 'open': 'openat',
    'posix_fadvise': 'fadvise64', 'pread': 'pread64', 'pwrite': 'pwrite64', 'recv': 'recvfrom', 'send': 'sendto',
    'getifaddrs': RESOLVES, 'getaddrinfo': RESOLVES, 'if_nametoindex': 'close ioctl socket',
    'gethostname': 'uname', 'getrlimit': 'prlimit64', 'setrlimit': 'prlimit64', 'exit': 'exit_group', '_exit': 'exit_group',
    'gmtime_r': STDIO, 'strftime': STDIO, 'timegm': STDIO, 'tzset': STDIO,    # the time zone
    'regcomp': f'{MEMORY} futex', 'regexec': f'{MEMORY} futex', 'regfree': MEMORY,
    'isatty': 'ioctl', 'nanosleep': 'clock_nanosleep', 'usleep': 'clock_nanosleep', 'pause': 'pause',
    'opendir': f'{MEMORY} close newfstatat openat', 'fdopendir': f'{MEMORY} fcntl newfstatat', 'readdir': 'getdents64',
    'closedir': 'close', 'scandirat': f'{MEMORY} close fcntl getdents64 newfstatat openat sysinfo', 'qsort': f'{MEMORY} sysinfo', 'qsort_r': f'{MEMORY} sysinfo',
    'pthread_create': f'{MEMORY} clone clone3 futex rseq rt_sigprocmask set_robust_list exit',
    'pthread_getattr_np': f'{STDIO} prlimit64 sched_getaffinity',
    'pthread_getaffinity_np': 'sched_getaffinity', 'pthread_setaffinity_np': 'sched_setaffinity',
    'pthread_setname_np': 'close openat prctl write', 'pthread_sigmask': 'rt_sigprocmask', 'sigprocmask': 'rt_sigprocmask', 'sigpending': 'rt_sigpending',
    'getcontext': 'rt_sigprocmask', 'setcontext': 'rt_sigprocmask', 'makecontext': '',
    'memfd_create': 'memfd_create', 'renameat2': 'renameat renameat2', 'realpath': 'getcwd newfstatat readlink', 'sigaction': 'rt_sigaction', 'signal': 'rt_sigaction',
    'sysconf': 'close openat read sched_getaffinity sysinfo',
}
GROUPS = (
    (r'__libc_start_main|__gmon_start__', START),
    (r'(c|m|re|aligned_)alloc|reallocarray|free|v?asprintf|strdup|newlocale|freeaddrinfo|freeifaddrs|tsearch|tdelete', MEMORY),
    (r'__getdelim|getline|fdopen|f(open|close|flush|gets|puts?c?|printf|read|write|error)|v?[df]?printf|puts|putchar|open_memstream|getopt_long|perror', STDIO),
    (r'pthread_(cond|mutex|rwlock|once|join|detach).*|sem_.*', WAITS),
    (r'io_uring_.*|__io_uring_.*', 'io_uring_enter io_uring_register io_uring_setup close madvise mmap munmap'),
    (r'wolfSSL.*|wc_.*', f'{STDIO} getrandom'),
    (r'(BN|CRYPTO|EC|ERR|EVP|OPENSSL|OSSL|OpenSSL)_.*', f'{STDIO} futex getpid getrandom'),
    (r'json_.*', f'{MEMORY} write'),
    (r'(de|in)flate\w*|nghttp2_\w+', MEMORY),    # zlib, libnghttp2
    # Computing.
    (r'llhttp_\w+|mem\w+|str\w+|stpcpy|_?_?isoc(99|23)_\w+|v?sn?printf|is\w+|to(lower|upper)|bsearch|alphasort|crc32|explicit_bzero|__errno_location'
     r'|__ctype_\w+|__libc_current_\w+|__sched_cpucount|sig(add|del|empty|fill|is)(set|member)|inet_\w+|in6addr_\w+|if_.*'
     r'|(secure_)?(get|unset|set)env|environ|__environ|dladdr|freelocale|uselocale|pthread_self|pthread_attr_\w+|pthread_(key_create|[gs]etspecific)|atoi|abs|log2?|pow|lround|fmod|nan'
     r'|_ITM_\w+|__asan_\w+|__cxa_\w+|__register_atfork|__tls_get_addr|__stack_chk_fail', ''),
)
# Made where the kernel of another machine, or a newer C library, has no more than these.
NEWER = {'newfstatat': 'fstat', 'access': 'faccessat faccessat2', 'readlink': 'readlinkat', 'poll': 'ppoll', 'unlink': 'unlinkat',
         'chmod': 'fchmodat'}


def imports(program):
    said = subprocess.run(['nm', '-D', '--undefined-only', program], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].partition('@')[0] for line in said.splitlines()}


def raw(folders):
    """The calls that sources make by number, which the call names, or the executor's table of operations."""
    for folder in folders:
        for path in glob.glob(os.path.join(folder, '**', '*.[ch]'), recursive=True):
            with open(path) as file:
                yield from re.findall(r'(?:\bsyscall\(|\{ [a-z_]+, |^\t\()SYS_(\w+)', file.read(), re.M)


def is_call(name):
    seccomp = ctypes.CDLL('libseccomp.so.2')
    return seccomp.seccomp_syscall_resolve_name(name.encode()) != -1


def made_by(function):
    name = re.sub(r'^__(\w+)_(chk|2)$', r'\1', function)
    name = re.sub(r'64(v2)?$', lambda match: '2' if match[1] else '', name)
    if name in OTHERS:
        return OTHERS[name].split()
    for pattern, calls in GROUPS:
        if re.fullmatch(pattern, name):
            return calls.split()
    if is_call(name):
        return [name]
    raise AssertionError(f'which system calls does {function}() make? Say so in {__file__}')


def of_recordings(build, layers):
    """The functions that the objects of recordings import, and no other object of these layers."""
    objects = [path for layer in layers for path in glob.glob(f'{build}/subprojects/{layer}/lib*.p/*.o')]
    said = subprocess.run(['nm', '-A', '--undefined-only', *objects], capture_output=True, text=True, check=True).stdout
    found = {True: set(), False: set()}
    for line in said.splitlines():
        found['/src_record_' in line].add(line.split()[-1])
    return found[True] - found[False]


def made(program, sources):
    """The calls that an example program makes unless it records or replays."""
    calls = {*raw(sources)}
    build = os.path.dirname(os.path.dirname(program))
    for function in imports(program) - of_recordings(build, map(os.path.basename, sources)):
        calls.update(made_by(function))
    return calls | {other for call in calls for other in NEWER.get(call, '').split()}
