// The client against a server that does what a test wants.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import {
  AlreadyPredictedError, ApiError, CursorError, DegradedError, RateLimitedError, Refreshing, Signalcast, SignalcastError, Signer,
  PriceMovedError, UnansweredError,
} from '../dist/index.js';

const id = '0199f0a4-2222-7000-8000-000000000002';
const draft = { marketId: '7', direction: 'NO', priceAtPrediction: 6850 };

/** served gives a client of a server, and what the server was asked. */
async function served(t, handle, options = {}) {
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

/** within checks the members of `some`; there may be others. */
const within = (all, some) => assert.deepEqual({ ...all, ...some }, all);

const writes = {
  reading: [(c) => c.signals.get(id), true],
  'a call under a key': [(c) => c.signals.file(draft), true],
  'a call without one': [(c) => c.request('POST', '/api/predictions', { body: draft }), false],
  'a key where none is honoured': [(c) => c.request('POST', '/api/dev/keys', { body: { label: 'x' }, idempotencyKey: 'mine' }), false],
  'a new key': [(c) => c.keys.mint({ label: 'x' }), false],
  'to follow': [(c) => c.people.follow('mara_k'), true],
  'to unbind': [(c) => c.live.unbind('7'), false],
};
for (const [what, [ask, safe]] of Object.entries(writes)) {
  test(`sent again: ${what}`, async (t) => {
    for (const [status, passes] of [[0, true], [429, true], [502, true], [503, true], [504, true], [400, false], [401, false], [404, false], [409, false], [500, false]]) {
      const [c, asked] = await served(t, () => status && { status, body: { error: 'some_code' } }, { token: 'dk_x' });
      await assert.rejects(ask(c), (e) => (status ? e instanceof ApiError && e.status === status : e instanceof UnansweredError));
      assert.equal(asked.length, safe && passes ? 3 : 1, `${status}`);
    }
  });
}

test('a credential that no header holds is refused at once, and shown to nobody', async (t) => {
  for (const token of ['bad\nkey', 'bad key', 'schlüssel']) {
    const [c, asked] = await served(t, () => ({}), { token });
    await assert.rejects(c.signals.file(draft), (e) => e instanceof SignalcastError && !(e instanceof UnansweredError) && !`${e.stack} ${e.cause}`.includes(token));
    assert.equal(asked.length, 0);
  }
});

test('each try carries the whole body, the same key and the credential', async (t) => {
  const [c, asked] = await served(t, (n) => (n < 3 ? { cut: '{"ok":', headers: { 'content-length': '90' } } : { body: { ok: true, id } }), { token: 'dk_x' });
  assert.deepEqual(await c.signals.file(draft, { idempotencyKey: 'mine' }), { id, found: false });
  const sent = asked.map((a) => [a.headers.authorization, a.headers['idempotency-key'], a.body]);
  assert.deepEqual(sent, Array(3).fill(['Bearer dk_x', 'mine', JSON.stringify({ ...draft, maxSlippageBps: 200 })]));
});

test('a call that stands is success only after a lost answer, and only when it is the same', async (t) => {
  for (const [lost, stands, found] of [
    [true, {}, true], [true, { direction: 'YES' }, false], [true, { priceAtPrediction: 1 }, false], [true, { marketId: '8' }, false], [false, {}, false],
  ]) {
    const [c] = await served(t, (n, r) => {
      if (r.method === 'GET') return { body: { id, ...draft, ...stands } };
      return n === 1 && lost ? undefined : { status: 409, body: { error: 'already_predicted', id } };
    }, { token: 'dk_x' });
    if (found) within(await c.signals.file(draft), { id, found: true, priceAtPrediction: 6850 });
    else await assert.rejects(c.signals.file(draft), (e) => e instanceof AlreadyPredictedError && e.id === id);
  }
});

const numbers = {
  priceAtPrediction: 6850, scoreBasisBps: 6900, priceVerified: true, rated: true, marketYesBps: 3150, yesPriceBps: 3200, noPriceBps: 6900, warnings: [],
};

test('a call is sent with a bound of 200 bps and answers the stored numbers (integrity P13, P14)', async (t) => {
  const [c, asked] = await served(t, () => ({ body: { ok: true, id, receiptUrl: 'https://hub.example/receipts/1', ...numbers } }), { token: 'dk_x' });
  assert.deepEqual(await c.signals.file(draft), { id, found: false, ...numbers });
  await c.signals.file({ ...draft, maxSlippageBps: 0 });
  await c.signals.create({ marketId: '7', position: 'NO' });
  assert.deepEqual(asked.map((a) => JSON.parse(a.body).maxSlippageBps), [200, 0, 200]);
});

test('allowUnverified is sent with the bound, in the only request of a call (integrity P14)', async (t) => {
  const [c, asked] = await served(t, () => ({ body: { ok: true, id, ...numbers } }), { token: 'dk_x' });
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
      const [c, asked] = await served(t, () => refused, { token: 'dk_x' });
      await assert.rejects(c.signals.file(draft, options), (e) => e.code === error && (!reason || (e instanceof PriceMovedError && e.reason === reason && e.noPriceBps === 6900 && e.marketYesBps === null)));
      assert.equal(asked.length, 1);
    }
  }
});

test('dry runs send dryRun and no idempotency key (integrity P15)', async (t) => {
  const event = { type: 'note', payload: { text: 'rain' }, actor: 'owner', createdAt: '2026-09-18T12:00:00.000Z' };
  const [c, asked] = await served(t, () => ({ body: { ok: true, dryRun: true, ...numbers, event } }), { token: 'dk_x' });
  within(await c.signals.dryRun(draft), numbers);
  within(await c.signals.dryRunCreate({ marketId: '7', position: 'NO' }), numbers);
  assert.deepEqual((await c.signals.dryRunEvent(id, { type: 'note', payload: { text: 'rain' } })).event, event);
  for (const a of asked) assert.ok(JSON.parse(a.body).dryRun === true && !('idempotency-key' in a.headers), `${a.url} ${a.body}`);
});

test('Retry-After is obeyed, by waiting or by giving up', async (t) => {
  const [c, asked] = await served(t, (n) => (n === 1 ? { status: 429, body: { error: 'rate_limited', retryAfterMs: 40 } } : {}), { retry: { first: 1, longest: 2000 } });
  const began = performance.now();
  await c.boards.score();
  assert.ok(performance.now() - began >= 39);
  assert.equal(asked.length, 2);
  const [long, once] = await served(t, () => ({ status: 429, headers: { 'retry-after': '59' }, body: { error: 'rate_limited', limit: 60 } }));
  await assert.rejects(long.boards.score(), (e) => e instanceof RateLimitedError && e.retryAfterMs === 59_000 && e.extra.limit === 60);
  assert.equal(once.length, 1);
});

test('a pause ends with its signal', async (t) => {
  const [c, asked] = await served(t, () => ({ status: 503 }), { retry: { first: 3_600_000, longest: 3_600_000 } });
  const end = new AbortController();
  const reason = new Error('enough');
  setTimeout(() => end.abort(reason), 20);
  await assert.rejects(c.boards.score({ signal: end.signal }), (e) => e === reason);
  assert.equal(asked.length, 1);
});

test('what answers is no Signalcast service, or one of next year', async (t) => {
  for (const [body, code] of [['<html>', ''], ['[]', ''], ['null', ''], ['', ''], ['{"error":7}', ''], ['{"error":"of_next_year","new":1}', 'of_next_year'], ['{"error":"constructor"}', 'constructor']]) {
    const [c] = await served(t, () => ({ status: 409, body, headers: { 'x-request-id': 'r1' } }));
    await assert.rejects(c.markets.get('7'), (e) => e instanceof ApiError && e.code === code && e.requestId === 'r1' && e.operation === 'GET /api/m/{marketId}');
  }
  const [page] = await served(t, () => ({ body: '<html>' }));
  await assert.rejects(page.markets.get('7'), (e) => e instanceof SignalcastError && !(e instanceof ApiError));
});

test('an answer without end is not read to its end', async (t) => {
  const [c, asked] = await served(t, () => ({ body: `"${'x'.repeat(16 << 20)}"` }));
  await assert.rejects(c.boards.score(), UnansweredError);
  assert.equal(asked.length, 1);
});

test('pages end with the last one, with the loop, and with a cursor that leads back', async (t) => {
  const walk = async (next, most = Infinity) => {
    const [c, asked] = await served(t, (_, r) => {
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

test('a list that is not whole is asked for again, gives what came, and fails', async (t) => {
  const [c, asked] = await served(t, () => ({ headers: { 'x-degraded': 'db' }, body: { signals: [{}], count: 1, next_cursor: 'n' } }));
  let rows = 0;
  await assert.rejects(async () => {
    for await (const _ of c.signals.all()) rows++;
  }, (e) => e instanceof DegradedError && e.part === 'db');
  assert.deepEqual([rows, asked.length], [1, 3]);
});

test('a token is fetched once for all, again when it is refused, and goes where it is wanted', async (t) => {
  let fetched = 0;
  const token = new Refreshing(async () => {
    await new Promise((later) => setTimeout(later, 5));
    return { value: ['old', 'new', 'other'][fetched++], lasts: 3_600_000 };
  });
  const [c, asked] = await served(t, (_, r) => (r.url.startsWith('/api/m/') || r.headers.authorization === 'Bearer new' ? {} : { status: 401, body: { error: 'unauthenticated' } }), { token });
  await c.markets.get('7');
  assert.deepEqual([fetched, asked[0].headers.authorization], [0, undefined]);
  await Promise.all(Array.from({ length: 8 }, () => c.people.me()));
  assert.equal(fetched, 2);
  const [never, twice] = await served(t, () => ({ status: 401 }), { token: new Refreshing(async () => ({ value: 'bad' })) });
  await assert.rejects(never.keys.mint({ label: 'x' }));
  assert.equal(twice.length, 2);
});

test('addresses are addresses, and a credential stays off the open network', () => {
  for (const hub of ['http://hub.example', 'hub.example', 'ftp://hub.example', 'https://a:b@hub.example', 'https://hub.example?x']) {
    assert.throws(() => new Signalcast({ hub, token: 'dk_x' }), (e) => e instanceof TypeError && !e.message.includes('a:b'));
  }
  for (const hub of ['https://hub.example/under/', 'http://127.0.0.1:1', 'http://localhost:1', 'http://[::1]:1', undefined]) new Signalcast({ hub, token: 'dk_x' });
  new Signalcast({ hub: 'http://hub:8080', token: 'dk_x', plainHttp: true });
  new Signalcast({ hub: 'http://hub:8080' });
});

test('paths and queries are written so that nothing in them leads elsewhere', async (t) => {
  const [c, asked] = await served(t, () => ({ body: { markets: [], count: 0, next_cursor: null } }));
  await c.markets.get('../a?b#c/ü');
  for await (const _ of c.markets.search({ q: 'a&limit=9', limit: 2 }));
  assert.deepEqual(asked.map((a) => a.url), ['/api/m/..%2Fa%3Fb%23c%2F%C3%BC', '/api/polymarket/markets?q=a%26limit%3D9&limit=2']);
  await assert.rejects(c.markets.get(''), TypeError);
  await assert.rejects(c.request('GET', '/api/nothing'), TypeError);
});

test('a signature is that of the test vector of RFC 8032, and what has no canonical form is refused', async () => {
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
