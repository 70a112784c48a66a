// The page of examples/files in a real browser; prints TAP.
//
//   EDDY_EXAMPLES      folder of the `files` executable (build/examples)
//   EDDY_NODE_MODULES  folder with playwright-core and axe-core (node_modules)
//   EDDY_SHOTS         folder for screenshots (none are made)
//   EDDY_CHROMIUM      the browser (/usr/bin/chromium)
//
// Arguments: parts of the names of the cases to run.

import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import fs from 'node:fs';
import { Scene, barriers, chromium, complaints, foreign, launch, sha, until } from './scene.mjs';
import * as folders from './page_folders.mjs';
import * as live from './page_live.mjs';
import * as plain from './page_plain.mjs';

const MIB = 1024 * 1024;
const NARROW = { viewport: { width: 360, height: 740 }, deviceScaleFactor: 2 };
const WIDE = { viewport: { width: 1280, height: 900 } };
const DARK = { ...WIDE, colorScheme: 'dark' };
const random = size => crypto.randomBytes(size);
const rangeOf = head => /^range: bytes=(\d+)-/im.exec(head)?.[1];

// The content that an action makes the browser save.
async function saved(s, act) {
	const [download] = await Promise.all([s.page.waitForEvent('download'), act()]);
	return fs.readFileSync(await download.path());
}

const axe = async (s, what) => assert.deepEqual(await barriers(s.page), [], what);

const cases = [];
const test = (name, options, run) => cases.push({ name, options, run });

const SOME = {
	'notes.txt': 'a few words\n', 'empty.lock': '', 'photo 10.jpg': 4821002, 'photo 9.jpg': 1234567,
	'Río — currents.csv': 48213, 'backup.tar.zst': 4 * 1024 * MIB,
};

test('the list shows names, sizes and dates', { files: SOME }, async s => {
	fs.utimesSync(`${s.folder}/notes.txt`, 1772750000, 1772750000);
	await s.page.getByRole('button', { name: 'Refresh' }).click();
	await s.page.waitForFunction(() => document.querySelector('time[datetime="2026-03-05T22:33:20.000Z"]'));
	assert.deepEqual(await s.listed(),
		['backup.tar.zst', 'empty.lock', 'notes.txt', 'photo 9.jpg', 'photo 10.jpg', 'Río — currents.csv']);
	assert.match(await s.row('notes.txt').locator('time').textContent(), /5 Mar 2026.*22:33/);
	assert.equal(await s.row('photo 9.jpg').locator('td.size span').first().textContent(), '1.23 MB');
	assert.equal(await s.row('photo 9.jpg').locator('td.size span').first().getAttribute('title'), '1,234,567 bytes');
	assert.equal(await s.row('empty.lock').locator('td.size span').first().textContent(), '0 bytes');
	assert.match(await s.page.locator('#summary').textContent(), /^6 files · 4\.3 GB$/);
	await s.shot('wide');
});

test('the page comes with a strict CSP and nosniff', { files: SOME }, async s => {
	const headers = s.answer.headers();
	assert.match(headers['content-security-policy'], /default-src 'none'/);
	assert.doesNotMatch(headers['content-security-policy'], /unsafe|https?:|\*/);
	assert.equal(headers['x-content-type-options'], 'nosniff');
	const paths = s.wire.heads.map(h => h.split(' ')[1]);
	assert.ok(!paths.includes('/favicon.ico'), 'the icon is in the page');
});

test('two files are uploaded with progress', {}, async s => {
	const files = { 'one.bin': random(18 * MIB), 'two ü.bin': random(14 * MIB) }; // buffers on the way hold a few MiB
	s.wire.rate.up = 6 * MIB;
	await s.page.evaluate(() => {
		window.seen = {};
		setInterval(() => document.querySelectorAll('#transfers-list li').forEach(li => {
			const bar = li.querySelector('progress');
			(window.seen[li.querySelector('.name').textContent] ??= new Set()).add(bar.value);
		}), 20);
	});
	await s.choose(files);
	await s.state('one.bin', 'run');
	await s.page.waitForFunction(() => / left$/.test(document.querySelector('#transfers-list .note').textContent));
	assert.match(await s.line('one.bin').locator('.note').textContent(), /^\d+% · [\d.]+ \wB of 18\.9 MB · [\d.]+ \wB\/s · \d+ s left$/);
	assert.match(await s.page.title(), /^\d+% · Files/);
	await s.shot('uploading');
	for (const [name, content] of Object.entries(files)) {
		await s.state(name, 'done');
		assert.equal(sha(s.read(name)), sha(content), name);
		const steps = await s.page.evaluate(name => [...window.seen[name]].filter(v => v > 0 && v < 1).length, name);
		assert.ok(steps >= 3, `${name}: ${steps} steps of its bar`);
	}
	await s.row('one.bin').waitFor();
	await s.row('two ü.bin').waitFor();
	assert.deepEqual(s.names(), ['one.bin', 'two ü.bin']);
});

test('files may be dropped anywhere', {}, async s => {
	await s.page.evaluate(() => {
		const dataTransfer = new DataTransfer();
		dataTransfer.items.add(new File(['dropped'], 'dropped.txt'));
		const at = document.querySelector('footer');
		at.dispatchEvent(new DragEvent('dragover', { dataTransfer, bubbles: true, cancelable: true }));
		if (!document.documentElement.classList.contains('dragging'))
			throw new Error('nothing shows that files can be dropped');
		at.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
	});
	await s.state('dropped.txt', 'done');
	assert.equal(s.read('dropped.txt').toString(), 'dropped');
});

test('many uploads wait their turn and all arrive', {}, async s => {
	const files = Object.fromEntries(Array.from({ length: 120 }, (_, i) => [`n${i}.txt`, `content ${i}`]));
	await s.choose(files);
	await s.page.getByText('120 of 120 done').waitFor();
	assert.ok(await s.page.locator('#transfers-list li').count() <= 40);
	assert.equal(s.names().length, 120);
	assert.equal(s.read('n77.txt').toString(), 'content 77');
	await s.page.getByText('120 files').first().waitFor();
	await s.page.getByRole('button', { name: 'Clear finished' }).click();
	await s.page.locator('#transfers').waitFor({ state: 'hidden' });
});

test('a link downloads the file, byte for byte', { files: { 'a b%20c#?.bin': random(3 * MIB + 1) } }, async s => {
	const got = await saved(s, () => s.row('a b%20c#?.bin').getByRole('link').click());
	assert.equal(sha(got), sha(s.read('a b%20c#?.bin')));
});

const get = (s, name) => s.row(name).getByRole('button', { name: /^Download/ }).click();

for (const size of [0, 1, 5 * MIB + 3]) {
	test(`a download by the page is whole: ${size} bytes`, { files: { 'whole.bin': random(size) } }, async s => {
		assert.equal(sha(await saved(s, () => get(s, 'whole.bin'))), sha(s.read('whole.bin')));
		await s.state('whole.bin', 'done');
	});
}

test('a download whose connection was cut resumes by Range', { files: { 'cut.bin': random(8 * MIB + 5) } }, async s => {
	s.wire.cutAfter = 3 * MIB;
	const got = await saved(s, async () => {
		await get(s, 'cut.bin');
		await s.state('cut.bin', 'cut');
		assert.match(await s.line('cut.bin').locator('.note').textContent(), /^Connection lost, trying again in 1 s · \d+% · /);
		await s.shot('interrupted');
	});
	assert.equal(sha(got), sha(s.read('cut.bin')));
	const heads = s.wire.requests('GET', '/files/cut.bin');
	assert.equal(heads.length, 2);
	assert.equal(rangeOf(heads[0]), undefined);
	assert.ok(rangeOf(heads[1]) > 0 && rangeOf(heads[1]) <= 3 * MIB, heads[1]);
	assert.match(heads[1], /^if-range: "[^"]+"\r$/im);
});

test('it resumes by hand once the server is back', { files: { 'back.bin': random(6 * MIB) } }, async s => {
	s.wire.cutAfter = 2 * MIB;
	await get(s, 'back.bin');
	await s.state('back.bin', 'cut');
	s.wire.down = true;
	s.wire.cutAll();
	await s.line('back.bin').getByText('trying again in 2 s').waitFor();
	s.wire.down = false;
	const got = await saved(s, () => s.line('back.bin').getByRole('button', { name: 'Resume' }).click());
	assert.equal(sha(got), sha(s.read('back.bin')));
	assert.ok(rangeOf(s.wire.requests('GET', '/files/back.bin').at(-1)) > 0);
});

test('a paused download resumes by Range', { files: { 'halt.bin': random(6 * MIB) } }, async s => {
	s.wire.rate.down = 4 * MIB;
	await get(s, 'halt.bin');
	await s.page.waitForFunction(() => document.querySelector('progress')?.value > 0.2);
	await s.line('halt.bin').getByRole('button', { name: 'Pause' }).click();
	await s.state('halt.bin', 'pause');
	s.wire.rate.down = 0;
	const got = await saved(s, () => s.line('halt.bin').getByRole('button', { name: 'Resume' }).click());
	assert.equal(sha(got), sha(s.read('halt.bin')));
	assert.ok(rangeOf(s.wire.requests('GET', '/files/halt.bin').at(-1)) > MIB);
});

test('a file that changed meanwhile starts over', { files: { 'new.bin': random(6 * MIB) } }, async s => {
	s.wire.rate.down = 4 * MIB;
	await get(s, 'new.bin');
	await s.page.waitForFunction(() => document.querySelector('progress')?.value > 0.2);
	await s.line('new.bin').getByRole('button', { name: 'Pause' }).click();
	s.put('new.bin', random(5 * MIB));
	s.wire.rate.down = 0;
	const got = await saved(s, () => s.line('new.bin').getByRole('button', { name: 'Resume' }).click());
	assert.equal(sha(got), sha(s.read('new.bin')));
	assert.ok(rangeOf(s.wire.requests('GET', '/files/new.bin').at(-1)) > 0);
});

test('the browser resumes the plain link by Range as well', { files: { 'plain.bin': random(8 * MIB) } }, async s => {
	s.wire.cutAfter = 3 * MIB;
	const got = await saved(s, () => s.row('plain.bin').getByRole('link').click());
	assert.equal(sha(got), sha(s.read('plain.bin')));
	assert.ok(rangeOf(s.wire.requests('GET', '/files/plain.bin').at(-1)) > 0);
});

// Nobody can press the button of a file dialog here: a file of the browser's private store stands in
// for the one that would have been chosen there.
const pickPrivate = () => {
	window.showSaveFilePicker = async options => {
		const folder = await navigator.storage.getDirectory();
		return folder.getFileHandle('chosen', { create: true }).then(h => (window.chosen = h, window.options = options, h));
	};
};

test('a large download goes straight into the chosen file and resumes', { init: pickPrivate }, async s => {
	const size = 80 * MIB;
	const blocks = [0, 39, 40, 60, 79].map(i => [i * MIB, random(MIB)]);
	s.put('large.bin', size);
	const fd = fs.openSync(`${s.folder}/large.bin`, 'r+');
	for (const [at, data] of blocks)
		fs.writeSync(fd, data, 0, data.length, at);
	fs.closeSync(fd);
	await s.page.getByRole('button', { name: 'Refresh' }).click();
	await s.row('large.bin').waitFor();
	s.wire.cutAfter = 40 * MIB;
	await get(s, 'large.bin');
	await s.state('large.bin', 'done');
	const heads = s.wire.requests('GET', '/files/large.bin');
	assert.ok(rangeOf(heads.at(-1)) > 10 * MIB, heads.join('\n'));
	assert.equal(await s.page.evaluate(() => window.options.suggestedName), 'large.bin');
	assert.equal(await s.page.evaluate(async () => (await window.chosen.getFile()).size), size);
	for (const [at, data] of blocks) {
		const got = await s.page.evaluate(async ([from, to]) => {
			const part = await (await window.chosen.getFile()).slice(from, to).arrayBuffer();
			const hash = await crypto.subtle.digest('SHA-256', part);
			return [...new Uint8Array(hash)].map(b => b.toString(16).padStart(2, '0')).join('');
		}, [at, at + MIB]);
		assert.equal(got, sha(data), `at ${at}`);
	}
});

test('a cancelled upload leaves nothing', {}, async s => {
	s.wire.rate.up = 8 * MIB;
	await s.choose({ 'gone.bin': random(40 * MIB) }); // more than all buffers on the way hold
	await s.page.waitForFunction(() => document.querySelector('progress')?.value > 0);
	await s.line('gone.bin').getByRole('button', { name: 'Cancel' }).click();
	await s.state('gone.bin', 'stop');
	s.wire.rate.up = 0;
	await s.page.getByRole('button', { name: 'Refresh' }).click();
	await until('an empty folder', () => s.names().length === 0);
	await s.page.getByText('Nothing here yet').waitFor();
	assert.deepEqual(await s.listed(), []);
});

// Of a size that fits in no 32 bits, signed or not; little of it is ever read.
test('an upload of gigabytes tells how far it is, and leaves nothing when cancelled', {}, async s => {
	const size = 5 * 1024 * MIB + 3;
	s.wire.rate.up = 4 * MIB;
	await s.choose({ 'huge.iso': size });
	const line = s.line('huge.iso');
	const note = await until('the time that is left', async () =>
		/.* min left$/.exec(await line.locator('.note').textContent())?.[0]);
	const told = /^0% · ([\d.]+) (kB|MB) of 5\.37 GB · ([\d.]+) (kB|MB)\/s · (?:(\d+) h )?(\d+) min left$/.exec(note);
	assert.ok(told, note);
	const bytes = (number, unit) => number * { kB: 1e3, MB: 1e6 }[unit];
	const left = (told[5] ?? 0) * 60 + Number(told[6]);
	const wanted = (size - bytes(told[1], told[2])) / bytes(told[3], told[4]) / 60;
	assert.ok(Math.abs(left - wanted) <= 1 + wanted / 20, `${note}: it takes ${wanted} min`);
	const bar = await line.getByRole('progressbar').evaluate(({ value, max }) => ({ value, max }));
	assert.ok(bar.max === 1 && bar.value > 0 && bar.value < 0.01, `its bar is at ${bar.value} of ${bar.max}`);
	assert.match(await s.page.title(), /^0% · Files/);
	assert.match(s.wire.heads.filter(h => h.startsWith('PATCH /uploads/')).join(), new RegExp(`^content-length: ${size}\r$`, 'im'));
	await axe(s, 'gigabytes on their way');
	await s.state('huge.iso', 'run');
	assert.deepEqual(s.names(), []);
	await line.getByRole('button', { name: 'Cancel' }).click();
	await s.state('huge.iso', 'stop');
	s.wire.rate.up = 0;
	await s.page.getByRole('button', { name: 'Refresh' }).click();
	await s.page.getByText('Nothing here yet').waitFor();
	assert.deepEqual(s.names(), []);
});

const slowToRead = () => {
	const { arrayBuffer } = Blob.prototype;
	const released = new Promise(done => { window.release = done; });
	Blob.prototype.arrayBuffer = function () { return released.then(() => arrayBuffer.call(this)); };
};

test('cancelled and begun again at once, an upload is sent once', { init: slowToRead }, async s => {
	await s.choose({ 'once.txt': 'x' });
	await s.line('once.txt').getByRole('button', { name: 'Cancel' }).click();
	await s.line('once.txt').getByRole('button', { name: 'Upload again' }).click();
	await s.state('once.txt', 'run');
	await s.page.evaluate(() => window.release());
	await s.state('once.txt', 'done');
	await s.page.getByRole('button', { name: 'Refresh' }).click();
	await s.row('once.txt').waitFor();
	assert.equal(s.wire.heads.filter(head => head.startsWith('PUT ')).length, 1);
});

test('uploads go on by themselves once the server is back', {}, async s => {
	const files = Object.fromEntries(Array.from({ length: 5 }, (_, i) => [`${i}.bin`, random(4 * MIB)]));
	const states = () => s.page.locator('#transfers-list li').evaluateAll(list => list.map(li => li.dataset.state));
	s.wire.rate.up = MIB;
	await s.choose(files);
	await s.page.waitForFunction(() => document.querySelector('progress')?.value > 0.1);
	s.wire.down = true;
	s.wire.cutAll();
	await s.line('0.bin').getByText('The server can’t be reached, trying again in 2 s').waitFor();
	await s.state('2.bin', 'cut');
	assert.deepEqual((await states()).slice(3), ['wait', 'wait'], 'those that wait do not run into the same trouble');
	assert.deepEqual(s.names(), []);
	s.wire.down = false;
	s.wire.rate.up = 0;
	for (const [name, content] of Object.entries(files)) {
		await s.state(name, 'done');
		assert.equal(sha(s.read(name)), sha(content));
	}
});

const offsetOf = head => Number(/^upload-offset: (\d+)/im.exec(head)?.[1]);
const patches = s => s.wire.heads.filter(h => h.startsWith('PATCH /uploads/'));

test('an upload whose connection was cut resumes where it was', {}, async s => {
	const content = random(24 * MIB);
	s.wire.rate.up = 8 * MIB;
	await s.choose({ 'cut.bin': content });
	await s.page.waitForFunction(() => document.querySelector('progress')?.value > 0.5);
	s.wire.cutAll();
	await s.state('cut.bin', 'cut');
	await s.state('cut.bin', 'done');
	assert.equal(sha(s.read('cut.bin')), sha(content));
	// Chromium itself may repeat a request that got no answer on a connection that had been used before.
	assert.ok(patches(s).length <= 3);
	assert.equal(offsetOf(patches(s)[0]), 0);
	assert.ok(offsetOf(patches(s).at(-1)) > 4 * MIB, patches(s).at(-1));
});

test('a small file whose response was lost is uploaded once, without a question', {}, async s => {
	await s.page.route('**/files/small.txt', async route => {
		await route.fetch();
		await route.abort('connectionreset');
	}, { times: 1 });
	await s.choose({ 'small.txt': 'small' });
	await s.state('small.txt', 'cut');
	await s.state('small.txt', 'done');
	assert.equal(s.wire.requests('PUT', '/files/small.txt').length, 2);
	assert.equal(await s.page.locator('#transfers-list li').count(), 1);
	assert.ok(!s.exists('small (2).txt'));
});

test('uploads go on by themselves after a reload, and not in two windows', {}, async s => {
	const files = { 'a.bin': random(24 * MIB), 'b.bin': random(20 * MIB), 'c.bin': random(2 * MIB), 'd.bin': random(2 * MIB), 'e.txt': 'small' };
	s.wire.rate.up = 4 * MIB;
	await s.choose(files);
	await s.page.waitForFunction(() => document.querySelector('progress')?.value > 0.4);
	await s.page.waitForTimeout(1000); // the browser's database is told of files in its own time
	await s.page.reload();
	await s.state('a.bin', 'run', 'done');
	const other = await s.context.newPage();
	await other.goto(s.origin);
	await other.waitForTimeout(1000);
	assert.equal(await other.locator('#transfers-list li').count(), 0);
	await other.close();
	await s.shot('resumed');
	s.wire.rate.up = 0;
	await s.state('a.bin', 'done');
	await s.state('b.bin', 'done');
	for (const [name, content] of Object.entries(files)) {
		await until(name, () => s.exists(name)); // a small one was done before
		assert.equal(sha(s.read(name)), sha(content), name);
	}
	assert.ok(patches(s).some(h => offsetOf(h) > MIB), patches(s).join('\n'));
	await s.page.reload();
	await s.page.waitForTimeout(1000);
	assert.equal(await s.page.locator('#transfers-list li').count(), 0, 'what is done is not kept');
});

test('without the file, an upload asks for it after a reload', { init: () => {
	const { put } = IDBObjectStore.prototype;
	IDBObjectStore.prototype.put = function (value, ...key) { // of a file that is too large to be copied
		if (value instanceof File)
			throw new DOMException('', 'DataCloneError');
		return put.call(this, value, ...key);
	};
	addEventListener('unhandledrejection', e => e.preventDefault());
} }, async s => {
	const content = random(24 * MIB);
	s.wire.rate.up = 8 * MIB;
	await s.choose({ 'again.bin': content });
	await s.page.waitForFunction(() => document.querySelector('progress')?.value > 0.4);
	await s.page.reload();
	await s.state('again.bin', 'need');
	await s.line('again.bin').getByText('Choose the same file again to go on.').waitFor();
	await axe(s, 'an upload that needs its file');
	await s.shot('need');
	s.wire.rate.up = 0;
	const [chooser] = await Promise.all([s.page.waitForEvent('filechooser'), s.line('again.bin').getByRole('button', { name: 'Choose the file' }).click()]);
	await chooser.setFiles(`${s.folders.at(-1)}/again.bin`);
	await s.state('again.bin', 'done');
	assert.equal(sha(s.read('again.bin')), sha(content));
	assert.ok(offsetOf(patches(s).at(-1)) > MIB);
	assert.equal(await s.page.locator('#transfers-list li').count(), 1);
});

test('where the server limits them, uploads go in pieces', { args: ['--append-max', String(MIB)] }, async s => {
	const content = random(3 * MIB + 5);
	await s.choose({ 'pieces.bin': content });
	await s.state('pieces.bin', 'done');
	assert.equal(sha(s.read('pieces.bin')), sha(content));
	assert.deepEqual(patches(s).map(offsetOf), [0, MIB, 2 * MIB, 3 * MIB]);
});

test('an upload that can’t be resumed is sent in one request', {}, async s => {
	const statuses = [501, 507];
	await s.page.route('**/files/*.bin', route => (route.request().method() !== 'POST' ? route.continue() :
		route.fulfill({ status: statuses.pop(), contentType: 'application/problem+json', body: '{"detail":"no"}' })));
	for (const name of ['full.bin', 'mount.bin']) {
		const data = random(2 * MIB);
		await s.choose({ [name]: data });
		await s.state(name, 'done');
		assert.equal(sha(s.read(name)), sha(data));
	}
	assert.equal(statuses.length, 0);
});

test('an upload that the server has discarded is told after a reload', {}, async s => {
	s.wire.rate.up = 4 * MIB;
	await s.choose({ 'lost.bin': random(24 * MIB) });
	await s.page.waitForFunction(() => document.querySelector('progress')?.value > 0.2);
	await s.page.waitForTimeout(1000);
	await s.page.goto('about:blank');
	await until('its end', () => fs.rmSync(`${s.folder}/.eddy-uploads`, { recursive: true, force: true }) || true);
	s.wire.rate.up = 0;
	await s.page.goto(s.origin);
	await s.state('lost.bin', 'fail');
	await s.line('lost.bin').getByText('The server has discarded what was sent of it.').waitFor();
	await s.line('lost.bin').getByRole('button', { name: 'Try again' }).click();
	await s.state('lost.bin', 'done');
});

test('a device that is online again goes on at once', { init: () => (window.setTimeout = (set => (act, ms, ...args) => set(act, ms === 60000 ? 60000 : ms > 700 && ms < 10000 ? 1e6 : ms, ...args))(setTimeout)) }, async s => {
	const content = random(8 * MIB);
	s.wire.rate.up = MIB / 2;
	await s.choose({ 'online.bin': content });
	await s.page.waitForFunction(() => document.querySelector('progress')?.value > 0.2);
	s.wire.cutAll();
	await s.state('online.bin', 'cut');
	s.wire.rate.up = 0;
	await s.page.evaluate(() => dispatchEvent(new Event('online')));
	await s.state('online.bin', 'done');
	assert.equal(sha(s.read('online.bin')), sha(content));
});

test('an upload that is cut can be tried again at once, or given up', {}, async s => {
	s.wire.rate.up = MIB;
	await s.choose({ 'again.bin': random(4 * MIB), 'not.bin': random(4 * MIB) });
	await s.page.waitForFunction(() => document.querySelector('progress')?.value > 0.1);
	s.wire.down = true;
	s.wire.cutAll();
	await s.line('again.bin').getByText('trying again in 4 s').waitFor();
	await s.state('not.bin', 'cut');
	// These take so long on a busy machine that nothing is tried by itself any more.
	await axe(s, 'uploads that are cut');
	await s.shot('uploads-cut');
	await s.line('not.bin').getByRole('button', { name: 'Cancel' }).click();
	s.wire.down = false;
	s.wire.rate.up = 0;
	const from = Date.now();
	await s.line('again.bin').getByRole('button', { name: 'Try again' }).click();
	await s.state('again.bin', 'done');
	assert.ok(Date.now() - from < 3000, 'not when the time has come, but now');
	assert.deepEqual(s.names(), ['again.bin']);
});

// A clock that can be set ahead.
const skewed = () => {
	const now = performance.now.bind(performance);
	window.ahead = 0;
	performance.now = () => now() + window.ahead;
};

test('a transfer that stands still says so, and promises nothing', { init: skewed }, async s => {
	s.wire.rate.up = 4 * MIB;
	await s.choose({ 'still.bin': random(40 * MIB) });
	await s.page.waitForFunction(() => / left$/.test(document.querySelector('#transfers-list .note')?.textContent));
	// A laptop sleeps for ten minutes: what it sends then is not slow.
	await s.page.evaluate(() => {
		window.notes = [];
		setInterval(() => window.notes.push(document.querySelector('#transfers-list .note').textContent), 10);
		window.ahead += 600000;
	});
	await s.page.waitForFunction(() => window.notes.filter(note => / left$/.test(note)).length > 60);
	assert.deepEqual(await s.page.evaluate(() => window.notes.filter(note => /(min|h .*) left$/.test(note))), []);
	s.wire.rate.up = 1;
	const still = s.line('still.bin').getByText(/ · nothing moves for \d+ (s|min)$/);
	// What is in the buffers on the way still moves.
	await until('standing still', async () => {
		await s.page.evaluate(() => (window.ahead += 30000));
		return still.isVisible();
	});
	assert.doesNotMatch(await s.line('still.bin').locator('.note').textContent(), / left/);
	await s.line('still.bin').getByRole('button', { name: 'Cancel' }).click();
});

test('replacing asks first', { files: { 'same.txt': 'old' } }, async s => {
	await s.choose({ 'same.txt': 'new' });
	await s.state('same.txt', 'ask');
	assert.match(await s.line('same.txt').locator('.note').textContent(), /^Already there: 3 bytes/);
	await s.line('same.txt').getByRole('button', { name: 'Skip' }).click();
	await s.page.locator('#transfers').waitFor({ state: 'hidden' });
	assert.equal(s.read('same.txt').toString(), 'old');

	await s.choose({ 'same.txt': 'new' });
	await s.line('same.txt').getByRole('button', { name: 'Keep both' }).click();
	await s.state('same (2).txt', 'done');
	assert.equal(s.read('same.txt').toString(), 'old');
	assert.equal(s.read('same (2).txt').toString(), 'new');

	await s.choose({ 'same.txt': 'newer' });
	await s.line('same.txt').getByRole('button', { name: 'Replace' }).click();
	await s.state('same.txt', 'done');
	assert.equal(s.read('same.txt').toString(), 'newer');
});

test('a name that another user has just taken is not replaced unasked', { files: { 'race.txt': 'theirs' } }, async s => {
	await s.page.route('**/api/files', route => route.fulfill({ json: { files: [] } })); // as it was a moment ago
	await s.choose({ 'race.txt': 'ours' });
	await s.state('race.txt', 'ask', 'done');
	assert.equal(s.read('race.txt').toString(), 'theirs');
	await s.line('race.txt').getByRole('button', { name: 'Replace' }).click();
	await s.state('race.txt', 'done');
	assert.equal(s.read('race.txt').toString(), 'ours');
});

test('a list that takes long is said to', { files: SOME }, async s => {
	let go;
	const gone = new Promise(done => (go = done));
	await s.page.route('**/api/files', route => gone.then(() => route.continue()));
	await s.page.reload();
	await s.page.getByText('Loading …').waitFor();
	assert.equal(await s.page.getByText('Nothing here yet').isVisible(), false);
	await axe(s, 'a list that takes long');
	go();
	await s.page.getByText('6 files').first().waitFor();
});

test('the first list that can’t be had is not an empty folder', { files: SOME }, async s => {
	await s.page.route('**/api/files', route => route.fulfill({ status: 503, contentType: 'application/problem+json',
		body: JSON.stringify({ title: 'Service Unavailable', status: 503, detail: "the folder can't be read: Input/output error" }) }));
	await s.page.reload();
	await s.page.getByText("The list could not be loaded. The server answered 503 (Service Unavailable). The folder can't be read: Input/output error.").waitFor();
	assert.equal(await s.page.locator('#summary').textContent(), 'Not loaded');
	assert.equal(await s.page.getByText('Nothing here yet').isVisible(), false);
	await s.page.unroute('**/api/files');
	await s.page.getByRole('button', { name: 'Try again' }).click();
	await s.page.getByText('6 files').first().waitFor();
});

const HOSTILE = [
	'<img src=x onerror="document.title=1">.html', '</script><script>alert(1)</script>'.replaceAll('/', '∕'), 'line\nbreak\t.txt',
	'ملف عربي.pdf', '\u202etxt.exe', '👩‍👩‍👧‍👦 🎉.png', 'x'.repeat(255), ' ', 'Z̸̢̛̘̠͇͑̿̎a̷̢̧̛͉͎̓͝lgo.txt', '%2e%2e%2fetc', '"q" & \'a\'.txt',
	'javascript:alert(1)', '__proto__', 'constructor', 'up\\..\\up.txt', '&lt;b&gt;.txt', 'many words '.repeat(20) + '.md',
];

const LISTED = HOSTILE.filter(name => !/[\n\t]/.test(name)); // names with control bytes are not

test('hostile names are shown as text', { files: Object.fromEntries(HOSTILE.map(n => [n, n])), context: NARROW }, async s => {
	const shown = await s.listed();
	assert.equal(shown.length, LISTED.length);
	for (const name of ['<img src=x onerror="document.title=1">.html', '&lt;b&gt;.txt', 'x'.repeat(255), 'ملف عربي.pdf', '__proto__'])
		assert.ok(shown.includes(name), name);
	assert.ok(shown.includes('\ufffdtxt.exe'), 'characters that turn the direction are visible');
	assert.equal(await s.page.locator('tbody img, tbody script').count(), 0);
	await noSideways(s);
	await s.shot('hostile-narrow');
	for (const name of LISTED.slice(0, 5)) {
		const row = s.page.locator('tbody tr').nth(shown.indexOf(name.replace('\u202e', '\ufffd')));
		const got = await saved(s, () => row.getByRole('button', { name: /^Download/ }).click());
		assert.equal(got.toString(), name);
	}
	await noSideways(s);
});

test('hostile names arrive as they are', {}, async s => {
	const names = LISTED.filter(n => !/^x{255}/.test(n));
	await s.choose(Object.fromEntries(names.map(n => [n, n])));
	await until('all of them', () => s.names().length === names.length);
	for (const name of names)
		assert.equal(s.read(name).toString(), name);
});

test('names that the server would refuse are not sent', { args: ['--max-size', '1000'] }, async s => {
	await s.choose({ '.hidden': 'x', 'new\nline': 'x', ['é'.repeat(128)]: 'x', 'large.bin': random(1001) });
	await s.state('.hidden', 'fail');
	const notes = await s.page.locator('.note').allTextContents();
	assert.match(notes[0], /begins with a dot/);
	assert.match(notes[1], /characters/);
	assert.match(notes[2], /too long/);
	assert.match(notes[3], /over this server’s limit of 1 kB/);
	assert.equal(await s.page.getByRole('button', { name: /^Try/ }).count(), 0);
	assert.deepEqual(s.wire.heads.filter(h => h.startsWith('PUT')), []);
});

test('an error of the server is told in words',
	{ args: ['--max-size', '1000'], html: text => text.replace(/data-max-size="\d+"/, 'data-max-size="0"') }, async s => {
		await s.choose({ 'large.bin': random(200000) });
		await s.state('large.bin', 'fail');
		assert.match(await s.line('large.bin').locator('.note').textContent(), /too large/);
		const problem = (status, detail) => s.page.route('**/files/*.txt', route =>
			route.fulfill({ status, contentType: 'application/problem+json',
				body: JSON.stringify({ type: 'about:blank', title: 'A <b>title</b>', status, detail }) }), { times: 1 });
		for (const [status, words] of [[507, /no room for this file\.$/], [403, /does not allow.*Some detail/], [418, /418 \(A <b>title<\/b>\)/]]) {
			await problem(status, 'Some detail');
			await s.choose({ [`${status}.txt`]: 'x' });
			await s.state(`${status}.txt`, 'fail');
			assert.match(await s.line(`${status}.txt`).locator('.note').textContent(), words);
		}
		await s.shot('errors');
		await axe(s, 'failed uploads');
		assert.deepEqual(s.names(), []);
		await s.page.getByRole('button', { name: 'Try all again' }).click();
		await until('those that can be sent', () => s.names().join() === '403.txt,418.txt,507.txt');
		await s.state('large.bin', 'fail');
	});

test('deleting asks first', { files: { 'a.txt': 'a', 'b.txt': 'b' } }, async s => {
	await s.row('a.txt').getByRole('button', { name: /^Delete/ }).click();
	await s.page.getByRole('dialog').getByRole('button', { name: 'Keep' }).click();
	assert.deepEqual(s.names(), ['a.txt', 'b.txt']);
	await s.row('a.txt').getByRole('button', { name: /^Delete/ }).click();
	await s.shot('deleting');
	await s.page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
	await s.row('a.txt').waitFor({ state: 'detached' });
	assert.deepEqual(s.names(), ['b.txt']);
	await s.page.waitForFunction(() => document.activeElement?.textContent === 'b.txt');
});

test('a read-only folder offers nothing else', { files: SOME, args: ['--no-upload'] }, async s => {
	assert.ok(await s.page.getByText('This folder is read-only.').isVisible());
	assert.equal(await s.page.getByRole('button', { name: 'Upload files' }).isVisible(), false);
	assert.equal(await s.page.getByRole('button', { name: /^Delete/ }).count(), 0);
	await s.page.evaluate(() => {
		const dataTransfer = new DataTransfer();
		dataTransfer.items.add(new File(['x'], 'x.txt'));
		document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
	});
	assert.equal((await saved(s, () => get(s, 'notes.txt'))).toString(), 'a few words\n');
	assert.deepEqual(s.wire.heads.filter(h => !h.startsWith('GET')), []);
	assert.equal(await s.page.evaluate(async () => (await fetch('files/x', { method: 'PUT', body: 'x' })).status), 403);
});

test('leaving during an upload warns', {}, async s => {
	s.wire.rate.up = MIB;
	await s.page.locator('h1').click();
	await s.choose({ 'slow.bin': random(4 * MIB) });
	await s.state('slow.bin', 'run');
	const [dialog] = await Promise.all([s.page.waitForEvent('dialog'), s.page.close({ runBeforeUnload: true })]);
	assert.equal(dialog.type(), 'beforeunload');
	await dialog.dismiss();
	s.wire.rate.up = 0;
	await s.state('slow.bin', 'done');
	assert.equal(await s.page.evaluate(() => window.onbeforeunload), null);
});

// What has focus, which must show.
const focused = s => s.page.evaluate(() => {
	const e = document.activeElement;
	const style = getComputedStyle(e);
	if (e !== document.body && (style.outlineStyle === 'none' || parseFloat(style.outlineWidth) < 2))
		throw new Error(`focus does not show on ${e.outerHTML}`);
	return e.getAttribute('aria-label') ?? e.textContent.trim();
});

async function tabTo(s, name, key = 'Tab') {
	for (let i = 0; i < 40; i++) {
		await s.page.keyboard.press(key);
		if (name.test(await focused(s)))
			return;
	}
	throw new Error(`${name} can't be reached with ${key}`);
}

test('everything works by keyboard alone', { files: { 'a.bin': 'a', 'b.bin': 'bb', 'c.bin': 3 * MIB } }, async s => {
	const key = name => s.page.keyboard.press(name);
	await key('Tab');
	assert.equal(await focused(s), 'Skip to the files');
	await s.shot('skip');
	await key('Enter');
	await key('Tab');
	assert.equal(await focused(s), 'Select all');
	await key('Tab');
	assert.equal(await focused(s), 'Name');
	await s.page.evaluate(() => document.querySelector('.skip').focus());
	await key('Tab');
	assert.equal(await focused(s), 'Refresh');
	await key('Enter');
	await s.page.waitForFunction(() => document.querySelector('#live').textContent === 'List refreshed: 3 files.');
	await key('Tab');
	assert.equal(await focused(s), 'Upload files');
	s.wire.rate.up = 8 * MIB;
	await Promise.all([s.page.waitForEvent('filechooser'), key('Enter')]);
	await s.choose({ 'a.bin': 'new', 'stop.bin': random(40 * MIB) });
	await s.state('stop.bin', 'run');
	await tabTo(s, /^Replace: a\.bin$/);
	await s.shot('keyboard');
	await key('Enter');
	await s.state('a.bin', 'done');
	await tabTo(s, /^Cancel: stop\.bin$/);
	await key('Space');
	await s.state('stop.bin', 'stop');
	s.wire.rate.up = 0;
	assert.match(await focused(s), /^Upload again: stop\.bin$/, 'focus stays in the line');
	await tabTo(s, /^Clear finished/, 'Shift+Tab');
	await key('Enter');
	assert.equal(await focused(s), 'Upload files', 'focus is not lost');

	await tabTo(s, /^Size$/);
	await key('Enter');
	assert.equal(await s.page.locator('th.size').getAttribute('aria-sort'), 'descending');
	await until('the largest first', async () => (await s.listed()).join() === 'c.bin,a.bin,b.bin');
	await key('Enter');
	await until('the smallest first', async () => (await s.listed()).join() === 'b.bin,a.bin,c.bin');

	await tabTo(s, /^b\.bin$/);
	assert.equal((await saved(s, () => key('Enter'))).toString(), 'bb');
	await tabTo(s, /^Download with pause and resume: b\.bin$/);
	assert.equal((await saved(s, () => key('Enter'))).toString(), 'bb');

	await tabTo(s, /^Delete: b\.bin$/);
	await key('Enter');
	await s.page.getByRole('dialog').waitFor();
	await key('Escape');
	assert.equal(await focused(s), 'Delete: b.bin', 'Escape keeps the file and the place');
	await key('Enter');
	await s.page.getByRole('dialog').waitFor();
	await tabTo(s, /^Delete$/);
	await key('Enter');
	await s.row('b.bin').waitFor({ state: 'detached' });
	await until('the two others alone', () => s.names().join() === 'a.bin,c.bin');
	await until('focus in the row that is next', async () => await focused(s) === 'a.bin');
	await s.page.waitForFunction(() => document.querySelector('#live').textContent.includes('b.bin deleted.'));
});

const noSideways = async s => assert.ok(
	await s.page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth),
	'the page scrolls sideways');

// A page with a bit of everything in it.
async function busy(s) {
	s.wire.rate.up = 2 * MIB;
	await s.choose({ 'notes.txt': 'new', 'photo 9.jpg': 'new', '.hidden': 'x',
		['long name '.repeat(20)]: random(20 * MIB), 'film.mov': random(16 * MIB) });
	await s.state('film.mov', 'run');
	await get(s, 'empty.lock');
	await s.state('empty.lock', 'done');
	await s.page.waitForFunction(() => [...document.querySelectorAll('.note')].some(e => / left$/.test(e.textContent)));
	await s.page.evaluate(() => scrollTo(0, 0));
}

// By the bar of the selection, as the rows of a narrow page have no room for a button.
async function askDelete(s, name) {
	await s.page.getByLabel(`Select ${name}`, { exact: true }).check();
	await s.page.locator('#selection').getByRole('button', { name: /^Delete/ }).click();
}

for (const [look, context] of [['narrow', NARROW], ['320 px', { viewport: { width: 320, height: 640 } }]]) {
	test(`nothing scrolls sideways: ${look}`, { files: { ...SOME, ['w'.repeat(250)]: 1 }, context }, async s => {
		await noSideways(s);
		await s.shot(look.replace(' ', ''));
		await busy(s);
		await noSideways(s);
		await s.shot(`${look.replace(' ', '')}-busy`);
		await askDelete(s, 'w'.repeat(250));
		await noSideways(s);
		const box = await s.page.getByRole('dialog').boundingBox();
		assert.ok(box.x >= 0 && box.x + box.width <= context.viewport.width);
	});
}

test('dark mode is dark, light mode light', { files: SOME, context: DARK }, async s => {
	const light = () => s.page.evaluate(() => ['backgroundColor', 'color'].map(what =>
		getComputedStyle(document.documentElement)[what].match(/\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0) / 765));
	const [ground, ink] = await light();
	assert.ok(ground < 0.15 && ink > 0.8, `${ground} ${ink}`);
	await s.shot('dark');
	await busy(s);
	await s.shot('dark-busy');
	await s.page.emulateMedia({ colorScheme: 'light' });
	const [ground2, ink2] = await light();
	assert.ok(ground2 > 0.9 && ink2 < 0.2, `${ground2} ${ink2}`);
});

test('nothing moves for who does not want it', { files: SOME, context: { reducedMotion: 'reduce' } }, async s => {
	await busy(s);
	assert.equal(await s.page.evaluate(() => document.getAnimations().length), 0);
	await s.page.emulateMedia({ reducedMotion: 'no-preference' });
	assert.ok(await s.page.evaluate(() => document.getAnimations().length) > 0);
});

const THOUSANDS = Object.fromEntries(Array.from({ length: 10000 }, (_, i) => [`IMG_${String(i).padStart(5, '0')}.jpg`, i]));

test('thousands of files stay usable', { files: THOUSANDS }, async s => {
	const took = await s.page.evaluate(async () => {
		const from = performance.now();
		document.querySelector('[data-sort=size]').click();
		await new Promise(r => requestAnimationFrame(() => setTimeout(r)));
		return performance.now() - from;
	});
	assert.ok(took < 2000, `sorting took ${took} ms`);
	assert.equal((await s.listed())[0], 'IMG_09999.jpg');
	await s.shot('thousands');
	await s.page.getByLabel('Filter by name').fill('img_0123');
	await s.page.getByText('10 of 10,000 files').waitFor();
	assert.equal(await s.page.locator('tbody tr').count(), 10);
	await axe(s, 'a filter');
	await s.page.getByLabel('Filter by name').fill('nothing of this');
	await s.page.getByText('No name holds that').waitFor();
	await axe(s, 'a filter without a match');
	await s.page.getByLabel('Filter by name').fill('');
	assert.ok(await s.page.locator('tbody tr').count() < 2000);
	await s.page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
	await s.row('IMG_00000.jpg').waitFor();
});

// From the first row to the last, 400 pixels a frame. Two frames at 60 Hz have 33 ms; processor time is the same on a busy machine.
test('thousands of files scroll smoothly', { files: THOUSANDS }, async s => {
	const cdp = await s.context.newCDPSession(s.page);
	await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
	const busy = async () => (await cdp.send('Performance.getMetrics')).metrics.find(m => m.name === 'TaskDuration').value * 1000;
	const before = await busy();
	const { frames, rows } = await s.page.evaluate(async () => {
		const frames = [];
		for (let at = 0, last = performance.now(); at < document.documentElement.scrollHeight; at += 400) {
			scrollTo(0, at);
			await new Promise(requestAnimationFrame);
			frames.push(performance.now() - last);
			last = performance.now();
		}
		return { frames, rows: document.querySelectorAll('tbody tr').length };
	});
	const each = (await busy() - before) / frames.length;
	console.log(`# ${frames.length} frames, ${each.toFixed(1)} ms of processor time each, ${frames.filter(ms => ms > 100).length} over 100 ms`);
	assert.ok(rows > 9000, `only ${rows} rows were made`);
	assert.ok(each < 33, `a frame takes ${each} ms of processor time`);
});

for (const [look, context] of [['wide', WIDE], ['narrow', NARROW]]) {
	test(`axe finds no barrier: ${look}`, { files: { ...SOME, ...Object.fromEntries(HOSTILE.map(n => [n, 1])) }, context }, async s => {
		await axe(s, 'the list');
		await busy(s);
		await axe(s, 'transfers');
		await askDelete(s, 'empty.lock');
		await axe(s, 'the dialog');
	});
}
test('axe finds no barrier: empty', {}, async s => {
	await s.shot('empty');
	await axe(s, 'an empty folder');
});
test('axe finds no barrier: read-only', { files: SOME, args: ['--no-upload'] }, s => axe(s, 'a read-only folder'));

test('a server that is gone is told in words', { files: SOME }, async s => {
	s.wire.down = true;
	s.wire.cutAll();
	await s.page.getByRole('button', { name: 'Refresh' }).click();
	await s.page.getByText('The list could not be loaded. The server can’t be reached.').waitFor();
	await s.shot('gone');
	await axe(s, 'a server that is gone');
	s.wire.down = false;
	await s.page.getByRole('button', { name: 'Try again' }).click();
	await s.page.locator('#trouble').waitFor({ state: 'hidden' });
	assert.equal((await s.listed()).length, 6);
});

const HUNDREDS = Object.fromEntries(Object.entries(THOUSANDS).slice(0, 700));

test('on paper is the whole list, and nothing to press', { files: HUNDREDS, context: DARK }, async s => {
	await s.page.emulateMedia({ media: 'print' });
	await s.page.evaluate(() => dispatchEvent(new Event('beforeprint')));
	assert.equal(await s.page.locator('tbody tr').count(), 700);
	assert.equal(await s.page.getByRole('button').filter({ visible: true }).count(), 3, 'the heads of the columns');
	assert.equal(await s.page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor), 'rgb(255, 255, 255)');
	await s.page.evaluate(() => dispatchEvent(new Event('afterprint')));
	assert.ok(await s.page.locator('tbody tr').count() < 700);
});

for (const [name, options, run] of [...folders.cases, ...live.cases])
	test(name, options, run);

for (const [name, run, options] of plain.cases)
	test(`without JavaScript: ${name}`, { ...options, context: { ...options.context, javaScriptEnabled: false } }, run);

// axe itself needs JavaScript.
test('axe finds no barrier: the page for those without', { files: plain.FILES, args: ['--max-size', '1000'], path: '/plain', context: NARROW },
	async s => {
		await axe(s, 'the plain list');
		await noSideways(s);
		await plain.choose(s, { 'large.bin': 'x'.repeat(2000) });
		await s.page.getByRole('heading', { name: 'Not uploaded' }).waitFor();
		await axe(s, 'a failed form');
	});

/* ---- running ---- */

if (!fs.existsSync(chromium)) {
	console.log(`1..0 # SKIP ${chromium} is not there: apt-get install chromium`);
	process.exit(0);
}

const wanted = process.argv.slice(2);
const chosen = cases.filter(c => !wanted.length || wanted.some(w => c.name.includes(w)));
let number = 0;
let failed = 0;

function told(name, error) {
	console.log(`${error ? 'not ok' : 'ok'} ${++number} - ${name.replace(/[#\n]/g, ' ')}`);
	if (error) {
		failed++;
		console.log(String(error.stack ?? error).replace(/^/gm, '# '));
	}
}

console.log(`1..${chosen.length + 2}`);
const browser = await launch();
for (const { name, options, run } of chosen) {
	let scene;
	let error;
	try {
		scene = await Scene.open(browser, name, options);
		await run(scene);
	} catch (e) {
		error = e;
		await scene?.shot(`failed-${number + 1}`).catch(() => {});
	}
	await scene?.close().catch(e => (error ??= e));
	told(name, error);
}
await browser.close();
told('no request leaves the server', foreign.length && foreign.map(f => f.join(': ')).join('\n'));
told('no console message, CSP violation or early end of the server', complaints.length && complaints.map(c => c.join(': ')).join('\n'));
process.exit(failed ? 1 : 0);
