// Files a call: node file.mjs MARKET YES|NO BPS
import { AlreadyPredictedError, MarketClosedError, PriceMovedError, Signalcast } from 'signalcast';

const [marketId, direction, bps] = process.argv.slice(2);
const signalcast = new Signalcast({ hub: process.env.SIGNALCAST_HUB, token: process.env.SIGNALCAST_KEY });
try {
  const { id, scoreBasisBps, warnings } = await signalcast.signals.file({ marketId, direction, priceAtPrediction: Number(bps) });
  console.log('filed:', id, 'scored at', scoreBasisBps, ...warnings);
} catch (e) {
  if (e instanceof AlreadyPredictedError) console.log('a call on this market is already filed:', e.id);
  else if (e instanceof PriceMovedError) console.log('the price moved:', e.reason, e.yesPriceBps, e.noPriceBps);
  else if (e instanceof MarketClosedError) console.log('too late:', e.reason);
  else throw e;
}
