// What is in the folder: loading, sorting, filtering, deleting.

import { arrange, button, byId, el, icon, refocus, say } from './dom.js';
import { bytesText, dates, datesFull, filesText, numbers, reason, shown, sizeText, unreachable, urlOf } from './text.js';

const ROWS_STEP = 300; // rows that one step of the list adds
const FILTER_FROM = 10; // up to so many files nobody needs a filter

export const mayChange = document.documentElement.dataset.upload === 'on';
const mayDrop = matchMedia('(hover: hover)').matches; // a finger drags no files
export const known = new Map(); // name -> {name, size, time}
export const fresh = new Set(); // names that this page has just uploaded

const rows = new Map(); // name -> the row in the table
let sort = { by: 'name', down: false };
let order = null; // all files as they are sorted; null: they are to be
let rowsMax = ROWS_STEP;
let loaded = false;
let loading = null;
let loadAgain = false;
let loadTimer = 0;

const slow = setTimeout(() => (byId('summary').textContent = 'Loading …'), 400);

// Return: null, or in words why the list is as it was.
async function loadOnce() {
	let res, files;
	try {
		res = await fetch('api/files', { cache: 'no-store' });
		if (!res.ok)
			return reason(res.status, await res.text());
		({ files } = await res.json());
	} catch {
		return res ? 'The answer of the server broke off.' : unreachable();
	}
	known.clear();
	for (const { name, size, mtime } of files.filter(f => f.type === 'file'))
		known.set(name, { name, size, time: Date.parse(mtime), folded: folded(name) });
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
			render();
		}
		loading = null;
		return byId('trouble').hidden;
	})();
	return loading;
}

export function loadSoon() {
	clearTimeout(loadTimer);
	loadTimer = setTimeout(load, 200);
}

function trouble(text) {
	const box = byId('trouble');
	box.hidden = !text;
	if (text)
		box.replaceChildren(el('span', null, `The list could not be loaded. ${text}`), button('Try again', undefined, load));
}

/* ---- showing ---- */

const names = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });
const sorters = {
	name: (a, b) => names.compare(a.name, b.name) || (a.name < b.name ? -1 : 1),
	size: (a, b) => a.size - b.size,
	date: (a, b) => a.time - b.time,
};

const folded = text => text.normalize('NFC').toLowerCase();

function wanted() {
	const part = folded(byId('filter').value.trim());
	const sign = sort.down ? -1 : 1;
	order ??= [...known.values()].sort((a, b) => sign * sorters[sort.by](a, b) || sorters.name(a, b));
	return part ? order.filter(f => f.folded.includes(part)) : order;
}

function newRow(file) {
	const text = shown(file.name);
	const act = (what, name, title) => el('button', { type: 'button', class: 'round', 'data-do': what, title,
		'aria-label': `${title}: ${text}` }, icon(name));
	const r = { size: el('span'), exact: el('span', { class: 'sr' }), time: el('time') };
	r.tr = el('tr', { role: 'row' },
		el('td', { role: 'cell', class: 'name' },
			el('a', { href: urlOf(file.name), download: file.name }, el('bdi', null, text))),
		el('td', { role: 'cell', class: 'size' }, r.size, r.exact),
		el('td', { role: 'cell', class: 'date' }, r.time),
		el('td', { role: 'cell', class: 'do' }, act('get', 'i-down', 'Download with pause and resume')));
	if (mayChange)
		r.tr.lastChild.append(act('delete', 'i-bin', 'Delete'));
	return r;
}

function rowOf(file) {
	if (!rows.has(file.name))
		rows.set(file.name, newRow(file));
	const r = rows.get(file.name);
	r.tr.file = file;
	if (fresh.delete(file.name))
		r.tr.classList.add('fresh');
	if (r.bytes !== file.size) {
		r.bytes = file.size;
		r.size.textContent = sizeText(file.size);
		r.size.title = bytesText(file.size);
		r.exact.textContent = file.size >= 1000 ? `, exactly ${bytesText(file.size)}` : '';
	}
	if (r.at !== file.time && Number.isFinite(file.time)) {
		r.at = file.time;
		r.time.dateTime = new Date(file.time).toISOString();
		r.time.textContent = dates.format(file.time);
		r.time.title = datesFull.format(file.time);
	}
	return r.tr;
}

export function render() {
	clearTimeout(slow);
	const list = wanted();
	const filtering = byId('filter').value.trim() !== '';
	const total = [...known.values()].reduce((sum, f) => sum + f.size, 0);

	arrange(byId('rows'), list.slice(0, rowsMax).map(rowOf));
	for (const [name, r] of rows) {
		if (!r.tr.isConnected)
			rows.delete(name);
	}
	byId('summary').textContent = known.size ? `${filesText(known.size)} · ${sizeText(total)}` : loaded ? 'No files' : 'Not loaded';
	byId('found').textContent = filtering ? `${numbers.format(list.length)} of ${filesText(known.size)}` : '';
	byId('tools').hidden = known.size <= FILTER_FROM && !filtering;
	byId('table').hidden = list.length === 0;
	byId('more').hidden = list.length <= rowsMax;
	byId('more-button').textContent = `Show more of ${filesText(list.length)}`;
	byId('empty').hidden = list.length > 0 || !byId('trouble').hidden;
	byId('empty-title').textContent = filtering ? 'No name holds that' : 'Nothing here yet';
	byId('empty-text').textContent = filtering ? 'Change or clear the filter to see the others.'
		: mayChange ? (mayDrop ? 'Drop files anywhere on this page, or choose some with “Upload files”.' : 'Choose some with “Upload files”.')
			: 'Files that appear in the folder are listed here.';
	for (const b of document.querySelectorAll('[data-sort]'))
		b.parentElement.setAttribute('aria-sort',
			b.dataset.sort !== sort.by ? 'none' : sort.down ? 'descending' : 'ascending');
}

export function showFirst() {
	rowsMax = ROWS_STEP;
	render();
}

export function showMore() {
	rowsMax += ROWS_STEP;
	render();
}

// Paper has no end to scroll to. Return: what shows the list as it was.
export function showAll() {
	const before = rowsMax;
	rowsMax = Infinity;
	render();
	return () => {
		rowsMax = before;
		render();
	};
}

export function sortBy(by) {
	sort = { by, down: sort.by === by ? !sort.down : by !== 'name' };
	order = null;
	showFirst();
}

/* ---- deleting ---- */

export function askDelete(file, tr) {
	const dialog = byId('ask');
	const yes = byId('ask-yes');
	byId('ask-text').replaceChildren(el('bdi', null, shown(file.name)), ` (${sizeText(file.size)}) will be gone for good.`);
	byId('ask-bad').textContent = '';
	yes.onclick = async () => {
		yes.disabled = true;
		const bad = await remove(file.name);
		yes.disabled = false;
		byId('ask-bad').textContent = bad ?? '';
		if (bad)
			return yes.focus();
		const next = tr.nextElementSibling ?? tr.previousElementSibling;
		dialog.close();
		say(`${shown(file.name)} deleted.`);
		await load();
		refocus(next?.querySelector('[data-do=delete]'), byId('choose'));
	};
	dialog.showModal();
}

// Return: null, or in words why not.
async function remove(name) {
	try {
		const res = await fetch(urlOf(name), { method: 'DELETE' });
		return res.ok || res.status === 404 ? null : reason(res.status, await res.text());
	} catch {
		return unreachable();
	}
}
