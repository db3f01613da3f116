import { Apps, Boards, Keys, Live, Markets, Messages, Operators, People, Programme, Signals } from './subjects.js';
import { usual } from './retry.js';
import { Sender } from './send.js';
/** Asks the hub, the api and the clock. */
export class Signalcast {
    signals;
    markets;
    boards;
    operators;
    programme;
    people;
    keys;
    live;
    apps;
    messages;
    #sender;
    constructor(options) {
        const { token } = options;
        if (token === '')
            throw new TypeError('the token is empty');
        const at = (name) => address(name, options);
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
    async request(method, path, ask) {
        return (await this.#sender.json(method, path, (ask ?? {}))).value;
    }
    /** The same for an operation that answers something else than JSON: the answer, to be read as it comes. */
    stream(method, path, ask) {
        return this.#sender.stream(method, path, (ask ?? {}));
    }
}
/** address reads one, and refuses what would show a credential to the network. Its error names no text: there may be a secret in it. */
function address(name, options) {
    const text = options[name];
    if (!text)
        return undefined;
    let url;
    try {
        url = new URL(text);
    }
    catch {
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
