// Tests of the client against a local HTTP server with scripted answers.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import {
  AlreadyPredictedError, ApiError, CursorError, DegradedError, RateLimitedError, Refreshing, Signalcast, SignalcastError, Signer,
  PriceMovedError, UnansweredError,
} from '../dist/index.js';

const id = '0199f0a4-2222-7000-8000-000000000002';
const draft = { marketId: '7', direction: 'NO', priceAtPrediction: 6850 };

/** startServer returns a client of a new server, and the list of received requests. */
async function startServer(t, handle, options = {}) {
  const asked = [];
  const server = createServer(async (req, res) => {
    let body = '';
    for await (const part of req) body += part;
    asked.push({ method: req.method, url: req.url, headers: req.headers, body });
    const answer = handle(asked.length, asked.at(-1));
    if (!answer) return req.socket.destroy();
    res.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers });
    if (answer.cut) return res.write(answer.cut, () => req.socket.destroy());
    res.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body ?? {}));
  });
  await new Promise((up) => server.listen(0, '127.0.0.1', up));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const at = `http://127.0.0.1:${server.address().port}`;
  return [new Signalcast({ hub: at, api: at, clock: at, retry: { tries: 3, first: 1, longest: 20 }, ...options }), asked];
}

/** assertMembers checks that `all` has the members of `some`. */
const assertMembers = (all, some) => assert.deepEqual({ ...all, ...some }, all);

const writes = {
  'a read': [(c) => c.signals.get(id), true],
  'a call with an idempotency key': [(c) => c.signals.file(draft), true],
  'a call without an idempotency key': [(c) => c.request('POST', '/api/predictions', { body: draft }), false],
  'an idempotency key on a route without support for it': [(c) => c.request('POST', '/api/dev/keys', { body: { label: 'x' }, idempotencyKey: 'mine' }), false],
  'a new key': [(c) => c.keys.mint({ label: 'x' }), false],
  'a follow': [(c) => c.people.follow('mara_k'), true],
  'an unbind': [(c) => c.live.unbind('7'), false],
};
for (const [name, [ask, safe]] of Object.entries(writes)) {
  test(`retries of ${name}`, async (t) => {
    for (const [status, transient] of [[0, true], [429, true], [502, true], [503, true], [504, true], [400, false], [401, false], [404, false], [409, false], [500, false]]) {
      const [c, asked] = await startServer(t, () => status && { status, body: { error: 'some_code' } }, { token: 'dk_x' });
      await assert.rejects(ask(c), (e) => (status ? e instanceof ApiError && e.status === status : e instanceof UnansweredError));
      assert.equal(asked.length, safe && transient ? 3 : 1, `${status}`);
    }
  });
}

test('a credential with invalid header characters is rejected without a request and not shown in the error', async (t) => {
  for (const token of ['bad\nkey', 'bad key', 'schlüssel']) {
    const [c, asked] = await startServer(t, () => ({}), { token });
    await assert.rejects(c.signals.file(draft), (e) => e instanceof SignalcastError && !(e instanceof UnansweredError) && !`${e.stack} ${e.cause}`.includes(token));
    assert.equal(asked.length, 0);
  }
});

test('each attempt has the same body, idempotency key and credential', async (t) => {
  const [c, asked] = await startServer(t, (n) => (n < 3 ? { cut: '{"ok":', headers: { 'content-length': '90' } } : { body: { ok: true, id } }), { token: 'dk_x' });
  assert.deepEqual(await c.signals.file(draft, { idempotencyKey: 'mine' }), { id, found: false });
  const sent = asked.map((a) => [a.headers.authorization, a.headers['idempotency-key'], a.body]);
  assert.deepEqual(sent, Array(3).fill(['Bearer dk_x', 'mine', JSON.stringify({ ...draft, maxSlippageBps: 200 })]));
});

test('a stored call is a success only after a lost answer and with the same side and price', async (t) => {
  for (const [lost, stands, found] of [
    [true, {}, true], [true, { direction: 'YES' }, false], [true, { priceAtPrediction: 1 }, false], [true, { marketId: '8' }, false], [false, {}, false],
  ]) {
    const [c] = await startServer(t, (n, r) => {
      if (r.method === 'GET') return { body: { id, ...draft, ...stands } };
      return n === 1 && lost ? undefined : { status: 409, body: { error: 'already_predicted', id } };
    }, { token: 'dk_x' });
    if (found) assertMembers(await c.signals.file(draft), { id, found: true, priceAtPrediction: 6850 });
    else await assert.rejects(c.signals.file(draft), (e) => e instanceof AlreadyPredictedError && e.id === id);
  }
});

const numbers = {
  priceAtPrediction: 6850, scoreBasisBps: 6900, priceVerified: true, rated: true, marketYesBps: 3150, yesPriceBps: 3200, noPriceBps: 6900, warnings: [],
};

test('file sends a bound of 200 bps and returns the stored numbers', async (t) => {
  const [c, asked] = await startServer(t, () => ({ body: { ok: true, id, receiptUrl: 'https://hub.example/receipts/1', ...numbers } }), { token: 'dk_x' });
  assert.deepEqual(await c.signals.file(draft), { id, found: false, ...numbers });
  await c.signals.file({ ...draft, maxSlippageBps: 0 });
  await c.signals.create({ marketId: '7', position: 'NO' });
  assert.deepEqual(asked.map((a) => JSON.parse(a.body).maxSlippageBps), [200, 0, 200]);
});

test('allowUnverified is sent with the bound in a single request', async (t) => {
  const [c, asked] = await startServer(t, () => ({ body: { ok: true, id, ...numbers } }), { token: 'dk_x' });
  await c.signals.file(draft, { allowUnverified: true });
  await c.signals.file(draft);
  await c.signals.file({ ...draft, maxSlippageBps: 50, allowUnverified: true });
  await c.signals.create({ marketId: '7', position: 'NO' }, { allowUnverified: true });
  await c.signals.dryRun({ ...draft, allowUnverified: true });
  const sent = asked.map((a) => JSON.parse(a.body)).map((b) => [b.maxSlippageBps, b.allowUnverified, b.dryRun]);
  assert.deepEqual(sent, [[200, true, undefined], [200, undefined, undefined], [50, true, undefined], [200, true, undefined], [200, true, true]]);
  for (const [error, reason] of [['price_moved', 'unverified'], ['price_moved', 'moved'], ['idempotency_key_reused', undefined]]) {
    for (const options of [{}, { allowUnverified: true }]) {
      const refused = { status: 409, body: { error, reason, yesPriceBps: 3200, noPriceBps: 6900 } };
      const [c, asked] = await startServer(t, () => refused, { token: 'dk_x' });
      await assert.rejects(c.signals.file(draft, options), (e) => e.code === error && (!reason || (e instanceof PriceMovedError && e.reason === reason && e.noPriceBps === 6900 && e.marketYesBps === null)));
      assert.equal(asked.length, 1);
    }
  }
});

test('dry runs send dryRun and no idempotency key', async (t) => {
  const event = { type: 'note', payload: { text: 'rain' }, actor: 'owner', createdAt: '2026-09-18T12:00:00.000Z' };
  const [c, asked] = await startServer(t, () => ({ body: { ok: true, dryRun: true, ...numbers, event } }), { token: 'dk_x' });
  assertMembers(await c.signals.dryRun(draft), numbers);
  assertMembers(await c.signals.dryRunCreate({ marketId: '7', position: 'NO' }), numbers);
  assert.deepEqual((await c.signals.dryRunEvent(id, { type: 'note', payload: { text: 'rain' } })).event, event);
  for (const a of asked) assert.ok(JSON.parse(a.body).dryRun === true && !('idempotency-key' in a.headers), `${a.url} ${a.body}`);
});

test('the client waits for Retry-After, or fails if it is too long', async (t) => {
  const [c, asked] = await startServer(t, (n) => (n === 1 ? { status: 429, body: { error: 'rate_limited', retryAfterMs: 40 } } : {}), { retry: { first: 1, longest: 2000 } });
  const began = performance.now();
  await c.boards.score();
  assert.ok(performance.now() - began >= 39);
  assert.equal(asked.length, 2);
  const [long, once] = await startServer(t, () => ({ status: 429, headers: { 'retry-after': '59' }, body: { error: 'rate_limited', limit: 60 } }));
  await assert.rejects(long.boards.score(), (e) => e instanceof RateLimitedError && e.retryAfterMs === 59_000 && e.extra.limit === 60);
  assert.equal(once.length, 1);
});

test('an abort signal ends the wait before a retry', async (t) => {
  const end = new AbortController();
  const reason = new Error('enough');
  // Abort after the first answer: a fixed time from the start can end before the request arrives.
  const answer = () => {
    setTimeout(() => end.abort(reason), 20);
    return { status: 503 };
  };
  const [c, asked] = await startServer(t, answer, { retry: { first: 3_600_000, longest: 3_600_000 } });
  await assert.rejects(c.boards.score({ signal: end.signal }), (e) => e === reason);
  assert.equal(asked.length, 1);
});

test('answers of other servers and unknown error codes', async (t) => {
  for (const [body, code] of [['<html>', ''], ['[]', ''], ['null', ''], ['', ''], ['{"error":7}', ''], ['{"error":"of_a_newer_version","new":1}', 'of_a_newer_version'], ['{"error":"constructor"}', 'constructor']]) {
    const [c] = await startServer(t, () => ({ status: 409, body, headers: { 'x-request-id': 'r1' } }));
    await assert.rejects(c.markets.get('7'), (e) => e instanceof ApiError && e.code === code && e.requestId === 'r1' && e.operation === 'GET /api/m/{marketId}');
  }
  const [page] = await startServer(t, () => ({ body: '<html>' }));
  await assert.rejects(page.markets.get('7'), (e) => e instanceof SignalcastError && !(e instanceof ApiError));
});

test('an answer above the size limit is rejected', async (t) => {
  const [c, asked] = await startServer(t, () => ({ body: `"${'x'.repeat(16 << 20)}"` }));
  await assert.rejects(c.boards.score(), UnansweredError);
  assert.equal(asked.length, 1);
});

test('a list ends at its last page, with the loop, and at a repeated cursor', async (t) => {
  const walk = async (next, most = Infinity) => {
    const [c, asked] = await startServer(t, (_, r) => {
      const cursor = new URL(r.url, 'http://x').searchParams.get('cursor') ?? '';
      return { body: { signals: [{}, {}], count: 2, next_cursor: next[cursor] ?? null } };
    });
    let rows = 0;
    try {
      for await (const _ of c.signals.all({ limit: 2 })) if (++rows === most) break;
    } catch (e) {
      return [rows, asked.length, e.constructor];
    }
    return [rows, asked.length];
  };
  assert.deepEqual(await walk({ '': 'a', a: 'b', b: 'c' }), [8, 4]);
  assert.deepEqual(await walk({ '': 'a', a: 'b', b: 'c' }, 3), [3, 2]);
  assert.deepEqual(await walk({ '': 'a', a: 'b', b: 'a' }), [6, 3, CursorError]);
});

test('an incomplete list is retried, yields its items, and fails', async (t) => {
  const [c, asked] = await startServer(t, () => ({ headers: { 'x-degraded': 'db' }, body: { signals: [{}], count: 1, next_cursor: 'n' } }));
  let rows = 0;
  await assert.rejects(async () => {
    for await (const _ of c.signals.all()) rows++;
  }, (e) => e instanceof DegradedError && e.part === 'db');
  assert.deepEqual([rows, asked.length], [1, 3]);
});

test('a token is fetched once, again after a 401, and sent only where it is required', async (t) => {
  let fetched = 0;
  const token = new Refreshing(async () => {
    await new Promise((later) => setTimeout(later, 5));
    return { value: ['old', 'new', 'other'][fetched++], lasts: 3_600_000 };
  });
  const [c, asked] = await startServer(t, (_, r) => (r.url.startsWith('/api/m/') || r.headers.authorization === 'Bearer new' ? {} : { status: 401, body: { error: 'unauthenticated' } }), { token });
  await c.markets.get('7');
  assert.deepEqual([fetched, asked[0].headers.authorization], [0, undefined]);
  await Promise.all(Array.from({ length: 8 }, () => c.people.me()));
  assert.equal(fetched, 2);
  const [never, twice] = await startServer(t, () => ({ status: 401 }), { token: new Refreshing(async () => ({ value: 'bad' })) });
  await assert.rejects(never.keys.mint({ label: 'x' }));
  assert.equal(twice.length, 2);
});

test('invalid URLs and unencrypted URLs with a credential are rejected', () => {
  for (const hub of ['http://hub.example', 'hub.example', 'ftp://hub.example', 'https://a:b@hub.example', 'https://hub.example?x']) {
    assert.throws(() => new Signalcast({ hub, token: 'dk_x' }), (e) => e instanceof TypeError && !e.message.includes('a:b'));
  }
  for (const hub of ['https://hub.example/under/', 'http://127.0.0.1:1', 'http://localhost:1', 'http://[::1]:1', undefined]) new Signalcast({ hub, token: 'dk_x' });
  new Signalcast({ hub: 'http://hub:8080', token: 'dk_x', plainHttp: true });
  new Signalcast({ hub: 'http://hub:8080' });
});

test('path and query parameters are escaped', async (t) => {
  const [c, asked] = await startServer(t, () => ({ body: { markets: [], count: 0, next_cursor: null } }));
  await c.markets.get('../a?b#c/ü');
  for await (const _ of c.markets.search({ q: 'a&limit=9', limit: 2 }));
  assert.deepEqual(asked.map((a) => a.url), ['/api/m/..%2Fa%3Fb%23c%2F%C3%BC', '/api/polymarket/markets?q=a%26limit%3D9&limit=2']);
  await assert.rejects(c.markets.get(''), TypeError);
  await assert.rejects(c.request('GET', '/api/nothing'), TypeError);
});

test('the public key matches RFC 8032, and values without a canonical form are rejected', async () => {
  const seed = Uint8Array.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60'.match(/../g), (h) => parseInt(h, 16));
  const signer = await Signer.of(seed);
  assert.equal(signer.publicKey, 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a');
  const message = { type: 'profile.update', denpaId: id, payload: { b: 1e21, a: ['\u20ac', -0, 0.1], '\ud83d\ude00': null, '\ufb33': true } };
  const signed = await signer.sign('https://hub.example/api/protocol/v1', { ...message, timestamp: 1, nonce: 'n'.repeat(16) });
  assert.match(signed.text, /"payload":\{"a":\["€",0,0.1\],"b":1e\+21,"😀":null,"\ufb33":true\}/);
  assert.match(signed.id, /^msg_[0-9a-f]{64}$/);
  for (const bad of [NaN, Infinity, '\ud800', 1n, () => 1]) {
    await assert.rejects(signer.sign('x', { ...message, payload: { bad } }), SignalcastError);
  }
  await assert.rejects(Signer.of(new Uint8Array(31)), TypeError);
});
