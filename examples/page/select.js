// The selected entries of the folder.

import { byId } from './dom.js';
import { countText, numbers, sizeText, totalSize } from './text.js';

export const selected = new Set(); // names
let anchor = null; // where a range begins: the name that was clicked last

// Select or deselect an entry; with `range`, all between it and the one that was clicked before.
export function select(name, on, range, list) {
	const names = list.map(e => e.name);
	const [from, to] = [names.indexOf(range ? anchor : name), names.indexOf(name)];
	for (const n of from < 0 ? [name] : names.slice(Math.min(from, to), Math.max(from, to) + 1))
		on ? selected.add(n) : selected.delete(n);
	anchor = name;
}

export function selectAll(on, list) {
	selected.clear();
	for (const e of on ? list : [])
		selected.add(e.name);
}

export const selectedOf = list => list.filter(e => selected.has(e.name));

// Show what is selected of the entries that are listed. Others are selected no more.
export function showSelection(list) {
	const chosen = selectedOf(list);
	const all = byId('select-all');
	if (chosen.length < selected.size)
		selectAll(true, chosen);
	all.checked = chosen.length > 0 && chosen.length === list.length;
	all.indeterminate = chosen.length > 0 && !all.checked;
	byId('selection').hidden = chosen.length === 0;
	byId('selection-rename').hidden = chosen.length !== 1;
	document.documentElement.classList.toggle('selecting', chosen.length > 0);
	byId('selection-text').textContent = chosen.length &&
		[`${numbers.format(chosen.length)} selected`, countText(chosen), totalSize(chosen) && sizeText(totalSize(chosen))]
			.filter(Boolean).join(' · ');
}
