// A client of PostgreSQL by npm's pg, beside ../pg_eddy.c: ./dev bench pg.
//
//     node pg.mjs HOST PORT row|pipeline|update TASKS CONNECTIONS SECONDS MODULES     MODULES: a folder with node_modules
//
// The module is installed with `npm install --prefix MODULES --ignore-scripts pg@8.23.1`.
import { createRequire } from 'node:module';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

const [host, port, work, tasks, connections, seconds, modules] = process.argv.slice(2);
const pg = createRequire(path.join(path.resolve(modules), 'x.js'))('pg');

const ROW = 'select id, name, price, stock from items where id = $1';
const UPDATE = 'update items set stock = stock + 1 where id = $1';
const ITEMS = 10000;
const PIPELINE = 20;
// Fewer leave V8's optimizing compiler still at work.
const WARM_UP_STATEMENTS = 10000;

const pool = new pg.Pool({
  host, port: Number(port), user: 'test', database: 'postgres', max: Number(connections), pipeline: work === 'pipeline', idleTimeoutMillis: 0,
});
let number = 0;
const nextKey = () => 1 + number++ * 7919 % ITEMS;

async function askOne() {
  const key = nextKey();
  const { rows: [item] } = await pool.query({ name: 'row', text: ROW, values: [key] });
  if (Number(item.id) !== key) throw new Error('another row');
}

async function askMany() {
  const client = await pool.connect();
  const queries = Array.from({ length: PIPELINE }, () => client.query({ name: 'row', text: ROW, values: [nextKey()] }));
  for (const { rows } of await Promise.all(queries)) if (rows.length !== 1) throw new Error('no row');
  client.release();
}

async function update() {
  await pool.query({ name: 'update', text: UPDATE, values: [nextKey()] });
}

const call = { row: askOne, pipeline: askMany, update }[work];
let calls = 0;
let ended = false;
async function ask() {
  while (!ended) {
    await call();
    calls++;
  }
}

const cpu = () => { const { user, system } = process.cpuUsage(); return user + system; };
const asking = Array.from({ length: Number(tasks) }, ask);
while (number < WARM_UP_STATEMENTS) await setTimeout(10);
const before = { cpu: cpu(), wall: performance.now(), calls };
await setTimeout(Number(seconds) * 1000);
const count = calls - before.calls;
const taken = { cpu_ns: (cpu() - before.cpu) * 1e3 / count, wall_ns: (performance.now() - before.wall) * 1e6 / count, count };
ended = true;
await Promise.all(asking);
await pool.end();
console.log(JSON.stringify(taken));
