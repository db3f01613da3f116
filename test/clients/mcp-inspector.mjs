// Runs the command line of the MCP Inspector against the endpoint for agents.
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { check, equal, need, assert } from './lib.mjs';

const cli = new URL('node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js', import.meta.url).pathname;
const home = await mkdtemp(join(tmpdir(), 'signalcast-inspector-'));

// Exit codes of the inspector.
const [ok, other, mustSignIn, toolFailed] = [0, 1, 3, 5];

async function inspect(key, ...more) {
  const child = spawn(process.execPath, [
    cli, '--cli', `${need('HUB')}/api/mcp`, '--transport', 'http', ...(key ? ['--header', `Authorization: Bearer ${key}`] : []), ...more,
  ], { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, HOME: home } });
  setTimeout(() => child.kill(), 20_000).unref();
  let said = '';
  let wrong = '';
  child.stdout.setEncoding('utf8').on('data', (text) => { said += text; });
  child.stderr.setEncoding('utf8').on('data', (text) => { wrong += text; });
  const code = await new Promise((resolve) => child.on('close', resolve));
  return { code, said, wrong };
}

const tool = (name, ...args) => ['--method', 'tools/call', '--tool-name', name, ...args.flatMap((a) => ['--tool-arg', a])];
const market = need('MARKETS').split(',')[0];
const call = tool('submit_signal', `marketId=${market}`, 'direction=YES', 'priceAtPrediction=5000', 'dryRun=true');

await check('the tools are listed in strict mode', async () => {
  const { code, said, wrong } = await inspect('', '--method', 'tools/list', '--strict');
  equal(code, ok, `${wrong}\nthe exit code`);
  equal(JSON.parse(said).tools.length, 10, 'the number of tools');
});
await check('a public tool is called without a key', async () => {
  const { code, said, wrong } = await inspect('', ...tool('get_market', `marketId=${market}`));
  equal(code, ok, `${wrong}\nthe exit code`);
  assert(said.includes(market), said);
});
await check('a call without a key requires a sign-in', async () => equal((await inspect('', ...call)).code, mustSignIn, 'the exit code'));
await check('a key without the permission is refused', async () => {
  const { code, said, wrong } = await inspect(need('READ_KEY'), ...call);
  equal(code, other, 'the exit code');
  assert(/insufficient/i.test(said + wrong), said + wrong);
});
await check('a call is tried with a key (dryRun)', async () => {
  const { code, said, wrong } = await inspect(need('OPERATOR_KEY'), ...call);
  equal(code, ok, `${wrong}\nthe exit code`);
  assert(said.includes('dryRun'), said);
});
await check('a failed tool is reported', async () => equal((await inspect('', ...tool('get_market', 'marketId=1'))).code, toolFailed, 'the exit code'));
await rm(home, { recursive: true });
