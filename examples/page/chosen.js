// Files and folders that the user has chosen or dropped.
//
// Found are {folders, files, hidden}: paths of folders, parents first; files as {file, folder, handle}; and
// how many names within folders begin with a dot, which the server does not take.

import { folderOf, joined } from './text.js';

const isHidden = name => name.startsWith('.');

export function fromPicker(list) {
	const found = { folders: [], files: [], hidden: 0 };
	const folders = new Set();
	for (const file of list) {
		const folder = folderOf(file.webkitRelativePath);
		if (folder && `${folder}/${file.name}`.split('/').some(isHidden)) {
			found.hidden++;
			continue;
		}
		for (let path = folder; path; path = folderOf(path))
			folders.add(path);
		found.files.push({ file, folder });
	}
	found.folders = [...folders].sort();
	return found;
}

async function entriesOf(folder) {
	const reader = folder.createReader();
	const all = [];
	for (let some; (some = await new Promise((done, fail) => reader.readEntries(done, fail))).length;)
		all.push(...some); // it gives a hundred at a time
	return all;
}

async function walk(entry, folder, handle, found) {
	if (entry.isFile)
		return void found.files.push({ file: await new Promise((done, fail) => entry.file(done, fail)), folder, handle });
	const path = joined(folder, entry.name);
	found.folders.push(path);
	for (const inner of await entriesOf(entry)) {
		if (isHidden(inner.name))
			found.hidden++;
		else
			await walk(inner, path, null, found);
	}
}

// The items of a drop, which last only until the event is over. With a handle the browser need not copy a
// file to keep it.
export async function fromDrop(items) {
	const found = { folders: [], files: [], hidden: 0 };
	const all = [...items].filter(item => item.kind === 'file').map(item => ({
		file: item.getAsFile(),
		entry: item.webkitGetAsEntry?.(),
		handle: item.getAsFileSystemHandle?.().catch(() => null),
	}));
	for (const { file, entry, handle } of all) {
		const own = await handle;
		if (entry?.isDirectory)
			await walk(entry, '', null, found);
		else if (file)
			found.files.push({ file, folder: '', handle: own?.kind === 'file' ? own : null });
	}
	return found;
}
