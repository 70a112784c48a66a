// Downloads of files that can be paused and that resume by Range when the connection is lost. The plain links
// of the list leave that to the browser; here it shows, and it works on browsers that can't.

import { el } from './dom.js';
import { action, add, drop, forgetRetry, isOpen, lost, moved, progressText, pump, rateText, Refused, resume, set, skipTo, transfers, watchdog } from './transfers.js';
import { folderUrlOf, reason, shown, sizeText, urlOf } from './text.js';

const MIB = 1024 * 1024;
const KEPT_MAX = (window.showSaveFilePicker ? 64 : 256) * MIB; // what the browser keeps until it is complete
const WRITE_SIZE = 4 * MIB;
const STALL_MS = 30000;
const ZIP_URL_MAX = 7500; // the server takes request lines of 8 KiB

/* ---- where the bytes go ---- */

// Straight into the file that the user chose.
function fileSink(handle) {
	let stream = null;
	return {
		async write(chunks, position) {
			stream ??= await handle.createWritable();
			await stream.write({ type: 'write', position, data: new Blob(chunks) });
		},
		reset: () => stream?.truncate(0),
		async close() {
			stream ??= await handle.createWritable();
			await stream.close();
		},
		discard: () => stream?.abort().catch(() => {}),
	};
}

// Into the browser's own store, which may be on disk, and saved from there when complete.
function blobSink(name) {
	let parts = [];
	const link = el('a', { class: 'button', download: name, 'aria-label': `Save again: ${shown(name)}` }, 'Save again');
	return {
		link,
		write: chunks => void parts.push(new Blob(chunks)),
		reset: () => void (parts = []),
		close() {
			link.href = URL.createObjectURL(new Blob(parts, { type: 'application/octet-stream' }));
			parts = [];
			link.click();
		},
		discard() {
			parts = [];
			URL.revokeObjectURL(link.href);
		},
	};
}

// Let the browser download what is at a URL.
const leave = (url, name = '') => el('a', { href: url, download: name }).click();

export async function download(path, { name, size }) {
	const same = transfers.find(t => t.kind === kind && t.path === path && isOpen(t));
	if (same)
		return same.li?.querySelector('button')?.focus();
	let sink;
	if (size <= KEPT_MAX) {
		sink = blobSink(name);
	} else if (window.showSaveFilePicker) {
		try {
			sink = fileSink(await window.showSaveFilePicker({ suggestedName: name }));
		} catch (e) {
			return e.name === 'AbortError' ? undefined : leave(urlOf(path), name);
		}
	} else {
		return leave(urlOf(path), name); // too much to keep and nowhere to write
	}
	add({ kind, path, name, size, sink, etag: null, over: null }, path);
	pump();
}

// Download entries of a folder as a zip; without names all of them.
// Return: whether that fits into the request.
export function downloadZip(folder, names) {
	const url = `${folderUrlOf(folder)}?zip${names.map(name => `&name=${encodeURIComponent(name)}`).join('')}`;
	const fits = url.length <= ZIP_URL_MAX;
	if (fits)
		leave(url);
	return fits;
}

/* ---- on the wire ---- */

async function toSink(act) {
	try {
		await act();
	} catch {
		throw new Refused('The file could not be written here. The disk may be full.');
	}
}

// Ask for the file, or for what is missing of it: If-Range sees to it that both parts are of one
// file. An answer that does not continue starts over.
async function ask(t, signal) {
	const headers = t.sent && t.etag ? { range: `bytes=${t.sent}-`, 'if-range': t.etag } : {};
	const res = await fetch(urlOf(t.path), { headers, signal, cache: 'no-store' });
	if (res.status === 206 && res.headers.get('content-range')?.startsWith(`bytes ${t.sent}-`))
		return res;
	if (res.status === 206 || res.status === 416) {
		t.etag = null;
		throw new TypeError('not what was asked for: from the start then');
	}
	if (res.status >= 502 && res.status <= 504)
		throw new TypeError('not now');
	if (res.status !== 200)
		throw new Refused(reason(res.status, await res.text()));
	if (t.sent) {
		await toSink(t.sink.reset);
		t.anew = Boolean(headers.range);
		skipTo(t, 0);
	}
	// Where a proxy compresses, the length and the positions are not those of the file.
	const plain = !res.headers.has('content-encoding');
	const etag = res.headers.get('etag');
	t.etag = plain && etag?.startsWith('"') ? etag : null;
	t.exact = plain && res.headers.has('content-length');
	if (t.exact)
		t.size = Number(res.headers.get('content-length'));
	return res;
}

function start(t) {
	t.over = receive(t, t.over);
}

async function receive(t, before) {
	await before; // of a download that was paused and resumed at once, the last bytes
	if (t.state !== 'run')
		return;
	const abort = t.abort = new AbortController();
	let chunks = [];
	let held = 0;
	const dog = watchdog(STALL_MS, () => abort.abort());
	const flush = async () => {
		const [data, at] = [chunks, t.sent - held];
		chunks = [];
		held = 0;
		if (data.length)
			await toSink(() => t.sink.write(data, at));
	};

	try {
		const reader = (await ask(t, abort.signal)).body.getReader();
		for (let part; !(part = await reader.read()).done;) {
			dog.alive();
			chunks.push(part.value);
			held += part.value.length;
			t.tries = 0;
			moved(t, t.sent + part.value.length);
			if (held >= WRITE_SIZE)
				await flush();
		}
		await flush();
		if (t.exact && t.sent !== t.size)
			throw new TypeError('the connection ended early');
		await toSink(t.sink.close);
		set(t, 'done', `Downloaded · ${sizeText(t.sent)}`);
	} catch (e) {
		const bad = await flush().then(() => e, worse => worse);
		if (t.state !== 'run')
			return; // paused or cancelled
		if (bad instanceof Refused)
			set(t, 'fail', bad.message);
		else
			lost(t, 'Connection lost');
	} finally {
		dog.end();
		pump();
	}
}

function pause(t) {
	set(t, 'pause');
	t.abort?.abort();
	pump();
}

function cancel(t) {
	forgetRetry(t);
	set(t, 'stop');
	t.abort?.abort();
	dismiss(t);
	pump();
}

function dismiss(t) {
	Promise.resolve(t.over).then(t.sink.discard);
	drop(t);
}

/* ---- in words ---- */

function note(t) {
	switch (t.state) {
	case 'wait':
		return `Waiting · ${progressText(t)}`;
	case 'run':
		return (t.anew ? 'Changed on the server, so from the start · ' : '') + progressText(t) + rateText(t);
	case 'pause':
		return `Paused · ${progressText(t)}`;
	case 'cut':
		return `${t.why} · ${progressText(t)}`;
	}
	return t.why;
}

function buttons(t) {
	switch (t.state) {
	case 'wait':
		return [action(t, 'Cancel', cancel)];
	case 'run':
		return [action(t, 'Pause', pause), action(t, 'Cancel', cancel)];
	case 'pause':
	case 'cut':
		return [action(t, 'Resume', resume, 'primary'), action(t, 'Cancel', cancel)];
	case 'fail':
		return [action(t, 'Try again', resume), action(t, 'Dismiss', dismiss, 'plain')];
	}
	return [...(t.sink.link ? [t.sink.link] : []), action(t, 'Dismiss', dismiss, 'plain')];
}

function say(t) {
	switch (t.state) {
	case 'done':
		return `${t.text} downloaded.`;
	case 'cut':
	case 'fail':
		return `${t.text}: ${t.why}`;
	}
	return '';
}

const kind = { icon: 'i-down', max: 2, start, cancel, dismiss, mayAgain: () => true, again: resume, note, buttons, say };
