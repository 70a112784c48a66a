// What others change while the page is open: cases of page.mjs, [name, options, run].

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { until } from './scene.mjs';

const lists = (page, ...names) => until(`a list of ${names}`, async () =>
	(await page.locator('tbody bdi').allTextContents()).join() === names.join());
const rowOf = (page, name) => page.locator('tbody tr').filter({ has: page.getByRole('link', { name, exact: true }) });
const focusName = page => page.evaluate(() => document.activeElement.closest('tr')?.entry.name);
const asked = (s, path) => s.wire.requests('GET', path).length;

// How many streams a page has.
const counted = () => {
	const all = [];
	window.EventSource = class extends EventSource {
		constructor(...args) {
			super(...args);
			all.push(this);
		}
	};
	window.streams = () => all.filter(stream => stream.readyState !== EventSource.CLOSED).length;
};

const show = (page, hidden) => page.evaluate(value => {
	Object.defineProperty(document, 'hidden', { configurable: true, value });
	document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
}, hidden);

async function another(s, path = '/') {
	const page = await s.context.newPage();
	await page.goto(s.origin + path);
	await page.waitForFunction(() => /\d|No/.test(document.querySelector('#summary').textContent));
	return page;
}

async function twoWindows(s) {
	const other = await another(s);
	await lists(other, 'b.txt', 'c.txt');
	await other.evaluate(() => (window.said = []) && new MutationObserver(() => window.said.push(1))
		.observe(document.querySelector('#live'), { childList: true, characterData: true, subtree: true }));
	await other.getByLabel('Select c.txt', { exact: true }).check();
	await rowOf(other, 'c.txt').getByRole('link').focus();
	await s.choose({ 'a.txt': 'from the first window' });
	await s.state('a.txt', 'done');
	await lists(other, 'a.txt', 'b.txt', 'c.txt');
	assert.match(await rowOf(other, 'a.txt').getAttribute('class'), /fresh/);
	assert.equal(await rowOf(other, 'b.txt').getAttribute('class'), null);
	assert.ok(await other.getByLabel('Select c.txt', { exact: true }).isChecked());
	assert.equal(await focusName(other), 'c.txt');
	await s.row('b.txt').getByRole('button', { name: /^Delete/ }).click();
	await s.page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
	await lists(other, 'a.txt', 'c.txt');
	assert.equal(await focusName(other), 'c.txt');
	assert.deepEqual(await other.evaluate(() => window.said), [], 'nothing is said');
}

async function folders(s) {
	const other = await another(s, '/#/sub/');
	await other.waitForTimeout(3500); // what is new when the page comes is told once more
	const before = asked(s, '/api/files?path=sub');
	s.put('top.txt', 'x');
	await s.row('top.txt').waitFor();
	assert.equal(asked(s, '/api/files?path=sub'), before, 'another folder is not loaded');
	s.put('sub/one.txt', 'x');
	await lists(other, 'one.txt');
	await other.evaluate(() => (location.hash = '#/'));
	await lists(other, 'sub', 'top.txt');
	s.put('two.txt', 'x');
	await lists(other, 'sub', 'top.txt', 'two.txt');
}

async function growing(s) {
	s.put('copy.bin', 'x');
	await s.row('copy.bin').waitFor();
	for (let i = 0; i < 4; i++) {
		fs.appendFileSync(`${s.folder}/copy.bin`, 'x'.repeat(1000));
		await s.page.waitForTimeout(500);
	}
	await s.row('copy.bin').getByText('4 kB', { exact: true }).waitFor();
}

// The row goes that has focus, then those around it as well.
async function focusStays(s) {
	await s.row('c').getByRole('link').focus();
	fs.unlinkSync(`${s.folder}/c`);
	await lists(s.page, 'a', 'b', 'd');
	assert.equal(await focusName(s.page), 'd');
	for (const name of ['a', 'b', 'd'])
		fs.unlinkSync(`${s.folder}/${name}`);
	await s.page.getByText('Nothing here yet').waitFor();
	assert.equal(await s.page.evaluate(() => document.activeElement.textContent.trim()), 'Upload files');
}

// More rows above push it into the next group.
async function manyAbove(s) {
	await s.row('m20').getByRole('link').focus();
	for (let i = 0; i < 40; i++)
		s.put(`a${i}`, 'x');
	await s.page.getByText('65 files').first().waitFor();
	assert.equal(await focusName(s.page), 'm20');
}

async function renaming(s) {
	await s.row('a.txt').getByRole('button', { name: /^Rename/ }).click();
	const input = s.page.getByRole('textbox', { name: 'New name of a.txt' });
	await input.fill('half a na');
	s.put('0.txt', 'x');
	await s.page.waitForTimeout(3000);
	assert.deepEqual([await input.inputValue(), await s.row('0.txt').count()], ['half a na', 0]);
	await input.press('Escape');
	await lists(s.page, '0.txt', 'a.txt');
	assert.deepEqual(s.names(), ['0.txt', 'a.txt']);
}

async function broken(s) {
	await until('a stream', () => asked(s, '/api/events') > 0);
	s.wire.down = true;
	s.wire.cutAll();
	s.put('meanwhile.txt', 'x');
	await s.page.waitForTimeout(1500);
	assert.deepEqual(await s.listed(), []);
	s.wire.down = false;
	await s.row('meanwhile.txt').waitFor();
	s.put('later.txt', 'x');
	await s.row('later.txt').waitFor();
}

async function hidden(s) {
	const streams = () => s.page.evaluate(() => window.streams());
	assert.equal(await streams(), 1);
	await show(s.page, true);
	assert.equal(await streams(), 0);
	const before = asked(s, '/api/files');
	s.put('meanwhile.txt', 'x');
	await s.page.waitForTimeout(2500);
	assert.equal(asked(s, '/api/files'), before);
	await show(s.page, false);
	await s.row('meanwhile.txt').waitFor();
	assert.equal(await streams(), 1);
}

async function manyWindows(s) {
	await s.context.addInitScript(counted);
	const pages = [s.page];
	while (pages.length < 8)
		pages.push(await another(s));
	const streams = () => Promise.all(pages.slice(1).map(page => page.evaluate(() => window.streams())));
	await until('three streams', async () => (await streams()).join() === '0,0,0,0,1,1,1');
	await s.choose({ 'a.txt': 'a' });
	await s.state('a.txt', 'done');
	for (const page of pages.slice(5))
		await rowOf(page, 'a.txt').waitFor();
	await pages[2].evaluate(() => dispatchEvent(new Event('focus')));
	await rowOf(pages[2], 'a.txt').waitFor();
	await until('three streams', async () => (await streams()).join() === '0,1,0,0,0,1,1');
}

async function rests(s) {
	await s.page.waitForTimeout(3500);
	const before = s.wire.heads.length;
	await s.page.waitForTimeout(3000);
	assert.equal(s.wire.heads.length, before);
}

async function atMost(s) {
	await s.page.waitForTimeout(3500);
	const before = asked(s, '/api/files');
	const end = Date.now() + 4000;
	for (let i = 0; Date.now() < end; i++) {
		s.put(`${i % 50}.txt`, 'x');
		fs.renameSync(`${s.folder}/${i % 50}.txt`, `${s.folder}/${i % 50}.bin`);
		await s.page.waitForTimeout(20);
	}
	const count = asked(s, '/api/files') - before;
	assert.ok(count >= 2 && count <= 5, `${count} lists`);
}

const SMALL = { 'b.txt': 'b', 'c.txt': 'c' };

export const cases = [
	['what one window uploads and deletes, another shows without a reload', { files: SMALL }, twoWindows],
	['only changes of the folder that is shown are loaded', { files: { 'sub/': '' } }, folders],
	['a file that another program writes grows on the page', {}, growing],
	['focus goes to the next row when others delete that of it', { files: { a: 'a', b: 'b', c: 'c', d: 'd' } }, focusStays],
	['focus stays in a row that others push down', { files: Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`m${i}`, 'm'])) }, manyAbove],
	['a name that is being typed is not disturbed by others', { files: { 'a.txt': 'a' } }, renaming],
	['a stream of changes that broke comes back', {}, broken],
	['a hidden page has no stream of changes', { init: counted }, hidden],
	['many windows leave connections for uploads', {}, manyWindows],
	['a read-only page shows changes, too', { args: ['--no-upload'] }, async s => {
		s.put('new.txt', 'x');
		await s.row('new.txt').waitFor();
	}],
	['a page asks for nothing while nothing changes', { files: SMALL }, rests],
	['a folder that changes all the time is loaded once a second', {}, atMost],
];
