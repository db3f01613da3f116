// Checks requests of webhooks (docs/protocol/webhooks.md) with the Web Crypto API of Node and browsers.
import { SignalcastError } from './errors.js';
import type { Event, Gap } from './feed.js';

/** A received request is not a delivery of the webhook: do not process it, and answer 400. */
export class WebhookError extends SignalcastError {
  override name = 'WebhookError';
  constructor(
    /** `signature`: no signature is valid. `time`: the request is too old. `body`: the body is not a delivery. */
    readonly reason: 'signature' | 'time' | 'body',
    message: string,
  ) {
    super(message);
  }
}

/** A verified delivery. */
export interface WebhookPost {
  webhookId: string;
  /** All attempts of a delivery have the same id. */
  deliveryId: string;
  /** Number of the attempt, from 1. */
  attempt: number;
  /** Events in the order of the feed. A test delivery has one with the op `test`. Ignore unknown ops. */
  events: Array<Event | Gap | { op: 'test'; at: string }>;
}

/** Maximum difference between the time of a request and the local clock, in milliseconds. */
const maxAge = 300_000;

/**
 * Checks the signature and the time of a webhook request and returns its content. `signature` is the header Signalcast-Signature. `body` must be
 * the body exactly as received: parsed JSON cannot be checked, because other bytes can have the same meaning. Throws a WebhookError. The
 * comparison takes constant time. A delivery can arrive twice: skip events whose `seq` you have already processed on the channel.
 */
export async function verifyWebhook(
  secret: string, signature: string | null | undefined, body: string | Uint8Array, now: number = Date.now(),
): Promise<WebhookPost> {
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) throw new TypeError('body must be the received bytes or text, not parsed JSON');
  if (!secret) throw new TypeError('the secret of the webhook is empty');
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const [first = '', ...rest] = (signature ?? '').split(',', 8);
  const stamp = /^t=(\d{1,12})$/.exec(first)?.[1];
  if (stamp === undefined) throw new WebhookError('signature', 'the header Signalcast-Signature is missing or not of the form t=…,v1=…');
  const key = await crypto.subtle.importKey('raw', new TextEncoder().encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
  const head = new TextEncoder().encode(`${stamp}.`);
  const covered = new Uint8Array(head.length + bytes.length);
  covered.set(head);
  covered.set(bytes, head.length);
  let valid = false;
  for (const part of rest) {
    const digits = /^v1=([0-9a-f]{64})$/.exec(part)?.[1];
    if (!digits) continue;
    const given = Uint8Array.from(digits.match(/../g) ?? [], (h) => parseInt(h, 16));
    if (await crypto.subtle.verify('HMAC', key, given, covered)) valid = true;
  }
  if (!valid) throw new WebhookError('signature', 'no signature matches the body; use the raw body and the newest secret');
  if (Math.abs(now - Number(stamp) * 1000) > maxAge) throw new WebhookError('time', 'the request is more than 5 minutes older or newer than the local clock');
  try {
    const post = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as WebhookPost;
    if (Array.isArray(post.events)) return post;
  } catch {
    // The error below describes it.
  }
  throw new WebhookError('body', 'the body is not a delivery');
}
