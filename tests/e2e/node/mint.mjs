// Tokens that jose signs, as odd as they are asked for. Answers each line of JSON with one:
//
//   {"make": NAME, "type": TYPE, …}        make a key pair, as node:crypto does: its public key as a JWK
//   {"pem": NAME}                          that public key in PEM
//   {"sign": NAME, "header": …, "claims": …} a token

import crypto from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const require = createRequire(join(process.env.EDDY_NODE_MODULES, 'x'));
const jose = await import(pathToFileURL(require.resolve('jose')));
const keys = new Map();

function make({ make: name, type, ...options }) {
	const pair = crypto.generateKeyPairSync(type, options);
	keys.set(name, pair);
	return pair.publicKey.export({ format: 'jwk' });
}

// What jose does not make: signatures of Ed448, those of weak keys, and headers with `b64`.
function signByHand(header, claims, key) {
	const text = [header, claims].map(json => Buffer.from(JSON.stringify(json)).toString('base64url')).join('.');
	const hash = key.asymmetricKeyType.startsWith('ed') ? null : 'sha256';
	const signature = crypto.sign(hash, Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' });
	return `${text}.${signature.toString('base64url')}`;
}

function sign({ sign: name, header, claims }) {
	const key = keys.get(name).privateKey;
	const { asymmetricKeyType: type, asymmetricKeyDetails: { modulusLength } } = key;
	if (type === 'ed448' || modulusLength < 2048 || 'b64' in header)
		return signByHand(header, claims, key);
	const crit = Object.fromEntries((header.crit ?? []).map(each => [each, true]));
	return new jose.CompactSign(Buffer.from(JSON.stringify(claims))).setProtectedHeader(header).sign(key, { crit });
}

for await (const line of createInterface(process.stdin)) {
	const asked = JSON.parse(line);
	const pem = () => keys.get(asked.pem).publicKey.export({ format: 'pem', type: 'spki' });
	console.log(JSON.stringify(asked.make ? make(asked) : asked.pem ? pem() : await sign(asked)));
}
