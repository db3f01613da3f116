// Runs the conformance suite for authorization servers. The suite prints a URL, and the script acts as the person who
// opens it and approves.
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { check, decide, equal, need, assert } from './lib.mjs';

// The server does not offer client ids that are URLs of client metadata, which is an optional extension, and its
// metadata says so.
const warned = ['authorization-server-metadata-cimd'];
const scenarios = ['authorization-server-metadata-endpoint', 'authorization-code-grant'];

const port = await new Promise((resolve, reject) => {
  const server = createServer().once('error', reject).listen(0, '127.0.0.1', () => {
    const { port } = server.address();
    server.close(() => resolve(port));
  });
});
const out = await mkdtemp(join(tmpdir(), 'signalcast-conformance-'));
const suite = new URL('node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url).pathname;
const child = spawn(process.execPath, [
  suite, 'authorization', '--url', need('ISSUER'), '--client-id', need('PUBLIC_APP'), '-p', String(port), '-o', out,
], { stdio: ['ignore', 'pipe', 'pipe'] });
setTimeout(() => child.kill(), 30_000).unref();

let said = '';
let led;
for (const stream of [child.stdout, child.stderr]) {
  stream.setEncoding('utf8').on('data', (text) => {
    said += text;
    const asked = new RegExp(`${need('HUB')}/protocol/authorize\\?\\S+(?=\\s)`).exec(said);
    if (asked && !led) led = decide(asked[0]).then((to) => fetch(to));
  });
}
const code = await new Promise((resolve) => child.on('close', resolve));

await check('the suite prints a URL for a person', async () => {
  assert(led, 'it printed no address');
  assert((await led).ok, 'its callback did not answer 200');
});
for (const name of scenarios) {
  await check(`scenario ${name}`, async () => {
    const dir = (await readdir(out)).find((d) => d.includes(name));
    assert(dir, 'it did not run');
    const results = JSON.parse(await readFile(join(out, dir, 'checks.json'), 'utf8'));
    const failed = results.filter((r) => !['SUCCESS', 'INFO'].includes(r.status) && !(r.status === 'WARNING' && warned.includes(r.id)));
    equal(failed.map((r) => `${r.id}: ${r.status} ${r.errorMessage ?? ''}`), [], 'what failed');
    assert(results.some((r) => r.status === 'SUCCESS'), 'nothing passed');
  });
}
await check('the suite passes', () => equal(code, 0, `${said}\nthe exit code`));
await rm(out, { recursive: true });
