// How a request goes out: with the credential where one is taken, again where that is safe, and with a bounded answer.
import { DegradedError, SignalcastError, UnansweredError, refusal } from './errors.js';
import { pause, passing, sleep } from './retry.js';
import { routes } from './routes.gen.js';
import { Signed } from './sign.js';
/** More than any JSON answer of the document has, in bytes. */
const maxAnswer = 16 << 20;
class TooLarge extends Error {
}
export class Sender {
    options;
    session;
    constructor(options) {
        this.options = options;
    }
    /** json gives what an operation answers. `tries.lost` tells afterwards whether a try may have been heard without an answer. */
    async json(method, path, ask, tries = { lost: false }) {
        const going = this.#prepare(method, path, ask);
        const { status, headers, body } = await this.#insist(going, tries);
        if (status < 200 || status >= 300)
            throw refusal(going.operation, status, headers, body);
        let value;
        try {
            value = body === '' ? undefined : JSON.parse(body);
        }
        catch (cause) {
            throw new SignalcastError(`${going.operation}: the answer is not of this protocol`, { cause });
        }
        const part = headers.get('x-degraded');
        if (part)
            throw new DegradedError(going.operation, part, value);
        return { value, headers };
    }
    /** stream gives an answer whose body is read by the caller. It is sent once. */
    async stream(method, path, ask) {
        const going = this.#prepare(method, path, ask);
        await this.#sign(going);
        let answer;
        try {
            answer = await this.options.fetch(going.url, { ...going.init, signal: going.signal ?? null });
        }
        catch (cause) {
            going.signal?.throwIfAborted();
            throw new UnansweredError(going.operation, cause);
        }
        if (answer.ok)
            return answer;
        throw refusal(going.operation, answer.status, answer.headers, await bounded(answer));
    }
    #prepare(method, path, ask) {
        const operation = `${method} ${path}`;
        const route = Object.hasOwn(routes, operation) ? routes[operation] : undefined;
        if (!route)
            throw new TypeError(`${operation} is no operation of the document`);
        const at = this.options.at[route[0]];
        if (!at)
            throw new TypeError(`the option ${route[0]} is missing`);
        const headers = { accept: 'application/json', ...ask.headers };
        if (this.options.userAgent)
            headers['user-agent'] = this.options.userAgent;
        if (ask.idempotencyKey !== undefined)
            headers['idempotency-key'] = ask.idempotencyKey;
        const init = { method, headers, redirect: 'manual', credentials: 'omit' };
        if (ask.body !== undefined) {
            headers['content-type'] = 'application/json';
            init.body = ask.body instanceof Signed ? ask.body.text : JSON.stringify(ask.body);
        }
        return { operation, url: at + address(path, ask), route, init, signal: ask.signal, own: 'authorization' in headers };
    }
    async #insist(g, tries) {
        const source = this.options.token;
        let renewed = false;
        for (let n = 1;; n++) {
            g.signal?.throwIfAborted();
            const token = await this.#sign(g);
            let heard;
            let fault;
            try {
                heard = await this.#once(g);
            }
            catch (cause) {
                g.signal?.throwIfAborted();
                fault = new UnansweredError(g.operation, cause);
            }
            if (heard?.status === 401 && token && source?.refused && !renewed) {
                renewed = true; // a refusal of the credential comes before anything is done
                source.refused(token);
                n--;
                continue;
            }
            if (!heard || heard.status >= 500)
                tries.lost = true;
            const wait = this.#again(g, n, heard, fault);
            if (wait === undefined) {
                if (heard)
                    return heard;
                throw fault;
            }
            await sleep(wait, g.signal);
        }
    }
    /** again is the pause before a request is sent once more; undefined: it is not. */
    #again(g, n, heard, fault) {
        const [, , , keyed, again] = g.route;
        const safe = again || (keyed && g.init.headers['idempotency-key'] !== undefined);
        const large = fault instanceof UnansweredError && fault.cause instanceof TooLarge;
        if (n >= this.options.retry.tries || !safe || large || (heard && !passing(heard.status, heard.headers)))
            return undefined;
        const wants = heard ? refusal(g.operation, heard.status, heard.headers, heard.body).retryAfterMs : 0;
        return pause(this.options.retry, n, wants);
    }
    /** once sends a request and reads the whole answer, so that one that is cut counts as none. */
    async #once(g) {
        const late = AbortSignal.timeout(this.options.retry.each);
        const signal = g.signal ? AbortSignal.any([g.signal, late]) : late;
        const answer = await this.options.fetch(g.url, { ...g.init, signal });
        return { status: answer.status, headers: answer.headers, body: await bounded(answer) };
    }
    /** sign adds the credential that the route takes. Who has signed in has no key, so the session goes first. */
    async #sign(g) {
        const [, bearer, session] = g.route;
        if (g.own)
            return undefined;
        if (session && this.session) {
            g.init.headers['cookie'] = this.session.cookie;
            g.init.headers['origin'] = new URL(g.url).origin;
            return undefined;
        }
        if (!bearer || !this.options.token)
            return undefined;
        const token = await this.options.token.token();
        // What a header cannot hold would be shown in the error of who is asked to send it.
        if (!/^[\x21-\x7e]+$/.test(token))
            throw new SignalcastError(`${g.operation}: the credential is empty or holds what a header cannot`);
        g.init.headers['authorization'] = `Bearer ${token}`;
        return token;
    }
}
/** address fills the path and writes the query; what is undefined or null is left out. */
function address(path, { path: parts = {}, query = {} }) {
    const filled = path.replace(/\{(\w+)\}/g, (_, name) => {
        const value = parts[name];
        if (value === undefined || value === null || value === '')
            throw new TypeError(`${path}: ${name} is missing`);
        return encodeURIComponent(String(value));
    });
    const asked = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
        if (value !== undefined && value !== null)
            asked.set(name, String(value));
    }
    return asked.size > 0 ? `${filled}?${asked}` : filled;
}
/** bounded reads a body to its end, unless that is too far. */
async function bounded(answer) {
    if (!answer.body)
        return '';
    const reader = answer.body.getReader();
    const decoder = new TextDecoder();
    let text = '';
    for (let size = 0;;) {
        const { done, value } = await reader.read();
        if (done)
            return text + decoder.decode();
        size += value.byteLength;
        if (size > maxAnswer) {
            await reader.cancel();
            throw new TooLarge(`the answer has more than ${maxAnswer} bytes`);
        }
        text += decoder.decode(value, { stream: true });
    }
}
