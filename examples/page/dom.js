// Elements, focus, and words for those who listen instead of look.

export const byId = id => document.getElementById(id);

// Strings among the children become text, never markup.
export function el(tag, attributes, ...children) {
	const e = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes ?? {})) {
		if (value !== undefined)
			e.setAttribute(name, value);
	}
	e.append(...children);
	return e;
}

export function icon(id) {
	const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
	const use = document.createElementNS('http://www.w3.org/2000/svg', 'use');
	svg.setAttribute('class', 'icon');
	svg.setAttribute('aria-hidden', 'true');
	use.setAttribute('href', '#' + id);
	svg.append(use);
	return svg;
}

export function button(text, label, act, look) {
	const b = el('button', { type: 'button', class: look, 'aria-label': label }, text);
	b.addEventListener('click', act);
	return b;
}

const isThere = e => e?.isConnected && !e.closest('[hidden]');

// Focus must not fall back to the top of the page when what had it goes away.
export function refocus(...candidates) {
	(candidates.find(isThere) ?? byId('again')).focus();
}

// Make the children of a list these, moving only what has to move.
export function arrange(parent, children) {
	const focused = document.activeElement;
	const keep = new Set(children);
	for (const e of [...parent.children]) {
		if (!keep.has(e))
			e.remove();
	}
	let at = parent.firstElementChild;
	for (const e of children) {
		if (e === at)
			at = at.nextElementSibling;
		else
			parent.insertBefore(e, at);
	}
	if (focused !== document.activeElement && focused.isConnected)
		focused.focus();
}

let spoken = [];
let speaking = 0;

export function say(text) {
	spoken.push(text);
	clearTimeout(speaking);
	speaking = setTimeout(() => {
		const burst = spoken.length > 3;
		byId('live').textContent = burst ? `${spoken.length} changes. ${spoken.at(-1)}` : spoken.join(' ');
		spoken = [];
	}, 400);
}
