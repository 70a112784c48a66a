// A TLS tunnel by Node, as tunnel.go is one: tunnel.mjs client|server TARGET VERSION SUITE CA|CERT KEY.
import fs from 'node:fs';
import net from 'node:net';
import tls from 'node:tls';

const [role, target, version, suite, cert, key] = process.argv.slice(2);
const common = { minVersion: version, maxVersion: version, ciphers: suite, ALPNProtocols: ['http/1.1'], allowHalfOpen: true };
let session;

function report(socket) {
	console.log(socket.getProtocol(), socket.getCipher().standardName, socket.isSessionReused(), socket.alpnProtocol || '');
}

function pump(one, other) {
	for (const socket of [one, other])
		socket.on('error', (error) => { console.error(error); one.destroy(); other.destroy(); });
	one.pipe(other).pipe(one);
}

function dial(near) {
	const options = { ...common, host: '127.0.0.1', port: target, servername: 'localhost', ca: fs.readFileSync(cert), session };
	const far = tls.connect(options, () => { report(far); pump(near, far); });
	far.on('session', (ticket) => { session = ticket; });
}

function take(near) {
	report(near);
	pump(near, net.connect({ host: '127.0.0.1', port: target, allowHalfOpen: true }));
}

const server = role === 'client' ? net.createServer({ allowHalfOpen: true }, dial) :
	tls.createServer({ ...common, cert: fs.readFileSync(cert), key: fs.readFileSync(key) }, take);
server.on('tlsClientError', (error) => console.log('failed', error.message));
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
