// The page of examples/files. What users named their files is only ever set as text.
//
// A transfer is an object in `transfers`; `state` is one of
//   ask    an upload whose name is taken, until the user decides
//   wait   queued
//   run    on the wire
//   pause  a download that the user paused
//   cut    a download whose connection was lost; it resumes by itself, or at once by a click
//   stop   an upload that the user cancelled
//   fail   over, `note` says why
//   done   over

const UPLOADS = 3; // at a time; with the downloads and the list under the six that browsers allow
const DOWNLOADS = 2;
const ROWS_STEP = 300; // rows that one step of the list adds
const TRANSFERS_SHOWN = 40;
const KEPT_MAX = 256 * 1024 * 1024; // a download that the browser keeps until it is complete
const WRITE_SIZE = 4 * 1024 * 1024;
const STALL_MS = 30000;
const RETRY_S = [1, 2, 4, 8, 15, 15];

const root = document.documentElement;
const byId = id => document.getElementById(id);
const mayChange = root.dataset.upload === 'on';
const uploadMax = Number(root.dataset.maxSize) || Infinity;

/* ---- text ---- */

const numbers = new Intl.NumberFormat();
const percents = new Intl.NumberFormat(undefined, { style: 'percent' });
const dates = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const datesFull = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });
const names = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });
const sizes = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte', 'petabyte'].map((unit, i) =>
	new Intl.NumberFormat(undefined,
		{ style: 'unit', unit, unitDisplay: i ? 'short' : 'long', maximumSignificantDigits: 3 }));

function sizeText(bytes) {
	let i = 0;
	for (; bytes >= 999.5 && i < sizes.length - 1; i++)
		bytes /= 1000;
	return sizes[i].format(bytes);
}

const bytesText = bytes => `${numbers.format(bytes)} ${bytes === 1 ? 'byte' : 'bytes'}`;
const filesText = n => `${numbers.format(n)} ${n === 1 ? 'file' : 'files'}`;

function timeText(seconds) {
	if (seconds < 60)
		return `${Math.max(1, Math.ceil(seconds))} s`;
	const minutes = Math.round(seconds / 60);
	return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

// Line breaks and the like get a visible stand-in; so do the characters that turn the direction of
// writing around, or "exe.txt" could be shown where the name ends in "txt.exe".
function shown(name) {
	if (!name.trim())
		return name.replace(/\s/gu, '␠');
	return name.replace(/[\u0000-\u001f]/g, c => String.fromCharCode(0x2400 + c.charCodeAt(0)))
		.replace(/\u007f/g, '␡')
		.replace(/[\u0080-\u009f\u2028-\u202e\u2066-\u2069\ufeff]/g, '�');
}

const urlOf = name => 'files/' + encodeURIComponent(name.replace(/\p{Surrogate}/gu, '�'));

const REASONS = {
	400: 'The server can’t take this name or this content.',
	403: 'The server does not allow this.',
	404: 'The file is no longer there.',
	408: 'The upload stood still for too long.',
	409: 'A file of this name is already there.',
	412: 'A file of this name is already there.',
	413: 'The file is too large for this server.',
	507: 'The server’s disk has no room for this file.',
};

// An answer's status and its problem+json in words.
function reason(status, body) {
	let problem = null;
	try {
		problem = JSON.parse(body);
	} catch { /* not a problem document: the status has to do */ }
	const detail = typeof problem?.detail === 'string' ? problem.detail.trim() : '';
	const title = typeof problem?.title === 'string' ? problem.title.trim() : '';
	const said = REASONS[status] ?? `The server answered ${status}${title ? ` (${title})` : ''}.`;
	return detail && detail !== said ? `${said} ${detail}` : said;
}

let spoken = [];
let speaking = 0;

// Tell those who listen instead of look; a burst becomes one summary.
function say(text) {
	spoken.push(text);
	clearTimeout(speaking);
	speaking = setTimeout(() => {
		byId('live').textContent = spoken.length > 3 ? transfersText() : spoken.join(' ');
		spoken = [];
	}, 400);
}

/* ---- elements ---- */

function el(tag, attributes, ...children) {
	const e = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes ?? {})) {
		if (value !== undefined && value !== false)
			e.setAttribute(name, value === true ? '' : value);
	}
	e.append(...children);
	return e;
}

function icon(id) {
	const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
	const use = document.createElementNS('http://www.w3.org/2000/svg', 'use');
	svg.setAttribute('class', 'icon');
	svg.setAttribute('aria-hidden', 'true');
	use.setAttribute('href', '#' + id);
	svg.append(use);
	return svg;
}

function button(text, label, act, look) {
	const b = el('button', { type: 'button', class: look, 'aria-label': label }, text);
	b.addEventListener('click', act);
	return b;
}

// Focus must not fall back to the top of the page when what had it goes away.
function refocus(...candidates) {
	(candidates.find(e => e && e.isConnected && !e.closest('[hidden]')) ?? byId('again')).focus();
}

/* ---- the list ---- */

let files = [];
let known = new Map(); // name -> file
let sort = { by: 'name', down: false };
let rowsMax = ROWS_STEP;
let loading = null;
let loadAgain = false;
let loadTimer = 0;
const rows = new Map(); // name -> row that is in the table
const fresh = new Set(); // names that this page has just uploaded

async function loadOnce() {
	try {
		const res = await fetch('api/files', { cache: 'no-store' });
		if (!res.ok)
			throw new Error(reason(res.status, await res.text()));
		const answer = await res.json();
		files = answer.files.map(f => ({ name: f.name, size: f.size, time: Date.parse(f.mtime) }));
		known = new Map(files.map(f => [f.name, f]));
		trouble(null);
	} catch (e) {
		trouble(e instanceof TypeError ? 'The server can’t be reached.' : e.message);
	}
	render();
}

// Suspends until the list is as new as this call.
function load() {
	clearTimeout(loadTimer);
	if (loading) {
		loadAgain = true;
		return loading;
	}
	loading = (async () => {
		do {
			loadAgain = false;
			await loadOnce();
		} while (loadAgain);
		loading = null;
	})();
	return loading;
}

function loadSoon() {
	clearTimeout(loadTimer);
	loadTimer = setTimeout(load, 200);
}

function trouble(text) {
	const box = byId('trouble');
	box.hidden = !text;
	if (text)
		box.replaceChildren(el('span', null, `The list could not be loaded. ${text}`),
			button('Try again', undefined, load));
}

const sorters = {
	name: (a, b) => names.compare(a.name, b.name) || (a.name < b.name ? -1 : 1),
	size: (a, b) => a.size - b.size,
	date: (a, b) => a.time - b.time,
};

const folded = text => text.normalize('NFC').toLowerCase();

function wanted() {
	const part = folded(byId('filter').value.trim());
	const list = part ? files.filter(f => folded(f.name).includes(part)) : [...files];
	const sign = sort.down ? -1 : 1;
	return list.sort((a, b) => sign * sorters[sort.by](a, b) || sorters.name(a, b));
}

function row(file) {
	let r = rows.get(file.name);
	if (!r) {
		const text = shown(file.name);
		r = {
			link: el('a', { href: urlOf(file.name), download: file.name }, el('bdi', null, text)),
			size: el('span'),
			exact: el('span', { class: 'sr' }),
			time: el('time'),
			get: el('button', { type: 'button', class: 'round', 'data-do': 'get', title: 'Download with pause and resume',
				'aria-label': `Download with pause and resume: ${text}` }, icon('i-down')),
		};
		r.tr = el('tr', { role: 'row', class: fresh.has(file.name) ? 'fresh' : undefined },
			el('td', { role: 'cell', class: 'name' }, r.link),
			el('td', { role: 'cell', class: 'size' }, r.size, r.exact),
			el('td', { role: 'cell', class: 'date' }, r.time),
			el('td', { role: 'cell', class: 'do' }, r.get));
		if (mayChange)
			r.tr.lastChild.append(el('button', { type: 'button', class: 'round', 'data-do': 'delete',
				title: 'Delete', 'aria-label': `Delete ${text}` }, icon('i-bin')));
		rows.set(file.name, r);
	}
	if (r.file !== file) {
		r.file = r.tr.file = file;
		r.size.textContent = sizeText(file.size);
		r.size.title = bytesText(file.size);
		r.exact.textContent = file.size >= 1000 ? `, exactly ${bytesText(file.size)}` : '';
		if (Number.isFinite(file.time)) {
			r.time.dateTime = new Date(file.time).toISOString();
			r.time.textContent = dates.format(file.time);
			r.time.title = datesFull.format(file.time);
		}
	}
	return r.tr;
}

function render() {
	const list = wanted();
	const part = list.slice(0, rowsMax);
	const keep = new Set(part.map(f => f.name));
	const focused = document.activeElement;
	const body = byId('rows');

	for (const [name, r] of rows) {
		if (!keep.has(name)) {
			r.tr.remove();
			rows.delete(name);
		}
	}
	let at = body.firstElementChild;
	for (const file of part) {
		const tr = row(file);
		if (tr === at)
			at = at.nextElementSibling;
		else
			body.insertBefore(tr, at);
	}
	if (focused !== document.activeElement && focused.isConnected)
		focused.focus();

	const filtering = byId('filter').value.trim() !== '';
	byId('summary').textContent = files.length
		? `${filesText(files.length)} · ${sizeText(files.reduce((sum, f) => sum + f.size, 0))}` : 'No files';
	byId('found').textContent = filtering ? `${numbers.format(list.length)} of ${filesText(files.length)}` : '';
	byId('tools').hidden = files.length <= 10 && !filtering;
	byId('table').hidden = list.length === 0;
	byId('more').hidden = list.length <= rowsMax;
	byId('more-button').textContent = `Show more of ${filesText(list.length)}`;
	byId('empty').hidden = list.length > 0 || !byId('trouble').hidden;
	byId('empty-title').textContent = filtering ? 'No name holds that' : 'Nothing here yet';
	byId('empty-text').textContent = filtering ? 'Change or clear the filter to see the others.'
		: mayChange ? 'Drop files anywhere on this page, or choose some with “Upload files”.'
			: 'Files that appear in the folder are listed here.';
}

function sortBy(by) {
	sort = { by, down: sort.by === by ? !sort.down : by !== 'name' };
	rowsMax = ROWS_STEP;
	showSort();
	render();
}

function showSort() {
	for (const b of document.querySelectorAll('[data-sort]')) {
		const on = b.dataset.sort === sort.by;
		b.parentElement.setAttribute('aria-sort', on ? (sort.down ? 'descending' : 'ascending') : 'none');
	}
}

/* ---- deleting ---- */

function askDelete(file, tr) {
	const dialog = byId('ask');
	const yes = byId('ask-yes');
	byId('ask-title').textContent = 'Delete this file?';
	byId('ask-text').replaceChildren(el('bdi', null, shown(file.name)), ` (${sizeText(file.size)}) will be gone for good.`);
	byId('ask-bad').textContent = '';
	yes.onclick = async () => {
		yes.disabled = true;
		const bad = await remove(file.name);
		yes.disabled = false;
		byId('ask-bad').textContent = bad ?? '';
		if (bad)
			return;
		const next = tr.nextElementSibling ?? tr.previousElementSibling;
		dialog.close();
		say(`${shown(file.name)} deleted.`);
		await load();
		refocus(next?.querySelector('[data-do=delete]'), byId('choose'));
	};
	dialog.showModal();
}

// Return: null, or in words why not.
async function remove(name) {
	try {
		const res = await fetch(urlOf(name), { method: 'DELETE' });
		return res.ok || res.status === 404 ? null : reason(res.status, await res.text());
	} catch {
		return 'The server can’t be reached.';
	}
}

/* ---- transfers ---- */

const transfers = [];
let painting = 0;
let toldAt = 0;

const isOpen = t => t.state === 'ask' || t.state === 'wait' || t.state === 'run' || t.state === 'pause' || t.state === 'cut';
const isMoving = t => t.state === 'wait' || t.state === 'run' || t.state === 'cut';

function add(t) {
	Object.assign(t, { state: 'wait', note: '', sent: 0, rate: 0, text: shown(t.name) });
	transfers.push(t);
	return t;
}

function set(t, state, note = '') {
	t.state = state;
	t.note = note;
	if (state === 'run')
		Object.assign(t, { began: performance.now(), markAt: performance.now(), markSent: t.sent, rate: 0 });
	else if (state === 'fail')
		say(`${t.text}: ${note}`);
	else if (state === 'ask')
		say(`${t.text} is already there. Replace it, keep both or skip?`);
	else if (state === 'done')
		say(`${t.text} ${t.kind === 'up' ? 'uploaded' : 'downloaded'}.`);
	paintSoon();
}

function drop(t) {
	const i = transfers.indexOf(t);
	if (i < 0)
		return;
	const had = t.li?.contains(document.activeElement);
	transfers.splice(i, 1);
	paint();
	if (had)
		refocus((transfers[i] ?? transfers[i - 1])?.li?.querySelector('button'), byId('choose'), byId('rows').querySelector('button'));
}

// Start what may start.
function pump() {
	for (const [kind, max, start] of [['up', UPLOADS, send], ['down', DOWNLOADS, receive]]) {
		let running = transfers.filter(t => t.kind === kind && t.state === 'run').length;
		for (const t of transfers) {
			if (running >= max)
				break;
			if (t.kind === kind && t.state === 'wait') {
				set(t, 'run');
				start(t);
				running++;
			}
		}
	}
	paintSoon();
}

// Bytes have moved: the rate is an average over the last seconds.
function moved(t, sent) {
	const now = performance.now();
	const dt = (now - t.markAt) / 1000;
	t.sent = sent;
	if (dt >= 0.25) {
		const rate = (sent - t.markSent) / dt;
		t.rate = t.rate ? t.rate + (rate - t.rate) * Math.min(1, dt / 3) : rate;
		t.markAt = now;
		t.markSent = sent;
	}
	paintSoon();
}

/* ---- uploading ---- */

// Return: null, or in words why the server would refuse.
function refusal(name, size) {
	if (name.startsWith('.'))
		return 'Not sent: the server takes no name that begins with a dot.';
	if (/[\u0000-\u001f\u007f/]/.test(name) || /\p{Surrogate}/u.test(name))
		return 'Not sent: the name holds characters that the server does not take.';
	if (new TextEncoder().encode(name).length > 255)
		return 'Not sent: the name is too long.';
	if (size > uploadMax)
		return `Not sent: at ${sizeText(size)} it is over this server’s limit of ${sizeText(uploadMax)}.`;
	return null;
}

const isTaken = (name, except) =>
	known.has(name) || transfers.some(t => t !== except && t.kind === 'up' && t.name === name && isOpen(t));

// Queue files; each is {file, folder}.
async function upload(list) {
	await load();
	for (const { file, folder } of list) {
		const t = add({ kind: 'up', name: file.name, file, size: file.size, replace: false });
		const bad = folder ? 'Not sent: this is a folder. Drop the files inside it.' : refusal(t.name, t.size);
		if (bad)
			set(t, 'fail', bad);
		else if (isTaken(t.name, t))
			set(t, 'ask');
	}
	pump();
}

async function send(t) {
	// Without this, a file that has gone since it was chosen would look like a lost connection.
	try {
		await t.file.slice(0, 1).arrayBuffer();
	} catch {
		if (t.state === 'run')
			set(t, 'fail', 'This file can’t be read here. It may have been moved or changed.');
		return pump();
	}
	if (t.state !== 'run')
		return;

	const xhr = new XMLHttpRequest();
	t.xhr = xhr;
	xhr.open('PUT', urlOf(t.name));
	xhr.setRequestHeader('content-type', 'application/octet-stream');
	if (!t.replace)
		xhr.setRequestHeader('if-none-match', '*');
	xhr.upload.onprogress = e => moved(t, e.loaded);
	xhr.onload = () => {
		if (xhr.status === 200 || xhr.status === 201) {
			t.sent = t.size;
			set(t, 'done', `Uploaded · ${sizeText(t.size)} in ${timeText((performance.now() - t.began) / 1000)}`);
			t.file = null;
			fresh.add(t.name);
			loadSoon();
		} else if ((xhr.status === 412 || xhr.status === 409) && !t.replace) {
			set(t, 'ask');
			loadSoon();
		} else {
			set(t, 'fail', reason(xhr.status, xhr.responseText));
		}
		pump();
	};
	xhr.onerror = async () => {
		// A server that refuses early closes before all is sent, and the browser drops its answer.
		const up = await fetch('api/files', { cache: 'no-store' }).then(res => res.ok, () => false);
		set(t, 'fail', up ? 'The connection was cut. The server may have refused the file, or the network failed.'
			: 'The server can’t be reached.');
		pump();
	};
	xhr.send(t.file);
}

function cancelUpload(t) {
	set(t, 'stop', 'Cancelled. Nothing of it was kept.');
	t.xhr?.abort();
	t.xhr = null;
	pump();
}

function retryUpload(t) {
	t.sent = 0;
	set(t, !t.replace && isTaken(t.name, t) ? 'ask' : 'wait');
	pump();
}

function replaceIt(t) {
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
	const bad = refusal(t.name, t.size);
	set(t, bad ? 'fail' : 'wait', bad ?? '');
	pump();
}

/* ---- downloading ---- */

// Where bytes go: into the file that the user chose, or, up to KEPT_MAX, into the browser's own
// store, from which the complete file is saved. Blobs may live on disk, so neither fills memory.
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

function blobSink(name) {
	let parts = [];
	let link = null;
	return {
		write: chunks => void parts.push(new Blob(chunks)),
		reset: () => void (parts = []),
		close() {
			const whole = new Blob(parts, { type: 'application/octet-stream' });
			link = el('a', { class: 'button', href: URL.createObjectURL(whole), download: name,
				'aria-label': `Save again: ${shown(name)}` }, 'Save again');
			parts = [];
			link.click();
		},
		discard() {
			parts = [];
			if (link)
				URL.revokeObjectURL(link.href);
		},
		get link() {
			return link;
		},
	};
}

async function download(file, link) {
	const running = transfers.find(t => t.kind === 'down' && t.name === file.name && isOpen(t));
	if (running)
		return running.li?.querySelector('button')?.focus();
	let sink;
	if (file.size <= KEPT_MAX) {
		sink = blobSink(file.name);
	} else if (window.showSaveFilePicker) {
		try {
			sink = fileSink(await window.showSaveFilePicker({ suggestedName: file.name }));
		} catch (e) {
			return e.name === 'AbortError' ? undefined : link.click();
		}
	} else {
		return link.click(); // the browser's own download, which resumes by Range as well
	}
	add({ kind: 'down', name: file.name, size: file.size, sink, etag: null, tries: 0, over: null });
	pump();
}

class Refused extends Error {}

function receive(t) {
	t.over = receiveAfter(t, t.over);
}

async function receiveAfter(t, before) {
	await before;
	if (t.state !== 'run')
		return;
	const abort = t.abort = new AbortController();
	let chunks = [];
	let held = 0;
	let stall = 0;
	const alive = () => {
		clearTimeout(stall);
		stall = setTimeout(() => abort.abort(), STALL_MS);
	};
	const flush = async () => {
		const [data, at] = [chunks, t.sent - held];
		chunks = [];
		held = 0;
		if (data.length)
			await toSink(() => t.sink.write(data, at));
	};

	try {
		alive();
		const res = await ask(t, abort.signal);
		const reader = res.body.getReader();
		for (;;) {
			const { done, value } = await reader.read();
			if (done)
				break;
			alive();
			t.tries = 0;
			chunks.push(value);
			held += value.length;
			moved(t, t.sent + value.length);
			if (held >= WRITE_SIZE)
				await flush();
		}
		await flush();
		if (t.sent !== t.size)
			throw new TypeError('the connection ended early');
		await toSink(() => t.sink.close());
		set(t, 'done', `Downloaded · ${sizeText(t.size)}`);
	} catch (e) {
		const bad = await flush().then(() => e, worse => worse);
		if (t.state !== 'run')
			return; // paused or cancelled
		if (bad instanceof Refused)
			set(t, 'fail', bad.message);
		else
			lost(t);
	} finally {
		clearTimeout(stall);
		pump();
	}
}

async function toSink(act) {
	try {
		await act();
	} catch {
		throw new Refused('The file could not be written here. The disk may be full.');
	}
}

// Ask for the file, or for what is missing of it: If-Range sees to it that the two parts are of one
// file. An answer that is not a continuation starts over.
async function ask(t, signal) {
	const headers = {};
	if (t.sent && t.etag)
		Object.assign(headers, { range: `bytes=${t.sent}-`, 'if-range': t.etag });
	const res = await fetch(urlOf(t.name), { headers, signal, cache: 'no-store' });
	const continues = res.headers.get('content-range')?.startsWith(`bytes ${t.sent}-`);
	if (res.status === 206 && headers.range && continues)
		return res;
	if (res.status === 416 && headers.range) {
		t.etag = null;
		throw new TypeError('the file has changed');
	}
	if (res.status >= 502 && res.status <= 504)
		throw new TypeError('not now');
	if (res.status !== 200)
		throw new Refused(reason(res.status, await res.text()));
	if (t.sent) {
		t.note = headers.range ? 'Changed on the server, so from the start' : '';
		await toSink(() => t.sink.reset());
		moved(t, 0);
		t.markSent = 0;
	}
	const etag = res.headers.get('etag') ?? '';
	const plain = !res.headers.has('content-encoding');
	t.etag = plain && etag.startsWith('"') ? etag : null;
	t.size = plain && res.headers.has('content-length') ? Number(res.headers.get('content-length')) : t.size;
	return res;
}

function lost(t) {
	const seconds = RETRY_S[t.tries++];
	set(t, 'cut', seconds ? `Connection lost. Trying again in ${seconds} s.` : 'Connection lost.');
	if (seconds)
		t.timer = setTimeout(resume, seconds * 1000, t);
	else
		say(`${t.text}: connection lost.`);
}

function resume(t) {
	clearTimeout(t.timer);
	if (t.state !== 'cut' && t.state !== 'pause' && t.state !== 'fail')
		return;
	set(t, 'wait');
	pump();
}

function pause(t) {
	clearTimeout(t.timer);
	set(t, 'pause');
	t.abort?.abort();
	pump();
}

function cancelDownload(t) {
	clearTimeout(t.timer);
	set(t, 'stop');
	t.abort?.abort();
	Promise.resolve(t.over).then(() => t.sink.discard());
	drop(t);
	pump();
}

/* ---- transfers on the page ---- */

function noteOf(t) {
	const part = t.size ? t.sent / t.size : 1;
	const amount = `${percents.format(Math.min(1, Math.floor(part * 100) / 100))} · ${sizeText(t.sent)} of ${sizeText(t.size)}`;
	switch (t.state) {
	case 'ask': {
		const file = known.get(t.name);
		return file ? `Already there: ${sizeText(file.size)}, ${dates.format(file.time)}. This one: ${sizeText(t.size)}.`
			: 'A file of this name is already there.';
	}
	case 'wait':
		return t.sent ? `Waiting · ${amount}` : `Waiting · ${sizeText(t.size)}`;
	case 'run':
		if (t.kind === 'up' && t.sent >= t.size && t.size)
			return 'All sent, waiting for the server';
		return [t.note, amount, t.rate && `${sizeText(t.rate)}/s`,
			t.rate && `${timeText((t.size - t.sent) / t.rate)} left`].filter(Boolean).join(' · ');
	case 'pause':
		return `Paused · ${amount}`;
	case 'cut':
		return `${t.note} ${amount}`;
	}
	return t.note;
}

function buttonsOf(t) {
	const b = (text, act, look) => button(text, `${text}: ${t.text}`, () => act(t), look);
	const up = t.kind === 'up';
	switch (t.state) {
	case 'ask':
		return [b('Replace', replaceIt, 'primary'), b('Keep both', keepBoth), b('Skip', drop)];
	case 'wait':
		return [b('Cancel', up ? cancelUpload : cancelDownload)];
	case 'run':
		return up ? [b('Cancel', cancelUpload)] : [b('Pause', pause), b('Cancel', cancelDownload)];
	case 'pause':
	case 'cut':
		return [b('Resume', resume, 'primary'), b('Cancel', cancelDownload)];
	case 'stop':
		return [b('Upload again', retryUpload), b('Dismiss', drop)];
	case 'fail':
		return [...(up && refusal(t.name, t.size) ? [] : [b('Try again', up ? retryUpload : resume)]), b('Dismiss', dismiss)];
	}
	return [...(t.sink?.link ? [t.sink.link] : []), b('Dismiss', dismiss)];
}

function dismiss(t) {
	t.sink?.discard();
	drop(t);
}

function paintOne(t) {
	if (!t.li) {
		t.bar = el('progress', { max: 1, 'aria-label': t.text });
		t.noteBox = el('p', { class: 'quiet note' });
		t.nameBox = el('bdi', { class: 'name' });
		t.buttons = el('div', { class: 'buttons' });
		t.li = el('li', null, icon(t.kind === 'up' ? 'i-up' : 'i-down'),
			el('div', { class: 'what' }, t.nameBox, t.noteBox), t.buttons, t.bar);
	}
	t.nameBox.textContent = t.text;
	t.noteBox.textContent = noteOf(t);
	t.bar.hidden = !isMoving(t) && t.state !== 'pause';
	t.bar.value = t.size ? t.sent / t.size : 0;
	if (t.li.dataset.state !== t.state) {
		const had = t.buttons.contains(document.activeElement);
		t.li.dataset.state = t.state;
		t.buttons.replaceChildren(...buttonsOf(t));
		if (had)
			t.buttons.firstChild.focus();
	}
	return t.li;
}

// Questions and errors first, then what moves, what waits, and what is over.
const RANK = { ask: 0, fail: 1, run: 2, cut: 2, pause: 2, wait: 3, stop: 4, done: 5 };

function paint() {
	cancelAnimationFrame(painting);
	painting = 0;
	const list = [...transfers];
	if (list.length > TRANSFERS_SHOWN)
		list.sort((a, b) => RANK[a.state] - RANK[b.state]).splice(TRANSFERS_SHOWN);
	const ul = byId('transfers-list');
	const lines = list.map(paintOne);
	for (const li of [...ul.children]) {
		if (!lines.includes(li))
			li.remove();
	}
	lines.forEach((li, i) => {
		if (ul.children[i] !== li)
			ul.insertBefore(li, ul.children[i] ?? null);
	});

	const focused = document.activeElement;
	const more = transfers.length - list.length;
	const asking = transfers.filter(t => t.state === 'ask').length;
	const open = transfers.filter(isOpen).length;
	const busy = transfers.some(isMoving);
	byId('transfers').hidden = transfers.length === 0;
	byId('transfers-sum').textContent = transfersText();
	byId('transfers-more').hidden = more === 0;
	byId('transfers-more').textContent = `and ${numbers.format(more)} more`;
	byId('replace-all').hidden = byId('skip-all').hidden = asking < 2;
	byId('cancel-all').hidden = open - asking < 2;
	byId('clear').hidden = transfers.length - open < 1;
	if (focused.closest('[hidden]'))
		refocus(byId('choose'), byId('rows').querySelector('button'));

	root.classList.toggle('busy', busy);
	document.title = busy ? `${percents.format(overall())} · ${title}` : title;
	onbeforeunload = open ? e => e.preventDefault() : null;
	if (busy && performance.now() - toldAt > 15000) {
		if (toldAt)
			say(transfersText());
		toldAt = performance.now();
	} else if (!busy) {
		toldAt = 0;
	}
}

function paintSoon() {
	// A hidden page gets no frames, but its title should go on counting.
	if (document.hidden)
		paint();
	else
		painting ||= requestAnimationFrame(paint);
}

function overall() {
	const list = transfers.filter(t => t.state !== 'fail' && t.state !== 'stop');
	const all = list.reduce((sum, t) => sum + t.size, 0);
	return all ? Math.floor(list.reduce((sum, t) => sum + t.sent, 0) / all * 100) / 100 : 0;
}

function transfersText() {
	const count = state => transfers.filter(t => t.state === state).length;
	const moving = transfers.filter(isMoving);
	const rate = moving.reduce((sum, t) => sum + (t.state === 'run' ? t.rate : 0), 0);
	const left = moving.reduce((sum, t) => sum + t.size - t.sent, 0);
	return [
		transfers.length > 1 && `${numbers.format(count('done'))} of ${numbers.format(transfers.length)} done`,
		count('ask') && `${numbers.format(count('ask'))} to decide`,
		count('fail') && `${numbers.format(count('fail'))} failed`,
		moving.length > 1 && percents.format(overall()),
		moving.length > 1 && rate && `${timeText(left / rate)} left`,
	].filter(Boolean).join(' · ');
}

function forAll(states, act) {
	for (const t of transfers.filter(t => states.includes(t.state)))
		act(t);
}

/* ---- wiring ---- */

const title = `Files · ${location.host}`;
document.title = title;
byId('host').textContent = location.host;

byId('transfers-all').append(
	button('Replace all', 'Replace all files that are already there', () => forAll(['ask'], replaceIt)),
	button('Skip all', 'Skip all files that are already there', () => forAll(['ask'], drop)),
	button('Cancel all', 'Cancel all transfers', () =>
		forAll(['wait', 'run', 'pause', 'cut'], t => (t.kind === 'up' ? cancelUpload : cancelDownload)(t))),
	button('Clear finished', 'Clear finished transfers', () => forAll(['done', 'fail', 'stop'], dismiss)));
['replace-all', 'skip-all', 'cancel-all', 'clear'].forEach((id, i) => (byId('transfers-all').children[i].id = id));

byId('upload').hidden = !mayChange;
byId('readonly').hidden = mayChange;
byId('choose').addEventListener('click', () => byId('picker').click());
byId('picker').addEventListener('change', e => {
	upload([...e.target.files].map(file => ({ file })));
	e.target.value = ''; // the same file may be chosen again
});

byId('filter').addEventListener('input', () => {
	rowsMax = ROWS_STEP;
	render();
});
byId('again').addEventListener('click', () => load().then(() => say(`List refreshed: ${filesText(files.length)}.`)));
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

function showMore() {
	rowsMax += ROWS_STEP;
	render();
}
byId('more-button').addEventListener('click', () => {
	const last = byId('rows').lastElementChild;
	showMore();
	last?.nextElementSibling?.querySelector('a').focus();
});
new IntersectionObserver(seen => seen.some(s => s.isIntersecting) && showMore(), { rootMargin: '600px' })
	.observe(byId('more'));

// Files may be dropped anywhere; without these the browser would leave the page for a dropped file.
const carriesFiles = e => e.dataTransfer?.types.includes('Files');
let dragging = 0;
addEventListener('dragover', e => {
	if (!carriesFiles(e))
		return;
	e.preventDefault();
	e.dataTransfer.dropEffect = mayChange ? 'copy' : 'none';
	root.classList.add('dragging');
	clearTimeout(dragging);
	dragging = setTimeout(() => root.classList.remove('dragging'), 400);
});
addEventListener('drop', e => {
	if (!carriesFiles(e))
		return;
	e.preventDefault();
	root.classList.remove('dragging');
	if (mayChange)
		upload([...e.dataTransfer.items].filter(item => item.kind === 'file').map(item =>
			({ file: item.getAsFile(), folder: item.webkitGetAsEntry?.()?.isDirectory })).filter(f => f.file));
});
byId('drop').firstChild.textContent = mayChange ? 'Drop to upload' : 'This folder is read-only';

addEventListener('online', () => forAll(['cut'], resume));
addEventListener('visibilitychange', () => document.hidden || loadSoon());

showSort();
load();
