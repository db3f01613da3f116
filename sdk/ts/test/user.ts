// Code of a user of the package, compiled in strict mode in a folder that contains only the package.
import { AlreadyPredictedError, type Answer, type ErrorCode, Refreshing, type Schemas, Signalcast, Signer } from 'signalcast';
import { type Message, open } from 'signalcast/feed';

const signalcast = new Signalcast({ hub: 'http://127.0.0.1:1', token: new Refreshing(async () => ({ value: 'x', lasts: 1 })), retry: { tries: 1 } });

export async function use(signal: AbortSignal): Promise<string> {
  const { id } = await signalcast.signals.file({ marketId: '7', direction: 'YES', priceAtPrediction: 6850 }, { signal });
  const stored: Schemas['Signal'] = await signalcast.request('GET', '/api/signals/{id}', { path: { id }, signal });
  const price: number = stored.priceAtPrediction;
  const crowd: Answer<'GET', '/api/m/{marketId}/crowd'> = await signalcast.markets.crowd('7');
  const count: number = crowd.totalSignals;
  for await (const row of signalcast.signals.all({ handle: 'mara_k' })) if (row.direction === 'NO') break;
  // @ts-expect-error the side does not exist
  await signalcast.signals.file({ marketId: '7', direction: 'PERHAPS', priceAtPrediction: 1 });
  // @ts-expect-error a required member is missing
  await signalcast.signals.file({ marketId: '7', direction: 'YES' });
  // @ts-expect-error the path does not exist
  await signalcast.request('GET', '/api/nothing');
  // @ts-expect-error the path does not support the method
  await signalcast.request('DELETE', '/api/signals/{id}', { path: { id } });
  // @ts-expect-error a path parameter is missing
  await signalcast.request('GET', '/api/signals/{id}', { path: {} });
  // @ts-expect-error a number is not a string
  const text: string = stored.priceAtPrediction;
  // @ts-expect-error the member does not exist
  await signalcast.markets.get('7').then((m) => m.nothing);
  return `${price}${count}${text}`;
}

export const code = (e: AlreadyPredictedError): ErrorCode | (string & {}) => e.code;
export const typeOf = (m: Message): string => (m.op === 'event' ? m.type : m.op);
export function marketOf(m: Message): string | null {
  if (m.op !== 'event') return null;
  // @ts-expect-error the type does not exist
  if (m.type === 'signal.maybe') return null;
  if (m.type === 'signal.created') return m.data.marketId;
  if (m.type === 'market.resolved') {
    // @ts-expect-error the data of this type has no price
    if (m.data.priceAtPrediction) return null;
    return m.data.outcome ?? m.data.marketId;
  }
  return m.type === 'price.tick' ? `${m.data.yesBps / 100} cents` : null;
}
export const openFeed = () => open({ url: 'wss://api.example/ws', channels: ['signals'] });
export const signer = () => Signer.of(new Uint8Array(32));

const refused = await use(AbortSignal.timeout(10_000)).catch((e: unknown) => e);
console.log(refused instanceof Error ? refused.name : 'answered', typeof open);
