// What can go wrong, as classes: `instanceof` tells them apart, and `code` names each refusal.
import type { ErrorCode } from './codes.gen.js';

/** Every error of this library is one of these, but for the reason of an AbortSignal. */
export class SignalcastError extends Error {
  override name = 'SignalcastError';
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
export class ApiError extends SignalcastError {
  override name = 'ApiError';
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

  constructor(r: Refusal) {
    super(`${r.operation}: ${r.status} ${r.code}${r.message && `: ${r.message}`}`);
    this.operation = r.operation;
    this.status = r.status;
    this.code = r.code;
    this.extra = r.extra;
    this.retryAfterMs = r.retryAfterMs;
    this.requestId = r.requestId;
  }

  /** The member or parameter that does not fit. */
  get field(): string {
    return text(this.extra['field']);
  }
}

const text = (v: unknown) => (typeof v === 'string' ? v : '');
const bps = (v: unknown) => (typeof v === 'number' ? v : null);

/** 400, 413, 415: the request does not fit; `field` says where. */
export class InvalidError extends ApiError {
  override name = 'InvalidError';
}
/** 401: the credential is missing, wrong, expired or revoked. */
export class UnauthenticatedError extends ApiError {
  override name = 'UnauthenticatedError';
}
/** 403: the credential is good, and the answer is no. */
export class ForbiddenError extends ApiError {
  override name = 'ForbiddenError';
}
/** 404 and 410. */
export class NotFoundError extends ApiError {
  override name = 'NotFoundError';
}
/** 409: something stands in the way. */
export class ConflictError extends ApiError {
  override name = 'ConflictError';
}
/** 409 `already_predicted`: the first call is locked; `id` is its id. */
export class AlreadyPredictedError extends ConflictError {
  override name = 'AlreadyPredictedError';
  get id(): string {
    return text(this.extra['id']);
  }
}
/** 409 `market_closed`; `reason` is `settled` or `provisional`. */
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
/** 429; `retryAfterMs` says when to come again. */
export class RateLimitedError extends ApiError {
  override name = 'RateLimitedError';
}
/** 500 and above: a part of the service is unavailable, or has failed. */
export class UnavailableError extends ApiError {
  override name = 'UnavailableError';
}

/** No whole answer came; `cause` says why. A write may have happened. */
export class UnansweredError extends SignalcastError {
  override name = 'UnansweredError';
  constructor(readonly operation: string, cause: unknown) {
    super(`${operation}: no answer: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** The answer is less than whole, after it was asked for again: `part` is away, `value` is what came. */
export class DegradedError extends SignalcastError {
  override name = 'DegradedError';
  constructor(readonly operation: string, readonly part: string, readonly value: unknown) {
    super(`${operation}: the answer is incomplete, a part of the service is unavailable: ${part}`);
  }
}

/** The cursor of a list leads back to a page that was read: it would never end. */
export class CursorError extends SignalcastError {
  override name = 'CursorError';
}

const byCode: Readonly<Record<string, typeof ApiError>> = { already_predicted: AlreadyPredictedError, market_closed: MarketClosedError, price_moved: PriceMovedError };
const byStatus: Readonly<Record<number, typeof ApiError>> = {
  400: InvalidError, 401: UnauthenticatedError, 403: ForbiddenError, 404: NotFoundError, 409: ConflictError, 410: NotFoundError,
  413: InvalidError, 415: InvalidError, 429: RateLimitedError,
};

/** refusal makes the error of an answer. */
export function refusal(operation: string, status: number, headers: Headers, body: string): ApiError {
  let said: Record<string, unknown> = {};
  try {
    const parsed: unknown = JSON.parse(body);
    if (parsed !== null && typeof parsed === 'object' && !Array.isArray(parsed)) said = parsed as Record<string, unknown>;
  } catch {
    // what answers there is no Signalcast service: the status alone is known
  }
  const { error, message, ...extra } = said;
  const code = text(error);
  const kind = (Object.hasOwn(byCode, code) ? byCode[code] : undefined) ?? byStatus[status] ?? (status >= 500 ? UnavailableError : ApiError);
  return new kind({
    operation, status, code, message: text(message), extra,
    retryAfterMs: asked(headers, extra), requestId: headers.get('x-request-id') ?? '',
  });
}

/** asked is how long an answer wants its reader to wait: the body is more exact than the header. */
function asked(headers: Headers, extra: Extra): number {
  const ms = extra['retryAfterMs'];
  if (typeof ms === 'number' && ms > 0) return ms;
  const header = headers.get('retry-after') ?? '';
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  return Math.max(0, Date.parse(header) - Date.parse(headers.get('date') ?? '')) || 0;
}
