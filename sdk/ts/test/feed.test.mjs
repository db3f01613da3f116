import assert from 'node:assert/strict';
import { test } from 'node:test';

import { open, waitFor } from '../dist/feed.js';
import { Server } from './server.mjs';

const pace = { least: 1, most: 10, refused: 40, handshake: 5000, second: 20 };

// start returns a client of a new server, and the counts of its states.
function start(t, options = {}, set = () => {}) {
  const server = new Server();
  set(server);
  const states = {};
  const client = open({
    url: 'ws://feed.example/ws', channels: ['signals'], WebSocket: server.WebSocket, onState: (s) => (states[s.phase] = (states[s.phase] ?? 0) + 1), ...options,
    pace: { ...pace, ...options.pace },
  });
  t.after(() => {
    client.close();
    server.end();
  });
  const next = async () => {
    for (;;) {
      const m = await client.next();
      if (m.op !== 'beat') return m;
    }
  };
  const want = async (...seqs) => {
    for (const seq of seqs) assert.equal((await next()).seq, seq);
  };
  const until = async (is) => {
    for (const end = Date.now() + 20000; !is(); ) {
      assert.ok(Date.now() < end, `never: ${is}`);
      await new Promise((done) => setTimeout(done, 2));
    }
  };
  return { server, client, states, next, want, until, live: () => until(() => states.live) };
}

for (const code of [1000, 1001, 1006, 1008, 1009, 1011, 4008, 4029]) {
  test(`after a close with ${code} every event is delivered once and in order`, async (t) => {
    const { server, client, want, live } = start(t, {}, (s) => s.file('signals', 3));
    await live();
    server.cut(code); // before the first event of the channel
    server.file('signals');
    server.file('resolutions');
    await want(4);
    server.cut(code);
    server.file('signals', 2);
    await want(6, 7);
    assert.deepEqual(client.last(), { signals: 7 });
    assert.equal(client.stats().holes, 0);
    assert.equal(client.stats().connections, 3);
  });
}

test('a missing event is requested, delivered in order, and reported', async (t) => {
  const { server, client, states, want, live } = start(t);
  await live();
  server.file('signals');
  await want(1);
  server.drop = 2;
  server.file('signals', 5);
  await want(2, 3, 4, 5, 6);
  const { holes, repaired, lost, connections } = client.stats();
  assert.deepEqual({ holes, repaired, lost, connections }, { holes: 1, repaired: 1, lost: 0, connections: 1 });
  assert.deepEqual([states.hole, states.repaired], [1, 1]);
});

test('a missing event before the first one of a channel is detected', async (t) => {
  const { server, client, want, live } = start(t, {}, (s) => s.file('signals', 2));
  await live();
  server.drop = 1;
  server.file('signals', 2);
  await want(3, 4);
  assert.equal(client.stats().holes, 1);
});

test('events that the server does not have are delivered as a gap', async (t) => {
  const { server, client, next, want, live } = start(t);
  await live();
  server.file('signals');
  await want(1);
  server.drop = 1;
  server.forget = true;
  server.file('signals', 2);
  assert.deepEqual(await next(), { op: 'gap', channel: 'signals', from: 1, oldest: 3 });
  await want(3);
  assert.equal(client.stats().lost, 1);
});

test('too many holes cause one reconnection that fills all of them', async (t) => {
  const channels = [...'abcdefghijklmnopqrstuvwxyz'].map((c) => `operator:${c}`);
  const { server, next, live } = start(t, { channels });
  await live();
  server.drop = channels.length;
  for (const c of [...channels, ...channels]) server.file(c);
  const seen = Object.fromEntries(channels.map((c) => [c, []]));
  for (let i = 0; i < 2 * channels.length; i++) {
    const e = await next();
    seen[e.channel].push(e.seq);
  }
  channels.forEach((c, i) => assert.deepEqual(seen[c], [i + 1, i + 1 + channels.length]));
});

test('repeated events are not delivered', async (t) => {
  const { server, client, want, live, until } = start(t);
  await live();
  server.repeats = true;
  server.file('signals', 3);
  await want(1, 2, 3);
  await until(() => client.stats().repeats === 3);
});

test('a silent connection is replaced', async (t) => {
  const { server, client, want, live } = start(t);
  await live();
  server.mute = true;
  server.file('signals', 2);
  await want(1, 2);
  assert.ok(client.stats().connections > 1);
});

test('a connection without an acknowledgement is replaced', async (t) => {
  const { server, client, live, until } = start(t, {}, (s) => (s.noAcks = true));
  await until(() => client.stats().connections > 1);
  server.noAcks = false;
  await live();
});

test('a slow reader misses no event, and the queue stays bounded', async (t) => {
  const { server, client, states, want, live, until } = start(t, { pace: { queue: 50 } });
  await live();
  server.file('signals', 1000);
  await until(() => states.reconnecting > 0);
  assert.equal(server.conns.size, 0);
  for (let seq = 1; seq <= 1000; seq++) await want(seq);
  assert.equal(client.stats().holes, 0);
  assert.ok(client.stats().connections > 5);
});

test('the client does not reconnect with a rejected key', async (t) => {
  const { server, client, live } = start(t, { channels: ['me'], key: 'dk_x' });
  await live();
  assert.deepEqual(server.received[0], { op: 'auth', id: 'a', token: 'dk_x' });
  server.cut(4001);
  await assert.rejects(async () => {
    for await (const m of client) assert.equal(m.op, 'beat');
  }, { code: 'unauthenticated' });
  assert.equal(server.opened, 1);
});

test('the wait grows with the number of rejected connections', async (t) => {
  const { server, want, live } = start(t, {}, (s) => (s.refuse = 4));
  await live();
  server.file('signals');
  await want(1);
  assert.deepEqual([0, 1, 2, 3, 4, 99].map((n) => waitFor(n, undefined, 1)), [5000, 5000, 10000, 20000, 30000, 30000]);
  assert.deepEqual([0, 99].map((n) => waitFor(n, undefined, 0)), [500, 500]);
});

test('a gap is delivered for old events, and the stored events follow', async (t) => {
  const { server, next, want } = start(t, { since: { signals: 2 } }, (s) => {
    s.file('signals', 9);
    s.oldest = 5;
  });
  assert.deepEqual(await next(), { op: 'gap', channel: 'signals', from: 2, oldest: 5 });
  await want(5, 6, 7, 8, 9);
  server.cut(1006);
  server.file('signals');
  await want(10);
});

test('a number above the newest is an error, and the live events follow', async (t) => {
  const { server, next, want } = start(t, { since: { signals: 700 } });
  assert.equal((await next()).error, 'future_cursor');
  server.file('signals', 2);
  await want(1, 2);
});

test('snapshots, spelling and unknown channels', async (t) => {
  const { server, client, next, want, live } = start(t, { channels: ['live', 'nowhere', 'operator:Mara_K'] });
  assert.equal((await next()).channel, 'nowhere');
  assert.equal((await next()).op, 'snapshot');
  await live();
  server.file('operator:mara_k');
  await want(1);
  assert.equal(client.last()['operator:mara_k'], 1);
  assert.equal(client.last()['operator:Mara_K'], undefined);
});

test('a position is found for every spelling of the handle', async (t) => {
  const { server, client, want, live } = start(t, { channels: ['operator:UP25144', 'operator:up25144'] }, (s) => s.file('operator:up25144', 2));
  await live();
  server.file('operator:up25144');
  await want(3);
  assert.deepEqual(client.last(), { 'operator:up25144': 3 });
  for (const [name, since] of [
    ['operator:UP25144', client.last()],
    ['operator:Up25144', { 'operator:UP25144': 3, 'overlay:other': 9 }],
    ['operator:up25144', { 'operator:UP25144': 3, 'operator:up25144': 4 }],
  ]) {
    const again = start(t, { channels: [name], since }, (s) => s.file('operator:up25144', 5));
    await again.want(4, 5);
    assert.deepEqual(again.client.last(), { 'operator:up25144': 5 });
  }
});

test('an unknown channel is removed, and the others continue', async (t) => {
  const { server, client, states, next, live, want, until } = start(t, { channels: ['nowhere', 'signals'], since: { nowhere: 3 } });
  assert.equal((await next()).error, 'unknown_channel');
  await live();
  server.cut(1006);
  await until(() => states.live === 2);
  server.file('signals');
  await want(1);
  assert.deepEqual(client.last(), { signals: 1 });
  assert.throws(() => client.refresh('nowhere'), /server rejected/);
});

test('the client ends when the server has rejected every channel', async (t) => {
  const { client, next } = start(t, { channels: ['nowhere'] });
  assert.equal((await next()).error, 'unknown_channel');
  await assert.rejects(next(), (e) => e.code === 'no_channel' && /unknown_channel/.test(e.message));
  await assert.rejects(async () => {
    for await (const _ of client);
  }, { code: 'no_channel' });
});

test('a key can be a function, which is called for each connection', async (t) => {
  let calls = 0;
  const key = async () => {
    if (++calls === 2) throw new Error('the vault is locked');
    return `dk_${calls}`;
  };
  const { server, states, live, until } = start(t, { channels: ['signals'], key });
  await live();
  server.cut(1006);
  await until(() => states.live === 2);
  assert.deepEqual(server.received.filter((f) => f.op === 'auth').map((f) => f.token), ['dk_1', 'dk_3']);
});

test('a snapshot can be delayed, and refresh requests it again', async (t) => {
  const { server, client, next, want, live } = start(t, { channels: ['live', 'signals'] }, (s) => (s.noSnapshots = true));
  assert.equal((await next()).error, 'db_unavailable');
  await live();
  server.file('live', 2);
  await want(1, 2);
  server.noSnapshots = false;
  server.all({ op: 'snapshot', channel: 'live', seq: 2, data: { live: [] } });
  assert.equal((await next()).op, 'snapshot');
  client.refresh('live');
  assert.equal((await next()).op, 'snapshot');
  server.file('live');
  await want(3);
  assert.deepEqual([client.stats().connections, client.stats().holes], [1, 0]);
  client.close();
  client.refresh('live'); // has no effect on a closed client
});

test('open rejects invalid options', (t) => {
  const good = { url: 'ws://feed.example/ws', channels: ['signals'], WebSocket: class {} };
  for (const bad of [
    { url: 'nonsense' }, { url: undefined }, { url: '' }, { url: 'ftp://feed.example/ws' }, { url: 'ws://' }, { channels: [] }, { channels: undefined },
    { since: { signals: -1 } }, { since: { signals: 1.5 } }, { since: { signals: NaN } }, { since: { signals: '7' } }, { since: { x: 2 ** 53 } }, { WebSocket: 7 },
  ]) assert.throws(() => open({ ...good, ...bad }), TypeError, JSON.stringify(bad));
  const own = globalThis.WebSocket;
  t.after(() => (globalThis.WebSocket = own));
  globalThis.WebSocket = undefined;
  assert.throws(() => open({ ...good, WebSocket: undefined }), /--experimental-websocket.*option WebSocket/);
});

test('an error of the WebSocket constructor ends the client and rejects pending reads', async () => {
  const states = [];
  const urls = [];
  class Refuses {
    constructor(url) {
      urls.push(url);
      throw new Error('not on this page');
    }
  }
  const client = open({ url: 'https://feed.example/ws#x', channels: ['signals'], WebSocket: Refuses, onState: (s) => states.push(s) });
  await assert.rejects(client.next(), { code: 'unusable', message: /not on this page/ });
  await assert.rejects(client[Symbol.asyncIterator]().next(), { code: 'unusable' });
  assert.deepEqual(states.map((s) => s.phase), ['connecting', 'closed']);
  assert.match(states[1].reason, /not on this page/);
  assert.deepEqual(urls, ['wss://feed.example/ws']);
});

test('a server without head in hello', async (t) => {
  const { server, want, live } = start(t, {}, (s) => {
    s.old = true;
    s.file('signals', 2);
  });
  await live();
  server.file('signals');
  await want(3);
  server.cut(1006);
  server.file('signals');
  await want(4);
});

test('a closed client ends and does not reconnect', async (t) => {
  const { server, client, states, live } = start(t);
  await live();
  const reading = (async () => {
    for await (const m of client) assert.equal(m.op, 'beat');
  })();
  client.close();
  await reading;
  await assert.rejects(client.next(), { code: 'closed' });
  assert.equal(states.closed, 1);
  assert.equal(server.conns.size, 0);
});

test('a day of beats causes no reconnection, and two missing beats cause one', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'] });
  const { server, client, states, next, settle } = startWithMockedTime(t);
  await settle();
  for (let n = 0; n < 2880; n++) {
    t.mock.timers.tick(30000);
    await settle();
  }
  const { connections, holes, repeats } = client.stats();
  assert.deepEqual({ connections, holes, repeats, live: states.live, reconnecting: states.reconnecting }, { connections: 1, holes: 0, repeats: 0, live: 1, reconnecting: undefined });
  server.file('signals');
  assert.equal((await next()).seq, 1);
  server.mute = true;
  server.file('signals');
  t.mock.timers.tick(74000);
  await settle();
  assert.equal(states.reconnecting, undefined);
  t.mock.timers.tick(2000);
  await settle();
  assert.equal(states.reconnecting, 1);
  server.mute = false;
  t.mock.timers.tick(5000);
  await settle();
  assert.equal((await next()).seq, 2);
  assert.deepEqual([client.stats().connections, client.stats().holes], [2, 0]);
});

test('pings detect a silent server sooner', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'] });
  const { server, client, states, settle } = startWithMockedTime(t, { ping: 1200, least: 900, most: 1100, refused: 1100 });
  await settle();
  for (let n = 0; n < 50; n++) {
    t.mock.timers.tick(1200);
    await settle();
  }
  assert.deepEqual([client.stats().connections, states.reconnecting, server.pings], [1, undefined, 50]);
  server.mute = true;
  t.mock.timers.tick(3100);
  await settle();
  assert.equal(states.reconnecting, 1);
  server.mute = false;
  t.mock.timers.tick(1100);
  await settle();
  assert.equal(client.stats().connections, 2);
});

// startWithMockedTime is like start, but with the default times and a mocked clock.
function startWithMockedTime(t, pace = {}) {
  const server = new Server({ every: 30000, heartbeatS: 30 });
  const states = {};
  const client = open({ url: 'ws://feed.example/ws', channels: ['signals'], pace, WebSocket: server.WebSocket, onState: (s) => (states[s.phase] = (states[s.phase] ?? 0) + 1) });
  t.after(() => {
    client.close();
    server.end();
  });
  const received = [];
  const reading = (async () => {
    for await (const m of client) if (m.op !== 'beat') received.push(m);
  })();
  t.after(() => reading);
  // settle runs pending microtasks, including those of the first connection.
  const settle = async () => {
    t.mock.timers.tick(0);
    for (let n = 0; n < 20; n++) await null;
  };
  const next = async () => {
    await settle();
    return received.shift();
  };
  return { server, client, states, next, settle };
}
