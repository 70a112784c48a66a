// The queue of uploads and downloads, and its lines on the page.
//
// A transfer's `kind` (upload.js, download.js) has icon, max (how many run at a time), start(t), cancel(t),
// dismiss(t), mayAgain(t), again(t), note(t), buttons(t) and say(t). Its `state` is one of
//   ask    an upload whose name is taken, until the user decides
//   need   an upload from before a reload, until the user gives its file again
//   wait   queued
//   run    on the wire
//   pause  a download that the user paused
//   cut    its connection was lost; it goes on by itself, later each time, or at once by a click
//   stop   an upload that the user cancelled
//   fail   over; `why` says why
//   done   over

import { arrange, button, byId, el, icon, refocus, say } from './dom.js';
import { titleText } from './place.js';
import { numbers, percents, shown, sizeText, timeText } from './text.js';

const LINES_MAX = 40;
const TELL_EVERY_MS = 15000;
const STILL_MS = 4000; // without a byte for so long, a rate and the time that is left say nothing
const RETRY_S = [1, 2, 4, 8, 15, 30, 60];

export const transfers = [];

export class Refused extends Error {} // trying again would not help

const OPEN = ['ask', 'need', 'wait', 'run', 'pause', 'cut'];
const MOVING = ['wait', 'run', 'cut'];
export const isOpen = t => OPEN.includes(t.state);
const isMoving = t => MOVING.includes(t.state);

export function add(t, path) {
	Object.assign(t, { state: 'wait', why: '', sent: 0, rate: 0, tries: 0, timer: 0, text: shown(path) });
	transfers.push(t);
	return t;
}

export function set(t, state, why = '') {
	t.state = state;
	t.why = why;
	if (state === 'run') {
		const now = performance.now();
		Object.assign(t, { began: now, movedAt: now, markAt: now, markSent: t.sent, rate: 0 });
	}
	const said = t.kind.say(t);
	if (said)
		say(said);
	paintSoon();
}

export function drop(t) {
	const i = transfers.indexOf(t);
	if (i < 0)
		return;
	const had = t.li?.contains(document.activeElement);
	transfers.splice(i, 1);
	paint();
	if (had)
		refocus((transfers[i] ?? transfers[i - 1])?.li?.querySelector('button'), byId('choose'));
}

// Start those that may start. One that is about to be tried again keeps its place, or all that wait would run
// into the same trouble.
export function pump() {
	const running = new Map();
	for (const t of transfers) {
		if (t.state === 'run' || t.state === 'cut')
			running.set(t.kind, (running.get(t.kind) ?? 0) + 1);
	}
	for (const t of transfers) {
		const n = running.get(t.kind) ?? 0;
		if (t.state === 'wait' && n < t.kind.max) {
			running.set(t.kind, n + 1);
			set(t, 'run');
			t.kind.start(t);
		}
	}
	paintSoon();
}

// The connection is lost: it is tried again, later each time. Up to a quarter of the time is left to chance, so that
// pages that have lost a server together do not reconnect at the same time.
export function lost(t, why) {
	const seconds = RETRY_S[Math.min(t.tries++, RETRY_S.length - 1)] * (1 - Math.random() / 4);
	t.timer = setTimeout(resume, seconds * 1000, t);
	set(t, 'cut', `${why}, trying again in ${timeText(seconds)}`);
}

export function forgetRetry(t) {
	clearTimeout(t.timer);
	t.timer = 0;
}

export function resume(t) {
	forgetRetry(t);
	set(t, 'wait');
	pump();
}

// Bytes have moved: the rate is an average over the last seconds. A pause, such as a laptop's sleep, is none of it.
export function moved(t, sent) {
	const now = performance.now();
	const dt = (now - t.markAt) / 1000;
	const paused = now - t.movedAt > STILL_MS;
	t.sent = sent;
	t.movedAt = now;
	if (paused) {
		t.markAt = now;
		t.markSent = sent;
	} else if (dt >= 0.25) {
		const rate = Math.max(0, sent - t.markSent) / dt;
		t.rate = t.rate ? t.rate + (rate - t.rate) * Math.min(1, dt / 3) : rate;
		t.markAt = now;
		t.markSent = sent;
	}
	paintSoon();
}

// The transfer stands at another place, to which nothing has moved.
export function skipTo(t, sent) {
	t.sent = t.markSent = sent;
	paintSoon();
}

// Call `act` if nothing calls alive() for so long. Return: { alive, end }.
export function watchdog(ms, act) {
	let timer = 0;
	const end = () => clearTimeout(timer);
	const alive = () => {
		end();
		timer = setTimeout(act, ms);
	};
	alive();
	return { alive, end };
}

export function forAll(states, act) {
	for (const t of transfers.filter(t => states.includes(t.state)))
		act(t);
}

/* ---- words ---- */

export function progressText(t) {
	const part = t.size ? Math.min(1, Math.floor(t.sent / t.size * 100) / 100) : 1;
	return `${percents.format(part)} · ${sizeText(t.sent)} of ${sizeText(t.size)}`;
}

export function rateText(t) {
	const still = performance.now() - t.movedAt;
	if (still > STILL_MS)
		return ` · nothing moves for ${timeText(Math.floor(still / 1000))}`;
	return t.rate ? ` · ${sizeText(t.rate)}/s · ${timeText((t.size - t.sent) / t.rate)} left` : '';
}

function overall() {
	const list = transfers.filter(t => t.state !== 'fail' && t.state !== 'stop');
	const all = list.reduce((sum, t) => sum + t.size, 0);
	const part = all && Math.floor(list.reduce((sum, t) => sum + t.sent, 0) / all * 100) / 100;
	return list.some(isMoving) ? Math.min(part, 0.99) : part; // all may be sent, and not be there
}

function overallText() {
	const count = state => transfers.filter(t => t.state === state).length;
	const moving = transfers.filter(isMoving);
	const rate = moving.reduce((sum, t) => sum + (t.state === 'run' ? t.rate : 0), 0);
	const left = moving.reduce((sum, t) => sum + t.size - t.sent, 0);
	return [
		transfers.length > 1 && `${numbers.format(count('done'))} of ${numbers.format(transfers.length)} done`,
		count('ask') && `${numbers.format(count('ask'))} to decide`,
		count('need') && `${numbers.format(count('need'))} to choose again`,
		count('fail') && `${numbers.format(count('fail'))} failed`,
		moving.length > 1 && percents.format(overall()),
		moving.length > 1 && rate && `${timeText(left / rate)} left`,
	].filter(Boolean).join(' · ');
}

/* ---- lines ---- */

const ICONS = { ask: 'i-ask', need: 'i-ask', fail: 'i-bad', cut: 'i-bad', done: 'i-ok' };

export const action = (t, text, act, look) => button(text, `${text}: ${t.text}`, () => act(t), look);

function lineOf(t) {
	if (!t.li) {
		t.bar = el('progress', { max: 1 });
		t.note = el('p', { class: 'quiet note' });
		t.title = el('bdi', { class: 'name' });
		t.buttons = el('div', { class: 'buttons' });
		t.li = el('li', null, icon(t.kind.icon), el('div', { class: 'what' }, t.title, t.note), t.buttons, t.bar);
	}
	t.title.textContent = t.text;
	t.bar.ariaLabel = t.text;
	t.bar.hidden = !isMoving(t) && t.state !== 'pause';
	t.bar.value = t.size ? t.sent / t.size : 0;
	t.note.textContent = t.kind.note(t);
	if (t.li.dataset.state !== t.state) {
		const had = t.buttons.contains(document.activeElement);
		t.li.dataset.state = t.state;
		t.li.firstChild.replaceWith(icon(ICONS[t.state] ?? t.kind.icon));
		t.buttons.replaceChildren(...t.kind.buttons(t));
		if (had)
			t.buttons.firstChild.focus();
	}
	return t.li;
}

// Of many, those count most that wait for the user, then those that move.
const RANK = { ask: 0, need: 0, fail: 1, run: 2, cut: 2, pause: 2, wait: 3, stop: 4, done: 5 };
let painting = 0;
let ticking = 0;
let toldAt = 0;

function paint() {
	cancelAnimationFrame(painting);
	painting = 0;
	const focused = document.activeElement; // before anything is hidden: that alone may take it away
	const list = [...transfers];
	if (list.length > LINES_MAX)
		list.sort((a, b) => RANK[a.state] - RANK[b.state]).splice(LINES_MAX);
	arrange(byId('transfers-list'), list.map(lineOf));

	const more = transfers.length - list.length;
	const asking = transfers.filter(t => t.state === 'ask').length;
	const open = transfers.filter(isOpen).length;
	const busy = transfers.some(isMoving);
	byId('transfers').hidden = transfers.length === 0;
	byId('transfers-sum').textContent = overallText();
	byId('transfers-more').hidden = more === 0;
	byId('transfers-more').textContent = `and ${numbers.format(more)} more`;
	byId('replace-all').hidden = byId('skip-all').hidden = asking < 2;
	byId('again-all').hidden = transfers.filter(t => ['cut', 'fail'].includes(t.state) && t.kind.mayAgain(t)).length < 2;
	byId('cancel-all').hidden = open - asking < 2;
	byId('clear').hidden = transfers.length === open;
	if (focused?.closest('[hidden]'))
		refocus(byId('choose'));

	document.documentElement.classList.toggle('busy', busy);
	clearTimeout(ticking); // what stands still is to be seen as well
	ticking = busy ? setTimeout(paintSoon, 1000) : 0;
	document.title = busy ? `${percents.format(overall())} · ${titleText()}` : titleText();
	onbeforeunload = transfers.some(t => isOpen(t) && t.state !== 'need') ? () => true : null; // true: ask before leaving
	tell(busy);
}

function tell(busy) {
	const now = performance.now();
	if (!busy) {
		toldAt = 0;
	} else if (!toldAt) {
		toldAt = now;
	} else if (now - toldAt > TELL_EVERY_MS) {
		toldAt = now;
		say(transfers.length > 1 ? overallText() : progressText(transfers[0]));
	}
}

export function paintSoon() {
	// A hidden page gets no frames, but its title should go on counting.
	if (document.hidden)
		paint();
	else
		painting ||= requestAnimationFrame(paint);
}
