// Changes of the folder: making folders, renaming, moving, deleting.

import { byId, el, icon, refocus, say } from './dom.js';
import { countText, folderUrlOf, joined, nameOf, request, shown, sizeText, totalSize, urlOf } from './text.js';
import { focusOn, fresh, listOf, load, pathOf } from './list.js';
import { pathItems, place } from './place.js';

const itemsText = entries => (entries.length === 1 ? shown(entries[0].name) : countText(entries));

export const makeFolder = path => request('PUT', folderUrlOf(path));

const moveTo = (from, to, replace = false) => request('POST', 'api/move', { from, to, replace });

const removeEntry = entry => request('DELETE', entry.isFolder ? folderUrlOf(pathOf(entry)) : urlOf(pathOf(entry)));

// Do it to each entry. Return: null, or in words what failed.
async function forEach(entries, act) {
	const bad = [];
	for (const entry of entries) {
		const why = await act(entry);
		if (why)
			bad.push(entries.length > 1 ? `${shown(entry.name)}: ${why}` : why);
	}
	await load();
	return bad.length > 3 ? `${bad.slice(0, 3).join(' ')} And ${bad.length - 3} more failed.` : bad.join(' ') || null;
}

/* ---- dialogs ---- */

// Show a dialog whose form does `act`, which returns null or why it failed. It stays open then.
function open(dialog, act, after) {
	const [form, bad] = [dialog.querySelector('form'), dialog.querySelector('.bad')];
	const submit = form.querySelector('[type=submit]');
	bad.textContent = '';
	form.onsubmit = async e => {
		e.preventDefault();
		submit.disabled = true;
		const why = await act();
		submit.disabled = false;
		bad.textContent = why ?? '';
		if (why)
			return submit.focus();
		dialog.close();
		after();
	};
	dialog.showModal();
}

export function newFolder() {
	const input = byId('make-name');
	input.value = '';
	open(byId('make'), async () => {
		const path = joined(place.folder, input.value.trim());
		const why = await makeFolder(path);
		if (!why) {
			fresh.add(path);
			await load();
		}
		return why;
	}, () => {
		say(`Folder ${shown(input.value.trim())} made.`);
		focusOn(input.value.trim());
	});
}

export function askDelete(entries, next) {
	byId('ask-text').replaceChildren(el('bdi', null, itemsText(entries)),
		`${totalSize(entries) ? ` (${sizeText(totalSize(entries))})` : ''} will be gone for good.`);
	open(byId('ask'), () => forEach(entries, removeEntry), () => {
		say(`${itemsText(entries)} deleted.`);
		next ? focusOn(next) : refocus(byId('choose'));
	});
}

/* ---- moving ---- */

// Show the folders of `folder` to move to. Return: null, or in words why not.
async function showTargets(folder) {
	const list = byId('move-list');
	const { files, why } = await listOf(folder);
	if (why)
		return why;
	const go = (path, ...content) => {
		const b = el('button', { type: 'button', class: 'plain' }, ...content);
		b.addEventListener('click', async () => (byId('move-bad').textContent = await showTargets(path) ?? ''));
		return b;
	};
	const had = byId('move').contains(document.activeElement);
	list.replaceChildren(...files.filter(f => f.type === 'folder').map(f =>
		el('li', null, go(joined(folder, f.name), icon('i-folder'), el('bdi', null, shown(f.name))))));
	byId('move-none').hidden = list.children.length > 0;
	byId('move-path').replaceChildren(...pathItems(folder, (path, text) => go(path, el('bdi', null, text))));
	byId('move-path').lastChild.firstChild.setAttribute('aria-current', 'location');
	byId('move-yes').textContent = `Move to ${shown(nameOf(folder) || 'Files')}`;
	byId('move-yes').disabled = folder === place.folder;
	byId('move').folder = folder;
	if (had && !byId('move').contains(document.activeElement))
		(list.querySelector('button') ?? byId('move-path').lastChild.firstChild).focus();
	return null;
}

export async function askMove(entries, next) {
	const dialog = byId('move');
	byId('move-title').replaceChildren('Move ', el('bdi', null, itemsText(entries)));
	byId('move-replace').checked = false;
	open(dialog, () => forEach(entries, entry =>
		moveTo(pathOf(entry), joined(dialog.folder, entry.name), byId('move-replace').checked)), () => {
		say(`${itemsText(entries)} moved.`);
		next ? focusOn(next) : refocus(byId('choose'));
	});
	byId('move-bad').textContent = await showTargets(place.folder) ?? '';
}

/* ---- renaming in place ---- */

// Put an input in place of the name in a row. Enter and leaving it rename, Escape does not.
export function rename(tr) {
	const { entry } = tr;
	const cell = tr.querySelector('.name');
	if (cell.querySelector('input'))
		return;
	const link = cell.firstChild;
	const bad = el('p', { class: 'bad', role: 'alert' });
	const input = el('input', { type: 'text', 'aria-label': `New name of ${shown(entry.name)}`, autocomplete: 'off', spellcheck: 'false' });
	let over = false;

	const end = name => {
		over = true;
		cell.replaceChildren(link);
		focusOn(name);
	};
	const commit = async () => {
		const name = input.value.trim();
		if (over || input.disabled)
			return;
		if (!name || input.value === entry.name)
			return end(entry.name);
		input.disabled = true;
		const why = /\//.test(name) ? 'A name can’t hold a slash.' : await moveTo(pathOf(entry), joined(place.folder, name));
		input.disabled = false;
		bad.textContent = why ?? '';
		if (why)
			return input.focus();
		fresh.add(joined(place.folder, name));
		await load();
		end(name);
		say(`Renamed to ${shown(name)}.`);
	};

	input.value = entry.name;
	input.addEventListener('keydown', e => {
		e.stopPropagation();
		if (e.key === 'Enter')
			commit();
		else if (e.key === 'Escape')
			end(entry.name);
	});
	input.addEventListener('blur', commit);
	cell.replaceChildren(input, bad);
	input.focus();
	const dot = entry.isFolder ? -1 : entry.name.lastIndexOf('.');
	input.setSelectionRange(0, dot > 0 ? dot : entry.name.length);
}
