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
export declare class Signed {
    /** What the hub calls it, known before it is sent. */
    readonly id: string;
    readonly text: string;
    constructor(
    /** What the hub calls it, known before it is sent. */
    id: string, text: string);
}
/** Signs messages with an Ed25519 key. */
export declare class Signer {
    #private;
    /** How the protocol writes the public key. */
    readonly publicKey: string;
    private constructor();
    /** A signer of a key: its 32 bytes of seed, which stay secret. */
    static of(seed: Uint8Array): Promise<Signer>;
    /** Signs for one issuer: `apps.issuer` tells which the hub is. */
    sign(issuer: string, draft: Draft): Promise<Signed>;
    /** The signature that shows the hub who has the key. */
    prove(issuer: string, claim: object): Promise<string>;
}
/** nonce is 32 hex digits by chance. */
export declare const nonce: () => string;
/**
 * canonical is the form of RFC 8785, which takes numbers and text as JSON.stringify writes them and sorts members by their
 * UTF-16 units, as sort does. What has no such form is refused.
 */
export declare function canonical(value: unknown): string;
