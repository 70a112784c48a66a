"""Who takes part: eddy, bare techniques, and the servers that one would use instead, see peers/."""
import dataclasses
import os
import re
import resource
import shlex
import string
import subprocess

from servers import free_port, which

HERE = os.path.dirname(os.path.abspath(__file__))
CONFIGS = os.path.join(HERE, 'peers')
HELLO = b'Hello, World!'
PATHS = {'get': '/files/', 'put': '/up/', 'hello': '/'}


class Template(string.Template):
    """@word@ in a configuration."""
    pattern = r'@(?:(?P<named>[a-z]+)@|(?P<escaped>\A\Z)|(?P<braced>\A\Z)|(?P<invalid>\A\Z))'


@dataclasses.dataclass
class Peer:
    name: str
    works: str          # of get, put, hello
    command: str        # @words@ are filled in
    config: str = ''    # a file of peers/
    user: str = ''      # how its configuration says that it may stay root
    has_workers: bool = False
    version: tuple = ('-v',)
    env: dict = dataclasses.field(default_factory=dict)
    tls: dict = dataclasses.field(default_factory=dict)     # @words@ of its configuration or command for https://; without it they are empty
    plain: dict = dataclasses.field(default_factory=dict)   # those without https://
    http2: str = ''     # of plain, tls: over what it speaks HTTP/2
    http1: bool = True  # whether it speaks HTTP/1.1
    of_http2: dict = dataclasses.field(default_factory=dict)    # @words@ for HTTP/2; without it they are empty
    file: str = ''      # the only one with which it is measured

    @property
    def program(self):
        return which(self.command.split()[0])

    def does(self, cell):
        speaks = ('tls' if cell.key else 'plain') in self.http2.split() if cell.streams else self.http1
        return cell.work in self.works.split() and speaks and (self.tls or not cell.key) and self.file in ('', cell.file)

    def asked_version(self):
        done = subprocess.run([self.program, *self.version], capture_output=True, text=True, check=False)
        number = re.search(r'\d+\.\d+(\.\d+)?', done.stdout + done.stderr)
        return number.group() if number else None


NGINX = Peer('nginx', 'get put hello', 'nginx -p @folder@ -c @config@ -e @folder@/nginx.log', 'nginx.conf', 'user root;', True,
             tls={'tls': ' ssl', 'identity': 'ssl_protocols TLSv1.2 TLSv1.3; ssl_certificate "@cert@"; ssl_certificate_key "@key@";'},
             http2='plain tls', of_http2={'http': ' http2'})
PEERS = [
    NGINX,
    dataclasses.replace(NGINX, name='nginx-16k', works='get', file='1m', http1=False, of_http2={'http': ' http2', 'chunk': 'http2_chunk_size 16k;'}),
    Peer('h2o', 'get hello', 'h2o -c @config@', 'h2o.conf', 'user: root',
         tls={'tls': '\n  ssl:\n    certificate-file: "@cert@"\n    key-file: "@key@"'}, http2='plain tls'),
    Peer('nghttpd', 'get hello', 'nghttpd -a 127.0.0.1 -n @workers@ -d @root@ @port@@tls@', version=('--version',),
         tls={'tls': ' @key@ @cert@'}, plain={'tls': ' --no-tls'}, http2='plain tls', http1=False),
    Peer('lighttpd', 'get put hello', 'lighttpd -D -f @config@', 'lighttpd.conf'),
    Peer('haproxy', 'hello', 'haproxy -db -f @config@', 'haproxy.cfg', 'user root', tls={'tls': ' ssl crt "@both@"'}),
    Peer('go', 'get put hello', 'go @port@ @files@ @uploads@@tls@@http@', version=('version',), env={'GOMAXPROCS': '1'}, tls={'tls': ' @cert@ @key@'},
         http2='tls', of_http2={'http': ' h2'}),
    Peer('node', 'get put hello', 'node @peers@/server.mjs @port@ @files@ @uploads@'),
]


def installed(say):
    """Those that this machine has; a line for each that it has not."""
    for peer in PEERS:
        if peer.program:
            yield peer
        else:
            say(f'{peer.name} is not installed, and left out')


def built_go(folder, source='server.go', name='peer-go'):
    """A source of peers/ as a program in a build folder, which stays for the next run. It may import Debian's packages."""
    folder = os.path.join(folder, 'bench')
    program, source = os.path.join(folder, name), os.path.join(CONFIGS, source)
    if not os.path.exists(program) or os.path.getmtime(program) < os.path.getmtime(source):
        env = dict(os.environ, GO111MODULE='off', GOPATH='/usr/share/gocode', CGO_ENABLED='0', GOCACHE=os.path.join(folder, 'go-cache'))
        done = subprocess.run([which('go'), 'build', '-o', program, source], env=env, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError('go build: ' + done.stderr)
    return program


def start(bench, peer, work, key=None, http2=False):
    """A peer on a port of its own; of https:// if `key` says which kind it has."""
    descriptors = min(30000, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    port = free_port()
    folder = os.path.join(bench.folder, f'{peer.name}-{port}')
    os.mkdir(folder)
    words = {
        'port': port, 'folder': folder, 'files': bench.files, 'uploads': bench.uploads(peer.name), 'peers': CONFIGS,
        'root': bench.folder, 'hello': os.path.join(bench.folder, 'hello.txt'), 'config': os.path.join(folder, peer.config), 'workers': 1,
        'descriptors': descriptors, 'connections': descriptors * 3 // 5, 'user': '' if os.geteuid() else peer.user,
    }
    certificate = bench.certificate(key)
    words.update(vars(certificate) if certificate else {})
    for name in ('tls', 'identity'):
        words[name] = Template((peer.tls if key else peer.plain).get(name, '')).substitute(words)
    for name in ('http', 'chunk'):
        words[name] = peer.of_http2.get(name, '') if http2 else ''
    if peer.config:
        with open(os.path.join(CONFIGS, peer.config), encoding='utf-8') as file:
            text = Template(file.read()).substitute(words)
        with open(words['config'], 'w', encoding='utf-8') as file:
            file.write(text)
    for path in (words['hello'], os.path.join(bench.folder, 'hello')):
        with open(path, 'wb') as file:
            file.write(HELLO)
    command = Template(peer.command).substitute(words).split()
    command[0] = built_go(bench.builds['eddy']) if peer.name == 'go' else peer.program
    server = bench.start(peer.name, command, port, PATHS[work], has_workers=peer.has_workers, env=peer.env, certificate=certificate,
                         http2=http2)
    server.version, server.uploads = peer.asked_version(), words['uploads']
    return server


def start_own(bench, text, work):
    """One of --peer NAME=COMMAND."""
    name, _, command = text.partition('=')
    port = free_port()
    words = [word.replace('{port}', str(port)).replace('{folder}', bench.folder) for word in shlex.split(command)]
    return bench.start(name, words, port, PATHS[work])


def eddy_files(bench, folder, name='eddy', build='eddy', words=(), key=None, http2=False, wrap=lambda command: command, env=None):
    port = free_port()
    certificate = bench.certificate(key)
    command = [bench.program('../examples/files', build), folder, '--bind', f'127.0.0.1:{port}', *words]
    if certificate:
        command += ['--cert', certificate.cert, '--key', certificate.key]
    server = bench.start(name, wrap(command), port, '/files/', certificate=certificate, http2=http2, env=env)
    server.uploads, server.version = folder, bench.versions[build]
    return server


def eddy_small(bench, program, name='eddy', build='eddy', words=(), path='/', uploads=None, **options):
    """One of the servers of bench/, whose first word is its address."""
    port = free_port()
    server = bench.start(name, [bench.program(program, build), f'127.0.0.1:{port}', *words], port, path, **options)
    server.uploads, server.version = uploads, bench.versions[build]
    return server


def eddy_hello(bench, name='eddy', build='eddy', key=None, **options):
    certificate = bench.certificate(key)
    words = ['0', certificate.cert, certificate.key] if certificate else []
    return eddy_small(bench, 'hello', name, build, words, certificate=certificate, **options)


def bare(bench, name, technique, target):
    port = free_port()
    server = bench.start(name, [bench.program('reference/reference-transfer'), technique, str(port), target], port)
    server.uploads, server.version = target, bench.versions['eddy']
    return server


def bare_hello(bench, name):
    port = free_port()
    server = bench.start(name, [bench.program('reference/reference-hello'), str(port)], port)
    server.version = bench.versions['eddy']
    return server
