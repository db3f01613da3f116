// Error classes. Distinguish them with `instanceof`; `code` is the error code of the service.
import type { ErrorCode } from './codes.gen.js';
import { limitsOf } from './limits.js';

/** Base class of all errors of this library, except the reason of an AbortSignal. */
export class SignalcastError extends Error {
  override name = 'SignalcastError';
}

/** Members of an error body other than the code and the message. Unknown members are included. */
export type Extra = Readonly<Record<string, unknown>>;

/** Data of an ApiError. */
export interface Refusal {
  operation: string;
  status: number;
  code: string;
  message: string;
  extra: Extra;
  retryAfterMs: number;
  requestId: string;
}

/** Error answer of a service. A write with a status of 500 or more may have been stored. */
export class ApiError extends SignalcastError {
  override name = 'ApiError';
  /** Method and path, for example `POST /api/predictions`. */
  readonly operation: string;
  readonly status: number;
  /** Stable error code; empty if the answer is not from a Signalcast service. Newer services can send codes that are not listed. */
  readonly code: ErrorCode | (string & {});
  /** Other members of the error body. */
  readonly extra: Extra;
  /** Wait that the service requests, in milliseconds; 0 if it requests none. */
  readonly retryAfterMs: number;
  /** Value of X-Request-Id, which identifies the log line of the service. */
  readonly requestId: string;

  constructor(r: Refusal) {
    super(`${r.operation}: ${r.status} ${r.code}${r.message && `: ${r.message}`}`);
    this.operation = r.operation;
    this.status = r.status;
    this.code = r.code;
    this.extra = r.extra;
    this.retryAfterMs = r.retryAfterMs;
    this.requestId = r.requestId;
  }

  /** Name of the invalid member or parameter; empty if the service names none. */
  get field(): string {
    return text(this.extra['field']);
  }
}

const text = (v: unknown) => (typeof v === 'string' ? v : '');
const bps = (v: unknown) => (typeof v === 'number' ? v : null);

/** 400, 413, 415: the request is invalid; `field` names the member. */
export class InvalidError extends ApiError {
  override name = 'InvalidError';
}
/** 401: the credential is missing, wrong, expired or revoked. */
export class UnauthenticatedError extends ApiError {
  override name = 'UnauthenticatedError';
}
/** 403: the credential is valid but does not allow the request. */
export class ForbiddenError extends ApiError {
  override name = 'ForbiddenError';
}
/** 404 and 410: the resource does not exist, or the route is retired. */
export class NotFoundError extends ApiError {
  override name = 'NotFoundError';
}
/** 409: the request conflicts with the current state. */
export class ConflictError extends ApiError {
  override name = 'ConflictError';
}
/** 409 `already_predicted`: the operator already has a call on the market, and the first call is final. `id` is its id. */
export class AlreadyPredictedError extends ConflictError {
  override name = 'AlreadyPredictedError';
  get id(): string {
    return text(this.extra['id']);
  }
}
/** 409 `market_closed`: the market accepts no calls. `reason` is `settled` or `provisional`. */
export class MarketClosedError extends ConflictError {
  override name = 'MarketClosedError';
  get reason(): string {
    return text(this.extra['reason']);
  }
}
/**
 * 409 `price_moved`: the side costs more than the stated price and `maxSlippageBps` allow (`reason` is `moved`), or the market has
 * no fresh quote (`unverified`). Nothing was stored. The prices are null without a quote.
 */
export class PriceMovedError extends ConflictError {
  override name = 'PriceMovedError';
  get reason(): string {
    return text(this.extra['reason']);
  }
  get marketYesBps(): number | null {
    return bps(this.extra['marketYesBps']);
  }
  get yesPriceBps(): number | null {
    return bps(this.extra['yesPriceBps']);
  }
  get noPriceBps(): number | null {
    return bps(this.extra['noPriceBps']);
  }
}
/** 429: a rate limit is exceeded. `retryAfterMs` is the wait in milliseconds. */
export class RateLimitedError extends ApiError {
  override name = 'RateLimitedError';
}
/** 500 and above: a part of the service is unavailable or failed. */
export class UnavailableError extends ApiError {
  override name = 'UnavailableError';
}

/** No complete answer was received; `cause` is the reason. A write may have been stored. */
export class UnansweredError extends SignalcastError {
  override name = 'UnansweredError';
  constructor(readonly operation: string, cause: unknown) {
    super(`${operation}: no answer: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** The answer is incomplete, also after retries: `part` is the unavailable source, `value` is the incomplete answer. */
export class DegradedError extends SignalcastError {
  override name = 'DegradedError';
  constructor(readonly operation: string, readonly part: string, readonly value: unknown) {
    super(`${operation}: the response is incomplete because a part of the service is unavailable: ${part}`);
  }
}

/** The cursor of a list points to a page that was already read, so the list would never end. */
export class CursorError extends SignalcastError {
  override name = 'CursorError';
}

/**
 * isCode reports whether an error has an error code of the protocol. The compiler rejects a code that does not exist.
 *
 *     if (isCode(e, 'market_closed')) …
 */
export function isCode<C extends ErrorCode>(error: unknown, code: C): error is ApiError & { readonly code: C } {
  return error instanceof ApiError && error.code === code;
}

const byCode: Readonly<Record<string, typeof ApiError>> = { already_predicted: AlreadyPredictedError, market_closed: MarketClosedError, price_moved: PriceMovedError };
const byStatus: Readonly<Record<number, typeof ApiError>> = {
  400: InvalidError, 401: UnauthenticatedError, 403: ForbiddenError, 404: NotFoundError, 409: ConflictError, 410: NotFoundError,
  413: InvalidError, 415: InvalidError, 429: RateLimitedError,
};

/** refusal returns the error for an error answer. */
export function refusal(operation: string, status: number, headers: Headers, body: string): ApiError {
  let members: Record<string, unknown> = {};
  try {
    const parsed: unknown = JSON.parse(body);
    if (parsed !== null && typeof parsed === 'object' && !Array.isArray(parsed)) members = parsed as Record<string, unknown>;
  } catch {
    // The answer is not from a Signalcast service: only the status is known.
  }
  const { error, message, ...extra } = members;
  const code = text(error);
  const kind = (Object.hasOwn(byCode, code) ? byCode[code] : undefined) ?? byStatus[status] ?? (status >= 500 ? UnavailableError : ApiError);
  const retryAfterMs = retryAfter(headers, extra);
  return new kind({
    operation, status, code, message: status === 429 ? limitText(text(message), headers, retryAfterMs) : text(message), extra,
    retryAfterMs, requestId: headers.get('x-request-id') ?? '',
  });
}

/** limitText returns the text of a rate limit: its bound if the headers have it, and the wait. */
function limitText(message: string, headers: Headers, retryAfterMs: number): string {
  const full = limitsOf('hub', headers, 0).find((l) => l.remaining === 0);
  const bound = full ? `${full.limit} requests in ${full.windowMs / 1000} s` : message;
  const wait = retryAfterMs > 0 && !bound.includes('retry in') ? `retry in ${Math.ceil(retryAfterMs / 1000)} s` : '';
  return [bound, wait].filter((part) => part !== '').join('; ');
}

/** retryAfter returns the wait that an answer requests, in milliseconds. The body is more precise than the header. */
function retryAfter(headers: Headers, extra: Extra): number {
  const ms = extra['retryAfterMs'];
  if (typeof ms === 'number' && ms > 0) return ms;
  const header = headers.get('retry-after') ?? '';
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  return Math.max(0, Date.parse(header) - Date.parse(headers.get('date') ?? '')) || 0;
}
