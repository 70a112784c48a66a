// The page of eddy-bench in Chromium: what axe finds, wide and narrow, light and dark; a line each, none is good.
//
//   report.mjs FILE…
//
// EDDY_SHOTS, a folder, gets a screenshot of each: wide, narrow, dark and printed.

import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { barriers, launch } from './scene.mjs';

const SIZES = { wide: { width: 1280, height: 900 }, narrow: { width: 360, height: 740 } };

async function shoot(page, name) {
	const folder = process.env.EDDY_SHOTS;
	if (!folder)
		return;
	fs.mkdirSync(folder, { recursive: true });
	await page.screenshot({ path: path.join(folder, `${name}.png`), fullPage: true });
	await page.emulateMedia({ colorScheme: 'dark' });
	await page.screenshot({ path: path.join(folder, `${name}-dark.png`) });
	await page.emulateMedia({ colorScheme: 'light' });
	await page.pdf({ path: path.join(folder, `${name}.pdf`), preferCSSPageSize: true });
}

const browser = await launch();
try {
	for (const file of process.argv.slice(2)) {
		for (const [size, viewport] of Object.entries(SIZES)) {
			const page = await browser.newPage({ viewport, bypassCSP: true });
			await page.goto(pathToFileURL(file).href);
			await shoot(page, `${path.basename(file, '.html')}-${size}`);
			for (const barrier of await barriers(page))
				console.log(`${file} ${size}: ${barrier}`);
			if (await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth))
				console.log(`${file} ${size}: the page scrolls sideways`);
			await page.close();
		}
	}
} finally {
	await browser.close();
}
