// Checks the old MCP client library, and the new one at both protocol revisions: calls without a key, with a key, and
// the errors for a missing or insufficient key.
import { Client as Old } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client as New, StreamableHTTPClientTransport as NewTransport } from '@modelcontextprotocol/client';
import { check, equal, need, refused, assert } from './lib.mjs';

const url = new URL(`${need('HUB')}/api/mcp`);
const markets = need('MARKETS').split(',');
const id = { name: 'signalcast-clients', version: '1.0.0' };

const libraries = [
  { name: '1.32.2', open: () => new Old(id), transport: OldTransport },
  { name: '2.4.0', open: () => new New(id), transport: NewTransport },
  { name: '2.4.0 that asks first', open: () => new New(id, { versionNegotiation: { mode: 'auto' } }), transport: NewTransport },
  { name: '2.4.0 at 2026-07-28', open: () => new New(id, { versionNegotiation: { mode: { pin: '2026-07-28' } } }), transport: NewTransport },
];

async function connect(library, key) {
  const client = library.open();
  const headers = key ? { authorization: `Bearer ${key}` } : {};
  await client.connect(new library.transport(url, { requestInit: { headers } }));
  return client;
}

// hasStatus reports whether the error of a failed call states this HTTP status.
const hasStatus = (err, number) => [err.code, err.status].includes(number) ||
  number === 403 && /insufficient_scope|Insufficient scope/.test(err.message);

for (const [n, library] of libraries.entries()) {
  const call = { name: 'submit_signal', arguments: { marketId: markets[0], direction: 'YES', priceAtPrediction: 5000, dryRun: true } };
  await check(`${library.name} lists the tools and parses their schemas`, async () => {
    const client = await connect(library);
    const { tools } = await client.listTools();
    equal(tools.length, 10, 'the number of tools');
    assert(tools.every((t) => t.inputSchema.additionalProperties === false && t.outputSchema && t.description), 'a tool lacks a strict input schema, an output schema or a description');
    await client.close();
  });
  await check(`${library.name} calls a public tool without a key`, async () => {
    const client = await connect(library);
    const found = await client.callTool({ name: 'get_market', arguments: { marketId: markets[0] } });
    equal(found.structuredContent.market.id, markets[0]);
    equal(JSON.parse(found.content[0].text), found.structuredContent);
    const missing = await client.callTool({ name: 'get_market', arguments: { marketId: '1' } });
    assert(missing.isError, 'an unknown market was found');
    await client.close();
  });
  await check(`${library.name} receives 401 without a key`, async () => {
    const client = await connect(library);
    await refused(client.callTool(call), (err) => hasStatus(err, 401));
    await client.close().catch(() => {});
  });
  await check(`${library.name} receives 403 with a read-only key`, async () => {
    const client = await connect(library, need('READ_KEY'));
    const own = await client.callTool({ name: 'my_record', arguments: {} });
    assert(own.structuredContent.handle, 'its own record has no handle');
    await refused(client.callTool(call), (err) => hasStatus(err, 403));
    await client.close().catch(() => {});
  });
  await check(`${library.name} tries a call (dryRun) and files it with a key`, async () => {
    const client = await connect(library, need('OPERATOR_KEY'));
    const tried = await client.callTool(call);
    if (n === 0) assert(tried.structuredContent.dryRun === true && tried.structuredContent.id === null, JSON.stringify(tried));
    const filed = await client.callTool({ name: call.name, arguments: { ...call.arguments, dryRun: false } });
    if (n === 0) {
      const read = await client.callTool({ name: 'get_signal', arguments: { id: filed.structuredContent.id } });
      equal(read.structuredContent.marketId, markets[0]);
    } else { // the first library has already filed the call
      equal([tried.isError, filed.isError, JSON.parse(filed.content[0].text).error], [true, true, 'already_predicted']);
    }
    await client.close();
  });
}
