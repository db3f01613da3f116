// Bot that calls the favorite of each market. README.md describes the rule, the settings and the state file.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  AlreadyPredictedError, ApiError, bps, ForbiddenError, PriceMovedError, RateLimitedError, Signalcast, UnauthenticatedError, UnavailableError,
} from 'signalcast';
import { type Call, State } from './state.js';

const { env } = process;
const minPrice = bps.fromCents(Number(env['BOT_MIN_CENTS'] ?? 80));
const maxPrice = bps.fromCents(Number(env['BOT_MAX_CENTS'] ?? 95));
const maxCalls = Number(env['BOT_MAX_CALLS'] ?? 20);
const refreshMs = Number(env['BOT_REFRESH_SECONDS'] ?? 600) * 1000;
const filter = {
  status: 'open' as const,
  minVolumeUsd: Number(env['BOT_MIN_VOLUME_USD'] ?? 0),
  ...(env['BOT_QUERY'] && { q: env['BOT_QUERY'] }),
  ...(env['BOT_PROVIDER'] && { provider: env['BOT_PROVIDER'] as 'polymarket' }),
};

const client = new Signalcast({ hub: env['SIGNALCAST_HUB'], api: env['SIGNALCAST_API'], token: env['SIGNALCAST_KEY'] });
const state = await State.open(env['BOT_STATE'] ?? 'bot-state.json');
const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());

/** Prices at which the two sides can be bought, in bps; null without a quote. */
interface Prices {
  yesPriceBps: number | null;
  noPriceBps: number | null;
}

/** log writes one line: the time, the action and its attributes. */
function log(action: string, attributes: Record<string, unknown> = {}): void {
  const text = Object.entries(attributes).map(([name, value]) => ` ${name}=${/[\s"]/.test(String(value)) ? JSON.stringify(value) : value}`);
  console.log(`${new Date().toISOString()} ${action}${text.join('')}`);
}

/** patiently repeats a request after a rate limit, when the wait that the service requires is over. */
async function patiently<T>(request: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await request();
    } catch (e) {
      if (!(e instanceof RateLimitedError)) throw e;
      log('waiting', { for: `${e.retryAfterMs / 1000}s`, reason: e.message });
      await sleep(Math.max(e.retryAfterMs, 1000), undefined, { signal: stop.signal });
    }
  }
}

const draftOf = (marketId: string, call: Call) => ({ marketId, direction: call.side, priceAtPrediction: call.price });

/** consider files a call on a market if the rule selects one of its sides. */
async function consider(marketId: string, prices: Prices): Promise<void> {
  if (state.calls.has(marketId) || state.calls.size >= maxCalls) return;
  for (const side of ['YES', 'NO'] as const) {
    const price = bps.costOf(prices, side);
    if (price === null || price < minPrice || price > maxPrice) continue;
    const call: Call = { side, price, key: randomUUID(), status: 'filing' };
    try {
      // A dry run requests no quote from the venue, so it allows a call without one. `file` does not.
      const numbers = await patiently(() => client.signals.dryRun({ ...draftOf(marketId, call), allowUnverified: true }));
      if (!numbers.rated) {
        log('market skipped', { market: marketId, reason: 'market_unrated' });
        return await state.set(marketId, { ...call, status: 'refused', reason: 'market_unrated' });
      }
      log('dry run passed', { market: marketId, side, price, score_basis: numbers.scoreBasisBps });
    } catch (e) {
      return await refused(marketId, call, e);
    }
    await state.set(marketId, call); // stored before the request: a crash cannot lose the key
    return await file(marketId, call);
  }
}

/** file files a stored call. The same idempotency key gives the same call, also in another run. */
async function file(marketId: string, call: Call): Promise<void> {
  try {
    const { id } = await patiently(() => client.signals.file(draftOf(marketId, call), { idempotencyKey: call.key }));
    log('call filed', { market: marketId, side: call.side, price: call.price, id });
    await state.set(marketId, { ...call, status: 'filed', id });
  } catch (e) {
    await refused(marketId, call, e);
  }
}

/** refused stores the result of a refusal. It throws if the result of the request is unknown or the key is refused. */
async function refused(marketId: string, call: Call, e: unknown): Promise<void> {
  if (!(e instanceof ApiError) || e instanceof UnavailableError || e instanceof UnauthenticatedError || e instanceof ForbiddenError) throw e;
  if (e instanceof PriceMovedError) {
    log('price moved', { market: marketId, reason: e.reason }); // the next price decides again
    return state.set(marketId, undefined);
  }
  if (e instanceof AlreadyPredictedError) {
    log('call found', { market: marketId, id: e.id });
    return state.set(marketId, { ...call, status: 'filed', id: e.id });
  }
  log('call refused', { market: marketId, reason: e.code });
  return state.set(marketId, { ...call, status: 'refused', reason: e.code });
}

/** cycle files the calls whose result is unknown, reads the list of markets, and then follows the prices until the next cycle. */
async function cycle(): Promise<void> {
  const prices = client.live.feed({ channels: ['prices'] }); // opened first: no price is missed
  const close = () => prices.close();
  const timer = setTimeout(close, refreshMs);
  stop.signal.addEventListener('abort', close);
  try {
    for (const [marketId, call] of state.calls) if (call.status === 'filing') await file(marketId, call);
    const found = new Set<string>();
    for await (const m of client.markets.list({ ...filter, signal: stop.signal })) {
      found.add(m.id);
      await consider(m.id, m);
    }
    log('following', { markets: found.size });
    for await (const m of prices) {
      if (m.op === 'event' && m.type === 'price.tick' && found.has(m.data.marketId)) await consider(m.data.marketId, m.data);
    }
  } finally {
    clearTimeout(timer);
    stop.signal.removeEventListener('abort', close);
    close();
  }
}

log('started', { calls: state.calls.size });
while (!stop.signal.aborted) {
  try {
    await cycle();
  } catch (e) {
    if (stop.signal.aborted) break;
    if (e instanceof UnauthenticatedError || e instanceof ForbiddenError) throw e;
    log('cycle failed', { error: e });
    await sleep(10_000, undefined, { signal: stop.signal }).catch(() => undefined);
  }
}
log('stopped');
