// Uploads. A small file is one PUT. A larger one has a URL of its own at the server, to which it is sent by
// PATCH (draft-ietf-httpbis-resumable-upload): when a connection is lost, and after a reload of the page, the
// server tells how much it has, and the rest follows.
//
// A transfer has, besides the fields of transfers.js: folder, name, size, modified; file, or a handle of
// it; replace, whether the name may be taken; number, of a copy beside a file of that name; url, that of the
// upload; piece, the most that one PATCH may have; and id, its key in kept.js.

import { fresh, known, load, loadSoon } from './list.js';
import { makeFolder } from './change.js';
import { forget, keep, keepFile, orphans } from './kept.js';
import { byId } from './dom.js';
import { place } from './place.js';
import { action, add, drop, forgetRetry, lost, moved, progressText, pump, rateText, Refused, set, skipTo, transfers, watchdog } from './transfers.js';
import { dates, folderOf, joined, reason, shown, sizeText, timeText, unreachable, urlOf } from './text.js';

const SMALL = 1024 * 1024;
const STALL_MS = 60000;
const sizeMax = Number(document.documentElement.dataset.maxSize) || Infinity;

const pathOf = t => joined(t.folder, t.name);

/* ---- the queue ---- */

// Return: null, or in words why the server would refuse.
function refusal({ name, size }) {
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

const fieldsOf = file => ({ name: file.name, size: file.size, modified: file.lastModified });

function addFile({ file, folder, handle }) {
	const id = `${Date.now()}-${Math.random()}`;
	const t = add({ kind, id, folder, ...fieldsOf(file), file, handle, replace: false, number: 1, url: null, piece: null },
		joined(folder, file.name));
	const bad = refusal(t);
	if (bad)
		return set(t, 'fail', bad);
	keep(t);
	keepFile(t);
}

// One that waits for this file, which the page has lost.
const waitsFor = file => transfers.find(t => t.state === 'need' && t.kind === kind &&
	Object.entries(fieldsOf(file)).every(([field, value]) => t[field] === value));

function goOnWith(t, file) {
	t.file = file;
	keepFile(t);
	set(t, 'wait');
}

async function makeFolders(base, folders) {
	for (const path of folders) {
		const why = await makeFolder(joined(base, path));
		if (why)
			set(add({ kind, name: path, folder: base, size: 0 }, joined(base, path)), 'fail', why);
	}
	if (folders.length)
		load();
}

// Queue what was found (chosen.js), to go into the folder that is shown.
export async function upload({ folders, files, hidden }) {
	const base = place.folder;
	await makeFolders(base, folders);
	for (const found of files) {
		const t = waitsFor(found.file);
		if (t)
			goOnWith(t, found.file);
		else
			addFile({ ...found, folder: found.folder ? joined(base, found.folder) : base });
	}
	if (hidden)
		set(add({ kind, name: folders[0], folder: base, size: 0 }, joined(base, folders[0])), 'fail',
			`Not sent: ${hidden === 1 ? 'a name in it begins' : `${hidden} names in it begin`} with a dot.`);
	pump();
}

/* ---- after a reload ---- */

async function readHandle(t) {
	const file = await t.handle.getFile().catch(() => null);
	if (file && file.size === t.size && file.lastModified === t.modified)
		return void (t.file = file);
	set(t, 'fail', 'This file has been moved or changed since.');
	t.url = null;
}

export async function resumeKept() {
	for (const kept of await orphans()) {
		const t = add({ ...kept, kind, isKept: true }, joined(kept.folder, kept.name));
		if (await t.handle?.queryPermission() === 'granted')
			await readHandle(t);
		if (t.state !== 'fail')
			set(t, t.file ? 'wait' : 'need');
	}
	pump();
}

// Ask the user for the file itself, or for leave to read it.
async function askFor(t) {
	if (!t.handle)
		return byId('picker').click();
	if (await t.handle.requestPermission() !== 'granted')
		return;
	await readHandle(t);
	if (t.file)
		set(t, 'wait');
	pump();
}

/* ---- on the wire ---- */

// Send a body. Return: the finished XMLHttpRequest, which tells of progress as fetch() does not.
function send(t, method, url, fields, body) {
	const xhr = new XMLHttpRequest();
	const from = t.sent;
	const { signal } = t.abort;
	const abort = () => xhr.abort();
	const dog = watchdog(STALL_MS, abort);
	return new Promise((done, fail) => {
		xhr.open(method, url);
		for (const [name, value] of Object.entries(fields))
			xhr.setRequestHeader(name, value);
		xhr.upload.onprogress = e => {
			dog.alive();
			moved(t, from + Math.min(e.loaded, body.size));
			if (e.loaded > SMALL)
				t.tries = 0;
		};
		xhr.onload = () => done(xhr);
		xhr.onerror = xhr.onabort = () => fail(new TypeError('the connection was lost'));
		signal.addEventListener('abort', abort);
		xhr.send(body);
	}).finally(() => {
		dog.end();
		signal.removeEventListener('abort', abort);
	});
}

const ask = (t, method, url, headers = {}) =>
	fetch(url, { method, headers, cache: 'no-store', signal: AbortSignal.any([t.abort.signal, AbortSignal.timeout(STALL_MS)]) });

const onlyNew = t => (t.replace ? {} : { 'if-none-match': '*' });

const sendWhole = t => send(t, 'PUT', urlOf(pathOf(t)),
	{ ...onlyNew(t), 'content-type': 'application/octet-stream' }, t.file);

// Get a URL for the upload. Return: null, or a response that refuses.
async function create(t) {
	const res = await ask(t, 'POST', urlOf(pathOf(t)), { ...onlyNew(t), 'upload-complete': '?0', 'upload-length': t.size });
	if (res.status !== 201)
		return res;
	// Relative, for any prefix of a proxy.
	t.url = 'uploads/' + res.headers.get('location').split('/').pop();
	t.piece = Number(/max-append-size=(\d+)/.exec(res.headers.get('upload-limit'))?.[1]) || null;
	t.isKept = false;
	keep(t);
	return null;
}

// Learn how much the server has. Return: null, or the response if that is all or the upload can't go on.
async function learnOffset(t) {
	const res = await ask(t, 'HEAD', t.url);
	if (res.status === 404 && !t.isKept)
		t.url = null; // it has expired, or the server has lost it: from the start then
	if (res.status === 404 && t.isKept)
		throw new Refused('The server has discarded what was sent of it.');
	if (!res.ok || res.headers.get('upload-complete') === '?1')
		return res;
	skipTo(t, Number(res.headers.get('upload-offset')));
	return null;
}

async function sendRest(t) {
	if (t.url) {
		const over = await learnOffset(t);
		if (over && t.url)
			return over;
	}
	if (!t.url) {
		skipTo(t, 0);
		const refused = await create(t);
		// Too many incomplete uploads, or a folder on another file system: then in one request.
		if (refused)
			return [501, 507].includes(refused.status) ? sendWhole(t) : refused;
	}
	for (;;) {
		const from = t.sent;
		const end = Math.min(t.size, from + (t.piece ?? Infinity));
		const xhr = await send(t, 'PATCH', t.url, {
			'content-type': 'application/partial-upload',
			'upload-offset': from,
			'upload-complete': end === t.size ? '?1' : '?0',
		}, t.file.slice(from, end));
		if (xhr.status !== 204 || end === t.size)
			return xhr;
		t.tries = 0;
		skipTo(t, Number(xhr.getResponseHeader('upload-offset')));
	}
}

async function start(t) {
	const abort = t.abort = new AbortController();
	const began = performance.now();
	const isOver = () => t.abort !== abort || abort.signal.aborted;
	try {
		// Without this, a file that has gone since it was chosen would look like a lost connection.
		await t.file.slice(0, 1).arrayBuffer().catch(() => {
			throw new Refused('This file can’t be read here. It may have been moved or changed.');
		});
		if (isOver())
			return;
		const res = await (t.size < SMALL ? sendWhole(t) : sendRest(t));
		const text = await (res.text?.() ?? res.responseText);
		if (!isOver())
			await answered(t, res.status, text);
	} catch (e) {
		if (isOver())
			return;
		if (e instanceof Refused)
			set(t, 'fail', e.message);
		else {
			t.lostAt ??= began;
			lost(t, unreachable().slice(0, -1));
		}
	}
	pump();
}

// Whether the file that has the name is this one, whose response was lost: it is as large, and no older.
async function isOurs(t) {
	const res = await ask(t, 'HEAD', urlOf(pathOf(t))).catch(() => null);
	const time = name => Date.parse(res.headers.get(name));
	return Boolean(res?.ok) && Number(res.headers.get('content-length')) === t.size &&
		time('date') - time('last-modified') <= performance.now() - t.lostAt + 2000;
}

// Tell the server to discard what it has; it expires in any case.
function abandon(t) {
	if (t.url && !t.isElsewhere)
		fetch(t.url, { method: 'DELETE', keepalive: true }).catch(() => {});
	t.url = null;
}

async function answered(t, status, text) {
	if ([200, 201, 204].includes(status))
		return done(t);
	if (status === 409 && text.includes('continues this upload')) {
		forget(t);
		t.isElsewhere = true;
		return set(t, 'stop', 'It goes on in another window.');
	}
	if (text.includes('mismatching-upload-offset') || [408, 502, 503, 504].includes(status))
		return lost(t, reason(status, text).slice(0, -1));
	if (status === 404 && t.folder && !t.hasMadeFolders) {
		// A folder that was to be made first, when the connection was lost.
		t.hasMadeFolders = true;
		for (const end of [...t.folder.matchAll(/\/|$/g)])
			await makeFolder(t.folder.slice(0, end.index));
		return set(t, 'wait');
	}
	// After any other failure the server keeps what it has, and the upload can go on later.
	if ([400, 409, 412, 413].includes(status))
		abandon(t);
	if (!t.replace && (status === 412 || status === 409)) {
		if (status === 412 && t.lostAt && await isOurs(t))
			return done(t);
		skipTo(t, 0);
		return t.number > 1 ? keepBoth(t) : set(t, 'ask');
	}
	set(t, 'fail', reason(status, text));
}

function done(t) {
	forget(t);
	t.sent = t.size;
	set(t, 'done', `Uploaded · ${sizeText(t.size)} in ${timeText((performance.now() - t.began) / 1000)}`);
	t.file = t.handle = t.url = null;
	fresh.add(pathOf(t));
	if (t.folder === place.folder || folderOf(t.folder) === place.folder)
		loadSoon();
}

/* ---- what the user decides ---- */

function cancel(t) {
	forgetRetry(t);
	forget(t);
	set(t, 'stop', 'Cancelled');
	t.abort?.abort();
	abandon(t);
	loadSoon(); // all of it may have been sent already
	pump();
}

const mayAgain = t => Boolean(t.file) && !refusal(t);

function again(t) {
	forgetRetry(t);
	t.tries = 0;
	t.isKept = t.isElsewhere = t.hasMadeFolders = false;
	if (t.state === 'stop' || !t.url)
		skipTo(t, 0);
	keep(t);
	keepFile(t);
	set(t, 'wait');
	pump();
}

export function replaceIt(t) {
	t.replace = true;
	keep(t);
	set(t, 'wait');
	pump();
}

function keepBoth(t) {
	const dot = t.file.name.lastIndexOf('.');
	const [stem, end] = dot > 0 ? [t.file.name.slice(0, dot), t.file.name.slice(dot)] : [t.file.name, ''];
	t.number++;
	t.name = `${stem} (${t.number})${end}`;
	t.text = shown(pathOf(t));
	const bad = refusal(t);
	keep(t);
	set(t, bad ? 'fail' : 'wait', bad ?? '');
	pump();
}

function dismiss(t) {
	forget(t);
	abandon(t);
	drop(t);
}

/* ---- words ---- */

function note(t) {
	const there = t.folder === place.folder && known.get(t.name);
	switch (t.state) {
	case 'ask':
		return there ? `Already there: ${sizeText(there.size)}, ${dates.format(there.time)}. This one: ${sizeText(t.size)}.`
			: 'A file of this name is already there.';
	case 'need':
		return `${sizeText(t.size)} · ${t.handle ? 'The browser asks before it reads the file again.' : 'Choose the same file again to go on.'}`;
	case 'wait':
		return `Waiting · ${t.sent ? progressText(t) : sizeText(t.size)}`;
	case 'run':
		return t.sent && t.sent === t.size ? 'All sent, waiting for the server' : progressText(t) + rateText(t);
	case 'cut':
		return `${t.why}${t.sent && t.sent < t.size ? ` · ${progressText(t)}` : ''}`;
	}
	return t.why;
}

function buttons(t) {
	switch (t.state) {
	case 'ask':
		return [action(t, 'Replace', replaceIt), action(t, 'Keep both', keepBoth), action(t, 'Skip', dismiss)];
	case 'need':
		return [action(t, t.handle ? 'Go on' : 'Choose the file', askFor, 'primary'), action(t, 'Cancel', cancel)];
	case 'wait':
	case 'run':
		return [action(t, 'Cancel', cancel)];
	case 'cut':
		return [action(t, 'Try again', again, 'primary'), action(t, 'Cancel', cancel)];
	case 'stop':
		return [...(mayAgain(t) ? [action(t, 'Upload again', again)] : []), action(t, 'Dismiss', dismiss, 'plain')];
	case 'fail':
		return [...(mayAgain(t) ? [action(t, 'Try again', again)] : []), action(t, 'Dismiss', dismiss, 'plain')];
	}
	return [action(t, 'Dismiss', dismiss, 'plain')];
}

function say(t) {
	switch (t.state) {
	case 'ask':
		return `${t.text} is already there. Replace it, keep both or skip?`;
	case 'need':
		return `${t.text} can go on: its file is needed.`;
	case 'done':
		return `${t.text} uploaded.`;
	case 'cut':
	case 'fail':
		return `${t.text}: ${t.why}`;
	}
	return '';
}

const kind = { icon: 'i-up', max: 3, start, cancel, dismiss, mayAgain, again, note, buttons, say };
