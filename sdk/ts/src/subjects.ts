// Methods for frequent operations, grouped by subject. `request` of the client supports all other operations.
import { AlreadyPredictedError } from './errors.js';
import { type FeedClient, type Options as FeedOptions, open } from './feed.js';
import { SignalcastError } from './errors.js';
import { pages } from './pages.js';
import type { Sender, RequestOptions } from './send.js';
import { type Signed, type Signer, nonce } from './sign.js';
import type { Answer, Ask, Method, PathOf, Query, Schemas, Sending } from './types.js';

/** Options that abort a request. */
export type Ending = Pick<Sending, 'signal'>;

/** Query of a list without the cursor, which the library sets. */
export type List<P extends PathOf<'GET'>> = Omit<NonNullable<Query<'GET', P>>, 'cursor'> & Ending;

/** Base class of the subjects. */
class Subject {
  constructor(protected readonly sender: Sender) {}

  protected async ask<M extends Method, P extends PathOf<M>>(method: M, path: P, ask: Ask<M, P>): Promise<Answer<M, P>> {
    return (await this.sender.json(method, path, ask as RequestOptions)).value as Answer<M, P>;
  }

  /** Yields the items of a list with cursors. */
  protected paged<P extends PathOf<'GET'>, T>(
    path: P, { signal, ...query }: Ending & object, rows: (p: Answer<'GET', P>) => readonly [readonly T[], string | null | undefined], parts?: object,
  ): AsyncGenerator<T, void, undefined> {
    return pages((cursor) => this.ask('GET', path, { path: parts, query: { ...query, cursor }, signal } as unknown as Ask<'GET', P>), rows);
  }
}

/** Default of `maxSlippageBps` for `file` and `create`: the price of the side may exceed the stated price by at most this many basis points. */
export const defaultMaxSlippageBps = 200;

/** Numbers that are stored with a call, or that a dry run would store. */
export type Numbers = Omit<Schemas['DryFiled'], 'ok' | 'dryRun'>;

/** A stored call. */
export interface Filed extends Numbers {
  id: string;
  /** True if an answer was lost and a retry found the stored call. */
  found: boolean;
}

/** Options of filing a call. */
export interface Filing extends Ending {
  /** Repeating the key with the same call within 24 hours returns the stored call, also in another run. Defaults to a new key. */
  idempotencyKey?: string | undefined;
  /**
   * If the market has no fresh quote, file the call without points instead of throwing PriceMovedError with the reason `unverified`. A price
   * that moved is still rejected. Defaults to `allowUnverified` of the draft.
   */
  allowUnverified?: boolean | undefined;
}

type Bound = { maxSlippageBps?: number | null | undefined; allowUnverified?: boolean | null | undefined };

/** withBound returns the draft with `allowUnverified`, and with defaultMaxSlippageBps if it has no bound. */
const withBound = <D extends Bound>(draft: D, allowUnverified = draft.allowUnverified): D =>
  ({ ...draft, maxSlippageBps: draft.maxSlippageBps ?? defaultMaxSlippageBps, allowUnverified });

/** Calls, their history and the feeds of calls. */
export class Signals extends Subject {
  /** Files a call. Throws AlreadyPredictedError, whose `id` is the stored call, PriceMovedError, MarketClosedError and other errors. */
  async file(draft: Schemas['SignalDraft'], { idempotencyKey = nonce(), allowUnverified, signal }: Filing = {}): Promise<Filed> {
    const tries = { lost: false };
    try {
      const { value } = await this.sender.json('POST', '/api/predictions', { body: withBound(draft, allowUnverified), idempotencyKey, signal }, tries);
      const { ok: _, receiptUrl: __, ...filed } = value as Schemas['Filed'];
      return { ...filed, found: false };
    } catch (e) {
      if (!tries.lost || !(e instanceof AlreadyPredictedError) || !e.id) throw e;
      // The stored call belongs to the caller. If side and price are the same, an earlier attempt stored it.
      const stored = await this.get(e.id, { signal });
      if (stored.marketId !== draft.marketId || stored.direction !== draft.direction || stored.priceAtPrediction !== draft.priceAtPrediction) throw e;
      const { id, priceAtPrediction, scoreBasisBps, priceVerified, rated, marketYesAtSignal: marketYesBps } = stored;
      return { id, found: true, priceAtPrediction, scoreBasisBps, priceVerified, rated, marketYesBps, yesPriceBps: null, noPriceBps: null, warnings: [] };
    }
  }

  /** Validates a call like `file` and stores nothing. It sends no request to a venue, so a call without a known quote is not verified. */
  async dryRun(draft: Schemas['SignalDraft'], { signal }: Ending = {}): Promise<Numbers> {
    const { value } = await this.sender.json('POST', '/api/predictions', { body: { ...withBound(draft), dryRun: true }, signal });
    const { ok: _, dryRun: __, ...numbers } = value as Schemas['DryFiled'];
    return numbers;
  }

  /** Files a call with an operator key or an app token. The hub attests it. */
  create = (draft: Schemas['CreationDraft'], { idempotencyKey = nonce(), allowUnverified, signal }: Filing = {}) =>
    this.ask('POST', '/api/protocol/v1/signals', { body: withBound(draft, allowUnverified), idempotencyKey, signal }) as Promise<Schemas['Created']>;

  /** Validates a call like `create` and stores nothing. */
  dryRunCreate = (draft: Schemas['CreationDraft'], { signal }: Ending = {}) =>
    this.ask('POST', '/api/protocol/v1/signals', { body: { ...withBound(draft), dryRun: true }, signal }) as Promise<Schemas['DryFiled']>;

  get = (id: string, e: Ending = {}) => this.ask('GET', '/api/signals/{id}', { path: { id }, ...e });

  /** Adds an event to the history of the caller's own call. The call does not change. */
  addEvent = (id: string, body: Schemas['SignalEventWrite'], e: Ending = {}) =>
    this.ask('POST', '/api/signals/{id}/events', { path: { id }, body, idempotencyKey: nonce(), ...e }) as Promise<Schemas['AppendedEvent']>;

  /** Validates an event like `addEvent` and stores nothing. */
  dryRunEvent = (id: string, body: Schemas['SignalEventWrite'], e: Ending = {}) =>
    this.ask('POST', '/api/signals/{id}/events', { path: { id }, body: { ...body, dryRun: true }, ...e }) as Promise<Schemas['DryEvent']>;

  events = (id: string, e: Ending = {}) => this.ask('GET', '/api/signals/{id}/events', { path: { id }, ...e });

  /** Returns one of the three feeds of calls: recent, beat_crowd or open. */
  recent = ({ signal, ...query }: List<'/api/signals/feed'> = {}) => this.ask('GET', '/api/signals/feed', { query, signal });

  /** Yields the calls that match, newest first. */
  all = (l: List<'/api/v1/signals'> = {}) => this.paged('/api/v1/signals', l, (p) => [p.signals, p.next_cursor]);

  /** Yields the stored numbered events, newest first; with `after`, oldest first. */
  feed = (l: List<'/api/v1/feed'> = {}) => this.paged('/api/v1/feed', l, (p) => [p.items, p.next_cursor]);
}

/** Filter of `markets.list`. `ids` has at most 100 ids; times are dates or texts of RFC 3339. */
export type MarketFilter = Omit<List<'/api/markets'>, 'ids' | 'closesAfter' | 'closesBefore'> & {
  ids?: readonly string[];
  closesAfter?: Date | string;
  closesBefore?: Date | string;
};

const instant = (t: Date | string | undefined) => (t instanceof Date ? t.toISOString() : t);

/** Markets of the venues and native markets, with the calls on them. */
export class Markets extends Subject {
  /** Yields the markets of all venues and native markets that match, in the order of `sort`. */
  list = ({ ids, closesAfter, closesBefore, ...l }: MarketFilter = {}) => {
    const query = { ...l, ids: ids?.join(','), closesAfter: instant(closesAfter), closesBefore: instant(closesBefore) };
    return this.paged('/api/markets', query as List<'/api/markets'>, (p) => [p.markets, p.next_cursor]);
  };
  search = (l: List<'/api/polymarket/markets'> = {}) => this.paged('/api/polymarket/markets', l, (p) => [p.markets, p.next_cursor]);
  get = (marketId: string, e: Ending = {}) => this.ask('GET', '/api/m/{marketId}', { path: { marketId }, ...e });
  crowd = (marketId: string, e: Ending = {}) => this.ask('GET', '/api/m/{marketId}/crowd', { path: { marketId }, ...e });
  /** Yields the calls on a market, newest first; nothing for an unknown market. */
  ledger = (marketId: string, l: List<'/api/m/{marketId}/signals'> = {}) =>
    this.paged('/api/m/{marketId}/signals', l, (p) => [p.signals, p.next_cursor], { marketId });
  /** Returns the outcome of a market; `outcome` is null without a claim. */
  outcome = (market: string, e: Ending = {}) => this.ask('GET', '/api/resolution/outcome', { query: { market }, ...e });
}

/** Leaderboards of operators. */
export class Boards extends Subject {
  score = ({ signal, ...query }: List<'/api/v1/signals/leaderboard'> = {}) => this.ask('GET', '/api/v1/signals/leaderboard', { query, signal });
  broadcast = ({ signal, ...query }: List<'/api/operator/leaderboard'> = {}) => this.ask('GET', '/api/operator/leaderboard', { query, signal });
}

/** Operators and their records. */
export class Operators extends Subject {
  get = (handle: string, e: Ending = {}) => this.ask('GET', '/api/operator/{handle}', { path: { handle }, ...e });
  skill = (handle: string, { signal, ...query }: List<'/api/operator/{handle}/skill'> = {}) =>
    this.ask('GET', '/api/operator/{handle}/skill', { path: { handle }, query, signal });

  /** Yields the lines of a whole record as they arrive. Throws if the answer is interrupted. */
  async *record(handle: string, e: Ending = {}): AsyncGenerator<Record<string, unknown>, void, undefined> {
    const answer = await this.sender.stream('GET', '/api/operator/{handle}/record', { path: { handle }, ...e });
    for await (const line of lines(answer)) yield JSON.parse(line) as Record<string, unknown>;
  }
}

/** Maximum length of a line of a record in characters. */
const maxLine = 1 << 20;

/** lines yields the lines of an answer. */
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
      if (rest.length > maxLine) throw new SignalcastError(`a line of the response has more than ${maxLine} characters`);
      for (const line of whole) if (line !== '') yield line;
    }
    if (rest !== '') yield rest;
  } finally {
    await reader.cancel().catch(() => undefined); // the stream may have ended already
  }
}

/** The programme: what airs now and next. */
export class Programme extends Subject {
  now = ({ signal, ...query }: List<'/program/now'> = {}) => this.ask('GET', '/program/now', { query, signal });
  next = ({ signal, ...query }: List<'/program/next'> = {}) => this.ask('GET', '/program/next', { query, signal });
  timeline = ({ signal, ...query }: List<'/program/timeline'> = {}) => this.ask('GET', '/program/timeline', { query, signal });
  channel = ({ signal, ...query }: List<'/program/channel'> = {}) => this.ask('GET', '/program/channel', { query, signal });
}

/** Follows and passports. Following requires a session, which scripts in a browser cannot send; the pages of the hub do it there. */
export class People extends Subject {
  /** Opens a session with the identity token of the client. The client stores the session. */
  async signIn(e: Ending = {}): Promise<Schemas['SignedIn']> {
    const { value, headers } = await this.sender.json('POST', '/api/auth/privy', e);
    const cookies = headers.getSetCookie().map((c) => c.split(';')[0] ?? '').filter((c) => /^db_(uid|sig)=/.test(c));
    if (cookies.length !== 2) throw new SignalcastError('the hub returned no session cookies');
    this.sender.session = { cookie: cookies.join('; ') };
    return value as Schemas['SignedIn'];
  }

  follows = (handle: string, e: Ending = {}) => this.ask('GET', '/api/user/follow', { query: { handle }, ...e });
  follow = (handle: string, e: Ending = {}) => this.ask('POST', '/api/user/follow', { body: { handle }, ...e });
  unfollow = (handle: string, e: Ending = {}) => this.ask('DELETE', '/api/user/follow', { query: { handle }, ...e });
  /** Returns the passport of the owner of the key or the token. */
  me = (e: Ending = {}) => this.ask('GET', '/api/protocol/v1/me', e);
}

/** Operator keys. Creating one requires an identity token; a key cannot create keys. */
export class Keys extends Subject {
  /** Creates a key. Only this answer contains the plaintext, and the request is never retried. The key is strict by default: its permissions are enforced on every route. */
  mint = (body: Schemas['KeyMint'], e: Ending = {}) => this.ask('POST', '/api/dev/keys', { body: { ...body, strict: body.strict ?? true }, ...e });
  list = (e: Ending = {}) => this.ask('GET', '/api/dev/keys', e);
  revoke = (id: string, e: Ending = {}) => this.ask('DELETE', '/api/dev/keys', { query: { id }, ...e });
}

/** Broadcasts: sessions, streams of markets and the overlay signal. */
export class Live extends Subject {
  /** Sends a heartbeat, which opens or extends a session. */
  beat = (body: Schemas['HeartbeatSend'], e: Ending = {}) => this.ask('POST', '/api/streamer/heartbeat', { body, ...e });
  list = (e: Ending = {}) => this.ask('GET', '/api/streamers/live', e);
  setSignal = (body: Schemas['OverlayWrite'], e: Ending = {}) => this.ask('POST', '/api/streamer/signal', { body, ...e });
  clearSignal = (e: Ending = {}) => this.ask('DELETE', '/api/streamer/signal', e);
  signal = (handle: string, e: Ending = {}) => this.ask('GET', '/api/streamer/signal', { query: { handle }, ...e });
  bind = (marketId: string, body: Schemas['StreamBind'], e: Ending = {}) =>
    this.ask('POST', '/api/m/{marketId}/streams', { path: { marketId }, body, ...e });
  unbind = (marketId: string, e: Ending = {}) => this.ask('DELETE', '/api/m/{marketId}/streams', { path: { marketId }, ...e });
  streams = (marketId: string, e: Ending = {}) => this.ask('GET', '/api/m/{marketId}/streams', { path: { marketId }, ...e });

  /** Opens a client of the live feed at the api URL of this client. The channel `me` uses the credential of this client unless `key` is given. */
  feed(options: Omit<FeedOptions, 'url'>): FeedClient {
    const { at, token } = this.sender.options;
    if (!at.api) throw new TypeError('the option api is missing; set it to the URL of the api');
    const key = options.key ?? (token && options.channels?.includes('me') ? () => token.token() : undefined);
    return open({ ...options, ...(key && { key }), url: `${at.api}/ws` });
  }
}

/** Webhooks of the operator: URLs that receive the numbered events of the feed as signed requests. They require an operator key with the permission `read`. */
export class Webhooks extends Subject {
  /** Registers a webhook. Only this answer and that of `renewSecret` contain a secret, and the request is never retried. */
  create = (body: Schemas['WebhookDraft'], e: Ending = {}) => this.ask('POST', '/api/v1/webhooks', { body, ...e });
  list = (e: Ending = {}) => this.ask('GET', '/api/v1/webhooks', e);
  get = (id: string, e: Ending = {}) => this.ask('GET', '/api/v1/webhooks/{id}', { path: { id }, ...e });
  /** Changes the given members. Other channels, other types and `active: true` end the pending delivery; its events follow in a new one. */
  update = (id: string, body: Schemas['WebhookChange'], e: Ending = {}) => this.ask('PATCH', '/api/v1/webhooks/{id}', { path: { id }, body, ...e });
  delete = (id: string, e: Ending = {}) => this.ask('DELETE', '/api/v1/webhooks/{id}', { path: { id }, ...e });
  /** Sends a test delivery and returns its result. Allowed once in five seconds. */
  test = (id: string, e: Ending = {}) => this.ask('POST', '/api/v1/webhooks/{id}/test', { path: { id }, ...e });
  /** Replaces the secret. For 24 hours the previous one signs as well. */
  renewSecret = (id: string, e: Ending = {}) => this.ask('POST', '/api/v1/webhooks/{id}/secret', { path: { id }, ...e });
  /** Yields the attempts of the last seven days, newest first. */
  deliveries = (id: string, l: List<'/api/v1/webhooks/{id}/deliveries'> = {}) =>
    this.paged('/api/v1/webhooks/{id}/deliveries', l, (p) => [p.deliveries, p.next_cursor], { id });
  /** Makes the next attempt of a failed delivery due at once. `deliveries` has its result about a second later. */
  resend = (id: string, deliveryId: string, e: Ending = {}) =>
    this.ask('POST', '/api/v1/webhooks/{id}/deliveries/{deliveryId}/resend', { path: { id, deliveryId }, ...e });
}

/** Apps, which act for users. Registering one requires an identity token. */
export class Apps extends Subject {
  register = (body: Schemas['AppDraft'], e: Ending = {}) => this.ask('POST', '/api/dev/apps', { body, ...e });
  list = (e: Ending = {}) => this.ask('GET', '/api/dev/apps', e);
  get = (appId: string, e: Ending = {}) => this.ask('GET', '/api/protocol/v1/apps/{appId}', { path: { appId }, ...e });
  /** Exchanges a code or a refresh token for tokens. */
  exchange = (body: Schemas['TokenRequest'], e: Ending = {}) => this.ask('POST', '/api/protocol/v1/oauth/token', { body, ...e });
  /** Returns the metadata of delegated sign-in and signed messages. */
  issuer = (e: Ending = {}) => this.ask('GET', '/api/protocol/v1', e);
}

/** Signed messages and signers. */
export class Messages extends Subject {
  /** Submits a message. The same bytes take effect once, so the request is retried if an answer is lost. */
  submit = (body: Signed, e: Ending = {}) => this.ask('POST', '/api/protocol/v1/messages', { body, ...e });
  /** Returns what is wrong with a message; nothing is stored. */
  verify = (body: Signed, e: Ending = {}) => this.ask('POST', '/api/protocol/v1/messages/verify', { body, ...e });
  /** Returns an accepted message. A hidden message has no payload, so its id and its signature cannot be checked. */
  get = (id: string, e: Ending = {}) => this.ask('GET', '/api/protocol/v1/messages/{id}', { path: { id }, ...e });
  /** Yields accepted messages, newest first; hidden ones have no payload. */
  list = (l: List<'/api/protocol/v1/messages'> = {}) => this.paged('/api/protocol/v1/messages', l, (p) => [p.messages, p.next_cursor]);

  /** Registers a key as a signer: of the grant for an app token, of the operator for an operator key. */
  async registerSigner(by: Signer, scopes: string[], label: string, e: Ending = {}): Promise<Schemas['Signer']> {
    const { issuer } = await this.ask('GET', '/api/protocol/v1', e);
    const me = await this.ask('GET', '/api/protocol/v1/me', e);
    const { challenge } = await this.ask('POST', '/api/protocol/v1/signers/challenge', { body: { publicKey: by.publicKey }, ...e });
    const { publicKey } = by;
    // A signer of an operator key must expire within 90 days; a signer of an app ends with its grant.
    const expiresAt = me.grant ? null : new Date(Date.now() + 89 * 86_400_000).toISOString();
    const proof = await by.prove(issuer, { appId: me.grant?.appId ?? null, challenge, denpaId: me.denpaId, expiresAt, publicKey, scopes });
    return this.ask('POST', '/api/protocol/v1/signers', { body: { publicKey, scopes, label, challenge, proof, ...(expiresAt && { expiresAt }) }, ...e });
  }
}
