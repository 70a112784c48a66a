"""A disk that gives nothing holds nobody but those who asked for its files."""
from slow_disk import SlowDisk, content
from wire import KIB, MIB, Case, request

TECHNIQUES = ('auto', 'splice', 'ring-splice', 'sendfile', 'read-send', 'mmap', 'send-zc', 'dontcache')
DOWNLOADS = 4


class Slow(Case):
    def setUp(self):
        self.disk = SlowDisk(self.folder())
        self.addCleanup(self.disk.close)

    def download(self, server, kind, size, first):
        """Ask for files that nobody has read yet, and for something else while they are read."""
        self.disk.hold()
        wires = [server.connect() for _ in range(DOWNLOADS)]
        try:
            for i, wire in enumerate(wires):
                wire.send(request('GET', f'/files/{kind}-{first + i}'))
            self.eventually(lambda: self.disk.waiting() >= DOWNLOADS, what=lambda: f'{self.disk.waiting()} reads are waited for')
            with server.connect() as other:
                for _ in range(20):
                    self.assertEqual(other.ask(request('OPTIONS', '*')).status, 204)
            self.disk.release()
            for i, wire in enumerate(wires):
                self.assertTrue(wire.read().body == content(first + i, size))
        finally:
            self.disk.release()
            for wire in wires:
                wire.close()

    def test_downloads_hold_no_loop(self):
        for i, technique in enumerate(TECHNIQUES):
            server = self.serve(self.disk.folder, '--technique', technique)
            self.download(server, 'large', MIB, i * DOWNLOADS)
            self.download(server, 'middle', 64 * KIB, i * DOWNLOADS)
            self.download(server, 'small', 4 * KIB, i * DOWNLOADS)
            server.stop()
