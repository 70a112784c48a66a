"""The servers that are held against each other, all on loopback, each a process of its own."""
import os
import resource
import shutil
import signal
import socket
import subprocess
import time

NGINX_CONFIG = '''
{user}
worker_processes 1;
daemon off;
pid "{folder}/nginx.pid";
error_log "{folder}/nginx.log";
worker_rlimit_nofile {descriptors};
events {{ worker_connections {descriptors}; }}
http {{
    default_type application/octet-stream;
    access_log off;
    sendfile on;
    tcp_nopush on;
    open_file_cache max=1000 inactive=1h;
    open_file_cache_valid 1h;
    keepalive_requests 1000000000;
    client_max_body_size 0;
    client_body_buffer_size 1m;
    client_body_temp_path "{uploads}/.temp";
    proxy_temp_path "{folder}/proxy"; fastcgi_temp_path "{folder}/fastcgi";
    scgi_temp_path "{folder}/scgi"; uwsgi_temp_path "{folder}/uwsgi";
    server {{
        listen 127.0.0.1:{port} backlog=4096;
        location /files/ {{ root "{folder}"; }}
        location /up/ {{ alias "{uploads}/"; dav_methods PUT; }}
        location = /hello {{ default_type text/plain; return 200 "Hello, World!"; }}
    }}
}}
'''


def which(name):
    return shutil.which(name, path=os.environ.get('PATH', '') + ':/usr/sbin:/sbin')


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


class Server:
    """A running server. `pid` is the process that does the work."""

    def __init__(self, name, command, port, path, log, cpu=None, has_workers=False, env=None):
        self.name = name
        self.port = port
        self.path = path
        self.log = log
        self.field = ''  # that each request to it has in its head
        pin = (lambda: os.sched_setaffinity(0, {cpu})) if cpu is not None else None
        with open(log, 'w') as out:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, preexec_fn=pin,
                                            env=dict(os.environ, **(env or {})))
        try:
            self._await_port()
        except Exception:
            self.stop()
            raise
        self.pid = self._child() if has_workers else self.process.pid

    def _await_port(self):
        for _ in range(500):
            if self.process.poll() is not None:
                break
            try:
                socket.create_connection(('127.0.0.1', self.port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.02)
        raise RuntimeError(f'{self.name} does not start:\n{open(self.log).read()}')

    def _child(self):
        for _ in range(100):
            pid = self.process.pid
            children = open(f'/proc/{pid}/task/{pid}/children').read().split()
            if children:
                return int(children[0])
            time.sleep(0.02)
        raise RuntimeError(f'{self.name} has no worker')

    def url(self, name):
        return f'http://127.0.0.1:{self.port}{self.path}{name}'

    def cpu_seconds(self):
        """Of all its threads, the kernel's workers for it included."""
        return time.clock_gettime((~self.pid << 3) | 2)

    def resident_bytes(self):
        for line in open(f'/proc/{self.pid}/smaps_rollup'):
            if line.startswith('Rss:'):
                return int(line.split()[1]) * 1024
        raise RuntimeError(f'{self.name} has no Rss')

    def stop(self):
        if self.process.poll() is not None:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Bench:
    """Where everything is: programs, folders, processors."""

    def __init__(self, build, before, folder, uploads):
        self.builds = {'eddy': build}
        if before:
            self.builds['before'] = before
        self.folder = folder  # on a disk; its files are in the page cache
        self.uploads = uploads  # in memory
        self.server_cpu, self.client_cpu = processors()
        self.count = 0

    def program(self, name):
        return os.path.join(self.builds['eddy'], 'bench', name)

    def _start(self, name, command, port, path, **options):
        self.count += 1
        log = os.path.join(self.folder, f'{name}-{self.count}.log')
        return Server(name, command, port, path, log, self.server_cpu, **options)

    def eddy_files(self, name, folder):
        port = free_port()
        command = [os.path.join(self.builds[name], 'examples', 'files'), folder, '--bind', f'127.0.0.1:{port}']
        return self._start(name, command, port, '/files/')

    def eddy_hello(self, name):
        port = free_port()
        return self._start(name, [os.path.join(self.builds[name], 'bench', 'hello'), f'127.0.0.1:{port}'], port, '/')

    def nginx(self, path, uploads):
        port = free_port()
        config = os.path.join(self.folder, f'nginx-{port}.conf')
        descriptors = min(30000, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
        with open(config, 'w') as out:
            out.write(NGINX_CONFIG.format(folder=self.folder, uploads=uploads, port=port,
                                          descriptors=descriptors, user='' if os.geteuid() else 'user root;'))
        command = [which('nginx'), '-p', self.folder, '-c', config, '-e', os.path.join(self.folder, 'nginx.log')]
        return self._start('nginx', command, port, path, has_workers=True)

    def baseline(self, technique, target):
        port = free_port()
        return self._start(technique, [self.program('baseline'), technique, str(port), target], port, '/')


def processors():
    """One for the server and one for the client, on different cores; None, None where there is only one."""
    mine = sorted(os.sched_getaffinity(0))
    try:
        text = open(f'/sys/devices/system/cpu/cpu{mine[0]}/topology/thread_siblings_list').read()
        siblings = {int(n) for part in text.split(',') for n in range(int(part.split('-')[0]), int(part.split('-')[-1]) + 1)}
    except OSError:
        siblings = {mine[0]}
    others = [cpu for cpu in mine if cpu not in siblings] or mine[1:]
    return (mine[0], others[0]) if others else (None, None)
