import { type FeedClient, type Options as FeedOptions } from './feed.js';
import type { Sender } from './send.js';
import { type Signed, type Signer } from './sign.js';
import type { Answer, Ask, Method, PathOf, Query, Schemas, Sending } from './types.js';
/** How a method may be told to end. */
export type Ending = Pick<Sending, 'signal'>;
/** The query of a list and how it may end; the cursor is the library's affair. */
export type List<P extends PathOf<'GET'>> = Omit<NonNullable<Query<'GET', P>>, 'cursor'> & Ending;
declare class Subject {
    protected readonly sender: Sender;
    constructor(sender: Sender);
    protected ask<M extends Method, P extends PathOf<M>>(method: M, path: P, ask: Ask<M, P>): Promise<Answer<M, P>>;
    /** paged lists what is behind a path that has cursors. */
    protected paged<P extends PathOf<'GET'>, T>(path: P, { signal, ...query }: Ending & object, rows: (p: Answer<'GET', P>) => readonly [readonly T[], string | null | undefined], parts?: object): AsyncGenerator<T, void, undefined>;
}
/** The bound that `file` and `create` send where the draft has none: the side costs at most this much more than the stated price. */
export declare const defaultMaxSlippageBps = 200;
/** What the ledger stores with a call, or what a dry run would store. */
export type Numbers = Omit<Schemas['DryFiled'], 'ok' | 'dryRun'>;
/** A stored call. */
export interface Filed extends Numbers {
    id: string;
    /** An answer was lost, and the same call was found when it was filed again. */
    found: boolean;
}
/** How a call is filed. */
export interface Filing extends Ending {
    /** Under the same key the same call is the same call for 24 hours, also in another run; left out, a new one. */
    idempotencyKey?: string | undefined;
    /**
     * File a call without points where the market has no fresh quote, instead of PriceMovedError with the reason `unverified`. A price
     * that moved is still refused. Left out: `allowUnverified` of the draft.
     */
    allowUnverified?: boolean | undefined;
}
/** Calls, their history and the feeds around them. */
export declare class Signals extends Subject {
    /** Files a call. Throws AlreadyPredictedError, whose `id` is the locked call, PriceMovedError, MarketClosedError and others. */
    file(draft: Schemas['SignalDraft'], { idempotencyKey, allowUnverified, signal }?: Filing): Promise<Filed>;
    /** Checks a call as `file` does and stores nothing. No venue is asked, so a call without a known quote is not verified. */
    dryRun(draft: Schemas['SignalDraft'], { signal }?: Ending): Promise<Numbers>;
    /** Files a call with a key or a token of an app; the hub attests it. */
    create: (draft: Schemas["CreationDraft"], { idempotencyKey, allowUnverified, signal }?: Filing) => Promise<Schemas["Created"]>;
    /** Checks a call as `create` does and stores nothing. */
    dryRunCreate: (draft: Schemas["CreationDraft"], { signal }?: Ending) => Promise<Schemas["DryFiled"]>;
    get: (id: string, e?: Ending) => Promise<{
        callsign: string | null;
        closePrice: number | null;
        closesAtSignal: string | null;
        clvBps: number | null;
        confidence: number | null;
        confirmedAt: string | null;
        counted: boolean | null;
        createdAt: import("./openapi.gen.js").components["schemas"]["Time"];
        crowdYesAtSignal: number | null;
        direction: import("./openapi.gen.js").components["schemas"]["Side"];
        id: string;
        marketId: string;
        marketTitle: string;
        marketYesAtSignal: number | null;
        outcome: import("./openapi.gen.js").components["schemas"]["Side"] | null;
        priceAtPrediction: import("./openapi.gen.js").components["schemas"]["Bps"];
        priceVerified: boolean;
        privyId: import("./openapi.gen.js").components["schemas"]["PublicId"];
        quoteAt: string | null;
        rated: boolean;
        reason: string | null;
        resolvedAt: string | null;
        score: import("./openapi.gen.js").components["schemas"]["Score"];
        scoreBasisBps: number;
        source: string | null;
        status: import("./openapi.gen.js").components["schemas"]["SignalStatus"];
        textTake: string | null;
        timeToResolution: number | null;
    }>;
    /** Adds to the history of a call of one's own. That never changes the call. */
    addEvent: (id: string, body: Schemas["SignalEventWrite"], e?: Ending) => Promise<Schemas["AppendedEvent"]>;
    /** Checks an event as `addEvent` does and stores nothing. */
    dryRunEvent: (id: string, body: Schemas["SignalEventWrite"], e?: Ending) => Promise<Schemas["DryEvent"]>;
    events: (id: string, e?: Ending) => Promise<{
        events: import("./openapi.gen.js").components["schemas"]["SignalEvent"][];
        signalId: string;
    }>;
    /** One of the three feeds of calls: recent, beat_crowd or open. */
    recent: ({ signal, ...query }?: List<"/api/signals/feed">) => Promise<{
        count: number;
        signals: import("./openapi.gen.js").components["schemas"]["FeedSignal"][];
        type: "recent" | "beat_crowd" | "open";
    }>;
    /** The calls that fit, newest first. */
    all: (l?: List<"/api/v1/signals">) => AsyncGenerator<{
        closesAtSignal: string | null;
        confirmedAt: string | null;
        counted: boolean | null;
        createdAt: import("./openapi.gen.js").components["schemas"]["Time"];
        crowdYesAtSignal: number | null;
        direction: import("./openapi.gen.js").components["schemas"]["Side"];
        handle: string | null;
        id: string;
        lane: import("./openapi.gen.js").components["schemas"]["Lane"];
        marketId: string;
        marketTitle: string;
        marketYesAtSignal: number | null;
        operatorPublicId: import("./openapi.gen.js").components["schemas"]["PublicId"];
        priceAtPrediction: import("./openapi.gen.js").components["schemas"]["Bps"];
        priceVerified: boolean;
        quoteAt: string | null;
        rated: boolean;
        reason: string | null;
        resolvedAt: string | null;
        score: import("./openapi.gen.js").components["schemas"]["Score"];
        scoreBasisBps: number;
        status: import("./openapi.gen.js").components["schemas"]["SignalStatus"];
        textTake: string | null;
    }, void, undefined>;
    /** The numbered events that are kept, newest first; with `after` oldest first. */
    feed: (l?: List<"/api/v1/feed">) => AsyncGenerator<{
        at: import("./openapi.gen.js").components["schemas"]["Time"];
        data: {
            [key: string]: unknown;
        };
        handle: string | null;
        id: string;
        lane: string | null;
        marketId: string | null;
        operatorPublicId: string | null;
        provider: string | null;
        seq: number;
        type: string;
    }, void, undefined>;
}
/** Markets of the venues and of the service itself, seen through their calls. */
export declare class Markets extends Subject {
    search: (l?: List<"/api/polymarket/markets">) => AsyncGenerator<{
        clobTokenId: string | null;
        closed: boolean;
        closesAt: string | null;
        eventKey: string | null;
        id: string;
        lane: import("./openapi.gen.js").components["schemas"]["Lane"];
        liquidity: number | null;
        name: string;
        slug: string | null;
        volume: number | null;
        volume24h: number | null;
        yesPct: number | null;
    }, void, undefined>;
    get: (marketId: string, e?: Ending) => Promise<{
        clobTokenId: string | null;
        description: string | null;
        endDate: string | null;
        lane: import("./openapi.gen.js").components["schemas"]["Lane"];
        liquidity: number | null;
        marketId: string;
        outcomes?: string[];
        provider: import("./openapi.gen.js").components["schemas"]["Provider"];
        question: string;
        rated: boolean;
        resolutionValue: import("./openapi.gen.js").components["schemas"]["Verdict"] | null;
        resolved: boolean;
        status: import("./openapi.gen.js").components["schemas"]["MarketStatus"];
        updatedAt: import("./openapi.gen.js").components["schemas"]["Time"];
        volume: number | null;
        volumeUnit: "usd" | "contracts" | "mana";
        yesBps: number | null;
    }>;
    crowd: (marketId: string, e?: Ending) => Promise<{
        currentUserSignal: {
            closesAtSignal: string | null;
            confirmedAt: string | null;
            counted: boolean | null;
            createdAt: import("./openapi.gen.js").components["schemas"]["Time"];
            direction: import("./openapi.gen.js").components["schemas"]["Side"];
            id: string;
            marketYesAtSignal: number | null;
            priceAtPrediction: import("./openapi.gen.js").components["schemas"]["Bps"];
            priceVerified: boolean;
            quoteAt: string | null;
            rated: boolean;
            reason: string | null;
            scoreBasisBps: number;
            status: import("./openapi.gen.js").components["schemas"]["SignalStatus"];
        } | null;
        marketId: string;
        noCount: number;
        noPercent: number | null;
        topForecasters: {
            sampleSize: number;
            yesPercent: number;
        } | null;
        totalSignals: number;
        updatedAt: import("./openapi.gen.js").components["schemas"]["Time"];
        yesCount: number;
        yesPercent: number | null;
    }>;
    /** The calls on a market, newest first. No such market is an empty list. */
    ledger: (marketId: string, l?: List<"/api/m/{marketId}/signals">) => AsyncGenerator<{
        callsign: string | null;
        closesAtSignal: string | null;
        confidence: number | null;
        confirmedAt: string | null;
        counted: boolean | null;
        createdAt: import("./openapi.gen.js").components["schemas"]["Time"];
        crowdYesAtSignal: number | null;
        direction: import("./openapi.gen.js").components["schemas"]["Side"];
        id: string;
        marketYesAtSignal: number | null;
        priceAtPrediction: import("./openapi.gen.js").components["schemas"]["Bps"];
        priceVerified: boolean;
        privyId: string;
        quoteAt: string | null;
        rated: boolean;
        reason: string | null;
        resolvedAt: string | null;
        score: import("./openapi.gen.js").components["schemas"]["Score"];
        scoreBasisBps: number;
        status: import("./openapi.gen.js").components["schemas"]["SignalStatus"];
        textTake: string | null;
    }, void, undefined>;
    /** What was claimed; its `outcome` is null while nothing is. */
    outcome: (market: string, e?: Ending) => Promise<{
        marketId: string;
        outcome: import("./openapi.gen.js").components["schemas"]["Outcome"] | null;
    }>;
}
/** Operators ranked by what they called. */
export declare class Boards extends Subject {
    score: ({ signal, ...query }?: List<"/api/v1/signals/leaderboard">) => Promise<{
        leaderboard: import("./openapi.gen.js").components["schemas"]["ScoreRow"][];
        updatedAt: import("./openapi.gen.js").components["schemas"]["Time"];
    }>;
    broadcast: ({ signal, ...query }?: List<"/api/operator/leaderboard">) => Promise<{
        count: number;
        leaderboard: import("./openapi.gen.js").components["schemas"]["BroadcastRow"][];
        operators: "independent" | "house" | "automated" | "human" | "all";
        order: "score" | "edge";
        updatedAt: import("./openapi.gen.js").components["schemas"]["Time"];
        window: "all" | "28d";
    }>;
}
/** Who calls. */
export declare class Operators extends Subject {
    get: (handle: string, e?: Ending) => Promise<{
        _meta: {
            atomUrl: string;
            atomVersion: string;
            embedUrl: string;
        };
        approved: boolean;
        avatarUrl: string | null;
        displayName: string;
        handle: import("./openapi.gen.js").components["schemas"]["Handle"];
        isAi: boolean;
        live: boolean;
        liveSignal: {
            marketId: import("./openapi.gen.js").components["schemas"]["MarketId"];
            name: string;
            slug: string | null;
            yesPct: number | null;
        } | null;
        manifesto: string | null;
        moments: import("./openapi.gen.js").components["schemas"]["Moment"][];
        operatorPublicId: import("./openapi.gen.js").components["schemas"]["PublicId"];
        operatorType: import("./openapi.gen.js").components["schemas"]["OperatorType"];
        rank: "RECRUIT" | "OPERATOR" | "FIELD OPERATOR" | "SENIOR OPERATOR" | "STATION CHIEF";
        recentCalls: import("./openapi.gen.js").components["schemas"]["RecordCall"][];
        stats: {
            accuracy: number;
            avgClvBps: number | null;
            bestCall: {
                marketId: import("./openapi.gen.js").components["schemas"]["MarketId"];
                marketTitle: string;
                oddsBps: number;
                signalId: string;
            } | null;
            broadcastScore: number;
            followers: number;
            resolvedCalls: number;
            score: number;
            streak: number;
            totalCalls: number;
        };
        tier: import("./openapi.gen.js").components["schemas"]["OperatorTier"];
    }>;
    skill: (handle: string, { signal, ...query }?: List<"/api/operator/{handle}/skill">) => Promise<{
        caveats: string[];
        handle: import("./openapi.gen.js").components["schemas"]["Handle"];
        isAi: boolean;
        lane: string | null;
        lanes: {
            lane: string;
            report: import("./openapi.gen.js").components["schemas"]["SkillReport"];
        }[];
        operatorPublicId: import("./openapi.gen.js").components["schemas"]["PublicId"];
        report: import("./openapi.gen.js").components["schemas"]["SkillReport"] | null;
        tier: import("./openapi.gen.js").components["schemas"]["OperatorTier"];
        updatedAt: import("./openapi.gen.js").components["schemas"]["Time"];
        version: string;
        window: "all" | "28d";
    }>;
    /** A whole record, line by line as it comes. One that is cut ends with an error. */
    record(handle: string, e?: Ending): AsyncGenerator<Record<string, unknown>, void, undefined>;
}
/** What is on the air and what comes next. */
export declare class Programme extends Subject {
    now: ({ signal, ...query }?: List<"/program/now">) => Promise<{
        generatedAt: import("./openapi.gen.js").components["schemas"]["Time"];
        segment: import("./openapi.gen.js").components["schemas"]["Segment"] | null;
    }>;
    next: ({ signal, ...query }?: List<"/program/next">) => Promise<{
        generatedAt: import("./openapi.gen.js").components["schemas"]["Time"];
        segment: import("./openapi.gen.js").components["schemas"]["Segment"] | null;
    }>;
    timeline: ({ signal, ...query }?: List<"/program/timeline">) => Promise<{
        generatedAt: import("./openapi.gen.js").components["schemas"]["Time"];
        lanes: import("./openapi.gen.js").components["schemas"]["ProgramLane"][];
        segments: import("./openapi.gen.js").components["schemas"]["Segment"][];
        total: number;
    }>;
    channel: ({ signal, ...query }?: List<"/program/channel">) => Promise<{
        generatedAt: import("./openapi.gen.js").components["schemas"]["Time"];
        lanes: import("./openapi.gen.js").components["schemas"]["ProgramLane"][];
        segments: import("./openapi.gen.js").components["schemas"]["Segment"][];
        total: number;
    }>;
}
/** Who follows whom. To follow takes a session, which no page of a browser can send: there the hub's own pages do it. */
export declare class People extends Subject {
    /** Opens a session with the identity token that the client has; the client keeps it. */
    signIn(e?: Ending): Promise<Schemas['SignedIn']>;
    follows: (handle: string, e?: Ending) => Promise<{
        followers: number;
        following: number;
        isFollowing: boolean;
    }>;
    follow: (handle: string, e?: Ending) => Promise<{
        followers: number;
        following: number;
        isFollowing: boolean;
        ok: import("./openapi.gen.js").components["schemas"]["True"];
    }>;
    unfollow: (handle: string, e?: Ending) => Promise<{
        followers: number;
        following: number;
        isFollowing: boolean;
        ok: import("./openapi.gen.js").components["schemas"]["True"];
    }>;
    /** The passport of who has the key or the token. */
    me: (e?: Ending) => Promise<{
        avatar: string | null;
        bio: string | null;
        createdAt: import("./openapi.gen.js").components["schemas"]["Time"];
        denpaId: string;
        displayName: string | null;
        grant?: {
            appId: string;
            grantId: string;
            scopes: import("./openapi.gen.js").components["schemas"]["Scope"][];
        };
        identities: {
            identity: string;
            profileUrl: string;
            station: string;
            verifiedAt: import("./openapi.gen.js").components["schemas"]["Time"];
        }[];
        isAi: boolean;
        operatorId: import("./openapi.gen.js").components["schemas"]["PublicId"];
        operatorType: "human" | "ai_agent" | "system_bot";
        stats: {
            broadcasts: number;
            followers: number;
            following: number;
            predictions: number;
            score: number;
            signals: number;
            stations: number;
            won: number;
        };
        uri: string;
        urls: {
            profile: string;
        };
        username: string | null;
        wallets: {
            address: string;
            chain: string;
        }[];
    }>;
}
/** Operator keys. They are minted with an identity token, never with a key. */
export declare class Keys extends Subject {
    /** The plaintext is in this answer and nowhere else; it is never sent twice. The key is strict, held to its permissions on every route, unless the body says otherwise. */
    mint: (body: Schemas["KeyMint"], e?: Ending) => Promise<{
        id: string;
        key: string;
        label: string;
        permissions: import("./openapi.gen.js").components["schemas"]["Permission"][];
        strict: boolean;
        tier: import("./openapi.gen.js").components["schemas"]["KeyTier"];
    }>;
    list: (e?: Ending) => Promise<{
        keys: {
            active: boolean;
            createdAt: import("./openapi.gen.js").components["schemas"]["Time"];
            id: string;
            label: string;
            lastUsedAt: string | null;
            permissions: import("./openapi.gen.js").components["schemas"]["Permission"][];
            strict: boolean;
            tier: import("./openapi.gen.js").components["schemas"]["KeyTier"];
        }[];
    }>;
    revoke: (id: string, e?: Ending) => Promise<{
        active: import("./openapi.gen.js").components["schemas"]["False"];
        id: string;
        ok: import("./openapi.gen.js").components["schemas"]["True"];
        revoked: {
            grants: string[];
            signers: string[];
            webhooks: string[];
        };
    }>;
}
/** Being on the air: sessions, streams of markets, the signal over a picture. */
export declare class Live extends Subject {
    /** Opens a session or keeps it. */
    beat: (body: Schemas["HeartbeatSend"], e?: Ending) => Promise<{
        expiresInS: number;
        intervalS: number;
        ok: import("./openapi.gen.js").components["schemas"]["True"];
        showId: string | null;
        viewers: number;
    }>;
    list: (e?: Ending) => Promise<{
        live: import("./openapi.gen.js").components["schemas"]["LiveShow"][];
        recent: import("./openapi.gen.js").components["schemas"]["PastShow"][];
    }>;
    setSignal: (body: Schemas["OverlayWrite"], e?: Ending) => Promise<{
        ok: import("./openapi.gen.js").components["schemas"]["True"];
        signal: import("./openapi.gen.js").components["schemas"]["OverlaySignal"];
    }>;
    clearSignal: (e?: Ending) => Promise<{
        marketId: null;
        ok: import("./openapi.gen.js").components["schemas"]["True"];
    }>;
    signal: (handle: string, e?: Ending) => Promise<{
        marketId: null;
    } | {
        annotation?: string;
        closesAt?: string;
        marketId: import("./openapi.gen.js").components["schemas"]["MarketId"];
        name: string;
        slug: string | null;
        streamerId: import("./openapi.gen.js").components["schemas"]["Handle"];
        updatedAt: string;
        yesPct: number | null;
    }>;
    bind: (marketId: string, body: Schemas["StreamBind"], e?: Ending) => Promise<{
        ok: import("./openapi.gen.js").components["schemas"]["True"];
        stream: import("./openapi.gen.js").components["schemas"]["Stream"];
    }>;
    unbind: (marketId: string, e?: Ending) => Promise<{
        ok: import("./openapi.gen.js").components["schemas"]["True"];
        removed: boolean;
    }>;
    streams: (marketId: string, e?: Ending) => Promise<{
        streams: import("./openapi.gen.js").components["schemas"]["Stream"][];
    }>;
    /** Follows the live feed; the address comes from the client. The channel `me` takes `key`. */
    feed(options: Omit<FeedOptions, 'url'>): FeedClient;
}
/** Apps act for people who let them. They are registered with an identity token. */
export declare class Apps extends Subject {
    register: (body: Schemas["AppDraft"], e?: Ending) => Promise<{
        active: boolean;
        allowedResources: string[];
        appId: string;
        clientId: string;
        clientSecret?: string;
        createdAt: import("./openapi.gen.js").components["schemas"]["Time"];
        homepage: string | null;
        logoUrl: string | null;
        name: string;
        redirectUris: string[];
        scopes: import("./openapi.gen.js").components["schemas"]["Scope"][];
        type: "public" | "confidential";
    }>;
    list: (e?: Ending) => Promise<{
        apps: import("./openapi.gen.js").components["schemas"]["App"][];
    }>;
    get: (appId: string, e?: Ending) => Promise<{
        active: boolean;
        appId: string;
        createdAt: import("./openapi.gen.js").components["schemas"]["Time"];
        homepage: string | null;
        logoUrl: string | null;
        name: string;
        trusted: boolean;
    }>;
    /** Asks for tokens: with a code, or with a refresh token. */
    exchange: (body: Schemas["TokenRequest"], e?: Ending) => Promise<{
        accessToken: string;
        access_token: string;
        denpaId: string;
        expiresIn: number;
        expires_in: number;
        grantId: string;
        refreshToken: string | null;
        refresh_token?: string;
        scope: string;
        tokenType: "Bearer";
        token_type: "Bearer";
    }>;
    /** What the hub says of its delegated sign-in and its signed messages. */
    issuer: (e?: Ending) => Promise<{
        authorization_endpoint: string;
        authorization_response_iss_parameter_supported: boolean;
        client_id_metadata_document_supported: boolean;
        code_challenge_methods_supported: string[];
        grant_types_supported: string[];
        introspection_endpoint: string;
        introspection_endpoint_auth_methods_supported: string[];
        issuer: string;
        protocol: {
            endpoints: {
                [key: string]: unknown;
            };
            keys: string;
            limits: {
                [key: string]: unknown;
            };
            messageTypes: string[];
            signature: {
                [key: string]: unknown;
            };
            version: number;
        };
        response_modes_supported: string[];
        response_types_supported: string[];
        revocation_endpoint: string;
        revocation_endpoint_auth_methods_supported: string[];
        scopes_supported: string[];
        service_documentation: string;
        token_endpoint: string;
        token_endpoint_auth_methods_supported: string[];
    }>;
}
/** Acts that somebody has signed. */
export declare class Messages extends Subject {
    /** The same bytes have their effect once, so that they are sent again when an answer is lost. */
    submit: (body: Signed, e?: Ending) => Promise<{
        hidden: boolean;
        id: string;
        message: import("./openapi.gen.js").components["schemas"]["PublishedMessage"];
        replayed?: boolean;
        result?: {
            [key: string]: unknown;
        };
        uri: string;
    }>;
    /** What is wrong with a message; nothing is stored. */
    verify: (body: Signed, e?: Ending) => Promise<{
        id: string;
        reasons: string[];
        valid: boolean;
    }>;
    /** An accepted message. A hidden message has no payload, so its id and its signature cannot be checked. */
    get: (id: string, e?: Ending) => Promise<{
        attested: boolean;
        hidden: boolean;
        id: string;
        message: import("./openapi.gen.js").components["schemas"]["PublishedMessage"];
        receivedAt: import("./openapi.gen.js").components["schemas"]["Time"];
        result?: {
            [key: string]: unknown;
        };
        uri: string;
    }>;
    /** Accepted messages, newest first; hidden ones have no payload. */
    list: (l?: List<"/api/protocol/v1/messages">) => AsyncGenerator<{
        attested: boolean;
        hidden: boolean;
        id: string;
        message: import("./openapi.gen.js").components["schemas"]["PublishedMessage"];
        receivedAt: import("./openapi.gen.js").components["schemas"]["Time"];
        result?: {
            [key: string]: unknown;
        };
        uri: string;
    }, void, undefined>;
    /** Makes a key known as a signer of the caller's: of the grant with a token of an app, of the operator with a key. */
    registerSigner(by: Signer, scopes: string[], label: string, e?: Ending): Promise<Schemas['Signer']>;
}
export {};
