// Signs messages with public libraries for the canonical form (RFC 8785) and the signature (Ed25519).
import canonicalize from 'canonicalize';
import * as ed from '@noble/ed25519';

const { bytesToHex, hexToBytes } = ed.etc;
const utf8 = (text) => new TextEncoder().encode(text);

export const messagePrefix = 'denpa-message-v1';
export const signerPrefix = 'denpa-signer-v1';

export async function newKey() {
  const secret = ed.utils.randomSecretKey();
  return { secret, publicKey: bytesToHex(await ed.getPublicKeyAsync(secret)) };
}

// covered returns the canonical form of a message without its signature, and the bytes that the signature covers.
export function covered({ prefix, issuer }, message) {
  const { signature: _, ...rest } = message;
  const canonical = canonicalize(rest);
  return { canonical, data: utf8(`${prefix}\n${issuer}\n${canonical}`) };
}

export const sign = async (key, place, value) => bytesToHex(await ed.signAsync(covered(place, value).data, key.secret));

// authentic verifies a signature by RFC 8032, without the leniency of ZIP 215.
export const authentic = (message, data) =>
  ed.verifyAsync(hexToBytes(message.signature), data, hexToBytes(message.signer.publicKey), { zip215: false }).catch(() => false);

export const newNonce = () => bytesToHex(crypto.getRandomValues(new Uint8Array(16)));
