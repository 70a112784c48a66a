"""Becomes a program that may make no other system calls than those of a unit's SystemCallFilter=: one beyond them kills it.

    filtered.py UNIT[,CALL…] PROGRAM ARGUMENT…
    filtered.py PROFILE.json PROGRAM ARGUMENT…
    filtered.py -CALL[,CALL…] PROGRAM ARGUMENT…

What follows the unit's path may be made as well. As EDDY_SERVER_WRAP it holds every server of the end-to-end tests against the unit.
A profile is that of a container without capabilities; what it does not allow fails as it says. After a dash are calls that alone fail, with EPERM.
"""
# needs: systemd
import ctypes
import json
import os
import re
import subprocess
import sys

ALLOW, KILL_PROCESS, ERRNO = 0x7fff0000, 0x80000000, 0x00050000
PR_SET_NO_NEW_PRIVS = 38
# Newer than libseccomp may be; they are what they are where it does not know them.
NUMBERS = {'cachestat': 451}
ENOSYS, EPERM = 38, 1


def members(name):
    """The system calls of a set, those of the sets in it as well."""
    text = subprocess.run(['systemd-analyze', 'syscall-filter', name], capture_output=True, text=True, check=True).stdout
    for word in re.findall(r'^    (?!#)(\S+)$', text, re.M):
        yield from members(word) if word.startswith('@') else [word]


def allowed(unit):
    with open(unit) as file:
        lines = re.findall(r'^SystemCallFilter=(.*)$', file.read(), re.M)
    # systemd adds these to each list.
    for word in ['@default', *' '.join(lines).split()]:
        yield from members(word) if word.startswith('@') else [word]


def allowed_by_profile(path):
    """The calls, and the error of all others. What is allowed with some arguments alone counts as allowed."""
    with open(path) as file:
        profile = json.load(file)
    machine = {'x86_64': 'amd64', 'aarch64': 'arm64'}.get(os.uname().machine)
    rules = [rule for rule in profile['syscalls'] if rule['action'] == 'SCMP_ACT_ALLOW'
             and not rule.get('includes', {}).get('caps') and machine in rule.get('includes', {}).get('arches', [machine])]
    return {name for rule in rules for name in rule['names']}, ERRNO | profile.get('defaultErrnoRet', EPERM)


def become_filtered(names, otherwise=KILL_PROCESS, action=ALLOW):
    seccomp = ctypes.CDLL('libseccomp.so.2', use_errno=True)
    seccomp.seccomp_init.restype = ctypes.c_void_p
    seccomp.seccomp_init.argtypes = [ctypes.c_uint32]
    seccomp.seccomp_rule_add.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint]
    seccomp.seccomp_load.argtypes = [ctypes.c_void_p]
    context = seccomp.seccomp_init(otherwise)
    for name in names:
        number = seccomp.seccomp_syscall_resolve_name(name.encode())
        if number >= 0:
            seccomp.seccomp_rule_add(context, action, number, 0)
    for name, number in NUMBERS.items():
        if name not in names and otherwise != ALLOW:
            seccomp.seccomp_rule_add(context, ERRNO | ENOSYS, number, 0)
    ctypes.CDLL(None).prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if seccomp.seccomp_load(context) < 0:
        sys.exit('filtered.py: the filter is refused')


if __name__ == '__main__':
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    if sys.argv[1].startswith('-'):
        become_filtered(sys.argv[1][1:].split(','), ALLOW, ERRNO | EPERM)
    elif sys.argv[1].endswith('.json'):
        become_filtered(*allowed_by_profile(sys.argv[1]))
    else:
        unit, *also = sys.argv[1].split(',')
        become_filtered({*allowed(unit), *also})
    os.execv(sys.argv[2], sys.argv[2:])
