// A verifier of signed messages that shares no code with the service. It does not check payloads, because package
// vectors checks them against their schemas.
import { createHash } from 'node:crypto';
import { authentic, covered } from './signed.mjs';
import { read } from './strict.mjs';

const names = ['appId', 'denpaId', 'nonce', 'payload', 'signature', 'signer', 'timestamp', 'type', 'version'];
const types = [
  'profile.update', 'station.create', 'station.update', 'broadcast.create', 'broadcast.goLive',
  'signal.create', 'prediction.create', 'market.create', 'resolution.create',
];
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export const idOf = (data) => 'msg_' + createHash('sha256').update(data).digest('hex');

export const uriOf = (message, id) => `denpa:${message.denpaId}/${message.type}/${id}`;

function form(m) {
  const is = (ok) => (ok ? '' : 'invalid_request schema');
  if (m === null || typeof m !== 'object' || Array.isArray(m)) return is(false);
  if (Object.keys(m).some((name) => !names.includes(name))) return 'invalid_request unknown_member';
  return is(
    names.every((name) => name in m) && m.version === 1 && types.includes(m.type) && uuid.test(m.denpaId) &&
    (m.appId === null || /^[A-Za-z0-9_-]{1,64}$/.test(m.appId)) && Number.isSafeInteger(m.timestamp) && m.timestamp >= 0 &&
    typeof m.nonce === 'string' && /^[A-Za-z0-9_-]{16,64}$/.test(m.nonce) && typeof m.payload === 'object' && !Array.isArray(m.payload) &&
    m.signer?.kind === 'ed25519' && /^[0-9a-f]{64}$/.test(m.signer.publicKey) && Object.keys(m.signer).length === 2 && /^[0-9a-f]{128}$/.test(m.signature),
  );
}

// judge returns the error code and the reason with which a message must be refused, or an empty string.
export async function judge(file, bytes) {
  if (bytes.length > 32768) return 'payload_too_large';
  const m = read(bytes, 16);
  if (m === undefined) return 'invalid_request not_canonicalizable';
  const wrong = form(m);
  if (wrong) return wrong;
  const signer = file.signers.find((s) => s.publicKey === m.signer.publicKey && s.denpaId === m.denpaId && s.appId === m.appId);
  const known = file.signers.some((s) => s.publicKey === m.signer.publicKey);
  if (!known || !signer) return 'unauthenticated unknown_signer';
  if (!(await authentic(m, covered(file, m).data))) return 'unauthenticated bad_signature';
  const age = file.now - m.timestamp;
  if (age > 300000 || age < -60000) return 'invalid_request timestamp_out_of_window';
  if (signer.status !== 'active') return 'unauthenticated signer_' + signer.status;
  return signer.scopes.includes(m.type.replace('.', ':')) ? '' : 'insufficient_scope';
}
