// What users need, by subject. Everything else is `request` of the client.
import { AlreadyPredictedError } from './errors.js';
import { open } from './feed.js';
import { SignalcastError } from './errors.js';
import { pages } from './pages.js';
import { nonce } from './sign.js';
class Subject {
    sender;
    constructor(sender) {
        this.sender = sender;
    }
    async ask(method, path, ask) {
        return (await this.sender.json(method, path, ask)).value;
    }
    /** paged lists what is behind a path that has cursors. */
    paged(path, { signal, ...query }, rows, parts) {
        return pages((cursor) => this.ask('GET', path, { path: parts, query: { ...query, cursor }, signal }), rows);
    }
}
/** The bound that `file` and `create` send where the draft has none: the side costs at most this much more than the stated price. */
export const defaultMaxSlippageBps = 200;
/** withBound returns a draft with a bound of the slippage, defaultMaxSlippageBps where it has none, and with `allowUnverified`. */
const withBound = (draft, allowUnverified = draft.allowUnverified) => ({ ...draft, maxSlippageBps: draft.maxSlippageBps ?? defaultMaxSlippageBps, allowUnverified });
/** Calls, their history and the feeds around them. */
export class Signals extends Subject {
    /** Files a call. Throws AlreadyPredictedError, whose `id` is the locked call, PriceMovedError, MarketClosedError and others. */
    async file(draft, { idempotencyKey = nonce(), allowUnverified, signal } = {}) {
        const tries = { lost: false };
        try {
            const { value } = await this.sender.json('POST', '/api/predictions', { body: withBound(draft, allowUnverified), idempotencyKey, signal }, tries);
            const { ok: _, receiptUrl: __, ...filed } = value;
            return { ...filed, found: false };
        }
        catch (e) {
            if (!tries.lost || !(e instanceof AlreadyPredictedError) || !e.id)
                throw e;
            // The locked call is the caller's own. With the same side and price it is this one.
            const stands = await this.get(e.id, { signal });
            if (stands.marketId !== draft.marketId || stands.direction !== draft.direction || stands.priceAtPrediction !== draft.priceAtPrediction)
                throw e;
            const { id, priceAtPrediction, scoreBasisBps, priceVerified, rated, marketYesAtSignal: marketYesBps } = stands;
            return { id, found: true, priceAtPrediction, scoreBasisBps, priceVerified, rated, marketYesBps, yesPriceBps: null, noPriceBps: null, warnings: [] };
        }
    }
    /** Checks a call as `file` does and stores nothing. No venue is asked, so a call without a known quote is not verified. */
    async dryRun(draft, { signal } = {}) {
        const { value } = await this.sender.json('POST', '/api/predictions', { body: { ...withBound(draft), dryRun: true }, signal });
        const { ok: _, dryRun: __, ...numbers } = value;
        return numbers;
    }
    /** Files a call with a key or a token of an app; the hub attests it. */
    create = (draft, { idempotencyKey = nonce(), allowUnverified, signal } = {}) => this.ask('POST', '/api/protocol/v1/signals', { body: withBound(draft, allowUnverified), idempotencyKey, signal });
    /** Checks a call as `create` does and stores nothing. */
    dryRunCreate = (draft, { signal } = {}) => this.ask('POST', '/api/protocol/v1/signals', { body: { ...withBound(draft), dryRun: true }, signal });
    get = (id, e = {}) => this.ask('GET', '/api/signals/{id}', { path: { id }, ...e });
    /** Adds to the history of a call of one's own. That never changes the call. */
    addEvent = (id, body, e = {}) => this.ask('POST', '/api/signals/{id}/events', { path: { id }, body, idempotencyKey: nonce(), ...e });
    /** Checks an event as `addEvent` does and stores nothing. */
    dryRunEvent = (id, body, e = {}) => this.ask('POST', '/api/signals/{id}/events', { path: { id }, body: { ...body, dryRun: true }, ...e });
    events = (id, e = {}) => this.ask('GET', '/api/signals/{id}/events', { path: { id }, ...e });
    /** One of the three feeds of calls: recent, beat_crowd or open. */
    recent = ({ signal, ...query } = {}) => this.ask('GET', '/api/signals/feed', { query, signal });
    /** The calls that fit, newest first. */
    all = (l = {}) => this.paged('/api/v1/signals', l, (p) => [p.signals, p.next_cursor]);
    /** The numbered events that are kept, newest first; with `after` oldest first. */
    feed = (l = {}) => this.paged('/api/v1/feed', l, (p) => [p.items, p.next_cursor]);
}
/** Markets of the venues and of the service itself, seen through their calls. */
export class Markets extends Subject {
    search = (l = {}) => this.paged('/api/polymarket/markets', l, (p) => [p.markets, p.next_cursor]);
    get = (marketId, e = {}) => this.ask('GET', '/api/m/{marketId}', { path: { marketId }, ...e });
    crowd = (marketId, e = {}) => this.ask('GET', '/api/m/{marketId}/crowd', { path: { marketId }, ...e });
    /** The calls on a market, newest first. No such market is an empty list. */
    ledger = (marketId, l = {}) => this.paged('/api/m/{marketId}/signals', l, (p) => [p.signals, p.next_cursor], { marketId });
    /** What was claimed; its `outcome` is null while nothing is. */
    outcome = (market, e = {}) => this.ask('GET', '/api/resolution/outcome', { query: { market }, ...e });
}
/** Operators ranked by what they called. */
export class Boards extends Subject {
    score = ({ signal, ...query } = {}) => this.ask('GET', '/api/v1/signals/leaderboard', { query, signal });
    broadcast = ({ signal, ...query } = {}) => this.ask('GET', '/api/operator/leaderboard', { query, signal });
}
/** Who calls. */
export class Operators extends Subject {
    get = (handle, e = {}) => this.ask('GET', '/api/operator/{handle}', { path: { handle }, ...e });
    skill = (handle, { signal, ...query } = {}) => this.ask('GET', '/api/operator/{handle}/skill', { path: { handle }, query, signal });
    /** A whole record, line by line as it comes. One that is cut ends with an error. */
    async *record(handle, e = {}) {
        const answer = await this.sender.stream('GET', '/api/operator/{handle}/record', { path: { handle }, ...e });
        for await (const line of lines(answer))
            yield JSON.parse(line);
    }
}
/** More than a line of a record has, in characters. */
const maxLine = 1 << 20;
async function* lines(answer) {
    if (!answer.body)
        return;
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    try {
        for (;;) {
            const { done, value } = await reader.read();
            if (done)
                break;
            const whole = (rest + value).split('\n');
            rest = whole.pop() ?? '';
            if (rest.length > maxLine)
                throw new SignalcastError(`a line of the answer has more than ${maxLine} characters`);
            for (const line of whole)
                if (line !== '')
                    yield line;
        }
        if (rest !== '')
            yield rest;
    }
    finally {
        await reader.cancel().catch(() => undefined); // it may have ended by itself
    }
}
/** What is on the air and what comes next. */
export class Programme extends Subject {
    now = ({ signal, ...query } = {}) => this.ask('GET', '/program/now', { query, signal });
    next = ({ signal, ...query } = {}) => this.ask('GET', '/program/next', { query, signal });
    timeline = ({ signal, ...query } = {}) => this.ask('GET', '/program/timeline', { query, signal });
    channel = ({ signal, ...query } = {}) => this.ask('GET', '/program/channel', { query, signal });
}
/** Who follows whom. To follow takes a session, which no page of a browser can send: there the hub's own pages do it. */
export class People extends Subject {
    /** Opens a session with the identity token that the client has; the client keeps it. */
    async signIn(e = {}) {
        const { value, headers } = await this.sender.json('POST', '/api/auth/privy', e);
        const cookies = headers.getSetCookie().map((c) => c.split(';')[0] ?? '').filter((c) => /^db_(uid|sig)=/.test(c));
        if (cookies.length !== 2)
            throw new SignalcastError('the hub gave no session');
        this.sender.session = { cookie: cookies.join('; ') };
        return value;
    }
    follows = (handle, e = {}) => this.ask('GET', '/api/user/follow', { query: { handle }, ...e });
    follow = (handle, e = {}) => this.ask('POST', '/api/user/follow', { body: { handle }, ...e });
    unfollow = (handle, e = {}) => this.ask('DELETE', '/api/user/follow', { query: { handle }, ...e });
    /** The passport of who has the key or the token. */
    me = (e = {}) => this.ask('GET', '/api/protocol/v1/me', e);
}
/** Operator keys. They are minted with an identity token, never with a key. */
export class Keys extends Subject {
    /** The plaintext is in this answer and nowhere else; it is never sent twice. The key is strict, held to its permissions on every route, unless the body says otherwise. */
    mint = (body, e = {}) => this.ask('POST', '/api/dev/keys', { body: { ...body, strict: body.strict ?? true }, ...e });
    list = (e = {}) => this.ask('GET', '/api/dev/keys', e);
    revoke = (id, e = {}) => this.ask('DELETE', '/api/dev/keys', { query: { id }, ...e });
}
/** Being on the air: sessions, streams of markets, the signal over a picture. */
export class Live extends Subject {
    /** Opens a session or keeps it. */
    beat = (body, e = {}) => this.ask('POST', '/api/streamer/heartbeat', { body, ...e });
    list = (e = {}) => this.ask('GET', '/api/streamers/live', e);
    setSignal = (body, e = {}) => this.ask('POST', '/api/streamer/signal', { body, ...e });
    clearSignal = (e = {}) => this.ask('DELETE', '/api/streamer/signal', e);
    signal = (handle, e = {}) => this.ask('GET', '/api/streamer/signal', { query: { handle }, ...e });
    bind = (marketId, body, e = {}) => this.ask('POST', '/api/m/{marketId}/streams', { path: { marketId }, body, ...e });
    unbind = (marketId, e = {}) => this.ask('DELETE', '/api/m/{marketId}/streams', { path: { marketId }, ...e });
    streams = (marketId, e = {}) => this.ask('GET', '/api/m/{marketId}/streams', { path: { marketId }, ...e });
    /** Follows the live feed; the address comes from the client. The channel `me` takes `key`. */
    feed(options) {
        const at = this.sender.options.at.api;
        if (!at)
            throw new TypeError('the option api is missing');
        return open({ ...options, url: `${at}/ws` });
    }
}
/** Apps act for people who let them. They are registered with an identity token. */
export class Apps extends Subject {
    register = (body, e = {}) => this.ask('POST', '/api/dev/apps', { body, ...e });
    list = (e = {}) => this.ask('GET', '/api/dev/apps', e);
    get = (appId, e = {}) => this.ask('GET', '/api/protocol/v1/apps/{appId}', { path: { appId }, ...e });
    /** Asks for tokens: with a code, or with a refresh token. */
    exchange = (body, e = {}) => this.ask('POST', '/api/protocol/v1/oauth/token', { body, ...e });
    /** What the hub says of its delegated sign-in and its signed messages. */
    issuer = (e = {}) => this.ask('GET', '/api/protocol/v1', e);
}
/** Acts that somebody has signed. */
export class Messages extends Subject {
    /** The same bytes have their effect once, so that they are sent again when an answer is lost. */
    submit = (body, e = {}) => this.ask('POST', '/api/protocol/v1/messages', { body, ...e });
    /** What is wrong with a message; nothing is stored. */
    verify = (body, e = {}) => this.ask('POST', '/api/protocol/v1/messages/verify', { body, ...e });
    /** An accepted message. A hidden message has no payload, so its id and its signature cannot be checked. */
    get = (id, e = {}) => this.ask('GET', '/api/protocol/v1/messages/{id}', { path: { id }, ...e });
    /** Accepted messages, newest first; hidden ones have no payload. */
    list = (l = {}) => this.paged('/api/protocol/v1/messages', l, (p) => [p.messages, p.next_cursor]);
    /** Makes a key known as a signer of the caller's: of the grant with a token of an app, of the operator with a key. */
    async registerSigner(by, scopes, label, e = {}) {
        const { issuer } = await this.ask('GET', '/api/protocol/v1', e);
        const me = await this.ask('GET', '/api/protocol/v1/me', e);
        const { challenge } = await this.ask('POST', '/api/protocol/v1/signers/challenge', { body: { publicKey: by.publicKey }, ...e });
        const { publicKey } = by;
        // A signer of an operator key needs an end within 90 days; one of an app ends with its grant.
        const expiresAt = me.grant ? null : new Date(Date.now() + 89 * 86_400_000).toISOString();
        const proof = await by.prove(issuer, { appId: me.grant?.appId ?? null, challenge, denpaId: me.denpaId, expiresAt, publicKey, scopes });
        return this.ask('POST', '/api/protocol/v1/signers', { body: { publicKey, scopes, label, challenge, proof, ...(expiresAt && { expiresAt }) }, ...e });
    }
}
