// Signed messages: the canonical form of RFC 8785 and Ed25519, with what Node and browsers bring.
import { SignalcastError } from './errors.js';

const messagePrefix = 'denpa-message-v1';
const signerPrefix = 'denpa-signer-v1';
/** What stands before the seed of an Ed25519 key in PKCS #8. */
const pkcs8 = [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];

/** An act before it is signed. */
export interface Draft {
  /** Such as signal.create; the hub's schemas say what each carries. */
  type: string;
  /** Of the passport. */
  denpaId: string;
  /** Left out: the signer is the passport's own. */
  appId?: string | null;
  payload: object;
  /** When it is signed, in Unix ms; left out: now. */
  timestamp?: number;
  /** One for each message of a key, for ever; left out: by chance. */
  nonce?: string;
}

/** A message with its signature, as it goes out to the byte. */
export class Signed {
  constructor(
    /** What the hub calls it, known before it is sent. */
    readonly id: string,
    readonly text: string,
  ) {}
}

/** Signs messages with an Ed25519 key. */
export class Signer {
  readonly #key: CryptoKey;
  /** How the protocol writes the public key. */
  readonly publicKey: string;

  private constructor(key: CryptoKey, publicKey: string) {
    this.#key = key;
    this.publicKey = publicKey;
  }

  /** A signer of a key: its 32 bytes of seed, which stay secret. */
  static async of(seed: Uint8Array): Promise<Signer> {
    if (seed.length !== 32) throw new TypeError('the seed of a key has 32 bytes');
    const form = new Uint8Array([...pkcs8, ...seed]);
    const key = await crypto.subtle.importKey('pkcs8', form, 'Ed25519', true, ['sign']);
    const { x } = await crypto.subtle.exportKey('jwk', key);
    const raw = atob((x ?? '').replace(/-/g, '+').replace(/_/g, '/'));
    return new Signer(key, hex(Uint8Array.from(raw, (c) => c.charCodeAt(0))));
  }

  /** Signs for one issuer: `apps.issuer` tells which the hub is. */
  async sign(issuer: string, draft: Draft): Promise<Signed> {
    const message = {
      version: 1, type: draft.type, denpaId: draft.denpaId, appId: draft.appId ?? null, timestamp: draft.timestamp ?? Date.now(),
      nonce: draft.nonce ?? nonce(), payload: draft.payload, signer: { kind: 'ed25519', publicKey: this.publicKey },
    };
    const covered = cover(messagePrefix, issuer, message);
    const id = hex(new Uint8Array(await crypto.subtle.digest('SHA-256', covered)));
    return new Signed(`msg_${id}`, canonical({ ...message, signature: await this.#seal(covered) }));
  }

  /** The signature that shows the hub who has the key. */
  prove(issuer: string, claim: object): Promise<string> {
    return this.#seal(cover(signerPrefix, issuer, claim));
  }

  async #seal(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
    return hex(new Uint8Array(await crypto.subtle.sign('Ed25519', this.#key, bytes)));
  }
}

/** nonce is 32 hex digits by chance. */
export const nonce = (): string => hex(crypto.getRandomValues(new Uint8Array(16)));

const cover = (prefix: string, issuer: string, value: object) => new Uint8Array(new TextEncoder().encode(`${prefix}\n${issuer}\n${canonical(value)}`));

const hex = (bytes: Uint8Array) => Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');

/**
 * canonical is the form of RFC 8785, which takes numbers and text as JSON.stringify writes them and sorts members by their
 * UTF-16 units, as sort does. What has no such form is refused.
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
  throw new SignalcastError(`a ${typeof value} has no canonical form`);
}
