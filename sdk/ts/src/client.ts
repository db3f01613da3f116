import { Apps, Boards, Keys, Live, Markets, Messages, Operators, People, Programme, Signals } from './subjects.js';
import { type Retry, usual } from './retry.js';
import { Sender, type Wanted } from './send.js';
import type { TokenSource } from './token.js';
import type { Answer, Ask, Method, PathOf } from './types.js';

export interface Options {
  /** Addresses such as https://hub.example; those that are not used can be left out. */
  hub?: string | undefined;
  api?: string | undefined;
  clock?: string | undefined;
  /** Sent where an operation wants a key or a token, and nowhere else. */
  token?: string | TokenSource | undefined;
  /** Left out: that of the machine. */
  fetch?: typeof fetch;
  /** Names the program; browsers name themselves. */
  userAgent?: string;
  retry?: Partial<Retry>;
  /** Lets a credential go over http to a machine that is not this one. */
  plainHttp?: boolean;
}

/** Asks the hub, the api and the clock. */
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
    if (token === '') throw new TypeError('the token is empty');
    const at = (name: 'hub' | 'api' | 'clock') => address(name, options);
    const sender = new Sender({
      at: { hub: at('hub'), api: at('api'), clock: at('clock') },
      token: typeof token === 'string' ? { token: () => Promise.resolve(token) } : token,
      fetch: options.fetch ?? ((...ask) => fetch(...ask)),
      userAgent: 'document' in globalThis ? undefined : (options.userAgent ?? 'signalcast-ts'),
      retry: { ...usual, ...options.retry },
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

  /** Any operation of the document, typed by its method and path. Throws what errors.ts lists. */
  async request<M extends Method, P extends PathOf<M>>(method: M, path: P, ask?: Ask<M, P>): Promise<Answer<M, P>> {
    return (await this.#sender.json(method, path, (ask ?? {}) as Wanted)).value as Answer<M, P>;
  }

  /** The same for an operation that answers something else than JSON: the answer, to be read as it comes. */
  stream<M extends Method, P extends PathOf<M>>(method: M, path: P, ask?: Ask<M, P>): Promise<Response> {
    return this.#sender.stream(method, path, (ask ?? {}) as Wanted);
  }
}

/** address reads one, and refuses what would show a credential to the network. Its error names no text: there may be a secret in it. */
function address(name: 'hub' | 'api' | 'clock', options: Options): string | undefined {
  const text = options[name];
  if (!text) return undefined;
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new TypeError(`the option ${name} is no address; write it like https://hub.example`);
  }
  if (!['http:', 'https:'].includes(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new TypeError(`the option ${name} is no address of a service; write it like https://hub.example`);
  }
  const here = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  if (options.token && url.protocol === 'http:' && !here && !options.plainHttp) {
    throw new TypeError(`the option ${name} is not encrypted, and a credential would be seen on the way: use https, or plainHttp if you trust the network`);
  }
  return text.replace(/\/+$/, '');
}
