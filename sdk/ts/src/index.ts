// Client of the Signalcast protocol, typed by the OpenAPI document. It retries safe requests and reads lists page by page.
//
//   const signalcast = new Signalcast({ hub: 'https://hub.example', api: 'https://api.example', token: key });
//   const { id } = await signalcast.signals.file({ marketId: '701122', direction: 'YES', priceAtPrediction: 6850 });
//
// The module `signalcast/feed` is the client of the live feed.
export { bps, type Side } from './bps.js';
export { Signalcast, type Options } from './client.js';
export { type ErrorCode, errorCodes } from './codes.gen.js';
export {
  AlreadyPredictedError, ApiError, ConflictError, CursorError, DegradedError, type Extra, ForbiddenError, InvalidError, isCode, MarketClosedError,
  NotFoundError, PriceMovedError, RateLimitedError, SignalcastError, UnansweredError, UnauthenticatedError, UnavailableError,
} from './errors.js';
export type { Limit } from './limits.js';
export type { Retry } from './retry.js';
export { type Draft, Signed, Signer } from './sign.js';
export { defaultMaxSlippageBps, type Ending, type Filed, type Filing, type List, type MarketFilter, type Numbers } from './subjects.js';
export { Refreshing, type Token, type TokenSource } from './token.js';
export { verifyWebhook, WebhookError, type WebhookPost } from './webhooks.js';
export type { Answer, Ask, Method, PathOf, Query, Schemas } from './types.js';
