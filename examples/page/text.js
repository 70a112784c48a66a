// Numbers, dates, names and errors in words.

export const numbers = new Intl.NumberFormat();
export const percents = new Intl.NumberFormat(undefined, { style: 'percent' });
export const dates = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
export const datesFull = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });

const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte', 'petabyte'].map((unit, i) =>
	new Intl.NumberFormat(undefined,
		{ style: 'unit', unit, unitDisplay: i ? 'short' : 'long', maximumSignificantDigits: 3 }));

export function sizeText(bytes) {
	let i = 0;
	for (; bytes >= 999.5 && i < units.length - 1; i++)
		bytes /= 1000;
	return units[i].format(bytes);
}

export const bytesText = bytes => `${numbers.format(bytes)} ${bytes === 1 ? 'byte' : 'bytes'}`;
export const filesText = n => `${numbers.format(n)} ${n === 1 ? 'file' : 'files'}`;
const foldersText = n => `${numbers.format(n)} ${n === 1 ? 'folder' : 'folders'}`;

// Entries of a folder are {name, size, time, isFolder}.
export function countText(entries) {
	const folders = entries.filter(e => e.isFolder).length;
	const files = entries.length - folders;
	return [folders && foldersText(folders), files && filesText(files)].filter(Boolean).join(', ');
}

export const totalSize = entries => entries.reduce((sum, e) => sum + e.size, 0);

export function timeText(seconds) {
	if (seconds < 60)
		return `${Math.max(1, Math.ceil(seconds))} s`;
	const minutes = Math.round(seconds / 60);
	return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

// A name as it is shown. Replaced are control characters, invisible ones, and those that turn the direction
// of writing around, or "exe.txt" could be shown where the name ends in "txt.exe".
export function shown(name) {
	return name.trim()
		? name.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g, '\ufffd')
		: `“${name.replace(/\s/g, ' ')}”`;
}

/* ---- paths beneath the folder that is served; "" is that folder ---- */

export const joined = (folder, name) => (folder ? `${folder}/${name}` : name);
export const nameOf = path => path.slice(path.lastIndexOf('/') + 1);
export const folderOf = path => path.slice(0, Math.max(0, path.lastIndexOf('/')));

const encoded = path =>
	path.split('/').map(name => encodeURIComponent(name.replace(/\p{Surrogate}/gu, '\ufffd'))).join('/');
const folderEnd = path => encoded(path) + (path && '/');

export const urlOf = path => 'files/' + encoded(path);
export const folderUrlOf = path => 'files/' + folderEnd(path);
export const hashOf = path => '#/' + encoded(path);
export const folderHashOf = path => '#/' + folderEnd(path);

/* ---- errors ---- */

const REASONS = {
	400: 'The server can’t take this name or this content.',
	403: 'The server does not allow this.',
	404: 'It is no longer there.',
	408: 'The connection stalled for too long.',
	409: 'Something of this name is already there.',
	413: 'The file is too large for this server.',
	507: 'The server’s disk has no room for this file.',
};

// An answer's status and its problem+json in words.
export function reason(status, body) {
	let problem = null;
	try {
		problem = JSON.parse(body);
	} catch { /* not a problem document: the status has to do */ }
	const text = value => (typeof value === 'string' ? value.trim() : '');
	const title = text(problem?.title);
	const said = REASONS[status] ?? `The server answered ${status}${title && ` (${title})`}.`;
	const detail = [413, 507].includes(status) ? '' : text(problem?.detail); // which says it once more
	return detail ? `${said} ${detail.replace(/^./u, c => c.toUpperCase()).replace(/[^.!?]$/, '$&.')}` : said;
}

// Return: null, or in words why the server did not do it.
export async function request(method, url, json) {
	const body = json && JSON.stringify(json);
	try {
		const res = await fetch(url, { method, body, headers: body && { 'content-type': 'application/json' } });
		return res.ok ? null : reason(res.status, await res.text());
	} catch {
		return unreachable();
	}
}

export const unreachable = () => (navigator.onLine ? 'The server can’t be reached.' : 'This device is offline.');
