/**
 * How often and after what pauses a request is sent again. Only what cannot do anything twice is: reading, writes with an
 * idempotency key on the routes that honour one, and writes of which the document says that a second one changes nothing.
 */
export interface Retry {
    /** Of one request in all; 1: it is never sent again. */
    tries: number;
    /** Pause before the second try in ms, doubled each time. */
    first: number;
    /** The longest pause in ms. A service that asks for more is obeyed by giving up. */
    longest: number;
    /** How long one try may last in ms, but for streams. */
    each: number;
}
export declare const usual: Readonly<Retry>;
/** passing tells whether the same request may soon be answered better. */
export declare const passing: (status: number, headers: Headers) => boolean;
/** pause is how long to wait before try n+1, by chance, so that many do not come at once; undefined: too long to wait. */
export declare function pause(p: Retry, n: number, wants: number, chance?: number): number | undefined;
/** sleep waits, or throws the reason of the signal. */
export declare function sleep(ms: number, signal: AbortSignal | undefined): Promise<void>;
