// What a user of the package writes, checked by a strict compiler in a folder that has nothing but the package.
import { AlreadyPredictedError, type Answer, type ErrorCode, Refreshing, type Schemas, Signalcast, Signer } from 'signalcast';
import { type Message, open } from 'signalcast/feed';

const signalcast = new Signalcast({ hub: 'http://127.0.0.1:1', token: new Refreshing(async () => ({ value: 'x', lasts: 1 })), retry: { tries: 1 } });

export async function use(signal: AbortSignal): Promise<string> {
  const { id } = await signalcast.signals.file({ marketId: '7', direction: 'YES', priceAtPrediction: 6850 }, { signal });
  const stands: Schemas['Signal'] = await signalcast.request('GET', '/api/signals/{id}', { path: { id }, signal });
  const price: number = stands.priceAtPrediction;
  const crowd: Answer<'GET', '/api/m/{marketId}/crowd'> = await signalcast.markets.crowd('7');
  const count: number = crowd.totalSignals;
  for await (const row of signalcast.signals.all({ handle: 'mara_k' })) if (row.direction === 'NO') break;
  // @ts-expect-error no such side
  await signalcast.signals.file({ marketId: '7', direction: 'PERHAPS', priceAtPrediction: 1 });
  // @ts-expect-error a member is missing
  await signalcast.signals.file({ marketId: '7', direction: 'YES' });
  // @ts-expect-error no such path
  await signalcast.request('GET', '/api/nothing');
  // @ts-expect-error the path has no such method
  await signalcast.request('DELETE', '/api/signals/{id}', { path: { id } });
  // @ts-expect-error the path has a part that is missing
  await signalcast.request('GET', '/api/signals/{id}', { path: {} });
  // @ts-expect-error a number is no text
  const text: string = stands.priceAtPrediction;
  // @ts-expect-error no such member
  await signalcast.markets.get('7').then((m) => m.nothing);
  return `${price}${count}${text}`;
}

export const code = (e: AlreadyPredictedError): ErrorCode | (string & {}) => e.code;
export const told = (m: Message): string => (m.op === 'event' ? m.type : m.op);
export const seen = () => open({ url: 'wss://api.example/ws', channels: ['signals'] });
export const signer = () => Signer.of(new Uint8Array(32));

const refused = await use(AbortSignal.timeout(10_000)).catch((e: unknown) => e);
console.log(refused instanceof Error ? refused.name : 'answered', typeof open);
