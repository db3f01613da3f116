import type { ErrorCode } from './codes.gen.js';
/** Every error of this library is one of these, but for the reason of an AbortSignal. */
export declare class SignalcastError extends Error {
    name: string;
}
/** What the services say beside the code; unknown members are kept. */
export type Extra = Readonly<Record<string, unknown>>;
/** What a refusal is made of. */
export interface Refusal {
    operation: string;
    status: number;
    code: string;
    message: string;
    extra: Extra;
    retryAfterMs: number;
    requestId: string;
}
/** The no of a service. A write that ended with a status of 500 or more may have happened all the same. */
export declare class ApiError extends SignalcastError {
    name: string;
    /** Such as `POST /api/predictions`. */
    readonly operation: string;
    readonly status: number;
    /** Stable; empty where what answered is no Signalcast service. Newer services may have others. */
    readonly code: ErrorCode | (string & {});
    /** The other members of the answer. */
    readonly extra: Extra;
    /** 0: nothing was said. */
    readonly retryAfterMs: number;
    /** Finds the log line of the service. */
    readonly requestId: string;
    constructor(r: Refusal);
    /** The member or parameter that does not fit. */
    get field(): string;
}
/** 400, 413, 415: the request does not fit; `field` says where. */
export declare class InvalidError extends ApiError {
    name: string;
}
/** 401: the credential is missing, wrong, expired or revoked. */
export declare class UnauthenticatedError extends ApiError {
    name: string;
}
/** 403: the credential is good, and the answer is no. */
export declare class ForbiddenError extends ApiError {
    name: string;
}
/** 404 and 410. */
export declare class NotFoundError extends ApiError {
    name: string;
}
/** 409: something stands in the way. */
export declare class ConflictError extends ApiError {
    name: string;
}
/** 409 `already_predicted`: the first call is locked; `id` is its id. */
export declare class AlreadyPredictedError extends ConflictError {
    name: string;
    get id(): string;
}
/** 409 `market_closed`; `reason` is `settled` or `provisional`. */
export declare class MarketClosedError extends ConflictError {
    name: string;
    get reason(): string;
}
/**
 * 409 `price_moved`: the side costs more than the stated price and `maxSlippageBps` allow (`reason` is `moved`), or the market has
 * no fresh quote (`unverified`). Nothing was stored. The prices are null without a quote.
 */
export declare class PriceMovedError extends ConflictError {
    name: string;
    get reason(): string;
    get marketYesBps(): number | null;
    get yesPriceBps(): number | null;
    get noPriceBps(): number | null;
}
/** 429; `retryAfterMs` says when to come again. */
export declare class RateLimitedError extends ApiError {
    name: string;
}
/** 500 and above: a part of the service is away, or has made a mistake. */
export declare class UnavailableError extends ApiError {
    name: string;
}
/** No whole answer came; `cause` says why. A write may have happened. */
export declare class UnansweredError extends SignalcastError {
    readonly operation: string;
    name: string;
    constructor(operation: string, cause: unknown);
}
/** The answer is less than whole, after it was asked for again: `part` is away, `value` is what came. */
export declare class DegradedError extends SignalcastError {
    readonly operation: string;
    readonly part: string;
    readonly value: unknown;
    name: string;
    constructor(operation: string, part: string, value: unknown);
}
/** The cursor of a list leads back to a page that was read: it would never end. */
export declare class CursorError extends SignalcastError {
    name: string;
}
/** refusal makes the error of an answer. */
export declare function refusal(operation: string, status: number, headers: Headers, body: string): ApiError;
