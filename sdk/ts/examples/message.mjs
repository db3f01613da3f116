// Registers a signer and submits a call signed by it: node message.mjs MARKET
import { Signalcast, Signer } from 'signalcast';

const [marketId] = process.argv.slice(2);
const signalcast = new Signalcast({ hub: process.env.SIGNALCAST_HUB, token: process.env.SIGNALCAST_KEY });
const signer = await Signer.of(crypto.getRandomValues(new Uint8Array(32)));
const { denpaId } = await signalcast.messages.registerSigner(signer, ['signal:create'], 'example');
const { issuer } = await signalcast.apps.issuer();
const signed = await signer.sign(issuer, { type: 'signal.create', denpaId, payload: { marketId, position: 'YES', priceBps: 5000 } });
const { id, uri } = await signalcast.messages.submit(signed);
console.log('submitted:', id, uri);
