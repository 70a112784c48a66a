"""A peer of eddy's WebSockets by libsoup, as node/sockets.mjs is one: talk URL [CA], serve [CERT KEY]."""
import json
import sys

import gi

gi.require_version('Soup', '3.0')
from gi.repository import Gio, GLib, Soup  # noqa: E402

TEXT, BINARY = Soup.WebsocketDataType.TEXT, Soup.WebsocketDataType.BINARY
NORMAL = GLib.PRIORITY_DEFAULT


def wait_for(what):
    """Run the loop until that is so."""
    while not what():
        GLib.MainContext.default().iteration(True)


class Client:
    def __init__(self, session, url, *protocols):
        self.heard, self.is_over = [], False
        session.websocket_connect_async(Soup.Message.new('GET', url), None, list(protocols), NORMAL, None, self.connected)
        self.socket = self.error = None
        wait_for(lambda: self.socket or self.error)

    def connected(self, session, result):
        try:
            self.socket = session.websocket_connect_finish(result)
        except GLib.Error as error:
            self.error = error
            return
        self.socket.set_max_incoming_payload_size(0)
        self.socket.connect('message', lambda _, kind, data: self.heard.append((kind, data.get_data() or b'')))
        self.socket.connect('closed', self.closed)

    def closed(self, *_):
        self.is_over = True

    def exchange(self, kind, data):
        self.socket.send_message(kind, GLib.Bytes.new(data))
        wait_for(lambda: self.heard or self.is_over)
        return self.heard.pop() == (kind, data)

    def end(self):
        wait_for(lambda: self.is_over)
        return [self.socket.get_close_code(), self.socket.get_close_data() or '', True]


def talk(url, ca=None):
    session = Soup.Session()
    session.add_feature_by_type(Soup.WebsocketExtensionManager)
    if ca:
        session.set_tls_database(Gio.TlsFileDatabase.new(ca))
    client, facts = Client(session, f'{url}/echo', 'x', 'echo'), {'echoed': 0}
    for size in (0, 1, 125, 126, 65535, 65536, 1 << 20):
        facts['echoed'] += client.exchange(TEXT, b'*' * size)
        facts['echoed'] += client.exchange(BINARY, bytes(i * i % 251 for i in range(size)))
    facts['protocol'] = client.socket.get_protocol()
    facts['extensions'] = ', '.join('permessage-deflate' for each in client.socket.get_extensions() if isinstance(each, Soup.WebsocketExtensionDeflate))
    client.socket.close(3000, 'bye')
    facts['mine'] = client.end()
    client = Client(session, f'{url}/close')
    client.socket.send_text('4001 as you wish')
    facts['theirs'] = client.end()
    facts['refused'] = str(Client(session, f'{url}/nowhere').error)
    print(json.dumps(facts))


def answer(socket, kind, data):
    bytes_ = data.get_data() or b''
    word, _, rest = bytes_.decode().partition(' ') if kind == TEXT else ('', '', '')
    if word == 'close':
        code, _, reason = rest.partition(' ')
        socket.close(int(code), reason)
    else:
        socket.send_message(kind, data)


SOCKETS = []


def opened(_server, _message, _path, socket):
    SOCKETS.append(socket)
    socket.set_max_incoming_payload_size(0)
    socket.connect('message', answer)


def serve(*files):
    server = Soup.Server()
    if files:
        server.set_tls_certificate(Gio.TlsCertificate.new_from_files(*files))
    server.add_websocket_handler('/', None, ['echo'], opened)
    ipv4 = Soup.ServerListenOptions.IPV4_ONLY
    server.listen_local(0, ipv4 | Soup.ServerListenOptions.HTTPS if files else ipv4)
    print(server.get_uris()[0].get_port(), flush=True)
    GLib.MainLoop().run()


{'talk': talk, 'serve': serve}[sys.argv[1]](*sys.argv[2:])
