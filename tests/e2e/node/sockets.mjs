// Peers of eddy's WebSockets and event streams.
//
//   sockets.mjs talk node|ws|chromium URL            a client of the program `sockets`: what it saw as JSON
//   sockets.mjs chat node|ws|chromium URL            two that are in a room: JSON of what each heard
//   sockets.mjs events node|npm|chromium URL EVENT   what EventSource hears until nothing is left: JSON of [last event id, data]
//   sockets.mjs serve [CERT KEY]                     a server by npm ws: prints its port, sends each message back

import { createRequire } from 'node:module';
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(path.join(path.resolve(process.env.EDDY_NODE_MODULES), 'x.js'));
const [role, ...args] = process.argv.slice(2);

// With the interface that browsers have: echoes of all sizes, and codes of either side. Runs in a browser as well.
async function talk(Socket, url) {
	const next = (socket, name) => new Promise((resolve, reject) => {
		socket.addEventListener(name, resolve, { once: true });
		if (name !== 'close')
			socket.addEventListener('close', event => reject(new Error(`closed by ${event.code} ${event.reason}`)), { once: true });
	});
	const open = async (url, protocols) => {
		const socket = new Socket(url, protocols);
		socket.binaryType = 'arraybuffer';
		await next(socket, 'open');
		return socket;
	};
	const exchange = async (socket, data) => {
		const heard = next(socket, 'message');
		socket.send(data);
		const back = (await heard).data;
		if (typeof data === 'string')
			return back === data;
		const bytes = new Uint8Array(back);
		return bytes.length === data.length && bytes.every((byte, i) => byte === data[i]);
	};
	const closed = async socket => {
		const { code, reason, wasClean } = await next(socket, 'close');
		return [code, reason, wasClean];
	};
	const socket = await open(`${url}/echo`, ['x', 'echo']);
	let echoed = 0;
	for (const size of [0, 1, 125, 126, 65535, 65536, 1 << 20]) {
		echoed += await exchange(socket, 'ab\u20ac\u{1f600}'.repeat(size / 5 + 1).slice(0, size).toWellFormed());
		echoed += await exchange(socket, Uint8Array.from({ length: size }, (_, i) => i * i % 251));
	}
	const { protocol, extensions } = socket;
	const mine = closed(socket);
	socket.close(3000, 'bye');
	const other = await open(`${url}/close`);
	const theirs = closed(other);
	other.send('4001 as you wish');
	const refused = new Socket(`${url}/nowhere`);
	await new Promise(resolve => refused.addEventListener('error', resolve));    // all that Node tells
	return { echoed, protocol, extensions, mine: await mine, theirs: await theirs, refused: true };
}

// And what npm ws has besides.
async function talkMore(WebSocket, url) {
	const socket = new WebSocket(`${url}/echo`);
	const next = name => new Promise(resolve => socket.once(name, resolve));
	await next('open');
	const pong = next('pong');
	socket.ping('are you there?');
	const ponged = String(await pong);
	const message = next('message');
	for (const [i, piece] of ['in ', 'three ', 'fragments'].entries())
		socket.send(piece, { fin: i === 2 });
	const joined = String(await message);
	socket.terminate();
	return { ponged, joined };
}

// Until it is told that nothing is left.
function events(Source, url, name) {
	return new Promise(resolve => {
		const source = new Source(url), heard = [];
		source.addEventListener(name, event => heard.push([event.lastEventId, event.data]));
		source.addEventListener('error', () => source.readyState === Source.CLOSED && resolve(heard));
	});
}

// The value of an expression in a page of that server.
async function inChromium(url, run) {
	const { launch } = await import('./scene.mjs');
	const browser = await launch();
	try {
		const page = await browser.newPage({ ignoreHTTPSErrors: true });
		await page.goto(new URL('/nothing', url.replace(/^ws/, 'http')).href);
		return await page.evaluate(run);
	} finally {
		await browser.close();
	}
}

// Both are in the room once each has heard itself.
async function chat(Socket, url) {
	const join = () => new Promise((resolve, reject) => {
		const socket = new Socket(url), heard = [];
		socket.addEventListener('open', () => socket.send('joins'));
		socket.addEventListener('error', reject);
		socket.addEventListener('message', ({ data }) => {
			if (data === 'joins')
				resolve({ socket, heard });
			else
				heard.push(data);
			if (data === 'all')
				socket.close();
		});
	});
	const both = [await join(), await join()];
	const closed = both.map(({ socket }) => new Promise(resolve => socket.addEventListener('close', resolve)));
	both[0].socket.send('hello');
	both[0].socket.send('all');
	await Promise.all(closed);
	return both.map(({ heard }) => heard);
}

const SOCKETS = { node: () => WebSocket, ws: () => require('ws').WebSocket };

async function client(run, kind, url) {
	if (kind === 'chromium')
		return inChromium(url, `(${run})(WebSocket, ${JSON.stringify(url)})`);
	const facts = await run(SOCKETS[kind](), url);
	return run === talk && kind === 'ws' ? { ...facts, ...await talkMore(SOCKETS.ws(), url) } : facts;
}

async function source(kind, url, name) {
	if (kind === 'chromium')
		return inChromium(url, `(${events})(EventSource, ${JSON.stringify(url)}, ${JSON.stringify(name)})`);
	return events(kind === 'node' ? EventSource : (await import(pathToFileURL(require.resolve('eventsource')))).EventSource, url, name);
}

// "ping" sends a ping, and "pong" when that is answered; "fragments" two of them; "close CODE REASON" closes.
function serve(cert, key) {
	const { WebSocketServer } = require('ws');
	const server = cert ? https.createServer({ cert: fs.readFileSync(cert), key: fs.readFileSync(key) }) : http.createServer();
	new WebSocketServer({
		server,
		handleProtocols: offered => offered.has('echo') && 'echo',
		perMessageDeflate: { threshold: 64 },
	}).on('connection', socket => socket.on('message', (data, isBinary) => {
		const [word, code, ...reason] = isBinary ? [] : String(data).split(' ');
		if (word === 'ping')
			socket.once('pong', () => socket.send('pong')).ping('p');
		else if (word === 'fragments')
			for (const [i, piece] of ['frag', '', 'ments'].entries())
				socket.send(piece, { fin: i === 2 });
		else if (word === 'close')
			socket.close(Number(code), reason.join(' '));
		else
			socket.send(data, { binary: isBinary });
	}));
	server.listen(0, '127.0.0.1', () => console.log(server.address().port));
}

const ROLES = { serve, events: source, talk: (...args) => client(talk, ...args), chat: (...args) => client(chat, ...args) };
// A timer of EventSource does not keep the process.
const patience = role !== 'serve' && setTimeout(() => process.exit(3), 60000);
const result = await ROLES[role](...args);

if (result) {
	clearTimeout(patience);
	console.log(JSON.stringify(result));
}
