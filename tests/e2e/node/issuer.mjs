// An issuer of others, on loopback, until its standard input ends. Says its URL once it listens.
//
//   issuer.mjs oidc PORT KID ALG…  oidc-provider. It has a key for each algorithm's family, "KID-ALG". Whoever asks for
//                                  the resource URL/ALG is given a token for URL, signed by ALG; else by the first one
//   issuer.mjs login PORT REDIRECT  oidc-provider with its pages for logins, and the client "shop" that is sent back to REDIRECT
//   issuer.mjs mock                oauth2-mock-server, with a kid of its own

import crypto from 'node:crypto';
import http from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(join(process.env.EDDY_NODE_MODULES, 'x'));
const load = name => import(pathToFileURL(require.resolve(name)));

const KINDS = {
	EdDSA: ['ed25519', {}],
	ES256: ['ec', { namedCurve: 'P-256' }],
	ES384: ['ec', { namedCurve: 'P-384' }],
	ES512: ['ec', { namedCurve: 'P-521' }],
	RS256: ['rsa', { modulusLength: 2048 }],
};
const FAMILIES = { RS384: 'RS256', RS512: 'RS256', PS256: 'RS256', PS384: 'RS256', PS512: 'RS256' };

const family = alg => FAMILIES[alg] ?? alg;

function makeKey(alg, kid) {
	const { privateKey } = crypto.generateKeyPairSync(...KINDS[alg]);
	return { ...privateKey.export({ format: 'jwk' }), kid: `${kid}-${alg}`, use: 'sig' };
}

async function oidc(port, kid, ...algs) {
	// It would say that it is not for production.
	console.info = console.warn = () => {};
	const { default: Provider } = await load('oidc-provider');
	const issuer = `http://127.0.0.1:${port}`;
	const provider = new Provider(issuer, {
		jwks: { keys: [...new Set(algs.map(family))].map(alg => makeKey(alg, kid)) },
		scopes: ['read', 'write'],
		clientDefaults: { id_token_signed_response_alg: algs[0] },
		clients: [{
			client_id: 'shop', client_secret: 'secret', grant_types: ['client_credentials'], redirect_uris: [],
			response_types: [],
		}],
		extraTokenClaims: () => ({ roles: ['admin'] }),
		features: {
			clientCredentials: { enabled: true },
			devInteractions: { enabled: false },
			resourceIndicators: {
				enabled: true,
				getResourceServerInfo(ctx, resource) {
					const asked = algs.find(alg => resource.endsWith(`/${alg}`));
					return {
						scope: 'read write',
						audience: asked ? resource.slice(0, -asked.length - 1) : resource,
						accessTokenFormat: 'jwt',
						jwt: { sign: { alg: asked ?? algs[0] } },
					};
				},
			},
		},
	});
	const server = http.createServer(provider.callback());
	await new Promise(done => server.listen({ port, host: '127.0.0.1', reusePort: true }, done));
	return issuer;
}

async function login(port, redirect) {
	console.info = console.warn = () => {};
	const { default: Provider } = await load('oidc-provider');
	const provider = new Provider(`http://127.0.0.1:${port}`, {
		jwks: { keys: [makeKey('RS256', 'login')] },
		clients: [{
			client_id: 'shop', client_secret: 'a secret & more', token_endpoint_auth_method: 'client_secret_post',
			application_type: 'native', redirect_uris: [redirect], response_types: ['code'],
			grant_types: ['authorization_code'],
		}],
	});
	const server = http.createServer(provider.callback());
	await new Promise(done => server.listen({ port, host: '127.0.0.1', reusePort: true }, done));
	return provider.issuer;
}

async function mock() {
	const { OAuth2Server } = await load('oauth2-mock-server');
	const server = new OAuth2Server();
	await server.issuer.keys.generate('ES256');
	await server.start(0, '127.0.0.1');
	// Not every machine knows a localhost, as which it speaks of itself.
	server.issuer.url = `http://127.0.0.1:${server.address().port}`;
	return server.issuer.url;
}

const [kind, ...args] = process.argv.slice(2);
const url = await { oidc, login, mock }[kind](...args);
process.stdin.on('end', () => process.exit()).resume();
console.log(`at ${url}`);
