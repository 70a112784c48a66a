// Where the page is: a folder, and maybe a file of it that is viewed. The fragment of the URL says it:
// "#/2026/photos/" is a folder, "#/2026/photos/a.jpg" a file.

import { byId, el } from './dom.js';
import { folderHashOf, folderOf, hashOf, joined, nameOf, shown } from './text.js';

export const place = { folder: '', file: '' };

export const titleText = () =>
	`${shown(place.file || nameOf(place.folder) || 'Files')} · ${location.host}`;

function pathOfHash() {
	try {
		return decodeURIComponent(location.hash.replace(/^#\/?/, ''));
	} catch { // not what this page has made
		return '';
	}
}

// Take over the place from the URL. Return: whether the folder is another one.
export function follow() {
	const path = pathOfHash();
	const before = place.folder;
	place.folder = folderOf(path);
	place.file = nameOf(path);
	showPath();
	return place.folder !== before;
}

export function goToFolder(folder) {
	location.hash = folderHashOf(folder);
}

// Instead of the file that is viewed, which history then forgets.
export function replaceFile(name) {
	location.replace(name ? hashOf(joined(place.folder, name)) : folderHashOf(place.folder));
}

// Links to the folders that lead to one. `linkTo` makes an element of a path and a text.
export function pathItems(folder, linkTo) {
	const names = folder ? folder.split('/') : [];
	return ['Files', ...names].map((name, i) => el('li', null, linkTo(names.slice(0, i).join('/'), shown(name))));
}

function showPath() {
	byId('title').replaceChildren(el('bdi', null, shown(nameOf(place.folder) || 'Files')));
	byId('path').hidden = !place.folder;
	byId('path-list').replaceChildren(...pathItems(place.folder, (path, text) =>
		el('a', { href: folderHashOf(path) }, el('bdi', null, text))).slice(0, -1));
}
