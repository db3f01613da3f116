// Follows the feed until a call on a market is filed: node watch.mjs MARKET, with Node 22 or newer
import { Signalcast } from 'signalcast';

const [marketId] = process.argv.slice(2);
const signalcast = new Signalcast({ api: process.env.SIGNALCAST_API });
const feed = signalcast.live.feed({ channels: [`market:${marketId}`] });
for await (const m of feed) {
  if (m.op === 'snapshot') console.log('watching', m.channel);
  if (m.op === 'event' && m.type === 'signal.created') {
    console.log(m.seq, m.type, m.data);
    break;
  }
}
feed.close();
