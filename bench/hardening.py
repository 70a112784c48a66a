"""Measures the cost of hardening: a hardened and an unhardened build take turns, round by round.

    meson setup -Doptimization=3 -Dhardening=false build-unhardened && ninja -C build-unhardened examples/files examples/tour
    python3 bench/hardening.py build build-unhardened [ROUNDS]

Prints what eddy-bench of the first build says of each cell: the second target's figures are ratios to the first's.
"""
import contextlib
import os
import subprocess
import sys
import tempfile

from overload import served

JSON = b'{"title":"buy milk","stars":3,"tags":["a","b","c"],"inner":{"x":1.5,"y":null,"z":true}}'


def main(hardened, unhardened, rounds='9'):
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        for name, size in (('4k', 4096), ('1m', 1 << 20)):
            with open(os.path.join(folder, name), 'wb') as file:
                file.write(os.urandom(size))
        body = os.path.join(folder, 'json')
        with open(body, 'wb') as file:
            file.write(JSON)
        ports = {}
        for name, build in (('unhardened', unhardened), ('hardened', hardened)):
            servers = served(build, 'examples/files', folder, '--bind', '127.0.0.1:0'), served(build, 'examples/tour', '--bind', '127.0.0.1:0')
            ports[name] = [stack.enter_context(server).port for server in servers]
        post = ('-X', 'POST', '-H', 'content-type: application/json', '--body-file', body)
        for cell, verb, which, path, more in (('GET 4 KiB', 'get', 0, '/files/4k', ()), ('GET 1 MiB', 'get', 0, '/files/1m', ()),
                                              ('GET /hello', 'get', 1, '/hello', ()), ('POST /json', 'req', 1, '/json', post)):
            targets = [f'{name}=http://127.0.0.1:{port[which]}{path}' for name, port in ports.items()]
            print(f'\n{cell}\n', flush=True)
            subprocess.run([os.path.join(hardened, 'bench/eddy-bench/eddy-bench'), verb, *targets, '-c', '16', '-r', rounds, '-t', '0.5',
                            '--no-system-calls', *more], check=True)


if __name__ == '__main__':
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])
