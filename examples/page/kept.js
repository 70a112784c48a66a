// Uploads that outlive the page: the browser's database keeps, for each, its fields and its file, or a
// handle of it. A tab goes on with its own after a reload, and with those of tabs that are gone.

const COPIES_MAX = 1024 * 1024 * 1024; // bytes: the database copies a file that comes without a handle

const opened = new Promise(done => {
	const asked = indexedDB.open('eddy-files', 1);
	asked.onupgradeneeded = () => {
		asked.result.createObjectStore('uploads', { keyPath: 'id' });
		asked.result.createObjectStore('files'); // id -> a File or FileSystemFileHandle
	};
	asked.onsuccess = () => done(asked.result);
	asked.onerror = () => done(null); // a browser that keeps nothing
});

const others = new BroadcastChannel('eddy-uploads');
const mine = new Set();
const taken = new Set();
const copies = new Map(); // id -> bytes

others.onmessage = ({ data }) => {
	if (data === 'whose?')
		others.postMessage([...mine]);
	else
		data.forEach(id => taken.add(id));
};

// Return: a promise of the request's result; null if the browser can't or won't.
async function run(store, mode, act) {
	const db = await opened;
	return db && new Promise(done => {
		const work = db.transaction(store, mode);
		const asked = act(work.objectStore(store));
		work.oncomplete = () => done(asked.result);
		work.onabort = () => done(null);
	});
}

const FIELDS = ['id', 'folder', 'name', 'size', 'modified', 'replace', 'number', 'url', 'piece'];

// Keep an upload's fields as they are now.
export function keep(t) {
	mine.add(t.id);
	return run('uploads', 'readwrite', store => store.put(Object.fromEntries(FIELDS.map(f => [f, t[f]]))));
}

export function keepFile(t) {
	if (!t.handle && [...copies.values()].reduce((sum, n) => sum + n, t.size) > COPIES_MAX)
		return;
	if (!t.handle)
		copies.set(t.id, t.size);
	run('files', 'readwrite', store => store.put(t.handle ?? t.file, t.id));
}

export function forget(t) {
	if (!t.id)
		return; // it was never kept
	mine.delete(t.id);
	copies.delete(t.id);
	run('uploads', 'readwrite', store => store.delete(t.id));
	run('files', 'readwrite', store => store.delete(t.id));
}

// Return: the fields of uploads that no tab has, each with `file` or `handle`, if those were kept.
export async function orphans() {
	const all = await run('uploads', 'readonly', store => store.getAll()) ?? [];
	if (!all.length)
		return all;
	others.postMessage('whose?');
	await new Promise(done => setTimeout(done, 300));
	const found = all.filter(({ id }) => !taken.has(id) && !mine.has(id));
	for (const t of found) {
		const file = await run('files', 'readonly', store => store.get(t.id));
		t[file instanceof File ? 'file' : 'handle'] = file ?? undefined;
		mine.add(t.id);
	}
	return found;
}
