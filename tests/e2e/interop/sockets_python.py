"""A peer of eddy's WebSockets by python3-websockets, as node/sockets.mjs is one: talk URL [CA], serve [CERT KEY]."""
import asyncio
import json
import ssl
import sys

import websockets


def context(*files):
    if not files:
        return None
    if len(files) == 1:
        return ssl.create_default_context(cafile=files[0])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*files)
    return context


async def talk(url, *ca):
    options = {'ssl': context(*ca), 'max_size': None}
    facts = {'echoed': 0}
    async with websockets.connect(f'{url}/echo', subprotocols=['x', 'echo'], **options) as socket:
        for size in (0, 1, 125, 126, 65535, 65536, 1 << 20):
            for data in (('grüße' * (size // 5 + 1))[:size], bytes(i * i % 251 for i in range(size))):
                await socket.send(data)
                facts['echoed'] += await socket.recv() == data
        facts['protocol'], facts['extensions'] = socket.subprotocol, ', '.join(each.name for each in socket.extensions)
        await asyncio.wait_for(await socket.ping('are you there?'), 10)
        facts['ponged'] = 'are you there?'
        await socket.send(['in ', 'three ', 'fragments'])
        facts['joined'] = await socket.recv()
        await socket.close(3000, 'bye')
        facts['mine'] = [socket.close_code, socket.close_reason, True]
    async with websockets.connect(f'{url}/close', **options) as socket:
        await socket.send('4001 as you wish')
        await socket.wait_closed()
        facts['theirs'] = [socket.close_code, socket.close_reason, True]
    try:
        await websockets.connect(f'{url}/nowhere', **options)
    except websockets.InvalidStatusCode as error:
        facts['refused'] = error.status_code
    print(json.dumps(facts))


async def echo(socket, *_):
    async for message in socket:
        word, _, rest = message.partition(' ') if isinstance(message, str) else ('', '', '')
        if word == 'ping':
            await (await socket.ping())
            await socket.send('pong')
        elif word == 'fragments':
            await socket.send(['frag', '', 'ments'])
        elif word == 'close':
            code, _, reason = rest.partition(' ')
            await socket.close(int(code), reason)
        else:
            await socket.send(message)


async def serve(*files):
    async with websockets.serve(echo, '127.0.0.1', 0, subprotocols=['echo'], ssl=context(*files), max_size=None) as server:
        print(next(iter(server.sockets)).getsockname()[1], flush=True)
        await asyncio.Future()


asyncio.run({'talk': talk, 'serve': serve}[sys.argv[1]](*sys.argv[2:]))
