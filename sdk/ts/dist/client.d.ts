import { Apps, Boards, Keys, Live, Markets, Messages, Operators, People, Programme, Signals } from './subjects.js';
import { type Retry } from './retry.js';
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
export declare class Signalcast {
    #private;
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
    constructor(options: Options);
    /** Any operation of the document, typed by its method and path. Throws what errors.ts lists. */
    request<M extends Method, P extends PathOf<M>>(method: M, path: P, ask?: Ask<M, P>): Promise<Answer<M, P>>;
    /** The same for an operation that answers something else than JSON: the answer, to be read as it comes. */
    stream<M extends Method, P extends PathOf<M>>(method: M, path: P, ask?: Ask<M, P>): Promise<Response>;
}
