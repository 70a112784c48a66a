"""Go's net/http and Java's HttpClient as clients of HTTP/2, by programs in interop/."""
# needs: default-jdk-headless golang-go
import os
import shutil
import subprocess

from h2clients import Clients
from tls import at, setUpModule, tearDownModule  # noqa: F401

PROGRAMS_OF_PEERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'interop')


class Interop(Clients):
    def make(self, *command, **env):
        if not shutil.which(command[0]):
            self.skipTest(f'needs {command[0]}')
        subprocess.run(command, check=True, env={**os.environ, **env}, capture_output=True)

    def test_go(self):
        self.make('go', 'build', '-o', at('h2-go'), os.path.join(PROGRAMS_OF_PEERS, 'h2.go'), GO111MODULE='off', GOCACHE=at('go-cache'))
        self.exchange(at('h2-go'))

    def test_java(self):
        self.make('javac', '-d', at(''), os.path.join(PROGRAMS_OF_PEERS, 'H2.java'))
        self.exchange('java', '-cp', at(''), 'H2')
