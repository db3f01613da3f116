// Sends requests: adds the credential, retries safe requests and limits the size of answers.
import { DegradedError, SignalcastError, UnansweredError, refusal } from './errors.js';
import { type Limit, limitsOf } from './limits.js';
import { type Retry, isTransient, longestLimitWait, retryDelay, sleep } from './retry.js';
import { type Route, routes } from './routes.gen.js';
import { Signed } from './sign.js';
import type { TokenSource } from './token.js';
import type { Sending } from './types.js';

/** Maximum size of a JSON answer in bytes; larger than every documented answer. */
const maxAnswer = 16 << 20;

/** Options of a Sender. */
export interface SenderOptions {
  at: Readonly<Record<Route[0], string | undefined>>;
  token: TokenSource | undefined;
  fetch: typeof fetch;
  userAgent: string | undefined;
  retry: Retry;
  tokenOnReads: boolean;
  onLimit: ((limit: Limit) => void) | undefined;
  onIgnored: ((operation: string, parameters: string[]) => void) | undefined;
}

/** Parameters and body of a request. */
export interface RequestOptions extends Sending {
  path?: Readonly<Record<string, unknown>> | undefined;
  query?: Readonly<Record<string, unknown>> | undefined;
  body?: unknown;
}

/** A request with its URL and headers. */
interface Prepared {
  operation: string;
  url: string;
  route: Route;
  init: RequestInit & { headers: Record<string, string> };
  signal: AbortSignal | undefined;
  own: boolean; // the caller has set the header authorization
}

/** A completely read answer. */
interface Received {
  status: number;
  headers: Headers;
  body: string;
}

/** The answer exceeds maxAnswer. */
class TooLarge extends Error {}

/** Cookies of a session. Scripts in a browser cannot send them. */
export interface Session {
  cookie: string;
}

/** Sends the requests of a client. */
export class Sender {
  session: Session | undefined;
  /** Last state of each limit, by service and name. */
  readonly limits = new Map<string, Limit>();

  constructor(readonly options: SenderOptions) {}

  /** json sends a request and returns the parsed answer. It sets `tries.lost` if an attempt without a known result may have been processed. */
  async json(method: string, path: string, ask: RequestOptions, tries = { lost: false }): Promise<{ value: unknown; headers: Headers }> {
    const prepared = this.#prepare(method, path, ask);
    const { status, headers, body } = await this.#sendWithRetries(prepared, tries);
    if (status < 200 || status >= 300) throw refusal(prepared.operation, status, headers, body);
    let value: unknown;
    try {
      value = body === '' ? undefined : JSON.parse(body);
    } catch (cause) {
      throw new SignalcastError(`${prepared.operation}: the response is not JSON`, { cause });
    }
    const part = headers.get('x-degraded');
    if (part) throw new DegradedError(prepared.operation, part, value);
    return { value, headers };
  }

  /** stream sends a request once and returns the answer with an unread body. */
  async stream(method: string, path: string, ask: RequestOptions): Promise<Response> {
    const prepared = this.#prepare(method, path, ask);
    await this.#authorize(prepared);
    let answer: Response;
    try {
      answer = await this.options.fetch(prepared.url, { ...prepared.init, signal: prepared.signal ?? null });
    } catch (cause) {
      prepared.signal?.throwIfAborted();
      throw new UnansweredError(prepared.operation, cause);
    }
    this.#observe(prepared, answer.headers);
    if (answer.ok) return answer;
    throw refusal(prepared.operation, answer.status, answer.headers, await readBody(answer));
  }

  /** Builds the URL and the headers of a request. */
  #prepare(method: string, path: string, ask: RequestOptions): Prepared {
    const operation = `${method} ${path}`;
    const route = Object.hasOwn(routes, operation) ? routes[operation] : undefined;
    if (!route) throw new TypeError(`${operation} is not an operation of the OpenAPI document`);
    const at = this.options.at[route[0]];
    if (!at) throw new TypeError(`the option ${route[0]} is missing; set it to the URL of the service`);
    const headers: Record<string, string> = { accept: 'application/json', ...ask.headers };
    if (this.options.userAgent) headers['user-agent'] = this.options.userAgent;
    if (ask.idempotencyKey !== undefined) headers['idempotency-key'] = ask.idempotencyKey;
    const init: Prepared['init'] = { method, headers, redirect: 'manual', credentials: 'omit' };
    if (ask.body !== undefined) {
      headers['content-type'] = 'application/json';
      init.body = ask.body instanceof Signed ? ask.body.text : JSON.stringify(ask.body);
    }
    return { operation, url: at + pathAndQuery(path, ask), route, init, signal: ask.signal, own: 'authorization' in headers };
  }

  /** Sends a request until it succeeds, fails permanently or has no attempts left. */
  async #sendWithRetries(g: Prepared, tries: { lost: boolean }): Promise<Received> {
    const source = this.options.token;
    let renewed = false;
    for (let n = 1; ; n++) {
      g.signal?.throwIfAborted();
      const token = await this.#authorize(g);
      let received: Received | undefined;
      let fault: unknown;
      try {
        received = await this.#attempt(g);
      } catch (cause) {
        g.signal?.throwIfAborted();
        fault = new UnansweredError(g.operation, cause);
      }
      if (received?.status === 401 && token && source?.refused && !renewed) {
        renewed = true; // a 401 is sent before the request is processed
        source.refused(token);
        n--;
        continue;
      }
      const pause = received?.status === 429 && this.options.retry.waitForLimits ? this.#requestedWait(g, received) : 0;
      if (pause > 0 && pause <= longestLimitWait) {
        await sleep(pause + Math.random() * 250, g.signal); // other clients of the credential also wait
        n--;
        continue;
      }
      if (!received || received.status >= 500) tries.lost = true;
      const wait = this.#nextDelay(g, n, received, fault);
      if (wait === undefined) {
        if (received) return received;
        throw fault;
      }
      await sleep(wait, g.signal);
    }
  }

  /** Returns the wait before the next attempt in milliseconds, or undefined if the request must not be retried. */
  #nextDelay(g: Prepared, n: number, received: Received | undefined, fault: unknown): number | undefined {
    const [, , , keyed, repeatable] = g.route;
    const safe = repeatable || (keyed && g.init.headers['idempotency-key'] !== undefined);
    const large = fault instanceof UnansweredError && fault.cause instanceof TooLarge;
    if (n >= this.options.retry.tries || !safe || large || (received && !isTransient(received.status, received.headers))) return undefined;
    return retryDelay(this.options.retry, n, received ? this.#requestedWait(g, received) : 0);
  }

  /** Returns the wait in milliseconds that an answer requests, or 0. */
  #requestedWait = (g: Prepared, { status, headers, body }: Received) => refusal(g.operation, status, headers, body).retryAfterMs;

  /** Stores the limits in the headers of an answer. Reports them and the ignored parameters. */
  #observe(g: Prepared, headers: Headers): void {
    for (const limit of limitsOf(g.route[0], headers, Date.now())) {
      this.limits.set(`${limit.service} ${limit.name}`, limit);
      this.options.onLimit?.(limit);
    }
    const ignored = headers.get('x-ignored');
    if (ignored) this.options.onIgnored?.(g.operation, ignored.split(',').map((name) => name.trim()));
  }

  /** Sends a request once and reads the whole answer. An interrupted answer is an error. */
  async #attempt(g: Prepared): Promise<Received> {
    const timeout = AbortSignal.timeout(this.options.retry.each);
    const signal = g.signal ? AbortSignal.any([g.signal, timeout]) : timeout;
    const answer = await this.options.fetch(g.url, { ...g.init, signal });
    this.#observe(g, answer.headers);
    return { status: answer.status, headers: answer.headers, body: await readBody(answer) };
  }

  /** Adds the credential of the route and returns the token. A session takes precedence over a token. */
  async #authorize(g: Prepared): Promise<string | undefined> {
    const [, bearer, session] = g.route;
    if (g.own) return undefined;
    if (session && this.session) {
      g.init.headers['cookie'] = this.session.cookie;
      g.init.headers['origin'] = new URL(g.url).origin;
      return undefined;
    }
    const sends = bearer || (this.options.tokenOnReads && g.init.method === 'GET');
    if (!sends || !this.options.token) return undefined;
    const token = await this.options.token.token();
    // Otherwise fetch would throw an error that contains the credential.
    if (!/^[\x21-\x7e]+$/.test(token)) throw new SignalcastError(`${g.operation}: the credential must be 1 or more printable ASCII characters without spaces`);
    g.init.headers['authorization'] = `Bearer ${token}`;
    return token;
  }
}

/** Query parameters that name an object. A service would answer an empty one like an unknown object. */
const ids = new Set(['id', 'handle', 'market', 'marketId']);

/** pathAndQuery fills the parameters of a path and appends the query. Undefined and null query parameters are omitted. Throws a TypeError for an empty id. */
function pathAndQuery(path: string, { path: parts = {}, query = {} }: RequestOptions): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = parts[name];
    if (value === undefined || value === null || value === '') throw new TypeError(`${path}: ${name} is missing or empty`);
    return encodeURIComponent(String(value));
  });
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === '' && ids.has(name)) throw new TypeError(`${path}: ${name} is empty`);
    if (value !== undefined && value !== null) search.set(name, String(value));
  }
  return search.size > 0 ? `${filled}?${search}` : filled;
}

/** readBody reads a whole body. It throws TooLarge if the body exceeds maxAnswer. */
async function readBody(answer: Response): Promise<string> {
  if (!answer.body) return '';
  const reader = answer.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (let size = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    size += value.byteLength;
    if (size > maxAnswer) {
      await reader.cancel();
      throw new TooLarge(`the response has more than ${maxAnswer} bytes`);
    }
    text += decoder.decode(value, { stream: true });
  }
}
