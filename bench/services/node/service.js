// The drop box of ../SPEC.md, with Node 22, fastify and pg.
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream, mkdirSync, readFileSync, readdirSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { METHODS, STATUS_CODES } from 'node:http'
import path from 'node:path'
import { PassThrough } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'

import compress from '@fastify/compress'
import cors from '@fastify/cors'
import helmet from '@fastify/helmet'
import jwt from '@fastify/jwt'
import rateLimit from '@fastify/rate-limit'
import serveStatic from '@fastify/static'
import { Ajv } from 'ajv'
import closeWithGrace from 'close-with-grace'
import { create as contentDisposition } from 'content-disposition'
import Fastify, { LogController } from 'fastify'
import metrics from 'fastify-metrics'
import pg from 'pg'
import { parse as parseToml } from 'smol-toml'

// ---- configuration

const section = (properties, required = []) => ({ type: 'object', properties, required, additionalProperties: false, default: {} })
const integer = (value, minimum = 1) => ({ type: 'integer', minimum, default: value })
const configSchema = section({
  server: section({ bind: { type: 'string', default: 'localhost:7979' }, drain_timeout_ms: integer(10_000) }),
  dropbox: section({
    data_dir: { type: 'string', default: 'data' },
    database: { type: 'string' },
    quota: integer(2 ** 30),
    rate: integer(50),
    burst: integer(100),
    scan_url: { type: 'string' },
  }, ['database']),
  bearer: section({ secret_file: { type: 'string' } }, ['secret_file']),
}, ['dropbox', 'bearer'])

function readConfig (file) {
  const config = parseToml(readFileSync(file, 'utf8'))
  const ajv = new Ajv({ useDefaults: true, strict: false }) // a default of the whole file is ignored
  if (!ajv.validate(configSchema, config)) throw new Error(`${file}: ${ajv.errorsText()} ${JSON.stringify(ajv.errors[0].params)}`)
  const beside = name => path.resolve(path.dirname(file), name)
  config.dropbox.data_dir = beside(config.dropbox.data_dir)
  config.secret = readFileSync(beside(config.bearer.secret_file))
  if (config.secret.length < 32) throw new Error(`${config.bearer.secret_file}: a secret has at least 32 bytes`)
  return config
}

const config = readConfig(process.argv[2])
const { data_dir: dataDir, quota: defaultQuota, rate, burst, scan_url: scanUrl } = config.dropbox
const drainTimeout = config.server.drain_timeout_ms
mkdirSync(dataDir, { recursive: true, mode: 0o700 })

// ---- responses

function problem (statusCode, message) {
  return Object.assign(new Error(message), { statusCode })
}

// The errors of handlers, plugins and fastify, as RFC 9457 has them.
function sendProblem (error, request, reply) {
  const status = error.statusCode ?? 500
  if (status === 500) request.log.error(error)
  if (status === 401) reply.header('www-authenticate', 'Bearer')
  const errors = error.validationContext === 'body'
    ? error.validation?.map(({ instancePath, params, message }) =>
        ({ pointer: `#${instancePath}${params.missingProperty ? '/' + params.missingProperty : ''}`, detail: message }))
    : undefined
  reply.code(status).headers(error.headers ?? {}).type('application/problem+json').send({
    type: 'about:blank',
    title: STATUS_CODES[status],
    status,
    detail: status === 500 ? 'the server failed to handle the request' : error.message,
    errors,
  })
}

const app = Fastify({
  logger: { base: undefined },
  logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }), // see the hook onResponse
  genReqId: () => randomUUID(),
  frameworkErrors: sendProblem,
  routerOptions: { maxParamLength: 8192 },
  connectionTimeout: 30_000, // without a byte in either direction
  keepAliveTimeout: 60_000,
  http: { headersTimeout: 10_000, connectionsCheckingInterval: 2_000 },
})

// ---- the database

pg.types.setTypeParser(pg.types.builtins.INT8, Number) // no sum reaches 2^53

const pool = new pg.Pool({ connectionString: config.dropbox.database, max: 4, connectionTimeoutMillis: 5_000, query_timeout: 5_000 })
pool.on('error', error => app.log.error(error, 'database'))

const tables = [
  'CREATE TABLE IF NOT EXISTS users (name text PRIMARY KEY, email text NOT NULL, quota bigint NOT NULL)',
  `CREATE TABLE IF NOT EXISTS files (id bigserial PRIMARY KEY, owner text REFERENCES users, name text, size bigint,
   stored text, type text, sha256 text, UNIQUE (owner, name))`,
]

// Statements with a name are prepared once for each connection.
const statements = {
  createUser: 'INSERT INTO users VALUES ($1, $2, $3)',
  getUser: `SELECT u.name, u.email, u.quota, coalesce(sum(f.size), 0)::bigint AS used FROM users u
    LEFT JOIN files f ON f.owner = u.name WHERE u.name = $1 GROUP BY 1, 2, 3`,
  room: 'SELECT quota - coalesce((SELECT sum(size) FROM files WHERE owner = $1), 0)::bigint AS room FROM users WHERE name = $1',
  addFile: 'INSERT INTO files (owner, name, size, stored, type) VALUES ($1, $2, $3, $4, $5) RETURNING id',
  getFile: 'SELECT stored, type FROM files WHERE owner = $1 AND name = $2',
  listFiles: 'SELECT id, name, size, type, sha256 FROM files WHERE owner = $1 ORDER BY name LIMIT $2 OFFSET $3',
  setDigest: 'UPDATE files SET sha256 = $2 WHERE id = $1',
}

async function query (name, ...values) {
  try {
    return (await pool.query({ name, text: statements[name], values })).rows
  } catch (error) {
    // Any error that is not about the statement means no connection, or too late.
    if (error instanceof pg.DatabaseError && !/^5[37]/.test(error.code)) throw error
    app.log.error(error, 'database')
    throw problem(503, 'the database is not available; try again later')
  }
}

async function unlessDuplicate (message, rows) {
  try {
    return await rows
  } catch (error) {
    throw error.code === '23505' ? problem(409, message) : error
  }
}

// ---- validation

const ajv = {
  body: new Ajv({ allErrors: true }),
  other: new Ajv({ coerceTypes: true, useDefaults: true }), // texts of the path and the query
}
ajv.body.addKeyword({ keyword: 'maxBytes', type: 'string', validate: (most, text) => Buffer.byteLength(text) <= most })
app.setValidatorCompiler(({ schema, httpPart }) => (httpPart === 'body' ? ajv.body : ajv.other).compile(schema))

const text = { type: 'string', pattern: '^[^\\u0000]*$' }
const named = { type: 'object', properties: { name: text } }
const user = {
  type: 'object',
  required: ['name', 'email'],
  properties: {
    name: { ...text, minLength: 1, maxBytes: 64 },
    email: { ...text, minLength: 3, maxBytes: 200 },
    quota: { type: 'integer', minimum: 1, maximum: 1e12 },
  },
}
const page = {
  type: 'object',
  properties: {
    limit: { type: 'integer', minimum: 1, maximum: 500, default: 100 },
    offset: { type: 'integer', minimum: 0, maximum: 2 ** 32 - 1, default: 0 },
  },
}

// ---- events

const listeners = new Map() // from a user to streams

function publish (owner, event) {
  for (const stream of listeners.get(owner) ?? []) {
    if (!stream.writableNeedDrain) stream.write(`data: ${JSON.stringify(event)}\n\n`)
  }
}

function events (request, reply) {
  const { sub } = request.user
  const stream = new PassThrough({ highWaterMark: 1600 }) // some 16 events
  const ping = setInterval(() => stream.write(': ping\n\n'), 15_000)
  if (!listeners.has(sub)) listeners.set(sub, new Set())
  listeners.get(sub).add(stream)
  stream.on('close', () => {
    clearInterval(ping)
    listeners.get(sub).delete(stream)
    if (listeners.get(sub).size === 0) listeners.delete(sub)
  })
  stream.write(': welcome\n\n')
  return reply.type('text/event-stream').send(stream)
}

// ---- jobs

const jobs = []
let working = null

function addJob (job) {
  if (jobs.length >= 1000) return app.log.warn({ file: job.id }, 'the queue is full, the file has no checksum')
  jobs.push(job)
  working ??= work()
}

async function work () {
  while (jobs.length > 0) {
    const { id, stored, owner } = jobs.shift()
    try {
      const hash = createHash('sha256')
      await pipeline(createReadStream(path.join(dataDir, stored)), hash)
      const sha256 = hash.digest('hex')
      await query('setDigest', id, sha256)
      publish(owner, { id, sha256 })
      if (scanUrl) await scan({ id, sha256 })
    } catch (error) {
      app.log.error(error, `job of file ${id}`)
    }
  }
  working = null
}

async function scan (body) {
  const deadline = AbortSignal.timeout(10_000)
  let pause = 200
  for (let attempt = 1; ; attempt++) {
    try {
      const response = await fetch(scanUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: AbortSignal.any([deadline, AbortSignal.timeout(2_000)]),
      })
      await response.body?.cancel()
      if (response.status < 500) return
      pause = Number(response.headers.get('retry-after')) * 1000 || pause
      throw new Error(`status ${response.status}`)
    } catch (error) {
      app.log.warn({ file: body.id, attempt, error: error.cause?.message ?? error.message }, 'scan')
    }
    if (attempt === 3) return
    await sleep(pause, undefined, { signal: deadline })
    pause *= 2
  }
}

// ---- users

async function createUser (request, reply) {
  const { name, email, quota = defaultQuota } = request.body
  await unlessDuplicate('there is a user of this name', query('createUser', name, email, quota))
  return reply.code(201).header('location', `/users/${encodeURIComponent(name)}`).send({ name, email })
}

async function getUser (request) {
  const [row] = await query('getUser', request.params.name)
  if (!row) throw problem(404, 'no such user')
  return row
}

// ---- files

async function putFile (request, reply) {
  const { name } = request.params
  const owner = request.user.sub
  const [user] = await query('room', owner)
  if (!user) throw problem(403, 'there is no user of this name')
  const over = () => {
    reply.header('connection', 'close') // the rest of the body is not read
    return problem(507, user.room > 0 ? `only ${user.room} bytes of your quota are left` : 'your quota is used up')
  }
  if (user.room <= 0 || Number(request.headers['content-length'] ?? 0) > user.room) throw over()

  const stored = randomBytes(16).toString('hex')
  const hidden = path.join(dataDir, `.upload-${stored}`) // found at the next start if the process is killed
  let size = 0
  async function * counted () {
    // Without destroyOnReturn: an error here would close the connection before its response.
    for await (const chunk of request.raw.iterator({ destroyOnReturn: false })) {
      size += chunk.length
      if (size > user.room) throw over()
      yield chunk
    }
  }
  try {
    await pipeline(counted, createWriteStream(hidden, { flags: 'wx' }))
    await rename(hidden, path.join(dataDir, stored))
  } catch (error) {
    await rm(hidden, { force: true })
    throw error.code === 'ECONNRESET' ? problem(400, 'the body ended early') : error
  }
  let id
  try {
    const type = request.headers['content-type'] ?? 'application/octet-stream'
    const [file] = await unlessDuplicate('you have a file of this name', query('addFile', owner, name, size, stored, type))
    id = file.id
  } catch (error) {
    await rm(path.join(dataDir, stored))
    throw error
  }
  addJob({ id, stored, owner })
  uploads.inc()
  bytes.inc(size)
  publish(owner, { id, state: 'stored' })
  return reply.code(201).send({ id, name, size })
}

async function getFile (request, reply) {
  const { name } = request.params
  const [file] = await query('getFile', request.user.sub, name)
  if (!file) throw problem(404, 'you have no file of this name')
  return reply.type(file.type).header('content-disposition', contentDisposition(name)).sendFile(file.stored)
}

function listFiles (request) {
  return query('listFiles', request.user.sub, request.query.limit, request.query.offset)
}

// ---- the app

app.setErrorHandler(sendProblem)
app.setNotFoundHandler((request, reply) => sendProblem(problem(404, 'no resource exists at this path'), request, reply))
app.removeContentTypeParser('text/plain')
app.addHook('onRequest', async (request, reply) => { reply.header('request-id', request.id) })
app.addHook('onResponse', async (request, reply) => {
  request.log.info({
    method: request.method,
    path: request.url.split('?', 1)[0],
    status: reply.statusCode,
    bytes: Number(reply.getHeader('content-length') ?? 0),
    ms: reply.elapsedTime,
    client: request.ip,
  }, 'access')
})
await app.register(metrics, { routeMetrics: { enabled: { histogram: true, summary: false }, methodBlacklist: [] } })
await app.register(helmet)
await app.register(cors, { origin: ['https://app.example'], methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] })
await app.register(compress, { threshold: 2048 })
await app.register(serveStatic, { root: dataDir, serve: false, contentType: false, cacheControl: false, highWaterMark: 256 * 1024 })
await app.register(jwt, {
  secret: config.secret,
  verify: { algorithms: ['HS256'], requiredClaims: ['exp'], clockTolerance: 60_000, cache: true },
})

const { Counter } = app.metrics.client
const uploads = new Counter({ name: 'dropbox_uploads_total', help: 'Files stored.' })
const bytes = new Counter({ name: 'dropbox_bytes_total', help: 'Bytes stored.' })

async function admin (request) {
  const { role, roles = [] } = request.user
  if (role !== 'admin' && !roles.includes('admin')) throw problem(403, 'the token does not allow this request')
}

app.get('/healthz', async () => 'ok\n')
app.register(async api => {
  api.addHook('onRequest', async (request, reply) => {
    try {
      await request.jwtVerify()
    } catch (error) {
      throw problem(401, error.message) // the plugin has no status for some
    }
    if (request.user.aud) throw problem(401, 'audience not accepted')
    reply.header('cache-control', 'no-store')
  })
  await api.register(rateLimit, { max: burst, timeWindow: 1000 * burst / rate, hook: 'preParsing' })
  api.post('/users', { onRequest: admin, schema: { body: user } }, createUser)
  api.get('/users/:name', { schema: { params: named } }, getUser)
  api.get('/files', { schema: { querystring: page } }, listFiles)
  api.get('/files/:name', { schema: { params: named }, compress: false }, getFile)
  api.get('/events', { exposeHeadRoute: false }, events)
  api.register(async upload => {
    upload.removeAllContentTypeParsers()
    upload.addContentTypeParser('*', (request, payload, done) => done(null)) // putFile reads it
    upload.put('/files/:name', { schema: { params: named } }, putFile)
  })
})
// fastify answers 404 for other methods of a path.
for (const [url, ...allow] of [['/users', 'POST'], ['/users/:name', 'GET', 'HEAD'], ['/files', 'GET', 'HEAD'],
  ['/files/:name', 'GET', 'HEAD', 'PUT'], ['/events', 'GET']]) {
  app.route({
    url,
    method: METHODS.filter(method => app.supportedMethods.includes(method) && ![...allow, 'OPTIONS'].includes(method)),
    handler: async (request, reply) => {
      reply.header('allow', [...allow, 'OPTIONS'].join(', '))
      throw problem(405, 'the method is not supported at this path')
    },
  })
}

// ---- start and end

app.addHook('preClose', async () => {
  for (const streams of listeners.values()) for (const stream of streams) stream.end()
  setTimeout(() => app.server.closeAllConnections(), drainTimeout).unref()
})
app.addHook('onClose', async () => {
  await Promise.race([working, sleep(20_000, undefined, { ref: false })])
  await pool.end()
})
closeWithGrace({ delay: drainTimeout + 21_000 }, async ({ err }) => {
  if (err) app.log.fatal(err)
  await app.close()
})

for (const name of readdirSync(dataDir)) if (name.startsWith('.upload-')) await rm(path.join(dataDir, name))
for (const table of tables) await pool.query(table)
const [, host, port] = /^(.*):(\d+)$/.exec(config.server.bind)
await app.listen({ host, port: Number(port) })
