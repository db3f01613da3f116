import { type Retry } from './retry.js';
import { type Route } from './routes.gen.js';
import type { TokenSource } from './token.js';
import type { Sending } from './types.js';
export interface Settled {
    at: Readonly<Record<Route[0], string | undefined>>;
    token: TokenSource | undefined;
    fetch: typeof fetch;
    userAgent: string | undefined;
    retry: Retry;
}
/** A request, before it is known who asks. */
export interface Wanted extends Sending {
    path?: Readonly<Record<string, unknown>> | undefined;
    query?: Readonly<Record<string, unknown>> | undefined;
    body?: unknown;
}
/** The cookies of a session; a page of a browser cannot send them. */
export interface Session {
    cookie: string;
}
export declare class Sender {
    #private;
    readonly options: Settled;
    session: Session | undefined;
    constructor(options: Settled);
    /** json gives what an operation answers. `tries.lost` tells afterwards whether a try may have been heard without an answer. */
    json(method: string, path: string, ask: Wanted, tries?: {
        lost: boolean;
    }): Promise<{
        value: unknown;
        headers: Headers;
    }>;
    /** stream gives an answer whose body is read by the caller. It is sent once. */
    stream(method: string, path: string, ask: Wanted): Promise<Response>;
}
