// Uploads a file of random bytes by a client of tus in a real browser; prints what became of it as JSON.
//
//   node uploads.mjs tus-js-client|uppy ORIGIN BYTES
//
//   EDDY_NODE_MODULES  folder with playwright-core, tus-js-client and uppy (node_modules)
//   EDDY_CHROMIUM      the browser (/usr/bin/chromium)

import { launch } from './scene.mjs';

const modules = process.env.EDDY_NODE_MODULES;
const [client, origin, size] = process.argv.slice(2);
const libraries = { 'tus-js-client': 'tus-js-client/dist/tus.min.js', uppy: 'uppy/dist/uppy.min.js' };

// In the page.
async function upload([client, size]) {
	const bytes = new Uint8Array(size);
	for (let at = 0; at < size; at += 65536)
		crypto.getRandomValues(bytes.subarray(at, at + 65536));
	const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
	const file = new File([bytes], `${client}.bin`, { type: 'application/octet-stream' });
	const options = { endpoint: '/tus/', retryDelays: Array(60).fill(20) };
	let retries = 0;

	if (client === 'uppy') {
		const uppy = new Uppy.Uppy().use(Uppy.Tus, { ...options, onShouldRetry: () => ++retries > 0 });
		uppy.addFile({ name: file.name, type: file.type, data: file });
		const { failed } = await uppy.upload();
		if (failed.length)
			throw new Error(failed[0].error);
	} else {
		await new Promise((resolve, reject) => {
			new tus.Upload(file, {
				...options, metadata: { filename: file.name, filetype: file.type },
				onShouldRetry: () => ++retries > 0, onSuccess: resolve, onError: reject,
			}).start();
		});
	}
	return { digest: [...digest].map(byte => byte.toString(16).padStart(2, '0')).join(''), retries };
}

const browser = await launch();
try {
	const page = await (await browser.newContext()).newPage();
	await page.route('**/client.html', route => route.fulfill({ contentType: 'text/html', body: '<script src="client.js"></script>' }));
	await page.route('**/client.js', route => route.fulfill({ path: `${modules}/${libraries[client]}` }));
	await page.goto(`${origin}/client.html`);
	console.log(JSON.stringify(await page.evaluate(upload, [client, Number(size)])));
} finally {
	await browser.close();
}
