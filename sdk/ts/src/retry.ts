/**
 * How often and after what pauses a request is sent again. Only what cannot do anything twice is: reading, writes with an
 * idempotency key on the routes that honour one, and writes of which the document says that a second one changes nothing.
 */
export interface Retry {
  /** Of one request in all; 1: it is never sent again. */
  tries: number;
  /** Pause before the second try in ms, doubled each time. */
  first: number;
  /** The longest pause in ms. A service that asks for more is obeyed by giving up. */
  longest: number;
  /** How long one try may last in ms, but for streams. */
  each: number;
}

export const usual: Readonly<Retry> = { tries: 4, first: 250, longest: 10_000, each: 30_000 };

/** passing tells whether the same request may soon be answered better. */
export const passing = (status: number, headers: Headers): boolean =>
  [429, 502, 503, 504].includes(status) || (status < 300 && headers.has('x-degraded'));

/** pause is how long to wait before try n+1, by chance, so that many do not come at once; undefined: too long to wait. */
export function pause(p: Retry, n: number, wants: number, chance = Math.random()): number | undefined {
  if (wants > p.longest) return undefined;
  const most = Math.min(p.first * 2 ** (n - 1), p.longest);
  return wants > 0 ? wants + chance * Math.min(most, p.longest - wants) : most / 2 + (chance * most) / 2;
}

/** sleep waits, or throws the reason of the signal. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, ms);
    if (signal?.aborted) end();
    else signal?.addEventListener('abort', end, { once: true });
  });
}
