// Tests of prices, rate limits, options, ids and webhooks against a local HTTP server.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { bps, isCode, RateLimitedError, Signalcast, verifyWebhook, WebhookError } from '../dist/index.js';

const id = '0199f0a4-2222-7000-8000-000000000002';

/** startServer returns a client of a new server and the received requests. handle returns the status, the headers and the body of answer n. */
async function startServer(t, handle, options = {}) {
  const asked = [];
  const server = createServer(async (req, res) => {
    let body = '';
    for await (const part of req) body += part;
    asked.push({ method: req.method, url: req.url, authorization: req.headers.authorization, body });
    const { status = 200, headers = {}, body: answer = {} } = handle(asked.length) ?? {};
    res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(answer));
  });
  await new Promise((up) => server.listen(0, '127.0.0.1', up));
  t.after(() => server.close().closeAllConnections());
  const at = `http://127.0.0.1:${server.address().port}`;
  return [new Signalcast({ hub: at, api: at, clock: at, retry: { tries: 1 }, ...options }), asked];
}

const limited = {
  status: 429, body: { error: 'rate_limited', limit: 60, retryAfterMs: 57_400 },
  headers: { 'retry-after': '58', 'ratelimit-policy': '"hub";q=60;w=60', ratelimit: '"hub";r=0;t=58' },
};

test('prices', () => {
  for (const [cents, price] of [[65.5, 6550], [0, 0], [100, 10000], [0.29, 29], [33.335, 3334], [0.01, 1]]) assert.equal(bps.fromCents(cents), price);
  assert.deepEqual([bps.fromProbability(0.655), bps.toCents(6550), bps.toProbability(6550), bps.format(6550)], [6550, 65.5, 0.655, '65.5¢']);
  assert.deepEqual([bps.sideOf(6550, 'YES'), bps.sideOf(6550, 'NO')], [6550, 3450]);
  assert.deepEqual([bps.costOf({ yesPriceBps: 6600, noPriceBps: 3500 }, 'NO'), bps.costOf({ yesPriceBps: null }, 'YES')], [3500, null]);
  for (const bad of [() => bps.fromCents(6550), () => bps.fromCents(-0.01), () => bps.fromCents(NaN), () => bps.fromProbability(65), () => bps.toCents(10001)]) {
    assert.throws(bad, RangeError);
  }
});

test('limits are reported, and the error of a limit names its bound and its wait', async (t) => {
  const seen = [];
  const [c] = await startServer(t, (n) => (n === 1 ? { headers: { 'ratelimit-policy': '"hub";q=60;w=60', ratelimit: '"hub";r=42;t=9' } } : limited), {
    onLimit: (l) => seen.push(l.remaining),
  });
  assert.deepEqual(c.limits(), []);
  await c.people.me();
  const [{ at, ...limit }] = c.limits();
  assert.deepEqual(limit, { service: 'hub', name: 'hub', limit: 60, windowMs: 60_000, remaining: 42, resetMs: 9000 });
  assert.ok(Math.abs(Date.now() - at) < 60_000);
  const e = await c.people.me().catch((refused) => refused);
  assert.ok(e instanceof RateLimitedError && isCode(e, 'rate_limited') && !isCode(e, 'forbidden') && !isCode(new Error('x'), 'rate_limited'));
  assert.equal(e.message, 'GET /api/protocol/v1/me: 429 rate_limited: 60 requests in 60 s; retry in 58 s');
  assert.deepEqual(seen, [42, 0]);
});

test('waitForLimits sends a request again after the wait, but not after a wait above two minutes', async (t) => {
  const short = { ...limited, headers: {}, body: { error: 'rate_limited', retryAfterMs: 20 } };
  const [c, asked] = await startServer(t, (n) => (n <= 3 ? short : { status: 201, body: { key: 'dk_new' } }), { retry: { tries: 1, waitForLimits: true } });
  await c.keys.mint({ label: 'x' }); // not repeatable after other errors
  assert.equal(asked.length, 4);
  const [long, once] = await startServer(t, () => ({ ...short, body: { error: 'rate_limited', message: 'ten reports in 24 hours', retryAfterMs: 3_600_000 } }), {
    retry: { tries: 1, waitForLimits: true },
  });
  await assert.rejects(long.keys.mint({ label: 'x' }), /ten reports in 24 hours; retry in 3600 s$/);
  assert.equal(once.length, 1);
  const end = new AbortController();
  const [slow] = await startServer(t, () => setTimeout(() => end.abort(new Error('enough')), 20) && limited, { retry: { tries: 1, waitForLimits: true } });
  await assert.rejects(slow.signals.get(id, { signal: end.signal }), /enough/);
});

test('the credential is sent on public reads only with tokenOnReads', async (t) => {
  for (const tokenOnReads of [false, true]) {
    const [c, asked] = await startServer(t, () => ({}), { token: 'dk_x', tokenOnReads });
    await c.markets.get('7');
    await c.people.me();
    await c.request('POST', '/api/live/{handle}/view', { path: { handle: 'mara_k' }, body: { viewerId: 'v' } });
    assert.deepEqual(asked.map((a) => a.authorization), [tokenOnReads ? 'Bearer dk_x' : undefined, 'Bearer dk_x', undefined]);
  }
});

test('ignored parameters are reported', async (t) => {
  const seen = [];
  const [c] = await startServer(t, () => ({ headers: { 'x-ignored': 'limit, lane' } }), { onIgnored: (...all) => seen.push(all) });
  await c.boards.broadcast({ limit: 5000 });
  assert.deepEqual(seen, [['GET /api/operator/leaderboard', ['limit', 'lane']]]);
});

test('an empty id is rejected without a request', async (t) => {
  const [c, asked] = await startServer(t, () => ({}), { token: 'dk_x' });
  const calls = [
    () => c.signals.get(''), () => c.markets.get(''), () => c.markets.crowd(''), () => c.markets.outcome(''), () => c.operators.get(''), () => c.keys.revoke(''),
    () => c.live.signal(''), () => c.live.unbind(''), () => c.people.follows(''), () => c.people.unfollow(''), () => c.webhooks.get(''), () => c.webhooks.resend(id, ''),
    () => c.apps.get(''), () => c.messages.get(''),
  ];
  for (const call of calls) await assert.rejects(call, TypeError, String(call));
  assert.equal(asked.length, 0);
});

test('each webhook method sends its request', async (t) => {
  const [c, asked] = await startServer(t, () => ({ body: { deliveries: [], next_cursor: null } }), { token: 'dk_x' });
  await c.webhooks.create({ url: 'https://bot.example/x', channels: ['me'] });
  await c.webhooks.list();
  await c.webhooks.get(id);
  await c.webhooks.update(id, { active: true });
  await c.webhooks.test(id);
  await c.webhooks.renewSecret(id);
  for await (const _ of c.webhooks.deliveries(id, { limit: 2 }));
  await c.webhooks.resend(id, id);
  await c.webhooks.delete(id);
  const at = '/api/v1/webhooks';
  assert.deepEqual(asked.map((a) => `${a.method} ${a.url}`), [
    `POST ${at}`, `GET ${at}`, `GET ${at}/${id}`, `PATCH ${at}/${id}`, `POST ${at}/${id}/test`, `POST ${at}/${id}/secret`,
    `GET ${at}/${id}/deliveries?limit=2`, `POST ${at}/${id}/deliveries/${id}/resend`, `DELETE ${at}/${id}`,
  ]);
});

test('the feed uses the credential of the client for the channel me', async (t) => {
  const sent = [];
  class Socket {
    constructor() {
      setTimeout(() => this.onmessage?.({ data: '{"op":"hello","head":1}' }));
    }
    send = (text) => sent.push(JSON.parse(text));
    close() {}
  }
  for (const [channels, key] of [[['me'], undefined], [['signals'], undefined], [['me'], 'dk_other']]) {
    const c = new Signalcast({ api: 'http://127.0.0.1:1', token: 'dk_x' });
    const feed = c.live.feed({ channels, WebSocket: Socket, ...(key && { key }) });
    t.after(() => feed.close());
    for (const end = Date.now() + 20_000; !sent.some((f) => f.op === 'subscribe') && Date.now() < end; ) await new Promise((later) => setTimeout(later, 2));
    assert.deepEqual(sent.filter((f) => f.op === 'auth').map((f) => f.token), channels[0] === 'me' ? [key ?? 'dk_x'] : []);
    sent.length = 0;
    feed.close();
  }
});

test('webhook requests', async () => {
  const secret = `whsec_${'A'.repeat(43)}`;
  const now = 1_789_732_800_000;
  const body = '{"webhookId":"w","deliveryId":"d","attempt":1,"events":[{"op":"test","at":"2026-09-18T12:00:00.000Z"}]}';
  const sign = (key, text, t = now / 1000) => `v1=${createHmac('sha256', key).update(`${t}.${text}`).digest('hex')}`;
  const good = `t=${now / 1000},${sign('whsec_old', body)},${sign(secret, body)}`;
  for (const form of [body, new TextEncoder().encode(body), Buffer.from(body)]) {
    const post = await verifyWebhook(secret, good, form, now + 299_000);
    assert.deepEqual([post.deliveryId, post.events[0].op], ['d', 'test']);
  }
  const vector = 't=1789732800,v1=a4fc69a5d2d495214f24d27edc05c60bfa2e01338e099f9750f510bf216f5975'; // of docs/protocol/webhooks.md
  await verifyWebhook(secret, vector, '{"events":[]}', now);
  const refused = [
    ['signature', good, `${body} `], ['signature', good.replace(/.$/, (d) => (d === '0' ? '1' : '0')), body], ['signature', null, body], ['signature', '', body],
    ['signature', `t=${now / 1000}`, body], ['signature', `t=${now / 1000 + 1},${sign(secret, body)}`, body], ['signature', `t=x,${sign(secret, body)}`, body],
    ['time', good, body, now + 301_000], ['time', good, body, now - 301_000], ['body', `t=${now / 1000},${sign(secret, 'x')}`, 'x'],
    ['body', `t=${now / 1000},${sign(secret, '{}')}`, '{}'],
  ];
  for (const [reason, header, text, at = now] of refused) {
    await assert.rejects(verifyWebhook(secret, header, text, at), (e) => e instanceof WebhookError && e.reason === reason, `${reason} ${header} ${text}`);
  }
  await assert.rejects(verifyWebhook(secret, good, JSON.parse(body), now), TypeError);
  await assert.rejects(verifyWebhook('', good, body, now), TypeError);
});
