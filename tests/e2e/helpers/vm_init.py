# The first and only process of a machine that vm.py started: does its jobs, and says on the second serial port what came
# of them.
import ctypes
import fcntl
import glob
import json
import os
import resource
import socket
import struct
import subprocess
import sys
import traceback

libc = ctypes.CDLL(None, use_errno=True)
SYS_finit_module = 313
RB_POWER_OFF = 0x4321fedc


def check(result, what):
    if result < 0:
        print(f'init: {what}: {os.strerror(ctypes.get_errno())}', file=sys.stderr, flush=True)


def mount(kind, where):
    os.makedirs(where, exist_ok=True)
    check(libc.mount(kind.encode(), where.encode(), kind.encode(), 0, None), f'mount {where}')


def bring_up(interface):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, 0x8914, struct.pack('16sH14x', interface, 0x41))   # SIOCSIFFLAGS: up, running


def prepare():
    os.environ.update(PATH='/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', HOME='/root', LC_ALL='C.UTF-8')
    for kind, where in (('proc', '/proc'), ('sysfs', '/sys'), ('devtmpfs', '/dev'), ('tmpfs', '/dev/shm'),
                        ('devpts', '/dev/pts')):
        mount(kind, where)
    for i, name in enumerate(('stdin', 'stdout', 'stderr')):
        os.symlink(f'/proc/self/fd/{i}', f'/dev/{name}')
    os.symlink('/proc/self/fd', '/dev/fd')
    for folder in ('/tmp', '/var/tmp', '/dev/shm'):
        os.makedirs(folder, exist_ok=True)
        os.chmod(folder, 0o1777)
    resource.setrlimit(resource.RLIMIT_NOFILE, (65536, 65536))
    bring_up(b'lo')
    for path in sorted(glob.glob('/modules/*')):
        fd = os.open(path, os.O_RDONLY)
        check(libc.syscall(SYS_finit_module, fd, b'', 0), path)
        os.close(fd)


def main():
    prepare()
    with open('/dev/ttyS1', 'w') as port, open('/jobs') as file:
        for job in json.load(file):
            print(f'=== begin {job["name"]}', file=port, flush=True)
            done = subprocess.run(job['args'], stdin=subprocess.DEVNULL, stdout=port, check=False,
                                  env={**os.environ, **job['env']}, cwd='/')
            print(f'\n=== end {job["name"]} {done.returncode}', file=port, flush=True)


try:
    main()
except BaseException:
    traceback.print_exc()
os.sync()
libc.reboot(ctypes.c_int(RB_POWER_OFF))
