// Changes by others: the server tells by an event stream that the folder's list has changed, and it is loaded again.
//
// A window that is hidden has no stream. A browser has six connections to a server, which all its windows share: the
// streams of the three windows that began theirs last go on.

import { byId, refocus } from './dom.js';
import { focusOn, known, load, nameAfter } from './list.js';
import { place } from './place.js';
import { totalSize } from './text.js';

const LOAD_EVERY_MS = 1000;
const RETRY_MS = 3000;
const STREAMS_MAX = 3;

const others = new BroadcastChannel('eddy-live');
const id = `${Date.now()}-${Math.random()}`;
const newer = new Set(); // windows that have begun a stream since this one has
let stream = null;
let retry = 0;
let timer = 0;
let loadedAt = -Infinity;

const size = () => totalSize([...known.values()]);

async function reload() {
	timer = 0;
	if (document.querySelector('.name input'))
		return changed(); // not while a name is typed
	const before = size();
	const focused = document.activeElement;
	const entry = focused.closest('tbody tr')?.entry;
	const names = entry ? [entry.name, nameAfter([entry])] : [];
	await load();
	loadedAt = performance.now();
	if (document.activeElement === document.body && focused !== document.body) {
		const name = names.find(n => known.has(n));
		name && !focused.isConnected ? focusOn(name) : refocus(focused, byId('choose'));
	}
	if (before !== size())
		changed(); // of a file that another program still writes, no event tells
}

function changed() {
	if (stream)
		timer ||= setTimeout(reload, Math.max(50, loadedAt + LOAD_EVERY_MS - performance.now()));
}

function close() {
	stream?.close();
	stream = null;
	clearTimeout(retry);
	clearTimeout(timer);
	retry = timer = 0;
}

// Follow the folder that is shown. `again`: its list may have changed before.
export function listen(again = false) {
	close();
	if (document.hidden)
		return;
	newer.clear();
	others.postMessage(id);
	stream = new EventSource('api/events' + (place.folder && `?path=${encodeURIComponent(place.folder)}`));
	stream.onopen = () => again && changed();
	stream.addEventListener('change', changed);
	stream.onerror = () => {
		close();
		// Pages that have lost a server together do not come back at the same time.
		retry = setTimeout(listen, RETRY_MS * (1 + Math.random()), true);
	};
}

others.onmessage = ({ data }) => {
	if (newer.add(data).size >= STREAMS_MAX)
		close();
};

addEventListener('visibilitychange', () => (document.hidden ? close() : listen())); // page.js loads the list
addEventListener('focus', () => stream || retry || listen(true));
