"""A disk that gives nothing until it is told to: a file system (FUSE) whose reads are held back. It takes root."""
import ctypes
import os
import struct
import threading
import unittest

# The kernel's protocol (linux/fuse.h): what it asks, and how its structures begin.
LOOKUP, FORGET, GETATTR, OPEN, READ, RELEASE, FLUSH, INIT, OPENDIR, RELEASEDIR = 1, 2, 3, 14, 15, 18, 25, 26, 27, 29
INTERRUPT, BATCH_FORGET = 36, 42
IN, OUT = struct.Struct('<IIQQ'), struct.Struct('<IiQ')
HEADER_SIZE, READ_MAX, VALID_S = 40, 128 << 10, 1000
ENOENT, ENOSYS = 2, 38
ROOT, MNT_DETACH = 1, 2


def content(number, size):
    return (b'%d ' % number * size)[:size]


class SlowDisk:
    """The file `small-N` has 4 KiB, `middle-N` 64, `large-N` 1 MiB, each of content(N, its size)."""
    SIZES = {'small': 4 << 10, 'middle': 64 << 10, 'large': 1 << 20}

    def __init__(self, folder):
        libc = ctypes.CDLL(None, use_errno=True)
        try:
            self.fd = os.open('/dev/fuse', os.O_RDWR | os.O_CLOEXEC)
        except OSError as error:
            raise unittest.SkipTest(f'needs FUSE: {error}') from error
        options = f'fd={self.fd},rootmode=40000,user_id=0,group_id=0,allow_other,max_read={READ_MAX}'
        if libc.mount(b'slow', folder.encode(), b'fuse', 0, options.encode()) < 0:
            os.close(self.fd)
            raise unittest.SkipTest(f'needs the right to mount: {os.strerror(ctypes.get_errno())}')
        self.folder, self.libc = folder, libc
        self.lock = threading.Lock()
        self.files = [None, None]  # by inode: kind and number
        self.held = []
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def close(self):
        self.release()
        self.libc.umount2(self.folder.encode(), MNT_DETACH)
        self.thread.join(10)
        os.close(self.fd)

    def waiting(self):
        """Reads that are held back."""
        with self.lock:
            return len(self.held or ())

    def release(self):
        """Answer what waits, and from now on at once."""
        with self.lock:
            held, self.held = self.held, None
        for answer in held or ():
            self.reply(*answer)

    def hold(self):
        with self.lock:
            self.held = []

    def reply(self, unique, data=b'', error=0):
        try:
            os.write(self.fd, OUT.pack(OUT.size + len(data), -error, unique) + data)
        except OSError:
            pass  # who asked has been interrupted, or is gone

    def attributes(self, inode):
        size = self.SIZES[self.files[inode][0]] if inode != ROOT else 0
        mode, links = (0o40755, 2) if inode == ROOT else (0o100644, 1)
        return struct.pack('<6Q10I', inode, size, size // 512, 1, 1, 1, 0, 0, 0, mode, links, 0, 0, 0, 4096, 0)

    def look_up(self, unique, name):
        kind, _, number = name.partition('-')
        if kind not in self.SIZES or not number.isdigit():
            return self.reply(unique, error=ENOENT)
        file = (kind, int(number))
        if file not in self.files:
            self.files.append(file)
        inode = self.files.index(file)
        return self.reply(unique, struct.pack('<4Q2I', inode, 0, VALID_S, VALID_S, 0, 0) + self.attributes(inode))

    def read(self, unique, inode, offset, size):
        kind, number = self.files[inode]
        answer = (unique, content(number, self.SIZES[kind])[offset:offset + size])
        with self.lock:
            if self.held is not None:
                self.held.append(answer)
                return
        self.reply(*answer)

    def serve(self):
        while True:
            try:
                request = os.read(self.fd, READ_MAX * 2)
            except OSError:
                return  # it is not mounted any more
            length, what, unique, inode = IN.unpack_from(request)
            body = request[HEADER_SIZE:length]
            if what == INIT:
                self.reply(unique, struct.pack('<4I2H2I2HI', 7, 31, READ_MAX, 1, 16, 12, READ_MAX, 1, 32, 0, 0) + bytes(28))
            elif what == LOOKUP:
                self.look_up(unique, body.split(b'\0')[0].decode())
            elif what == GETATTR:
                self.reply(unique, struct.pack('<Q2I', VALID_S, 0, 0) + self.attributes(inode))
            elif what in (OPEN, OPENDIR):
                self.reply(unique, struct.pack('<Q2I', 1, 0, 0))
            elif what == READ:
                self.read(unique, inode, *struct.unpack_from('<QI', body, 8))
            elif what in (RELEASE, FLUSH, RELEASEDIR):
                self.reply(unique)
            elif what not in (FORGET, BATCH_FORGET, INTERRUPT):
                self.reply(unique, error=ENOSYS)
