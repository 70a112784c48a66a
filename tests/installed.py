"""Installs the whole tree as a package would, into a folder of its own, and uses it from there. Prints TAP.

    installed.py ROOT BUILD

BUILD is built already. Each shared library has the soname and the symbols that it ought to: exactly those that its headers
declare as EDDY_API. pkg-config asks for no more than is needed. Programs outside of the tree are built with what it says, shared
and static, and the README's answers; so are examples/pg, by its files and as the one subproject of examples/service. Manual pages are where man looks, the command `eddy` finds its programs wherever all of that is moved to, and gdb loads eddy-gdb.py by itself.
"""
# needs: curl gdb libpq-dev mandoc python3-myst-parser python3-sphinx
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'e2e', 'helpers'))

import network
from tap import Tap

# Each library: its layer, what it is linked with beside eddy's own and the C library, and what pkg-config brings.
LIBRARIES = {
    'runtime': ('runtime', 'uring zstd', 'runtime'),
    'accelerator': ('runtime', 'wolfssl crypto', 'accelerator'),
    'http': ('http', 'uring jansson wolfssl z nghttp2 stdc++ gcc_s m', 'http accelerator runtime'),
    'codec': ('compress', 'brotlienc brotlidec z zstd', 'codec runtime'),
    'compress': ('compress', '', 'compress http accelerator codec runtime'),
    'trace': ('trace', 'm', 'trace runtime'),
    'tracing': ('trace', 'jansson', 'tracing http accelerator trace runtime'),
    'jwt': ('auth', 'jansson wolfssl', 'jwt accelerator runtime'),
    'auth': ('auth', 'jansson wolfssl', 'auth http accelerator jwt runtime'),
}


class Failed(Exception):
    pass


def run(*args, status=0, env=None, cwd=None, timeout=120):
    done = subprocess.run(args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors='replace', check=False, cwd=cwd, timeout=timeout, env={**os.environ, **(env or {})})
    if done.returncode != status:
        raise Failed(f'{shlex.join(args)}: exit status {done.returncode}, not {status}\n{done.stdout}')
    return done.stdout


class Installed:
    """What `meson install` made, below a folder; paths are as they would be without it."""

    def __init__(self, root, build, folder):
        self.root, self.build, self.folder = root, build, folder
        options = {option['name']: option['value'] for option in json.loads(run('meson', 'introspect', '--buildoptions', build))}
        self.version = json.loads(run('meson', 'introspect', '--projectinfo', build))['version']
        self.series = '.'.join(self.version.split('.')[:2])
        self.prefix = options['prefix']
        self.lib = os.path.join(self.prefix, options['libdir'])
        self.man = os.path.join(self.prefix, options['mandir'])
        run('meson', 'install', '-C', build, '--no-rebuild', '--quiet', '--destdir', folder)

    def path(self, *parts):
        return self.folder + os.path.join(self.prefix, *parts)

    def library(self, name, ending):
        return f'{self.folder}{self.lib}/libeddy-{name}.{ending}'

    def environment(self):
        return {'PKG_CONFIG_PATH': f'{self.folder}{self.lib}/pkgconfig', 'PKG_CONFIG_SYSROOT_DIR': self.folder,
                'LD_LIBRARY_PATH': self.folder + self.lib}

    def pkg_config(self, *args):
        return run('pkg-config', *args, env=self.environment()).split()


def declared(tree, layer):
    """What the headers of a layer declare as EDDY_API, by header."""
    names = {}
    includes = [f'-I{tree.root}/{name}/include' for name in ('runtime', 'http', 'compress', 'trace', 'auth')]
    inside = os.path.join(tree.root, layer)
    headers = [*glob.glob(f'{inside}/include/eddy/**/*.h', recursive=True),
               *(path for path in glob.glob(f'{inside}/src/**/*.h', recursive=True) if 'EDDY_API' in open(path).read())]
    flags = tree.pkg_config('--cflags-only-other', 'eddy-runtime')
    text = run('gcc', '-E', '-D_GNU_SOURCE', *flags, *includes, '-x', 'c', *(word for header in headers for word in ('-include', header)), '/dev/null')
    for part in re.split(r'^# (?=\d+ ")', text, flags=re.M):
        where, _, code = part.partition('\n')
        file = where.split('"')[1] if '"' in where else ''
        if file.startswith(inside):
            names.setdefault(os.path.basename(file), []).append(code)
    found = {}
    for header, parts in names.items():
        for declaration in re.findall(r'__attribute__\(\(visibility\("default"\)\)\)([^;{]*)', ''.join(parts)):
            plain = re.sub(r'__attribute__\s*(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))', '', declaration)
            found[re.search(r'(\w+)\s*(?:\(|\[|$)', plain.strip())[1]] = header
    return found


def check_exports(tree, layer):
    wanted = declared(tree, layer)
    exported = {}
    for name in (name for name, library in LIBRARIES.items() if library[0] == layer):
        for line in run('nm', '-D', '--defined-only', tree.library(name, 'so')).splitlines():
            _, kind, symbol = line.split()
            if kind == 'A':
                continue
            symbol, _, version = symbol.partition('@@')
            if version != f'EDDY_{tree.series}':
                raise Failed(f'{symbol} of {name} has the version {version or "none"}')
            exported.setdefault(symbol, []).append(name)
    complaints = [f'{symbol} is exported, and no header declares it' for symbol in exported if symbol not in wanted]
    complaints += [f'{symbol} of {header} is not exported' for symbol, header in wanted.items() if symbol not in exported]
    complaints += [f'{symbol} is exported by {" and ".join(names)}' for symbol, names in exported.items() if len(names) > 1]
    if complaints or not wanted:
        raise Failed('\n'.join(complaints) or 'no header declares anything')


def has_llhttp():
    """Whether it is a library here, and not built into ours."""
    return subprocess.run(['pkg-config', '--exists', 'libllhttp'], check=False).returncode == 0


def check_names(tree, name):
    """What the loader looks for, and what it loads besides."""
    dynamic = run('readelf', '-d', tree.library(name, 'so'))
    soname = f'libeddy-{name}.so.{tree.series}'
    if f'soname: [{soname}]' not in dynamic:
        raise Failed(f'the soname is not {soname}:\n{dynamic}')
    if os.path.realpath(tree.library(name, 'so')) != os.path.realpath(tree.folder) + f'{tree.lib}/libeddy-{name}.so.{tree.version}':
        raise Failed('the file is not named by the version')
    needed = set(re.findall(r'NEEDED.*\[lib([^\]]*?)\.so', dynamic))
    more = {library for library in needed if not library.startswith('eddy-')} - set(LIBRARIES[name][1].split()) - {'c'}
    if name == 'http' and has_llhttp():
        more.discard('llhttp')
    if more:
        raise Failed(f'it needs {" ".join(sorted(more))} as well')


def check_found(tree):
    """Below /usr/local the libraries are where Debian's loader and pkg-config look without being told."""
    if tree.prefix != '/usr/local' or not shutil.which('dpkg'):
        return 'only for /usr/local of Debian'
    known = run('pkg-config', '--variable', 'pc_path', 'pkg-config').strip().split(':')
    if f'{tree.lib}/pkgconfig' not in known:
        raise Failed(f'pkg-config does not look in {tree.lib}/pkgconfig, but in {" ".join(known)}')
    folders = [line.strip() for file in glob.glob('/etc/ld.so.conf.d/*.conf') for line in open(file)]
    if tree.lib not in folders:
        raise Failed(f'ldconfig does not look in {tree.lib}, but in {" ".join(folders)}')
    return ''


def check_pkg_config(tree, name):
    """Who links shared is given what the headers need, and nothing else."""
    flags = tree.pkg_config('--libs', f'eddy-{name}')
    eddys = {flag[len('-leddy-'):] for flag in flags if flag.startswith('-leddy-')}
    others = {flag for flag in flags if flag.startswith('-l') and not flag.startswith('-leddy-')}
    if eddys != set(LIBRARIES[name][2].split()) or others - {'-ljansson'} or ('jansson' not in LIBRARIES[name][1] and 'http' not in eddys and others):
        raise Failed(' '.join(flags))


def check_archives(tree):
    """Nothing is in two of them: no archive carries the objects of another, or of what only one needs."""
    owners = {}
    for name in LIBRARIES:
        for line in run('nm', '-g', '--defined-only', tree.library(name, 'a')).splitlines():
            if len(words := line.split()) == 3 and words[1] in 'TDBR':
                owners.setdefault(words[2], []).append(name)
    twice = [f'{symbol}: {" ".join(names)}' for symbol, names in owners.items() if len(names) > 1]
    if twice or ('llhttp_init' in owners) == has_llhttp():
        raise Failed('\n'.join(twice[:10]) or f'llhttp is in {owners.get("llhttp_init", "none")}')


RUNTIME = r"""
#include <eddy/runtime.h>
#include <stdio.h>

static int body(void *arg)
{
	(void)arg;
	puts("ran");
	return eddy_sleep(EDDY_MS);
}

int main(void)
{
	return eddy_run(NULL, body, NULL) < 0;
}
"""

ALL = r"""
#include <eddy/auth.h>
#include <eddy/compress.h>
#include <eddy/http.h>
#include <eddy/test.h>
#include <eddy/trace.h>
#include <stdio.h>

static int hello(struct eddy_req *req, struct eddy_res *res)
{
	struct eddy_str name;

	if (eddy_req_path(req, EDDY_TO(&name)) < 0)
		return 400;
	return eddy_res_ok(res, "Hello, %.*s!", EDDY_FMT(name));
}

int main(void)
{
	struct eddy_header fields[] = { { "accept-encoding", "br" }, { NULL, NULL } };
	struct eddy_client_request request = { .headers = fields };
	struct eddy_app *app = eddy_app_new();
	struct eddy_response *response;
	int r;

	eddy_app_use_compression(app, NULL);
	eddy_app_use_tracing(app);
	eddy_app_authorize(eddy_app_map_get(app, "/secret", hello), eddy_roles("admin"));
	eddy_app_with_bearer_auth(app, &(struct eddy_bearer_options){
		.secret = eddy_str_from("0123456789abcdef0123456789abcdef"), .allow_plain_http = true });
	eddy_app_map_get(app, "/hello/{name}", hello);
	r = eddy_app_test(app, "GET /hello/you", &request, &response);
	if (r < 0)
		return 1;
	printf("%d %.*s\n", eddy_response_status(response),
	       EDDY_FMT(eddy_response_header(response, "content-encoding")));
	eddy_response_free(response);
	r = eddy_app_test(app, "GET /secret", &request, &response);
	if (r < 0)
		return 1;
	printf("%d\n", eddy_response_status(response));
	eddy_response_free(response);
	eddy_app_free(app);
	return 0;
}
"""


def build_program(tree, source, package, *flags, static=False):
    path = os.path.join(tree.folder, 'program')
    with open(path + '.c', 'w') as file:
        file.write(source)
    said = tree.pkg_config('--cflags', '--libs', *(['--static'] if static else []), *package.split())
    run('gcc', path + '.c', '-o', path, *flags, *(['-static'] if static else []), *said)
    return path


def check_program(tree, package, source, answer, static):
    program = build_program(tree, source, package, static=static)
    said = run(program, env={} if static else tree.environment())
    if said != answer:
        raise Failed(f'it said {said!r}')
    dynamic = run('readelf', '-d', program)
    if ('NEEDED' in dynamic) == static:
        raise Failed(dynamic)


def readme_program(tree):
    """The program at the top of README.md."""
    with open(os.path.join(tree.root, 'README.md')) as file:
        programs = [block for block in re.findall(r'^```c\n(.*?)^```$', file.read(), re.M | re.S) if 'int main(' in block]
    if len(programs) != 1:
        raise Failed(f'README.md has {len(programs)} programs, not one')
    return programs[0]


# Ends the program in any case.
ASK = """
: >log
timeout 30 ./a.out >log 2>&1 & app=$!
until grep -q Listening log || ! kill -0 $app 2>/dev/null; do sleep 0.02; done
curl -sS -m 10 localhost:7878/hello/world
kill $app 2>/dev/null
wait $app
cat log
"""


def check_readme(tree, static):
    """What README.md says of a program of one's own, as it would be typed."""
    try:
        network.needed()
    except unittest.SkipTest as skipped:
        return str(skipped)
    if not shutil.which('curl'):
        return 'needs curl'
    folder = os.path.join(tree.folder, 'static' if static else 'shared')
    os.mkdir(folder)
    with open(os.path.join(folder, 'app.c'), 'w') as file:
        file.write(readme_program(tree))
    built, libs = ('cc -Wall -static app.c', '--static') if static else ('cc -Wall app.c', '')
    run('sh', '-c', f'{built} $(pkg-config {libs} --cflags --libs eddy-http)', cwd=folder, env=tree.environment())
    said = run(*network.ALONE, 'sh', '-c', ASK, cwd=folder, env={} if static else tree.environment())
    if not said.startswith('Hello, world!') or 'Listening on localhost:7878' not in said:
        raise Failed(said)
    return ''


# Each of the files is used.
PG = r"""
#include "eddy_pg_jobs.h"
#include "eddy_pg_migrate.h"
#include <eddy/runtime.h>
#include <stdio.h>
#include <string.h>

static int body(void *arg)
{
	const struct eddy_pg_migration none[] = { { NULL, NULL } };
	int asked = eddy_pg_query(arg, NULL, "select $1::int", EDDY_PG(1));
	int added = eddy_pg_jobs_add(arg, &(struct eddy_pg_new_job){ .kind = "mail" });
	int applied = eddy_pg_migrate("=", none);

	printf("%s, %s, %s\n", strerror(-asked), strerror(-added), strerror(-applied));
	return 0;
}

int main(void)
{
	struct eddy_pg pool;
	int r = eddy_pg_open(&(struct eddy_pg_options){ .conninfo = "host=/nowhere", .wait_ns = 1 }, &pool);

	if (r == 0)
		r = eddy_run(NULL, body, &pool);
	eddy_pg_close(&pool);
	return r < 0;
}
"""

PG_SAID = 'Device or resource busy, Device or resource busy, Invalid argument'


def find_libpq(tree):
    """Show libpq where pkg-config, which puts the folder in front of all that it finds, says that it is. Return: why there is none."""
    found = subprocess.run(['pkg-config', '--variable=includedir', 'libpq'], stdout=subprocess.PIPE, text=True, check=False).stdout.strip()
    if found and not os.path.exists(tree.folder + found):
        os.makedirs(os.path.dirname(tree.folder + found), exist_ok=True)
        os.symlink(found, tree.folder + found)
    return '' if found else 'needs libpq-dev'


def check_pg_files(tree):
    """Files of examples/pg, copied into a program."""
    if why := find_libpq(tree):
        return why
    for name in ('eddy_pg', 'eddy_pg_jobs', 'eddy_pg_migrate'):
        for ending in ('h', 'c'):
            shutil.copy(os.path.join(tree.root, 'examples', 'pg', f'{name}.{ending}'), tree.folder)
    sources = [os.path.join(tree.folder, f'{name}.c') for name in ('eddy_pg', 'eddy_pg_jobs', 'eddy_pg_migrate')]
    program = build_program(tree, PG, 'eddy-runtime libpq', '-Wall', '-Werror', *sources)
    said = run(program, env=tree.environment())
    if said.splitlines()[-1] != PG_SAID:
        raise Failed(said)
    return ''


def check_service(tree):
    """examples/service, with examples/pg as its one subproject."""
    if why := find_libpq(tree):
        return why
    folder = os.path.join(tree.folder, 'mine')
    shutil.copytree(os.path.join(tree.root, 'examples', 'service'), folder)
    shutil.copytree(os.path.join(tree.root, 'examples', 'pg'), os.path.join(folder, 'subprojects', 'pg'))
    run('meson', 'setup', 'build', cwd=folder, env=tree.environment())
    run('meson', 'compile', '-C', 'build', 'dropbox', cwd=folder)
    said = run('build/dropbox', 'none.toml', cwd=folder, status=1)
    if 'none.toml' not in said:
        raise Failed(said)
    return ''


def check_man(tree):
    """A page of each section, be it another's by reference."""
    if not os.path.isdir(os.path.join(tree.build, 'docs', 'man1')):
        return 'built without manual pages: ./dev docs installs Sphinx'
    folder = tree.folder + tree.man
    for page in ('man1/eddy.1', 'man3/eddy_recv.3', 'man7/eddy_cancel.7'):
        name, text = page, ''
        for _ in range(2):
            if not os.path.exists(os.path.join(folder, name)):
                raise Failed(f'{page} needs {name}, which is not in {tree.man}')
            with open(os.path.join(folder, name)) as file:
                text = file.read()
            name = text.removeprefix('.so ').strip() if text.startswith('.so ') else name
        section = page.rpartition('.')[2]
        if not re.search(rf'^\.TH "\w+" "{section}" ', text, re.M) or os.path.basename(page).rpartition('.')[0] not in text.lower():
            raise Failed(f'{page} has {text[:200]!r}')
    return ''


def check_command(tree):
    """The programs are found by `eddy` where they have been moved to."""
    eddy = tree.path('bin/eddy')
    if run(eddy, 'version') != f'eddy {tree.version}\n':
        raise Failed(run(eddy, 'version'))
    usage = run(eddy, 'help')
    if 'not installed' in usage or not all(f'\n  {name} ' in usage for name in ('serve', 'get', 'put', 'bench', 'doctor', 'help', 'version')):
        raise Failed(usage)
    if not run(eddy, 'serve', '--help').startswith('usage: eddy-serve [DIR]'):
        raise Failed(run(eddy, 'serve', '--help'))
    for name in ('get', 'put'):
        if not run(eddy, name, '--help').startswith(f'usage: eddy-{name} '):
            raise Failed(run(eddy, name, '--help'))
    if 'eddy-bench get' not in run(eddy, 'help', 'bench') or run(eddy, 'bench', '--help') != run(tree.path('bin/eddy-bench'), '--help'):
        raise Failed(run(eddy, 'help', 'bench'))
    if 'whether this machine can run eddy' not in run(eddy, 'help', 'doctor') or 'ok   kernel' not in run(tree.path('bin/eddy-doctor')):
        raise Failed(run(eddy, 'help', 'doctor'))
    # What layers above add, from libexec/eddy; eddy has no command of that name.
    if not re.search(r'^(ok  |warn) wolfSSL: [\d.]+, /\S+/libwolfssl\.so\.\d+', run(tree.path('bin/eddy-doctor')), re.M) or 'doctor-' in usage:
        raise Failed(run(tree.path('bin/eddy-doctor')))
    link = os.path.join(tree.folder, 'link')
    os.symlink(eddy, link)
    if run(link, 'help') != usage:
        raise Failed('by a symbolic link it finds other programs')


def check_alone(tree):
    """Where the runtime alone is installed, the rest is said to be missing, and from where."""
    bin = os.path.join(tree.folder, 'alone', 'bin')
    os.makedirs(bin)
    for name in ('eddy', 'eddy-doctor', 'eddy-replay'):
        shutil.copy(tree.path('bin', name), bin)
    said = run(os.path.join(bin, 'eddy'), 'serve', status=1)
    if f'looked for it in {bin}:{bin}/../libexec/eddy\n' not in said:
        raise Failed(said)
    usage = run(os.path.join(bin, 'eddy'))
    if usage.count('not installed here') != 4 or 'whether this machine can run eddy' not in run(os.path.join(bin, 'eddy'), 'help', 'doctor'):
        raise Failed(usage)


def check_missing(tree):
    """What is not there is said to be so, with what to type."""
    eddy, folder = tree.path('bin/eddy'), os.path.join(tree.folder, 'own')
    os.mkdir(folder)
    for name, text in (('eddy-greet', '#!/bin/sh\necho "greets $*"\nexit 7\n'), ('eddy-odd', 'no program\n')):
        with open(os.path.join(folder, name), 'w') as file:
            file.write(text)
        os.chmod(os.path.join(folder, name), 0o755)
    env = {'EDDY_EXEC_PATH': f'/nowhere::{folder}'}
    for status, words, wanted in ((7, ['greet', 'a', 'b c'], r'\Agreets a b c\n\Z'),
                                  (7, ['help', 'greet'], r'\Agreets --help\n\Z'),
                                  (0, ['help'], rf'(?s)serve .*not installed here.*\n  greet +{folder}/eddy-greet\n'),
                                  (0, [], r'\Ausage: eddy COMMAND'),
                                  (1, ['serve', '.'], r'eddy-serve is not installed here.*looked for it in /nowhere.*\n.*apt-get install --reinstall eddy.*meson install'),
                                  (1, ['odd'], rf'{folder}/eddy-odd can.t be run: Exec format error'),
                                  (2, ['../greet'], r'there is no command \.\./greet\n'),
                                  (2, ['--frob'], r'there is no command --frob\nusage: ')):
        said = run(eddy, *words, status=status, env=env)
        if not re.search(wanted, said):
            raise Failed(f'eddy {shlex.join(words)}: {said}')


def check_gdb(tree):
    """A gdb that is told nothing of eddy loads the script with the library, from where distributions keep such scripts."""
    program = build_program(tree, RUNTIME, 'eddy-runtime', '-g')
    # As if all of it had been installed into /: gdb looks for the library's own path below the folder of scripts.
    scripts = os.path.join(tree.folder, 'scripts')
    os.makedirs(scripts + tree.folder)
    os.symlink(tree.path('share/gdb/auto-load') + '/' + tree.prefix.split('/')[1],
               scripts + tree.folder + '/' + tree.prefix.split('/')[1])

    def look(lib, *commands, status=0):
        return run('gdb', '-nx', '-batch', '-iex', 'set debuginfod enabled off', '-iex', f'set auto-load scripts-directory {scripts}',
                   '-iex', f'set auto-load safe-path {tree.folder}', '-ex', f'set environment LD_LIBRARY_PATH {lib}',
                   '-ex', 'break body', '-ex', 'run', *commands, '-ex', 'info tasks', program,
                   status=status)

    said = look(tree.folder + tree.lib, '-ex', 'info auto-load python-scripts')
    if 'hit Breakpoint' not in said and ', body (' not in said:
        return 'gdb may not trace here: ' + said.strip().splitlines()[-1]
    if not re.search(rf'^Yes +.*libeddy-runtime\.so\.{re.escape(tree.version)}-gdb\.py *$', said, re.M):
        raise Failed(said)
    if '.debug_info' in run('readelf', '-SW', tree.library('runtime', 'so')) and not re.search(r'^\* 1 +main +main +running', said, re.M):
        raise Failed(said)
    # As packages have it, whose debug information is a package of its own.
    stripped, series = os.path.join(tree.folder, 'stripped'), '.'.join(tree.version.split('.')[:2])
    os.mkdir(stripped)
    run('strip', '-o', f'{stripped}/libeddy-runtime.so.{series}', os.path.realpath(tree.library('runtime', 'so')))
    said = look(stripped, '-ex', f'source {tree.path(f"share/eddy/eddy-gdb-{series}.py")}', status=1)
    if f'no debug information of the eddy runtime here: install libeddy-runtime{series}-dbgsym if' not in said:
        raise Failed(said)
    return ''


def step(tap, name, function, *args):
    try:
        why = function(*args)
    except Failed as failed:
        tap.fail(name, str(failed))
    else:
        tap.skip(name, why) if why else tap.ok(name)


def main():
    root, build = (os.path.abspath(path) for path in sys.argv[1:3])
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        try:
            tree = Installed(root, build, os.path.realpath(folder))
        except Failed as failed:
            tap.fail('the whole tree is installed', str(failed))
            return tap.end()
        tap.ok('the whole tree is installed')
        step(tap, 'the libraries are where they are looked for', check_found, tree)
        for layer in ('runtime', 'http', 'compress', 'trace', 'auth'):
            step(tap, f'{layer} exports what its headers declare', check_exports, tree, layer)
        for name in LIBRARIES:
            step(tap, f'{name} is named by its version, and needs no more than it uses', check_names, tree, name)
            step(tap, f'eddy-{name}.pc brings no more than the headers need', check_pkg_config, tree, name)
        step(tap, 'no archive has what is in another', check_archives, tree)
        everything = 'eddy-auth eddy-compress eddy-tracing'
        for how, static in (('shared', False), ('static', True)):
            step(tap, f'a program of the runtime, {how}', check_program, tree, 'eddy-runtime', RUNTIME, 'ran\n', static)
            step(tap, f'a program of all layers, {how}', check_program, tree, everything, ALL, '200 br\n401\n', static)
            step(tap, f'the program of the README, {how}', check_readme, tree, static)
        step(tap, 'a program with files of examples/pg', check_pg_files, tree)
        step(tap, 'examples/service with examples/pg', check_service, tree)
        step(tap, 'manual pages are where man looks', check_man, tree)
        step(tap, 'eddy runs its programs', check_command, tree)
        step(tap, 'eddy says what is not there', check_missing, tree)
        step(tap, 'eddy of the runtime alone has the doctor', check_alone, tree)
        if shutil.which('gdb'):
            step(tap, 'gdb loads eddy-gdb.py by itself', check_gdb, tree)
        else:
            tap.skip('gdb loads eddy-gdb.py by itself', 'needs gdb')
    return tap.end()


if __name__ == '__main__':
    sys.exit(main())
