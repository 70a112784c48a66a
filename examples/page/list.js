// The entries of the folder: loading, sorting, filtering, showing.

import { arrange, button, byId, el, icon } from './dom.js';
import { bytesText, countText, dates, datesFull, folderHashOf, hashOf, joined, numbers, reason, shown, sizeText,
	totalSize, unreachable, urlOf } from './text.js';
import { mediaOf } from './media.js';
import { place } from './place.js';
import { selectAll, selected, showSelection } from './select.js';

const GROUP_SIZE = 25; // rows that are made together, when they come near
const FILTER_FROM = 10; // a shorter list needs no filter

export const mayChange = document.documentElement.dataset.upload === 'on';
const mayDrop = matchMedia('(hover: hover)').matches; // a finger drags no files
export const known = new Map(); // name -> {name, size, time, isFolder, folded}
export const fresh = new Set(); // paths of entries that are new

const rows = new Map(); // name -> the row in the table
const groups = []; // bodies of the table; `list` holds their entries, `from` the position of the first
let sort = { by: 'name', down: false };
let order = null; // all entries as they are sorted; null: they are to be
let rowHeight = 49;
let loaded = false;
let loading = null;
let loadAgain = false;
let loadTimer = 0;
let slow = 0;

/* ---- loading ---- */

// Return: { files }, or { why } in words.
export async function listOf(folder) {
	let res;
	try {
		res = await fetch('api/files' + (folder && `?path=${encodeURIComponent(folder)}`), { cache: 'no-store' });
		return res.ok ? await res.json() : { why: reason(res.status, await res.text()) };
	} catch {
		return { why: res ? 'The answer of the server broke off.' : unreachable() };
	}
}

// Return: null, or in words why the list is as it was.
async function loadOnce() {
	const { folder } = place;
	const { files, why } = await listOf(folder);
	if (why)
		return why;
	if (folder !== place.folder)
		return null; // another load has been asked for
	const before = new Set(known.keys());
	known.clear();
	for (const { name, size, mtime, type } of files) {
		known.set(name, { name, size: size ?? 0, time: Date.parse(mtime), isFolder: type === 'folder', folded: folded(name) });
		if (loaded && !before.has(name))
			fresh.add(joined(folder, name));
	}
	order = null;
	loaded = true;
	return null;
}

// Suspends until the list is as new as this call. Return: whether it is.
export function load() {
	clearTimeout(loadTimer);
	loadAgain = true;
	loading ??= (async () => {
		while (loadAgain) {
			loadAgain = false;
			trouble(await loadOnce());
		}
		loading = null;
		render();
		return byId('trouble').hidden;
	})();
	return loading;
}

export function loadSoon() {
	clearTimeout(loadTimer);
	loadTimer = setTimeout(load, 200);
}

// Another folder has been entered.
export function loadFirst() {
	known.clear();
	rows.clear();
	selectAll(false);
	order = null;
	loaded = false;
	byId('filter').value = '';
	slow = setTimeout(() => (byId('summary').textContent = 'Loading …'), 400);
	render();
	return load();
}

function trouble(text) {
	const box = byId('trouble');
	box.hidden = !text;
	if (text)
		box.replaceChildren(el('span', null, `The list could not be loaded. ${text}`), button('Try again', undefined, load));
}

/* ---- order ---- */

const names = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });
const sorters = {
	name: (a, b) => names.compare(a.name, b.name) || (a.name < b.name ? -1 : 1),
	size: (a, b) => a.size - b.size,
	date: (a, b) => a.time - b.time,
};

const folded = text => text.normalize('NFC').toLowerCase();

// The entries that are listed, in order; folders are first.
export function listed() {
	const part = folded(byId('filter').value.trim());
	const sign = sort.down ? -1 : 1;
	order ??= [...known.values()].sort((a, b) =>
		b.isFolder - a.isFolder || sign * sorters[sort.by](a, b) || sorters.name(a, b));
	return part ? order.filter(e => e.folded.includes(part)) : order;
}

export function sortBy(by) {
	sort = { by, down: sort.by === by ? !sort.down : by !== 'name' };
	order = null;
	render();
}

/* ---- rows ---- */

export function pathOf(entry) {
	return joined(place.folder, entry.name);
}

function linkOf(entry) {
	if (entry.isFolder)
		return { href: folderHashOf(pathOf(entry)) };
	return mediaOf(entry.name) ? { href: hashOf(pathOf(entry)) } : { href: urlOf(pathOf(entry)), download: entry.name };
}

function newRow(entry) {
	const text = shown(entry.name);
	const act = (what, name, title) => el('button', { type: 'button', class: `round ${what}`, 'data-do': what, title,
		'aria-label': `${title}: ${text}` }, icon(name));
	const r = { size: el('span'), exact: el('span', { class: 'sr' }), time: el('time') };
	r.check = el('input', { type: 'checkbox', 'aria-label': `Select ${text}` });
	r.tr = el('tr', { role: 'row' },
		el('td', { role: 'cell', class: 'pick' }, r.check),
		el('td', { role: 'cell', class: 'name' }, el('a', linkOf(entry), icon(entry.isFolder ? 'i-folder' : 'i-file'),
			entry.isFolder ? el('span', { class: 'sr' }, 'Folder ') : '', el('bdi', null, text))),
		el('td', { role: 'cell', class: 'size' }, r.size, r.exact),
		el('td', { role: 'cell', class: 'date' }, r.time),
		el('td', { role: 'cell', class: 'do' },
			act('get', 'i-down', entry.isFolder ? 'Download as zip' : 'Download with pause and resume'),
			...(mayChange ? [act('rename', 'i-pen', 'Rename'), act('delete', 'i-bin', 'Delete')] : [])));
	return r;
}

function rowOf(entry, position) {
	const r = rows.get(entry.name);
	if (r?.tr.entry.isFolder !== entry.isFolder)
		rows.set(entry.name, newRow(entry));
	const row = rows.get(entry.name);
	row.tr.entry = entry;
	row.tr.ariaRowIndex = String(position + 2);
	row.check.checked = selected.has(entry.name);
	if (fresh.delete(pathOf(entry)))
		row.tr.classList.add('fresh');
	if (row.bytes !== entry.size && !entry.isFolder) {
		row.bytes = entry.size;
		row.size.textContent = sizeText(entry.size);
		row.size.title = bytesText(entry.size);
		row.exact.textContent = entry.size >= 1000 ? `, exactly ${bytesText(entry.size)}` : '';
	}
	if (row.at !== entry.time && Number.isFinite(entry.time)) {
		row.at = entry.time;
		row.time.dateTime = new Date(entry.time).toISOString();
		row.time.textContent = dates.format(entry.time);
		row.time.title = datesFull.format(entry.time);
	}
	return row.tr;
}

/* ---- groups of rows ---- */

function fill(group) {
	arrange(group, group.list.map((entry, i) => rowOf(entry, group.from + i)));
	group.style.height = '';
}

function empty(group) {
	group.replaceChildren();
	group.style.height = `${group.list.length * rowHeight}px`;
}

const nearing = new IntersectionObserver(seen => {
	for (const { target, isIntersecting } of seen) {
		target.isNear = isIntersecting;
		if (isIntersecting && !target.firstChild)
			fill(target);
	}
}, { rootMargin: '1200px' });

function newGroup() {
	const group = el('tbody', { role: 'rowgroup' });
	byId('table').append(group);
	nearing.observe(group);
	return group;
}

function showGroups(list, all) {
	const count = Math.ceil(list.length / GROUP_SIZE);
	const first = groups[0]?.firstElementChild?.offsetHeight;
	rowHeight = first || rowHeight;
	while (groups.length < count)
		groups.push(newGroup());
	for (const group of groups.splice(count)) {
		nearing.unobserve(group);
		group.remove();
	}
	groups.forEach((group, i) => {
		group.from = i * GROUP_SIZE;
		group.list = list.slice(group.from, group.from + GROUP_SIZE);
		if (all || i === 0 || group.isNear || group.contains(document.activeElement))
			fill(group);
		else
			empty(group);
	});
	for (const [name, row] of rows) {
		if (!row.tr.isConnected)
			rows.delete(name);
	}
}

// Paper has no end to scroll to: with `all`, every row is made.
export function render({ all } = {}) {
	const list = listed();
	const entries = [...known.values()];
	const filtering = byId('filter').value.trim() !== '';

	showGroups(list, all);
	showSelection(list);
	if (loaded || !byId('trouble').hidden) {
		clearTimeout(slow);
		byId('summary').textContent = entries.length ? [countText(entries), totalSize(entries) && sizeText(totalSize(entries))]
			.filter(Boolean).join(' · ') : loaded ? 'No files' : 'Not loaded';
	}
	byId('found').textContent = filtering ? `${numbers.format(list.length)} of ${countText(entries)}` : '';
	byId('tools').hidden = known.size <= FILTER_FROM && !filtering;
	byId('table').hidden = list.length === 0;
	byId('table').ariaRowCount = String(list.length + 1);
	byId('empty').hidden = list.length > 0 || !loaded || !byId('trouble').hidden;
	byId('empty-title').textContent = filtering ? 'No name holds that' : 'Nothing here yet';
	byId('empty-text').textContent = filtering ? 'Change or clear the filter to see the others.'
		: mayChange ? (mayDrop ? 'Drop files or folders anywhere on this page, or choose some with “Upload files”.' : 'Choose some with “Upload files”.')
			: 'Files that appear in the folder are listed here.';
	for (const b of document.querySelectorAll('[data-sort]'))
		b.parentElement.setAttribute('aria-sort',
			b.dataset.sort !== sort.by ? 'none' : sort.down ? 'descending' : 'ascending');
}

// The name of the entry that gets focus when these have gone.
export function nameAfter(entries) {
	const list = listed();
	const gone = new Set(entries);
	const at = list.indexOf(entries[0]);
	return (list.slice(at).find(e => !gone.has(e)) ?? list.slice(0, at).findLast(e => !gone.has(e)))?.name;
}

// Give focus to an entry's link, also where its row is not made yet.
export function focusOn(name) {
	const group = groups.find(g => g.list.some(e => e.name === name));
	if (group && !group.firstChild)
		fill(group);
	rows.get(name)?.tr.querySelector('a').focus();
}
