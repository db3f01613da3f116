import { SignalcastError } from './errors.js';

/** Source of credentials. It is called for each request that requires a credential, and for no other. */
export interface TokenSource {
  token(): Promise<string>;
  /** Called when a service rejects the token. If defined, the request is sent once more with a new token. */
  refused?(token: string): void;
}

/** A credential and its lifetime in milliseconds; without a lifetime it is used until it is rejected. */
export interface Token {
  value: string;
  lasts?: number;
}

/** Milliseconds before its expiry from which a token is no longer used. */
const early = 30_000;

/** A source that caches a token until shortly before its expiry or until it is rejected. Concurrent requests share one fetch. */
export class Refreshing implements TokenSource {
  #fetch: () => Promise<Token>;
  #cached: { value: string; end: number } | undefined;
  #pending: Promise<string> | undefined;

  constructor(fetch: () => Promise<Token>) {
    this.#fetch = fetch;
  }

  async token(): Promise<string> {
    if (this.#cached && Date.now() < this.#cached.end) return this.#cached.value;
    this.#pending ??= this.#refresh().finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }

  refused(token: string): void {
    if (this.#cached?.value === token) this.#cached = undefined;
  }

  async #refresh(): Promise<string> {
    const { value, lasts } = await this.#fetch();
    if (!value) throw new SignalcastError('the fetched token is empty');
    this.#cached = { value, end: lasts === undefined ? Infinity : Date.now() + lasts - early };
    return value;
  }
}
