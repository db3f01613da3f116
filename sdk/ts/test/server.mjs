// A feed in memory that misbehaves as it is told, and the WebSocket that leads to it.

export class Server {
  log = [];
  newest = new Map();
  seq = 0;
  oldest = 0; // what is older is gone
  conns = new Set();
  opened = 0;
  heard = []; // frames of clients
  pings = 0;
  refuse = 0; // the next connections
  drop = 0; // the next events are not sent
  forget = false; // and are not sent again either
  repeats = false; // every event comes twice
  mute = false; // nothing comes
  deaf = false; // no acks
  old = false; // no head in hello
  sick = false; // no snapshots

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
      hear(frame) {
        const data = JSON.stringify(frame);
        queueMicrotask(() => this.onmessage?.({ data }));
      }
    };
    this.beating = setInterval(() => {
      if (!this.mute) this.all({ op: 'beat', head: this.seq, at: '2026-09-18T12:00:00.000Z' });
    }, every);
  }

  end() {
    clearInterval(this.beating);
  }

  all(frame) {
    for (const c of this.conns) c.hear(frame);
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
    c.hear(hello);
  }

  take(c, f) {
    if (f.op === 'ping') {
      this.pings++;
      if (!this.mute) c.hear({ op: 'pong', id: f.id });
      return;
    }
    this.heard.push(f);
    c.said = (c.said ?? 0) + 1;
    if (c.said > 20) throw new Error("too many frames"); // more than the limit of the service, at once
    if (f.op === 'auth') return c.hear({ op: 'ack', id: f.id, channels: [] });
    const acked = [];
    for (const name of f.channels) {
      if (name === 'nowhere') c.hear({ op: 'error', id: f.id, error: 'unknown_channel', channel: name });
      else acked.push(name.toLowerCase());
    }
    if (this.deaf) return;
    c.hear({ op: 'ack', id: f.id, channels: acked });
    if (f.op === 'unsubscribe') return acked.forEach((name) => c.subs.delete(name));
    for (const name of f.channels) if (name !== 'nowhere') this.replay(c, name.toLowerCase(), f.since?.[name]);
  }

  replay(c, channel, since) {
    c.subs.add(channel);
    if (channel === 'live' && this.sick) c.hear({ op: 'error', id: 's', error: 'db_unavailable', channel });
    else if (channel === 'live') c.hear({ op: 'snapshot', channel, seq: this.seq, data: { live: [] } });
    if (since === undefined) return;
    if (since > this.seq) return c.hear({ op: 'error', error: 'future_cursor', channel });
    if (since < this.oldest - 1) {
      c.hear({ op: 'gap', channel, from: since, oldest: this.oldest });
      since = this.oldest - 1; // what is kept follows
    }
    for (const { lost, ...e } of this.log) {
      if (e.channel === channel && e.seq > since && !(this.forget && lost)) c.hear(e);
    }
  }

  file(channel, n = 1) {
    for (; n > 0; n--) {
      const e = { op: 'event', channel, seq: ++this.seq, prev: this.newest.get(channel) ?? null, type: 'signal.created', at: '2026-09-18T12:00:00.000Z', data: {} };
      this.newest.set(channel, e.seq);
      const lost = this.drop > 0 && this.drop-- > 0;
      this.log.push({ ...e, lost });
      if (lost || this.mute) continue;
      for (const c of this.conns) {
        if (!c.subs.has(channel)) continue;
        c.hear(e);
        if (this.repeats) c.hear(e);
      }
    }
  }

  // cut ends every connection with a code.
  cut(code) {
    const conns = [...this.conns];
    this.conns.clear();
    for (const c of conns) c.onclose?.({ code, reason: '' });
  }
}
