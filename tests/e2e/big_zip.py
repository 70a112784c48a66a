"""Zip archives and files in them beyond 4 GiB."""
# needs: curl unzip
import os
import shutil
import subprocess
import time
import zipfile

from wire import MIB, Case, curl, pattern

SIZE = (4 << 30) + 12345


class Zip(Case):
    def test_beyond_4_gib(self):
        """A file that is larger, and files behind it, whose headers begin beyond."""
        folder, out = self.folder(), self.folder()
        if shutil.disk_usage(out).free < 3 * SIZE:
            self.skipTest('needs 12 GiB of disk')
        with open(os.path.join(folder, 'large'), 'wb') as file:
            for at in range(0, SIZE, 512 * MIB):
                file.seek(at)
                file.write(pattern(MIB, at)[:SIZE - at])
            file.truncate(SIZE)
        # The largest that needs no zip64.
        with open(os.path.join(folder, 'last'), 'wb') as file:
            file.truncate((4 << 30) - 2)
        with open(os.path.join(folder, 'small'), 'wb') as file:
            file.write(b'small')
        server = self.serve(folder)
        path, began = os.path.join(out, 'zip'), time.monotonic()
        curl('-o', path, f'http://127.0.0.1:{server.port}/files/?zip', timeout=600)
        print(f'{os.path.getsize(path) / (time.monotonic() - began) / 1e9:.2f} GB/s')
        with zipfile.ZipFile(path) as archive:
            self.assertIsNone(archive.testzip())
            self.assertEqual([(info.filename, info.file_size) for info in archive.infolist()],
                             [('large', SIZE), ('last', (4 << 30) - 2), ('small', 5)])
            self.assertGreater(archive.getinfo('small').header_offset, 8 << 30)
            self.assertEqual(archive.read('small'), b'small')
        done = subprocess.run(['unzip', '-t', path], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ''), done.stdout)
