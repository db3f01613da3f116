// What users need, by subject. Everything else is `request` of the client.
import { AlreadyPredictedError } from './errors.js';
import { type FeedClient, type Options as FeedOptions, open } from './feed.js';
import { SignalcastError } from './errors.js';
import { pages } from './pages.js';
import type { Sender, Wanted } from './send.js';
import { type Signed, type Signer, nonce } from './sign.js';
import type { Answer, Ask, Method, PathOf, Query, Schemas, Sending } from './types.js';

/** How a method may be told to end. */
export type Ending = Pick<Sending, 'signal'>;

/** The query of a list and how it may end; the cursor is the library's affair. */
export type List<P extends PathOf<'GET'>> = Omit<NonNullable<Query<'GET', P>>, 'cursor'> & Ending;

class Subject {
  constructor(protected readonly sender: Sender) {}

  protected async ask<M extends Method, P extends PathOf<M>>(method: M, path: P, ask: Ask<M, P>): Promise<Answer<M, P>> {
    return (await this.sender.json(method, path, ask as Wanted)).value as Answer<M, P>;
  }

  /** paged lists what is behind a path that has cursors. */
  protected paged<P extends PathOf<'GET'>, T>(
    path: P, { signal, ...query }: Ending & object, rows: (p: Answer<'GET', P>) => readonly [readonly T[], string | null | undefined], parts?: object,
  ): AsyncGenerator<T, void, undefined> {
    return pages((cursor) => this.ask('GET', path, { path: parts, query: { ...query, cursor }, signal } as unknown as Ask<'GET', P>), rows);
  }
}

/** The bound that `file` and `create` send where the draft has none: the side costs at most this much more than the stated price. */
export const defaultMaxSlippageBps = 200;

/** What the ledger stores with a call, or what a dry run would store. */
export type Numbers = Omit<Schemas['DryFiled'], 'ok' | 'dryRun'>;

/** A stored call. */
export interface Filed extends Numbers {
  id: string;
  /** An answer was lost, and the same call was found when it was filed again. */
  found: boolean;
}

/** How a call is filed. */
export interface Filing extends Ending {
  /** Under the same key the same call is the same call for 24 hours, also in another run; left out, a new one. */
  idempotencyKey?: string | undefined;
  /**
   * File a call without points where the market has no fresh quote, instead of PriceMovedError with the reason `unverified`. A price
   * that moved is still refused. Left out: `allowUnverified` of the draft.
   */
  allowUnverified?: boolean | undefined;
}

type Bound = { maxSlippageBps?: number | null | undefined; allowUnverified?: boolean | null | undefined };

/** withBound returns a draft with a bound of the slippage, defaultMaxSlippageBps where it has none, and with `allowUnverified`. */
const withBound = <D extends Bound>(draft: D, allowUnverified = draft.allowUnverified): D =>
  ({ ...draft, maxSlippageBps: draft.maxSlippageBps ?? defaultMaxSlippageBps, allowUnverified });

/** Calls, their history and the feeds around them. */
export class Signals extends Subject {
  /** Files a call. Throws AlreadyPredictedError, whose `id` is the locked call, PriceMovedError, MarketClosedError and others. */
  async file(draft: Schemas['SignalDraft'], { idempotencyKey = nonce(), allowUnverified, signal }: Filing = {}): Promise<Filed> {
    const tries = { lost: false };
    try {
      const { value } = await this.sender.json('POST', '/api/predictions', { body: withBound(draft, allowUnverified), idempotencyKey, signal }, tries);
      const { ok: _, receiptUrl: __, ...filed } = value as Schemas['Filed'];
      return { ...filed, found: false };
    } catch (e) {
      if (!tries.lost || !(e instanceof AlreadyPredictedError) || !e.id) throw e;
      // The locked call is the caller's own. With the same side and price it is this one.
      const stands = await this.get(e.id, { signal });
      if (stands.marketId !== draft.marketId || stands.direction !== draft.direction || stands.priceAtPrediction !== draft.priceAtPrediction) throw e;
      const { id, priceAtPrediction, scoreBasisBps, priceVerified, rated, marketYesAtSignal: marketYesBps } = stands;
      return { id, found: true, priceAtPrediction, scoreBasisBps, priceVerified, rated, marketYesBps, yesPriceBps: null, noPriceBps: null, warnings: [] };
    }
  }

  /** Checks a call as `file` does and stores nothing. No venue is asked, so a call without a known quote is not verified. */
  async dryRun(draft: Schemas['SignalDraft'], { signal }: Ending = {}): Promise<Numbers> {
    const { value } = await this.sender.json('POST', '/api/predictions', { body: { ...withBound(draft), dryRun: true }, signal });
    const { ok: _, dryRun: __, ...numbers } = value as Schemas['DryFiled'];
    return numbers;
  }

  /** Files a call with a key or a token of an app; the hub attests it. */
  create = (draft: Schemas['CreationDraft'], { idempotencyKey = nonce(), allowUnverified, signal }: Filing = {}) =>
    this.ask('POST', '/api/protocol/v1/signals', { body: withBound(draft, allowUnverified), idempotencyKey, signal }) as Promise<Schemas['Created']>;

  /** Checks a call as `create` does and stores nothing. */
  dryRunCreate = (draft: Schemas['CreationDraft'], { signal }: Ending = {}) =>
    this.ask('POST', '/api/protocol/v1/signals', { body: { ...withBound(draft), dryRun: true }, signal }) as Promise<Schemas['DryFiled']>;

  get = (id: string, e: Ending = {}) => this.ask('GET', '/api/signals/{id}', { path: { id }, ...e });

  /** Adds to the history of a call of one's own. That never changes the call. */
  addEvent = (id: string, body: Schemas['SignalEventWrite'], e: Ending = {}) =>
    this.ask('POST', '/api/signals/{id}/events', { path: { id }, body, idempotencyKey: nonce(), ...e }) as Promise<Schemas['AppendedEvent']>;

  /** Checks an event as `addEvent` does and stores nothing. */
  dryRunEvent = (id: string, body: Schemas['SignalEventWrite'], e: Ending = {}) =>
    this.ask('POST', '/api/signals/{id}/events', { path: { id }, body: { ...body, dryRun: true }, ...e }) as Promise<Schemas['DryEvent']>;

  events = (id: string, e: Ending = {}) => this.ask('GET', '/api/signals/{id}/events', { path: { id }, ...e });

  /** One of the three feeds of calls: recent, beat_crowd or open. */
  recent = ({ signal, ...query }: List<'/api/signals/feed'> = {}) => this.ask('GET', '/api/signals/feed', { query, signal });

  /** The calls that fit, newest first. */
  all = (l: List<'/api/v1/signals'> = {}) => this.paged('/api/v1/signals', l, (p) => [p.signals, p.next_cursor]);

  /** The numbered events that are kept, newest first; with `after` oldest first. */
  feed = (l: List<'/api/v1/feed'> = {}) => this.paged('/api/v1/feed', l, (p) => [p.items, p.next_cursor]);
}

/** Markets of the venues and of the service itself, seen through their calls. */
export class Markets extends Subject {
  search = (l: List<'/api/polymarket/markets'> = {}) => this.paged('/api/polymarket/markets', l, (p) => [p.markets, p.next_cursor]);
  get = (marketId: string, e: Ending = {}) => this.ask('GET', '/api/m/{marketId}', { path: { marketId }, ...e });
  crowd = (marketId: string, e: Ending = {}) => this.ask('GET', '/api/m/{marketId}/crowd', { path: { marketId }, ...e });
  /** The calls on a market, newest first. No such market is an empty list. */
  ledger = (marketId: string, l: List<'/api/m/{marketId}/signals'> = {}) =>
    this.paged('/api/m/{marketId}/signals', l, (p) => [p.signals, p.next_cursor], { marketId });
  /** What was claimed; its `outcome` is null while nothing is. */
  outcome = (market: string, e: Ending = {}) => this.ask('GET', '/api/resolution/outcome', { query: { market }, ...e });
}

/** Operators ranked by what they called. */
export class Boards extends Subject {
  score = ({ signal, ...query }: List<'/api/v1/signals/leaderboard'> = {}) => this.ask('GET', '/api/v1/signals/leaderboard', { query, signal });
  broadcast = ({ signal, ...query }: List<'/api/operator/leaderboard'> = {}) => this.ask('GET', '/api/operator/leaderboard', { query, signal });
}

/** Who calls. */
export class Operators extends Subject {
  get = (handle: string, e: Ending = {}) => this.ask('GET', '/api/operator/{handle}', { path: { handle }, ...e });
  skill = (handle: string, { signal, ...query }: List<'/api/operator/{handle}/skill'> = {}) =>
    this.ask('GET', '/api/operator/{handle}/skill', { path: { handle }, query, signal });

  /** A whole record, line by line as it comes. One that is cut ends with an error. */
  async *record(handle: string, e: Ending = {}): AsyncGenerator<Record<string, unknown>, void, undefined> {
    const answer = await this.sender.stream('GET', '/api/operator/{handle}/record', { path: { handle }, ...e });
    for await (const line of lines(answer)) yield JSON.parse(line) as Record<string, unknown>;
  }
}

/** More than a line of a record has, in characters. */
const maxLine = 1 << 20;

async function* lines(answer: Response): AsyncGenerator<string, void, undefined> {
  if (!answer.body) return;
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const whole = (rest + value).split('\n');
      rest = whole.pop() ?? '';
      if (rest.length > maxLine) throw new SignalcastError(`a line of the answer has more than ${maxLine} characters`);
      for (const line of whole) if (line !== '') yield line;
    }
    if (rest !== '') yield rest;
  } finally {
    await reader.cancel().catch(() => undefined); // it may have ended by itself
  }
}

/** What is on the air and what comes next. */
export class Programme extends Subject {
  now = ({ signal, ...query }: List<'/program/now'> = {}) => this.ask('GET', '/program/now', { query, signal });
  next = ({ signal, ...query }: List<'/program/next'> = {}) => this.ask('GET', '/program/next', { query, signal });
  timeline = ({ signal, ...query }: List<'/program/timeline'> = {}) => this.ask('GET', '/program/timeline', { query, signal });
  channel = ({ signal, ...query }: List<'/program/channel'> = {}) => this.ask('GET', '/program/channel', { query, signal });
}

/** Who follows whom. To follow takes a session, which no page of a browser can send: there the hub's own pages do it. */
export class People extends Subject {
  /** Opens a session with the identity token that the client has; the client keeps it. */
  async signIn(e: Ending = {}): Promise<Schemas['SignedIn']> {
    const { value, headers } = await this.sender.json('POST', '/api/auth/privy', e);
    const cookies = headers.getSetCookie().map((c) => c.split(';')[0] ?? '').filter((c) => /^db_(uid|sig)=/.test(c));
    if (cookies.length !== 2) throw new SignalcastError('the hub gave no session');
    this.sender.session = { cookie: cookies.join('; ') };
    return value as Schemas['SignedIn'];
  }

  follows = (handle: string, e: Ending = {}) => this.ask('GET', '/api/user/follow', { query: { handle }, ...e });
  follow = (handle: string, e: Ending = {}) => this.ask('POST', '/api/user/follow', { body: { handle }, ...e });
  unfollow = (handle: string, e: Ending = {}) => this.ask('DELETE', '/api/user/follow', { query: { handle }, ...e });
  /** The passport of who has the key or the token. */
  me = (e: Ending = {}) => this.ask('GET', '/api/protocol/v1/me', e);
}

/** Operator keys. They are minted with an identity token, never with a key. */
export class Keys extends Subject {
  /** The plaintext is in this answer and nowhere else; it is never sent twice. The key is strict, held to its permissions on every route, unless the body says otherwise. */
  mint = (body: Schemas['KeyMint'], e: Ending = {}) => this.ask('POST', '/api/dev/keys', { body: { ...body, strict: body.strict ?? true }, ...e });
  list = (e: Ending = {}) => this.ask('GET', '/api/dev/keys', e);
  revoke = (id: string, e: Ending = {}) => this.ask('DELETE', '/api/dev/keys', { query: { id }, ...e });
}

/** Being on the air: sessions, streams of markets, the signal over a picture. */
export class Live extends Subject {
  /** Opens a session or keeps it. */
  beat = (body: Schemas['HeartbeatSend'], e: Ending = {}) => this.ask('POST', '/api/streamer/heartbeat', { body, ...e });
  list = (e: Ending = {}) => this.ask('GET', '/api/streamers/live', e);
  setSignal = (body: Schemas['OverlayWrite'], e: Ending = {}) => this.ask('POST', '/api/streamer/signal', { body, ...e });
  clearSignal = (e: Ending = {}) => this.ask('DELETE', '/api/streamer/signal', e);
  signal = (handle: string, e: Ending = {}) => this.ask('GET', '/api/streamer/signal', { query: { handle }, ...e });
  bind = (marketId: string, body: Schemas['StreamBind'], e: Ending = {}) =>
    this.ask('POST', '/api/m/{marketId}/streams', { path: { marketId }, body, ...e });
  unbind = (marketId: string, e: Ending = {}) => this.ask('DELETE', '/api/m/{marketId}/streams', { path: { marketId }, ...e });
  streams = (marketId: string, e: Ending = {}) => this.ask('GET', '/api/m/{marketId}/streams', { path: { marketId }, ...e });

  /** Follows the live feed; the address comes from the client. The channel `me` takes `key`. */
  feed(options: Omit<FeedOptions, 'url'>): FeedClient {
    const at = this.sender.options.at.api;
    if (!at) throw new TypeError('the option api is missing');
    return open({ ...options, url: `${at}/ws` });
  }
}

/** Apps act for people who let them. They are registered with an identity token. */
export class Apps extends Subject {
  register = (body: Schemas['AppDraft'], e: Ending = {}) => this.ask('POST', '/api/dev/apps', { body, ...e });
  list = (e: Ending = {}) => this.ask('GET', '/api/dev/apps', e);
  get = (appId: string, e: Ending = {}) => this.ask('GET', '/api/protocol/v1/apps/{appId}', { path: { appId }, ...e });
  /** Asks for tokens: with a code, or with a refresh token. */
  exchange = (body: Schemas['TokenRequest'], e: Ending = {}) => this.ask('POST', '/api/protocol/v1/oauth/token', { body, ...e });
  /** What the hub says of its delegated sign-in and its signed messages. */
  issuer = (e: Ending = {}) => this.ask('GET', '/api/protocol/v1', e);
}

/** Acts that somebody has signed. */
export class Messages extends Subject {
  /** The same bytes have their effect once, so that they are sent again when an answer is lost. */
  submit = (body: Signed, e: Ending = {}) => this.ask('POST', '/api/protocol/v1/messages', { body, ...e });
  /** What is wrong with a message; nothing is stored. */
  verify = (body: Signed, e: Ending = {}) => this.ask('POST', '/api/protocol/v1/messages/verify', { body, ...e });
  /** An accepted message. A hidden message has no payload, so its id and its signature cannot be checked. */
  get = (id: string, e: Ending = {}) => this.ask('GET', '/api/protocol/v1/messages/{id}', { path: { id }, ...e });
  /** Accepted messages, newest first; hidden ones have no payload. */
  list = (l: List<'/api/protocol/v1/messages'> = {}) => this.paged('/api/protocol/v1/messages', l, (p) => [p.messages, p.next_cursor]);

  /** Makes a key known as a signer of the caller's: of the grant with a token of an app, of the operator with a key. */
  async registerSigner(by: Signer, scopes: string[], label: string, e: Ending = {}): Promise<Schemas['Signer']> {
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
