/** What happened on a channel. Numbered events come once each and in order; the others have no seq, may be missed, and the newest of a kind is the one that counts. */
export interface Event {
    op: 'event';
    channel: string;
    seq?: number;
    /** Number of the event before it on the channel; null: there is none. */
    prev?: number | null;
    type: string;
    at: string;
    data: any;
}
/** The state with which a channel begins, after each connection anew. Every event up to seq is in it, later ones may be. */
export interface Snapshot {
    op: 'snapshot';
    channel: string;
    seq: number;
    at: string;
    data: any;
}
/** Events behind `from` and before `oldest` cannot be had any more. What is kept follows; for what is gone read the routes again. */
export interface Gap {
    op: 'gap';
    channel: string;
    from: number;
    oldest: number;
}
/** The server's sign of life, with the newest number of the whole feed. */
export interface Beat {
    op: 'beat';
    head: number;
    at: string;
}
/** What the server refuses or cannot do right now. The connection stays; a channel that does not exist is not asked for again. With db_unavailable a snapshot is late: it comes when the server can read it, or by refresh(). */
export interface ServerError {
    op: 'error';
    error: string;
    message?: string;
    channel?: string;
}
export type Message = Event | Snapshot | Gap | Beat | ServerError;
export type Phase = 'connecting' | 'live' | 'reconnecting' | 'hole' | 'repaired' | 'closed';
/** Told with every change. channel, after and seq are of a hole: behind `after` something is missing, `seq` showed it. */
export interface State {
    phase: Phase;
    channel?: string;
    after?: number;
    seq?: number;
    /** Milliseconds until it comes back. */
    wait?: number;
    /** Why the connection ended. */
    reason?: string;
}
export interface Stats {
    /** Connections that the server greeted. */
    connections: number;
    holes: number;
    repaired: number;
    /** Holes that the server could not fill; told as a gap. */
    lost: number;
    /** Events that came again and were not handed on. */
    repeats: number;
    /** Newest number of the whole feed that was heard of. */
    head: number;
    /** How far the server's clock is ahead of ours, in milliseconds, at the last hello. */
    clock: number;
}
export interface Options {
    /** Of the websocket, such as wss://api.example/ws; http and https are taken too. */
    url: string;
    /** Is sent in a frame; needed for the channel `me` alone. */
    key?: string;
    /** Handles are read in lower case, here and in `since`, as the server spells them. */
    channels: string[];
    /** The last number seen of a channel, from last() of an earlier run. A channel without one begins with the newest, and numbers of channels that are not read are left out. */
    since?: Record<string, number>;
    onState?: (state: State) => void;
    /** Where there is no global WebSocket, as in Node before 22. */
    WebSocket?: new (url: string, protocols: string[]) => WebSocket;
    /** Times in milliseconds: for tests, and for who has to know sooner that the server is away. */
    pace?: Partial<typeof usual>;
}
/** The client ended for good: its key is refused, close was called, or no WebSocket can be made of its address. */
export declare class FeedError extends Error {
    readonly code: 'unauthenticated' | 'closed' | 'unusable';
    constructor(code: 'unauthenticated' | 'closed' | 'unusable', message: string);
}
declare const usual: {
    least: number;
    most: number;
    refused: number;
    handshake: number;
    second: number;
    ping: number;
    queue: number;
};
/** How long to stay away, by chance, so that many clients do not come at once. */
export declare function waitFor(refusals: number, pace?: {
    least: number;
    most: number;
    refused: number;
}, chance?: number): number;
/** Opens a client. It does not wait for the connection; a server that is away is no fault. Throws a TypeError for options of which no client can be made: an address that is none, no channels, a bad number, no WebSocket. */
export declare function open(options: Options): FeedClient;
/** Reads channels of the feed until it is closed or its key is refused. */
export declare class FeedClient implements AsyncIterable<Message> {
    private readonly options;
    private readonly pace;
    private readonly url;
    private readonly Socket;
    private readonly places;
    private readonly handed;
    private readonly counts;
    private readonly queue;
    private readonly takers;
    private socket;
    private silence;
    private asking;
    private coming;
    private ended;
    private full;
    private refusals;
    private frames;
    private head;
    private silent;
    private open;
    private live;
    private beats;
    private asked;
    constructor(options: Options);
    /** The next message. Fails when the client has ended and all that it read was taken. */
    next(): Promise<Message>;
    /** One message after the other; ends when the client is closed, fails when its key is refused. */
    [Symbol.asyncIterator](): AsyncGenerator<Message>;
    /** By channel, the number up to which everything was handed on: what `since` takes to go on from here. Names are those of the server, and a channel that does not exist is not among them. */
    last(): Record<string, number>;
    stats(): Stats;
    /** Asks for the snapshot of a channel again, as after an error that named it. Its events go on, each once. While the client is away nothing is sent: every connection begins with the snapshots. The server counts both frames against its limit. Throws for a channel that is not read. */
    refresh(channel: string): void;
    /** Ends the connection. What was read and not taken can still be taken. */
    close(): void;
    private tell;
    private hand;
    private give;
    private finish;
    /** Ends the connection without coming back. */
    private drop;
    private comeBack;
    private connect;
    /** A connection that says nothing for too long is dead. */
    private listen;
    private cut;
    private read;
    /** Subscribes to everything, each channel from where it was read to. What was never read begins at the newest event of this moment, so that a cut before its first event loses nothing. */
    private hello;
    private say;
    private ask;
    private acked;
    private rename;
    private alive;
    private heard;
    private beat;
    /** Hands an event on if it is the next one of its channel. */
    private event;
    /** Asks again for what is missing. What comes before the answer is of the old subscription and comes again. */
    private hole;
    /** Hands an error on and forgets a channel that cannot be had. */
    private refused;
}
export {};
