// The page of examples/files: what the user does, and who takes care of it. Names come from other
// users: they are only ever set as text.

import { button, byId, say } from './dom.js';
import { download } from './download.js';
import { askDelete, known, load, loadSoon, mayChange, showAll, showFirst, showMore, sortBy } from './list.js';
import { drop, forAll, paintSoon, resume } from './transfers.js';
import { filesText } from './text.js';
import { replaceIt, upload } from './upload.js';

/* ---- the list ---- */

byId('table').addEventListener('click', e => {
	const b = e.target.closest('button');
	const tr = e.target.closest('tr');
	if (b?.dataset.sort)
		sortBy(b.dataset.sort);
	else if (b?.dataset.do === 'get')
		download(tr.file, tr.querySelector('a'));
	else if (b?.dataset.do === 'delete')
		askDelete(tr.file, tr);
});
byId('ask-no').addEventListener('click', () => byId('ask').close());
byId('filter').addEventListener('input', showFirst);
byId('again').addEventListener('click', async () => {
	if (await load())
		say(`List refreshed: ${filesText(known.size)}.`);
});
byId('more-button').addEventListener('click', () => {
	const last = byId('rows').lastElementChild;
	showMore();
	last.nextElementSibling?.querySelector('a').focus();
});
new IntersectionObserver(seen => seen.at(-1).isIntersecting && showMore(), { rootMargin: '600px' })
	.observe(byId('more'));
addEventListener('beforeprint', () => addEventListener('afterprint', showAll(), { once: true }));

/* ---- uploads ---- */

byId('choose').addEventListener('click', () => byId('picker').click());
byId('picker').addEventListener('change', e => {
	upload([...e.target.files].map(file => ({ file })));
	e.target.value = ''; // so that the same file can be chosen again
});

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
addEventListener('drop', e => {
	if (!e.dataTransfer.types.includes('Files'))
		return;
	e.preventDefault();
	look.remove('dragging');
	if (mayChange)
		upload([...e.dataTransfer.items].filter(item => item.kind === 'file').map(item =>
			({ file: item.getAsFile(), folder: item.webkitGetAsEntry?.()?.isDirectory })).filter(f => f.file));
});
byId('drop').firstElementChild.textContent = mayChange ? 'Drop to upload' : 'This folder is read-only';

/* ---- transfers ---- */

function toolButton(id, text, label, act) {
	const b = button(text, label, act);
	b.id = id;
	byId('transfers-all').append(b);
}

toolButton('replace-all', 'Replace all', 'Replace all files that are already there', () => forAll(['ask'], replaceIt));
toolButton('skip-all', 'Skip all', 'Skip all files that are already there', () => forAll(['ask'], drop));
toolButton('again-all', 'Try all again', 'Try all again that failed', () =>
	forAll(['cut', 'fail'], t => t.kind.mayAgain(t) && t.kind.again(t)));
toolButton('cancel-all', 'Cancel all', 'Cancel all transfers', () =>
	forAll(['wait', 'run', 'pause', 'cut'], t => t.kind.cancel(t)));
toolButton('clear', 'Clear finished', 'Clear finished transfers', () =>
	forAll(['done', 'fail', 'stop'], t => t.kind.dismiss(t)));

addEventListener('online', () => forAll(['cut'], resume));
addEventListener('visibilitychange', () => document.hidden || loadSoon());

byId('host').textContent = location.host;
paintSoon();
load();
