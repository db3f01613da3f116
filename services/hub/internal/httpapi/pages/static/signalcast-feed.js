// Reads the live feed of Signalcast and loses nothing: it comes back after a cut,
// goes on where it was on every channel, sees what is missing, has it sent again, and
// says so. For browsers and Node, without any dependency.
//
//   const feed = open({ url: 'wss://api.example/ws', channels: ['signals'] });
//   for await (const m of feed) {
//     if (m.op === 'event') handle(m);
//     if (m.op === 'gap') reread(m.channel); // older than what the feed keeps
//   }
/** The client ended for good: its key is refused, close was called, or no WebSocket can be made of its address. */
export class FeedError extends Error {
    code;
    constructor(code, message) {
        super(message);
        this.code = code;
        this.name = 'FeedError';
    }
}
const usual = {
    least: 500, // of the wait before it comes back
    most: 5000,
    refused: 30000, // what the wait grows to
    handshake: 15000,
    second: 1000, // what the heartbeat counts in
    ping: 0, // how often it asks whether the server is there; 0: it waits for the beats
    queue: 1000, // messages that wait for whoever takes them; then it stops reading
};
const together = 20; // channels in one frame, which stays below 8 KiB
const maxTries = 3; // to fill a hole
const inBetween = 8; // holes asked for one by one between two beats
const place = (at, exact = false) => ({ at, exact, repair: '', answered: false, since: 0, tries: 0 });
function judge(p, seq, prev) {
    if (p.at === null)
        return 'fits';
    if (seq <= p.at)
        return 'repeated';
    return (p.exact ? prev === p.at : prev <= p.at) ? 'fits' : 'missing';
}
/** How long to stay away, by chance, so that many clients do not come at once. */
export function waitFor(refusals, pace = usual, chance = Math.random()) {
    const most = Math.min(pace.refused, pace.most * 2 ** Math.max(0, refusals - 1));
    return pace.least + chance * (most - pace.least);
}
/** A channel as the server spells it: handles are of lower case, everything else is exact. */
function fold(name) {
    return /^(operator|overlay):/.test(name) ? name.replace(/[A-Z]/g, (letter) => letter.toLowerCase()) : name;
}
/** The address of a websocket, of which one can be made here. */
function address(url) {
    let u;
    try {
        u = new URL(url, globalThis.location?.href);
    }
    catch {
        throw new TypeError(`${JSON.stringify(url)} is no address of a websocket`);
    }
    u.protocol = u.protocol.replace(/^http/, 'ws');
    if (u.protocol !== 'ws:' && u.protocol !== 'wss:')
        throw new TypeError(`${JSON.stringify(url)} is no address of a websocket`);
    u.hash = '';
    return u.href;
}
/** Places by channel, as numbers that may be asked for. */
function places(since) {
    const out = new Map();
    for (const [key, n] of Object.entries(since)) {
        if (!Number.isSafeInteger(n) || n < 0)
            throw new TypeError(`since ${n} of ${JSON.stringify(key)} is no number of an event`);
        const name = fold(key);
        out.set(name, Math.min(n, out.get(name) ?? n)); // of two the one that loses nothing
    }
    return out;
}
/** Opens a client. It does not wait for the connection; a server that is away is no fault. Throws a TypeError for options of which no client can be made: an address that is none, no channels, a bad number, no WebSocket. */
export function open(options) {
    return new FeedClient(options);
}
/** Reads channels of the feed until it is closed or its key is refused. */
export class FeedClient {
    options;
    pace;
    url;
    Socket;
    places = new Map();
    handed = new Map();
    counts = { connections: 0, holes: 0, repaired: 0, lost: 0, repeats: 0, head: 0, clock: 0 };
    queue = [];
    takers = [];
    socket = null;
    silence;
    asking;
    coming;
    ended = null;
    full = false; // nothing is read until somebody takes
    refusals = 0; // in a row
    frames = 0; // sent, which names them
    // Of the present connection.
    head = null;
    silent = 0;
    open = new Set();
    live = false;
    beats = 0;
    asked = 0;
    constructor(options) {
        this.options = options;
        this.url = address(options.url);
        if (!Array.isArray(options.channels) || options.channels.length === 0)
            throw new TypeError('no channels');
        const Socket = options.WebSocket ?? globalThis.WebSocket;
        if (typeof Socket !== 'function')
            throw new TypeError('there is no WebSocket here: give one with the option WebSocket');
        this.Socket = Socket;
        this.pace = { ...usual, ...options.pace };
        const from = places(options.since ?? {});
        for (const name of options.channels.map(fold)) {
            const since = from.get(name);
            this.places.set(name, place(since ?? null));
            if (since !== undefined)
                this.handed.set(name, since);
        }
        this.coming = setTimeout(() => this.connect(), 0);
    }
    /** The next message. Fails when the client has ended and all that it read was taken. */
    next() {
        const m = this.queue.shift();
        if (m !== undefined) {
            if (this.full && this.queue.length <= this.pace.queue / 2) {
                this.full = false;
                if (!this.ended)
                    this.comeBack(0);
            }
            return Promise.resolve(this.hand(m));
        }
        if (this.ended)
            return Promise.reject(this.ended);
        return new Promise((resolve, reject) => this.takers.push({ resolve, reject }));
    }
    /** One message after the other; ends when the client is closed, fails when its key is refused. */
    async *[Symbol.asyncIterator]() {
        for (;;) {
            let m;
            try {
                m = await this.next();
            }
            catch (err) {
                if (err instanceof FeedError && err.code === 'closed')
                    return;
                throw err;
            }
            yield m;
        }
    }
    /** By channel, the number up to which everything was handed on: what `since` takes to go on from here. Names are those of the server, and a channel that does not exist is not among them. */
    last() {
        return Object.fromEntries(this.handed);
    }
    stats() {
        return { ...this.counts };
    }
    /** Asks for the snapshot of a channel again, as after an error that named it. Its events go on, each once. While the client is away nothing is sent: every connection begins with the snapshots. The server counts both frames against its limit. Throws for a channel that is not read. */
    refresh(channel) {
        const name = fold(channel);
        if (!this.places.has(name))
            throw new TypeError(`the channel ${JSON.stringify(channel)} is not read`);
        if (!this.open.has(name))
            return; // it is asked for already, or will be
        this.say({ op: 'unsubscribe', id: `u${this.frames}`, channels: [name] });
        this.ask([name]);
    }
    /** Ends the connection. What was read and not taken can still be taken. */
    close() {
        this.finish(new FeedError('closed', 'the client was closed'));
    }
    tell(state) {
        this.options.onState?.(state);
    }
    hand(m) {
        if (m.op === 'event' && m.seq)
            this.handed.set(m.channel, m.seq);
        return m;
    }
    give(m) {
        const taker = this.takers.shift();
        if (taker) {
            taker.resolve(this.hand(m));
            return;
        }
        this.queue.push(m);
        if (this.queue.length >= this.pace.queue && !this.full) {
            this.full = true; // a browser cannot stop reading a connection: it is ended, and resumed later
            this.drop();
            this.tell({ phase: 'reconnecting', reason: 'nobody takes what came' });
        }
    }
    finish(err) {
        if (this.ended)
            return;
        this.ended = err;
        clearTimeout(this.coming);
        this.drop(true);
        this.tell({ phase: 'closed', reason: err.message });
        for (const t of this.takers.splice(0))
            t.reject(err);
    }
    /** Ends the connection without coming back. */
    drop(gently = false) {
        clearTimeout(this.silence);
        clearInterval(this.asking);
        const socket = this.socket;
        this.socket = null;
        this.open.clear();
        if (!socket)
            return;
        socket.onopen = socket.onmessage = socket.onclose = null;
        socket.onerror = () => { }; // of a connection that nobody waits for
        // One that is closed before it stands is a failure to browsers, which say so.
        if (gently && socket.readyState === 0)
            socket.onopen = () => socket.close();
        else
            socket.close();
    }
    comeBack(wait) {
        clearTimeout(this.coming);
        this.coming = setTimeout(() => this.connect(), wait);
    }
    connect() {
        this.tell({ phase: 'connecting' });
        if (this.ended)
            return; // whoever was told has closed it
        this.refusals++; // until it is subscribed
        this.head = null;
        this.open = new Set();
        this.live = false;
        this.beats = this.asked = 0;
        this.silent = this.pace.handshake;
        let socket;
        try {
            socket = new this.Socket(this.url, ['signal.v1']);
        }
        catch (err) {
            // A server that is away is told later: what throws here is refused by this place,
            // such as ws: on a page of https, and stays so.
            this.finish(new FeedError('unusable', `no WebSocket can be made: ${err instanceof Error ? err.message : String(err)}`));
            return;
        }
        this.socket = socket;
        socket.onmessage = (e) => {
            if (this.socket === socket)
                this.read(String(e.data));
        };
        socket.onerror = () => { }; // close follows and tells as much
        socket.onclose = (e) => {
            if (this.socket === socket)
                this.cut(e.code, e.reason);
        };
        this.listen();
    }
    /** A connection that says nothing for too long is dead. */
    listen() {
        clearTimeout(this.silence);
        this.silence = setTimeout(() => this.cut(1006, `silent for ${this.silent} ms`), this.silent);
    }
    cut(code, reason) {
        this.drop();
        if (this.ended)
            return;
        if (code === 4001) {
            this.finish(new FeedError('unauthenticated', 'the key is unknown or revoked'));
            return;
        }
        let wait = 0;
        if (code === 4029) {
            this.refusals++;
            wait = this.pace.most;
        }
        wait = Math.max(wait, waitFor(this.refusals, this.pace));
        this.tell({ phase: 'reconnecting', wait, reason: reason || `closed with ${code}` });
        if (!this.ended && !this.full)
            this.comeBack(wait);
    }
    read(text) {
        this.listen();
        let f;
        try {
            f = JSON.parse(text);
        }
        catch {
            this.cut(1006, 'a frame is no JSON');
            return;
        }
        switch (f.op) {
            case 'hello':
                return this.hello(f);
            case 'ack':
                return this.acked(f);
            case 'snapshot': {
                const p = this.places.get(f.channel);
                if (!p)
                    return;
                if (p.at === null)
                    this.places.set(f.channel, place(f.seq));
                return this.give(f);
            }
            case 'event':
                return this.event(f);
            case 'gap':
                if (!this.places.has(f.channel))
                    return;
                this.places.set(f.channel, place(f.oldest - 1)); // what is kept follows
                return this.give(f);
            case 'beat':
                return this.beat(f);
            case 'error':
                return this.refused(f);
        }
    }
    /** Subscribes to everything, each channel from where it was read to. What was never read begins at the newest event of this moment, so that a cut before its first event loses nothing. */
    hello(f) {
        this.counts.connections++;
        this.head = typeof f.head === 'number' ? f.head : null;
        this.heard(this.head ?? 0);
        const clock = Date.parse(f.serverTime) - Date.now();
        if (Number.isFinite(clock))
            this.counts.clock = clock;
        if (f.heartbeatS > 0)
            this.silent = f.heartbeatS * this.pace.second * 2.5;
        if (this.pace.ping > 0) {
            this.silent = this.pace.ping * 2.5;
            clearInterval(this.asking);
            this.asking = setInterval(() => this.say({ op: 'ping', id: 'p' }), this.pace.ping);
        }
        this.listen();
        for (const [name, p] of this.places) {
            p.repair = '';
            p.answered = false;
            if (p.at === null && this.head !== null) {
                p.at = this.head;
                this.handed.set(name, p.at);
            }
        }
        if (this.options.key)
            this.say({ op: 'auth', id: 'a', token: this.options.key });
        const names = [...this.places.keys()];
        for (let i = 0; i < names.length; i += together)
            this.ask(names.slice(i, i + together));
        this.alive(); // every channel may have been refused before
    }
    say(frame) {
        this.socket?.send(JSON.stringify(frame));
    }
    ask(names) {
        const id = `s${++this.frames}`;
        const since = {};
        for (const name of names) {
            const at = this.places.get(name)?.at;
            if (at !== null && at !== undefined)
                since[name] = at;
        }
        this.say({ op: 'subscribe', id, channels: names, since });
        return id;
    }
    acked(f) {
        for (const name of f.channels ?? []) {
            if (!this.places.has(name))
                this.rename(name); // the server has its own spelling
            const p = this.places.get(name);
            if (!p)
                continue;
            this.open.add(name);
            if (p.repair === f.id)
                p.answered = true;
        }
        this.alive();
    }
    rename(name) {
        const mine = [...this.places.keys()].find((k) => k.toLowerCase() === name.toLowerCase());
        if (mine === undefined)
            return;
        this.places.set(name, this.places.get(mine));
        this.places.delete(mine);
        const at = this.handed.get(mine);
        this.handed.delete(mine);
        if (at !== undefined)
            this.handed.set(name, at);
    }
    alive() {
        if (this.live || [...this.places.keys()].some((name) => !this.open.has(name)))
            return;
        this.live = true;
        this.refusals = 0;
        this.tell({ phase: 'live' });
    }
    heard(n) {
        this.counts.head = Math.max(this.counts.head, n);
    }
    beat(f) {
        this.asked = 0;
        this.beats++;
        this.heard(f.head);
        const late = [...this.places.values()].some((p) => p.repair && !p.answered && this.beats - p.since > 2);
        if (late || (!this.live && this.beats > 2)) {
            this.cut(1006, 'a subscribe frame is not answered');
            return;
        }
        this.give(f);
    }
    /** Hands an event on if it is the next one of its channel. */
    event(f) {
        const p = this.places.get(f.channel);
        if (!p)
            return;
        if (!f.seq)
            return this.give(f);
        this.heard(f.seq);
        switch (judge(p, f.seq, f.prev ?? 0)) {
            case 'repeated':
                this.counts.repeats++;
                return;
            case 'missing':
                return this.hole(p, f.channel, f.seq, f);
        }
        this.places.set(f.channel, place(f.seq, true));
        if (p.tries > 0)
            this.counts.repaired++;
        this.give(f);
        if (p.tries > 0)
            this.tell({ phase: 'repaired', channel: f.channel, after: p.at ?? 0, seq: f.seq });
    }
    /** Asks again for what is missing. What comes before the answer is of the old subscription and comes again. */
    hole(p, channel, seq, f) {
        if (p.repair && !p.answered)
            return;
        const after = p.at ?? 0;
        if (p.tries >= maxTries) {
            this.counts.lost++;
            this.places.set(channel, place(seq, true));
            this.give({ op: 'gap', channel, from: after, oldest: seq });
            this.give(f);
            return;
        }
        if (p.tries++ === 0) {
            this.counts.holes++;
            this.tell({ phase: 'hole', channel, after, seq });
        }
        if (++this.asked > inBetween) {
            this.cut(1006, 'too many holes, connecting again');
            return;
        }
        p.repair = this.ask([channel]);
        p.answered = false;
        p.since = this.beats;
    }
    /** Hands an error on and forgets a channel that cannot be had. */
    refused(f) {
        const name = f.channel;
        if (name !== undefined && this.places.has(name)) {
            if (f.error === 'future_cursor') {
                this.places.set(name, place(this.head)); // the number was of another feed
            }
            else if (['unknown_channel', 'invalid_since', 'unauthenticated', 'limit_reached'].includes(f.error)) {
                this.places.delete(name);
                if (f.error === 'unknown_channel' || f.error === 'invalid_since')
                    this.handed.delete(name); // of no use to another run
                this.alive();
            }
        }
        this.give(f);
    }
}
