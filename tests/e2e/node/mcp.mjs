// A client of the Model Context Protocol that knows a resource and its own name, and nothing else: it reads the challenge,
// finds the resource's and the issuer's metadata, asks for a token and comes again.
//
//   mcp.mjs BASE RESOURCE ISSUER PATH   the resource's URL stands for BASE; prints what it saw as JSON

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(join(process.env.EDDY_NODE_MODULES, 'x'));
const load = name => import(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/${name}`).replace('/cjs/', '/esm/')));
const { auth, discoverOAuthServerInfo, extractWWWAuthenticateParams } = await load('client/auth.js');
const { ClientCredentialsProvider } = await load('client/auth-extensions.js');

const [base, resource, issuer, path] = process.argv.slice(2);
const fetchFn = (url, init) => fetch(String(url).replace(new URL(resource).origin, base), init);

const challenge = extractWWWAuthenticateParams(await fetch(base + path));
const { resourceMetadataUrl, scope } = challenge;
const found = await discoverOAuthServerInfo(resource, { resourceMetadataUrl, fetchFn });
const provider = new ClientCredentialsProvider({ clientId: 'shop', clientSecret: 'secret', scope, expectedIssuer: issuer });
const result = await auth(provider, { serverUrl: resource, resourceMetadataUrl, scope, fetchFn });
const token = provider.tokens().access_token;
const [answer, refusal] = await Promise.all([token, `${token.slice(0, -4)}AAAA`].map(
	each => fetch(base + path, { headers: { authorization: `Bearer ${each}` } })));
console.log(JSON.stringify({
	challenge, found, result, status: answer.status, body: await answer.text(), refusal: extractWWWAuthenticateParams(refusal),
}));
