// Rate limits: the headers RateLimit and RateLimit-Policy of answers.
import type { Route } from './routes.gen.js';

/** State of a rate limit after an answer. Public reads without a credential count by IP address, other requests by credential. */
export interface Limit {
  /** Service that counts the requests. */
  service: Route[0];
  /** Name of the limit in the headers, for example `hub`. */
  name: string;
  /** Requests allowed in any `windowMs` milliseconds. */
  limit: number;
  windowMs: number;
  /** Requests that are still allowed now. */
  remaining: number;
  /** Milliseconds after `at` until the oldest counted request no longer counts. */
  resetMs: number;
  /** Time of the answer in Unix milliseconds. */
  at: number;
}

/** limitsOf returns the limits that the headers of an answer describe. It ignores items that it cannot read. */
export function limitsOf(service: Route[0], headers: Headers, at: number): Limit[] {
  const policies = items(headers.get('ratelimit-policy'));
  const out: Limit[] = [];
  for (const [name, { r, t }] of items(headers.get('ratelimit'))) {
    const { q, w } = policies.get(name) ?? {};
    if (q === undefined || w === undefined || r === undefined) continue;
    out.push({ service, name, limit: q, windowMs: w * 1000, remaining: r, resetMs: (t ?? 0) * 1000, at });
  }
  return out;
}

/** items parses a header such as `"hub";r=42;t=9` to its parameters by name. */
function items(header: string | null): Map<string, Record<string, number>> {
  const out = new Map<string, Record<string, number>>();
  for (const [, name = '', parameters = ''] of (header ?? '').matchAll(/"([^"]{1,100})"((?:;[a-z]{1,8}=\d{1,12})*)/g)) {
    out.set(name, Object.fromEntries([...parameters.matchAll(/;([a-z]+)=(\d+)/g)].map(([, key, value]) => [key, Number(value)])));
  }
  return out;
}
