// The page of examples/files where JavaScript is off: cases of page.mjs, [name, run, options].

import assert from 'node:assert/strict';
import fs from 'node:fs';

export const FILES = { 'a b%20c#?.txt': 'some words\n', 'photo.jpg': 4821002, 'one': 'x', '<b>&"\'.html': '<b>', '\u202etxt.exe': 'x', ' ': 'blank' };
const table = s => s.page.locator('tbody tr').evaluateAll(rows => rows.map(row => [...row.cells].map(cell => cell.textContent)));

// The list is there, wherever a browser without JavaScript begins.
const open = s => s.page.waitForURL('**/plain');

export async function choose(s, files) {
	await s.page.getByLabel('Files to upload').setInputFiles(Object.entries(files).map(([name, content]) =>
		({ name, mimeType: 'application/octet-stream', buffer: Buffer.from(content) })));
	await s.page.getByRole('button', { name: 'Upload', exact: true }).click();
}

async function lists(s) {
	for (const name of Object.keys(FILES))
		fs.utimesSync(`${s.folder}/${name}`, 1772750000, 1772750000);
	await open(s);
	await s.page.reload();
	assert.deepEqual(await table(s), [
		['" "', '5 bytes', '2026-03-05 22:33'], ['<b>&"\'.html', '3 bytes', '2026-03-05 22:33'],
		['a b%20c#?.txt', '11 bytes', '2026-03-05 22:33'], ['one', '1 byte', '2026-03-05 22:33'],
		['photo.jpg', '4.82 MB', '2026-03-05 22:33'], ['\ufffdtxt.exe', '1 byte', '2026-03-05 22:33']]);
	assert.match(await s.page.locator('header').textContent(), /6 entries/);
	for (const name of ['a b%20c#?.txt', '<b>&"\'.html', '" "']) {
		const [download] = await Promise.all([s.page.waitForEvent('download'), s.page.getByRole('link', { name, exact: true }).click()]);
		assert.equal(fs.readFileSync(await download.path(), 'utf8'), FILES[name] ?? FILES[' ']);
	}
	await s.shot('plain');
}

async function uploads(s) {
	await open(s);
	await s.page.getByText('There is no file in this folder.').waitFor();
	await choose(s, { 'new.txt': 'new', 'ü <i>.txt': 'too' });
	await s.page.getByRole('link', { name: 'new.txt' }).waitFor();
	assert.deepEqual(s.names(), ['new.txt', 'ü <i>.txt']);
	await choose(s, { 'new.txt': 'newer' });
	await s.page.getByText('5 bytes').waitFor();
	assert.equal(s.read('new.txt').toString(), 'newer');
	assert.match(s.page.url(), /\/plain$/, 'a reload sends nothing again');
}

async function failures(s) {
	await open(s);
	await choose(s, { 'large.bin': 'x'.repeat(2000) });
	await s.page.getByRole('heading', { name: 'Not uploaded' }).waitFor();
	await s.page.getByText('The file is too large for this server. (413').waitFor();
	await s.shot('plain-failed');
	await s.page.getByRole('link', { name: 'Back to the list' }).click();
	await open(s);
	assert.deepEqual(s.names(), []);
}

async function reads(s) {
	await open(s);
	assert.equal((await table(s)).length, 6);
	assert.equal(await s.page.getByRole('button').count(), 0);
	assert.equal(await s.page.locator('form').count(), 0);
	assert.ok(await s.page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth));
	await s.shot('plain-narrow');
}

export const cases = [
	['the list and its downloads', lists, { files: FILES }],
	['upload by a form', uploads, {}],
	['an upload that fails', failures, { args: ['--max-size', '1000'] }],
	['a read-only folder, narrow', reads, { files: FILES, args: ['--no-upload'], context: { viewport: { width: 320, height: 640 } } }],
];
