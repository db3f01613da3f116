import { Apps, Boards, Keys, Live, Markets, Messages, Operators, People, Programme, Signals } from './subjects.js';
import { type Retry, defaultRetry } from './retry.js';
import { Sender, type RequestOptions } from './send.js';
import type { TokenSource } from './token.js';
import type { Answer, Ask, Method, PathOf } from './types.js';

export interface Options {
  /** Base URLs of the services, for example https://hub.example. URLs of unused services can be omitted. */
  hub?: string | undefined;
  api?: string | undefined;
  clock?: string | undefined;
  /** Operator key or token. Sent only to operations that require one. */
  token?: string | TokenSource | undefined;
  /** Defaults to the global fetch. */
  fetch?: typeof fetch;
  /** Value of the User-Agent header. Ignored in browsers. */
  userAgent?: string;
  retry?: Partial<Retry>;
  /** Allows sending a credential over http to another machine. */
  plainHttp?: boolean;
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
