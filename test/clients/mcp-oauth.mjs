// Checks that the MCP client libraries sign in automatically: a call without a token leads to the authorization server,
// a person approves, and the same call succeeds.
import { Client as Old } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client as New, StreamableHTTPClientTransport as NewTransport } from '@modelcontextprotocol/client';
import { check, decide, equal, need, refused, send, assert } from './lib.mjs';

const resource = `${need('ISSUER')}/mcp`;
const redirect = 'http://127.0.0.1:8421/callback';
const id = { name: 'signalcast-clients', version: '1.0.0' };

// app stores the sign-in state of a client.
function app() {
  const kept = {};
  return {
    kept,
    redirectUrl: redirect,
    clientMetadata: { client_name: 'clients', redirect_uris: [redirect] },
    clientInformation: () => ({ client_id: need('PUBLIC_APP') }),
    tokens: () => kept.tokens,
    saveTokens: (tokens) => { kept.tokens = tokens; },
    redirectToAuthorization: (url) => { kept.asked = url; },
    saveCodeVerifier: (verifier) => { kept.verifier = verifier; },
    codeVerifier: () => kept.verifier,
    saveDiscoveryState: (state) => { kept.discovery = state; },
    discoveryState: () => kept.discovery,
  };
}

const libraries = [
  { name: '1.32.2', open: () => new Old(id), transport: OldTransport, finish: (t, to) => t.finishAuth(to.searchParams.get('code')) },
  { name: '2.4.0', open: () => new New(id), transport: NewTransport, finish: (t, to) => t.finishAuth(to.searchParams) },
  {
    name: '2.4.0 at 2026-07-28', transport: NewTransport, finish: (t, to) => t.finishAuth(to.searchParams),
    open: () => new New(id, { versionNegotiation: { mode: { pin: '2026-07-28' } } }),
  },
];

for (const library of libraries) {
  const authProvider = app();
  const transport = new library.transport(new URL(resource), { authProvider });
  const client = library.open();
  await check(`${library.name} connects to the endpoint of applications and starts the sign-in at the first call`, async () => {
    await client.connect(transport);
    equal((await client.listTools()).tools.length, 10, 'the number of tools');
    await refused(client.callTool({ name: 'my_record', arguments: {} }), () => authProvider.kept.asked);
  });
  await check(`${library.name} requests the scope of the tool for this resource`, () => {
    const asked = authProvider.kept.asked.searchParams;
    equal(asked.get('resource'), resource, 'the resource');
    equal(asked.get('code_challenge_method'), 'S256', 'the challenge');
    assert(asked.get('scope').split(' ').includes('profile:read'), `asked for ${asked.get('scope')}`);
  });
  await check(`${library.name} repeats the call after the approval`, async () => {
    await library.finish(transport, await decide(authProvider.kept.asked));
    const own = await client.callTool({ name: 'my_record', arguments: {} });
    assert(own.structuredContent.handle, JSON.stringify(own));
  });
  await check(`${library.name} receives a token for this resource only`, async () => {
    const bearer = authProvider.kept.tokens.access_token;
    equal((await send('GET', `${need('ISSUER')}/me`, { bearer })).status, 401, 'the status elsewhere');
    const other = await send('POST', `${need('HUB')}/api/mcp`, { bearer, body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } });
    equal(other.status, 401, 'the status at the endpoint of keys');
  });
  await client.close().catch(() => {});
}
