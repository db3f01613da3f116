/**
 * Retries of a request. Only requests that are safe to repeat are retried: reads, writes with an idempotency key on routes that support
 * one, and writes that the OpenAPI document marks as repeatable.
 */
export interface Retry {
  /** Maximum number of attempts for one request; 1 disables retries. */
  tries: number;
  /** Wait before the second attempt in milliseconds, doubled for each further attempt. */
  first: number;
  /** Maximum wait in milliseconds. If the service requests a longer one, the request fails. */
  longest: number;
  /**
   * Waits after 429 `rate_limited` for as long as the service requires, up to two minutes, and sends the request again. These waits do not count as
   * attempts. They apply to all requests, because a request above a limit has no effect. Defaults to false.
   */
  waitForLimits?: boolean;
  /** Timeout of one attempt in milliseconds. Does not apply to streams. */
  each: number;
}

export const defaultRetry: Readonly<Retry> = { tries: 4, first: 250, longest: 10_000, each: 30_000 };

/** Longest wait for a rate limit with `waitForLimits`, in milliseconds. Limits of requests have a window of one minute. */
export const longestLimitWait = 120_000;

/** isTransient reports whether a later attempt of the same request can succeed. */
export const isTransient = (status: number, headers: Headers): boolean =>
  [429, 502, 503, 504].includes(status) || (status < 300 && headers.has('x-degraded'));

/**
 * retryDelay returns the random wait before attempt n+1 in milliseconds, so that many clients do not retry at the same time. It returns undefined
 * if requested, the wait that the service requests, exceeds the maximum.
 */
export function retryDelay(p: Retry, n: number, requested: number, chance = Math.random()): number | undefined {
  if (requested > p.longest) return undefined;
  const most = Math.min(p.first * 2 ** (n - 1), p.longest);
  return requested > 0 ? requested + chance * Math.min(most, p.longest - requested) : most / 2 + (chance * most) / 2;
}

/** sleep waits ms milliseconds. It rejects with the reason of the signal if the signal aborts. */
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
