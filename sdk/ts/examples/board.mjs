// Prints the first operators of the broadcast leaderboard and every call of the first one.
import { Signalcast } from 'signalcast';

const signalcast = new Signalcast({ hub: process.env.SIGNALCAST_HUB, api: process.env.SIGNALCAST_API });
const { leaderboard } = await signalcast.boards.broadcast({ limit: 3 });
for (const row of leaderboard) console.log(row.rank, row.handle, row.score);
if (leaderboard.length > 0) {
  for await (const call of signalcast.signals.all({ handle: leaderboard[0].handle, limit: 2 })) {
    console.log(call.marketId, call.direction, call.priceAtPrediction, call.status);
  }
}
