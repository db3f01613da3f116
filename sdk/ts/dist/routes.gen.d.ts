/** Who serves an operation, what it takes: bearer, session, Idempotency-Key, to be sent twice; and whether it answers no JSON. */
export type Route = readonly [host: 'hub' | 'api' | 'clock', bearer: boolean, session: boolean, keyed: boolean, again: boolean, stream: boolean];
export declare const routes: Readonly<Record<string, Route>>;
