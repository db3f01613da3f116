// Runs the public conformance suite of the Model Context Protocol against the endpoint for agents, at both revisions.
// The files mcp-base-*.yml list the scenarios that may fail.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { check, equal, need, assert } from './lib.mjs';

const suite = new URL('node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url).pathname;
const out = await mkdtemp(join(tmpdir(), 'signalcast-mcp-'));

// run returns the exit code and the output of the suite.
async function run(revision, list) {
  const child = spawn(process.execPath, [
    suite, 'server', '--url', `${need('HUB')}/api/mcp`, '--requirements', revision, '--expected-failures', list, '-o', join(out, revision),
  ], { stdio: ['ignore', 'pipe', 'pipe'] });
  setTimeout(() => child.kill(), 40_000).unref();
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => { said += text; });
  return { code: await new Promise((resolve) => child.on('close', resolve)), said };
}

for (const [revision, passing] of [['2026-07-28', 'tools-list'], ['2025-11-25', 'ping']]) {
  const list = new URL(`mcp-base-${revision}.yml`, import.meta.url).pathname;
  await check(`the suite passes at revision ${revision}`, async () => {
    const { code, said } = await run(revision, list);
    equal(code, 0, `${said.slice(-4000)}\nthe exit code`);
    assert(said.includes('tools-list'), 'it listed no tools');
  });
  await check(`the suite fails at revision ${revision} if the list contains a scenario that passes`, async () => {
    const wrong = join(out, `${revision}.yml`);
    await writeFile(wrong, (await readFile(list, 'utf8')).replace('server: [', `server: [ ${passing},`));
    assert((await run(revision, wrong)).code !== 0, 'the suite passed with a list that contains a passing scenario; want a failure');
  });
}
await rm(out, { recursive: true });
