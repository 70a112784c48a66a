"""A loopback of our own, with TCP as it is by default.

Where a machine's congestion control is one that paces (BBR), its timers bound large transfers over loopback, whatever the server does: on
one machine all of them took five times the processor time, and copying looked as cheap as splice. A network namespace has a setting of its
own; making one needs root, or namespaces of users.
"""
import ctypes
import fcntl
import os
import socket
import struct

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1
CONTROL = '/proc/sys/net/ipv4/tcp_congestion_control'
# Those that send what the window allows, at once.
UNPACED = ('cubic', 'reno')


def _write(path, text):
    with open(path, 'w', encoding='ascii') as file:
        file.write(text)


def _unshare():
    flags, uid, gid = CLONE_NEWNET, os.geteuid(), os.getegid()
    if uid:
        flags |= CLONE_NEWUSER
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(flags) < 0:
        raise OSError(ctypes.get_errno(), 'no network namespace can be made')
    if uid:
        _write('/proc/self/setgroups', 'deny')
        _write('/proc/self/uid_map', f'{uid} {uid} 1')
        _write('/proc/self/gid_map', f'{gid} {gid} 1')


def _raise_loopback():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack('16sH14x', b'lo', 0)
        flags = struct.unpack('16sH14x', fcntl.ioctl(any_socket, SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack('16sH14x', b'lo', flags | IFF_UP))


def control():
    with open(CONTROL, encoding='ascii') as file:
        return file.read().strip()


def enter():
    """Of this process and those that it starts. Return: a sentence on what TCP is now."""
    try:
        _unshare()
        _raise_loopback()
    except OSError as error:
        return _sentence(f'in the network of this machine ({error.strerror})')
    for name in UNPACED:
        if control() in UNPACED:
            break
        try:
            _write(CONTROL, name)
        except OSError:
            continue
    return _sentence('in a network namespace of its own')


def _sentence(where):
    name = control()
    paced = '' if name in UNPACED else ': where it paces, large transfers are bound by its timers and not by the server'
    return f'TCP on loopback {where}, with {name}{paced}'
