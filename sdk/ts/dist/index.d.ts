export { Signalcast, type Options } from './client.js';
export { type ErrorCode, errorCodes } from './codes.gen.js';
export { AlreadyPredictedError, ApiError, ConflictError, CursorError, DegradedError, type Extra, ForbiddenError, InvalidError, MarketClosedError, NotFoundError, PriceMovedError, RateLimitedError, SignalcastError, UnansweredError, UnauthenticatedError, UnavailableError, } from './errors.js';
export type { Retry } from './retry.js';
export { type Draft, Signed, Signer } from './sign.js';
export { defaultMaxSlippageBps, type Ending, type Filed, type Filing, type List, type Numbers } from './subjects.js';
export { Refreshing, type Token, type TokenSource } from './token.js';
export type { Answer, Ask, Method, PathOf, Query, Schemas } from './types.js';
