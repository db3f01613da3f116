import { Apps, Boards, Keys, Live, Markets, Messages, Operators, People, Programme, Signals, Webhooks } from './subjects.js';
import type { Limit } from './limits.js';
import { type Retry, defaultRetry } from './retry.js';
import { Sender, type RequestOptions } from './send.js';
import type { TokenSource } from './token.js';
import type { Answer, Ask, Method, PathOf } from './types.js';

export interface Options {
  /** Base URLs of the services, for example https://hub.example. URLs of unused services can be omitted. */
  hub?: string | undefined;
  api?: string | undefined;
  clock?: string | undefined;
  /** Operator key or token. Sent only to operations that require one, unless `tokenOnReads` is set. */
  token?: string | TokenSource | undefined;
  /**
   * Sends the credential on public reads as well. They then count against the limit of the credential, which is lower than that of an IP address, and
   * fail with an invalid credential.
   */
  tokenOnReads?: boolean;
  /** Defaults to the global fetch. */
  fetch?: typeof fetch;
  /** Value of the User-Agent header. Ignored in browsers. */
  userAgent?: string;
  retry?: Partial<Retry>;
  /** Allows sending a credential over http to another machine. */
  plainHttp?: boolean;
  /** Called with the state of each rate limit that an answer describes. */
  onLimit?: (limit: Limit) => void;
  /** Called if a service ignored query parameters that it could not read, with their names (header X-Ignored). */
  onIgnored?: (operation: string, parameters: string[]) => void;
}

/** Client of the hub, the api and the clock. */
export class Signalcast {
  readonly signals: Signals;
  readonly markets: Markets;
  readonly boards: Boards;
  readonly operators: Operators;
  readonly programme: Programme;
  readonly people: People;
  readonly keys: Keys;
  readonly live: Live;
  readonly apps: Apps;
  readonly messages: Messages;
  readonly webhooks: Webhooks;
  readonly #sender: Sender;

  constructor(options: Options) {
    const { token } = options;
    if (token === '') throw new TypeError('the option token is empty');
    const at = (name: 'hub' | 'api' | 'clock') => baseURL(name, options);
    const sender = new Sender({
      at: { hub: at('hub'), api: at('api'), clock: at('clock') },
      token: typeof token === 'string' ? { token: () => Promise.resolve(token) } : token,
      fetch: options.fetch ?? ((...args) => fetch(...args)),
      userAgent: 'document' in globalThis ? undefined : (options.userAgent ?? 'signalcast-ts'),
      retry: { ...defaultRetry, ...options.retry },
      tokenOnReads: options.tokenOnReads ?? false,
      onLimit: options.onLimit,
      onIgnored: options.onIgnored,
    });
    this.#sender = sender;
    this.signals = new Signals(sender);
    this.markets = new Markets(sender);
    this.boards = new Boards(sender);
    this.operators = new Operators(sender);
    this.programme = new Programme(sender);
    this.people = new People(sender);
    this.keys = new Keys(sender);
    this.live = new Live(sender);
    this.apps = new Apps(sender);
    this.messages = new Messages(sender);
    this.webhooks = new Webhooks(sender);
  }

  /** Returns the last known state of each rate limit of this client; empty before the first answer with the headers. */
  limits(): Limit[] {
    return [...this.#sender.limits.values()];
  }

  /** Sends a request to any operation of the OpenAPI document, typed by its method and path. Throws the errors of errors.ts. */
  async request<M extends Method, P extends PathOf<M>>(method: M, path: P, ask?: Ask<M, P>): Promise<Answer<M, P>> {
    return (await this.#sender.json(method, path, (ask ?? {}) as RequestOptions)).value as Answer<M, P>;
  }

  /** Sends a request to an operation whose answer is not JSON and returns the response unread. */
  stream<M extends Method, P extends PathOf<M>>(method: M, path: P, ask?: Ask<M, P>): Promise<Response> {
    return this.#sender.stream(method, path, (ask ?? {}) as RequestOptions);
  }
}

/**
 * baseURL returns the URL of a service without trailing slashes. It throws if a credential would be sent unencrypted. The errors do not contain the
 * URL, because it can contain a secret.
 */
function baseURL(name: 'hub' | 'api' | 'clock', options: Options): string | undefined {
  const text = options[name];
  if (!text) return undefined;
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new TypeError(`the option ${name} must be an http or https URL without user name, query and fragment, such as https://hub.example`);
  }
  if (!['http:', 'https:'].includes(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new TypeError(`the option ${name} must be an http or https URL without user name, query and fragment, such as https://hub.example`);
  }
  const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  if (options.token && url.protocol === 'http:' && !loopback && !options.plainHttp) {
    throw new TypeError(`the option ${name} would send the credential unencrypted; use https, or plainHttp if you trust the network`);
  }
  return text.replace(/\/+$/, '');
}
