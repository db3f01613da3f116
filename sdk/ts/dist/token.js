import { SignalcastError } from './errors.js';
/** How long before its end a token is not used any more. */
const early = 30_000;
/** A source that keeps a token until shortly before its end, or until it is refused; one asks for the next, all wait for it. */
export class Refreshing {
    #fetch;
    #kept;
    #coming;
    constructor(fetch) {
        this.#fetch = fetch;
    }
    async token() {
        if (this.#kept && Date.now() < this.#kept.end)
            return this.#kept.value;
        this.#coming ??= this.#next().finally(() => {
            this.#coming = undefined;
        });
        return this.#coming;
    }
    refused(token) {
        if (this.#kept?.value === token)
            this.#kept = undefined;
    }
    async #next() {
        const { value, lasts } = await this.#fetch();
        if (!value)
            throw new SignalcastError('the token that was fetched is empty');
        this.#kept = { value, end: lasts === undefined ? Infinity : Date.now() + lasts - early };
        return value;
    }
}
