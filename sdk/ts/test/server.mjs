// In-memory feed server with configurable faults, and a WebSocket class that connects to it.

export class Server {
  log = [];
  newest = new Map();
  seq = 0;
  oldest = 0; // number of the oldest stored event
  conns = new Set();
  opened = 0; // number of accepted connections
  received = []; // frames of clients, without pings
  pings = 0;
  refuse = 0; // number of next connections to reject
  drop = 0; // number of next events that are not sent
  forget = false; // dropped events are not sent by a replay either
  repeats = false; // every event is sent twice
  mute = false; // no events, beats and pongs
  noAcks = false; // no acknowledgements
  old = false; // hello has no head
  noSnapshots = false; // snapshots fail with db_unavailable

  constructor({ every = 20, heartbeatS = 4 } = {}) {
    this.heartbeatS = heartbeatS;
    const server = this;
    this.WebSocket = class {
      subs = new Set();
      constructor(url, protocols) {
        server.protocols = protocols;
        queueMicrotask(() => server.accept(this));
      }
      send(text) {
        server.take(this, JSON.parse(text));
      }
      close() {
        server.conns.delete(this);
      }
      receive(frame) {
        const data = JSON.stringify(frame);
        queueMicrotask(() => this.onmessage?.({ data }));
      }
    };
    this.beating = setInterval(() => {
      if (!this.mute) this.all({ op: 'beat', head: this.seq, at: '2026-09-18T12:00:00.000Z' });
    }, every);
  }

  // end stops the beats.
  end() {
    clearInterval(this.beating);
  }

  // all sends a frame to every connection.
  all(frame) {
    for (const c of this.conns) c.receive(frame);
  }

  accept(c) {
    if (this.refuse > 0) {
      this.refuse--;
      c.onclose?.({ code: 1006, reason: '' });
      return;
    }
    this.conns.add(c);
    this.opened++;
    const hello = { op: 'hello', protocol: 'signal.v1', heartbeatS: this.heartbeatS, serverTime: new Date().toISOString() };
    if (!this.old) hello.head = this.seq;
    c.receive(hello);
  }

  // take handles a frame of a client.
  take(c, f) {
    if (f.op === 'ping') {
      this.pings++;
      if (!this.mute) c.receive({ op: 'pong', id: f.id });
      return;
    }
    this.received.push(f);
    c.frames = (c.frames ?? 0) + 1;
    if (c.frames > 20) throw new Error("too many frames"); // the limit of the service
    if (f.op === 'auth') return c.receive({ op: 'ack', id: f.id, channels: [] });
    const acked = [];
    for (const name of f.channels) {
      if (name === 'nowhere') c.receive({ op: 'error', id: f.id, error: 'unknown_channel', channel: name });
      else acked.push(name.toLowerCase());
    }
    if (this.noAcks) return;
    c.receive({ op: 'ack', id: f.id, channels: acked });
    if (f.op === 'unsubscribe') return acked.forEach((name) => c.subs.delete(name));
    for (const name of f.channels) if (name !== 'nowhere') this.replay(c, name.toLowerCase(), f.since?.[name]);
  }

  // replay subscribes a connection to a channel and sends the events after since.
  replay(c, channel, since) {
    c.subs.add(channel);
    if (channel === 'live' && this.noSnapshots) c.receive({ op: 'error', id: 's', error: 'db_unavailable', channel });
    else if (channel === 'live') c.receive({ op: 'snapshot', channel, seq: this.seq, data: { live: [] } });
    if (since === undefined) return;
    if (since > this.seq) return c.receive({ op: 'error', error: 'future_cursor', channel });
    if (since < this.oldest - 1) {
      c.receive({ op: 'gap', channel, from: since, oldest: this.oldest });
      since = this.oldest - 1; // the stored events follow
    }
    for (const { lost, ...e } of this.log) {
      if (e.channel === channel && e.seq > since && !(this.forget && lost)) c.receive(e);
    }
  }

  // file publishes n events on a channel.
  file(channel, n = 1) {
    for (; n > 0; n--) {
      const e = { op: 'event', channel, seq: ++this.seq, prev: this.newest.get(channel) ?? null, type: 'signal.created', at: '2026-09-18T12:00:00.000Z', data: {} };
      this.newest.set(channel, e.seq);
      const lost = this.drop > 0 && this.drop-- > 0;
      this.log.push({ ...e, lost });
      if (lost || this.mute) continue;
      for (const c of this.conns) {
        if (!c.subs.has(channel)) continue;
        c.receive(e);
        if (this.repeats) c.receive(e);
      }
    }
  }

  // cut closes every connection with a code.
  cut(code) {
    const conns = [...this.conns];
    this.conns.clear();
    for (const c of conns) c.onclose?.({ code, reason: '' });
  }
}
