// Signed messages: canonical form of RFC 8785 and Ed25519, with the Web Crypto API of Node and browsers.
import { SignalcastError } from './errors.js';

const messagePrefix = 'denpa-message-v1';
const signerPrefix = 'denpa-signer-v1';
/** PKCS #8 prefix of an Ed25519 seed. */
const pkcs8 = [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];

/** A message before it is signed. */
export interface Draft {
  /** Message type, for example signal.create. The hub publishes the payload schema of each type. */
  type: string;
  /** Id of the passport. */
  denpaId: string;
  /** App of the signer; absent if the signer belongs to the passport. */
  appId?: string | null;
  payload: object;
  /** Time of the signature in Unix milliseconds; defaults to now. */
  timestamp?: number;
  /** Must be unique among all messages of a key; defaults to a random value. */
  nonce?: string;
}

/** A signed message with the exact bytes to send. */
export class Signed {
  constructor(
    /** Id of the message; the hub computes the same one. */
    readonly id: string,
    /** JSON to send. */
    readonly text: string,
  ) {}
}

/** Signs messages with an Ed25519 key. */
export class Signer {
  readonly #key: CryptoKey;
  /** Public key as 64 hexadecimal digits. */
  readonly publicKey: string;

  private constructor(key: CryptoKey, publicKey: string) {
    this.#key = key;
    this.publicKey = publicKey;
  }

  /** Returns the signer of a key, given by its secret seed of 32 bytes. */
  static async of(seed: Uint8Array): Promise<Signer> {
    if (seed.length !== 32) throw new TypeError('the seed of a key must have 32 bytes');
    const form = new Uint8Array([...pkcs8, ...seed]);
    const key = await crypto.subtle.importKey('pkcs8', form, 'Ed25519', true, ['sign']);
    const { x } = await crypto.subtle.exportKey('jwk', key);
    const raw = atob((x ?? '').replace(/-/g, '+').replace(/_/g, '/'));
    return new Signer(key, hex(Uint8Array.from(raw, (c) => c.charCodeAt(0))));
  }

  /** Signs a message for one issuer. `apps.issuer` returns the issuer of the hub. */
  async sign(issuer: string, draft: Draft): Promise<Signed> {
    const message = {
      version: 1, type: draft.type, denpaId: draft.denpaId, appId: draft.appId ?? null, timestamp: draft.timestamp ?? Date.now(),
      nonce: draft.nonce ?? nonce(), payload: draft.payload, signer: { kind: 'ed25519', publicKey: this.publicKey },
    };
    const signedBytes = bytesToSign(messagePrefix, issuer, message);
    const id = hex(new Uint8Array(await crypto.subtle.digest('SHA-256', signedBytes)));
    return new Signed(`msg_${id}`, canonical({ ...message, signature: await this.#signBytes(signedBytes) }));
  }

  /** Returns the signature of a registration claim, which proves possession of the key. */
  prove(issuer: string, claim: object): Promise<string> {
    return this.#signBytes(bytesToSign(signerPrefix, issuer, claim));
  }

  async #signBytes(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
    return hex(new Uint8Array(await crypto.subtle.sign('Ed25519', this.#key, bytes)));
  }
}

/** nonce returns 32 random hexadecimal digits. */
export const nonce = (): string => hex(crypto.getRandomValues(new Uint8Array(16)));

/** bytesToSign returns the bytes that a signature covers. */
const bytesToSign = (prefix: string, issuer: string, value: object) => new Uint8Array(new TextEncoder().encode(`${prefix}\n${issuer}\n${canonical(value)}`));

const hex = (bytes: Uint8Array) => Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');

/**
 * canonical returns the canonical form of RFC 8785: numbers and texts as written by JSON.stringify, members sorted by UTF-16 code units. It throws
 * for a value without a canonical form.
 */
export function canonical(value: unknown): string {
  if (value === null || typeof value === 'boolean') return JSON.stringify(value);
  if (typeof value === 'number' && Number.isFinite(value)) return JSON.stringify(value);
  if (typeof value === 'string' && !/\p{Surrogate}/u.test(value)) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value === 'object') {
    const members = Object.entries(value).filter(([, v]) => v !== undefined);
    members.sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${members.map(([name, v]) => `${canonical(name)}:${canonical(v)}`).join(',')}}`;
  }
  throw new SignalcastError(`a value of type ${typeof value} has no canonical form (RFC 8785): numbers must be finite, and strings must have no unpaired surrogates`);
}
