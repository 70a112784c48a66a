// The kinds of files that a browser can show, by the ending of the name.

const ENDINGS = {
	picture: 'apng avif bmp gif ico jpeg jpg png svg webp',
	video: 'm4v mkv mov mp4 ogv webm',
	audio: 'aac flac m4a mp3 oga ogg opus wav',
	pdf: 'pdf',
	text: 'bat c cc cfg conf cpp cs css csv diff go h hpp htm html ics ini java js json kt log lua m3u markdown md mjs patch '
		+ 'php pl properties py rb rs rst sh sql srt svelte tex text toml tsv tsx txt vtt vue xhtml xml yaml yml',
};

const media = new Map(Object.entries(ENDINGS).flatMap(([name, endings]) => endings.split(' ').map(e => [e, name])));

// Return: a key of ENDINGS; undefined if a browser shows no such file.
export const mediaOf = name => media.get(/\.([^.]+)$/.exec(name)?.[1].toLowerCase());
