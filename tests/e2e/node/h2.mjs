// Clients of HTTP/2 over TLS: h2.mjs node|chromium ORIGIN,… CA COUNT.
//
// Each gets /files/data COUNT times at once, puts it to /files/up0 … at once, and prints for each origin a line of JSON: the protocol and digests. Chromium also
// loads the images /files/0.bmp … /files/99.bmp in the page at /: their widths, protocols, and how many of them made a connection.

import crypto from 'node:crypto';
import fs from 'node:fs';
import http2 from 'node:http2';

const [kind, origins, ca, count] = process.argv.slice(2);

async function node(origin) {
	// A minimal system does not know localhost.
	const lookup = (name, { all }, done) => all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4);
	const session = http2.connect(origin, { ca: fs.readFileSync(ca), lookup });
	const ask = (fields, body) => new Promise((resolve, reject) => {
		const stream = session.request(fields, { endStream: !body }), pieces = [];
		stream.on('data', piece => pieces.push(piece)).on('end', () => resolve(Buffer.concat(pieces))).on('error', reject);
		if (body)
			stream.end(body);
	});
	const each = work => Promise.all(Array.from({ length: count }, (_, i) => work(i)));
	const bodies = await each(() => ask({ ':path': '/files/data' }));
	await each(i => ask({ ':method': 'PUT', ':path': `/files/up${i}` }, bodies[i]));
	session.close();
	return { protocol: session.alpnProtocol, digests: bodies.map(body => crypto.createHash('sha256').update(body).digest('hex')) };
}

async function inPage(count) {
	const each = (count, work) => Promise.all(Array.from({ length: count }, (_, i) => work(i)));
	const widths = await each(100, async i => {
		const image = new Image();
		image.src = `/files/${i}.bmp`;
		await image.decode();
		return image.naturalWidth;
	});
	const images = performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.bmp'));
	const digests = await each(count, async i => {
		const body = await (await fetch(`/files/data?${i}`)).arrayBuffer();
		await fetch(`/files/up${i}`, { method: 'PUT', body });
		const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', body));
		return Array.from(digest, byte => byte.toString(16).padStart(2, '0')).join('');
	});
	return { digests, widths, protocol: performance.getEntriesByType('navigation')[0].nextHopProtocol,
		protocols: [...new Set(images.map(({ nextHopProtocol }) => nextHopProtocol))],
		connected: images.filter(({ connectStart, connectEnd }) => connectEnd > connectStart).length };
}

const { launch } = kind === 'chromium' ? await import('./scene.mjs') : {};
const browser = await launch?.();

async function chromium(origin) {
	const page = await browser.newPage({ ignoreHTTPSErrors: true });
	await page.goto(origin);
	return page.evaluate(inPage, Number(count));
}

for (const origin of origins.split(','))
	console.log(JSON.stringify(await { node, chromium }[kind](origin)));
await browser?.close();
