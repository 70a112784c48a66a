"""A part of 4 GiB that is saved takes no memory to speak of."""
import os
import shutil
import time

from wire import KIB, MIB, Case, is_sanitized, pattern, request

SIZE = 4 << 30


class Parts(Case):
    def upload(self, path):
        """Send a form with a field before and behind the file. Return: what the server's memory came to at most."""
        folder = self.folder()
        if shutil.disk_usage(folder).free < 2 * SIZE:
            self.skipTest('needs 8 GiB of disk')
        server = self.limits(dir=folder, file_max=2 * SIZE)
        before = b'--xYz\r\nContent-Disposition: form-data; name="a"\r\n\r\ntext\r\n' \
                 b'--xYz\r\nContent-Disposition: form-data; name="f"; filename="big"\r\n\r\n'
        behind = b'\r\n--xYz\r\nContent-Disposition: form-data; name="b"\r\n\r\ntext\r\n--xYz--\r\n'
        piece, began = pattern(MIB), time.monotonic()
        with server.connect(timeout=300) as wire:
            wire.send(request('POST', path, 'Content-Type: multipart/form-data; boundary=xYz',
                              f'Content-Length: {len(before) + SIZE + len(behind)}'))
            wire.send(before)
            for _ in range(SIZE // MIB):
                wire.send(piece)
            wire.send(behind)
            self.assertEqual(wire.read().status, 200)
        took, peak = time.monotonic() - began, server.peak()
        print(f'{path}: {took:.1f} s, {SIZE / took / 1e9:.2f} GB/s, at most {peak // KIB} KiB resident')
        saved = os.path.join(folder, 'big')
        self.assertEqual(os.path.getsize(saved), SIZE)
        with open(saved, 'rb') as file:
            for _ in range(SIZE // MIB):
                self.assertEqual(file.read(MIB), piece)
        os.unlink(saved)
        return peak

    def test_4_gib(self):
        for path in ('/parts/save', '/save-all'):
            peak = self.upload(path)
            if not is_sanitized():
                self.assertLess(peak, 16 * MIB)
