// What others make of our codings.
//
//   compressed.mjs stdin CODING   decodes its input with node:zlib as it arrives
//   compressed.mjs fetch URL…     Chromium fetches; prints [coding, bytes, sha256] of each as JSON, a line each
//   compressed.mjs lines URL…     Chromium reads a stream; has read a line, asks /next for the next one; prints [coding, text]

import zlib from 'node:zlib';
import { pipeline } from 'node:stream/promises';
import { launch } from './scene.mjs';

const decoders = {
	gzip: zlib.createGunzip, deflate: zlib.createInflate, br: zlib.createBrotliDecompress, zstd: zlib.createZstdDecompress,
};

// These run in the page.
async function fetchWhole(url) {
	const answer = await fetch(url);
	const body = await answer.arrayBuffer();
	const sum = new Uint8Array(await crypto.subtle.digest('SHA-256', body));
	const hex = [...sum].map(byte => byte.toString(16).padStart(2, '0')).join('');
	return [answer.headers.get('content-encoding'), body.byteLength, hex];
}

async function fetchLines(url) {
	const answer = await fetch(url, { signal: AbortSignal.timeout(20000) });
	const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
	let text = '';
	for (let piece; !(piece = await reader.read()).done;) {
		text += piece.value;
		// Only the last line has been written when it comes.
		if (text.endsWith('\n'))
			await fetch('/next');
	}
	return [answer.headers.get('content-encoding'), text];
}

async function browse(work, urls) {
	const browser = await launch();
	try {
		const page = await browser.newPage();
		let origin;
		for (const url of urls) {
			// A page asks its own server only.
			if (origin !== new URL(url).origin) {
				await page.goto(new URL('/text/1', url).href);
				origin = new URL(url).origin;
			}
			console.log(JSON.stringify(await page.evaluate(work, url)));
		}
	} finally {
		await browser.close();
	}
}

const [what, ...rest] = process.argv.slice(2);
if (what === 'fetch') {
	await browse(fetchWhole, rest);
} else if (what === 'lines') {
	await browse(fetchLines, rest);
} else if (!decoders[rest[0]]) {
	process.exit(77);
} else {
	await pipeline(process.stdin, decoders[rest[0]](), process.stdout);
}
