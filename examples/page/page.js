// The page of examples/files: what the user does, and who takes care of it. Names come from other
// users: they are only ever set as text.

import { button, byId, say } from './dom.js';
import { askDelete, askMove, newFolder, rename } from './change.js';
import { fromDrop, fromPicker } from './chosen.js';
import { download, downloadZip } from './download.js';
import { known, listed, load, loadFirst, loadSoon, mayChange, nameAfter, pathOf, render, sortBy } from './list.js';
import { listen } from './live.js';
import { follow, place } from './place.js';
import { select, selectAll, selectedOf } from './select.js';
import { closeView, describeView, showView, step } from './view.js';
import { forAll, paintSoon, resume } from './transfers.js';
import { countText } from './text.js';
import { replaceIt, resumeKept, upload } from './upload.js';

const onClick = (id, act) => byId(id).addEventListener('click', act);

/* ---- the place ---- */

async function arrive() {
	const isOther = follow();
	paintSoon();
	showView(!isOther);
	if (!isOther)
		return;
	scrollTo(0, 0);
	if (!place.file)
		byId('title').focus();
	listen();
	if (await loadFirst())
		say(`${byId('title').textContent}: ${byId('summary').textContent}.`);
	describeView();
}

addEventListener('hashchange', arrive);
document.querySelector('.skip').addEventListener('click', e => {
	e.preventDefault(); // the fragment is the place
	byId('folder').focus();
});

/* ---- the list ---- */

function get(entries) {
	const [entry] = entries;
	if (entries.length === 1 && !entry.isFolder)
		return download(pathOf(entry), entry);
	const fits = entries.length === 1 ? downloadZip(pathOf(entry), [])
		: downloadZip(place.folder, entries.length === known.size ? [] : entries.map(e => e.name));
	byId('selection-bad').textContent = fits ? '' : 'Too many are selected for one archive. Select fewer, or all.';
}

const ACTS = {
	get,
	rename: ([entry]) => rename([...document.querySelectorAll('tbody tr')].find(tr => tr.entry === entry)),
	move: entries => askMove(entries, nameAfter(entries)),
	delete: entries => askDelete(entries, nameAfter(entries)),
	clear() {
		selectAll(false);
		render();
		byId('folder').focus();
	},
};

function pick(tr, on, range) {
	select(tr.entry.name, on, range, listed());
	byId('selection-bad').textContent = '';
	render();
}

byId('table').addEventListener('click', e => {
	const b = e.target.closest('button');
	const tr = e.target.closest('tr');
	if (b?.dataset.sort)
		sortBy(b.dataset.sort);
	else if (b)
		ACTS[b.dataset.do]([tr.entry]);
	else if (e.target.id === 'select-all')
		selectAll(e.target.checked, listed()), render();
	else if (e.target.type === 'checkbox')
		pick(tr, e.target.checked, e.shiftKey);
});
byId('selection').addEventListener('click', e => {
	const b = e.target.closest('button');
	if (b)
		ACTS[b.dataset.do](selectedOf(listed()));
});

// Keys in the table: up and down go to the same place of other rows.
byId('table').addEventListener('keydown', e => {
	const tr = e.target.closest('tbody tr');
	const key = (e.ctrlKey || e.metaKey ? 'ctrl ' : '') + e.key;
	const chosen = selectedOf(listed());
	if (!tr || e.altKey)
		return;
	if (key === 'ArrowDown' || key === 'ArrowUp') {
		const all = [...document.querySelectorAll('tbody tr')];
		const next = all[all.indexOf(tr) + (key === 'ArrowDown' ? 1 : -1)];
		const place = [...tr.querySelectorAll('a, input, button')].indexOf(e.target);
		next?.querySelectorAll('a, input, button')[place]?.focus();
	} else if (key === 'ctrl a') {
		selectAll(true, listed());
		render();
	} else if (key === 'Escape' && chosen.length) {
		selectAll(false);
		render();
	} else if (key === 'F2' && mayChange) {
		rename(tr);
	} else if (key === 'Delete' && mayChange) {
		ACTS.delete(chosen.length ? chosen : [tr.entry]);
	} else {
		return;
	}
	e.preventDefault();
});

for (const b of document.querySelectorAll('dialog [data-close]'))
	b.addEventListener('click', () => b.closest('dialog').close());
byId('filter').addEventListener('input', () => render());
onClick('again', async () => {
	if (await load())
		say(`List refreshed: ${countText([...known.values()]) || 'no files'}.`);
});
addEventListener('beforeprint', () => {
	render({ all: true });
	addEventListener('afterprint', () => render(), { once: true });
});

/* ---- the view ---- */

onClick('view-before', () => step(-1));
onClick('view-after', () => step(1));
onClick('view-close', closeView);
byId('view').addEventListener('cancel', e => {
	e.preventDefault();
	closeView();
});
byId('view').addEventListener('keydown', e => {
	if (!e.target.closest('video, audio, pre') && (e.key === 'ArrowLeft' || e.key === 'ArrowRight'))
		step(e.key === 'ArrowLeft' ? -1 : 1);
});

/* ---- uploads ---- */

onClick('new-folder', newFolder);
for (const [id, picker] of [['choose', 'picker'], ['choose-folder', 'folder-picker']]) {
	onClick(id, () => byId(picker).click());
	byId(picker).addEventListener('change', e => {
		upload(fromPicker(e.target.files));
		e.target.value = ''; // so that the same file can be chosen again
	});
}

// Files may be dropped anywhere; without these the browser would leave the page for a dropped file.
const look = document.documentElement.classList;
let dragging = 0;

addEventListener('dragover', e => {
	if (!e.dataTransfer.types.includes('Files'))
		return;
	e.preventDefault();
	e.dataTransfer.dropEffect = mayChange ? 'copy' : 'none';
	look.add('dragging');
	clearTimeout(dragging);
	dragging = setTimeout(() => look.remove('dragging'), 400); // no event tells that they left the window
});
addEventListener('drop', async e => {
	if (!e.dataTransfer.types.includes('Files'))
		return;
	e.preventDefault();
	look.remove('dragging');
	if (mayChange)
		upload(await fromDrop(e.dataTransfer.items));
});
byId('drop').firstElementChild.textContent = mayChange ? 'Drop to upload' : 'This folder is read-only';

/* ---- transfers ---- */

function toolButton(id, text, label, act) {
	const b = button(text, label, act);
	b.id = id;
	byId('transfers-all').append(b);
}

toolButton('replace-all', 'Replace all', 'Replace all files that are already there', () => forAll(['ask'], replaceIt));
toolButton('skip-all', 'Skip all', 'Skip all files that are already there', () => forAll(['ask'], t => t.kind.dismiss(t)));
toolButton('again-all', 'Try all again', 'Try all again that failed', () =>
	forAll(['cut', 'fail'], t => t.kind.mayAgain(t) && t.kind.again(t)));
toolButton('cancel-all', 'Cancel all', 'Cancel all transfers', () =>
	forAll(['need', 'wait', 'run', 'pause', 'cut'], t => t.kind.cancel(t)));
toolButton('clear', 'Clear finished', 'Clear finished transfers', () =>
	forAll(['done', 'fail', 'stop'], t => t.kind.dismiss(t)));

addEventListener('online', () => forAll(['cut'], resume));
addEventListener('visibilitychange', () => {
	if (document.hidden)
		return;
	loadSoon();
	forAll(['cut'], resume);
});

byId('host').textContent = location.host;
follow();
paintSoon();
showView(false);
listen();
loadFirst().then(describeView);
if (mayChange)
	resumeKept();
