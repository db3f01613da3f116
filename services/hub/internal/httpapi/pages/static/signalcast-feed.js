// Client of the live feed of Signalcast. It delivers every event: it reconnects, resumes every channel at
// its last position, detects missing events, requests them again, and reports them. For browsers and Node,
// without dependencies.
//
//   const feed = open({ url: 'wss://api.example/ws', channels: ['signals'] });
//   for await (const m of feed) {
//     if (m.op === 'event') handle(m);
//     if (m.op === 'gap') reread(m.channel); // older than what the feed keeps
//   }
/** The client ended permanently: its key is invalid, close was called, no WebSocket can be created for its URL, or the server rejected every channel. */
export class FeedError extends Error {
    code;
    constructor(code, message) {
        super(message);
        this.code = code;
        this.name = 'FeedError';
    }
}
const defaultPace = {
    least: 500, // minimum wait before a reconnection
    most: 5000, // maximum wait before a reconnection
    refused: 30000, // maximum wait after several failed connections
    handshake: 15000, // maximum wait for hello
    second: 1000, // length of a second of the heartbeat interval
    ping: 0, // interval of pings; 0: no pings, only beats are expected
    queue: 1000, // maximum number of undelivered messages; then the connection is closed until they are read
};
const channelsPerFrame = 20; // keeps a subscribe frame below 8 KiB
const maxTries = 3; // attempts to fill a hole
const maxRepairs = 8; // repair requests between two beats
const position = (at, exact = false) => ({ at, exact, repair: '', answered: false, since: 0, tries: 0 });
/** Compares an event with the position of its channel. */
function compare(p, seq, prev) {
    if (p.at === null)
        return 'fits';
    if (seq <= p.at)
        return 'repeated';
    return (p.exact ? prev === p.at : prev <= p.at) ? 'fits' : 'missing';
}
/** Returns a random wait in milliseconds before a reconnection, so that many clients do not reconnect at the same time. */
export function waitFor(failures, pace = defaultPace, chance = Math.random()) {
    const most = Math.min(pace.refused, pace.most * 2 ** Math.max(0, failures - 1));
    return pace.least + chance * (most - pace.least);
}
/** Returns the channel name as the server spells it: handles in lower case, all other parts unchanged. */
function normalize(name) {
    return /^(operator|overlay):/.test(name) ? name.replace(/[A-Z]/g, (letter) => letter.toLowerCase()) : name;
}
/** Returns the URL of a websocket, with ws or wss. Throws a TypeError for an invalid URL. */
function websocketURL(url) {
    let u;
    try {
        u = new URL(url, globalThis.location?.href);
    }
    catch {
        throw new TypeError(`the option url ${JSON.stringify(url)} must be a ws, wss, http or https URL with a host`);
    }
    u.protocol = u.protocol.replace(/^http/, 'ws');
    if (u.protocol !== 'ws:' && u.protocol !== 'wss:')
        throw new TypeError(`the option url ${JSON.stringify(url)} must be a ws, wss, http or https URL with a host`);
    u.hash = '';
    return u.href;
}
/** Validates the numbers of since and returns them by normalized channel name. */
function startNumbers(since) {
    const out = new Map();
    for (const [key, n] of Object.entries(since)) {
        if (!Number.isSafeInteger(n) || n < 0)
            throw new TypeError(`since of ${JSON.stringify(key)} is ${n}; it must be an integer from 0 to 2^53-1`);
        const name = normalize(key);
        out.set(name, Math.min(n, out.get(name) ?? n)); // two spellings of a channel: the smaller number misses nothing
    }
    return out;
}
/** Opens a client without waiting for the connection; an unavailable server is not an error. Throws a TypeError for invalid options: an invalid URL, no channels, an invalid number, no WebSocket. */
export function open(options) {
    return new FeedClient(options);
}
/** Reads channels of the feed until it is closed or its key is rejected. */
export class FeedClient {
    options;
    pace;
    url;
    Socket;
    positions = new Map();
    delivered = new Map();
    counts = { connections: 0, holes: 0, repaired: 0, lost: 0, repeats: 0, head: 0, clock: 0 };
    queue = [];
    waiters = [];
    socket = null;
    silenceTimer;
    pingTimer;
    reconnectTimer;
    ended = null;
    full = false; // the queue is full; the connection stays closed until messages are read
    failures = 0; // connections in a row that were not subscribed
    frames = 0; // subscribe frames sent; used for their ids
    // State of the current connection.
    head = null;
    timeout = 0;
    open = new Set();
    live = false;
    beats = 0;
    repairs = 0;
    constructor(options) {
        this.options = options;
        this.url = websocketURL(options.url);
        if (!Array.isArray(options.channels) || options.channels.length === 0)
            throw new TypeError('the option channels is empty; name at least one channel');
        const Socket = options.WebSocket ?? globalThis.WebSocket;
        if (typeof Socket !== 'function') {
            throw new TypeError('there is no global WebSocket; use Node 22 or newer, start Node 20 with --experimental-websocket, or set the option WebSocket to the class of the package ws');
        }
        this.Socket = Socket;
        this.pace = { ...defaultPace, ...options.pace };
        const from = startNumbers(options.since ?? {});
        for (const name of options.channels.map(normalize)) {
            const since = from.get(name);
            this.positions.set(name, position(since ?? null));
            if (since !== undefined)
                this.delivered.set(name, since);
        }
        this.reconnectTimer = setTimeout(() => this.connect(), 0);
    }
    /** Returns the next message. Rejects when the client has ended and all received messages were returned. */
    next() {
        const m = this.queue.shift();
        if (m !== undefined) {
            if (this.full && this.queue.length <= this.pace.queue / 2) {
                this.full = false;
                if (!this.ended)
                    this.scheduleConnect(0);
            }
            return Promise.resolve(this.recordDelivery(m));
        }
        if (this.ended)
            return Promise.reject(this.ended);
        return new Promise((resolve, reject) => this.waiters.push({ resolve, reject }));
    }
    /** Yields every message; ends when the client is closed, throws when its key is rejected. */
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
    /** Returns, for each channel, the number up to which every event was delivered. Pass it as `since` to resume in another run. Names are those of the server; unknown channels are not included. */
    last() {
        return Object.fromEntries(this.delivered);
    }
    /** Returns the counters of the client. */
    stats() {
        return { ...this.counts };
    }
    /** Requests the snapshot of a channel again, for example after an error that named the channel. Its events continue, each once. While the client is disconnected nothing is sent, because every connection starts with the snapshots. It sends two frames, which count against the limit of the server. Throws for a channel that the client does not read. */
    refresh(channel) {
        const name = normalize(channel);
        if (!this.positions.has(name))
            throw new TypeError(`the channel ${JSON.stringify(channel)} is not in the option channels, or the server rejected it`);
        if (!this.open.has(name))
            return; // the subscription is pending
        this.send({ op: 'unsubscribe', id: `u${this.frames}`, channels: [name] });
        this.subscribe([name]);
    }
    /** Closes the connection. Received messages can still be read. */
    close() {
        this.finish(new FeedError('closed', 'the client is closed'));
    }
    /** Calls onState. */
    report(state) {
        this.options.onState?.(state);
    }
    /** Records the number of a delivered event. */
    recordDelivery(m) {
        if (m.op === 'event' && m.seq)
            this.delivered.set(m.channel, m.seq);
        return m;
    }
    /** Resolves a pending next(), or queues the message. */
    deliver(m) {
        const waiter = this.waiters.shift();
        if (waiter) {
            waiter.resolve(this.recordDelivery(m));
            return;
        }
        this.queue.push(m);
        if (this.queue.length >= this.pace.queue && !this.full) {
            this.full = true; // a browser cannot pause a connection, so it is closed and resumed later
            this.closeSocket();
            this.report({ phase: 'reconnecting', reason: 'the queue is full' });
        }
    }
    /** Ends the client permanently. */
    finish(err) {
        if (this.ended)
            return;
        this.ended = err;
        clearTimeout(this.reconnectTimer);
        this.closeSocket(true);
        this.report({ phase: 'closed', reason: err.message });
        for (const t of this.waiters.splice(0))
            t.reject(err);
    }
    /** Closes the connection without a reconnection. */
    closeSocket(gently = false) {
        clearTimeout(this.silenceTimer);
        clearInterval(this.pingTimer);
        const socket = this.socket;
        this.socket = null;
        this.open.clear();
        if (!socket)
            return;
        socket.onopen = socket.onmessage = socket.onclose = null;
        socket.onerror = () => { }; // errors of a closed connection are ignored
        // Browsers log an error if a connection is closed before it is open, so wait for onopen.
        if (gently && socket.readyState === 0)
            socket.onopen = () => socket.close();
        else
            socket.close();
    }
    /** Schedules the next connection after wait milliseconds. */
    scheduleConnect(wait) {
        clearTimeout(this.reconnectTimer);
        this.reconnectTimer = setTimeout(() => this.connect(), wait);
    }
    /** Opens a connection. */
    connect() {
        this.report({ phase: 'connecting' });
        if (this.ended)
            return; // the onState callback has closed the client
        this.failures++; // reset when every channel is subscribed
        this.head = null;
        this.open = new Set();
        this.live = false;
        this.beats = this.repairs = 0;
        this.timeout = this.pace.handshake;
        let socket;
        try {
            socket = new this.Socket(this.url, ['signal.v1']);
        }
        catch (err) {
            // An unavailable server is reported later by onclose. The constructor throws if the environment forbids
            // the connection, for example ws: on an https page. This is permanent.
            this.finish(new FeedError('unusable', `the WebSocket cannot be created: ${err instanceof Error ? err.message : String(err)}`));
            return;
        }
        this.socket = socket;
        socket.onmessage = (e) => {
            if (this.socket === socket)
                this.onFrame(String(e.data));
        };
        socket.onerror = () => { }; // onclose follows
        socket.onclose = (e) => {
            if (this.socket === socket)
                this.disconnect(e.code, e.reason);
        };
        this.restartTimer();
    }
    /** Restarts the timer that disconnects a silent connection. */
    restartTimer() {
        clearTimeout(this.silenceTimer);
        this.silenceTimer = setTimeout(() => this.disconnect(1006, `no frame for ${this.timeout} ms`), this.timeout);
    }
    /** Handles the end of a connection: ends the client or schedules the next connection. */
    disconnect(code, reason) {
        this.closeSocket();
        if (this.ended)
            return;
        if (code === 4001) {
            this.finish(new FeedError('unauthenticated', 'the key is unknown or revoked; use a valid key'));
            return;
        }
        let wait = 0;
        if (code === 4029) {
            this.failures++;
            wait = this.pace.most;
        }
        wait = Math.max(wait, waitFor(this.failures, this.pace));
        this.report({ phase: 'reconnecting', wait, reason: reason || `closed with ${code}` });
        if (!this.ended && !this.full)
            this.scheduleConnect(wait);
    }
    /** Handles a frame of the server. */
    onFrame(text) {
        this.restartTimer();
        let f;
        try {
            f = JSON.parse(text);
        }
        catch {
            this.disconnect(1006, 'a frame is not JSON');
            return;
        }
        switch (f.op) {
            case 'hello':
                return this.onHello(f);
            case 'ack':
                return this.onAck(f);
            case 'snapshot': {
                const p = this.positions.get(f.channel);
                if (!p)
                    return;
                if (p.at === null)
                    this.positions.set(f.channel, position(f.seq));
                return this.deliver(f);
            }
            case 'event':
                return this.onEvent(f);
            case 'gap':
                if (!this.positions.has(f.channel))
                    return;
                this.positions.set(f.channel, position(f.oldest - 1)); // the stored events follow
                return this.deliver(f);
            case 'beat':
                return this.onBeat(f);
            case 'error':
                return this.onError(f);
        }
    }
    /** Subscribes to every channel at its position. A channel without a position starts at the newest event now, so that a disconnect before its first event misses nothing. */
    onHello(f) {
        this.counts.connections++;
        this.head = typeof f.head === 'number' ? f.head : null;
        this.updateHead(this.head ?? 0);
        const clock = Date.parse(f.serverTime) - Date.now();
        if (Number.isFinite(clock))
            this.counts.clock = clock;
        if (f.heartbeatS > 0)
            this.timeout = f.heartbeatS * this.pace.second * 2.5;
        if (this.pace.ping > 0) {
            this.timeout = this.pace.ping * 2.5;
            clearInterval(this.pingTimer);
            this.pingTimer = setInterval(() => this.send({ op: 'ping', id: 'p' }), this.pace.ping);
        }
        this.restartTimer();
        for (const [name, p] of this.positions) {
            p.repair = '';
            p.answered = false;
            if (p.at === null && this.head !== null) {
                p.at = this.head;
                this.delivered.set(name, p.at);
            }
        }
        const { key } = this.options;
        if (typeof key !== 'function')
            return this.subscribeAll(key);
        const { socket } = this;
        Promise.resolve()
            .then(key)
            .then((token) => this.socket === socket && this.subscribeAll(token), (err) => this.socket === socket && this.disconnect(1006, `the option key failed: ${err instanceof Error ? err.message : String(err)}`));
    }
    /** Sends the key, and subscribes to every channel. */
    subscribeAll(key) {
        if (key)
            this.send({ op: 'auth', id: 'a', token: key });
        const names = [...this.positions.keys()];
        for (let i = 0; i < names.length; i += channelsPerFrame)
            this.subscribe(names.slice(i, i + channelsPerFrame));
        this.checkLive(); // all channels may have been rejected before
    }
    /** Sends a frame. */
    send(frame) {
        this.socket?.send(JSON.stringify(frame));
    }
    /** Subscribes to channels from their positions. Returns the id of the frame. */
    subscribe(names) {
        const id = `s${++this.frames}`;
        const since = {};
        for (const name of names) {
            const at = this.positions.get(name)?.at;
            if (at !== null && at !== undefined)
                since[name] = at;
        }
        this.send({ op: 'subscribe', id, channels: names, since });
        return id;
    }
    /** Handles the acknowledgement of a subscribe frame. */
    onAck(f) {
        for (const name of f.channels ?? []) {
            if (!this.positions.has(name))
                this.renameChannel(name); // the server uses another spelling
            const p = this.positions.get(name);
            if (!p)
                continue;
            this.open.add(name);
            if (p.repair === f.id)
                p.answered = true;
        }
        this.checkLive();
    }
    /** Renames a channel to the spelling of the server. */
    renameChannel(name) {
        const mine = [...this.positions.keys()].find((k) => k.toLowerCase() === name.toLowerCase());
        if (mine === undefined)
            return;
        this.positions.set(name, this.positions.get(mine));
        this.positions.delete(mine);
        const at = this.delivered.get(mine);
        this.delivered.delete(mine);
        if (at !== undefined)
            this.delivered.set(name, at);
    }
    /** Reports the phase live once every channel is subscribed. */
    checkLive() {
        if (this.live || [...this.positions.keys()].some((name) => !this.open.has(name)))
            return;
        this.live = true;
        this.failures = 0;
        this.report({ phase: 'live' });
    }
    /** Updates the newest known number of the feed. */
    updateHead(n) {
        this.counts.head = Math.max(this.counts.head, n);
    }
    /** Handles a heartbeat. Disconnects if a subscribe frame was not acknowledged for more than two beats. */
    onBeat(f) {
        this.repairs = 0;
        this.beats++;
        this.updateHead(f.head);
        const late = [...this.positions.values()].some((p) => p.repair && !p.answered && this.beats - p.since > 2);
        if (late || (!this.live && this.beats > 2)) {
            this.disconnect(1006, 'a subscribe frame was not acknowledged');
            return;
        }
        this.deliver(f);
    }
    /** Delivers an event if it is the next one of its channel. */
    onEvent(f) {
        const p = this.positions.get(f.channel);
        if (!p)
            return;
        if (!f.seq)
            return this.deliver(f);
        this.updateHead(f.seq);
        switch (compare(p, f.seq, f.prev ?? 0)) {
            case 'repeated':
                this.counts.repeats++;
                return;
            case 'missing':
                return this.requestMissing(p, f.channel, f.seq, f);
        }
        this.positions.set(f.channel, position(f.seq, true));
        if (p.tries > 0)
            this.counts.repaired++;
        this.deliver(f);
        if (p.tries > 0)
            this.report({ phase: 'repaired', channel: f.channel, after: p.at ?? 0, seq: f.seq });
    }
    /** Requests the missing events of a channel. Events before the acknowledgement belong to the old subscription and are sent again. */
    requestMissing(p, channel, seq, f) {
        if (p.repair && !p.answered)
            return;
        const after = p.at ?? 0;
        if (p.tries >= maxTries) {
            this.counts.lost++;
            this.positions.set(channel, position(seq, true));
            this.deliver({ op: 'gap', channel, from: after, oldest: seq });
            this.deliver(f);
            return;
        }
        if (p.tries++ === 0) {
            this.counts.holes++;
            this.report({ phase: 'hole', channel, after, seq });
        }
        if (++this.repairs > maxRepairs) {
            this.disconnect(1006, 'too many holes; reconnecting');
            return;
        }
        p.repair = this.subscribe([channel]);
        p.answered = false;
        p.since = this.beats;
    }
    /** Delivers an error and removes a channel that the server rejects. */
    onError(f) {
        const name = f.channel;
        if (name !== undefined && this.positions.has(name)) {
            if (f.error === 'future_cursor') {
                this.positions.set(name, position(this.head)); // the number belongs to another feed
            }
            else if (['unknown_channel', 'invalid_since', 'unauthenticated', 'limit_reached'].includes(f.error)) {
                this.positions.delete(name);
                if (f.error === 'unknown_channel' || f.error === 'invalid_since')
                    this.delivered.delete(name); // must not be passed to another run
                this.checkLive();
            }
        }
        this.deliver(f);
        if (this.positions.size === 0)
            this.finish(new FeedError('no_channel', `the server rejected every channel; the last one with ${f.error}`));
    }
}
