// What a case of the browser test stands on: a folder, the server on it, a wire between, and a page
// in a browser of its own profile, watched for everything that it should not do.

import { createRequire } from 'node:module';
import { spawn } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Wire } from './wire.mjs';

const require = createRequire(path.join(path.resolve(process.env.EDDY_NODE_MODULES ?? 'node_modules'), 'x.js'));
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
	'--disable-component-update', '--disable-sync'];

export const chromium = process.env.EDDY_CHROMIUM ?? '/usr/bin/chromium';
export const sha = data => crypto.createHash('sha256').update(data).digest('hex');
export const launch = () =>
	require('playwright-core').chromium.launch({ executablePath: chromium, headless: true, args: FLAGS });

// What any case must not cause, told at the end: [case, what].
export const foreign = [];
export const complaints = [];

const axeSource = () => fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const BARRIERS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const OF_COLOUR = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };

// What axe finds in a page as it stands, a line each: all rules, and in the other scheme those about colours.
export async function barriers(page) {
	const run = async runOnly => {
		// One that is cancelled, because what it was about has changed meanwhile, is over as well.
		await page.evaluate(() => Promise.allSettled(document.getAnimations().filter(a => a instanceof CSSTransition).map(a => a.finished)));
		return page.evaluate(runOnly => window.axe.run(document, { runOnly, resultTypes: ['violations', 'passes'] }), runOnly);
	};
	if (!await page.evaluate(() => 'axe' in window))
		await page.evaluate(axeSource());
	const dark = await page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches);
	const all = await run(BARRIERS);
	await page.emulateMedia({ colorScheme: dark ? 'light' : 'dark' });
	const other = await run(OF_COLOUR);
	await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light' });
	const found = [...all.violations, ...other.violations].map(v =>
		`${v.id}: ${v.nodes.map(n => `${n.target} ${n.failureSummary}`).join('; ')}`);
	// A page that is not there has no barriers either.
	if (all.passes.length <= 12)
		found.push(`only ${all.passes.length} rules applied`);
	return found;
}

function serve(folder, args) {
	const exe = path.join(process.env.EDDY_EXAMPLES ?? 'build/examples', 'files');
	const child = spawn(exe, [folder, '--bind', '127.0.0.1:0', ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
	let log = '';
	child.ended = new Promise(done => child.once('exit', (code, signal) => done(code ?? signal)));
	return new Promise((done, fail) => {
		child.once('error', fail);
		child.ended.then(end => fail(new Error(`the server ended (${end}): ${log}`)));
		child.stderr.on('data', data => {
			log += data;
			const port = /Listening on 127\.0\.0\.1:(\d+)/.exec(log)?.[1];
			if (port)
				done({ child, port: Number(port), log: () => log });
		});
	});
}

export class Scene {
	// files: path -> content, or a number of zero bytes; a path with a slash at its end is a folder; args: of the server; context: of Playwright;
	// init: runs in the page before its own code; html: a change of the page's HTML; path: of the page.
	static async open(browser, name, options) {
		const s = new Scene();
		try {
			await s.#set(browser, name, options);
		} catch (e) {
			await s.close();
			throw e;
		}
		return s;
	}

	async #set(browser, name, { files = {}, args = [], context = {}, init, html, path: at = '/' }) {
		this.name = name;
		this.folder = fs.mkdtempSync(path.join(os.tmpdir(), 'eddy-page-'));
		this.folders = [this.folder];
		for (const [file, content] of Object.entries(files))
			this.put(file, content);
		this.server = await serve(this.folder, args);
		this.wire = await Wire.to(this.server.port);
		this.origin = `http://127.0.0.1:${this.wire.port}`;
		this.context = await browser.newContext({ locale: 'en-GB', timezoneId: 'UTC', acceptDownloads: true, ...context });
		this.context.setDefaultTimeout(60000);
		this.page = await this.context.newPage();
		await this.#watch();
		if (init)
			await this.page.addInitScript(init);
		if (html)
			await this.page.route(`${this.origin}/`, async route => {
				const response = await route.fetch().catch(() => null);
				await (response ? route.fulfill({ response, body: html(await response.text()) }) : route.abort());
			});
		this.answer = await this.page.goto(this.origin + at);
		if (at.startsWith('/') && at !== '/plain' && context.javaScriptEnabled !== false)
			await this.page.waitForFunction(() => /\d|No/.test(document.querySelector('#summary').textContent));
	}

	async #watch() {
		const complain = what => complaints.push([this.name, what]);
		this.context.on('request', request => {
			const url = request.url();
			if (!url.startsWith(this.origin + '/') && !/^(data:|blob:|chrome:|chrome-extension:)/.test(url))
				foreign.push([this.name, url]);
		});
		this.page.on('pageerror', e => complain(e.stack ?? String(e)));
		this.page.on('console', message => {
			// Chromium itself reports every answer from 400 and every cut connection.
			if (['error', 'warning'].includes(message.type()) && !/^Failed to load resource/.test(message.text()))
				complain(`${message.type()}: ${message.text()}`);
		});
		this.page.on('filechooser', () => {}); // or a native dialog could open before a case listens
		await this.page.exposeFunction('eddyComplain', complain);
		await this.page.addInitScript(() => document.addEventListener('securitypolicyviolation',
			e => window.eddyComplain(`CSP: ${e.violatedDirective} ${e.blockedURI} ${e.sample}`)));
	}

	put(name, content, folder = this.folder) {
		const file = path.join(folder, name);
		fs.mkdirSync(path.dirname(file), { recursive: true });
		if (name.endsWith('/'))
			fs.mkdirSync(file, { recursive: true });
		else if (typeof content === 'number') {
			fs.writeFileSync(file, '');
			fs.truncateSync(file, content);
		} else {
			fs.writeFileSync(file, content);
		}
	}

	exists = name => fs.existsSync(path.join(this.folder, name));
	read = name => fs.readFileSync(path.join(this.folder, name));
	names = (folder = '') => fs.readdirSync(path.join(this.folder, folder)).filter(name => name !== '.eddy-uploads').sort();

	// Choose files to upload: name -> content, as above. Large ones come from a folder, which is much faster.
	async choose(files) {
		const list = Object.entries(files);
		const picker = this.page.locator('#picker');
		if (list.every(([, content]) => content.length < 1024 * 1024))
			return picker.setInputFiles(list.map(([name, content]) =>
				({ name, mimeType: 'application/octet-stream', buffer: Buffer.from(content) })));
		const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'eddy-page-'));
		this.folders.push(folder);
		for (const [name, content] of list)
			this.put(name, content, folder);
		return picker.setInputFiles(list.map(([name]) => path.join(folder, name)));
	}

	row = name => this.page.locator('tbody tr').filter({ has: this.page.getByRole('link', { name, exact: true }) });
	line = name => this.page.locator('#transfers-list li').filter({ has: this.page.getByText(name, { exact: true }) });

	// Suspends until the line of a transfer has a state.
	state(name, ...states) {
		return this.page.waitForFunction(([name, states]) =>
			[...document.querySelectorAll('#transfers-list li')].some(li =>
				li.querySelector('.name').textContent === name && states.includes(li.dataset.state)), [name, states]);
	}

	listed = () => this.page.locator('tbody bdi').allTextContents();

	async shot(name) {
		if (!process.env.EDDY_SHOTS)
			return;
		fs.mkdirSync(process.env.EDDY_SHOTS, { recursive: true });
		await this.page.screenshot({ path: path.join(process.env.EDDY_SHOTS, `${name}.png`) });
	}

	async #stop({ child, log }) {
		const early = child.exitCode ?? child.signalCode;
		child.kill('SIGTERM');
		const late = setTimeout(() => child.kill('SIGKILL'), 20000);
		const end = await child.ended;
		clearTimeout(late);
		if (early !== null || end !== 0)
			complaints.push([this.name, `the server ended ${early !== null ? 'early ' : ''}with ${end}: ${log().slice(-2000)}`]);
	}

	async close() {
		await this.context?.close();
		this.wire?.close();
		if (this.server)
			await this.#stop(this.server);
		for (const folder of this.folders)
			fs.rmSync(folder, { recursive: true, force: true });
	}
}

export async function until(what, check, ms = 60000) {
	for (const end = Date.now() + ms; Date.now() < end; await new Promise(r => setTimeout(r, 50))) {
		const value = await check();
		if (value)
			return value;
	}
	throw new Error(`waited in vain: ${what}`);
}
