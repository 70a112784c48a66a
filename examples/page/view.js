// A file shown over the page. Pictures, videos, sounds and PDF are what the server answers to "?view"; of
// anything else the text is shown, so that HTML and the like do nothing and fetch nothing.

import { byId, el, say } from './dom.js';
import { dates, joined, nameOf, reason, shown, sizeText, unreachable, urlOf } from './text.js';
import { focusOn, known, listed } from './list.js';
import { mediaOf } from './media.js';
import { place, replaceFile } from './place.js';

const TEXT_MAX = 1024 * 1024;

let viewed = ''; // the path
let mayGoBack = false; // history has the folder just before the file

const pathNow = () => joined(place.folder, place.file);

/* ---- contents ---- */

// Return: the text's first part; throws what is to be told instead.
async function textOf(url) {
	let res;
	try {
		res = await fetch(url, { headers: { range: `bytes=0-${TEXT_MAX - 1}` } });
	} catch {
		throw new Error(unreachable());
	}
	if (res.status === 416)
		return ''; // of an empty file
	if (!res.ok)
		throw new Error(reason(res.status, await res.text()));
	return res.text();
}

function fail(path, why) {
	if (path !== viewed)
		return;
	byId('view-body').replaceChildren(el('p', { class: 'notice', role: 'alert' }, why));
}

async function showText(path, url) {
	const size = known.get(place.file)?.size ?? 0;
	try {
		const pre = el('pre', { tabindex: '0', role: 'region', 'aria-label': 'Text' }, await textOf(url));
		if (path === viewed)
			byId('view-body').replaceChildren(pre,
				...(size > TEXT_MAX ? [el('p', { class: 'quiet' }, `Only the first ${sizeText(TEXT_MAX)} are shown.`)] : []));
	} catch (e) {
		fail(path, e.message);
	}
}

function showElement(path, e) {
	e.addEventListener('error', () => fail(path, 'This browser can’t show the file. It can be downloaded.'));
	byId('view-body').replaceChildren(e);
}

function showContents(path) {
	const url = urlOf(path) + '?view';
	const label = shown(place.file);
	switch (mediaOf(place.file)) {
	case 'picture':
		return showElement(path, el('img', { src: url, alt: label }));
	case 'video':
		return showElement(path, el('video', { src: url, controls: '', 'aria-label': label, preload: 'metadata' }));
	case 'audio':
		return showElement(path, el('audio', { src: url, controls: '', 'aria-label': label, preload: 'metadata' }));
	case 'pdf':
		return showElement(path, el('iframe', { src: url, title: label }));
	}
	return showText(path, url);
}

/* ---- the dialog ---- */

// Return: the names of the files before and after this one that can be viewed.
function neighbours() {
	const names = listed().filter(e => !e.isFolder && mediaOf(e.name)).map(e => e.name);
	const at = names.indexOf(place.file);
	return at < 0 ? [] : [names[at - 1], names[at + 1]];
}

function clear() {
	byId('view-body').querySelector('video, audio')?.removeAttribute('src'); // or it would go on loading
	byId('view-body').querySelector('video, audio')?.load();
	byId('view-body').replaceChildren();
}

// The list may come later than the file.
export function describeView() {
	const entry = known.get(place.file);
	const [before, after] = neighbours();
	byId('view-note').textContent = entry ? `${sizeText(entry.size)} · ${dates.format(entry.time)}` : '';
	byId('view-before').disabled = !before;
	byId('view-after').disabled = !after;
}

// Show the file that the place names, or none. `isBeneath`: the entry before in history is the folder.
export function showView(isBeneath) {
	const path = place.file && pathNow();
	if (path === viewed)
		return;
	const before = viewed;
	viewed = path;
	clear();
	if (!path) {
		byId('view').close();
		return focusOn(nameOf(before));
	}
	mayGoBack = before ? mayGoBack : isBeneath;
	byId('view-title').replaceChildren(el('bdi', null, shown(place.file)));
	byId('view-get').href = urlOf(path);
	byId('view-get').download = place.file;
	describeView();
	showContents(path);
	if (!byId('view').open)
		byId('view').showModal();
	else
		say(shown(place.file));
}

export function step(by) {
	const name = neighbours()[by < 0 ? 0 : 1];
	if (name)
		replaceFile(name);
}

export function closeView() {
	if (mayGoBack)
		history.back();
	else
		replaceFile('');
}
