"""Builds and installs each layer, the way a distribution would, and uses what was installed. Prints TAP.

    package.py ROOT

Each is built alone, against what is installed of the layers below it. A program that includes every header of the layer is
built against the installed library, static and shared, by its pkg-config file alone. What the libraries export is looked at by
installed.py. All of it is compiled so that frames hit the guards of stacks.
http is built once more without configuration files, forms and TLS, and from its own subprojects/, where nothing is installed:
then there is no C++ in it, and no wolfSSL. The runtime is built without recordings. compress is built with each coding alone and with none, and without http: it has no
library and no symbol of the others. auth is built without each of its features. http without TLS and auth without tokens need nothing of
wolfSSL. Two layers are in the tree of somebody else, who is
strict.
"""
# needs: clang
import glob
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

from tap import Tap

LAYERS = ('runtime', 'http', 'compress', 'trace', 'auth')
# The libraries of a layer that has not just one of its own name.
LIBRARIES = {'runtime': ('accelerator', 'runtime'), 'compress': ('codec', 'compress'), 'auth': ('jwt', 'auth')}

# Which is a library of its own.
WITHOUT_ACCELERATOR = '-Druntime:tls-accelerator=disabled'


class Failed(Exception):
    pass


def run(*args, env=None):
    done = subprocess.run(args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors='replace', check=False, env={**os.environ, **(env or {})})
    if done.returncode:
        raise Failed(f'{" ".join(args)}: exit status {done.returncode}\n{done.stdout}')
    return done.stdout


# The folders of libraries that are installed already, each layer's in a prefix of its own.
below = []


def found_in(lib):
    """The environment in which what is in `lib` is found, and what it needs."""
    libs = (lib, *below)
    return {'PKG_CONFIG_PATH': ':'.join(os.path.join(path, 'pkgconfig') for path in libs), 'LD_LIBRARY_PATH': ':'.join(libs)}


def check_frames(layer, lib, build):
    """A frame that is larger than a guard must hit it: all that is compiled probes, and so does what is built with it."""
    probes = '-fstack-clash-protection'
    with open(os.path.join(build, 'compile_commands.json')) as file:
        objects = [entry for entry in json.load(file) if entry['file'].endswith('.c')]
    bare = sorted(entry['output'] for entry in objects if probes not in shlex.split(entry['command']))
    if bare or not objects:
        raise Failed(f'compiled without {probes}: {" ".join(bare) or "nothing is compiled"}')
    env = found_in(lib)
    if probes not in run('pkg-config', '--cflags', f'eddy-{layer}', env=env).split():
        raise Failed(f'eddy-{layer}.pc does not say {probes}')


def use(layer, prefix, lib, folder, static):
    """Links a program with the installed library and runs it."""
    headers = sorted(glob.glob(f'{prefix}/include/eddy/*.h'))
    source = os.path.join(folder, 'use.c')
    with open(source, 'w') as file:
        file.writelines(f'#include <eddy/{os.path.basename(h)}>\n' for h in headers)
        file.write('int main(void)\n{\n\treturn 0;\n}\n')
    env = found_in(lib)
    flags = ['--static'] if static else []
    flags = run('pkg-config', *flags, '--cflags', '--libs', f'eddy-{layer}', env=env).split()
    # Of a layer with two libraries all headers are used, and one library.
    flags += [f'-I{os.path.dirname(path)}/include' for path in below]
    if static:
        flags = [f'-l:lib{f[2:]}.a' if f.startswith('-leddy') else f for f in flags]
    # All of the library, not just what main uses: what is missing shows.
    flags = ['-Wl,--no-as-needed', '-Wl,--whole-archive', *dict.fromkeys(f for f in flags if 'eddy' in f or f.startswith('-L')),
             '-Wl,--no-whole-archive', *flags]
    program = os.path.join(folder, 'use')
    run('gcc', '-std=gnu11', source, '-o', program, *flags)
    run(program, env=env)


def step(tap, name, function, *args):
    try:
        function(*args)
    except Failed as failed:
        tap.fail(name, str(failed))
        return False
    tap.ok(name)
    return True


def install(root, layer, build, prefix, *options, env=None):
    env = {**found_in(os.path.join(prefix, 'lib')), **(env or {})}
    run('meson', 'setup', '--prefix', prefix, '--libdir', 'lib', '--buildtype=debug', *options, build,
        os.path.join(root, layer), env=env)
    run('meson', 'install', '-C', build)


# Each feature that can be left out: what its symbols and libraries are called, and calls that must not compile.
FEATURES = {
    'config': (r'\S*(?:(?<!eddy_transfer_)(?<!eddy_offload_)config|toml|_Z)\S*', r'NEEDED.*(stdc\+\+|toml)', 'eddy_app_with_config(app, "a");',
               'eddy-http was built without configuration files'),
    'multipart': (r'\S*(?:multipart|eddyi?_part(?!ial)|save_all)\S*', None, 'eddy_req_save_all(0, 0, 0, 0);', 'eddy-http was built without forms'),
    'tls': (r'\S*(?:wolf|eddyi?_\w*tls)\w*', r'NEEDED.*wolfssl', 'eddy_app_use_tls(app, 0);',
            'eddy-http was built without TLS'),
}


def check_without_features(root, folder, prefix):
    """http without what can be left out is built where there is no C++, and has nothing of it."""
    lib = os.path.join(prefix, 'lib')
    build = os.path.join(folder, 'build')
    install(root, 'http', build, prefix, *(f'-D{f}=disabled' for f in FEATURES), WITHOUT_ACCELERATOR, env={'CXX': '/bin/false'})
    use('http', prefix, lib, folder, False)
    for library in ('libeddy-http.a', 'libeddy-http.so'):
        symbols = run('nm', '--extern-only', os.path.join(lib, library))
        for left, *_ in FEATURES.values():
            if found := re.findall(left, symbols):
                raise Failed(f'{library} has ' + ' '.join(found))
    needed = run('readelf', '-d', os.path.join(lib, 'libeddy-http.so'))
    env = found_in(lib)
    flags = run('pkg-config', '--cflags', 'eddy-http', env=env).split()
    for _, library, call, complaint in FEATURES.values():
        if library and re.search(library, needed):
            raise Failed(needed)
        for compiler in ('gcc', 'clang'):
            refuse(compiler, os.path.join(folder, 'call.c'), call, complaint, flags)


def check_unrecorded(root, folder):
    """The runtime without recordings: it needs no zstd, and refuses to record."""
    prefix = os.path.join(folder, 'usr')
    lib = os.path.join(prefix, 'lib')
    install(root, 'runtime', os.path.join(folder, 'build'), prefix, '-Drecord=disabled')
    use('runtime', prefix, lib, folder, True)
    needed = run('readelf', '-d', os.path.join(lib, 'libeddy-runtime.so'))
    if 'zstd' in needed:
        raise Failed(needed)
    # And a static program, which has only what it uses of the library.
    program = os.path.join(folder, 'tasks')
    flags = run('pkg-config', '--static', '--cflags', '--libs', 'eddy-runtime', env=found_in(lib)).split()
    run('gcc', '-std=gnu11', os.path.join(root, 'examples', 'ladder', '01_tasks.c'), '-o', program,
        *(f'-l:lib{f[2:]}.a' if f.startswith('-leddy') else f for f in flags))
    for path in (os.path.join(folder, 'use'), program):
        refused = subprocess.run([path], env={**os.environ, 'EDDY_RECORD': os.path.join(folder, 'recording')}, capture_output=True, text=True, check=False)
        if refused.returncode != 1 or 'built without recordings' not in refused.stderr:
            raise Failed(f'{refused}')


# Each feature of compress: the library that it needs, and the codings that it brings.
CODINGS = {
    'brotli': ('libbrotli', {'br'}),
    'gzip': ('libz.so', {'gzip', 'deflate', 'x-gzip'}),
    'zstd': ('libzstd', {'zstd'}),
}

ASKS_FOR_ALL = r"""
#include <errno.h>
#include <eddy/codec.h>
#include <stdio.h>
int main(void)
{
	static const char *const names[] = { "zstd", "br", "gzip", "deflate", "x-gzip" };
	const struct eddy_codec *codec = NULL;

	for (int i = 0; i < 5; i++) {
		int r = eddy_codec_find(eddy_str_from(names[i]), &codec);

		if (r < 0 && r != -ENOTSUP)
			return 1;
		if (r == 0)
			puts(names[i]);
	}
	return eddy_codec_find(eddy_str_from("lzw"), &codec) != -ENOENT;
}
"""


def check_coding_alone(root, folder, feature):
    """compress with one coding, or none: the others are not negotiable, and nothing of them is there."""
    prefix, build = os.path.join(folder, 'usr'), os.path.join(folder, 'build')
    lib = os.path.join(prefix, 'lib')
    options = ['-Dhttp=disabled', '-Dcompression-full=disabled'] + ([f'-Dcompression-{feature}=enabled'] if feature else [])
    install(root, 'compress', build, prefix, *options)
    use('codec', prefix, lib, folder, False)
    use('codec', prefix, lib, folder, True)
    needed = run('readelf', '-d', os.path.join(lib, 'libeddy-codec.so'))
    symbols = run('nm', os.path.join(lib, 'libeddy-codec.a'))
    for name, (library, _) in CODINGS.items():
        if (library in needed) != (name == feature):
            raise Failed(f'{library} is {"not " if name == feature else ""}needed with {feature}:\n{needed}')
    for name, pattern in (('brotli', 'Brotli'), ('gzip', 'flate'), ('zstd', 'ZSTD_')):
        if name != feature and pattern in symbols:
            raise Failed(f'there is something of {name} with {feature}')
    source, program = os.path.join(folder, 'ask.c'), os.path.join(folder, 'ask')
    with open(source, 'w') as file:
        file.write(ASKS_FOR_ALL)
    env = found_in(lib)
    run('gcc', '-std=gnu11', source, '-o', program,
        *run('pkg-config', '--cflags', '--libs', 'eddy-codec', env=env).split())
    found = set(run(program, env=env).split())
    wanted = CODINGS[feature][1] if feature else set()
    if found != wanted:
        raise Failed(f'with {feature} there are {found}, not {wanted}')


def refuse(compiler, source, call, complaint, flags, header='http'):
    with open(source, 'w') as file:
        file.write(f'#include <eddy/{header}.h>\n#include <eddy/config.h>\n'
                   'void call(struct eddy_app *app);\nvoid call(struct eddy_app *app)\n{\n'
                   f'\teddy_app_config_section(app, NULL, NULL);\n\t{call}\n}}\n')
    try:
        run(compiler, '-c', source, '-o', '/dev/null', *flags)
    except Failed as failed:
        if complaint not in str(failed):
            raise
    else:
        raise Failed(f'{compiler} compiles {call}')


# Each feature of auth: what its symbols are called, and a call that must not compile.
AUTH_FEATURES = {
    'jwt-auth': (r'\b(?:eddyi?_(?:auth_verify|bearer|guard|jw[kst]|keyset|rule|static_key|verified)|wc_)\w*', 'eddy_app_authorize(app, 0);',
                 'eddy-auth was built without bearer tokens'),
    'oauth-client': (r'\b(?:eddyi?_(?:issuer_|oauth_(?!metadata))\w+|eddy_app_use_oauth\b)', 'eddy_app_use_oauth(app);',
                     'eddy-auth was built without issuers'),
}


def check_auth_without(root, folder, feature):
    """auth without a feature has no symbol of it, and using it does not compile."""
    prefix, build = os.path.join(folder, 'usr'), os.path.join(folder, 'build')
    lib = os.path.join(prefix, 'lib')
    install(root, 'auth', build, prefix, f'-D{feature}=disabled')
    use('auth', prefix, lib, folder, False)
    left, call, complaint = AUTH_FEATURES[feature]
    for library in ('libeddy-auth.a', 'libeddy-auth.so'):
        if found := re.findall(left, run('nm', os.path.join(lib, library))):
            raise Failed(f'{library} has ' + ' '.join(found))
    flags = [*run('pkg-config', '--cflags', 'eddy-auth', env=found_in(lib)).split(), *(f'-I{os.path.dirname(path)}/include' for path in below)]
    for compiler in ('gcc', 'clang'):
        refuse(compiler, os.path.join(folder, 'call.c'), call, complaint, flags, 'auth')


def check_nothing_of_wolfssl(root, folder):
    """Without TLS and tokens nothing that is installed needs wolfSSL, whose licence is not eddy's."""
    prefix = os.path.join(folder, 'usr')
    lib = os.path.join(prefix, 'lib')
    for layer, option in (('http', '-Dtls=disabled'), ('auth', '-Djwt-auth=disabled')):
        build = os.path.join(folder, f'build-{layer}')
        install(root, layer, build, prefix, option, WITHOUT_ACCELERATOR)
        with open(os.path.join(build, 'build.ninja')) as file:
            if 'wolfssl' in (text := file.read()):
                raise Failed(f'{layer} is built with wolfSSL: ' + re.search('.*wolfssl.*', text)[0])
    ways = {'.a': ('nm', '-A'), '.pc': ('cat',), '.so': ('readelf', '-d')}
    for path in sorted(glob.glob(f'{prefix}/lib/**/*.*', recursive=True)):
        if (ending := os.path.splitext(path)[1]) in ways and (found := re.findall(r'.*(?:wolf|\bwc_).*', run(*ways[ending], path))):
            raise Failed(f'{path} has ' + ' '.join(found))
    if found := glob.glob(f'{prefix}/libexec/**/*tls*', recursive=True):
        raise Failed('there is ' + ' '.join(found))
    flags = run('pkg-config', '--static', '--libs', 'eddy-auth', 'eddy-http', env=found_in(lib))
    if 'wolf' in flags:
        raise Failed(flags)


def check_auth_without_http(root, folder):
    """Then there are tokens and keys alone."""
    prefix, build = os.path.join(folder, 'usr'), os.path.join(folder, 'build')
    lib = os.path.join(prefix, 'lib')
    install(root, 'auth', build, prefix, '-Dhttp=disabled')
    use('jwt', prefix, lib, folder, False)
    if found := glob.glob(os.path.join(lib, '*auth*')):
        raise Failed('there is ' + ' '.join(found))


SOMEBODY = """project('somebody', 'c',
  default_options: ['c_std=c11', 'warning_level=3', 'werror=true', 'default_library=shared'])
executable('it', 'it.c', dependencies: [
  dependency('eddy-compress', fallback: ['compress', 'eddy_compress_dep']),
  dependency('eddy-auth', fallback: ['auth', 'eddy_auth_dep']),
])
"""

SOMEBODYS = r"""
#include <eddy/auth.h>
#include <eddy/compress.h>
#include <eddy/http.h>
#include <eddy/test.h>
#include <stdio.h>

static int hello(struct eddy_req *req, struct eddy_res *res)
{
	(void)req;
	return eddy_res_ok(res, "hello");
}

int main(void)
{
	static const char *const accepted[] = { "zstd, br, gzip;q=0.1", "*", "deflate, br", "br", "br, identity;q=0.1" };
	struct eddy_header fields[2] = { { "accept-encoding", NULL } };
	struct eddy_client_request request = { .headers = fields };
	struct eddy_app *app = eddy_app_new();
	struct eddy_response *response;

	eddy_app_use_compression(app, NULL);
	eddy_app_with_bearer_auth(app, &(struct eddy_bearer_options){ .secret_env = "SECRET", .allow_plain_http = true });
	eddy_app_authorize(eddy_app_map_get(app, "/secret", hello), eddy_roles("admin"));
	eddy_app_map_get(app, "/", hello);
	for (int i = 0; i < 5; i++) {
		fields[0].value = accepted[i];
		if (eddy_app_test(app, "GET /", &request, &response) < 0)
			return 1;
		printf("%d %.*s|%.*s\n", eddy_response_status(response),
		       EDDY_FMT(eddy_response_header(response, "content-encoding")),
		       EDDY_FMT(eddy_response_header(response, "accept-encoding")));
		eddy_response_free(response);
	}
	if (eddy_app_test(app, "GET /secret", NULL, &response) < 0)
		return 1;
	printf("%d\n", eddy_response_status(response));
	eddy_response_free(response);
	eddy_app_free(app);
	return 0;
}
"""

NEGOTIATED = ['200 gzip|', '200 gzip|', '200 deflate|', '406 |gzip, deflate', '200 |', '401']


def check_subproject(root, folder):
    """compress and auth, and what they need, in the tree of somebody who takes no warning, with gzip alone: what is not there is not
    negotiated."""
    os.makedirs(os.path.join(folder, 'subprojects'))
    for layer in ('runtime', 'http', 'compress', 'auth'):
        os.symlink(os.path.join(root, layer), os.path.join(folder, 'subprojects', layer))
    for name, text in (('meson.build', SOMEBODY), ('it.c', SOMEBODYS)):
        with open(os.path.join(folder, name), 'w') as file:
            file.write(text)
    build = os.path.join(folder, 'build')
    run('meson', 'setup', '-Dcompress:compression-full=disabled', '-Dcompress:compression-gzip=enabled', build, folder)
    run('ninja', '-C', build, 'it')
    said = run(os.path.join(build, 'it'), env={'SECRET': 'x' * 32}).splitlines()
    if said != NEGOTIATED:
        raise Failed(f'it said {said}')


def main():
    root = os.path.abspath(sys.argv[1])
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        prefix = os.path.join(folder, 'usr')
        step(tap, 'http without configuration files, forms and TLS has none of them', check_without_features, root, folder,
             prefix)
    with tempfile.TemporaryDirectory() as folder:
        step(tap, 'the runtime without recordings refuses to record', check_unrecorded, root, folder)
    with tempfile.TemporaryDirectory() as everything:
        for layer in LAYERS:
            if not os.path.exists(os.path.join(root, layer, 'meson.build')):
                continue
            folder = os.path.join(everything, layer)
            build, prefix = os.path.join(folder, 'build'), os.path.join(folder, 'usr')
            lib = os.path.join(prefix, 'lib')
            os.mkdir(folder)
            if not step(tap, f'{layer} builds and installs alone', install, root, layer, build, prefix,
                        '--wrap-mode=nofallback'):
                continue
            for name in LIBRARIES.get(layer, (layer,)):
                step(tap, f'{name} probes its frames', check_frames, name, lib, build)
                step(tap, f'{name} is usable shared', use, name, prefix, lib, folder, False)
                step(tap, f'{name} is usable static', use, name, prefix, lib, folder, True)
            below.append(lib)
        del below[2:]  # the runtime and http
        for feature in AUTH_FEATURES:
            with tempfile.TemporaryDirectory() as folder:
                step(tap, f'auth without {feature} has nothing of it', check_auth_without, root, folder, feature)
        del below[1:]  # the runtime
        with tempfile.TemporaryDirectory() as folder:
            step(tap, 'auth without http has tokens and keys', check_auth_without_http, root, folder)
        with tempfile.TemporaryDirectory() as folder:
            step(tap, 'without TLS and tokens nothing needs wolfSSL', check_nothing_of_wolfssl, root, folder)
        for feature in (*CODINGS, None):
            with tempfile.TemporaryDirectory() as folder:
                step(tap, f'compress with {feature or "no coding"} alone has nothing of the others', check_coding_alone, root,
                     folder, feature)
    with tempfile.TemporaryDirectory() as folder:
        step(tap, 'compress and auth are subprojects of others, and compress negotiates what it has', check_subproject, root, folder)
    return tap.end()


sys.exit(main())
