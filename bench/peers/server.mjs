// What one writes with node's own modules: a folder for download and upload, and /hello.
//
//     node server.mjs PORT FILES UPLOADS
import { createReadStream, createWriteStream } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'

const [port, files, uploads] = process.argv.slice(2)
let count = 0

async function download(name, response) {
  const path = join(files, name)
  const { size } = await stat(path)

  response.writeHead(200, { 'Content-Type': 'application/octet-stream', 'Content-Length': size })
  await pipeline(createReadStream(path, { highWaterMark: 256 * 1024 }), response)
}

// Into a hidden file, which gets its name when it is whole.
async function upload(name, request, response) {
  const hidden = join(uploads, `.upload-${count++}`)

  try {
    await pipeline(request, createWriteStream(hidden, { highWaterMark: 256 * 1024 }))
    await rename(hidden, join(uploads, name))
  } catch (error) {
    await rm(hidden, { force: true })
    throw error
  }
  response.writeHead(201, { 'Content-Length': 0 }).end()
}

async function answer(request, response) {
  const name = basename(request.url)

  if (request.url === '/hello')
    response.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Length': 13 }).end('Hello, World!')
  else if (request.method === 'GET' && request.url.startsWith('/files/'))
    await download(name, response)
  else if (request.method === 'PUT' && request.url.startsWith('/up/'))
    await upload(name, request, response)
  else
    response.writeHead(404, { 'Content-Length': 0 }).end()
}

function failed(response, error) {
  if (response.headersSent)
    response.destroy()
  else
    response.writeHead(error.code === 'ENOENT' ? 404 : 500, { 'Content-Length': 0 }).end()
}

const server = createServer((request, response) => {
  answer(request, response).catch((error) => failed(response, error))
})
server.keepAliveTimeout = 3600 * 1000
server.requestTimeout = 0
server.listen(Number(port), '127.0.0.1', 4096)
