// Checks the feed with the JavaScript library, which uses the WebSocket of Node.
import { open } from '../../sdk/ts/dist/feed.js';
import { check, equal, need, expectStatus, assert } from './lib.mjs';

const url = `${need('API').replace('http', 'ws')}/ws`;

// within rejects if the promise is not settled within a time.
function within(ms, promise, what) {
  let timer;
  const late = new Promise((_, fail) => (timer = setTimeout(() => fail(new Error(`never: ${what}`)), ms)));
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

async function until(feed, what, fits) {
  const looking = (async () => {
    for await (const m of feed) if (fits(m)) return m;
    throw new Error('the feed ended');
  })();
  return within(20000, looking, what);
}

await check('the library receives a call, and receives it again after its event number', async () => {
  const phases = [];
  const feed = open({ url, channels: ['signals'], onState: (s) => phases.push(s.phase) });
  try {
    for (const end = Date.now() + 20000; !phases.includes('live'); ) {
      assert(Date.now() < end, `the client is ${phases}`);
      await new Promise((done) => setTimeout(done, 20));
    }
    const before = feed.last().signals;
    const call = await expectStatus(200, 'POST', `${need('HUB')}/api/predictions`, {
      bearer: need('OPERATOR_KEY'), body: { marketId: need('MARKETS').split(',')[0], direction: 'YES', priceAtPrediction: 5000 },
    });
    const mine = (m) => m.op === 'event' && m.data.id === call.id;
    const live = await until(feed, 'the call', mine);
    const again = open({ url, channels: ['signals'], since: { signals: before } });
    equal((await until(again, 'the call again', mine)).seq, live.seq, 'its number');
    again.close();
    equal([feed.stats().holes, feed.stats().lost], [0, 0], 'what was missing');
  } finally {
    feed.close();
  }
});
await check('an unknown key ends the client', async () => {
  const feed = open({ url, channels: ['me'], key: `dk_${'A'.repeat(43)}` });
  try {
    await within(20000, feed.next().then(() => feed.next()).then(() => feed.next()), 'the end');
    throw new Error('it goes on');
  } catch (err) {
    equal(err.code, 'unauthenticated', 'why it ended');
  }
});
await check('a valid key receives its private channel', async () => {
  const feed = open({ url, channels: ['me'], key: need('OPERATOR_KEY') });
  const m = await until(feed, 'the snapshot of me', (m) => m.op === 'snapshot');
  assert(m.data.handle, 'no handle');
  feed.close();
});
