// Uploads: one PUT a file.

import { known, fresh, load, loadSoon } from './list.js';
import { action, add, drop, forgetRetry, isOpen, lost, moved, progressText, pump, rateText, set, transfers } from './transfers.js';
import { dates, reason, shown, sizeText, timeText, unreachable, urlOf } from './text.js';

const sizeMax = Number(document.documentElement.dataset.maxSize) || Infinity;

// Return: null, or in words why the server would refuse.
function refusal({ name, size, folder }) {
	if (folder)
		return 'Not sent: this is a folder. Open it and drop the files inside, or send it as one archive.';
	if (name.startsWith('.'))
		return 'Not sent: the server takes no name that begins with a dot.';
	if (/[\u0000-\u001f\u007f/]/.test(name) || /\p{Surrogate}/u.test(name))
		return 'Not sent: the name holds characters that the server does not take.';
	if (new TextEncoder().encode(name).length > 255)
		return 'Not sent: the name is too long.';
	if (size > sizeMax)
		return `Not sent: at ${sizeText(size)} it is over this server’s limit of ${sizeText(sizeMax)}.`;
	return null;
}

const isTaken = (name, except) =>
	known.has(name) || transfers.some(t => t !== except && t.kind === kind && t.name === name && isOpen(t));

// Queue files; each is {file, folder}.
export async function upload(list) {
	await load();
	for (const { file, folder } of list) {
		const t = add({ kind, name: file.name, file, folder, size: file.size, replace: false });
		const bad = refusal(t);
		if (bad)
			set(t, 'fail', bad);
		else if (isTaken(t.name, t))
			set(t, 'ask');
	}
	pump();
}

async function start(t) {
	const xhr = t.xhr = new XMLHttpRequest();
	// Without this, a file that has gone since it was chosen would look like a lost connection.
	const readable = await t.file.slice(0, 1).arrayBuffer().then(() => true, () => false);
	if (t.xhr !== xhr)
		return; // cancelled meanwhile, and begun again maybe
	if (!readable) {
		set(t, 'fail', 'This file can’t be read here. It may have been moved or changed.');
		return pump();
	}
	xhr.open('PUT', urlOf(t.name));
	xhr.setRequestHeader('content-type', 'application/octet-stream');
	if (!t.replace)
		xhr.setRequestHeader('if-none-match', '*');
	xhr.upload.onprogress = e => moved(t, Math.min(e.loaded, t.size));
	xhr.onload = () => answered(t, xhr);
	xhr.onerror = () => broken(t, xhr);
	xhr.send(t.file);
}

function answered(t, { status, responseText }) {
	if (status === 200 || status === 201) {
		t.sent = t.size;
		set(t, 'done', `Uploaded · ${sizeText(t.size)} in ${timeText((performance.now() - t.began) / 1000)}`);
		t.file = null;
		fresh.add(t.name);
		loadSoon();
	} else if (!t.replace && (status === 412 || status === 409)) {
		t.sent = 0;
		set(t, 'ask'); // it has appeared since the list was loaded
		loadSoon();
	} else {
		set(t, 'fail', reason(status, responseText));
	}
	pump();
}

// A server that refuses early closes before all is sent, and its answer may be lost on the way.
async function broken(t, xhr) {
	const up = await fetch('page/page.js', { method: 'HEAD', cache: 'no-store' }).then(res => res.ok, () => false);
	if (t.state !== 'run' || t.xhr !== xhr)
		return; // given up meanwhile, and begun again maybe
	t.sent = 0; // what has arrived of it is gone
	if (up)
		set(t, 'fail', 'The connection was cut. The server may have refused the file, or the network failed.');
	else
		lost(t, unreachable().slice(0, -1));
	pump();
}

function cancel(t) {
	forgetRetry(t);
	set(t, 'stop', 'Cancelled');
	t.xhr?.abort();
	t.xhr = null;
	loadSoon(); // all of it may have been sent already
	pump();
}

const mayAgain = t => !refusal(t);

function again(t) {
	forgetRetry(t);
	t.sent = t.tries = 0;
	set(t, !t.replace && isTaken(t.name, t) ? 'ask' : 'wait');
	pump();
}

export function replaceIt(t) {
	t.replace = true;
	set(t, 'wait');
	pump();
}

function keepBoth(t) {
	const dot = t.name.lastIndexOf('.');
	const [stem, end] = dot > 0 ? [t.name.slice(0, dot), t.name.slice(dot)] : [t.name, ''];
	let n = 2;
	while (isTaken(`${stem} (${n})${end}`, t))
		n++;
	t.name = `${stem} (${n})${end}`;
	t.text = shown(t.name);
	const bad = refusal(t);
	set(t, bad ? 'fail' : 'wait', bad ?? '');
	pump();
}

function note(t) {
	const there = known.get(t.name);
	switch (t.state) {
	case 'ask':
		return there ? `Already there: ${sizeText(there.size)}, ${dates.format(there.time)}. This one: ${sizeText(t.size)}.`
			: 'A file of this name is already there.';
	case 'wait':
		return `Waiting · ${sizeText(t.size)}`;
	case 'run':
		return t.sent && t.sent === t.size ? 'All sent, waiting for the server' : progressText(t) + rateText(t);
	}
	return t.why;
}

function buttons(t) {
	switch (t.state) {
	case 'ask':
		return [action(t, 'Replace', replaceIt), action(t, 'Keep both', keepBoth), action(t, 'Skip', drop)];
	case 'wait':
	case 'run':
		return [action(t, 'Cancel', cancel)];
	case 'cut':
		return [action(t, 'Try again', again, 'primary'), action(t, 'Cancel', cancel)];
	case 'stop':
		return [action(t, 'Upload again', again), action(t, 'Dismiss', drop, 'plain')];
	case 'fail':
		return [...(mayAgain(t) ? [action(t, 'Try again', again)] : []), action(t, 'Dismiss', drop, 'plain')];
	}
	return [action(t, 'Dismiss', drop, 'plain')];
}

function say(t) {
	switch (t.state) {
	case 'ask':
		return `${t.text} is already there. Replace it, keep both or skip?`;
	case 'done':
		return `${t.text} uploaded.`;
	case 'cut':
	case 'fail':
		return `${t.text}: ${t.why}`;
	}
	return '';
}

const kind = { icon: 'i-up', max: 3, start, cancel, dismiss: drop, mayAgain, again, note, buttons, say };
