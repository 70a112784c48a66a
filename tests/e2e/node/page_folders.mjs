// Folders on the page of examples/files: cases of page.mjs, [name, options, run].

import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';
import { barriers, until } from './scene.mjs';

const MIB = 1024 * 1024;
const NARROW = { viewport: { width: 360, height: 740 }, deviceScaleFactor: 2 };
const axe = async (s, what) => assert.deepEqual(await barriers(s.page), [], what);
const folder = (s, name) => s.page.locator('tbody').getByRole('link', { name: `Folder ${name}`, exact: true });
const file = (s, name) => s.page.locator('tbody').getByRole('link', { name, exact: true });
const pick = (s, name, options) => s.page.getByRole('checkbox', { name: `Select ${name}`, exact: true }).click(options);
const bar = (s, name) => s.page.getByRole('region', { name: 'Selected' }).getByRole('button', { name, exact: true });
const lists = (s, ...names) => until(`a list of ${names}`, async () => (await s.listed()).join() === names.join());
const hash = s => decodeURIComponent(new URL(s.page.url()).hash);

const TREE = { 'top.bin': 'top', '2026/': '', '2026/ü #1%/deep/leaf.bin': 'leaf', '2026/a.txt': 'text', '2026/b.bin': 'bb', '2026/empty/': '' };

async function walks(s) {
	await lists(s, '2026', 'top.bin');
	await s.shot('folders');
	await folder(s, '2026').click();
	await lists(s, 'empty', 'ü #1%', 'a.txt', 'b.bin');
	assert.equal(hash(s), '#/2026/');
	assert.match(await s.page.title(), /^2026 · 127/);
	await s.page.waitForFunction(() => document.activeElement.id === 'title');
	await until('words for it', async () => /2026: 2 folders, 2 files/.test(await s.page.locator('#live').textContent()));
	await folder(s, 'ü #1%').click();
	await folder(s, 'deep').click();
	await lists(s, 'leaf.bin');
	await s.shot('folder-deep');
	await axe(s, 'a folder');
	await s.page.reload();
	await lists(s, 'leaf.bin');
	assert.equal(hash(s), '#/2026/ü #1%/deep/');
	await s.page.goBack();
	await lists(s, 'deep');
	await s.page.goBack();
	await lists(s, 'empty', 'ü #1%', 'a.txt', 'b.bin');
	await s.page.goForward();
	await lists(s, 'deep');
	await s.page.getByRole('navigation', { name: 'Folders above' }).getByRole('link', { name: '2026' }).click();
	await lists(s, 'empty', 'ü #1%', 'a.txt', 'b.bin');
	await s.page.getByRole('link', { name: 'Files', exact: true }).click();
	await lists(s, '2026', 'top.bin');
	assert.match(await s.page.title(), /^Files · 127/);
}

async function isGone(s) {
	await s.page.goto(`${s.origin}/#/nowhere/at/all/`);
	await s.page.getByText('The list could not be loaded. It is no longer there.').waitFor();
	await s.page.getByRole('link', { name: 'Files', exact: true }).click();
	await lists(s, '2026', 'top.bin');
	await s.page.goto(`${s.origin}/#/%E0%A4%A/`); // not UTF-8
	await lists(s, '2026', 'top.bin');
}

async function makes(s) {
	await folder(s, '2026').click();
	await s.page.getByRole('button', { name: 'New folder' }).click();
	await axe(s, 'the dialog of a new folder');
	await s.page.getByLabel('Name', { exact: true }).fill('b.bin');
	await s.page.keyboard.press('Enter');
	await s.page.getByText(/already there/).waitFor();
	await s.page.getByLabel('Name', { exact: true }).fill('new ü');
	await s.page.keyboard.press('Enter');
	await s.page.waitForFunction(() => document.activeElement?.textContent === 'Folder new ü');
	assert.ok(fs.statSync(`${s.folder}/2026/new ü`).isDirectory());
	await until('words for it', async () => /Folder new ü made\./.test(await s.page.locator('#live').textContent()));
}

async function renames(s) {
	await folder(s, '2026').click();
	await s.row('a.txt').getByRole('button', { name: 'Rename: a.txt' }).click();
	const input = s.page.getByLabel('New name of a.txt');
	assert.equal(await s.page.evaluate(() => getSelection().toString()), 'a');
	await axe(s, 'a name that is being changed');
	await s.shot('renaming');
	await input.fill('b.bin');
	await input.press('Enter');
	await s.page.locator('td .bad').getByText(/already there/).waitFor();
	await input.press('Escape');
	await s.page.waitForFunction(() => document.activeElement?.textContent === 'a.txt');
	await s.page.keyboard.press('F2');
	await input.fill('c ü.txt');
	await input.press('Enter');
	await s.page.waitForFunction(() => document.activeElement?.textContent === 'c ü.txt');
	assert.equal(s.read('2026/c ü.txt').toString(), 'text');
	assert.equal(s.read('2026/b.bin').toString(), 'bb');
	await pick(s, 'empty');
	await bar(s, 'Rename').click();
	await s.page.getByLabel('New name of empty').fill('full');
	await s.page.locator('h1').click(); // leaving it renames as well
	await folder(s, 'full').waitFor();
	assert.ok(s.exists('2026/full'));
}

async function deletes(s) {
	await folder(s, '2026').click();
	await pick(s, 'empty');
	await pick(s, 'ü #1%');
	await pick(s, 'b.bin');
	await bar(s, 'Delete').click();
	const dialog = s.page.getByRole('dialog');
	assert.match(await dialog.textContent(), /2 folders, 1 file/);
	await dialog.getByRole('button', { name: 'Delete' }).click();
	await dialog.getByText(/ü #1%: .*not empty/).waitFor();
	await s.shot('delete-failed');
	await axe(s, 'a delete that failed');
	await dialog.getByRole('button', { name: 'Keep' }).click();
	await lists(s, 'ü #1%', 'a.txt');
	assert.deepEqual(s.names('2026'), ['a.txt', 'ü #1%']);
}

async function moves(s) {
	await folder(s, '2026').click();
	await pick(s, 'a.txt');
	await pick(s, 'b.bin');
	await bar(s, 'Move').click();
	const dialog = s.page.getByRole('dialog', { name: 'Move 2 files' });
	assert.ok(await dialog.getByRole('button', { name: /^Move to 2026$/ }).isDisabled());
	await dialog.getByRole('button', { name: 'ü #1%' }).click();
	await dialog.getByRole('button', { name: 'deep' }).click();
	await dialog.getByText('No folders in here.').waitFor();
	await axe(s, 'the dialog of a move');
	await s.shot('moving');
	await dialog.getByRole('button', { name: 'Move to deep' }).click();
	await lists(s, 'empty', 'ü #1%');
	assert.deepEqual(s.names('2026/ü #1%/deep'), ['a.txt', 'b.bin', 'leaf.bin']);

	s.put('b.bin', 'other');
	await s.page.goto(`${s.origin}/#/`);
	await s.row('b.bin').waitFor();
	await pick(s, 'b.bin');
	await bar(s, 'Move').click();
	for (const name of ['2026', 'ü #1%', 'deep'])
		await s.page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
	await s.page.getByRole('dialog').getByRole('button', { name: 'Move to deep' }).click();
	await s.page.getByRole('dialog').getByText(/already there/).waitFor();
	await s.page.getByLabel('Replace files of the same name').check();
	await s.page.getByRole('dialog').getByRole('button', { name: 'Move to deep' }).click();
	await lists(s, '2026', 'top.bin');
	assert.equal(s.read('2026/ü #1%/deep/b.bin').toString(), 'other');
}

// The names and contents of a stored archive, by its central directory.
function unzip(zip) {
	const files = {};
	let at = zip.readUInt32LE(zip.length - 6);
	for (let n = zip.readUInt16LE(zip.length - 12); n; n--) {
		const [size, name, extra, from] = [zip.readUInt32LE(at + 24), zip.readUInt16LE(at + 28), zip.readUInt16LE(at + 30), zip.readUInt32LE(at + 42)];
		const data = from + 30 + zip.readUInt16LE(from + 26) + zip.readUInt16LE(from + 28);
		const content = zip.subarray(data, data + size);
		assert.equal(zlib.crc32(content), zip.readUInt32LE(at + 16));
		files[zip.subarray(at + 46, at + 46 + name).toString()] = content.toString();
		at += 46 + name + extra;
	}
	return files;
}

async function zipped(s, act) {
	const [download] = await Promise.all([s.page.waitForEvent('download'), act()]);
	return [download.suggestedFilename(), unzip(fs.readFileSync(await download.path()))];
}

async function selects(s) {
	await folder(s, '2026').click();
	await lists(s, 'empty', 'ü #1%', 'a.txt', 'b.bin');
	await pick(s, 'ü #1%');
	await pick(s, 'b.bin', { modifiers: ['Shift'] });
	await s.page.getByText('3 selected · 1 folder, 2 files · 6 bytes').waitFor();
	await pick(s, 'a.txt');
	assert.equal(await s.page.getByRole('checkbox', { name: 'Select all' }).evaluate(e => e.indeterminate), true);
	await s.shot('selected');
	await axe(s, 'a selection');
	assert.deepEqual(await zipped(s, () => bar(s, 'Download').click()), ['2026.zip', { 'b.bin': 'bb', 'ü #1%/deep/leaf.bin': 'leaf' }]);
	assert.deepEqual(s.wire.heads.filter(h => h.includes('?zip')).map(h => h.split(' ')[1]), ['/files/2026/?zip&name=%C3%BC%20%231%25&name=b.bin']);
	await s.page.getByRole('checkbox', { name: 'Select all' }).click();
	await s.page.getByText('4 selected').waitFor();
	await zipped(s, () => bar(s, 'Download').click());
	assert.equal(s.wire.heads.filter(h => h.includes('?zip')).at(-1).split(' ')[1], '/files/2026/?zip');
	await bar(s, 'Clear').click();
	await s.page.locator('#selection').waitFor({ state: 'hidden' });
	await file(s, 'a.txt').focus();
	await s.page.keyboard.press('Control+a');
	await s.page.getByText('4 selected').waitFor();
	await s.page.keyboard.press('Escape');
	await s.page.locator('#selection').waitFor({ state: 'hidden' });
	await s.page.keyboard.press('ArrowUp');
	assert.equal(await s.page.evaluate(() => document.activeElement.textContent), 'Folder ü #1%');
	assert.deepEqual(await zipped(s, () => s.page.getByRole('button', { name: 'Download as zip: ü #1%' }).click()),
		['ü #1%.zip', { 'deep/leaf.bin': 'leaf' }]);
}

async function selectsTooMany(s) {
	await pick(s, '0'.repeat(200));
	await s.page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
	await s.page.getByRole('checkbox', { name: `Select ${'49'.repeat(100)}`, exact: true }).click({ modifiers: ['Shift'] });
	await bar(s, 'Download').click();
	await s.page.getByText('Too many are selected for one archive. Select fewer, or all.').waitFor();
	assert.equal(s.wire.heads.filter(h => h.includes('?zip')).length, 0);
	await s.shot('selected-narrow');
	assert.ok(await s.page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth));
	await axe(s, 'a selection, narrow');
}

async function uploadsFolder(s) {
	const from = fs.mkdtempSync(path.join(process.env.TMPDIR ?? '/tmp', 'eddy-page-'));
	s.folders.push(from);
	for (const [name, content] of Object.entries({ 'tree/a.txt': 'a', 'tree/sub ü/b.bin': crypto.randomBytes(2 * MIB), 'tree/.hidden': 'x' }))
		s.put(name, content, from);
	await folder(s, '2026').click();
	await lists(s, 'empty', 'ü #1%', 'a.txt', 'b.bin');
	await s.page.locator('#folder-picker').setInputFiles(`${from}/tree`);
	await s.state('2026/tree/sub ü/b.bin', 'done');
	await s.state('2026/tree/a.txt', 'done');
	await s.line('2026/tree').getByText('Not sent: a name in it begins with a dot.').waitFor();
	await s.shot('folder-uploaded');
	assert.equal(s.read('2026/tree/a.txt').toString(), 'a');
	assert.ok(s.read('2026/tree/sub ü/b.bin').equals(fs.readFileSync(`${from}/tree/sub ü/b.bin`)));
	assert.ok(!s.exists('2026/tree/.hidden'));
	await folder(s, 'tree').waitFor();
}

// A folder can't be dropped by a script: entries stand in for those that the browser would give.
async function dropsFolder(s) {
	await s.page.evaluate(() => {
		const leaf = (name, text) => ({ name, isFile: true, file: done => done(new File([text], name)) });
		const branch = (name, inner) => ({ name, isDirectory: true, createReader: () => ({ readEntries: done => done(inner.splice(0, 1)) }) });
		const tree = branch('dropped', [leaf('1.txt', 'one'), branch('inner', [leaf('2.txt', 'two')]), branch('empty', [])]);
		const dataTransfer = { types: ['Files'], items: [{ kind: 'file', getAsFile: () => new File([], 'dropped'), webkitGetAsEntry: () => tree }] };
		dispatchEvent(Object.assign(new Event('drop', { cancelable: true }), { dataTransfer }));
	});
	await s.state('dropped/inner/2.txt', 'done');
	await s.state('dropped/1.txt', 'done');
	assert.equal(s.read('dropped/inner/2.txt').toString(), 'two');
	assert.deepEqual(s.names('dropped'), ['1.txt', 'empty', 'inner']);
}

// Sixty seconds of silence.
function wav() {
	const head = Buffer.alloc(44);
	const size = 60 * 8000;
	head.write('RIFF', 0);
	head.writeUInt32LE(36 + size * 8, 4);
	head.write('WAVEfmt ', 8);
	head.writeUInt32LE(16, 16);
	head.writeUInt16LE(1, 20);
	head.writeUInt16LE(4, 22);
	head.writeUInt32LE(8000, 24);
	head.writeUInt32LE(64000, 28);
	head.writeUInt16LE(8, 32);
	head.writeUInt16LE(16, 34);
	head.write('data', 36);
	head.writeUInt32LE(size * 8, 40);
	return Buffer.concat([head, Buffer.alloc(size * 8)]);
}

const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
const PDF = '%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj '
	+ '3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>endobj trailer<</Root 1 0 R>>';
const SHOWN = { 'a.png': PNG, 'b.wav': wav(), 'c.pdf': PDF, 'd.html': '<script>document.title = "ran"</script><img src="http://evil.example/x">',
	'e.txt': 'words ü\n'.repeat(500), 'f.mp4': wav(), 'g.png': 'no picture', 'h.bin': 'x' };

async function views(s) {
	const view = s.page.getByRole('dialog');
	const next = name => s.page.keyboard.press('ArrowRight').then(() => view.getByRole('heading', { name }).waitFor());
	await file(s, 'a.png').click();
	await view.getByRole('img', { name: 'a.png' }).waitFor();
	await s.page.waitForFunction(() => document.querySelector('#view img').naturalWidth === 1);
	assert.match(await s.page.title(), /^a\.png · /);
	await axe(s, 'a picture');
	await next('b.wav');
	await s.page.waitForFunction(() => document.querySelector('#view audio').duration > 59);
	await s.page.evaluate(() => (document.querySelector('#view audio').currentTime = 50));
	await until('a seek by Range', () => s.wire.requests('GET', '/files/b.wav?view').some(h => Number(/^range: bytes=(\d+)-/im.exec(h)?.[1]) > MIB));
	await next('c.pdf');
	await s.page.locator('#view iframe').waitFor();
	await next('d.html');
	await view.getByText('<script>document.title = "ran"</script>').waitFor();
	await next('e.txt');
	await view.getByText('words ü').waitFor();
	await axe(s, 'a text');
	await s.shot('view-text');
	await next('f.mp4'); // sound is enough of a video for the browser
	await s.page.waitForFunction(() => document.querySelector('#view video')?.duration > 59);
	await next('g.png');
	await view.getByText('This browser can’t show the file. It can be downloaded.').waitFor();
	await s.shot('view-failed');
	assert.ok(await view.getByRole('button', { name: 'Next file' }).isDisabled());
	await s.page.keyboard.press('Escape');
	await until('the list again', () => hash(s) === '#/' || hash(s) === '');
	await s.page.waitForFunction(() => document.activeElement?.textContent === 'g.png');
	await file(s, 'e.txt').click();
	await view.getByText('words ü').waitFor();
	await s.page.goBack();
	await view.waitFor({ state: 'hidden' });
	await s.page.goForward();
	await view.getByText('words ü').waitFor();
	await s.page.reload();
	await view.getByText('words ü').waitFor();
	const [download] = await Promise.all([s.page.waitForEvent('download'), view.getByRole('link', { name: 'Download' }).click()]);
	assert.equal(download.suggestedFilename(), 'e.txt');
	await view.getByRole('button', { name: 'Close' }).click();
	await view.waitFor({ state: 'hidden' });
	await s.page.waitForFunction(() => document.title.startsWith('Files'));
}

async function readsOnly(s) {
	await folder(s, '2026').click();
	await lists(s, 'empty', 'ü #1%', 'a.txt', 'b.bin');
	await pick(s, 'a.txt');
	assert.deepEqual(await s.page.getByRole('region', { name: 'Selected' }).getByRole('button').allTextContents(), ['Download', 'Clear']);
	await file(s, 'a.txt').focus();
	await s.page.keyboard.press('F2');
	await s.page.keyboard.press('Delete');
	assert.equal(await s.page.getByRole('dialog').count(), 0);
	assert.equal(await s.page.locator('td input[type=text]').count(), 0);
}

export const cases = [
	['folders are walked, with back, forward and reload', { files: TREE }, walks],
	['a folder that is not there is told in words', { files: TREE }, isGone],
	['a folder is made', { files: TREE }, makes],
	['files and folders are renamed in place', { files: TREE }, renames],
	['several are deleted, and folders only when empty', { files: TREE }, deletes],
	['several are moved to another folder', { files: TREE }, moves],
	['several are selected and downloaded as zip', { files: TREE }, selects],
	['more than fit into a request for a zip are told', { files: Object.fromEntries(Array.from({ length: 52 }, (_, i) => [String(i).repeat(i < 10 ? 200 : 100), 'x'])), context: NARROW }, selectsTooMany],
	['a chosen folder is uploaded', { files: TREE }, uploadsFolder],
	['a dropped folder is uploaded', {}, dropsFolder],
	['files are viewed in place', { files: SHOWN }, views],
	['a read-only folder offers no change of its entries', { files: TREE, args: ['--no-upload'] }, readsOnly],
];
