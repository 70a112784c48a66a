// A folder for uploads by tus, with the reference server of node.
//
//     node tus.mjs PORT FOLDER MODULES     MODULES: a folder with node_modules
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'

const [port, directory, modules] = process.argv.slice(2)
const require = createRequire(join(resolve(modules), 'x.js'))
const { Server } = require('@tus/server')
const { FileStore } = require('@tus/file-store')

new Server({ path: '/tus', datastore: new FileStore({ directory }) }).listen({ host: '127.0.0.1', port: Number(port) })
