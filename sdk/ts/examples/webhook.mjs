// Receives the deliveries of a webhook: SIGNALCAST_WEBHOOK_SECRET=whsec_… node webhook.mjs PORT
import { createServer } from 'node:http';
import { verifyWebhook, WebhookError } from 'signalcast';

const secret = process.env.SIGNALCAST_WEBHOOK_SECRET;
if (!secret) throw new Error('SIGNALCAST_WEBHOOK_SECRET must be the secret of the webhook');
const processed = new Map(); // last number by channel; store it in your database

const server = createServer(async (request, response) => {
  const body = [];
  for await (const part of request) body.push(part);
  try {
    const { events } = await verifyWebhook(secret, request.headers['signalcast-signature'], Buffer.concat(body));
    for (const m of events) {
      if (m.op === 'test') console.log('test delivery');
      if (m.op !== 'event' || m.seq <= (processed.get(m.channel) ?? 0)) continue; // a delivery can arrive twice
      processed.set(m.channel, m.seq);
      console.log('verified:', m.channel, m.seq, m.type);
    }
    response.writeHead(204).end();
  } catch (e) {
    if (!(e instanceof WebhookError)) throw e;
    console.log('refused:', e.reason);
    response.writeHead(400).end(e.message);
  }
});
server.listen(Number(process.argv[2]), '127.0.0.1', () => console.log('listening on', `http://127.0.0.1:${server.address().port}`));
