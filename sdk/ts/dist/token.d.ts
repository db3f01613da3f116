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
/** A source that keeps a token until shortly before its end, or until it is refused; one asks for the next, all wait for it. */
export declare class Refreshing implements TokenSource {
    #private;
    constructor(fetch: () => Promise<Token>);
    token(): Promise<string>;
    refused(token: string): void;
}
