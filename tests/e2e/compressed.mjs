// What others make of our codings.
//
//   compressed.mjs stdin CODING   decodes its input with node:zlib as it arrives
//   compressed.mjs fetch URL…     Chromium fetches; prints [coding, bytes, sha256] of each as JSON, a line each

import zlib from 'node:zlib';
import { pipeline } from 'node:stream/promises';
import { launch } from './scene.mjs';

const decoders = {
	gzip: zlib.createGunzip, deflate: zlib.createInflate, br: zlib.createBrotliDecompress, zstd: zlib.createZstdDecompress,
};

async function browse(urls) {
	const browser = await launch();
	try {
		const page = await browser.newPage();
		await page.goto(new URL('/hello', urls[0]).href);
		for (const url of urls)
			console.log(JSON.stringify(await page.evaluate(async url => {
				const answer = await fetch(url);
				const body = await answer.arrayBuffer();
				const sum = new Uint8Array(await crypto.subtle.digest('SHA-256', body));
				const hex = [...sum].map(byte => byte.toString(16).padStart(2, '0')).join('');
				return [answer.headers.get('content-encoding'), body.byteLength, hex];
			}, url)));
	} finally {
		await browser.close();
	}
}

const [what, ...rest] = process.argv.slice(2);
if (what === 'fetch') {
	await browse(rest);
} else if (!decoders[rest[0]]) {
	process.exit(77);
} else {
	await pipeline(process.stdin, decoders[rest[0]](), process.stdout);
}
