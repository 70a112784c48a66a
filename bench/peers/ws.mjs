// WebSockets that are echoed, and a room, by npm's ws; streams of events by Node's http.
//
//     node ws.mjs PORT MODULES     MODULES: a folder with node_modules
import { createRequire } from 'node:module'
import { createServer } from 'node:http'
import { join, resolve } from 'node:path'

const [port, modules] = process.argv.slice(2)
const require = createRequire(join(resolve(modules), 'x.js'))
const { WebSocketServer } = require('ws')

const streams = new Set()
let number = 0

function publish(request, response) {
  let body = ''
  request.setEncoding('utf8').on('data', text => { body += text }).on('end', () => {
    const event = `id: ${++number}\ndata: ${body}\n\n`
    for (const stream of streams)
      stream.write(event)
    response.writeHead(204).end()
  })
}

function subscribe(response) {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' }).flushHeaders()
  streams.add(response)
  response.on('close', () => streams.delete(response))
}

const server = createServer((request, response) => {
  if (request.url !== '/events')
    response.end('Hello, World!')
  else if (request.method === 'POST')
    publish(request, response)
  else
    subscribe(response)
})
const echo = new WebSocketServer({ noServer: true })
const room = new WebSocketServer({ noServer: true })

echo.on('connection', socket => socket.on('message', (bytes, binary) => socket.send(bytes, { binary })))
room.on('connection', socket => socket.on('message', (bytes, binary) => {
  for (const member of room.clients)
    member.send(bytes, { binary })
}))
server.on('upgrade', (request, socket, head) => {
  const kind = request.url === '/room' ? room : echo
  kind.handleUpgrade(request, socket, head, accepted => kind.emit('connection', accepted))
})
server.listen({ host: '127.0.0.1', port: Number(port), backlog: 4096 })
