// What another reader makes of our metadata documents, found from nothing but an identifier.
//
//   metadata.mjs BASE KIND IDENTIFIER   KIND is resource, oauth2 or oidc; whatever host the identifier names is asked
//                                       at BASE; prints the document as JSON, or fails with what is wrong with it

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(join(process.env.EDDY_NODE_MODULES, 'x'));
const oauth = await import(pathToFileURL(require.resolve('oauth4webapi')));

const [base, kind, text] = process.argv.slice(2);
const identifier = new URL(text);
const options = {
	[oauth.customFetch]: (url, init) => fetch(url.replace(identifier.origin, base), init),
};

async function read() {
	if (kind === 'resource')
		return oauth.processResourceDiscoveryResponse(identifier, await oauth.resourceDiscoveryRequest(identifier, options));
	return oauth.processDiscoveryResponse(identifier, await oauth.discoveryRequest(identifier, { algorithm: kind, ...options }));
}

console.log(JSON.stringify(await read()));
