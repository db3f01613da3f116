// The client of the protocol: typed by the document, with repeats that are safe and lists that go on page by page.
//
//   const signalcast = new Signalcast({ hub: 'https://hub.example', api: 'https://api.example', token: key });
//   const { id } = await signalcast.signals.file({ marketId: '701122', direction: 'YES', priceAtPrediction: 6850 });
//
// The live feed is `signalcast/feed`.
export { Signalcast } from './client.js';
export { errorCodes } from './codes.gen.js';
export { AlreadyPredictedError, ApiError, ConflictError, CursorError, DegradedError, ForbiddenError, InvalidError, MarketClosedError, NotFoundError, PriceMovedError, RateLimitedError, SignalcastError, UnansweredError, UnauthenticatedError, UnavailableError, } from './errors.js';
export { Signed, Signer } from './sign.js';
export { defaultMaxSlippageBps } from './subjects.js';
export { Refreshing } from './token.js';
