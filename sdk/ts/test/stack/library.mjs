// Checks of the library against a running system, started by test/system/clients. Each passed check prints one line that starts with `ok`.
import assert from 'node:assert/strict';
import {
  AlreadyPredictedError, ConflictError, CursorError, ForbiddenError, InvalidError, MarketClosedError, NotFoundError,
  RateLimitedError, Signalcast, Signer, UnansweredError, UnauthenticatedError,
} from 'signalcast';

const need = (name) => process.env[name] ?? assert.fail(`${name} is missing`);
const [hub, api, clock] = ['HUB', 'API', 'CLOCK'].map(need);
const retry = { tries: 8, first: 50, longest: 2000 };
const as = (token, at = {}) => new Signalcast({ hub, api, clock, token, retry, ...at });
const check = async (name, run) => {
  await run();
  console.log('ok', name);
};
const draft = (marketId, direction = 'NO') => ({ marketId, direction, priceAtPrediction: 6850, maxSlippageBps: 10000 }); // the bound is 10000 because calls move the price of native markets
const keys = need('KEYS').split(',');
const [own, other] = keys;
const [first, second, third, closed, ledger] = need('MARKETS').split(',');
const c = as(own);

await check('a call, its history and its receipt', async () => {
  const { id, found } = await c.signals.file(draft(first));
  assert.equal(found, false);
  await c.signals.addEvent(id, { type: 'note', payload: { text: 'Rain.' } });
  assert.equal((await c.signals.get(id)).marketId, first);
  assert.equal((await c.signals.events(id)).events.length, 1);
  await assert.rejects(c.signals.file(draft(first)), (e) => e instanceof AlreadyPredictedError && e instanceof ConflictError && e.id === id && e.status === 409);
});
await check('each class of error', async () => {
  const rejects = (promise, kind, code, more = () => true) =>
    assert.rejects(promise, (e) => (e instanceof kind && e.code === code && more(e)) || assert.fail(`${e.name} ${e.message}`));
  await rejects(c.signals.file(draft(closed)), MarketClosedError, 'market_closed', (e) => e.reason === 'settled');
  await rejects(c.signals.file(draft('native-unknown')), NotFoundError, 'market_not_found');
  await rejects(c.signals.file(draft(second, 'PERHAPS')), InvalidError, 'invalid_direction', (e) => e.field === 'direction' && e.requestId !== '');
  await rejects(as(`dk_${'x'.repeat(43)}`).signals.file(draft(second)), UnauthenticatedError, 'unauthenticated');
  await rejects(as(need('READER')).signals.create({ marketId: second, position: 'NO', priceBps: 1 }), ForbiddenError, 'insufficient_scope');
  await assert.rejects(as(undefined, { hub: 'http://127.0.0.1:1', retry: { tries: 1 } }).markets.get(first), UnansweredError);
  await assert.rejects(as(undefined, { hub: undefined }).markets.get(first), TypeError);
});
await check('a rate limit', async () => {
  const hasty = as(need('READER'), { retry: { tries: 1 } });
  const ask = async () => {
    for (let n = 0; n < 80; n++) await hasty.people.me();
  };
  await assert.rejects(ask, (e) => e instanceof RateLimitedError && e.retryAfterMs > 0 && e.retryAfterMs <= 60_000 && e.extra.limit === 60);
});
for (const [what, at, found] of [['with the idempotency key', need('LOSSY'), false], ['without the idempotency key', need('STRIPPED'), true]]) {
  await check(`after lost answers each call is stored once: ${what}`, async () => {
    const market = found ? third : second;
    const filed = await Promise.all(keys.map((k) => as(k, { hub: at }).signals.file(draft(market))));
    assert.deepEqual(filed.map((f) => f.found), keys.map(() => found));
    assert.equal(new Set(filed.map((f) => f.id)).size, keys.length);
    const rows = [];
    for await (const row of c.markets.ledger(market)) rows.push(row.id);
    assert.deepEqual(rows.sort(), filed.map((f) => f.id).sort());
  });
}
await check('a different stored call is an error after a lost answer', async () => {
  const market = need('OTHER');
  await as(other).signals.file(draft(market, 'YES'));
  await assert.rejects(as(other, { hub: need('STRIPPED') }).signals.file(draft(market)), AlreadyPredictedError);
});
await check('a list of more than three pages with unknown members', async () => {
  const seen = [];
  for await (const row of as(undefined, { hub: need('NEWER') }).markets.ledger(ledger, { limit: 2 })) {
    assert.match(row.status, /^brewing_/);
    seen.push(row.id);
  }
  assert.equal(seen.length, 9);
  assert.equal(new Set(seen).size, 9);
});
await check('a repeated cursor ends the list', async () => {
  const rows = [];
  await assert.rejects(async () => {
    for await (const row of as(undefined, { hub: need('STUCK') }).markets.ledger(ledger, { limit: 2 })) rows.push(row);
  }, CursorError);
  assert.equal(rows.length, 4);
});
await check('keys, a session, the overlay signal, the programme, a record', async () => {
  const self = as(need('TOKEN'));
  const { key, id } = await self.keys.mint({ label: 'mine' });
  await self.people.signIn();
  assert.equal((await self.people.follow(need('HANDLE'))).isFollowing, true);
  assert.equal((await self.people.unfollow(need('HANDLE'))).isFollowing, false);
  const mine = as(key);
  await mine.live.setSignal({ marketId: first, name: 'The gauge' });
  await mine.live.clearSignal();
  await c.programme.timeline();
  const lines = [];
  for await (const line of c.operators.record(need('HANDLE'))) lines.push(line);
  assert.ok(lines.length >= 3, `${lines.length} lines`);
  await self.keys.revoke(id);
  await assert.rejects(mine.people.me(), UnauthenticatedError);
});
await check('a signed message takes effect once', async () => {
  const signer = await Signer.of(crypto.getRandomValues(new Uint8Array(32)));
  const { denpaId } = await c.messages.registerSigner(signer, ['signal:create'], 'library');
  const { issuer } = await c.apps.issuer();
  const signed = await signer.sign(issuer, {
    type: 'signal.create', denpaId, payload: { marketId: need('SIGNED'), position: 'NO', priceBps: 5000, take: 'Zwölf <b> \u2028 \u{1F511}' },
  });
  const done = await as(undefined, { hub: need('LOSSY') }).messages.submit(signed);
  assert.deepEqual([done.id, done.replayed], [signed.id, true]);
});
await check('an abort signal ends the request with its reason', async () => {
  const reason = new Error('enough');
  await assert.rejects(c.markets.get(first, { signal: AbortSignal.abort(reason) }), (e) => e === reason);
});
