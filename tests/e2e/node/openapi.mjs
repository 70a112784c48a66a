// An OpenAPI document of a service: validates it, makes a client of it, and calls the service with that.
//
//   openapi.mjs URL FOLDER         FOLDER gets the document and the client; prints the results of calls as JSON
//   openapi.mjs URL FOLDER valid   only validates; prints the version as JSON

import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(join(process.env.EDDY_NODE_MODULES, 'x'));
const { Validator } = await import(pathToFileURL(require.resolve('@seriousme/openapi-schema-validator')));
const { createClient } = await import(pathToFileURL(join(process.env.EDDY_NODE_MODULES, '@hey-api/openapi-ts/dist/index.mjs')));

const [url, folder, valid] = process.argv.slice(2);
const document = join(folder, 'openapi.json');
const text = await (await fetch(`${url}/openapi.json`)).text();
writeFileSync(document, text);

const validator = new Validator();
const verdict = await validator.validate(JSON.parse(text));
if (!verdict.valid)
	throw new Error(JSON.stringify(verdict.errors));
if (valid) {
	console.log(JSON.stringify({ version: validator.version }));
	process.exit();
}

await createClient({
	input: document,
	output: { path: join(folder, 'client'), module: { extension: '.ts' } },
	logs: { level: 'silent' },
	plugins: ['@hey-api/typescript', '@hey-api/sdk', '@hey-api/client-fetch'],
});
const service = await import(pathToFileURL(join(folder, 'client', 'sdk.gen.ts')));
const { client } = await import(pathToFileURL(join(folder, 'client', 'client.gen.ts')));
client.setConfig({ baseUrl: url, auth: process.env.EDDY_TOKEN });

async function call(name, options) {
	const { data, error, response } = await service[name](options);
	return { status: response.status, data, error };
}

const person = { name: 'Ada', age: 36, address: { street: 'Lane 1', zip: '10115' }, tags: ['é', ''] };
console.log(JSON.stringify({
	version: validator.version,
	person: await call('postPeople', { body: person }),
	refused: await call('postPeople', { body: { ...person, age: -1, tags: [3] } }),
	post: await call('getUsersIdPostsSlug', { path: { id: 42, slug: 'a b/c' } }),
	admin: await call('getAdmin'),
	read: await call('getRead'),
}));
