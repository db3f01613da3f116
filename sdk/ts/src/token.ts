import { SignalcastError } from './errors.js';

/** Gives the credential of a request; it is asked for each one that takes a credential, and for no other. */
export interface TokenSource {
  token(): Promise<string>;
  /** The token was refused. A source that has this is asked for another one, once. */
  refused?(token: string): void;
}

/** A credential and how long it lasts in ms; left out: until it is refused. */
export interface Token {
  value: string;
  lasts?: number;
}

/** How long before its end a token is not used any more. */
const early = 30_000;

/** A source that keeps a token until shortly before its end, or until it is refused; one asks for the next, all wait for it. */
export class Refreshing implements TokenSource {
  #fetch: () => Promise<Token>;
  #kept: { value: string; end: number } | undefined;
  #coming: Promise<string> | undefined;

  constructor(fetch: () => Promise<Token>) {
    this.#fetch = fetch;
  }

  async token(): Promise<string> {
    if (this.#kept && Date.now() < this.#kept.end) return this.#kept.value;
    this.#coming ??= this.#next().finally(() => {
      this.#coming = undefined;
    });
    return this.#coming;
  }

  refused(token: string): void {
    if (this.#kept?.value === token) this.#kept = undefined;
  }

  async #next(): Promise<string> {
    const { value, lasts } = await this.#fetch();
    if (!value) throw new SignalcastError('the token that was fetched is empty');
    this.#kept = { value, end: lasts === undefined ? Infinity : Date.now() + lasts - early };
    return value;
  }
}
